"""Deadlines, clocks, scores and awards: own search and encoding E agree with brute force."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_worlds import opened

from tokenworld.diagnostics import Failure
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.ground import PASS
from tokenworld.planning.ladder import plan
from tokenworld.planning.planners.by_name import plan_by
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, find_engine

planner = pytest.mark.skipif(not find_engine(FAST_DOWNWARD).ready, reason="no Fast Downward")

RULES = """
type D { n: 0 to 4 clamped = 0  p: bool }
type H
actor me: H
object h: H
object d: D
function k(): 0 to 3 clamped = 0
action up() { d.n += 1 }
action flip() { require d.n > 1 else low "Low."  d.p = not d.p }
"""
CLOCKS = [
    "tick() >= 3", "tick() < 4", "tick() == 5", "2 <= tick() - 1", "tick() mod 3 == 1",
    "tick() + 1 > 6", "tick() <= 2", "tick() != 3",
]  # fmt: skip
FACTS = ["d.p", "not d.p", "d.n == 4", "d.n > 2", "k() == 3", "k() > 0", "d.n == k()"]
CHANGES = ["k() += 1", "d.n -= 1", "d.n = 0", "d.p = false", "k() = 0"]


def random_world(number: int, *, awards: bool) -> str:
    """Two laws that watch the clock, a score or awards, a deadline and a goal."""
    random = Random(number)
    lines = [RULES]
    for name in "ab":
        kinds = [CLOCKS, FACTS, [*CLOCKS, "score >= 2"]]
        when = " and ".join(random.choice(random.choice(kinds)) for _ in range(2))
        lines.append(f"law {name}() when {when} {{ {random.choice(CHANGES)} }}")
    score = f"score = d.n + {random.choice(['k()', '0', '2 * k()'])}"
    if awards:
        score = f"award 2 when {random.choice(FACTS)}  award 1 when {random.choice(CLOCKS)}"
    goal = " and ".join(
        (random.choice(FACTS), random.choice(["score >= 3", "score == 4", *CLOCKS]))
    )
    lose = random.choice([*CLOCKS, "score > 4", "score < 1 and tick() > 2"])
    rest = random.choice(FACTS)
    lines.append(f"world w {{ {score}  goal done: {goal}  lose late: {lose} and {rest} }}")
    return "\n".join(lines)


def shortest(engine: Engine, start: State) -> int | None:
    """The fewest ticks to the goal, over printed states; `None` if there are none."""

    def name(state: State) -> str:
        found = dict(engine.json(state))
        clock = (min(found.pop("tick"), 8), state.tick % 3)
        return json.dumps([found, state.awarded, clock], sort_keys=True)

    simulator = EngineSimulator(engine, start)
    known, layer, ticks = {name(start)}, [start], 0
    while layer:
        if any(simulator.won(one, None) for one in layer):
            return ticks
        following = list[State]()
        for state in (one for one in layer if not one.latched):
            for command in (*engine.legal(state), PASS):
                after, _ = engine.play(state, command)
                if name(after) not in known:
                    known.add(name(after))
                    following.append(after)
        layer, ticks = following, ticks + 1
    return None


def compared(number: int, *, awards: bool) -> Iterator[tuple[str, str]]:
    """The answers of engines that agree with brute force, and how each was found."""
    world = opened(random_world(number, awards=awards))
    simulator = world.simulator
    start = simulator.start()
    least = shortest(simulator.engine, start)
    engines = ("own", "ladder") if awards else ("own", "ff", "blind")
    for engine in engines:
        if engine == "ladder":
            found = plan(simulator, start, None, time_limit=20)
        else:
            found = plan_by(simulator, start, None, engine, seconds=20)
        told = (number, engine, least, found.answer, found.ticks)
        if least is None:
            assert found.answer == "unwinnable", told
        else:
            assert found.answer == "winnable", told
            assert found.ticks == least or found.optimal is None, told
        yield found.answer, engine


@planner
@pytest.mark.parametrize("awards", [False, True])
def test_engines_agree_with_brute_force(awards: bool) -> None:
    seen = {one for number in range(6) for one in compared(number, awards=awards)}
    assert {answer for answer, _ in seen} == {"winnable", "unwinnable"}


def test_the_score_may_be_a_real_number() -> None:
    world = opened(RULES + "world w { score = d.n / 2  goal done: score >= 2 }")
    simulator = world.simulator
    assert plan_by(simulator, simulator.start(), None, "own", seconds=20).ticks == 4
    with pytest.raises(Failure, match="whole number"):
        raise Failure(*plan_by(simulator, simulator.start(), None, "ff", seconds=20).notes)
