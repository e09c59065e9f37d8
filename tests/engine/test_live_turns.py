"""Worlds whose laws act in turn are played in place as well: same states, changes and lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.test_live import held
from tests.engine.tiny import play
from tokenworld.engine import Engine, SeededLuck
from tokenworld.ground import Command
from tokenworld.session import open_world

GAMES = Path(__file__).parents[2] / "domains" / "textgames"

MOVING = """
type Thing {
  at: Box? nested ordered inverse contents closure inside
  age: 0 to 9 clamped = 0
  rank: int = 0
}
type Box : Thing
type Left : Box
type Right : Box
type Hopper : Thing { hops: 0 to 3 clamped = 0 }
type Egg : Thing
type Bomb : Thing
actor me: Box
function served(): 0 to 9999 clamped = 0
action look() as "look" { say "Nothing." }
action put(x: Thing, b: Box) as "put {x} into {b}" {
  require x != me else me     "Not yourself."
  x.at = b
}
action lay(b: Box) as "lay {b}" { create e: Egg { at = b } }
phase ticks sequentially by nesting
law serve(x: Thing) during ticks { x.rank = served()  served() += 1 }
law hop(h: Hopper) during ticks when h.at == me { for b: Left { h.at = b } }
law skip(h: Hopper) during ticks when h.at is Left { for b: Right { h.at = b }  h.hops += 1 }
law back(h: Hopper) during ticks when h.hops >= 2 { h.at = me  h.hops = 0 }
law ageing(x: Thing) during ticks when x.at != none { x.age += 1 }
law hatch(e: Egg) during ticks when e.age >= 2 { create h: Hopper { at = e.at }  e.age = 0 }
law bang(b: Bomb) during ticks when b.age >= 5 { destroy b }
world w {
  endless
  object me: Box
  object two: Right { at = me }
  object one: Left { at = me }
  object flea, tick: Hopper { at = me }
  object egg: Egg { at = one }
  object bomb: Bomb { at = two }
  spare Egg 3
  spare Hopper 4
  goal old: flea.age == 9 "Old."
}
"""


def test_things_that_move_come_and_go_in_turn() -> None:
    """The order of who acts is worked out anew when laws or commands move something."""
    engine = play(MOVING).session.engine
    assert engine._live_rules.turns is not None
    for seed in range(4):
        assert held(engine, seed, 40) > 10


def test_two_engines_agree_tick_by_tick() -> None:
    """What one engine keeps between ticks in place is not refreshed by ticks of another kind."""
    quick, plain = (play(MOVING).session.engine for _ in range(2))
    live, state, luck = quick.live(), plain.start(), SeededLuck()
    me, flea, tick = (state.numbers[name] for name in ("me", "flea", "tick"))
    look, fetch = Command("look", ()), [Command("put", (x, me)) for x in (flea, tick)]
    for command in (look, look, fetch[0], look, fetch[1], look, look, *fetch, look, look):
        live.apply(command)
        state = plain.stepper.tick(state, command, luck)[-1].after
        found = live.now()
        assert [found.cols, found.kids, found.kinds] == [state.cols, state.kids, state.kinds]


@pytest.mark.parametrize("name", ["boil-water", "dishwasher", "inclined-plane", "space-walk"])
def test_text_games(name: str) -> None:
    engine: Engine = open_world(str(GAMES / name / "world.tw")).engine
    assert (engine._live_rules.turns is not None) == (name == "boil-water")
    for seed in range(2):
        assert held(engine, seed, 40) > 5


def test_what_is_looked_at_in_each_tick_goes_the_general_way() -> None:
    """Invariants and watches are no business of a tick in place."""
    for line in (
        "invariant young(h: Hopper): h.age <= 8",
        'watch old(h: Hopper) when h.age == 9 { say "Old." }',
    ):
        engine = play(MOVING.replace("world w {", f"{line}\nworld w {{")).session.engine
        assert engine._live_rules.turns is None
        assert held(engine, 1, 15) > 5
