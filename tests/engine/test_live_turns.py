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


WAKING = """
type Thing {
  at: Box? nested ordered inverse contents closure inside
  heat: 0 to 30 clamped = 0
  wet: bool
  rank: int = 0
}
type Box : Thing { open: bool = true }
type Lamp : Thing { lit: bool  oil: 0 to 4 = 4 }
type Seed : Thing { age: 0 to 9 clamped = 0 }
relation near(a: Thing, b: Thing)
function alarm(): bool
function count_of(): 0 to 99 clamped = 0
actor me: Box
action look() as "look" { say "Nothing." }
action put(x: Thing, b: Box) as "put {x} into {b}" { require x != me  x.at = b }
action light(l: Lamp) as "light {l}" { require l.oil > 0 else dry "No oil."  l.lit = true }
action soak(x: Thing) as "soak {x}" { x.wet = true  say "{The x} drips." }
action shake(b: Box) as "shake {b}" {
  for x in b.contents { x.heat = x.heat + 1 }
  for x in b.inside where x is Seed { x.wet = false }
}
action meet(a: Thing, b: Thing) as "meet {a} {b}" { require a != b  add near(a, b) }
phase before sequentially by nesting
phase after sequentially
law burn(l: Lamp) during before when l.lit {
  l.oil -= 1
  for x in l.at.contents where x != l { x.heat = min(x.heat + 7, 25) }
}
law dies(l: Lamp) during before when l.oil == 0 { l.lit = false }
law dries(x: Thing) during before when x.wet and x.heat >= 10 { x.wet = false  x.rank += 1 }
law ring(x: Thing) during before when x.heat >= 20 { alarm() = true  say "It rings." }
law settle(b: Box) during before { b.rank = count(x for x in b.contents where x.wet) }
law sprout(s: Seed) during before when s.wet and s.age < 3 { s.age += 1 }
law bears(s: Seed) during before when s.age == 3 {
  create t: Seed { at = s.at  wet = true }
  s.age = 9
}
law both(a: Thing, b: Thing) during after when near(a, b) and a.wet { b.wet = true }
law cools(x: Thing) during after when x.heat > 0 and tick() mod 3 == 0 { x.heat -= 1 }
law counts() during after when alarm() { count_of() += 1 }
law quiets() during after when count_of() >= 4 { alarm() = false  count_of() = 0 }
law luck(l: Lamp) during after when l.wet { chance 1 / 3 { l.wet = false } }
world w {
  endless
  object me: Box
  object chest: Box { at = me }
  object lamp, lantern: Lamp { at = chest }
  object seed: Seed { at = me }
  object stone: Thing { at = chest }
  spare Seed 6
  award 3 when alarm()
  goal hot: stone.heat >= 20 "Hot."
  goal grown: any(s.age == 9 for s: Seed) "Grown."
}
"""


def test_laws_that_sleep_wake_when_something_they_rest_on_is_written() -> None:
    """Laws that wake each other in one pass or the next, two phases, loops, births, draws, the
    clock, endings and awards that rest on what laws write."""
    engine = play(WAKING).session.engine
    assert engine._live_rules.turns is not None
    for seed in range(8):
        assert held(engine, seed, 45) > 20


def test_most_laws_sleep() -> None:
    """A law whose condition holds nowhere is not asked again until it may hold."""
    engine = play(WAKING).session.engine
    world, number = engine.live(), engine.start().numbers.__getitem__
    world.apply(Command("look"))
    world.apply(Command("look"))
    (phase, _) = world._kept
    asleep = [bits >= 0 for bits in phase.waits]
    assert all(asleep)
    world.apply(Command("light", (number("lamp"),)))
    assert not all(bits >= 0 for bits in phase.waits)
    assert world.state().get(engine.layout.by_id["Thing.heat"], number("stone")) == 7
