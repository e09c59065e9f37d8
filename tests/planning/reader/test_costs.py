"""Costs under a condition, and domains that do more with ``total-cost`` than to add to it."""

from __future__ import annotations

import pytest

from tokenworld.diagnostics import Source
from tokenworld.engine import EngineSimulator
from tokenworld.planning.planners.by_name import plan_optimal
from tokenworld.planning.reader import Imported, import_pddl
from tokenworld.session.loading import Loaded, OpenWorld, compile_world
from tokenworld.session.pddl import load_imported
from tokenworld.verbs.bench.trips import trips

DOMAIN = """
(define (domain roads) (:requirements :adl :action-costs) (:types loc)
  (:predicates (at ?l - loc) (icy ?l - loc) (road ?a ?b - loc))
  (:functions (total-cost) - number (dist ?a ?b - loc) - number)
  (:action drive :parameters (?a ?b - loc)
    :precondition (and (at ?a) (road ?a ?b))
    :effect (and (not (at ?a)) (at ?b) (when (icy ?b) (increase (total-cost) 5))
                 (forall (?l - loc) (when (icy ?l) (increase (total-cost) 1)))
                 (increase (total-cost) (dist ?a ?b)))))
"""
PROBLEM = """
(define (problem p) (:domain roads) (:objects a b c - loc)
  (:init (at a) (road a b) (road b c) (road a c) (= (dist a b) 1) (= (dist b c) 1)
         (= (dist a c) 4) (icy b) (= (total-cost) 0))
  (:goal (at c)) (:metric minimize (total-cost)))
"""


def imported(domain: str, problem: str) -> Imported:
    return import_pddl(Source("d.pddl", None, domain), (Source("p.pddl", None, problem),))


def opened(found: Imported) -> OpenWorld:
    loaded: Loaded = load_imported(found)
    (world,) = loaded.program.worlds.values()
    return OpenWorld(loaded, world, compile_world(loaded.program, world))


@pytest.mark.parametrize(("ice", "ticks", "cost"), [("5", 1, 5), ("0", 2, 4)])
def test_a_cost_under_a_condition_counts_in_the_best_plan(ice: str, ticks: int, cost: int) -> None:
    found = imported(DOMAIN.replace("(total-cost) 5", f"(total-cost) {ice}"), PROBLEM)
    assert f"cost dist(a, b) + (if icy(b) then {ice} else 0)" in found.text
    engine = opened(found).engine
    start = engine.start()
    verdict = plan_optimal(EngineSimulator(engine, start), start, None, seconds=30)
    assert (verdict.optimal, verdict.ticks, verdict.cost) == ("cost", ticks, cost)


def test_costs_with_decimals_are_counted_in_a_smaller_unit() -> None:
    """The start of a problem decides it: the domain comes back either way."""
    found = imported(DOMAIN, PROBLEM.replace("(dist a c) 4", "(dist a c) 4.5"))
    assert "cost round(10 * (dist(a, b) + (if icy(b) then 5 else 0)" in found.text
    assert not found.remarks


def test_costs_that_are_quotients_are_counted_by_a_function() -> None:
    found = imported(DOMAIN.replace("(dist ?a ?b))", "(/ (dist ?a ?b) 3))"), PROBLEM)
    assert "function `total-cost`(): real" in found.text
    assert "drive(a: Loc, b: Loc) {" in found.text
    assert [one.code for one in found.remarks] == ["TW0810"]
    assert not found.remarks[0].is_error
    assert opened(found).engine.start()


def test_a_domain_without_the_words_is_a_row_of_the_benchmark() -> None:
    chance = "(probabilistic 0.5 (at ?b) 0.5 (at ?a))"
    (trip,) = trips(Source("d.pddl", None, DOMAIN.replace("(at ?b) (when", f"{chance} (when")))
    assert trip.failure.startswith("not exported: TW0801")
    assert not trip.after
