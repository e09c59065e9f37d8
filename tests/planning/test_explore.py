"""Packed search, fused facts, the compiled explorer: the interpreter's answers, state by state."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from lower_random import random_world
from lower_worlds import Opened, bundled, opened
from sokoban import sokoban

from tokenworld.planning.referee import replay
from tokenworld.planning.search.compiled import available
from tokenworld.planning.search.compiled.search import CompiledBreadthFirst
from tokenworld.planning.search.compiled.tables import Tables
from tokenworld.planning.search.interpreted import (
    Breadth,
    Capped,
    Exhausted,
    Found,
    Limits,
    Search,
    SearchResult,
)
from tokenworld.planning.search.own import OwnSearch
from tokenworld.planning.search.packed.lowered import packed
from tokenworld.planning.search.packed.searches import PackedBreadthFirst
from tokenworld.planning.search.packed.world import PLAYING, Packed

WORLDS = (
    "blocks/world", "taxi/world", "cellar/world", "cellar/twin", "frozen_lake/world",
    "greenhouse/world", "greenhouse/scarce", "skirmish/world", "skirmish/twin", "workshop/world",
)  # fmt: skip
SEEDS = range(0, 24)
compiled = pytest.mark.skipif(not available(), reason="numba is not installed")


def made(world: Opened) -> Packed:
    found = packed(world.simulator, world.state, None)
    assert found is not None
    return found


def told(result: SearchResult) -> tuple[object, ...]:
    """What an answer says, whichever of several shortest plans it is."""
    match result:
        case Found(steps=steps, optimal=optimal):
            return "found", len(steps), optimal
        case Exhausted(states=states, expanded=expanded):
            return "exhausted", states, expanded
        case Capped(limit=limit):
            return "capped", limit


def reference(world: Opened) -> SearchResult:
    """The interpreter's breadth-first search, whatever actions cost."""
    search = Search(world.simulator, world.state, None, frontier=Breadth())
    return search.run(Limits(states=4_000))


def by_ticks(result: SearchResult) -> SearchResult:
    return replace(result, cost=len(result.steps)) if isinstance(result, Found) else result


@pytest.mark.parametrize("name", [*WORLDS, "sokoban"])
def test_the_packed_search_finds_what_the_interpreter_finds(name: str) -> None:
    world = sokoban() if name == "sokoban" else bundled(name)
    expected = by_ticks(reference(world))
    assert PackedBreadthFirst(world.simulator, made(world), world.state).run(Limits()) == expected


def test_random_worlds_are_searched_alike() -> None:
    answers = 0
    for seed in SEEDS:
        world = random_world(seed)
        small, expected = packed(world.simulator, world.state, None), reference(world)
        if small is None or isinstance(expected, Capped):
            continue
        found = PackedBreadthFirst(world.simulator, small, world.state).run(Limits())
        assert told(found) == told(expected)
        if isinstance(found, Found):
            assert replay(world.simulator, world.state, found.steps, None).ok
        answers += 1
    assert answers >= len(SEEDS) // 2


def test_a_search_goes_on_where_it_stopped() -> None:
    world = bundled("workshop/world")
    search = PackedBreadthFirst(world.simulator, made(world), world.state)
    first = search.run(Limits(states=50))
    assert isinstance(first, Capped)
    assert first.limit == "states"
    assert search.so_far().states == first.states
    assert search.run(Limits()) == reference(world)
    again = PackedBreadthFirst(world.simulator, made(world), world.state)
    assert told(again.run(Limits(memory=1))) == ("capped", "memory")
    assert told(again.run(Limits(), cancel=lambda: True)) == ("capped", "cancelled")


def test_long_searches_go_on_packed_and_short_ones_do_not() -> None:
    for name, states in (("greenhouse/world", 4_000), ("skirmish/world", 4_000)):
        world = bundled(name)
        quick = OwnSearch(world.simulator, world.state, None)
        found = quick.run(Limits(states=states))
        assert told(found) == told(reference(world))
        assert isinstance(quick._search, PackedBreadthFirst) == (name == "greenhouse/world")


