"""Durative actions and probabilistic effects of PDDL as long actions and `chance`."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure, Source
from tokenworld.planning.reader import import_pddl
from tokenworld.planning.verdict import summary_lines
from tokenworld.session import Session
from tokenworld.session.pddl import OpenPair, open_pair
from tokenworld.verbs.plan.target import pddl_steps

TIMED = """(define (domain flights)
  (:requirements :typing :durative-actions :numeric-fluents)
  (:types plane city)
  (:predicates (at ?p - plane ?c - city) (open ?c - city) (busy ?p - plane) (seen ?c - city))
  (:functions (far ?a ?b - city))
  (:durative-action fly
    :parameters (?p - plane ?a ?b - city)
    :duration (= ?duration (far ?a ?b))
    :condition (and (at start (at ?p ?a)) (at start (not (busy ?p))) (over all (busy ?p))
                    (at end (open ?b)))
    :effect (and (at start (not (at ?p ?a))) (at start (busy ?p))
                 (at end (at ?p ?b)) (at end (not (busy ?p)))
                 (forall (?c - city) (when (at end (open ?c)) (at end (seen ?c))))))
  (:durative-action unlock
    :parameters (?c - city)
    :duration (= ?duration 2)
    :condition ()
    :effect (at end (open ?c))))
"""
TIMED_PROBLEM = """(define (problem one-flight) (:domain flights)
  (:objects p1 - plane a b - city)
  (:init (at p1 a) (= (far a b) 3) (= (far b a) 3) (= (far a a) 1) (= (far b b) 1))
  (:goal (and (at p1 b) (seen b))))
"""
LUCKY = """(define (domain coins)
  (:requirements :probabilistic-effects :conditional-effects)
  (:predicates (up) (lost) (ready))
  (:action toss :parameters () :precondition (not (lost))
    :effect (and (ready) (probabilistic 0.25 (up) 1/4 (lost))))
  (:action sure :parameters () :precondition (ready)
    :effect (probabilistic 1 (when (not (lost)) (up))))
  (:action flip :parameters () :precondition ()
    :effect (probabilistic 0.5 (up) 0.5 (and (lost) (not (ready))))))
"""
LUCKY_PROBLEM = """(define (problem win) (:domain coins) (:init) (:goal (and (up) (not (lost))))
  (:metric maximize (goal-achieved)))
