"""Random worlds: what the encoding says can be won is what the interpreter can win."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_random import random_world
from lower_worlds import solution

from tokenworld.diagnostics import Failure
from tokenworld.planning.lower.encode import Unencodable, encode
from tokenworld.planning.search.interpreted import Capped, Found, Limits, Search


def outcome(seed: int, *, creates: bool = False) -> str:
    """What came of comparing encoding and interpreter; a difference raises.

    Within the same number of spare objects both find the same.
    """
    try:
        world = random_world(seed, creates=creates)
    except Failure:
        return "no start state"  # an invariant does not hold at the start
    found = encode(world.instance, world.simulator, world.state, None, spares=True)
    if isinstance(found, Unencodable):
        return "not expressible"
    if creates and not found.unborn:
        return "nothing is created"
    answer = Search(world.simulator, world.state, None).run(Limits(states=1_500))
    if isinstance(answer, Capped) and answer.limit != "spare":
        return "too large"
    steps = solution(world)
    assert (steps is None) != isinstance(answer, Found), seed
    return "won" if steps else "won at the start" if steps == () else "cannot be won"


@pytest.mark.parametrize("count", [10, pytest.param(40, marks=pytest.mark.slow)])
def test_random_worlds_agree(count: int) -> None:
    seen = Counter(outcome(seed) for seed in range(count))
    assert seen["won"] >= count // 8
    assert seen["cannot be won"] >= count // 8
    assert seen["not expressible"] <= count // 10


@pytest.mark.slow
def test_many_random_worlds_agree() -> None:
    seen = Counter(outcome(seed) for seed in range(1_000, 1_150))
    assert seen["won"] >= 20
    assert seen["cannot be won"] >= 20


def test_random_worlds_that_create_agree() -> None:
    seen = Counter(outcome(seed, creates=True) for seed in range(8))
    assert seen["won"] >= 2


@pytest.mark.slow
def test_many_random_worlds_that_create_agree() -> None:
    seen = Counter(outcome(seed, creates=True) for seed in range(1_000, 1_120))
    assert seen["won"] >= 30
    assert seen["cannot be won"] >= 15


def test_conditions_that_are_tested_node_by_node_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the first, with every condition of more than one way as a row of tests."""
    monkeypatch.setattr("tokenworld.planning.lower.ticks._FEW_PATHS", 1)
    seen = Counter(outcome(seed) for seed in range(40, 54))
    assert seen["won"] >= 2
    assert seen["cannot be won"] >= 2
