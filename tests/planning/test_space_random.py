"""Random worlds that use most of the language: the graph counts what brute force counts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_random import random_world
from space_brute import brute

from tokenworld.engine import Engine
from tokenworld.planning.search.interpreted import Limits
from tokenworld.planning.space.dead_ends import partition
from tokenworld.planning.space.graph import explore
from tokenworld.prose.wording import EnglishProse

SMALL = (3, 5, 9, 11, 12, 13, 14, 18, 20, 22, 59, 86, 94)
"""Seeds whose worlds are small enough; a world that is not is an error of this list."""


@pytest.mark.parametrize("seed", SMALL)
def test_counts_and_shares_of_a_random_world(seed: int) -> None:
    world = random_world(seed)
    graph = explore(world.simulator, world.state, None, Limits(states=800))
    assert graph.complete
    parts = partition(graph)
    engine = Engine(world.instance, EnglishProse())
    ring = 3 if "name='tick'" in repr(world.instance.program) else 1
    counts = [parts.count(place) for place in ("won", "winnable", "dead")]
    assert counts == brute(engine, engine.start(), ring)
    for moves in graph.moves:
        assert all(0 < sum(move.chances) <= 1 for move in moves)
