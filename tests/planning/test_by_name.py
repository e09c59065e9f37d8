"""Engines by name, optimal plans and several plans: well, missing, killed or babbling."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import Opened, bundled, opened

from tokenworld.diagnostics import Failure
from tokenworld.planning.planners import by_name, doctor
from tokenworld.planning.planners.by_name import plan_by, plan_optimal, several_plans
from tokenworld.planning.planners.doctor import (
    ENHSP,
    FAST_DOWNWARD,
    SYMK,
    UNIFIED_PLANNING,
    EngineInfo,
    find_engine,
    needed,
)

posix = pytest.mark.skipif(os.name != "posix", reason="the fake planners are shell scripts")
PRESENT = {
    "ff": FAST_DOWNWARD,
    "blind": FAST_DOWNWARD,
    "lama": FAST_DOWNWARD,
    "symk": SYMK,
    "enhsp": ENHSP,
    "up:fast-downward": UNIFIED_PLANNING,
}


def by(name: str, world: Opened, seconds: float = 60):
    return plan_by(world.simulator, world.state, None, name, seconds=seconds)


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Put a shell script in the place of Fast Downward and SymK."""

    def make(script: str) -> None:
        program = tmp_path / "downward"
        program.write_text(f'#!/bin/sh\nfor last; do :; done\nplan="$last"\n{script}\n')
        program.chmod(0o755)
        info = EngineInfo("symk", "topk", "up-symk", "1", str(program), "pip install it")
        monkeypatch.setattr(by_name, "find_downward", lambda: program)
        for module in (by_name, doctor):
            monkeypatch.setattr(module, "find_engine", lambda package: info)

    return make


# ---- names ------------------------------------------------------------------------------------


def test_our_own_search_alone_answers():
    verdict = by("own", bundled("cellar/world"))
    assert (verdict.answer, verdict.engine, verdict.optimal) == ("winnable", "own search", "ticks")
    assert by("own", bundled("cellar/twin")).claim == "exhausted"


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(Failure) as failed:
        by("lame", bundled("cellar/world"))
    (found,) = failed.value.diagnostics
    assert found.code == "TW0006"
    assert "`lama`" in str(found.hint)


@pytest.mark.parametrize("name", ["symk", "enhsp"])
def test_a_missing_engine_comes_with_the_command_that_installs_it(name, monkeypatch):
    def nothing(package):
        return EngineInfo(package.engine, "", package.name, None, None, "pip install it", "gone")

    monkeypatch.setattr(doctor, "find_engine", nothing)
    with pytest.raises(Failure) as failed:
        by(name, bundled("cellar/world"))
    (found,) = failed.value.diagnostics
    assert (found.code, found.hint) == ("TW0811", "Run `pip install it`.")


@pytest.mark.planner
@pytest.mark.parametrize("name", PRESENT)
def test_a_real_engine_finds_a_plan_that_is_replayed(name):
    if not find_engine(PRESENT[name]).ready:
        pytest.skip(f"{name} is not installed")
    verdict = by(name, bundled("cellar/world"))
    assert (verdict.answer, verdict.claim, verdict.ticks) == ("winnable", "found", 5)
    assert verdict.wins_with_seed


@pytest.mark.planner
def test_an_engine_of_unified_planning_that_there_is_not_is_said_to_be_none():
    if not find_engine(UNIFIED_PLANNING).ready:
        pytest.skip("unified-planning is not installed")
    verdict = by("up:nosuch", bundled("cellar/world"))
    assert verdict.answer == "unknown"
    assert [note.code for note in verdict.notes] == ["TW0812"]


def test_what_no_encoding_takes_is_unknown_and_named():
    text = "function heat(): real\naction warm() { heat() += 0.5 }\n"
    world = opened(text + "world w { goal hot: heat() > 1.0 }")
    if find_engine(FAST_DOWNWARD).ready:
        verdict = by("ff", world)
        assert verdict.answer == "unknown"
        assert verdict.notes[0].code == "TW0801"


# ---- engines that misbehave -------------------------------------------------------------------


@posix
@pytest.mark.parametrize(
    ("script", "result"),
    [
        ("echo nonsense; exit 0", "failed"),
        ("kill -9 $$", "failed"),
        ('echo "(open sesame)" > "$plan"; exit 0', "invalid plan"),
        ("exit 22", "limit"),
    ],
)
@pytest.mark.parametrize("name", ["ff", "symk"])
def test_an_engine_that_misbehaves_decides_nothing(fake, script, result, name):
    fake(script)
    verdict = by(name, bundled("cellar/world"))
    assert verdict.answer == "unknown"
    assert [one.result for one in verdict.attempts] == [result]


