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
    "(and (q ?x) (when (q ?y) (increase (total-cost) 2)) (increase (total-cost) 1))",
    "(when (q ?y) (and (p ?y) (increase (total-cost) 2) (when (p ?y) (increase (total-cost) 3))))",
    "(forall (?z) (when (r ?x ?z) (and (not (r ?x ?z)) (increase (total-cost) (dist ?x ?z)))))",
    "(and (increase (total-cost) (+ (fuel ?x) 2)) (forall (?z ?w) (increase (total-cost) 1)))",
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
    ("land sea - thing car - (either sea land) duck - car", "?x - duck ?y - (either land sea)"),
    ("car - (either land sea) bike", "?x - car ?y - bike"),
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


@pytest.mark.parametrize(
    ("asked", "effect"),
    [
        ("(p ?x)", "(assign (total-cost) 0)"),
        ("(< (total-cost) 9)", "(increase (total-cost) 1)"),
        (
            "(p ?x)",
            "(and (decrease (total-cost) (fuel ?x)) (when (p ?x) (increase (total-cost) 2)))",
        ),
        ("(p ?x)", "(assign (fuel ?x) (total-cost))"),
        ("(p ?x)", "(and (increase (total-cost) (/ (fuel ?x) 2)) (increase (total-cost) 1))"),
        ("(p ?x)", "(when (p ?x) (increase (total-cost) 1.5))"),
    ],
)
def test_a_total_cost_that_is_no_sum_of_costs_is_a_function(asked: str, effect: str) -> None:
    head = f"{HEAD[:-1]} (total-cost))"
    trip(domain(f":parameters (?x) :precondition {asked} :effect {effect}", head))


def test_names_may_have_dots_digits_and_lines() -> None:
    head = "(:types t_1 t.2) (:constants r2-d2 _c - t_1) (:predicates (is.a ?a.b - t_1) (_p1))"
    trip(domain(":parameters (?a.b - t_1) :precondition (is.a ?a.b) :effect (is.a r2-d2)", head))


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
