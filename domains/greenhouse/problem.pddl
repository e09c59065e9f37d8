; World `greenhouse` of world.tw, written by `tw export --pddl`.
(define (problem greenhouse)
  (:domain greenhouse)
  (:objects
    sink - sink
    jug - jug
    pot - pot
    pea - pea)
  (:init
    (tw-turn tw-act)
    (pot pea pot)
    (= (jug-water jug) 0)
    (= (pot-water pot) 0)
    (= (pea-water pea) 0)
    (= (moist pea) 0)
    (= (stage pea) 0)
    (= (total-cost) 0))
  (:goal (and
    (forall (?p - pea) (= (stage ?p) 4))
    (tw-turn tw-act)))
  (:metric minimize (total-cost)))
