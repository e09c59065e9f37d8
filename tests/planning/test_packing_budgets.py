"""Budgets of packing: it takes no longer than to explore, and says what is too much."""

from __future__ import annotations

import pytest

from tokenworld.engine import EngineSimulator
from tokenworld.planning.lower.algebra import Explosion
from tokenworld.planning.search.packed.lowered import packed, packed_in_time, step_budgets
from tokenworld.session import open_world


def test_to_pack_takes_no_longer_than_to_explore() -> None:
    simulator = EngineSimulator(open_world("domains/usecases/area_of_effect/world.tw").engine)
    start = simulator.start()
    with pytest.raises(Explosion):
        packed_in_time(simulator, start, None, [], 100)
    assert packed_in_time(simulator, start, None, [], 1_000_000) is not None


def test_patience_is_counted() -> None:
    late, too_long = step_budgets(10_000)
    assert [late() for _ in range(4)] == [False, False, False, True]
    assert [too_long() for _ in range(4)] == [False, False, False, True]
    late, too_long = step_budgets(None)
    assert [late() for _ in range(13)] == [False] * 12 + [True]


def test_a_slot_of_too_many_values_is_told_at_once() -> None:
    simulator = EngineSimulator(open_world("domains/textgames/inclined-plane/world.tw").engine)
    obstacles = []
    assert packed(simulator, simulator.start(), None, obstacles) is None
    assert obstacles[0].construct == "`tick(stopwatch)`"
    assert obstacles[0].reason == "its 100,000 values are too many"
