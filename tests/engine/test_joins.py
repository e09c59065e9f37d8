"""One function lists what is possible in a world of mere facts; it is held to trying every binding.

The world has all that the loops know: facts that never change and facts that do, about one object,
two and three, symmetric ones, places for keys, enums, things that come and go.
"""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from tests.engine.walks import tried, walk
from tokenworld.diagnostics import Source
from tokenworld.engine import Engine, SeededLuck, State
from tokenworld.engine.legal import made, standing
from tokenworld.engine.legal.hoists import Strides
from tokenworld.engine.legal.indexes import grouped
from tokenworld.engine.legal.joins import Joins, can_join
from tokenworld.ground import Command
from tokenworld.session.loading import open_text

RULES = """
enum Mood { calm, cross, glad }
type Place { open: bool  toll: bool }
type Thing { at: Place?  held: bool  fixed: bool }
type Key : Thing { fits: Place? }
type Hen : Thing { tame: bool  mood: Mood }
relation road(a: Place, b: Place) symmetric
relation likes(h: Hen, p: Place)
relation knows(h: Hen, t: Thing)
relation gave(h: Hen, t: Thing, p: Place)
function calls(h: Hen, p: Place): Mood = calm
action walk(t: Thing, a: Place, b: Place) {
  require t.at == a  require road(a, b)  require b.open  t.at = b
}
action unlock(k: Key, p: Place) {
  require k.fits == p  require k.held  require not p.open  p.open = true
}
action lock(k: Key, p: Place) { require p == k.fits  require p.open  p.open = false }
action grab(t: Thing) { require not t.held  require not t.fixed  t.held = true }
action drop(t: Thing) { require t.held  t.held = false }
action meet(h: Hen, t: Thing, m: Mood) {
  require h.mood == m  require h != t  require not knows(h, t)
  add knows(h, t)
}
action give(h: Hen, t: Thing, p: Place) {
  require knows(h, t)  require likes(h, p)  require not p.toll
  add gave(h, t, p)
  remove knows(h, t)
}
action thank(t: Thing, h: Hen, p: Place) {
  require gave(h, t, p)  require h.tame  remove gave(h, t, p)
}
action gossip(a: Hen, b: Hen, t: Thing) {
  require knows(a, t) and knows(b, a)  require not knows(b, t)  add knows(b, t)
}
action call(h: Hen, p: Place, m: Mood) {
  require calls(h, p) == m  require h.held  calls(h, p) = glad
}
action paint(h: Hen, m: Mood, t: Thing) {
  require h.tame  require m != cross  require t.held  h.mood = m
}
action visit(t: Thing) { require gave(gerda, t, yard)  t.held = true }
action stay() { require yard.open }
object yard, barn, mill: Place
object gerda, frida: Hen
object rusty, shiny: Key
object stone, straw: Thing
"""

GROWING = """
action lay(h: Hen) {
  require h.tame  require h.held
  create k: Key { at = h.at  fits = yard }
  h.held = false
}
action lose(k: Key) { require k.held  require k.fits == yard  destroy k }
"""

PLACES, HENS, THINGS = ("yard", "barn", "mill"), ("gerda", "frida"), ("rusty", "stone", "straw")


def world(seed: int, *, grows: bool = False) -> Engine:
    """The rules with facts drawn by a seed; some facts never change where nothing comes or goes."""
    random = Random(seed)
    few = {True: random.random(), False: random.random() / 2}
    facts = [f"{p}.open = true" for p in PLACES if random.random() < few[True]]
    facts += [f"{p}.toll = true" for p in PLACES if random.random() < few[False]]
    facts += [f"{h}.tame = true" for h in HENS if random.random() < 0.7]
    facts += [f"{t}.held = true" for t in (*THINGS, *HENS) if random.random() < few[True]]
    facts += [f"{t}.at = {random.choice(PLACES)}" for t in (*THINGS, *HENS)]
    facts += [f"{k}.fits = {random.choice(PLACES)}" for k in ("rusty", "shiny")]
    facts += ["stone.fixed = true"]
    pairs = {"road": (PLACES, PLACES), "likes": (HENS, PLACES), "knows": (HENS, THINGS)}
    for name, domains in pairs.items():
        facts += [f"{name}({a}, {b}) = true"
                  for a, b in product(*domains) if random.random() < few[True]]  # fmt: skip
    facts += [f"gave({h}, {t}, {p}) = true"
              for h, t, p in product(HENS, THINGS, PLACES) if random.random() < 0.2]  # fmt: skip
    rules, spare = (RULES + GROWING, "spare Key 3") if grows else (RULES, "")
    text = f"{rules}\nworld w {{ {spare}\n setup {{ {'  '.join(facts)} }} }}"
    return open_text((Source("hens.tw", None, text),), "w").engine


