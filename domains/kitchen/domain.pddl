; World `kitchen` of world.tw, written by `tw export --pddl`.
(define (domain kitchen)
  (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions :existential-preconditions :universal-preconditions :conditional-effects :numeric-fluents :action-costs)
  (:types
    vessel device - object
    sink jug pot - vessel
    hob - device
    pea cook tw-step - object)
  (:constants tw-act tw-1 tw-2 tw-3 - tw-step)
  (:predicates
    (on ?self - device)
    (drain_open ?self - sink)
    (hob ?self - pot ?hob - hob)
    (in_pot ?self - pea ?pot - pot)
    (tw-turn ?step - tw-step))
  (:functions
    (level ?self - vessel) - number
    (flow ?self - sink) - number
    (jug-capacity ?self - jug) - number
    (pot-capacity ?self - pot) - number
    (heat ?self - pot) - number
    (doneness ?self - pea) - number
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
      (when (= (flow ?s) 0) (assign (flow ?s) 1))
      (when (not (= (flow ?s) 0)) (assign (flow ?s) 0))
      (increase (total-cost) 1)
      (not (tw-turn tw-act))
      (tw-turn tw-1)))

  (:action switch
    :parameters (?d - device)
    :precondition (tw-turn tw-act)
    :effect (and
      (when (not (on ?d)) (on ?d))
      (when (on ?d) (not (on ?d)))
      (increase (total-cost) 1)
      (not (tw-turn tw-act))
      (tw-turn tw-1)))

  (:action dip
    :parameters (?j - jug ?s - sink)
    :precondition (and
      (tw-turn tw-act)
      (>= (level ?s) 1)
      (not (>= (level ?j) (jug-capacity ?j)))
      (or
        (and
          (<= (level ?s) (- (jug-capacity ?j) (level ?j)))
          (>= (level ?s) 0))
        (and
          (not (<= (level ?s) (- (jug-capacity ?j) (level ?j))))
          (>= (- (jug-capacity ?j) (level ?j)) 0)))
      (imply (<= (level ?s) (- (jug-capacity ?j) (level ?j)))
        (<= (level ?s) (+ 20 (level ?s))))
      (imply (not (<= (level ?s) (- (jug-capacity ?j) (level ?j))))
        (<= (level ?s) (+ 20 (- (jug-capacity ?j) (level ?j)))))
      (imply (not (<= (level ?s) (- (jug-capacity ?j) (level ?j))))
        (>= (level ?s) (- (jug-capacity ?j) (level ?j))))
      (imply (<= (level ?s) (- (jug-capacity ?j) (level ?j)))
        (<= (+ (level ?j) (level ?s)) 20))
      (imply (<= (level ?s) (- (jug-capacity ?j) (level ?j)))
        (>= (+ (level ?j) (level ?s)) 0))
      (imply (not (<= (level ?s) (- (jug-capacity ?j) (level ?j))))
        (<= (+ (level ?j) (- (jug-capacity ?j) (level ?j))) 20))
      (imply (not (<= (level ?s) (- (jug-capacity ?j) (level ?j))))
        (>= (+ (level ?j) (- (jug-capacity ?j) (level ?j))) 0)))
    :effect (and
      (when (<= (level ?s) (- (jug-capacity ?j) (level ?j)))
        (decrease (level ?s) (level ?s)))
      (when (not (<= (level ?s) (- (jug-capacity ?j) (level ?j))))
        (decrease (level ?s) (- (jug-capacity ?j) (level ?j))))
      (when (<= (level ?s) (- (jug-capacity ?j) (level ?j)))
        (increase (level ?j) (level ?s)))
      (when (not (<= (level ?s) (- (jug-capacity ?j) (level ?j))))
        (increase (level ?j) (- (jug-capacity ?j) (level ?j))))
      (increase (total-cost) 1)
      (not (tw-turn tw-act))
      (tw-turn tw-1)))

  (:action pour
    :parameters (?j - jug ?p - pot)
    :precondition (and
      (tw-turn tw-act)
      (>= (level ?j) 1)
      (<= (+ (level ?p) (level ?j)) (pot-capacity ?p))
      (<= (+ (level ?p) (level ?j)) 20))
    :effect (and
      (decrease (level ?j) (level ?j))
      (increase (level ?p) (level ?j))
      (increase (total-cost) 1)
      (not (tw-turn tw-act))
      (tw-turn tw-1)))

  (:action drop
    :parameters (?it - pea ?p - pot)
    :precondition (and
      (tw-turn tw-act)
      (not (exists (?pot - pot) (in_pot ?it ?pot))))
    :effect (and
      (in_pot ?it ?p)
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

  ; phase flow: fill, drain
  (:action tw-phase-1
    :parameters ()
    :precondition (and
      (tw-turn tw-1)
      (forall (?s - sink)
        (imply (and
                 (<= (+ (level ?s) (flow ?s)) 20)
                 (drain_open ?s)
                 (>= (level ?s) 1))
          (<= (+ (level ?s) (+ (flow ?s) -1)) 20)))
      (forall (?s - sink)
        (imply (and
                 (<= (+ (level ?s) (flow ?s)) 20)
                 (drain_open ?s)
                 (>= (level ?s) 1))
          (>= (+ (level ?s) (+ (flow ?s) -1)) 0))))
    :effect (and
      (forall (?s - sink)
        (and
          (when (<= (+ (level ?s) (flow ?s)) 20)
            (increase (level ?s) (flow ?s)))
          (when (and (drain_open ?s) (>= (level ?s) 1))
            (decrease (level ?s) 1))))
      (not (tw-turn tw-1))
      (tw-turn tw-2)))

  ; phase heat: warm, cool
  (:action tw-phase-2
    :parameters ()
    :precondition (tw-turn tw-2)
    :effect (and
      (forall (?p - pot)
        (and
          (when (and
                  (exists (?hob - hob) (and (hob ?p ?hob) (on ?hob)))
                  (>= (level ?p) 1)
                  (>= (heat ?p) 92))
            (assign (heat ?p) 100))
          (when (and
                  (exists (?hob - hob) (and (hob ?p ?hob) (on ?hob)))
                  (>= (level ?p) 1)
                  (not (>= (heat ?p) 92)))
            (increase (heat ?p) 8))
          (when (and
                  (not (exists (?hob - hob) (and (hob ?p ?hob) (on ?hob))))
                  (>= (heat ?p) 21)
                  (<= (heat ?p) 2))
            (assign (heat ?p) 0))
          (when (and
                  (not (exists (?hob - hob) (and (hob ?p ?hob) (on ?hob))))
                  (>= (heat ?p) 21)
                  (not (<= (heat ?p) 2)))
            (decrease (heat ?p) 2))))
      (not (tw-turn tw-2))
      (tw-turn tw-3)))

  ; phase cooking: cook
  (:action tw-phase-3
    :parameters ()
    :precondition (tw-turn tw-3)
    :effect (and
      (forall (?x - pea ?p - pot)
        (and
          (when (and
                  (in_pot ?x ?p)
                  (= (heat ?p) 100)
                  (>= (level ?p) 1)
                  (>= (doneness ?x) 9))
            (assign (doneness ?x) 10))
          (when (and
                  (in_pot ?x ?p)
                  (= (heat ?p) 100)
                  (>= (level ?p) 1)
                  (not (>= (doneness ?x) 9)))
            (increase (doneness ?x) 1))))
      (not (tw-turn tw-3))
      (tw-turn tw-act))))