@posix
@pytest.mark.parametrize(("name", "result"), [("ff", "failed"), ("symk", "no proof")])
def test_an_end_without_an_answer_decides_nothing(fake, name, result):
    fake("exit 12")
    verdict = by(name, bundled("cellar/world"))
    assert verdict.answer == "unknown"
    assert [one.result for one in verdict.attempts] == [result]


@posix
def test_symk_proves_nothing_whatever_it_says(fake):
    fake("exit 11")
    assert by("symk", bundled("cellar/world")).answer == "unknown"
    assert by("blind", bundled("cellar/world")).answer == "unwinnable"


# ---- optimal ----------------------------------------------------------------------------------


def test_a_small_world_needs_no_planner_for_an_optimal_plan():
    world = bundled("cellar/world")
    verdict = plan_optimal(world.simulator, world.state, None, seconds=20)
    assert (verdict.engine, verdict.optimal, verdict.ticks) == ("own search", "ticks", 5)


PRICED = """
function a(): 0 to 9 = 0
action dear() cost 5 { a() = 9 }
action cheap() cost 1 { require a() < 9 else full "Full."  a() += 3 }
world w { goal full: a() == 9 }
"""


def test_costs_of_the_world_count():
    world = opened(PRICED)
    verdict = plan_optimal(world.simulator, world.state, None, seconds=20)
    assert (verdict.cost, verdict.optimal) == (3, "cost")


@pytest.fixture
def impatient(monkeypatch):
    """Our own search gets no chance."""
    monkeypatch.setattr(by_name, "_FIRST_STATES", 1)


@pytest.mark.planner
@pytest.mark.parametrize(("text", "measure", "cost"), [(PRICED, "cost", 3), (None, "ticks", 5)])
def test_planners_prove_the_same_optimum(impatient, text, measure, cost):
    if not find_engine(FAST_DOWNWARD).ready:
        pytest.skip("Fast Downward is not installed")
    world = opened(text) if text else bundled("cellar/world")
    verdict = plan_optimal(world.simulator, world.state, None, seconds=60)
    assert verdict.engine != "own search"
    assert (verdict.cost, verdict.optimal) == (cost, measure)


@pytest.mark.planner
def test_a_plan_that_is_only_found_is_not_called_optimal():
    if not find_engine(FAST_DOWNWARD).ready:
        pytest.skip("Fast Downward is not installed")
    assert by("ff", bundled("cellar/world")).optimal is None
    assert by("blind", bundled("kitchen/world")).optimal == "ticks"


# ---- several plans ----------------------------------------------------------------------------

TWO_WAYS = """
type Door { open: bool = false }
action push(d: Door) { d.open = true }
action all_at_once() { for d: Door { d.open = true } }
world w { object a, b: Door  goal both: a.open and b.open }
"""


def several(text: str, most: int, only_optimal: bool = False):
    world = opened(text)
    return several_plans(
        world.simulator, world.state, None, most=most, only_optimal=only_optimal, seconds=60
    )


@pytest.fixture
def symk():
    if not find_engine(SYMK).ready:
        pytest.skip("SymK is not installed")


@pytest.mark.planner
def test_plans_come_cheapest_first_and_each_once(symk):
    found = several(TWO_WAYS, 3)
    commands = [[step.command for step in one.plan] for one in found.plans]
    assert commands[0] == ["all_at_once()"]
    assert sorted(commands[1:]) == [["push(a)", "push(b)"], ["push(b)", "push(a)"]] or len(
        {tuple(one) for one in commands}
    ) == len(commands)
    assert [one.ticks for one in found.plans] == sorted(one.ticks for one in found.plans)


@pytest.mark.planner
def test_all_optimal_plans_are_all(symk):
    found = several(
        TWO_WAYS.replace("action all_at_once() { for d: Door { d.open = true } }", ""), 9, True
    )
    assert sorted([step.command for step in one.plan] for one in found.plans) == [
        ["push(a)", "push(b)"],
        ["push(b)", "push(a)"],
    ]
    assert found.complete
    assert found.dropped == 0


@posix
def test_plans_that_do_not_survive_the_replay_are_dropped(tmp_path, monkeypatch):
    program = tmp_path / "downward"
    script = 'for last; do :; done\necho "(open sesame)" > "$last.1"\necho > "$last.2"'
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(by_name, "needed", lambda package: program)
    found = several(TWO_WAYS, 5)
    assert (found.plans, found.dropped, found.reason) == ((), 2, "it found no plan")


def test_a_program_that_is_there_is_found():
    if find_engine(FAST_DOWNWARD).ready:
        assert needed(FAST_DOWNWARD).is_file()
