"""Constraints and preferences of PDDL3: what plans they allow, what plans cost, and the way back.

The oracle reads a plan's states as Gerevini and Long (2005) define the words, and knows nothing of
monitors.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure, Source
from tokenworld.engine import EngineSimulator
from tokenworld.planning.pddl.words import metric_of
from tokenworld.planning.planners.by_name import plan_by
from tokenworld.planning.reader import Imported, import_pddl
from tokenworld.planning.verdict import Verdict
from tokenworld.session.pddl import OpenPair, export, open_pair, read_plan
from tokenworld.verbs.bench.normal import normal
from tokenworld.verbs.plan.target import PlanFiles, Target, pddl_steps

State = frozenset[str]
LAMPS = ("a", "b", "c")
DOMAIN = """(define (domain lamps)
  (:requirements :adl :preferences :constraints)
  (:types lamp)
  (:predicates (lit ?l - lamp))
  (:functions (total-cost))
  (:action light
    :parameters (?l - lamp)
    :precondition (and (not (lit ?l)) (preference dark (forall (?m - lamp) (not (lit ?m)))))
    :effect (and (lit ?l) (increase (total-cost) 1)))
  (:action quench
    :parameters (?l - lamp)
    :precondition (lit ?l)
    :effect (and (not (lit ?l)) (increase (total-cost) 1))))
"""
PROBLEM = """(define (problem evening) (:domain lamps)
  (:objects a b c - lamp)
  (:init (lit a))
  (:goal {goal})
  (:constraints (and {constraints}))
  (:metric {metric}))