"""


def opened(folder: Path, domain: str, problem: str) -> OpenPair:
    files = folder / "domain.pddl", folder / "problem.pddl"
    for file, text in zip(files, (domain, problem), strict=True):
        file.write_text(text, encoding="utf-8")
    return open_pair(*files)


def refused(domain: str) -> str:
    with pytest.raises(Failure) as raised:
        import_pddl(Source("d.pddl", None, domain), ())
    (found,) = (one for one in raised.value.diagnostics if one.is_error)
    assert found.span is not None
    return f"{found.code} {found.span.line}: {found.message}"


# ---- time ---------------------------------------------------------------------------------------


def test_a_durative_action_takes_ticks(tmp_path: Path) -> None:
    pair = opened(tmp_path, TIMED, TIMED_PROBLEM)
    text = pair.imported.text
    assert "takes far(a, b)" in text
    assert "takes 2" in text
    assert "require busy" not in text  # it holds from the start on
    assert "add busy" not in text  # and ends with the flight
    assert [one.code for one in pair.imported.remarks] == ["TW0810"]
    assert "do not overlap" in pair.imported.remarks[0].message


def test_its_plan_has_times(tmp_path: Path) -> None:
    pair = opened(tmp_path, TIMED, TIMED_PROBLEM)
    verdict = Session(pair.world).plan(None, time_limit=20)
    assert (verdict.answer, verdict.ticks) == ("winnable", 5)
    assert pddl_steps(pair.world, verdict) == (
        "0.000: (unlock b) [2.000]",
        "2.010: (fly p1 a b) [3.000]",
    )


def test_without_a_plan_there_are_no_steps(tmp_path: Path) -> None:
    pair = opened(tmp_path, TIMED, TIMED_PROBLEM.replace("(at p1 b)", "(not (= a b)) (at p1 b)"))
    assert pddl_steps(pair.world, Session(pair.world).plan(None, time_limit=20))
    pair = opened(tmp_path, TIMED, TIMED_PROBLEM.replace("(at p1 b) (seen b)", "(= a b)"))
    verdict = Session(pair.world).plan(None, time_limit=20)
    assert (verdict.answer, pddl_steps(pair.world, verdict)) == ("unwinnable", ())


def test_the_plan_is_valid_by_another_validator(tmp_path: Path) -> None:
    io = pytest.importorskip("unified_planning.io", reason="needs the extra `plan`")
    shortcuts = pytest.importorskip("unified_planning.shortcuts")
    pair = opened(tmp_path, TIMED, TIMED_PROBLEM)
    steps = pddl_steps(pair.world, Session(pair.world).plan(None, time_limit=20))
    shortcuts.get_environment().credits_stream = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its parser is called by names that are deprecated
        reader = io.PDDLReader()
        task = reader.parse_problem_string(TIMED, TIMED_PROBLEM)
        for kept, valid in ((steps, True), (steps[1:], False)):
            plan = reader.parse_plan_string(task, "\n".join(kept))
            with shortcuts.PlanValidator(name="up_time_triggered_validator") as validator:
                assert bool(validator.validate(task, plan)) is valid


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("(= ?duration 2)", "(<= ?duration 2)", "16: A duration that is not fixed"),
        ("(= ?duration 2)", "(= ?duration 0)", "16: A duration of `0`"),
        ("(when (at end (open ?c))", "(when (at start (open ?c))", "13: A condition at another"),
        ("(when (at end (open ?c))", "(when (at end (at ?p ?c))", "13: An effect at the end of"),
        ("(at end (at ?p ?b))", "(at end (increase (far ?a ?b) #t))", "12: `#t` (time)"),
    ],
)
def test_what_does_not_fit_is_told_at_its_place(old: str, new: str, message: str) -> None:
    assert old in TIMED
    assert refused(TIMED.replace(old, new)).startswith(f"TW0810 {message}")


@pytest.mark.parametrize(
    ("duration", "far", "takes", "ticks"),
    [
        ("(/ 4 2)", "3", "round(10 * (4 / 2), 0)", 10),
        ("(/ (far ?c ?c) 8)", "3", "round(1000 * (far(c, c) / 8), 0)", 1000),
        ("(/ 1 (far ?c ?c))", "4", "round(100 * (1 / far(c, c)), 0)", 100),
        ("(/ 1 (far ?c ?c))", "3", "round(1000 * (1 / far(c, c)), 0)", 1000),
    ],
)
def test_a_quotient_is_a_duration(duration: str, far: str, takes: str, ticks: int) -> None:
    domain = TIMED.replace("(= ?duration 2)", f"(= ?duration {duration})")
    problem = TIMED_PROBLEM.replace(") 3)", f") {far})").replace(") 1)", f") {far})")
    text = import_pddl(Source("d.pddl", None, domain), (Source("p.pddl", None, problem),)).text
    assert f"takes {takes} " in text
    assert f" = {ticks}\n" in text


def test_the_pair_without_times_is_classical(tmp_path: Path) -> None:
    pair = opened(tmp_path, TIMED, TIMED_PROBLEM)
    domain, problem = pair.original.domain, pair.original.problem
    assert "(:action fly :parameters (?p - plane ?a ?b - city) :precondition (and" in domain
    assert not any(word in domain + problem for word in ("durative", "at start", "far", "over all"))
    task = import_pddl(Source("d.pddl", None, domain), (Source("p.pddl", None, problem),))
    assert "takes" not in task.text


@pytest.mark.planner
def test_a_plan_without_times_is_followed_tick_by_tick(tmp_path: Path) -> None:
    downward = pytest.importorskip("up_fast_downward", reason="needs the extra `classical`")
    assert downward
    pair = opened(tmp_path, TIMED, TIMED_PROBLEM.replace(" 3)", " 3000)"))
    verdict = Session(pair.world).plan(None, time_limit=60, original=pair.original)
    assert (verdict.answer, verdict.encoding, verdict.ticks) == ("winnable", "PDDL", 3002)
    assert pddl_steps(pair.world, verdict) == (
        "0.000: (unlock b) [2.000]", "2.010: (fly p1 a b) [3000.000]",
    )  # fmt: skip
    shown = [line for line in summary_lines(verdict) if "pass" in line]
    assert shown == ["  2. pass", "  4 to 3002. pass (2,999 times)"]


def test_an_effect_without_a_time_is_a_mistake() -> None:
    found = refused(TIMED.replace("(at end (open ?c))))", "(open ?c)))"))
    assert found == "TW0101 18: `(open ?c)` has no time."


# ---- chance -------------------------------------------------------------------------------------


def test_probabilistic_effects_are_chances(tmp_path: Path) -> None:
    pair = opened(tmp_path, LUCKY, LUCKY_PROBLEM)
    text = pair.imported.text
    assert "chance 0.25 {" in text
    assert "} or 1 / 4 {" in text
    assert text.count("chance") == 2  # what is sure is no draw
    assert pair.imported.remarks == ()


def test_the_best_probability_is_that_of_the_pddl(tmp_path: Path) -> None:
    """Toss, and then be sure: lost in one case of four; a flip wins in one of two."""
    from tokenworld.session.solving import solve_luck

    world = opened(tmp_path, LUCKY, LUCKY_PROBLEM).world
    found = solve_luck(
        world.engine, world.engine.start(0), None, "probability", states=1000, time_limit=20
    )
    assert str(found.exact) == "3/4"


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("(probabilistic 0.75 (up) 0.5 (lost))", "TW0101 5: The probabilities"),
        ("(probabilistic 0.25)", "TW0101 5: `probabilistic` takes pairs"),
        ("(probabilistic (up) 0.25)", "TW0101 5: `(up)` is no probability"),
        ("(probabilistic 2 (up))", "TW0101 5: `2` is no probability"),
        ("(oneof (up) (lost))", "TW0810 5: `oneof`"),
    ],
)
def test_what_is_no_distribution_is_told(new: str, message: str) -> None:
    domain = LUCKY.replace("(probabilistic 0.25 (up) 1/4 (lost))", new)
    assert refused(domain).startswith(message)


TRUCK = """(define (domain trucks)
  (:requirements :typing :adl :durative-actions :fluents :constraints)
  (:types truck area)
  (:predicates (free ?t - truck ?a - area) (behind ?a ?b - area) (loaded ?a - area) (open))
  (:functions (time-of ?a - area))
  (:durative-action load
    :parameters (?t - truck ?a - area)
    :duration (= ?duration (time-of ?a))
    :condition (and (at start (free ?t ?a))
                    (over all (forall (?b - area) (imply (behind ?b ?a) (free ?t ?b)))))
    :effect (and (at start (not (free ?t ?a))) (at end (loaded ?a))))
  (:durative-action lock
    :parameters ()
    :duration (= ?duration 0.5)
    :condition (over all (not (open)))
    :effect (at start (not (open)))))
