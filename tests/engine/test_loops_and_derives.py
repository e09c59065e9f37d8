"""Derives and conditions in loops mean what they say, also where a part has no value."""

from __future__ import annotations

from typing import Any

import pytest
from tiny import play

from tokenworld.diagnostics import Source
from tokenworld.engine import Engine, State
from tokenworld.ground import PASS, Command
from tokenworld.session.loading import open_text
from tokenworld.verbs.fuzz.playing import first_difference

TEXT = """
type Thing { at: Thing? nested inverse contents  warm: 0 to 9 = 2  near: Thing? }
type Hero : Thing { hits: 0 to 9 = 0 }
actor me: Hero
derive lies(x: Thing, y: Thing) = x.at == y
derive warmer(x: Thing, y: Thing) = not lies(x, y) and x.warm > y.warm
derive deep(x: Thing, y: Thing) = x.at == y or x.at != none and deep(x.at, y)
derive long(x: Thing, y: Thing) = lies(x, y) and lies(y, x) or warmer(x, y) and warmer(y, x)
  or lies(x, y) and warmer(x, y) or lies(y, x) and warmer(y, x)
action heat(x: Thing) {
  for y: Thing where warmer(x, me) and lies(y, x.at) { y.warm += 1 }
}
action strike(x: Thing) {
  for y: Thing where x.near != none and x.near.warm == 2 and y.at == x.near { y.near = x }
}
action count_in(x: Thing) {
  for y: Thing where lies(y, x) and warmer(me, x) { y.near = me }
}
law cool(x: Thing) when me.hits == 3 and warmer(x, me) { x.warm -= 1 }
world w {
  time passes always
  object hall: Thing
  object box: Thing { at = hall  warm = 5 }
  object stone: Thing { at = box  near = box }
  object hero: Hero { at = hall  warm = 2 }
  goal hot: stone.warm == 9
}
"""


@pytest.fixture(scope="module")
def engine() -> Engine:
    return open_text((Source("w.tw", None, TEXT),), "w").engine


def number(engine: Engine, name: str) -> int:
    return engine.instance.numbers[name]


def value(engine: Engine, state: State, fluent: str, name: str) -> object:
    column = next(one for one in engine.layout.columns if one.fluent.name == fluent)
    return state.get(column, number(engine, name))


def test_they_mean_the_same(engine):
    start = engine.start()
    after, _ = engine.play(start, Command("heat", (number(engine, "box"),)))
    warm = [value(engine, after, "warm", name) for name in ("hall", "box", "stone", "hero")]
    assert warm == [2, 6, 2, 3]
    after, _ = engine.play(start, Command("heat", (number(engine, "stone"),)))
    assert value(engine, after, "warm", "box") == 5  # the stone is not warmer than the hero


def test_what_may_have_no_value_is_guarded_as_written(engine):
    start = engine.start()
    for name in ("stone", "box", "hall", "hero"):  # `x.near` is none of all but the stone
        after, (outcome,) = engine.play(start, Command("strike", (number(engine, name),)))
        assert outcome.status == "executed"
        assert value(engine, after, "near", "stone") == number(engine, "box")


def test_a_law_whose_condition_is_steady_rests(engine):
    after, _ = engine.play(engine.start(), PASS)
    assert value(engine, after, "warm", "box") == 5


REGIONS = """
enum Kind { grass, sand }
type Region
type Spot { region: Region? inverse spots  kind: Kind?  lit: bool  static base: Kind = sand }
type Hero { home: Region?  likes: Kind? }
actor me: Hero
function seen(): 0 to 99 = 0
function bare(r: Region): 0 to 99 = 0
function based(r: Region): 0 to 99 = 0
law look() {
  seen() = count(s for s in me.home.spots where s.kind == me.likes)
  for r: Region { bare(r) = count(s for s in r.spots where none == s.kind) }
  for r: Region { based(r) = count(s for s in r.spots where s.base == sand) }
}
action grow(s: Spot, k: Kind) { s.kind = k }
action like(k: Kind) { me.likes = k }
action dislike() { me.likes = none  me.home = none }
action move(r: Region) { me.home = r }
world w {
  object empty: Region  object small: Region  object large: Region
  object a: Spot { region = small }
  object b, c, d: Spot { region = large }
  object hero: Hero { home = large }
}
"""


def test_what_always_lies_somewhere_is_counted_by_a_value() -> None:
    calls = [
        ("like", "grass"), ("grow", "b", "grass"), ("grow", "d", "grass"), ("move", "small"),
        ("grow", "a", "grass"), ("move", "empty"), ("dislike",), ("grow", "c", "grass"),
        ("move", "large"), ("like", "grass"),
    ]  # fmt: skip
    game, found = play(REGIONS), []
    for name, *args in calls:
        game.do(f"{name}({', '.join(args)})")
        found.append((game.get("seen()"), game.get("bare(large)"), game.get("based(large)")))
    seen, bare, based = zip(*found, strict=True)
    assert seen == (0, 1, 2, 0, 1, 0, 0, 0, 0, 3)
    assert bare == (3, 2, 1, 1, 1, 1, 1, 0, 0, 0)
    assert set(based) == {3}
    intents: list[Any] = [{"action": name, "args": args} for name, *args in calls]
    assert first_difference(REGIONS, intents, 0) is None