# ---- facts of which at most one holds -----------------------------------------------------------


def test_places_become_variables() -> None:
    small = made(sokoban())
    facts = [fact for group in small.groups.values() for fact in group]
    assert len(small.groups) < len(facts) / 2
    assert small.packing.width < len(facts) * 0.8
    assert any(len(one.values) > 4 for one in small.task.variables)


def test_what_may_hold_together_stays_apart() -> None:
    text = (
        "type Cup { full: bool = false  hot: bool = false }\nactor me: Hero\ntype Hero\n"
        "relation seen(c: Cup)\n"
        "action fill(c: Cup) { require not c.full  c.full = true  add seen(c) }\n"
        "action tip(c: Cup) { require c.full  c.full = false }\n"
        "world w { object hero: Hero  object a, b: Cup  goal both: a.full and b.full }"
    )
    small = made(opened(text))
    assert not any(len(group) > 1 for group in small.groups.values())


# ---- compiled -----------------------------------------------------------------------------------


@compiled
@pytest.mark.parametrize("name", [*WORLDS, "sokoban", "kitchen/world"])
@pytest.mark.parametrize("wide", [False, True], ids=["one word", "several"])
def test_the_compiled_explorer_sees_the_same_states(name: str, wide: bool) -> None:
    world = sokoban() if name == "sokoban" else bundled(name)
    small = made(world)
    for to_goal in (True, False):
        tables = Tables.of(small, to_goal=to_goal)
        assert tables is not None
        search = CompiledBreadthFirst(world.simulator, small, world.state, widened(tables, wide))
        limits = Limits(states=30_000)
        found = search.run(limits)
        ends = small if to_goal else replace(small, ends=lambda state: PLAYING)
        expected = PackedBreadthFirst(world.simulator, ends, world.state).run(limits)
        if not isinstance(expected, Capped):
            assert told(found) == told(expected) or small_differs(found, expected)
        if isinstance(found, Found):
            assert replay(world.simulator, world.state, found.steps, None).ok


def small_differs(found: SearchResult, expected: SearchResult) -> bool:
    """States that are ends count as expanded by one of them, and not by the other."""
    both = isinstance(found, Exhausted) and isinstance(expected, Exhausted)
    return both and found.states == expected.states  # type: ignore[union-attr]


def widened(tables: Tables, wide: bool) -> Tables:
    """The same tables with an empty word after the others, so that states take several."""
    if not wide:
        return tables
    import numpy as np

    arrays = list(tables.arrays)
    for place in (7, 9, 14):  # bits, changes, aims
        arrays[place] = np.pad(arrays[place], ((0, 0), (0, 0), (0, 1)))
    start = np.pad(tables.start, ((0, 0), (0, 1)))
    return Tables(tables.width + 1, start, tuple(arrays))


@compiled
def test_bytes_per_state_with_plans(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the table has just doubled, seven in twenty of its places are taken."""
    monkeypatch.setattr("tokenworld.planning.search.compiled.search.FIRST_TABLE", 1 << 8)
    monkeypatch.setattr("tokenworld.planning.search.compiled.tables._QUICK", 0)
    world = bundled("kitchen/world")
    small = made(world)
    tables = Tables.of(small, to_goal=False)
    assert tables is not None
    search = CompiledBreadthFirst(world.simulator, small, world.state, tables)
    for states in (20_000, 50_000, 100_000):
        search.run(Limits(states=states))
        rest = search.memory() / search.size - 8 * tables.width
        assert 5 + 4 / 0.7 <= rest <= 5 + 8 / 0.7 + 0.5
    assert search.memory() / search.size <= 32 or tables.width > 1


def test_a_draw_that_decides_nothing_is_packed_with_what_decides_about_it() -> None:
    text = """type D { lit: bool }
action light(d: D) { d.lit = true }
law flicker(d: D) when not was d.lit { let x = chance 75% }
world w { object lamp: D  goal g: lamp.lit }
"""
    world = opened(text)
    search = PackedBreadthFirst(world.simulator, made(world), world.state)
    assert told(by_ticks(search.run(Limits()))) == told(by_ticks(reference(world)))