"""


def pair(
    tmp_path: Path, goal: str, constraints: str, metric: str, domain: str = DOMAIN
) -> OpenPair:
    problem = PROBLEM.format(goal=goal, constraints=constraints, metric=metric)
    return written(tmp_path, domain, problem)


def written(tmp_path: Path, domain: str, problem: str) -> OpenPair:
    (tmp_path / "domain.pddl").write_text(domain, encoding="utf-8")
    (tmp_path / "problem.pddl").write_text(problem, encoding="utf-8")
    return open_pair(tmp_path / "domain.pddl", tmp_path / "problem.pddl")


def best(opened: OpenPair) -> Verdict:
    engine = opened.world.engine
    start = engine.start()
    return plan_by(EngineSimulator(engine, start), start, None, "own", seconds=60)


# ---- the oracle ---------------------------------------------------------------------------------

Test = Callable[[State], bool]


def holds(kind: str, states: Sequence[State], first: Test, last: Test) -> bool:
    """Whether a trajectory of states keeps one word about time."""
    on = [first(one) for one in states]
    then = [last(one) for one in states]
    match kind:
        case "at end":
            return on[-1]
        case "always":
            return all(on)
        case "sometime":
            return any(on)
        case "at-most-once":
            return (
                sum(now and not before for before, now in zip([False, *on], on, strict=False)) < 2
            )
        case "sometime-after":
            return all(any(then[at:]) for at, now in enumerate(on) if now)
        case "sometime-before":
            return all(any(then[:at]) for at, now in enumerate(on) if now)
        case _:  # each action takes one unit of time
            word, *times = kind.split()
            begin, end = int(times[0]), int(times[-1])
            if word == "within":
                return any(on[: end + 1])
            if word == "always-within":
                return all(any(then[at : at + end + 1]) for at, now in enumerate(on) if now)
            if len(on) - 1 <= begin:
                return on[-1]
            if word == "hold-after":
                return all(on[begin + 1 :])
            return all(on[begin:end]) and on[begin]


def played(plan: Sequence[str]) -> tuple[list[State], int]:
    """The states of a plan, and how often it violates the preference of `light`."""
    states, dark = [State("a")], 0
    for step in plan:
        name, lamp = step.strip("()").split()
        state = states[-1]
        assert (lamp in state) is (name == "quench")
        dark += name == "light" and bool(state)
        states.append(state | {lamp} if name == "light" else state - {lamp})
    return states, dark


CONDITIONS: dict[str, Test] = {
    "(lit a)": lambda state: "a" in state,
    "(not (lit b))": lambda state: "b" not in state,
    "(and (lit b) (lit c))": lambda state: {"b", "c"} <= state,
    "(or (lit a) (lit c))": lambda state: bool({"a", "c"} & state),
    "(exists (?l - lamp) (lit ?l))": bool,
}
KINDS = (
    "at end", "always", "sometime", "at-most-once", "sometime-after", "sometime-before",
    "within 2", "hold-during 1 3", "hold-after 1", "always-within 0", "always-within 2",
)  # fmt: skip
PAIRS = ("sometime-after", "sometime-before", "always-within")


def drawn(rng: random.Random) -> tuple[str, Callable[[Sequence[State]], bool]]:
    """A constraint and its oracle."""
    kind, first, last = rng.choice(KINDS), *rng.choices(sorted(CONDITIONS), k=2)
    two = f" {last}" if kind.split()[0] in PAIRS else ""
    text = f"({kind} {first}{two})"
    return text, lambda states: holds(kind, states, CONDITIONS[first], CONDITIONS[last])


def plans(length: int) -> list[tuple[str, ...]]:
    """All plans of at most so many steps."""
    found = []
    for size in range(length + 1):
        for lamps in product(LAMPS, repeat=size):
            lit, steps = {"a"}, []
            for lamp in lamps:
                steps.append(f"({'quench' if lamp in lit else 'light'} {lamp})")
                lit ^= {lamp}
            found.append(tuple(steps))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_the_best_plan_is_the_best_of_all_short_ones(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    hard = [drawn(rng) for _ in range(rng.randint(0, 2))]
    soft = [(drawn(rng), Fraction(rng.randint(1, 40), 4)) for _ in range(rng.randint(1, 3))]
    weights = [
        *(f"(* {float(weight)} (is-violated p{n}))" for n, (_, weight) in enumerate(soft)),
        "(* 2 (is-violated dark))", "(* 0.5 (total-cost))", "(is-violated end)",
    ]  # fmt: skip
    wanted = [text for text, _ in hard]
    wanted += (f"(preference p{n} {text})" for n, ((text, _), _) in enumerate(soft))
    opened = pair(
        tmp_path,
        "(and (or (lit b) (lit c)) (preference end (not (lit a))))",
        " ".join(wanted),
        f"minimize (+ {' '.join(weights)})",
    )

    def metric(plan: Sequence[str]) -> Fraction | None:
        states, dark = played(plan)
        if not states[-1] & {"b", "c"} or not all(kept(states) for _, kept in hard):
            return None
        violated = sum(weight for (_, kept), weight in soft if not kept(states))
        return violated + 2 * dark + Fraction(len(plan), 2) + ("a" in states[-1])

    verdict, claims = best(opened), [metric(one) for one in plans(6)]
    least = min((one for one in claims if one is not None), default=None)
    assert verdict.answer == ("unwinnable" if least is None else "winnable")
    if least is not None:
        plan = pddl_steps(opened.world, verdict)
        assert metric_of(opened.world.program, verdict.cost) == metric(plan) == least


def test_the_oracle_can_say_no() -> None:
    states = [State("a"), State(), State("a")]
    lit, unlit = CONDITIONS["(lit a)"], CONDITIONS["(not (lit b))"]
    assert [holds(kind, states, lit, unlit) for kind in KINDS] == [
        *(True, False, True, False, True, False, True, False, True, True, True),
    ]


@pytest.mark.parametrize("seed", range(5))
def test_each_of_several_debts_is_paid_in_time(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    time, lamp = rng.randint(0, 3), rng.choice("bc")
    text = f"(forall (?l - lamp) (always-within {time} (lit ?l) (not (lit ?l))))"
    opened = pair(tmp_path, f"(not (lit {lamp}))", f"{text} (sometime (lit {lamp}))",
                  "minimize (total-cost)")  # fmt: skip
    verdict = best(opened)

    def kept(plan: Sequence[str]) -> bool:
        states, _ = played(plan)
        quenched = all(
            any(one not in state for state in states[at : at + time + 1])
            for one in LAMPS
            for at in range(len(states))
        )
        return quenched and lamp not in states[-1] and any(lamp in one for one in states)

    least = min((len(one) for one in plans(6) if kept(one)), default=None)
    assert (verdict.answer == "winnable") is (least is not None)
    assert least is None or len(pddl_steps(opened.world, verdict)) == least


SLOW_LAMPS = """(define (domain lamps)
  (:requirements :durative-actions :constraints :preferences)
  (:predicates (lit ?l))
  (:durative-action light :parameters (?l) :duration (= ?duration 2.5)
    :condition (at start (lit a)) :effect (at end (lit ?l))))
"""


@pytest.mark.parametrize(("time", "answer"), [("2.4", "unwinnable"), ("2.5", "winnable")])
def test_debts_are_counted_in_the_time_that_actions_take(
    time: str, answer: str, tmp_path: Path
) -> None:
    problem = f"""(define (problem evening) (:domain lamps) (:objects a b c)
  (:init (lit a)) (:goal (lit b))
  (:constraints (forall (?l) (always-within {time} (lit a) (or (lit b) (lit ?l))))))
"""
    opened = written(tmp_path, SLOW_LAMPS, problem)
    assert best(opened).answer == answer


def test_the_last_action_takes_its_own_time_before_preferences_are_settled(
    tmp_path: Path,
) -> None:
    problem = """(define (problem evening) (:domain lamps) (:objects a b c)
  (:init (lit a)) (:goal (and (lit b) (preference p (lit c))))
  (:metric minimize (is-violated p)))
