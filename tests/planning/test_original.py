"""A world that was imported from PDDL is also given to Fast Downward as it was written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.engine import EngineSimulator
from tokenworld.ground import Command
from tokenworld.planning import ladder
from tokenworld.planning.planners.answers import EngineRun
from tokenworld.planning.planners.by_pddl import OriginalPddl
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, EngineInfo, find_engine
from tokenworld.planning.verdict import PlanStep
from tokenworld.session.pddl import OpenPair, open_pair

INSTALLED = find_engine(FAST_DOWNWARD)
READY = EngineInfo("fast-downward", "classical", "up-fast-downward", "1.0", "/bin/fd", "pip …")
planner = pytest.mark.skipif(not INSTALLED.ready, reason="Fast Downward is not installed")

DOMAIN = """(define (domain Lamps)
  (:requirements :strips :typing :action-costs)
  (:types Lamp)
  (:predicates (on ?l - Lamp) (next ?a ?b - Lamp))
  (:functions (total-cost) - number)
  (:action Press :parameters (?l - Lamp) :precondition (not (on ?l))
    :effect (and (on ?l) (increase (total-cost) 1)))
  (:action Carry :parameters (?a ?b - Lamp)
    :precondition (and (on ?a) (next ?a ?b) (not (on ?b)))
    :effect (and (on ?b) (not (on ?a)) (increase (total-cost) 3))))
"""
COUNT = 16


def problem(count: int = COUNT) -> str:
    """So many lamps in a ring; all are to be on."""
    lamps = [f"L{number}" for number in range(count)]
    near = " ".join(f"(next {a} {b})" for a, b in zip(lamps, lamps[1:] + lamps[:1], strict=True))
    wanted = " ".join(f"(on {one})" for one in lamps)
    return (
        f"(define (problem ring) (:domain Lamps) (:objects {' '.join(lamps)} - Lamp)\n"
        f" (:init {near} (= (total-cost) 0)) (:goal (and {wanted}))"
        "\n (:metric minimize (total-cost)))\n"
    )


def opened(folder: Path, domain: str = DOMAIN, text: str = "") -> OpenPair:
    (folder / "domain.pddl").write_text(domain)
    (folder / "problem.pddl").write_text(text or problem())
    return open_pair(folder / "domain.pddl", folder / "problem.pddl")


def planned(pair: OpenPair, original: ladder.Classical, **more):
    start = pair.world.engine.start()
    simulator = EngineSimulator(pair.world.engine, start)
    return ladder.plan(simulator, start, None, original=original, **more)


def test_names_are_found_without_regard_to_case(tmp_path: Path) -> None:
    pair = opened(tmp_path)
    start = pair.world.engine.start()
    asked = (EngineSimulator(pair.world.engine, start), start, None)
    steps = pair.original.steps(*asked, "(press l1)\n(CARRY L1 l2)\n")
    assert steps == (PlanStep(Command("Press", (1,))), PlanStep(Command("Carry", (1, 2))))
    for wrong in ("(press)", "(pull l1)", "(press l99)", "(press l1 l2)"):
        with pytest.raises(Failure, match="no command"):
            pair.original.steps(*asked, wrong)


@planner
@pytest.mark.planner
def test_lama_answers_on_the_text_as_it_was_written(tmp_path: Path) -> None:
    pair = opened(tmp_path)
    verdict = planned(pair, pair.original)
    assert (verdict.answer, verdict.engine) == ("winnable", "fast-downward lama")
    assert (verdict.encoding, verdict.ticks) == ("PDDL", COUNT)
    own, lama = verdict.attempts
    assert (own.result, lama.result) == ("limit", "plan")


@planner
@pytest.mark.planner
def test_a_plan_that_the_rules_refuse_is_told_and_others_go_on(tmp_path: Path) -> None:
    """The text is that of another world, whose lamps may be carried as often as one likes."""
    pair = opened(tmp_path)
    free = DOMAIN.replace("(not (on ?l))", "()").replace(":effect (and (on ?l)", ":effect (and")
    free = free.replace("(and (on ?a) (next ?a ?b) (not (on ?b)))", "()")
    free = free.replace("(not (on ?a)) ", "")
    verdict = planned(pair, OriginalPddl(free, problem()))
    assert (verdict.answer, verdict.ticks) == ("winnable", COUNT)
    refused = [one for one in verdict.attempts if one.result == "invalid plan"]
    assert [one.encoding for one in refused] == ["PDDL"]
    assert "refused" in refused[0].detail


@planner
@pytest.mark.planner
def test_what_the_translator_does_not_read_is_skipped(tmp_path: Path) -> None:
    pair = opened(tmp_path)
    verdict = planned(pair, OriginalPddl(DOMAIN.replace(":strips", ":fluents"), problem()))
    assert verdict.answer == "winnable"
    assert all(one.encoding != "PDDL" for one in verdict.attempts)


def test_our_own_search_leaves_all_but_the_smallest_worlds_to_it(tmp_path: Path) -> None:
    """Without a planner it takes as long as ever."""
    pair, asked = opened(tmp_path), list[float]()
    presses = tuple(PlanStep(Command("Press", (one,))) for one in range(COUNT))

    def original(simulator, state, goal, *, seconds, accept, **more):
        asked.append(seconds)
        accept(EngineRun("lama", "PDDL", "plan", "it found a plan", 0.1, presses, exact=False))

    verdict = planned(pair, original, engine=READY, classical=None, translated=None)
    assert (verdict.engine, verdict.ticks, len(asked)) == ("lama", COUNT, 1)
    small = opened(tmp_path, text=problem(5))
    verdict = planned(small, original, engine=READY, classical=None, translated=None)
    assert (verdict.engine, verdict.optimal, len(asked)) == ("own search", "cost", 1)
