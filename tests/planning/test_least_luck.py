"""Plans with less luck, players that do not wait for it, and luck in words."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tokenworld import Session
from tokenworld.engine import EngineSimulator
from tokenworld.ground import LuckyDraw
from tokenworld.planning.space.luck import chance_of, expected_ticks
from tokenworld.planning.verdict import PlanStep, summary_lines
from tokenworld.session import check_text, open_world, plan_for_seed
from tokenworld.session.solving import solve
from tokenworld.verbs.plan.luck import chance_text, told_luck

CHEST = """
type Chest { open: bool  at: Room? }
type Room
type Hero { at: Room  has_key: bool }
actor me: Hero
action force(c: Chest) { require not c.open  chance 10% { c.open = true } }
action pick_lock(c: Chest) { require not c.open  chance 1 / 2 { c.open = true } }
action walk(r: Room) { require r != me.at  me.at = r }
action find_key() { require me.at == cellar  me.has_key = true }
action unlock(c: Chest) { require me.has_key and me.at == hall  c.open = true }
phase weather
law wind(c: Chest) during weather { chance 1 / 3 { pick r: Room { c.at = r } } }
object hall, cellar: Room
world w {
  object hero: Hero { at = hall }
  object chest: Chest
  goal open: chest.open
}
"""
NO_PICK = CHEST.replace("action pick_lock(c: Chest) { require not c.open  "
                        "chance 1 / 2 { c.open = true } }\n", "")  # fmt: skip


@pytest.fixture
def world(tmp_path: Any) -> Any:
    def make(text: str) -> Any:
        assert check_text(text).program is not None, check_text(text).diagnostics
        path = tmp_path / "w.tw"
        path.write_text(text, encoding="utf-8")
        return open_world(str(path))

    return make


def commands(verdict: Any) -> list[str]:
    return [step.command for step in verdict.plan]


def test_the_measures_of_a_plan() -> None:
    half, tenth = (LuckyDraw("law l", (), 0, 0, 2, "w:1:1", one) for one in ((1, 1), (1, 9)))
    encoded = LuckyDraw("law l", (), 0, 0, 2)
    assert chance_of((half, tenth)) == Fraction(1, 20)
    assert chance_of(()) == chance_of((encoded,)) == 1
    steps = [PlanStep(None, (half,)), PlanStep(None), PlanStep(None, (tenth,))]  # type: ignore[arg-type]
    assert expected_ticks(steps) == 13


def test_a_possible_plan_takes_the_likelier_of_two_draws(world: Any) -> None:
    """Forcing and picking take a tick each; the second comes first in no order but that."""
    opened = world(CHEST)
    verdict = solve(opened.engine, opened.engine.start(0), None, time_limit=10)
    assert (commands(verdict), verdict.optimal) == (["pick_lock(chest)"], "ticks")
    assert [draw.choice for draw in verdict.steps[0].draws] == [0]  # not what the wind does


def test_the_least_luck_is_none(world: Any) -> None:
    opened = world(CHEST)
    verdict = solve(opened.engine, opened.engine.start(0), None, time_limit=10, luck="least")
    assert commands(verdict) == ["walk(cellar)", "find_key()", "walk(hall)", "unlock(chest)"]
    assert not verdict.counts_on_luck
    assert verdict.wins_with_seed is True
    assert "no luck is needed" in summary_lines(verdict)
    assert verdict.to_json()["luck"] == "least"


@pytest.mark.parametrize("seed", range(3))
def test_a_player_does_not_wait_where_a_sure_way_is_shorter(world: Any, seed: int) -> None:
    """Ten ticks are expected of forcing, four are sure; two are expected of picking."""
    opened = world(NO_PICK)
    steps, _ = plan_for_seed(opened.engine, opened.engine.start(seed), None, time_limit=10)
    assert [one.command.action for one in steps] == ["walk", "find_key", "walk", "unlock"]
    opened = world(CHEST)
    steps, _ = plan_for_seed(opened.engine, opened.engine.start(seed), None, time_limit=10)
    assert {one.command.action for one in steps} == {"pick_lock"}
    state = opened.engine.start(seed)
    for step in steps:
        state, _ = opened.engine.play(state, step.command)
    assert EngineSimulator(opened.engine, state).won(state, None)


def test_luck_is_told_in_words(world: Any) -> None:
    opened = world(NO_PICK)
    start = opened.engine.start(0)
    verdict = solve(opened.engine, start, None, time_limit=10)
    (line,) = told_luck(opened.engine, start, verdict).told_luck
    assert line == "step 1 counts on the force making the chest open (1 in 10)"
    text = NO_PICK.replace("goal open: chest.open", "goal here: chest.at == cellar")
    opened = world(text.replace("object chest: Chest", 'object chest: Chest "iron chest"'))
    start = opened.engine.start(0)
    told = told_luck(opened.engine, start, solve(opened.engine, start, None, time_limit=10))
    assert (
        "step 1 counts on the wind moving the iron chest to the cellar (1 in 6)"
        in summary_lines(told)
    )


def test_chances_are_told_shortly() -> None:
    assert chance_text(Fraction(2, 3)) == "2 in 3"
    assert chance_text(Fraction(1, 4321)) == "0.0231%"


def test_what_has_no_luck_is_left_alone() -> None:
    session = Session.open("cellar")
    plain = session.plan(time_limit=10)
    least = session.plan(time_limit=10, luck="least")
    assert least.steps == plain.steps
    assert told_luck(session.engine, session.state, plain) is plain
