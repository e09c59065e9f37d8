"""The score with awards in the encoding E: plans as short as those of our own search.

An award is given at the end of the first tick or free action in which its condition holds.
"""

from __future__ import annotations

from random import Random

import pytest

from tokenworld.diagnostics import Source
from tokenworld.engine import Engine, EngineSimulator
from tokenworld.planning.lower.encode import Encoding, Unencodable, encode
from tokenworld.planning.planners.by_name import plan_by
from tokenworld.planning.planners.doctor import FAST_DOWNWARD, find_engine
from tokenworld.session.loading import open_text

planner = pytest.mark.skipif(not find_engine(FAST_DOWNWARD).ready, reason="no Fast Downward")

LAMPS = """
type Lamp { lit: bool }
object a, b, c: Lamp
function n(): 0 to 4 clamped = 0
"""
RULES = {
    "actions": """
action light(l: Lamp) { require not l.lit  l.lit = true }
action quench() { a.lit = false  b.lit = false  n() += 1 }
""",
    "laws": """
action light(l: Lamp) { require not l.lit  l.lit = true }
law fade(l: Lamp) when l.lit and was l.lit { l.lit = false }
law grow() when score >= 3 and not c.lit { n() += 1 }
""",
    "free": """
action light(l: Lamp) takes 0 { require not l.lit  l.lit = true }
action swap_both() { require score > 0  swap a.lit, b.lit }
action quench(l: Lamp) takes 2 { require l.lit  l.lit = false  n() += 1 }
""",
}
CONDITIONS = ("a.lit", "b.lit and not a.lit", "n() == 1", "all(l.lit for l: Lamp)",
              "a.lit != c.lit and tick() >= 2", "c.lit and b.lit")  # fmt: skip


def opened(text: str) -> Engine:
    return open_text((Source("test.tw", None, text),), "w").engine


def drawn(kind: str, number: int) -> str:
    """A world whose goal, and often a loss, is about the score."""
    rng = Random(f"{kind} {number}")
    awards = [
        f"award {rng.choice(['1', '2', '3', '-1', 'n() + 1'])} when {one}"
        for one in rng.sample(CONDITIONS, 3)
    ]
    lines = [rng.choice(["", "score = 2 * n()"]), *awards]
    if rng.random() < 0.5:
        lines.append(f"lose late: score == {rng.randint(2, 4)} and a.lit")
    aim = f"score {rng.choice(['>=', '=='])} {rng.randint(2, 6)}"
    aim += rng.choice(["", " and not a.lit", " and b.lit"])
    listed = "\n  ".join([*lines, f"goal g: {aim}"])
    return f"{LAMPS}{RULES[kind]}world w {{\n  {listed}\n}}"


def length(engine: Engine, by: str) -> int | None:
    """The steps of the plan that an engine finds."""
    start = engine.start()
    verdict = plan_by(EngineSimulator(engine, start), start, None, by, seconds=20)
    assert verdict.answer != "unknown"
    return len(verdict.steps) if verdict.answer == "winnable" else None


@planner
@pytest.mark.parametrize("kind", sorted(RULES))
def test_plans_of_the_encoding_are_as_short_as_those_of_own_search(kind: str) -> None:
    found = []
    for number in range(4):
        text = drawn(kind, number)
        engine = opened(text)
        found.append(length(engine, "own"))
        assert length(engine, "blind") == found[-1], text
    assert len(set(found)) > 2


def test_a_replay_begins_with_the_awards_that_were_given() -> None:
    engine = opened(f"{LAMPS}{RULES['actions']}world w {{ award 2 when a.lit  goal g: score > 2 }}")
    state = engine.start()
    for command in engine.legal(state):
        if command.args == (0,):
            state, _ = engine.play(state, command)
            break
    simulator = EngineSimulator(engine, state)
    assert simulator.awarded(state) == (0,)
    found = encode(engine.instance, simulator, state, None)
    assert isinstance(found, Encoding)
    assert found.unreachable


def test_awards_beside_a_block_that_breaks_off_a_long_action_are_refused() -> None:
    text = f"""{LAMPS}
action wait_for(l: Lamp) takes 3 {{ l.lit = true  cancelled {{ c.lit = true }} }}
action light(l: Lamp) {{ require not l.lit  l.lit = true }}
world w {{ award 1 when c.lit  award 1 when a.lit  goal g: score == 2 }}
"""
    engine = opened(text)
    start = engine.start()
    found = encode(engine.instance, EngineSimulator(engine, start), start, None)
    assert isinstance(found, Unencodable)
    assert [one.construct for one in found.obstacles] == ["`cancelled`"]
