; World `cottage` of world.tw, grounded by `tw export --pddl`.
; One fact per variable and value, because PDDL has no exact lifted form for
;   world.tw:154:46: action `repair`, which takes several ticks
;   world.tw:162:31: action `rest`, which takes several ticks
;   world.tw:69:11: `count` up to 6
;   world.tw:152:3: `destroy`
;   world.tw:168:33: chance in law `clear_up`
;   world.tw:171:77: rounds that may write `growth` twice
;   world.tw:172:51: `was`
;   world.tw:173:54: `tick()`
;   world.tw:179:57: `was`
(define (problem cottage)
  (:domain cottage)
  (:init
    (turn act)
    (fuel hearth n40)
    (stage pea seed)
    (mood tabby neutral)
    (exists-log)
    (at mira cottage)
    (at log cottage)
    (at letter old_chest)
    (growth pea n0)
    (was-growth-pea n0)
    (energy mira n80)
    (long none)
    (hunger tabby n30)
    (was-hunger-tabby n30)
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
    (fuel-hearth-in-1-60)
    (long-in-None-1)
    (fuel-hearth-in-30-60)
    (energy-mira-in-30-100)
    (mood-tabby-in-1-4)
    (energy-mira-in-5-100)
    (energy-mira-in-20-100)
    (sharpness-pocket_knife-in-35-60)
    (energy-mira-in-0-89)
    (energy-mira-in-60-100)
    (water-garden_bed-in-0-20)
    (water-bucket-in-0-2)
    (water-stone_well-in-4-30)
    (water-bucket-in-0-4)
    (was-growth-pea-in-0-10)
    (was-growth-pea-in-0-4)
    (growth-pea-in-0-3-5-9-11)
    (hunger-tabby-in-30-59)
    (= (total-cost) 0))
  (:goal (and
    (turn act)
    (fuel-hearth-in-1-60)
    (read letter)
    (stage pea sprout)
    (repaired broken_gate)
    (mood-tabby-in-3-4)))
  (:metric minimize (total-cost)))
