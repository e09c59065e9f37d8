"""Conditions that can hold in very many ways: tested node by node, or declined; never listed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import encoded, opened, refused

from tokenworld.planning.lower.algebra import Obstacle
from tokenworld.planning.search.packed.lowered import packed
from tokenworld.planning.task import Operator, Task, check_plan, decoded

FINDINGS = Path(__file__).parents[1] / "findings" / "planning"


def steps_of(task: Task, words: list[str]) -> list[Operator]:
    """Operators of these commands, the first that are applicable, and what follows by itself."""
    state, found = task.initial, list[Operator]()

    def take(wanted: str | None) -> bool:
        nonlocal state
        for one in task.operators:
            told = None if one.command is None else str(one.command.action)
            if told == wanted and task.holds(state, one.precondition):
                after = task.apply(state, one)
                if after != state:
                    state = after
                    found.append(one)
                    return True
        return False

    for word in words:
        assert take(word), word
    while not task.holds(state, task.goal):
        assert take(None)
    return found


@pytest.mark.parametrize(("name", "lamps"), [("h12", 12), ("h18", 18), ("h24", 24)])
def test_a_goal_of_many_disjunctions_is_small(name: str, lamps: int) -> None:
    task = encoded(opened((FINDINGS / f"{name}.tw").read_text(encoding="utf-8"))).task
    assert len(task.operators) < 12 * lamps
    plan = steps_of(task, ["mend"] * lamps + ["light"] * lamps)
    check_plan(task, plan)
    assert [step.command.action for step in decoded(plan)] == ["mend"] * lamps + ["light"] * lamps


def test_states_are_not_packed_where_play_ends_in_too_many_ways() -> None:
    world = opened((FINDINGS / "h24.tw").read_text(encoding="utf-8"))
    obstacles: list[Obstacle] = []
    assert packed(world.simulator, world.state, None, obstacles) is None
    assert "16,777,216 ways" in obstacles[0].reason


def test_a_change_that_depends_on_too_much_is_declined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenworld.planning.lower.ticks._MOST_OF_A_SLOT", 3)
    text = """
    type Lamp { lit: bool }
    function level(): 0 to 3 = 0
    action toggle(l: Lamp) { l.lit = not l.lit }
    action add() { level() = count(l.lit for l: Lamp) }
    world w { object a, b, c: Lamp  goal g: level() == 3 }
    """
    assert "effects" in refused(text)
