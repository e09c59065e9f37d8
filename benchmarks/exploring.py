"""Packed states beside the interpreter: the same states first, then how many times faster."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.cases import agree
from benchmarks.measure import Row, WrongResultError, least
from tokenworld.assets import domains_folder
from tokenworld.planning import Exhausted, Found, Limits
from tokenworld.planning.explore.compiled import CompiledSearch, Tables, available
from tokenworld.planning.explore.packed import Packed
from tokenworld.planning.explore.search import PackedSearch
from tokenworld.planning.explore.whole import packed
from tokenworld.planning.frontier import Breadth
from tokenworld.planning.search import Search
from tokenworld.session import Session

__all__ = ["exploring"]

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
    held = 8 * tables.width + 4 + 1 + 8
    yield Row(f"compiled {target}", held, "B/state", "with parents and the table, arrays full")


def _told(result: object) -> tuple[int, int | None]:
    """How many states were seen, and the length of the plan."""
    match result:
        case Found(steps=steps, states=states):
            return states, len(steps)
        case Exhausted(states=states):
            return states, None
    raise WrongResultError(f"a search came to {result}")
