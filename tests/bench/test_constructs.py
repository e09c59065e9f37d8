"""Round trips of small domains, one for each construct of PDDL 1.2 and 2.1 that golds may use."""

from __future__ import annotations

import pytest

from tokenworld.diagnostics import Source
from tokenworld.verbs.bench.scores import strict
from tokenworld.verbs.bench.trips import trips

HEAD = "(:predicates (p ?x) (q ?x) (r ?x ?y)) (:functions (fuel ?x) - number (dist ?x ?y))"
CONDITIONS = (
    "()", "(and)", "(and (p ?x))", "(or (p ?x))", "(not (not (p ?x)))", "(not (and (p ?x) (q ?y)))",
    "(not (or (p ?x) (q ?y)))", "(or (and) (p ?x))", "(and (p ?x) (and (q ?y) (r ?x ?y)))",
    "(imply (p ?x) (and (q ?x) (q ?y)))", "(imply (imply (p ?x) (q ?x)) (q ?y))",
    "(not (imply (p ?x) (q ?x)))", "(= ?x ?y)", "(and (p ?x) (not (= ?x ?y)))",
    "(exists (?z ?w) (and (r ?x ?z) (r ?z ?w) (not (= ?z ?w))))", "(exists (?x) (p ?x))",
    "(not (exists (?z) (r ?x ?z)))", "(forall (?z) (imply (r ?x ?z) (p ?z)))",
    "(forall (?z) (exists (?w) (r ?z ?w)))", "(and (> (fuel ?x) 3) (<= (fuel ?x) (dist ?x ?y)))",
    "(< (- (fuel ?x) 1) (/ (fuel ?y) 2))", "(> (+ (fuel ?x) (fuel ?y) 3) -1.5)",
)  # fmt: skip
EFFECTS = (
    "()", "(and)", "(and (q ?x) (and (not (p ?x)) (p ?y)))", "(and (not (p ?x)) (p ?x))",
    "(and (when (q ?x) (p ?y)) (when (not (q ?x)) (not (p ?y))))",
    "(when (and (q ?x) (q ?y)) (and (p ?y) (not (p ?x))))", "(when (q ?x) (when (q ?y) (p ?y)))",
    "(when (exists (?z) (r ?x ?z)) (p ?y))", "(when (q ?x) (forall (?z) (p ?z)))",
    "(forall (?z ?w) (not (r ?w ?z)))", "(forall (?z) (forall (?w) (when (r ?z ?w) (r ?w ?z))))",
    "(forall (?z) (when (r ?x ?z) (and (p ?z) (not (r ?x ?z)))))",
    "(forall (?z) (and (when (p ?z) (not (p ?z))) (when (not (p ?z)) (p ?z))))",
    "(forall (?z ?w) (when (and (r ?z ?w) (p ?z)) (and (not (r ?z ?w)) (not (p ?z)) (p ?w))))",
    "(and (forall (?z) (when (p ?z) (q ?z))) (forall (?z) (when (q ?z) (p ?z))))",
    "(and (when (p ?x) (and (not (p ?x)) (p ?y))) (when (p ?y) (and (not (p ?y)) (p ?x))))",
    "(and (scale-up (fuel ?x) 2) (scale-down (fuel ?y) 2))",
    "(and (decrease (fuel ?x) (dist ?x ?y)) (assign (dist ?x ?y) (+ (fuel ?x) (* 2 (fuel ?y)))))",
    "(and (increase (total-cost) 5) (q ?x) (increase (fuel ?x) (* 2 (fuel ?y) 3)))",
    "(forall (?z) (increase (fuel ?z) 1))",
)  # fmt: skip
TYPED = (
    # types, parameters
    ("object truck - object", "?x - truck ?y - object"),
    ("truck - object object", "?x - truck ?y"),
    ("car - vehicle vehicle - object object", "?x - car ?y - vehicle"),
    ("object", "?x - object ?y"),
    ("object truck", "?x - truck ?y - object"),
    ("car - truck object truck", "?x - car ?y"),
    ("truck", "?x - truck ?y - (either truck)"),
    ("truck plane", "?x - (either truck plane) ?y - object"),
    ("truck - vehicle", "?x - truck ?y - vehicle"),
    ("a b c - object d e - a f", "?x - d ?y - f"),
)


def trip(text: str) -> None:
    (one,) = trips(Source("d.pddl", None, text))
    assert (one.failure, bool(one.after)) == ("", True), text
    exact = strict(text, one.after)
    assert (exact.f1, exact.lost, exact.added) == (1, (), ()), text


def domain(action: str, head: str = HEAD) -> str:
    return f"(define (domain d) {head} (:action a {action}))"


def test_conditions_come_back() -> None:
    for asked in CONDITIONS:
        trip(domain(f":parameters (?x ?y) :precondition {asked} :effect (q ?y)"))


def test_effects_come_back() -> None:
    for effect in EFFECTS:
        trip(domain(f":parameters (?x ?y) :precondition (p ?x) :effect {effect}"))


def test_parts_may_be_missing_or_in_another_order() -> None:
    for action in ("", ":effect (done)", ":parameters () :precondition (done) :effect (not (done))",
                   ":effect (p ?X) :precondition (NOT (P ?x)) :parameters (?x)"):  # fmt: skip
        trip(domain(action, "(:requirements) (:PREDICATES (P ?x) (done))"))


@pytest.mark.parametrize(("types", "params"), TYPED)
def test_types_come_back(types: str, params: str) -> None:
    head = f"(:types {types}) (:predicates (on ?a ?b - object))"
    trip(domain(f":parameters ({params}) :precondition (on ?x ?y) :effect (on ?y ?x)", head))


def test_constants_and_derived_predicates_come_back() -> None:
    head = "(:types t place) (:constants home shop - place me) (:predicates (at ?x ?y) (far ?x))"
    rule = "(:derived (far ?x) (exists (?y - place) (and (at ?x ?y) (not (= ?y home)))))"
    action = ":parameters (?v - t) :precondition (far ?v) :effect (and (at ?v HOME) (at me shop))"
    trip(domain(action, head).removesuffix(")") + f" {rule})")


def test_types_of_bound_variables_count() -> None:
    head = "(:types a b) (:predicates (p ?x))"
    text = domain(":precondition (exists (?x - a) (p ?x)) :effect (forall (?y) (not (p ?y)))", head)
    assert strict(text, text.replace("?x", "?z")).f1 == 1
    assert strict(text, text.replace("?x - a", "?x - b")).f1 < 1