"""
    opened = written(tmp_path, SLOW_LAMPS, problem)
    verdict = best(opened)
    times = [step.partition("[")[2] for step in pddl_steps(opened.world, verdict)]
    assert times == ["2.500]", "2.500]"]
    PlanFiles(Target(opened.world, opened), 0, None).put(tmp_path / "best.plan", verdict)
    assert (tmp_path / "best.plan").read_text().splitlines()[-1] == "; makespan = 5"


# ---- counts -------------------------------------------------------------------------------------


def test_each_binding_of_a_quantified_preference_counts(tmp_path: Path) -> None:
    goal = "(and (lit a) (forall (?l - lamp) (preference on (lit ?l))))"
    kept = "(forall (?l - lamp) (preference still (always (lit ?l))))"
    metric = "minimize (+ (is-violated on) (* 10 (is-violated still)))"
    opened = pair(tmp_path, goal, kept, metric)
    verdict = best(opened)
    assert metric_of(opened.world.program, verdict.cost) == 20
    assert len(pddl_steps(opened.world, verdict)) == 2


def test_a_metric_to_maximise_counts_what_is_kept(tmp_path: Path) -> None:
    goal = "(and (preference p (lit b)) (preference q (not (lit b))))"
    metric = "maximize (- 10 (+ (* 3 (is-violated p)) (is-violated q)))"
    opened = pair(tmp_path, goal, "", metric)
    assert metric_of(opened.world.program, best(opened).cost) == 9


def test_a_preference_may_be_better_violated(tmp_path: Path) -> None:
    goal = "(forall (?l - lamp) (preference p (lit ?l)))"
    opened = pair(tmp_path, goal, "", "minimize (* -2 (is-violated p))")
    assert metric_of(opened.world.program, best(opened).cost) == -6


def test_costs_with_decimals_are_paid_exactly(tmp_path: Path) -> None:
    domain = DOMAIN.replace("(increase (total-cost) 1)", "(increase (total-cost) 0.1)")
    opened = pair(tmp_path, "(and (lit b) (lit c))", "", "minimize (total-cost)", domain)
    assert metric_of(opened.world.program, best(opened).cost) == Fraction(1, 5)


@pytest.mark.parametrize(
    ("metric", "why"),
    [
        ("minimize (is-violated q)", "there is no preference `q`"),
        ("minimize (* (is-violated p) (is-violated p))", "it multiplies what a plan pays"),
        ("maximize (total-cost)", "a plan would be better with more `total-cost`"),
        ("maximize (is-violated dark)",
         "a plan would be better the more often it violates `dark`"),
    ],
)  # fmt: skip
def test_a_metric_that_plans_cannot_be_measured_by_says_why(metric: str, why: str) -> None:
    problem = PROBLEM.format(goal="(preference p (lit b))", constraints="", metric=metric)
    found = imported(problem)
    assert [one.message for one in found.remarks if one.code == "TW0810"] == [
        f"Plans are not measured by this metric: {why}."
    ]


def imported(*problems: str) -> Imported:
    given = tuple(Source(f"p{n}.pddl", None, text) for n, text in enumerate(problems))
    return import_pddl(Source("d.pddl", None, DOMAIN), given)


def test_several_problems_are_to_be_imported_one_by_one() -> None:
    problem = PROBLEM.format(goal="(lit b)", constraints="(sometime (lit c))", metric="")
    problem = problem.replace("(:metric )", "")
    with pytest.raises(Failure) as raised:
        imported(problem, problem)
    assert [one.code for one in raised.value.diagnostics] == ["TW0810"]


# ---- the way back -------------------------------------------------------------------------------


def test_an_export_gives_them_back_and_takes_plans_of_theirs(tmp_path: Path) -> None:
    opened = pair(
        tmp_path,
        "(and (lit b) (forall (?l - lamp) (preference end (lit ?l))))",
        "(sometime (lit c)) (forall (?l - lamp) (always-within 3 (lit c) (lit ?l)))"
        " (preference p (at-most-once (lit c)))",
        "minimize (+ (* 1.5 (is-violated p)) (is-violated end) (total-cost))",
    )
    exported = export(opened.world, None)
    assert normal(exported.domain) == normal((tmp_path / "domain.pddl").read_text())
    assert normal(exported.problem) == normal((tmp_path / "problem.pddl").read_text())
    plan = "\n".join(pddl_steps(opened.world, best(opened)))
    assert "settle" not in plan
    assert isinstance(read_plan(opened.world, exported, plan, None), Verdict)
    assert isinstance(read_plan(opened.world, exported, "(light b)", None), str)


def test_an_export_for_planners_has_only_what_all_of_them_read(tmp_path: Path) -> None:
    opened = pair(
        tmp_path, "(lit b)", "(preference p (sometime (lit c)))", "minimize (is-violated p)"
    )
    exported = export(opened.world, None, names=True)
    both = exported.domain + exported.problem
    assert not any(word in both for word in ("(preference", ":constraints", ":preferences"))
