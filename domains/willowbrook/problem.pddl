; World `willowbrook` of world.tw, grounded by `tw export --pddl`.
; One fact per variable and value, because PDDL has no exact lifted form for
;   domains/willowbrook/world.tw:154:46: action `repair`, which takes several ticks
;   domains/willowbrook/world.tw:162:31: action `rest`, which takes several ticks
;   domains/willowbrook/world.tw:69:11: `count` up to 6
;   domains/willowbrook/world.tw:152:3: `destroy`
;   domains/willowbrook/world.tw:168:33: chance in law `clear_up`
;   domains/willowbrook/world.tw:171:77: rounds that may write `growth` twice
;   domains/willowbrook/world.tw:172:51: `was`
;   domains/willowbrook/world.tw:173:54: `tick()`
;   domains/willowbrook/world.tw:179:57: `was`
(define (problem willowbrook)
  (:domain willowbrook)
  (:init
    (turn act)
    (stage pea seed)
    (mood tabby neutral)
    (fuel hearth n40)
    (at letter old_chest)
    (growth pea n0)
    (was-growth-pea n0)
    (at mira cottage)
    (energy mira n80)
    (long none)
    (hunger tabby n30)
    (was-hunger-tabby n30)
    (at log cottage)
    (exists-log)
    (chest-state old_chest locked)
    (crop garden_bed none)
    (water garden_bed n1)
    (at pocket_knife mira)
    (sharpness pocket_knife n35)
    (at small_key garden)
    (at pea cottage)
    (sky overcast)
    (at bucket garden)
    (water bucket n0)
    (coin-law-clear_up-0 n0)
    (water stone_well n30)
    (fuel-hearth-in-1-to-60)
    (long-in-None-0-1)
    (energy-mira-in-30-to-100)
    (mood-tabby-in-1-to-4)
    (fuel-hearth-in-30-to-60)
    (energy-mira-in-5-to-100)
    (energy-mira-in-20-to-100)
    (sharpness-pocket_knife-in-35-45-50-55-60)
    (energy-mira-in-0-to-89)
    (energy-mira-in-60-to-100)
    (water-garden_bed-in-0-to-20)
    (water-bucket-in-0-2)
    (water-stone_well-in-4-6-8-10-12-14-16-18-20-22-24-26-28-30)
    (water-bucket-in-0-4)
    (was-growth-pea-in-0-to-3-5-to-12)
    (was-growth-pea-in-0-to-9-11-12)
    (was-hunger-tabby-in-30-to-59)
    (= (total-cost) 0))
  (:goal (and
    (turn act)
    (read letter)
    (stage-pea-in-1-2)
    (repaired broken_gate)
    (mood-tabby-in-3-4)))
  (:metric minimize (total-cost)))
