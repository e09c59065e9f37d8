; World `kitchen` of world.tw, written by `tw export --pddl`.
(define (problem kitchen)
  (:domain kitchen)
  (:objects
    cook - cook
    sink - sink
    jug - jug
    hob - hob
    pot - pot
    pea - pea)
  (:init
    (tw-turn tw-act)
    (on hob)
    (hob pot hob)
    (= (level sink) 3)
    (= (level jug) 0)
    (= (level pot) 0)
    (= (flow sink) 0)
    (= (jug-capacity jug) 2)
    (= (pot-capacity pot) 4)
    (= (heat pot) 20)
    (= (doneness pea) 0)
    (= (total-cost) 0))
  (:goal (and
    (>= (doneness pea) 3)
    (in_pot pea pot)
    (tw-turn tw-act)))
  (:metric minimize (total-cost)))