def same(engine: Engine, state: State) -> int:
    expected = tried(engine, state)
    assert list(engine.allowed(state)) == expected
    assert list(engine.legal(state)) == expected
    kept = engine._standing.commands(state)
    assert [one for name in engine.code.actions for one in kept[name]] == expected
    return len(expected)


@pytest.mark.parametrize("grows", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_every_list_is_the_one_by_trying_all(seed: int, grows: bool) -> None:
    engine = world(seed, grows=grows)
    assert all(can_join(one.action) for one in engine.code.actions.values())
    seen = 0
    for state, _ in walk(engine, Random(seed), 40):
        seen += same(engine, state)
    assert seen > 100
    assert engine._standing._joins is not None


def test_things_come_and_go() -> None:
    """Numbers of objects outgrow those that the loops were written for: they are written anew."""
    engine = world(3, grows=True)
    state = engine.start()
    same(engine, state)
    joins = engine._standing._joins
    assert joins is not None
    joins.size = len(state.kinds)  # no room is left
    tame = engine.layout.by_id["Hen.tame"]
    held = engine.layout.by_id["Thing.held"]
    state = state.fork()
    gerda = state.numbers["gerda"]
    state.put(tame, gerda, True)
    for _ in range(3):
        state = state.fork()
        state.put(held, gerda, True)
        result = engine.stepper.tick(state, Command("lay", (gerda,)), SeededLuck())[-1]
        assert result.status == "executed"
        state = result.after
        same(engine, state)
    assert engine._standing._joins is not joins
    fits = engine.layout.by_id["Key.fits"]
    state = state.fork()
    for number in state.live["Key"]:
        state.put(held, number, True)
        state.put(fits, number, state.numbers["yard"])
    state.trail.roll = True
    for number in state.live["Key"]:
        state = engine.stepper.tick(state, Command("lose", (number,)), SeededLuck())[-1].after
        same(engine, state)
    assert not state.live["Key"]


def test_facts_that_play_never_changes_may_be_given_anew() -> None:
    engine = world(5)
    state, (yard, mill) = engine.start(), (engine.instance.numbers[x] for x in ("yard", "mill"))
    same(engine, state)
    assert {engine.layout.by_id[x].index for x in ("Place.toll", "road")} <= engine.layout.still
    toll = engine.put(state, "Place.toll", (yard,), not state.get(
        engine.layout.by_id["Place.toll"], yard))  # fmt: skip
    road = engine.put(state, "road", (mill, mill), True)
    for one in (state, toll, road, state, road, toll):
        same(engine, one)


def test_another_start_is_told_apart() -> None:
    """Equal facts in other lists are the same facts; the tables are not made anew."""
    engine = world(7)
    first, second = engine.start(), engine.start()
    same(engine, first)
    same(engine, second)
    same(engine, first)


@pytest.mark.parametrize("most", [0, 5])
def test_few_commands_may_be_kept(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(made, "MOST_MADE", most)
    engine = world(1)
    for state, _ in walk(engine, Random(1), 25):
        same(engine, state)
    joins = engine._standing._joins
    assert joins is not None
    kept = [one.known for one in joins._commands.values()]
    assert max(map(len, kept)) <= max(1, most)


def test_a_command_is_made_once() -> None:
    engine = world(2)
    one, other = (list(engine.allowed(engine.start())) for _ in range(2))
    assert one
    assert all(left is right for left, right in zip(one, other, strict=True))
    assert one is not other


def test_no_table_of_all_bindings_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands are made when they are told, or side by side for one binding that is told."""
    engine = world(6)
    listed = list(engine.allowed(engine.start()))
    joins = engine._standing._joins
    assert joins is not None
    for name, one in joins._commands.items():
        assert len(one.known) <= sum(1 for command in listed if command.action == name)
    monkeypatch.setattr(standing, "SMALL", 0)
    large = world(6)
    assert list(large.allowed(large.start())) == listed
    assert large._standing._joins is None


def test_one_action_alone() -> None:
    engine = world(4)
    state = engine.start()
    for name, one in engine.code.actions.items():
        joins = Joins(engine.code, (name,), state)
        joins.look(state)
        expected = [command for command in tried(engine, state) if command.action == name]
        assert joins.alone(name)(state, state, state.me) == expected
        assert one.action.name == name


def test_arguments_are_digits() -> None:
    strides = Strides((7, 3, 5))
    rows = list(product(range(7), range(3), range(5)))
    assert [strides.args(strides.number(row)) for row in rows] == rows
    numbers = [strides.number(row) for row in rows]
    assert numbers == sorted(set(numbers))


def test_groups_are_in_order() -> None:
    assert grouped([(2, 1), (1, 9), (1, 3)]) == {1: [3, 9], 2: [1]}