"""
LOADS = """(define (problem two-loads) (:domain trucks)
  (:objects t - truck deep near - area)
  (:init (free t deep) (free t near) (behind near deep) (open) (= (time-of deep) 1.5)
         (= (time-of near) 2))
  (:goal (and (loaded deep) (loaded near)))
  (:constraints (and (within LIMIT (loaded deep)) (at end (not (open))))))
"""


def _loads(tmp_path: Path, limit: str, domain: str = TRUCK) -> OpenPair:
    (tmp_path / "domain.pddl").write_text(domain, encoding="utf-8")
    (tmp_path / "problem.pddl").write_text(LOADS.replace("LIMIT", limit), encoding="utf-8")
    return open_pair(tmp_path / "domain.pddl", tmp_path / "problem.pddl")


def test_a_condition_is_asked_as_it_is_after_the_start(tmp_path: Path) -> None:
    """The area to load is no longer free while it is loaded; only those behind it have to be."""
    opened = _loads(tmp_path, "1.5")
    verdict = Session(opened.world, 0, operator=True).plan(None)
    steps = pddl_steps(opened.world, verdict)
    assert steps[0] == "0.000: (load t deep) [1.500]"
    assert sorted(step.split(": ")[1] for step in steps) == [
        "(load t deep) [1.500]", "(load t near) [2.000]", "(lock) [0.500]",
    ]  # fmt: skip


def test_a_condition_that_the_start_makes_false_is_never_met(tmp_path: Path) -> None:
    always = TRUCK.replace("(imply (behind ?b ?a) (free ?t ?b))", "(free ?t ?b)")
    verdict = Session(_loads(tmp_path, "9", always).world, 0, operator=True).plan(None)
    assert verdict.answer == "unwinnable"


def test_the_duration_may_be_read(tmp_path: Path) -> None:
    counted = TRUCK.replace(
        "(at end (loaded ?a))", "(at end (loaded ?a)) (at end (increase (worn) ?duration))"
    ).replace("(:functions", "(:functions (worn)")
    opened = _loads(tmp_path, "1.5", counted)
    assert "worn() += `time-of`(a)" in opened.imported.text


def test_a_time_limit_ends_between_ticks(tmp_path: Path) -> None:
    verdict = Session(_loads(tmp_path, "1.4").world, 0, operator=True).plan(None)
    assert verdict.answer == "unwinnable"
