"""The commands that are listed, in play and for a search, are those that trying all finds."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.tiny import play
from tests.engine.walks import BUNDLED, commands, engine_of, random_engine, tried, walk
from tokenworld.diagnostics import Source
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.engine.changes import Breach
from tokenworld.engine.rows.code import hoist
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


NAMED = """
type Place { size: 0 to 9 = 3 }
type Box { at: Place?  sealed: bool  load: 0 to 5 }
relation road(a: Place, b: Place)
derive full(b: Box): bool = b.load == 5
action follow(b: Box) as "follow {b}" {
  require not b.sealed
  let p = b.at
  require p != none
  require any(x.load == 1 for x: Box)
}
action twice(b: Box) as "twice {b}" {
  let p = b.at
  require p != none
  let q = p.size
  require q > 2
}
action divide(b: Box, k: 0 to 2) as "divide {b} by {k}" { require b.load div k == 1 }
action fill(b: Box, k: 1 to 3) as "fill {b} {k}" { require not full(b)  b.load += k }
action pour(a: Box, b: Box, k: 0 to 2) as "pour {k} {a} {b}" { transfer k of a.load to b.load }
action seal(b: Box) as "seal {b}" { require b.at.size > 2  b.sealed = not b.sealed }
action go(b: Box, p: Place) as "go {b} {p}" {
  require b.at != p
  require p.size >= b.load
  b.at = p
}
action count_up(b: Box) as "count {b}" { require tick() mod 2 == 0  b.load = 0 }
action rest() as "rest" { require all(b.sealed for b: Box) or tick() < 3 }
world w {
  object here, there: Place
  object tiny: Place { size = 1 }
  object red, blue: Box { at = here }
  object loose: Box
}
"""


def held(engine: Engine, seed: int, steps: int) -> int:
    """In how many states of a walk something is listed, what those by trying all are."""
    count, simulator = 0, EngineSimulator(engine)
    timed = any(one.takes is not None for one in engine.instance.program.actions.values())
    for state, _ in walk(engine, Random(seed), steps):
        legal = tried(engine, state)
        assert engine.legal(state) == legal
        if not timed:
            listed = [one for one in simulator.commands(state) if not one.is_pass]
            assert listed == allowed(engine, state)
        count += bool(legal)
    return count


def allowed(engine: Engine, state: State) -> list[Command]:
    """The commands that no require of the author refuses."""
    if state.latched and not engine.instance.world.endless:
        return []
    every = (one for one in commands(engine, state) if not one.is_pass)
    return [one for one in every if holds(engine, state, one)]


def holds(engine: Engine, state: State, command: Command) -> bool:
    """Whether all requires of the author hold and have a value."""
    try:
        return all(one.holds for one in engine.why(state, command) if not one.generated)
    except Breach:
        return False


@pytest.mark.parametrize("grows", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_facts_decide(seed: int, grows: bool) -> None:
    held(world(seed, grows=grows), seed, 12)


@pytest.mark.parametrize(("loops", "deep"), [(1, 60), (12, 2)])
def test_one_function_goes_on_where_another_is_deep(
    monkeypatch: pytest.MonkeyPatch, loops: int, deep: int
) -> None:
    monkeypatch.setattr(hoist, "MOST_LOOPS", loops)
    monkeypatch.setattr(hoist, "_DEEP", deep)
    held(world(2), 2, 12)
    held(play(NAMED).session.engine, 0, 12)


def test_an_action_may_have_a_hundred_parameters() -> None:
    """Each parameter is bound by the one before, so there are only three bindings."""
    count = 100
    params = ", ".join(f"s{n}: Stone" for n in range(count))
    asked = " ".join(f"require next(s{n}, s{n + 1})" for n in range(count - 1))
    stones = range(count + 2)
    facts = " ".join(f"add next(t{n}, t{n + 1})" for n in stones[:-1])
    engine = play(f"""
        type Stone {{ lit: bool }}
        relation next(a: Stone, b: Stone)
        action light({params}) {{ require not s0.lit {asked} s0.lit = true }}
        world w {{
          {" ".join(f"object t{n}: Stone" for n in stones)}
          setup {{ {facts} }}
          goal lit: t2.lit
        }}
    """).session.engine
    found = engine.legal(engine.start())
    assert [one.args[0] for one in found] == [engine.start().numbers[f"t{n}"] for n in range(3)]


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_worlds(name: str) -> None:
    assert held(engine_of(name), 5, 12) > 1


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_random_worlds(seed: int) -> None:
    engine = random_engine(seed)
    if engine is not None:
        held(engine, seed, 12)


def test_lets_derives_sums_and_the_clock() -> None:
    """Divisions by zero, ranges, and what depends on the tick."""
    engine = play(NAMED).session.engine
    for seed in range(3):
        assert held(engine, seed, 20) == 20


def test_a_given_may_change_what_play_never_does() -> None:
    game = play("""
        type Door { open: bool  stuck: bool }
        action push(d: Door) as "push {d}" { require not d.stuck  d.open = true }
        world w { object d: Door }
    """)
    engine, state = game.session.engine, game.state
    simulator = EngineSimulator(engine, state)
    assert [one.action for one in simulator.commands(state)] == ["push"]
    stuck = engine.put(state, "Door.stuck", (state.numbers["d"],), True)
    assert simulator.commands(stuck) == engine.legal(stuck) == []
    assert [one.action for one in simulator.commands(state)] == ["push"]


def test_a_require_may_ask_for_a_text() -> None:
    game = play("""
    type Hen { name: text = ""  n: 0 to 3 = 1 }
    object hen: Hen
    action call(h: Hen) { h.name = "{h.n}" }
    action see(h: Hen) { require h.name == "1" else shy "Who?"  h.n = 0 }
    world w { goal g: hen.n == 0 }
    """)
    found = EngineSimulator(game.session.engine, game.state).commands(game.state)
    assert [one.action for one in found] == ["call"]
