"""Executed commands and `pass` are all the steps there are: brute force finds no others.

Brute force tries every command in every state, legal or not, and keeps the luck of a tick. Every
way of planning has to come to its answer.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import Opened, explore, opened
from tick_brute import Brute
from tick_worlds import random_tick_world

from tokenworld.engine import Engine, State
from tokenworld.ground import Command
from tokenworld.planning.ladder import plan
from tokenworld.planning.lower.encode import Encoding, encode
from tokenworld.planning.referee import replay
from tokenworld.planning.search.interpreted import Limits
from tokenworld.planning.search.packed.lowered import packed
from tokenworld.planning.space import graph
from tokenworld.planning.space.luck import LuckLimits, certainty, probability
from tokenworld.planning.space.packed_graph import explore_packed
from tokenworld.prose.wording import EnglishProse
from tokenworld.session.solving import builder

UNWINNABLE = {
    "every interrupter is refused": """
type D { key: bool  other: bool }
type H
actor me: H
action dig(d: D) takes 4 { require not d.key  d.other = true  cancelled { d.key = true } }
action hop(d: D) { require d.other and not d.key d.other = false }
world w { object h: H object d: D  goal g: d.key and not d.other }
""",
    "only nonsense lets time pass": """
type D { t: 0 to 9 clamped  done: bool  c: bool }
type H
actor me: H
action dig(d: D) takes 3 { require not d.done and not d.c  d.done = true  cancelled { d.c = true } }
law k(d: D) when any(busy(h) for h: H) { d.t += 1 }
world w { time passes always  object h: H object d: D  goal g: d.done and d.t == 4 and not d.c }
""",
    "only nonsense stretches a round": """
type P { done: bool  c: bool  t: 0 to 9 clamped }
actor me: P
action dig() takes 3 { require not me.done and not me.c  me.done = true  cancelled { me.c = true } }
action note(p: P) { require p != me and busy(p)  me.t += 1 }
world w { turns a, b  object a, b: P  goal g: a.done and b.t == 4 and not a.c }
""",
    "the same command would break itself off": """
type D { n: 0 to 3 }
type H
actor me: H
action dig(d: D) takes 3 { d.n = 3  cancelled { d.n = 1 } }
world w { object h: H object d: D  goal g: d.n == 1 }
""",
    "the same command would begin anew": """
type D { n: 0 to 3  t: 0 to 5 clamped }
type H
actor me: H
action dig(d: D) takes 3 { require d.n == 0  d.n = 3 }
law tell(d: D) when any(busy(h) for h: H) { d.t += 1 }
world w { object h: H object d: D  goal g: d.n == 3 and d.t == 4 }
""",
    "what breaks off is rolled back": """
type D { n: 0 to 3  k: 0 to 3  top: 2 to 5 = 3 }
type H
actor me: H
action dig(d: D) takes 3 { require d.n == 0 and d.k == 0  d.n = 3  cancelled { d.k = 2 } }
action set(d: D, to: 3 to 5) { require d.top == 5  d.top = to }
action stop(d: D) { require d.k > 0  d.n += 2 }
invariant low(d: D): d.k + d.n < d.top
world w { object h: H object d: D  goal g: d.n == 2 }
""",
}
WINNABLE = {
    "broken off by what is executed": """
type D { key: bool  other: bool }
type H
actor me: H
action dig(d: D) takes 4 { require not d.key  d.other = true  cancelled { d.key = true } }
action hop(d: D) { require d.key  d.other = true }
world w { object h: H object d: D  goal g: d.key and d.other }
""",
    "broken off by what starts to wait": """
type D { key: bool  other: bool }
type H
actor me: H
action dig(d: D) takes 4 { d.other = true  cancelled { d.key = true } }
action rest(d: D) takes 2 { require d.key  d.other = false }
world w { object h: H object d: D  goal g: d.key and not d.other }
""",
    "a free action neither ends nor continues": """
type D { n: 0 to 3  seen: 0 to 3 }
type H
actor me: H
action dig(d: D) takes 3 { d.n = 3  cancelled { d.n = 1 } }
action look(d: D) takes 0 { require busy(me) and d.seen < 3  d.seen += 1 }
world w { object h: H object d: D  goal g: d.n == 3 and d.seen == 3 }
""",
}


def brute(world: Opened) -> Brute:
    return Brute(Engine(world.instance, EnglishProse()))


def agrees(world: Opened, known: Brute) -> int:
    """Hold every way of planning against brute force; how many ways there were."""
    simulator, state, ways = world.simulator, world.state, 1
    found = plan(simulator, state, None, time_limit=60)
    assert found.answer == ("winnable" if known.winnable else "unwinnable"), world.instance.program
    states = graph.explore(simulator, state, None, Limits(states=5_000))
    assert states.complete
    assert any(states.won) == known.winnable
    encoding = encode(world.instance, simulator, state, None)
    if isinstance(encoding, Encoding):
        way = explore(encoding.plain or encoding.task)
        assert (way is not None) == known.winnable
        assert not (encoding.unreachable and known.winnable)
        ways += 1
    small = packed(simulator, state, None)
    if small is not None:
        build = builder(simulator, small, state)
        other = explore_packed(small, build, simulator.successors, None, Limits(states=5_000))
        assert list(map(simulator.key, other.states)) == list(map(simulator.key, states.states))
        assert [_led(other, node) for node in other.nodes()] == [
            _led(states, node) for node in states.nodes()
        ]
        ways += 1
    return ways


def _led(found: graph.Graph[State], node: int) -> set[tuple[Command, int, object]]:
    """What leads on from a node, without free commands that do nothing."""
    return {
        (move.command, target, move.draws)
        for move in found.moves[node]
        for target in move.targets
        if target != node
    }


def luck_agrees(world: Opened, known: Brute) -> None:
    limits = LuckLimits(states=20_000, seconds=60)
    likely = probability(world.simulator, world.state, None, limits)
    assert likely.low is not None
    assert likely.low == likely.high
    assert float(likely.low) == pytest.approx(known.probability(), abs=1e-6)
    certain = certainty(world.simulator, world.state, None, limits)
    assert (certain.answer == "certain") == known.certain()


@pytest.mark.parametrize("name", UNWINNABLE)
def test_what_is_no_step_wins_nothing(name: str) -> None:
    world = opened(UNWINNABLE[name])
    known = brute(world)
    assert not known.winnable
    agrees(world, known)
    luck_agrees(world, known)


@pytest.mark.parametrize("name", WINNABLE)
def test_steps_that_there_are(name: str) -> None:
    world = opened(WINNABLE[name])
    known = brute(world)
    assert known.winnable
    assert agrees(world, known) == 3
    found = plan(world.simulator, world.state, None, time_limit=60)
    assert replay(world.simulator, world.state, found.steps, None).ok


@pytest.mark.parametrize("seed", range(60))
def test_random_worlds(seed: int) -> None:
    world = random_tick_world(seed)
    known = brute(world)
    agrees(world, known)
    luck_agrees(world, known)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60, 420))
def test_more_random_worlds(seed: int) -> None:
    test_random_worlds(seed)
