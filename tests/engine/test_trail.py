"""The slots between two states are all that differ."""

from __future__ import annotations

from random import Random

import pytest

from tests.engine.walks import BUNDLED, engine_of, walk
from tokenworld.diagnostics import Source
from tokenworld.engine import Engine, EngineSimulator, State
from tokenworld.engine.state import ALL, REACH, Slot, Trail, between
from tokenworld.planning.search.interpreted import Found, Limits, search
from tokenworld.session.loading import open_text


def differing(one: State, other: State) -> set[Slot]:
    found: set[Slot] = set()
    for column in one.layout.columns:
        left, right = one.cols[column.index], other.cols[column.index]
        keys = {*left, *right} if column.tupled else range(max(len(left), len(right)))
        found |= {
            (column.index, key) for key in keys if one.get(column, key) != other.get(column, key)
        }
        if one.kids[column.index] is not None:
            pairs = zip(one.kids[column.index], other.kids[column.index], strict=True)
            for a, b in pairs:
                moved = {x for x in (*a, *b) if (x in a) != (x in b)}
                found |= {(column.index, x) for x in moved}
    return found


@pytest.mark.parametrize("name", BUNDLED)
def test_a_trail_misses_nothing(name: str) -> None:
    """Forwards, backwards and aside."""
    engine, random, compared = engine_of(name), Random(9), 0
    states = [state for state, _ in walk(engine, random, 40)]
    for _ in range(60):
        one, other = random.choice(states), random.choice(states)
        slots = between(one.trail, other.trail)
        if slots is None:
            continue
        compared += 1
        whole = {index for index, key in slots if key is ALL}
        assert {slot for slot in differing(one, other) if slot[0] not in whole} <= slots
    assert compared > 0 or name in ("dishwasher",)


def test_a_long_past_is_let_go() -> None:
    first = node = Trail()
    near: list[Trail] = []
    for number in range(3 * REACH):
        node = Trail(node)
        node.slots.append((0, number))
        near.append(node)
    assert between(first, node) is None
    assert between(near[-10], node) == {(0, number) for number in range(3 * REACH - 9, 3 * REACH)}
    held, one = 0, node
    while one.parent is not None:
        one, held = one.parent, held + 1
    assert held <= 2 * REACH


def test_states_of_nothing_in_common() -> None:
    assert between(Trail(), Trail()) is None


def test_who_comes_or_goes_is_no_slot() -> None:
    first = Trail()
    second = Trail(first)
    second.moved = True
    assert between(first, second) is None


TURNS = """
type D { f1: int  f2: 0 to 3 clamped }
object d0, d1: D
phase dawn sequentially
action act(x: D) takes 4 { require all(d1.f1 == 2 for y: D)  require x.f1 != d1.f2 - 1  x.f2 += 2 }
law up(x: D, y: D) during dawn when d0.f2 == 0 { y.f1 = 2 }
world w { goal g: d1.f2 == 2 }
"""


def turns() -> Engine:
    return open_text((Source("w.tw", None, TURNS),), "w").engine


def test_the_commands_of_a_search_stay_right_behind_a_phase_in_turn() -> None:
    simulator = EngineSimulator(turns())
    found = search(simulator, simulator.start(), None, Limits(states=1000))
    assert isinstance(found, Found)
