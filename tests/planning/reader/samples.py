"""PDDL texts for the tests of the reader: one domain for each feature of the language."""

from __future__ import annotations

NUMERIC = """
(define (domain Fuel-World)
  (:requirements :strips :typing :numeric-fluents :action-costs :negative-preconditions)
  (:types truck - vehicle vehicle place - object)
  (:predicates (at ?v - vehicle ?p - place) (road ?from ?to - place))
  (:functions (total-cost) - number (fuel ?v - vehicle) - number (dist ?a ?b - place)
              (wear) (rate))
  (:action drive
    :parameters (?t - truck ?from ?to - place)
    :precondition (and (at ?t ?from) (road ?from ?to) (>= (fuel ?t) (dist ?from ?to))
                       (not (= ?from ?to)))
    :effect (and (not (at ?t ?from)) (at ?t ?to)
                 (decrease (fuel ?t) (dist ?from ?to))
                 (increase (wear) (* (rate) 1.5))
                 (increase (total-cost) (dist ?from ?to))))
  (:action refuel
    :parameters (?t - truck)
    :precondition (and (< (fuel ?t) 3) (= (fuel ?t) (- 2 1)))
    :effect (and (assign (fuel ?t) (+ (fuel ?t) (* 2 3))) (scale-up (wear) 2)))
)
"""

NUMERIC_PROBLEM = """
(define (problem trip) (:domain Fuel-World)
  (:objects T1 - truck a b c - place)
  (:init (at T1 a) (road a b) (road b c) (= (fuel T1) 4) (= (dist a b) 3) (= (dist b c) 4)
         (= (wear) 0.0) (= (rate) 0.50) (= (total-cost) 0))
  (:goal (and (at t1 c)))
  (:metric minimize (total-cost)))
"""

OBJECTS = """
(define (domain places)
  (:requirements :typing :object-fluents :conditional-effects)
  (:types place block - object)
  (:constants table - place)
  (:predicates (clear ?p - place) (seen ?b - block))
  (:functions (loc ?b - block) - place (grip) - block)
  (:action move
    :parameters (?b - block ?to - place)
    :precondition (and (clear (loc ?b)) (not (= (loc ?b) ?to)))
    :effect (and (assign (loc ?b) ?to) (when (= (loc ?b) table) (seen ?b))))
  (:action take :parameters (?b - block) :precondition (= (grip) undefined)
    :effect (assign (grip) ?b))
)
"""

OBJECTS_PROBLEM = """
(define (problem p) (:domain places)
  (:objects a b - block shelf - place)
  (:init (clear table) (clear shelf) (= (loc a) table) (= (loc b) shelf))
  (:goal (= (loc a) shelf)))
"""

CORNERS = """
(define (domain corners)
  (:requirements :adl :derived-predicates)
  (:types Block - thing  object  Big-Block - Block)
  (:constants me - object table x - Block)
  (:predicates (on ?x ?x - Block) (clear ?b) (act) (above ?x ?y - Block) (set ?o - object)
               (old ?b - Block) (new ?b - Block))
  (:derived (above ?x ?y - Block) (on ?x ?y))
  (:derived (above ?x ?y - Block) (exists (?z - Block) (and (on ?x ?z) (above ?z ?y))))
  (:action act
    :parameters (?x - Block ?time)
    :precondition (and (or (clear ?x) (and (act) (clear ?time))) (imply (act) (on ?x x))
                       (forall (?y) (not (and (clear ?y) (act)))) (and (act) (clear table)))
    :effect (and (act) (when (and (act) (clear ?x)) (and (not (act)) (clear ?time)))
                 (forall (?b - Block) (and (when (old ?b) (and (new ?b) (not (old ?b))))
                                           (when (new ?b) (old ?b))))))
  (:action nothing :parameters () :precondition () :effect (and (not (act))))
)
"""

CORNERS_PROBLEM = """
(define (problem corners) (:domain corners)
  (:objects b1 - Block  b2 - Big-Block  extra)
  (:init (on b1 b2) (clear b1) (clear table) (act) (old b1) (not (new b2)))
  (:goal (or (above b1 b2) (not (exists (?z) (clear ?z))))))
"""

PAIRS = {
    "numeric": (NUMERIC, NUMERIC_PROBLEM),
    "object fluents": (OBJECTS, OBJECTS_PROBLEM),
    "corners": (CORNERS, CORNERS_PROBLEM),
}
