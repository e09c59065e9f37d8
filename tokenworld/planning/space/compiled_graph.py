"""The graph of a packed world on the compiled explorer (extra `fast`): the same graph, sooner.

It is for worlds in which a command has one outcome; luck is told apart in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokenworld.ground import StateT
from tokenworld.planning.explore.compiled import Listing, Tables, available, joined
from tokenworld.planning.explore.packed import BROKEN, LOST, WON, Packed
from tokenworld.planning.explore.room import (
    FIRST_TABLE,
    doubled,
    fitting,
    larger,
    reserved_rows,
    zeros,
)
from tokenworld.planning.search import Cancel, Limits, SearchProgress, Watch
from tokenworld.planning.space.packed_graph import Build, Luck, PackedGraph, bytes_held

__all__ = ["compiled_tables", "explore_compiled"]

_CHUNK = 1 << 14
"""So many nodes are expanded between two looks at the limits."""


def compiled_tables(world: Packed) -> Tables | None:
    """The tables of a world that can be explored here; ``None`` for any other."""
    broken = any(kind == BROKEN and ways for kind, ways in world.ways)
    if not available() or not world.simple or broken:
        return None
    return Tables.of(world, to_goal=True)


def explore_compiled(
    world: Packed,
    tables: Tables,
    build: Build[StateT],
    luck: Luck[StateT],
    goal: str | None,
    limits: Limits,
    *,
    past_goal: bool = False,
    progress: Callable[[SearchProgress], None] | None = None,
    cancel: Cancel | None = None,
) -> PackedGraph[StateT]:
    """What `packed_graph.explore_packed` finds."""
    graph = PackedGraph(goal, world, build, luck)
    arrays = Connected(world, tables, past_goal)
    watch = Watch(limits, cancel)
    while arrays.expanded < arrays.size:
        memory = bytes_held(arrays.size, arrays.edges)
        if (hit := watch.stop(arrays.size, memory)) is not None:
            graph.limit, graph.reason = hit
            break
        if progress is not None and watch.due():
            waiting = arrays.size - arrays.expanded
            progress(SearchProgress(arrays.size, arrays.expanded, waiting, arrays.depth()))
        arrays.expand(arrays.expanded + _CHUNK, limits.states)
    arrays.fill(graph)
    return graph


class Connected:
    """All states with their edges, as arrays that grow."""

    def __init__(self, world: Packed, tables: Tables, past_goal: bool) -> None:
        import numpy as np

        self._np, self._world, self._tables, self._past_goal = np, world, tables, past_goal
        self._listing = Listing(tables)
        rows = reserved_rows(tables.width)
        self.states = zeros(rows, tables.width, dtype="uint64")
        self.parents, self.kinds = zeros(rows, dtype="int32"), zeros(rows, dtype="uint8")
        self.ends = zeros(rows + 1, dtype="int64")
        step = "uint16" if len(world.commands) < 1 << 16 else "uint32"
        self.steps, self.targets = zeros(rows, dtype=step), zeros(rows, dtype="uint32")
        self._table: Any = np.zeros(FIRST_TABLE, np.uint32)
        self.count: Any = np.array([1, 0, 0], np.int64)
        self.states[0], self.parents[0] = tables.start[0], -1
        self.kinds[0] = world.ends(world.start)
        self._filed()

    @property
    def size(self) -> int:
        """How many states were seen."""
        return int(self.count[0])

    @property
    def expanded(self) -> int:
        return int(self.count[1])

    @property
    def edges(self) -> int:
        return int(self.count[2])

    def expand(self, until: int, most: int | None) -> None:
        """Expand nodes up to this number, none once there are ``most`` of them."""
        from tokenworld.planning.explore.kernel import CROWDED, FULL, connect

        found = connect(
            *(self.states[: self._fit()], self.parents, self.kinds, self._table, self.count),
            until,
            1 << 62 if most is None else most,
            self._past_goal,
            *(self.ends, self.steps, self.targets),
            self._listing.arrays,
            self._tables.arrays,
        )
        if found == FULL:
            self._grow()
        elif found == CROWDED:
            self._listing = self._listing.doubled(self._tables)

    def depth(self) -> int:
        """How many moves lead to the node that is next."""
        depth, node = -1, min(self.expanded, self.size - 1)
        while node >= 0:
            depth, node = depth + 1, int(self.parents[node])
        return depth

    def _fit(self) -> int:
        """For how many states there is room."""
        rows = (self.states, self.parents, self.kinds, self.ends[1:])
        return min(fitting(self._table), *map(len, rows))

    def _grow(self) -> None:
        """More room where it is short: rows of edges, rows of states, or places in the table."""
        room = min(len(self.steps), len(self.targets))
        if self.edges + len(self._listing.arrays[1]) > room:
            names: tuple[str, ...] = ("steps", "targets")
        elif self._fit() < fitting(self._table):
            names = ("states", "parents", "kinds", "ends")
        else:
            places, names = len(self._table), ()
            self._table = None  # both tables at once would take too much
            self._table = larger(places)
            self._filed()
        for name in names:
            setattr(self, name, doubled(getattr(self, name)))

    def _filed(self) -> None:
        from tokenworld.planning.explore.kernel import rehash

        rehash(self.states, self.size, self._table)

    def fill(self, graph: PackedGraph[StateT]) -> None:
        """Put everything into a graph that is empty."""
        from tokenworld.planning.space.kernel_back import measured

        size, expanded, edges, world = self.size, self.expanded, self.edges, self._world
        states, kinds = self.states[:size], self.kinds[:size]
        graph.keys += states[:, 0].tolist() if states.shape[1] == 1 else map(joined, states)
        graph.won += (kinds == WON).tobytes()
        graph.lost += (kinds == LOST).tobytes()
        free = self._np.zeros(len(world.commands) + 1, self._np.uint8)
        free[list(world.free)] = 1
        rows = self.ends[: expanded + 1], self.steps, self.targets
        places, depth, ticks = measured(size, *rows, free)
        graph.depth.frombytes(depth.tobytes())
        if world.free:
            graph.ticks.frombytes(ticks.tobytes())
        graph.parents.frombytes(self.parents[:size].astype("q").tobytes())
        _fill(graph.places, places)
        _fill(graph.arrows.steps, self.steps[:edges])
        _fill(graph.arrows.targets, self.targets[:edges])
        _fill(graph.arrows.ends, self.ends[1 : expanded + 1])
        graph.edges, graph.expanded = edges, expanded


def _fill(target: Any, numbers: Any) -> None:
    """Put numbers at the end of an `array`."""
    target.frombytes(numbers.astype(target.typecode).tobytes())
