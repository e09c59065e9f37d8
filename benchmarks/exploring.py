"""Packed states beside the interpreter: the same states first, then how many times faster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.cases import agree
from benchmarks.measure import Row, WrongResultError, least
from tokenworld.assets import domains_folder
from tokenworld.planning import Exhausted, Found, Limits
from tokenworld.planning.explore.compiled import CompiledSearch, Tables, available
from tokenworld.planning.explore.packed import WON, Packed
from tokenworld.planning.explore.search import PackedSearch
from tokenworld.planning.explore.whole import packed
from tokenworld.planning.frontier import Breadth
from tokenworld.planning.search import Search
from tokenworld.session import Session

__all__ = ["exploring"]

_CHUNK = 1 << 14
WORLDS = (
    ("taxi/world.tw", "commands alone"),
    ("skirmish/more.tw:three", "laws"),
    ("frozen_lake/large.tw", "luck"),
)


def exploring() -> Iterator[Row]:
    """All states of worlds with commands alone, with laws and with luck."""
    for target, what in WORLDS:
        session = Session.open(f"{domains_folder()}/{target}")
        world = packed(session.simulator(), session.state, None)
        if world is None:
            raise WrongResultError(f"{target} cannot be packed")
        yield from _beside(target, what, session, world)
    yield from dead_ends()


def dead_ends() -> Iterator[Row]:
    """Dead ends of the kitchen, compiled: all states with their edges, then backwards from the
    goal; beside the forward pass without edges."""
    if not available():
        return
    import numpy as np

    from tokenworld.planning.space.compiled_graph import Connected
    from tokenworld.planning.space.kernel_back import nearest, turned_around

    session = Session.open(f"{domains_folder()}/kitchen/world.tw")
    simulator, state = session.simulator(), session.state
    world = packed(simulator, state, None)
    tables = Tables.of(world, to_goal=True) if world is not None else None
    if world is None or tables is None:
        raise WrongResultError("the kitchen cannot be packed")
    on = np.array([tables.arrays[-1][0], 0], np.uint64)  # past the first goal
    onward = replace(tables, arrays=(*tables.arrays[:-1], on))

    def forward() -> int:
        search = CompiledSearch(simulator, world, state, onward)
        while search.count[1] < search.count[0]:
            search.expand(int(search.count[1]) + _CHUNK)
        return search.size

    def analysed() -> tuple[int, int]:
        found = Connected(world, tables, False)
        while found.expanded < found.size:
            found.expand(found.expanded + _CHUNK, None)
        turned = turned_around(found.ends[: found.expanded + 1], found.targets, found.size)
        won = (found.kinds[: found.size] == WON).astype(np.uint8)
        return found.size, int((nearest(*turned, won) < 0).sum())

    bare, states = least(forward)
    whole, (seen, dead) = least(analysed)
    agree("kitchen, with edges and without", seen, states)
    note = f"forward pass and dead ends ({dead:,}) beside the forward pass alone"
    yield Row("dead ends of the kitchen", whole / bare, "times", note)


def _beside(target: str, what: str, session: Session, world: Packed) -> Iterator[Row]:
    simulator, state = session.simulator(), session.state

    def interpreted() -> tuple[int, int | None]:
        return _told(Search(simulator, state, None, frontier=Breadth()).run(Limits()))

    def numbers() -> tuple[int, int | None]:
        return _told(PackedSearch(simulator, world, state).run(Limits()))

    slow, expected = least(interpreted)
    fast, found = least(numbers)
    agree(f"{target}, packed and interpreted", found, expected)
    note = f"{what}; {slow / fast:.0f} times faster than the interpreter"
    yield Row(f"packed {target}", found[0] / fast, "states/s", note)
    tables = Tables.of(world, to_goal=True) if available() else None
    if tables is None:
        return
    search = CompiledSearch(simulator, world, state, tables)
    agree(f"{target}, compiled and interpreted", _told(search.run(Limits()))[1], expected[1])
    most = 8 * tables.width + 4 + 1 + 2 * 4 / 0.7
    note = "at most, with parents, where the table has just grown"
    yield Row(f"compiled {target}", most, "B/state", note)


def _told(result: object) -> tuple[int, int | None]:
    """How many states were seen, and the length of the plan."""
    match result:
        case Found(steps=steps, states=states):
            return states, len(steps)
        case Exhausted(states=states):
            return states, None
    raise WrongResultError(f"a search came to {result}")
