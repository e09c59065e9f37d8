"""Willowbrook: what it has, its four goals proved winnable, and its winter proved lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.session import open_world

FOLDER = Path(__file__).parents[2] / "domains" / "willowbrook"
WORLD, WINTER = FOLDER / "world.tw", FOLDER / "winter.tw"


def test_what_there_is() -> None:
    opened = open_world(str(WORLD))
    program, world = opened.program, opened.world
    assert world.turns == ("mira", "bran")
    assert len(program.actions) >= 18
    assert {"burn", "warm", "cool", "dry", "grow", "lay", "hunger"} <= set(program.laws)
    assert [one.name for one in world.goals] == ["letter", "breakfast", "garden", "home"]


def test_any_goal_is_soon_proved_winnable(tw) -> None:
    """Which goal comes first is the same in every run; both evaluators play to it."""
    planned = tw("plan", WORLD, "--certificate", "c.json")
    assert planned.code == 0
    assert planned.out.startswith("winnable: goal `breakfast` in 6 ticks")
    assert "every step is legal and the goal is reached" in planned.out
    assert tw("plan", WORLD, "--check", "c.json").code == 0


@pytest.mark.parametrize(
    "goal",
    [
        "letter",
        "garden",
        pytest.param("breakfast", marks=pytest.mark.slow),
        pytest.param("home", marks=pytest.mark.slow),
    ],
)
def test_each_goal_is_proved_winnable(tw, goal: str) -> None:
    """The plan is replayed by the interpreter, and its certificate by both evaluators."""
    planned = tw("plan", WORLD, "--goal", goal, "--time-limit", "240", "--certificate", "c.json")
    assert planned.code == 0, planned.out + planned.err
    assert planned.out.startswith(f"winnable: goal `{goal}` in")
    assert "every step is legal and the goal is reached" in planned.out
    assert tw("plan", WORLD, "--goal", goal, "--check", "c.json").code == 0


def test_the_winter_is_lost(tw) -> None:
    """No hens, no eggs: two goals are out of reach, and the verdict says what is missing."""
    planned = tw("plan", WINTER, "--certificate", "c.json", "--time-limit", "300")
    assert planned.code == 1
    assert planned.out.startswith("unwinnable: no goal can be reached")
    assert "needs `eggs_held(me) > 0`" in planned.out
    assert tw("plan", WINTER, "--check", "c.json").code == 0


def test_a_plan_is_played_to_its_goal(tw) -> None:
    """What the first command of the README does where there is no terminal."""
    played = tw("play", "--plan", WORLD)
    assert played.code == 0, played.err
    assert "Goal reached: breakfast, after 6 ticks" in played.out
