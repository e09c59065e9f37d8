"""Ticks on bits come to what the interpreter comes to, and the state is told of them in time."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.tiny import play
from tests.engine.walks import BUNDLED, commands, engine_of, random_engine, tried
from tokenworld.engine import Engine, SeededLuck
from tokenworld.engine.inplace import ground_ops, live
from tokenworld.ground import Command


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands get bits after one tick the plain way."""
    monkeypatch.setattr(ground_ops, "USES", 1)
    monkeypatch.setattr(live, "WARM", 1)


def held(engine: Engine, seed: int, steps: int) -> int:
    """Play both ways, looking at the state now and then; how many ticks were made on bits."""
    random, luck, state = Random(seed), SeededLuck(), engine.start()
    world, on_bits = engine.live(state), 0
    made: dict[Command, Command] = {}
    passed = [engine.hash(state)]
    for _ in range(steps):
        legal = tried(engine, state)
        some = legal if legal and random.random() < 0.8 else commands(engine, state)
        chosen = random.choice(some)
        command = made.setdefault(chosen, chosen)
        results = engine.stepper.tick(state, command, luck)
        last = results[-1]
        on_bits += id(command) in world._operators
        journal = world.apply(command)
        if last.status == "executed":
            changes = [one for each in results for one in (*each.changes, *each.law_changes)]
            assert journal == changes
        else:
            assert journal is None or last.status in ("waiting", "interrupted")
        if journal is not None or last.time_passed or last.after.turn != state.turn:
            state = last.after
            passed.append(engine.hash(state))
        if random.random() < 0.2:
            assert engine.hash(world.state()) == passed[-1]
        if random.random() < 0.1:
            assert world.legal() == list(engine.legal(state))
        if random.random() < 0.1 and len(passed) > 1:
            world.undo()
            passed.pop()
            state = world.state()
            assert engine.hash(state) == passed[-1]
    assert world.depth == len(passed) - 1
    while world.depth:
        world.undo()
        passed.pop()
        assert engine.hash(world.state()) == passed[-1]
    return on_bits


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_worlds(name: str) -> None:
    count = held(engine_of(name), 3, 60)
    assert name != "blocks" or count > 5


@settings(max_examples=15, deadline=None)
@given(world=st.integers(0, 10_000))
def test_random_worlds(world: int) -> None:
    engine = random_engine(world)
    if engine is not None:
        held(engine, world, 30)


FACTS = """
type Place
type Lamp { lit: bool  fixed: bool = true }
relation on(a: Lamp, p: Place)
relation near(a: Place, b: Place) symmetric
action move(x: Lamp, p: Place, q: Place) as "move {x} from {p} to {q}" {
  require on(x, p)
  require not on(x, q) or p == q
  remove on(x, p)
  add on(x, q)
}
action slide(x: Lamp, p: Place, q: Place) as "slide {x} from {p} to {q}" {
  require on(x, p)
  require near(p, q)
  remove on(x, p)
  add on(x, q)
  say "It slides."
}
action stay(x: Lamp, p: Place, q: Place) as "stay {x} {p} {q}" {
  require on(x, p)  require not x.lit
  remove on(x, p)  add on(x, q)
}
action link(p: Place, q: Place) as "link {p} {q}" { require p != q  add near(q, p) }
action part(p: Place, q: Place) as "part {p} {q}" { require near(q, p)  remove near(p, q) }
action light(x: Lamp) as "light {x}" { require x.fixed  require not x.lit  x.lit = true }
action put_out(x: Lamp) as "put out {x}" { x.lit = false }
world w {
  outcomes live
  object here, there, away: Place
  object red, blue: Lamp
  setup { add on(red, here)  add on(blue, away) }
}
"""


def test_facts_of_every_shape() -> None:
    """Symmetric facts, attributes, a fact that is removed and added, an equation, and a require
    that is no fact, whose action stays plain."""
    engine = play(FACTS).session.engine
    assert sum(held(engine, seed, 120) for seed in range(6)) > 200
    ground = engine._live_rules.ground
    assert ground is not None
    fit = {name for name, fits in ground._fit.items() if fits}
    assert fit == {"slide", "stay", "link", "part", "light", "put_out"}


def test_a_world_begun_again_plays_on_bits_at_once() -> None:
    engine = engine_of("blocks")
    start = engine.start()
    first = engine.live(start)
    walk = [first.legal()[0]]
    for _ in range(5):
        first.apply(walk[-1])
        walk.append(first.legal()[0])
    again = engine.live(start)
    assert all(id(one) in again._operators for one in walk[:-1])
    for one in walk[:-1]:
        assert again.apply(one)
    assert engine.hash(again.state()) == engine.hash(first.state())
    assert again.now().tick == 5


def test_commands_that_are_refused_change_nothing() -> None:
    engine = engine_of("blocks")
    world = engine.live()
    (command, *_) = world.legal()
    world.apply(command)
    world.undo()
    world.apply(command)
    before = engine.hash(world.state())
    assert world.apply(command) is None
    assert engine.hash(world.state()) == before
    assert world.depth == 1
