"""Plans at once, and ever better ones: each replayed, *optimal* only where it is proved."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tokenworld.diagnostics import Source
from tokenworld.engine import EngineSimulator
from tokenworld.limits import Halted, limited
from tokenworld.planning import quality
from tokenworld.planning.planners.by_name import plan_optimal
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, find_engine
from tokenworld.planning.planners.downward import (
    ANYTIME,
    Answer,
    Configuration,
    find_downward,
    run_searches,
)
from tokenworld.planning.quality import QUALITIES, Quality, plan_quality
from tokenworld.planning.referee import replay
from tokenworld.session import open_world
from tokenworld.session.loading import open_text

DOMAINS = Path(__file__).parents[2] / "domains"
planner = pytest.mark.skipif(not find_engine(FAST_DOWNWARD).ready, reason="no Fast Downward")


def simulator(name: str) -> EngineSimulator:
    return EngineSimulator(open_world(str(DOMAINS / name)).engine)


def without_own_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave all to the planners: our own search sees one state at a time."""
    monkeypatch.setattr(quality, "_FIRST", dict.fromkeys(QUALITIES, 0.0))
    monkeypatch.setattr(quality, "_SLICE", 0.0)


@pytest.mark.parametrize("quality", QUALITIES)
def test_our_own_search_is_enough_for_a_small_world(quality: Quality) -> None:
    world = simulator("cellar/world.tw")
    found = plan_quality(world, world.start(), None, quality, seconds=20)
    assert (found.verdict.answer, found.verdict.ticks, found.verdict.optimal) == (
        "winnable", 5, "ticks",
    )  # fmt: skip
    assert len(found.improvements) == 1


@pytest.mark.parametrize("quality", QUALITIES)
def test_a_world_without_a_plan_is_unwinnable(quality: Quality) -> None:
    world = simulator("cellar/twin.tw")
    found = plan_quality(world, world.start(), None, quality, seconds=20)
    assert (found.verdict.answer, found.improvements) == ("unwinnable", ())


def one_search_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """In their order, so that a proof does not come before the plans that it ends."""

    def run(
        program: Path, text: str, searches: Sequence[Configuration], *,
        accept: Callable[[Answer], bool], **rest: Any,
    ) -> None:  # fmt: skip
        enough = False

        def accepted(answer: Answer) -> bool:
            nonlocal enough
            enough = accept(answer)
            return enough

        for search in searches:
            if not enough:
                run_searches(program, text, (search,), accept=accepted, **rest)

    monkeypatch.setattr(quality, "run_searches", run)


@planner
@pytest.mark.planner
def test_plans_get_better_until_one_is_proved_best(monkeypatch: pytest.MonkeyPatch) -> None:
    without_own_search(monkeypatch)
    one_search_at_a_time(monkeypatch)
    world, said = simulator("workshop/more.tw:two"), list[str]()
    start = world.start()
    found = plan_quality(world, start, None, "anytime", seconds=90, say=said.append)
    prices = [one.ticks for one in found.improvements]
    assert [one.gap for one in found.improvements] == [
        one.ticks - one.bound for one in found.improvements
    ]
    bounds = [one.bound for one in found.improvements]
    assert bounds == sorted(bounds)
    assert found.bound + found.gap == prices[-1]
    assert found.verdict.optimal is None or found.gap == 0
    assert prices == sorted(set(prices), reverse=True)
    assert len(prices) > 1
    assert (found.verdict.answer, found.verdict.ticks) == ("winnable", prices[-1])
    assert replay(world, start, found.verdict.steps, None).ok
    assert [line for line in said if line.startswith("plan ")] == [
        f"plan {n}: {one.ticks} ticks (cost {one.cost}), by {one.engine}; "
        f"no plan has less than {one.bound}, gap {one.gap}"
        for n, one in enumerate(found.improvements, 1)
    ]
    assert found.verdict.optimal == "ticks"
    assert plan_optimal(world, start, None, seconds=90).ticks == prices[-1]


@planner
@pytest.mark.planner
def test_the_first_plan_is_enough_for_satisficing(monkeypatch: pytest.MonkeyPatch) -> None:
    without_own_search(monkeypatch)
    world = simulator("workshop/more.tw:two")
    found = plan_quality(world, world.start(), None, "satisficing", seconds=60)
    assert found.verdict.answer == "winnable"
    assert len(found.improvements) == 1
    assert found.verdict.optimal in (None, "ticks")  # the second, if blind search was first
    assert replay(world, world.start(), found.verdict.steps, None).ok


@planner
@pytest.mark.planner
def test_a_proof_without_a_plan_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    without_own_search(monkeypatch)
    world = simulator("workshop/twin.tw:one")
    found = plan_quality(world, world.start(), None, "satisficing", seconds=60)
    assert (found.verdict.answer, found.verdict.claim) == ("unwinnable", "proved")


def test_no_time_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    without_own_search(monkeypatch)
    world = simulator("workshop/more.tw:two")
    found = plan_quality(world, world.start(), None, "anytime", seconds=0.0)
    assert (found.verdict.answer, found.verdict.claim) == ("unknown", None)
    assert "TW0813" in [note.code for note in found.verdict.notes]


@planner
@pytest.mark.planner
def test_a_plan_found_before_the_limit_of_the_command_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def halt(search: object) -> None:
        raise Halted("time", "")

    monkeypatch.setattr(quality._PlanSearch, "own_on", halt)
    world = simulator("cellar/world.tw")
    with limited(60.0, None, time.monotonic()):
        found = plan_quality(world, world.engine.start(), None, "anytime", seconds=30)
    assert found.verdict.answer == "winnable"
    assert len(found.improvements) == 1


def test_without_an_encoding_the_width_search_has_a_first_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without_own_search(monkeypatch)
    monkeypatch.setattr(quality._PlanSearch, "own_on", lambda search: None)
    text = """
function n(): int = 0
function m(): int = 0
action up() cost 2 { n() += 1 }
action over() cost 1 { require n() > 1  m() += 1 }
world w { goal far: m() == 4 }
"""
    world = EngineSimulator(open_text((Source("w.tw", None, text),), "w").engine)
    found = plan_quality(world, world.engine.start(), None, "anytime", seconds=30)
    assert (found.verdict.answer, found.verdict.engine) == ("winnable", "width search")
    assert found.verdict.cost == 8


def test_an_anytime_search_numbers_its_plans() -> None:
    from tokenworld.planning.lower.encode import Encoding, encode

    world = simulator("kitchen/world.tw")
    start = world.start()
    encoding = encode(world.instance, world, start, None)
    assert isinstance(encoding, Encoding)
    program, plans = find_downward(), list[int]()
    assert isinstance(program, Path)
    (answer,) = run_searches(
        program, encoding.text, (ANYTIME,), seconds=30,
        better=lambda one: plans.append(len(one.operators)),
    )  # fmt: skip
    assert plans
    if answer.result == "plan":
        assert len(answer.operators) == plans[-1]
        assert answer.detail == f"it found {len(plans)} plans and no better one"


def test_a_plan_that_is_still_being_written_is_not_read(tmp_path: Path) -> None:
    from tokenworld.planning.planners.downward import _operators

    file = tmp_path / "plan.1"
    assert _operators(file, ended=False) is None
    file.write_text("(a )\n(b x)\n")
    assert _operators(file, ended=False) is None
    file.write_text("(a )\n(b x)\n; cost = 2 (unit cost)\n")
    assert _operators(file, ended=False) == ("a ", "b x")
