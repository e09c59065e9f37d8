"""Encoding A: the text, the way back for plans, and ENHSP where it is installed."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from pddl_compare import world
from test_greenhouse import opened

from tokenworld.diagnostics import Failure
from tokenworld.engine import EngineSimulator
from tokenworld.planning.planners import by_pddl
from tokenworld.planning.planners.by_encoding import plan_on
from tokenworld.planning.planners.by_pddl import NumericPddl, numeric_pddl
from tokenworld.planning.planners.doctor import ENHSP, find_engine

BATH = """
type Bath { water: real = 0.0  heat: real = 10.0 }
type Tap { open: bool = false }
phase running
phase cooling
action wait() { }
action turn(t: Tap) { t.open = not t.open }
action stoke(b: Bath) { require b.water >= 1.5  b.heat += 12.5 }
law run(t: Tap, b: Bath) during running when t.open { b.water += 0.75 }
law cool(b: Bath) during cooling when b.heat > 10.0 { b.heat -= 0.5 }
world bath "The Bath" {
  object tap: Tap
  object tub: Bath
  goal warm: tub.water >= 2.0 and tub.heat >= 20.0 and not tap.open
}
"""
TICK = "(tw-phase-1)\n(tw-phase-2)\n"
PLAN = TICK.join(["(turn tap)\n", "(wait)\n", "(wait)\n", "(turn tap)\n", "(stoke tub)\n", ""])


@pytest.fixture
def bath() -> tuple[EngineSimulator, object, NumericPddl]:
    simulator = world(BATH)
    state = simulator.start()
    return simulator, state, numeric_pddl(simulator, state, None)


def test_numbers_stay_numbers_and_phases_are_forced(
    bath: tuple[EngineSimulator, object, NumericPddl],
) -> None:
    text = bath[2].domain
    assert "(water ?self - bath" in text
    assert "(:action tw-phase-2" in text
    assert "(increase (heat ?b) (/ 125 10))" in text


def test_every_effect_has_quantifiers_of_its_own() -> None:
    found = numeric_pddl(*opened("greenhouse/world"), None)  # type: ignore[misc]
    flat = " ".join(found.domain.split())
    assert "(forall (?p - pea-type) (when" in flat
    assert "(forall (?p - pea-type) (and" not in flat
    assert flat.count("(assign (moist ?p)") == 4


def test_what_cannot_matter_is_left_out() -> None:
    found = numeric_pddl(*opened("greenhouse/more:lit"), None)  # type: ignore[misc]
    assert "(:action switch" in found.export.domain
    assert "(:action switch" not in found.domain
    assert "(:action tw-phase-4" in found.domain


def test_a_plan_is_read_back_and_followed(
    bath: tuple[EngineSimulator, object, NumericPddl],
) -> None:
    simulator, state, found = bath
    steps = found.steps(simulator, state, None, PLAN)  # type: ignore[arg-type]
    assert steps is not None
    assert [step.command.action for step in steps] == ["turn", "wait", "wait", "turn", "stoke"]
    assert found.steps(simulator, state, None, "(wait)\n") is None  # type: ignore[arg-type]
    with pytest.raises(Failure):
        found.steps(simulator, state, None, "(fly tub)\n")  # type: ignore[arg-type]


def test_a_world_without_a_lifted_form_is_refused_by_its_line() -> None:
    verdict = plan_on(*opened("skirmish/world"), None, "A", seconds=5)  # type: ignore[misc]
    assert verdict.answer == "unknown"
    assert [(note.code, note.span is not None) for note in verdict.notes] == [("TW0801", True)]


def test_a_missing_planner_comes_with_its_command(
    bath: tuple[EngineSimulator, object, NumericPddl], monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = replace(find_engine(ENHSP), path=None, problem="it is away", install="get it")
    monkeypatch.setattr(by_pddl, "find_engine", lambda package: absent)
    verdict = plan_on(bath[0], bath[1], None, "A", seconds=5)  # type: ignore[type-var]
    assert verdict.answer == "unknown"
    assert verdict.notes[0].code == "TW0811"
    assert "get it" in str(verdict.notes[0].hint)


@pytest.mark.filterwarnings("ignore")  # unified-planning's own
@pytest.mark.skipif(find_spec("unified_planning") is None, reason="an extra")
@pytest.mark.parametrize("target", ["greenhouse/more:lit", "greenhouse/scarce:enough"])
def test_unified_planning_reads_the_text(target: str, tmp_path: Path) -> None:
    from unified_planning.io import PDDLReader

    found = numeric_pddl(*opened(target), None)  # type: ignore[misc]
    (tmp_path / "domain.pddl").write_text(found.domain)
    (tmp_path / "problem.pddl").write_text(found.problem)
    problem = PDDLReader().parse_problem(
        str(tmp_path / "domain.pddl"), str(tmp_path / "problem.pddl")
    )
    assert len(problem.actions) == found.domain.count("(:action ")


@pytest.mark.planner
@pytest.mark.skipif(not find_engine(ENHSP).ready, reason="ENHSP is not installed")
@pytest.mark.parametrize("target", ["greenhouse/world", "greenhouse/more:lit"])
def test_plans_of_enhsp_reach_the_goal(target: str) -> None:
    verdict = plan_on(*opened(target), None, "A", seconds=60)  # type: ignore[misc]
    assert (verdict.answer, verdict.engine, verdict.encoding) == ("winnable", "enhsp", "A")


@pytest.mark.planner
@pytest.mark.skipif(not find_engine(ENHSP).ready, reason="ENHSP is not installed")
def test_no_plan_of_enhsp_is_no_proof() -> None:
    verdict = plan_on(*opened("greenhouse/scarce:too_little"), None, "A", seconds=60)  # type: ignore[misc]
    assert verdict.answer == "unknown"
