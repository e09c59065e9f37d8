; World `greenhouse` of world.tw, written by `tw export --pddl`.
(define (domain greenhouse)
  (:requirements :strips :typing :equality :negative-preconditions :disjunctive-preconditions :existential-preconditions :universal-preconditions :conditional-effects :numeric-fluents :action-costs)
  (:types
    sink - object
    tank - sink
    jug pot pea lamp tw-step - object)
  (:constants tw-act tw-1 tw-2 tw-3 tw-4 - tw-step)
  (:predicates
    (sink-on ?self - sink)
    (pot ?self - pea ?pot - pot)
    (lamp-on ?self - lamp)
    (is-tank ?x)
    (tw-turn ?step - tw-step))
  (:functions
    (jugs ?self - tank) - number
    (jug-water ?self - jug) - number
    (pot-water ?self - pot) - number
    (pea-water ?self - pea) - number
    (moist ?self - pea) - number
    (stage ?self - pea) - number
    (total-cost) - number)

  (:action wait
    :parameters ()
    :precondition (tw-turn tw-act)
    :effect (and
      (increase (total-cost) 1)
      (not (tw-turn tw-act))
      (tw-turn tw-1)))

  (:action turn
    :parameters (?s - sink)
    :precondition (tw-turn tw-act)
    :effect (and
      (when (not (sink-on ?s)) (sink-on ?s))
      (when (sink-on ?s) (not (sink-on ?s)))
      (increase (total-cost) 1)
      (not (tw-turn tw-act))
      (tw-turn tw-1)))

  (:action fill
    :parameters (?j - jug ?s - sink)
    :precondition (and
      (tw-turn tw-act)
      (sink-on ?s)
      (<= (jug-water ?j) 39)
      (or
        (not (is-tank ?s))
        (exists (?tank - tank) (and (= ?tank ?s) (>= (jugs ?tank) 1))))
      (forall (?tank - tank)
        (imply (and (is-tank ?s) (= ?tank ?s)) (>= (jugs ?tank) 1))))
    :effect (and
      (assign (jug-water ?j) 40)
      (forall (?tank - tank)
        (when (and (is-tank ?s) (= ?tank ?s)) (decrease (jugs ?tank) 1)))
      (increase (total-cost) 1)
      (not (tw-turn tw-act))
      (tw-turn tw-1)))

  (:action pour
    :parameters (?j - jug ?p - pot)
    :precondition (and
      (tw-turn tw-act)
      (>= (jug-water ?j) 1)
      (<= (+ (pot-water ?p) (jug-water ?j)) 100))
    :effect (and
      (decrease (jug-water ?j) (jug-water ?j))
      (increase (pot-water ?p) (jug-water ?j))
      (increase (total-cost) 1)
      (not (tw-turn tw-act))
      (tw-turn tw-1)))

  (:action switch
    :parameters (?l - lamp)
    :precondition (tw-turn tw-act)
    :effect (and
      (when (not (lamp-on ?l)) (lamp-on ?l))
      (when (lamp-on ?l) (not (lamp-on ?l)))
      (increase (total-cost) 1)
      (not (tw-turn tw-act))
      (tw-turn tw-1)))

  (:action tw-pass
    :parameters ()
    :precondition (tw-turn tw-act)
    :effect (and
      (increase (total-cost) 1)
      (not (tw-turn tw-act))
      (tw-turn tw-1)))

  ; phase soaking: soak
  (:action tw-phase-1
    :parameters ()
    :precondition (and
      (tw-turn tw-1)
      (forall (?p - pea ?pot2 - pot)
        (imply (and
                 (exists (?pot - pot)
                   (and (pot ?p ?pot) (>= (pot-water ?pot) 10)))
                 (<= (pea-water ?p) 90)
                 (pot ?p ?pot2))
          (>= (pot-water ?pot2) 10))))
    :effect (and
      (forall (?p - pea ?pot2 - pot)
        (when (and
                (exists (?pot - pot)
                  (and (pot ?p ?pot) (>= (pot-water ?pot) 10)))
                (<= (pea-water ?p) 90)
                (pot ?p ?pot2))
          (decrease (pot-water ?pot2) 10)))
      (forall (?p - pea)
        (when (and
                (exists (?pot - pot)
                  (and (pot ?p ?pot) (>= (pot-water ?pot) 10)))
                (<= (pea-water ?p) 90))
          (increase (pea-water ?p) 10)))
      (not (tw-turn tw-1))
      (tw-turn tw-2)))

  ; phase drinking: drink
  (:action tw-phase-2
    :parameters ()
    :precondition (tw-turn tw-2)
    :effect (and
      (forall (?p - pea)
        (when (>= (pea-water ?p) 5) (decrease (pea-water ?p) 5)))
      (not (tw-turn tw-2))
      (tw-turn tw-3)))

  ; phase swelling: swell
  (:action tw-phase-3
    :parameters ()
    :precondition (tw-turn tw-3)
    :effect (and
      (forall (?p - pea)
        (and
          (when (and (>= (pea-water ?p) 30) (<= (+ (moist ?p) 1) 3))
            (assign (moist ?p) (+ (moist ?p) 1)))
          (when (and (>= (pea-water ?p) 30) (not (<= (+ (moist ?p) 1) 3)))
            (assign (moist ?p) 3))
          (when (not (>= (pea-water ?p) 30)) (assign (moist ?p) 0))))
      (not (tw-turn tw-3))
      (tw-turn tw-4)))

  ; phase growing: grow
  (:action tw-phase-4
    :parameters ()
    :precondition (tw-turn tw-4)
    :effect (and
      (forall (?p - pea)
        (when (and (= (moist ?p) 3) (<= (stage ?p) 3))
          (and (increase (stage ?p) 1) (assign (moist ?p) 0))))
      (not (tw-turn tw-4))
      (tw-turn tw-act))))
