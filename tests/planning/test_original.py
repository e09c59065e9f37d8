"""A world that was imported from PDDL is also given to Fast Downward as it was written."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.engine import EngineSimulator
from tokenworld.ground import Command
from tokenworld.planning import ladder
from tokenworld.planning.planners.answers import EngineRun
from tokenworld.planning.planners.by_name import plan_by
from tokenworld.planning.planners.by_pddl import OriginalPddl
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, EngineInfo, find_engine
from tokenworld.planning.verdict import PlanStep
from tokenworld.session.pddl import OpenPair, open_pair

INSTALLED = find_engine(FAST_DOWNWARD)
READY = EngineInfo("fast-downward", "classical", "up-fast-downward", "1.0", "/bin/fd", "pip …")
planner = pytest.mark.skipif(not INSTALLED.ready, reason="Fast Downward is not installed")

DOMAIN = """(define (domain Lamps)
  (:requirements :adl :typing :derived-predicates :action-costs)
  (:types Lamp)
  (:predicates (wire ?a ?b - Lamp) (closed ?a ?b - Lamp) (source ?a - Lamp) (fed ?a - Lamp))
  (:functions (total-cost) - number)
  (:derived (fed ?b - Lamp)
    (or (source ?b) (exists (?a - Lamp) (and (fed ?a) (closed ?a ?b)))))
  (:action Close :parameters (?a ?b - Lamp)
    :precondition (and (wire ?a ?b) (fed ?a) (not (closed ?a ?b)))
    :effect (and (closed ?a ?b) (increase (total-cost) 3))))
"""
COUNT = 6


def problem() -> str:
    """Lamps in a row; the last is to be fed from the first."""
    lamps = [f"L{number}" for number in range(COUNT + 1)]
    wires = " ".join(f"(wire {a} {b})" for a, b in pairwise(lamps))
    return (
        f"(define (problem row) (:domain Lamps) (:objects {' '.join(lamps)} - Lamp)\n"
        f" (:init (source L0) {wires} (= (total-cost) 0)) (:goal (fed {lamps[-1]}))"
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
    steps = pair.original.steps(*asked, "(close l0 L1)\n(CLOSE L1 l2)\n")
    assert steps == (PlanStep(Command("Close", (0, 1))), PlanStep(Command("Close", (1, 2))))
    for wrong in ("(close l0)", "(open l0 l1)", "(close l0 l99)"):
        with pytest.raises(Failure, match="no command"):
            pair.original.steps(*asked, wrong)


@planner
@pytest.mark.planner
def test_lama_answers_on_the_text_as_it_was_written(tmp_path: Path) -> None:
    pair = opened(tmp_path)
    verdict = planned(pair, pair.original)
    assert (verdict.answer, verdict.engine) == ("winnable", "fast-downward lama")
    assert (verdict.encoding, verdict.ticks) == ("PDDL", COUNT)
    assert [one.result for one in verdict.attempts] == ["cancelled", "plan"]


@planner
@pytest.mark.planner
def test_a_plan_that_the_rules_refuse_is_told_and_others_go_on(tmp_path: Path) -> None:
    """The text is that of another world, in which every lamp may be wired to every other."""
    pair = opened(tmp_path)
    verdict = planned(pair, OriginalPddl(DOMAIN.replace("(wire ?a ?b) (fed", "(fed"), problem()))
    assert (verdict.answer, verdict.ticks) == ("winnable", COUNT)
    refused = [one for one in verdict.attempts if one.result == "invalid plan"]
    assert [one.encoding for one in refused] == ["PDDL"]
    assert "refused" in refused[0].detail
    assert [note.code for note in verdict.notes] == ["TW0812"]


@planner
@pytest.mark.planner
def test_what_the_translator_does_not_read_is_skipped(tmp_path: Path) -> None:
    pair = opened(tmp_path)
    verdict = planned(pair, OriginalPddl(DOMAIN.replace(":adl", ":fluents"), problem()))
    assert verdict.answer == "winnable"
    assert all(one.encoding != "PDDL" for one in verdict.attempts)


@pytest.mark.parametrize("ready", [True, False])
def test_our_own_search_leaves_derived_predicates_to_it(tmp_path: Path, ready: bool) -> None:
    """One state may take our own search longer than LAMA takes for all, if it is there."""
    pair, asked = opened(tmp_path), list[float]()
    steps = tuple(PlanStep(Command("Close", (one, one + 1))) for one in range(COUNT))

    def original(simulator, state, goal, *, seconds, accept, **more):
        asked.append(seconds)
        accept(EngineRun("lama", "PDDL", "plan", "it found a plan", 0.1, steps, exact=False))

    engine = replace(READY, problem="" if ready else "it is not there")
    verdict = planned(pair, original, engine=engine)
    assert (verdict.engine, verdict.ticks) == ("lama" if ready else "own search", COUNT)
    assert len(asked) == ready


def test_own_search_alone_asks_no_planner(tmp_path: Path) -> None:
    pair = opened(tmp_path)
    start = pair.world.engine.start()
    verdict = plan_by(EngineSimulator(pair.world.engine, start), start, None, "own", seconds=30.0)
    assert [one.engine for one in verdict.attempts] == ["own search"]
