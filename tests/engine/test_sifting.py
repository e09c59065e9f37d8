"""Legal commands that are listed action by action are those that trying every binding finds."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.tiny import play
from tests.engine.walks import BUNDLED, engine_of, random_engine, tried, walk
from tokenworld.engine import Engine
from tokenworld.session import open_world

GAMES = sorted((Path(__file__).parents[2] / "domains" / "textgames").glob("*/world.tw"))


def held(engine: Engine, seed: int, steps: int) -> int:
    """In how many states the lists of all actions were those by trying all."""
    count = 0
    for state, _ in walk(engine, Random(seed), steps):
        if engine.stepper.endings.over(state) or not engine._sifting.knows(state):
            continue
        found = [one for name in engine.code.actions for one in engine._sifting.held(state, name)]
        assert found == tried(engine, state)
        count += 1
    return count


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_worlds(name: str) -> None:
    engine = engine_of(name)
    assert held(engine, 6, 40) > 1 or len(engine.start().actors) > 1 or engine.start().longs == ()


@pytest.mark.parametrize("path", GAMES, ids=lambda path: path.parent.name)
def test_text_games(path: Path) -> None:
    assert held(open_world(str(path)).engine, 2, 12) > 3


@settings(max_examples=15, deadline=None)
@given(world=st.integers(0, 10_000))
def test_random_worlds(world: int) -> None:
    engine = random_engine(world)
    if engine is not None:
        held(engine, world, 25)


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


def test_lets_derives_sums_and_the_clock() -> None:
    """Divisions by zero, ranges, and what depends on the tick."""
    engine = play(NAMED).session.engine
    for seed in range(6):
        assert held(engine, seed, 40) == 40
