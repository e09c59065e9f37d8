"""Metrics of problems without preferences: sums of what actions increase, and of time."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest

from tokenworld.engine import EngineSimulator
from tokenworld.planning.pddl.words import metric_of
from tokenworld.planning.planners.by_name import plan_by
from tokenworld.planning.verdict import Verdict
from tokenworld.session.pddl import OpenPair, export, open_pair
from tokenworld.verbs.bench.normal import normal
from tokenworld.verbs.plan.target import pddl_steps

DOMAIN = """(define (domain tour)
  (:requirements :typing :fluents)
  (:types place)
  (:predicates (at ?p - place) (seen ?p - place))
  (:functions (far ?a ?b - place) (rate) (fuel) (fares) (total-cost))
  (:action drive
    :parameters (?a ?b - place)
    :precondition (at ?a)
    :effect (and (not (at ?a)) (at ?b) (seen ?b) (increase (fuel) (* (far ?a ?b) (rate)))))
  (:action fly
    :parameters (?a ?b - place)
    :precondition (at ?a)
    :effect (and (not (at ?a)) (at ?b) (seen ?b) (increase (fares) 3)
                 (increase (total-cost) 2))))
"""
FAR = {("a", "b"): "2.5", ("b", "a"): "9", ("a", "c"): "7", ("c", "a"): "1.5",
       ("b", "c"): "8.25", ("c", "b"): "0.5"}  # fmt: skip
PROBLEM = f"""(define (problem three) (:domain tour)
  (:objects a b c - place)
  (:init (at a) (= (rate) 0.3) (= (fuel) 1.5) (= (fares) 0) (= (total-cost) 0)
         {" ".join(f"(= (far {a} {b}) {far})" for (a, b), far in FAR.items())})
  (:goal (and (seen b) (seen c)))
  (:metric METRIC))
"""


def pair(tmp_path: Path, metric: str, domain: str = DOMAIN) -> OpenPair:
    (tmp_path / "domain.pddl").write_text(domain, encoding="utf-8")
    (tmp_path / "problem.pddl").write_text(PROBLEM.replace("METRIC", metric), encoding="utf-8")
    return open_pair(tmp_path / "domain.pddl", tmp_path / "problem.pddl")


def best(opened: OpenPair) -> Verdict:
    engine = opened.world.engine
    start = engine.start()
    return plan_by(EngineSimulator(engine, start), start, None, "own", seconds=60)


def told(opened: OpenPair) -> list[str]:
    return [one.message for one in opened.imported.remarks if one.code == "TW0810"]


METRICS = {
    "(fuel)": (Fraction(1), Fraction(0), Fraction(0), Fraction(0)),
    "(+ (* 2 (fuel)) (fares))": (Fraction(2), Fraction(1), Fraction(0), Fraction(0)),
    "(+ (* 0.25 (total-time)) (+ (fuel) (* 0.1 (fares))))":
        (Fraction(1), Fraction(1, 10), Fraction(0), Fraction(1, 4)),
    "(+ (total-cost) (/ (fuel) 4))": (Fraction(1, 4), Fraction(0), Fraction(1), Fraction(0)),
}  # fmt: skip


@pytest.mark.parametrize("metric", METRICS)
def test_the_best_plan_has_the_least_metric_of_all_short_ones(metric: str, tmp_path: Path) -> None:
    fuel, fares, cost, time = METRICS[metric]

    def paid(places: tuple[str, ...], flown: int) -> Fraction:
        total = fuel * Fraction("1.5")
        for number, leg in enumerate(zip(("a", *places), places, strict=False)):
            flies = bool(flown >> number & 1)
            total += 3 * fares + 2 * cost if flies else fuel * Fraction(FAR[leg]) * Fraction("0.3")
        return total + time * len(places)

    ways = [*permutations("bc"), ("b", "a", "c"), ("c", "a", "b")]
    least = min(paid(way, flown) for way in ways for flown in range(2 ** len(way)))
    opened = pair(tmp_path, f"minimize {metric}")
    verdict = best(opened)
    assert told(opened) == []
    assert metric_of(opened.world.program, verdict.cost) == least
    assert len(pddl_steps(opened.world, verdict)) <= 3


@pytest.mark.parametrize("divisor", ["8", "2.5"])
def test_a_division_by_a_number_adds_decimals(divisor: str, tmp_path: Path) -> None:
    domain = DOMAIN.replace("(* (far ?a ?b) (rate))", f"(/ (far ?a ?b) {divisor})")
    opened = pair(tmp_path, "minimize (+ (fuel) (* 100 (fares)))", domain)
    verdict, least = best(opened), Fraction("1.5") + Fraction("7.5") / Fraction(divisor)
    assert told(opened) == []
    assert pddl_steps(opened.world, verdict) == ("(drive a c)", "(drive c b)")
    assert metric_of(opened.world.program, verdict.cost) == least


def test_an_export_has_the_functions_and_the_metric_as_they_were(tmp_path: Path) -> None:
    exported = export(pair(tmp_path, "minimize (+ (fuel) (fares))").world, None)
    assert normal(exported.domain) == normal((tmp_path / "domain.pddl").read_text())
    assert normal(exported.problem) == normal((tmp_path / "problem.pddl").read_text())


def test_ticks_are_the_total_time_of_a_plan_without_costs(tmp_path: Path) -> None:
    free = DOMAIN.replace("(increase (total-cost) 2)", "")
    opened = pair(tmp_path, "minimize (total-time)", free)
    assert told(opened) == []
    assert best(opened).ticks == 2


def test_durations_may_depend_on_numbers_that_change(tmp_path: Path) -> None:
    domain = """(define (domain tour)
  (:requirements :typing :fluents :durative-actions)
  (:types place)
  (:predicates (at ?p - place) (seen ?p - place))
  (:functions (far ?a ?b - place) (rate) (fuel) (fares) (total-cost))
  (:durative-action drive
    :parameters (?a ?b - place)
    :duration (= ?duration (* (rate) (far ?a ?b)))
    :condition (at start (at ?a))
    :effect (and (at end (not (at ?a))) (at end (at ?b)) (at end (seen ?b))
                 (at end (increase (rate) 0.1)))))
"""
    opened = pair(tmp_path, "minimize (+ (total-time) (fuel))", domain)
    assert [one[:8] for one in told(opened)] == ["Durative"]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("(increase (fuel) (*", "(increase (rate) 0.1) (increase (fuel) (*",
         "`far(a, b) * rate()` depends on real numbers that change"),
        ("(increase (fuel) (*", "(increase (fuel) (/", "`far(a, b) / rate()` is a division"),
        ("(increase (fares) 3)", "(when (seen ?a) (increase (fuel) 3))",
         "`fuel` is not only increased, or under a condition"),
    ],
)  # fmt: skip
def test_a_metric_that_plans_are_not_measured_by_says_why(
    old: str, new: str, why: str, tmp_path: Path
) -> None:
    opened = pair(tmp_path, "minimize (fuel)", DOMAIN.replace(old, new))
    assert told(opened) == [f"Plans are not measured by this metric: {why}."]
