; World `tower` of world.tw, written by `tw export --pddl`.
(define (domain blocks-world)
  (:requirements :strips :typing :equality :conditional-effects :universal-preconditions :derived-predicates :action-costs)
  (:types block table-top)
  (:constants the-table - table-top)
  (:predicates
    (on ?x - block ?y - block)
    (on-table ?x - block)
    (clear ?x)
    (hand-empty)
    (holding ?x - block)
    (above ?x - block ?y - block))
  (:functions
    (lift-cost ?x - block) - number
    (total-cost) - number)

  (:derived (above ?x - block ?y - block)
    (or (on ?x ?y) (exists (?z - block) (and (on ?x ?z) (above ?z ?y)))))

  (:action pick-up
    :parameters (?b - block)
    :precondition (and
      (clear ?b)
      (on-table ?b)
      (hand-empty))
    :effect (and
      (not (on-table ?b))
      (not (clear ?b))
      (not (hand-empty))
      (holding ?b)
      (increase (total-cost) (lift-cost ?b))))

  (:action put-down
    :parameters (?b - block)
    :precondition (holding ?b)
    :effect (and
      (not (holding ?b))
      (clear ?b)
      (hand-empty)
      (on-table ?b)))

  (:action stack
    :parameters (?b - block ?under - block)
    :precondition (and
      (and (holding ?b) (not (= ?b ?under)))
      (clear ?under))
    :effect (and
      (not (holding ?b))
      (not (clear ?under))
      (clear ?b)
      (hand-empty)
      (on ?b ?under)
      (increase (total-cost) 1)))

  (:action unstack
    :parameters (?b - block ?under - block)
    :precondition (and
      (on ?b ?under)
      (clear ?b)
      (hand-empty))
    :effect (and
      (holding ?b)
      (clear ?under)
      (not (clear ?b))
      (not (hand-empty))
      (not (on ?b ?under))
      (increase (total-cost) 1)))

  (:action tip-over
    :parameters (?b - block)
    :precondition (and
      (imply (clear ?b) (not (on-table ?b)))
      (forall (?x - block) (imply (on ?x ?b) (clear ?x))))
    :effect (and
      (forall (?x - block)
        (when (on ?x ?b) (and (not (on ?x ?b)) (on-table ?x) (clear ?b))))
      (increase (total-cost) 5))))
