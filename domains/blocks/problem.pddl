; World `tower` of world.tw, written by `tw export --pddl`.
(define (problem tower)
  (:domain blocks-world)
  (:objects a b c - block)
  (:init
    (on c a)
    (on-table a)
    (on-table b)
    (clear b)
    (clear c)
    (hand-empty)
    (= (lift-cost a) 1)
    (= (lift-cost b) 2)
    (= (lift-cost c) 1)
    (= (total-cost) 0))
  (:goal (and
    (on a b)
    (on b c)))
  (:metric minimize (total-cost)))
