"""Luck within one tick: free actions, rounds and what is tried again after it came to nothing.

Small worlds, each answered three ways and compared with brute force.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import Opened, agreed, opened
from tick_brute import Brute

from tokenworld.engine import Engine, EngineSimulator, ForcedLuck, in_tick
from tokenworld.ground import Command
from tokenworld.planning.ladder import plan
from tokenworld.planning.space.luck import LuckLimits, certainty, probability
from tokenworld.prose.wording import EnglishProse

LIMITS = LuckLimits(states=20_000, seconds=60)

FLIPS = """
type Coin { heads: bool  flips: 0 to 3 }
type H
actor me: H
action flip(c: Coin) takes 0 {
  require c.flips < 2
  let h = chance 1/2
  c.flips += 1
  c.heads = h
}
world w { object h: H  object a, b: Coin  goal g: %s }
"""

WORLDS = {
    "one head and one tail": (FLIPS % "a.heads and a.flips == 1 and not b.heads and b.flips == 1",
                              0.25, False),
    "both ways with one coin": ("""
type Coin { heads: bool  tails: bool }
type H
actor me: H
action flip(c: Coin) takes 0 { chance 1/2 { c.heads = true } else { c.tails = true } }
world w { object h: H  object a: Coin  goal g: a.heads and a.tails }
""", 1.0, True),
    "refused by luck, free": ("""
type D { n: 0 to 1  tired: bool }
type H
actor me: H
action force(d: D) takes 0 { chance 1/2 { d.n += 2 } else { d.n = 1 } }
world w { object h: H  object d: D  goal g: d.n == 1 }
""", 1.0, True),
    "refused by luck, and time goes on": ("""
type D { n: 0 to 1  t: 0 to 2 clamped }
type H
actor me: H
action force(d: D) { chance 1/2 { d.n += 2 } else { d.n = 1 } }
law age(d: D) { d.t += 1 }
world w { object h: H  object d: D  lose late: d.t == 2 and d.n == 0  goal g: d.n == 1 }
""", 0.75, False),
    "a law breaks the tick by luck": ("""
type D { n: 0 to 3  wear: 0 to 9  load: 0 to 9 = 5 }
type H
actor me: H
action up(d: D) { d.n += 1 }
action set(d: D, to: 5 to 6) takes 0 { d.load = to }
law worse(d: D) { chance 1/4 { d.wear = d.load } }
invariant sound(d: D): d.wear < 5
world w { object h: H  object d: D  goal g: d.n == 2 }
""", 0.5625, False),
    "what a broken tick shows": ("""
type D { n: 0 to 9  side: bool }
type H
actor me: H
action peek(d: D) { d.n += 9 }
action left(d: D) { d.n = 1 }
action right(d: D) { d.n = 2 }
law turn(d: D) { chance 1/2 { d.side = true } }
invariant hidden(d: D): d.n != 9
world w {
  object h: H  object d: D
  lose wrong: (d.n == 1 and not d.side) or (d.n == 2 and d.side)
  goal g: (d.n == 1 and d.side) or (d.n == 2 and not d.side)
}
""", 1.0, True),
    "known by parts": ("""
type D { n: 0 to 9 }
type H
actor me: H
action one(d: D) takes 0 { chance 1/3 { d.n = 1 } or 1/3 { d.n = 2 } else { d.n += 99 } }
action two(d: D) takes 0 { require d.n == 1  d.n = 0 }
world w { object h: H  object d: D  goal g: d.n == 2 }
""", 1.0, True),
    "time passes always": ("""
type D { n: 0 to 1  t: 0 to 2 clamped }
type H
actor me: H
action force(d: D) { chance 1/2 { d.n += 2 } else { d.n = 1 } }
law age(d: D) { d.t += 1 }
world w {
  time passes always
  object h: H  object d: D  lose late: d.t == 2 and d.n == 0  goal g: d.n == 1
}
""", 0.75, False),
    "the last of a round breaks it by luck": ("""
type P { n: 0 to 3  t: 0 to 2 clamped  by: 0 to 3 = 3 }
actor me: P
action up() { chance 1/2 { me.n += 1 } else { me.n += me.by } }
action by(n: 2 to 3) { me.by = n }
law age(p: P) { p.t += 1 }
invariant low(p: P): p.n < 3
world w { turns a, b  object a, b: P  lose late: a.t == 2  goal g: b.n == 1 and a.n == 1 }
""", None, None),
    "a long action draws as it is broken off": ("""
type D { n: 0 to 3  key: bool }
type H
actor me: H
action dig(d: D) takes 3 { require d.n == 0  d.n = 3  cancelled { chance 1/2 { d.key = true } } }
action take(d: D) { require d.key  d.n = 1 }
action leave(d: D) { require not d.key  d.n = 2 }
world w { object h: H  object d: D  goal g: d.n == 1 }
""", None, None),
}  # fmt: skip


def world_of(name: str) -> tuple[Opened, Brute]:
    world = opened(WORLDS[name][0])
    return world, Brute(Engine(world.instance, EnglishProse()))


@pytest.mark.parametrize("name", WORLDS)
def test_luck_is_that_of_brute_force(name: str) -> None:
    world, brute = world_of(name)
    _, share, sure = WORLDS[name]
    likely = probability(world.simulator, world.state, None, LIMITS)
    certain = certainty(world.simulator, world.state, None, LIMITS)
    possible = plan(world.simulator, world.state, None, time_limit=30)
    assert likely.exact is not None
    assert float(likely.exact) == pytest.approx(brute.probability())
    assert (certain.answer == "certain") == brute.certain()
    assert (possible.answer == "winnable") == brute.winnable
    assert share is None or float(likely.exact) == share
    assert sure is None or (certain.answer == "certain") == sure


@pytest.mark.parametrize("name", ["one head and one tail", "both ways with one coin"])
def test_free_draws_of_a_plan_are_those_of_play(name: str) -> None:
    """The plan of the search and that of the encoding force its draws, and some seed has them."""
    world = opened(WORLDS[name][0])
    engine, found = Engine(world.instance, EnglishProse()), agreed(world)
    steps = plan(world.simulator, world.state, None, time_limit=30).steps
    assert found is not None
    state = engine.start()
    for step in steps:
        luck = ForcedLuck(in_tick(state.drawn, step.draws))
        state, records = engine.play(state, step.command, luck)
        assert records[-1].status == "executed"
    assert world.simulator.won(state, None)
    assert any(_wins(engine, seed, [step.command for step in steps]) for seed in range(64))


def _wins(engine: Engine, seed: int, commands: list[Command]) -> bool:
    state = engine.start(seed)
    for command in commands:
        state, _ = engine.play(state, command)
    return EngineSimulator(engine, state).won(state, None)
