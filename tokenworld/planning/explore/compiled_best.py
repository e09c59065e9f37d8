"""A* on the compiled explorer (extra `fast`): the answers of `best.PackedBest`, sooner."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Generic

from tokenworld.ground import Simulator, StateT
from tokenworld.planning.explore.best import found_along
from tokenworld.planning.explore.compiled import Listing, Tables, way_to
from tokenworld.planning.explore.heuristics import FAR, STEP, Heuristic, Relaxed, weights_of
from tokenworld.planning.explore.packed import PLAYING, Packed
from tokenworld.planning.explore.search import Progress
from tokenworld.planning.search import (
    Cancel,
    Capped,
    Exhausted,
    Limits,
    SearchProgress,
    SearchResult,
    Watch,
)

__all__ = ["CompiledBest"]

_FIRST = 1 << 14
_MODES: dict[Heuristic, int] = {"blind": 0, "max": 1, "add": 2}
_CHUNKS: dict[Heuristic, int] = {"blind": 1 << 13, "max": 1 << 8, "add": 1 << 8}
"""So many states are expanded between two looks at the limits."""


class CompiledBest(Generic[StateT]):
    """A* over packed states. It goes on where it stopped when it is run again."""

    def __init__(
        self,
        simulator: Simulator[StateT],
        world: Packed,
        start: StateT,
        tables: Tables,
        heuristic: Heuristic = "blind",
    ) -> None:
        import numpy as np

        self._np, self._simulator, self._world, self._start = np, simulator, world, start
        self._heuristic, self._tables, self._listing = heuristic, tables, Listing(tables)
        relaxed = None if heuristic == "blind" else Relaxed.of(world)
        self._relaxed = _arrays(relaxed)
        self._weights: Any = np.array(weights_of(world), np.int64)
        self.states: Any = np.zeros((_FIRST, tables.width), np.uint64)
        self._parents: Any = np.zeros(_FIRST, np.int32)
        self._kinds: Any = np.zeros(_FIRST, np.uint8)
        self._paid: Any = np.zeros(_FIRST, np.int64)
        self._ahead: Any = np.zeros(_FIRST, np.int64)
        self._queue: Any = np.zeros((_FIRST, 3), np.int64)
        self._table: Any = np.zeros(2 * _FIRST, np.uint32)
        self.count: Any = np.array([1, 0, 0, -1, 0, 1, 0], np.int64)
        self._begin(relaxed)

    def _begin(self, relaxed: Relaxed | None) -> None:
        """The start waits, unless the goal is out of reach from it."""
        world, tables = self._world, self._tables
        self.states[0], self._parents[0] = tables.start[0], -1
        what = self._kinds[0] = world.ends(world.start)
        ahead = 0
        if what == PLAYING and relaxed is not None:
            held = relaxed.holding(world, world.start)
            ahead = relaxed.value(held, add=self._heuristic == "add")
        if ahead >= FAR:
            self.count[5], self.count[6] = 0, 1
        self._ahead[0] = self._queue[0, 0] = self._queue[0, 1] = ahead
        self._filed()

    def run(
        self, limits: Limits, *, progress: Progress = None, cancel: Cancel | None = None
    ) -> SearchResult:
        """Search until there is an answer or a limit is hit."""
        watch, count, chunk = Watch(limits, cancel), self.count, _CHUNKS[self._heuristic]
        while count[3] < 0 and count[5] > 0:
            if (hit := watch.stop(self.size, self.memory())) is not None:
                return Capped(*hit, self.size, int(count[1]))
            if progress is not None and watch.due():
                progress(self.so_far())
            self._advance(chunk)
        if count[3] < 0:
            return Exhausted(self.size, int(count[1]))
        paid, counts = int(self._paid[count[3]]), (self.size, int(count[1]))
        way = way_to(int(self.count[3]), self.states, self._parents)
        return found_along(
            self._simulator, self._world, self._start, way, paid, counts, self._heuristic
        )

    @property
    def size(self) -> int:
        """How many states were seen."""
        return int(self.count[0] - self.count[4])

    @property
    def hopeless(self) -> int:
        """How many states were not followed, for nothing leads from them to the goal."""
        return int(self.count[6])

    def memory(self) -> int:
        """The bytes that are in use."""
        used, waiting = int(self.count[0]), int(self.count[5])
        rows = (self.states, self._parents, self._kinds, self._paid, self._ahead)
        held = used * sum(int(one.nbytes) // len(one) for one in rows)
        return int(self._table.nbytes) + held + 24 * waiting

    def so_far(self) -> SearchProgress:
        """How far it has come."""
        waiting = int(self.count[5])
        depth = int(self._paid[self._queue[0, 2]]) % STEP if waiting else 0
        return SearchProgress(self.size, int(self.count[1]), waiting, depth)

    def _advance(self, times: int) -> None:
        from tokenworld.planning.explore.kernel import CROWDED, FULL
        from tokenworld.planning.explore.kernel_best import advance

        held = self.states, self._parents, self._kinds, self._table, self._paid, self._ahead
        found = advance(
            *held,
            self._queue,
            self.count,
            times,
            _MODES[self._heuristic],
            self._weights,
            self._listing.arrays,
            self._tables.arrays,
            self._relaxed,
        )
        if found == FULL:
            self._grow()
        elif found == CROWDED:
            self._listing = self._listing.doubled(self._tables)

    def _grow(self) -> None:
        """Twice the room."""
        np = self._np
        room = 2 * len(self._parents)
        for name in ("states", "_parents", "_kinds", "_paid", "_ahead", "_queue"):
            old = getattr(self, name)
            new = np.zeros((2 * len(old), *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)
        self._table = np.zeros(2 * room, np.uint32)
        self._filed()

    def _filed(self) -> None:
        from tokenworld.planning.explore.kernel import rehash

        rehash(self.states, int(self.count[0]), self._table)


def _arrays(relaxed: Relaxed | None) -> tuple[Any, ...]:
    """The rules of a world in which nothing is undone, in the order of `kernel_best`."""
    import numpy as np

    if relaxed is None:
        relaxed = Relaxed(2, (), 0, 1, (), (), (), ((), ()))
    most = sum(map(len, relaxed.gives)) + len(relaxed.firsts) + 2
    gives_at, gives = _rows(relaxed.gives)
    uses_at, uses = _rows(relaxed.uses)
    return (
        np.array(relaxed.firsts, np.int64),
        np.array([relaxed.always, relaxed.goal], np.int64),
        np.array([len(one) for one in relaxed.needs], np.int32),
        np.array(relaxed.weights, np.int64),
        gives_at,
        gives,
        uses_at,
        uses,
        np.zeros(relaxed.facts, np.int64),
        np.zeros(len(relaxed.needs), np.int32),
        np.zeros(len(relaxed.needs), np.int64),
        np.zeros((most, 2), np.int64),
    )


def _rows(rows: Sequence[Sequence[int]]) -> tuple[Any, Any]:
    """Rows one after the other, and where each begins."""
    import numpy as np

    ends = np.array([0, *accumulate(map(len, rows))], np.int32)
    return ends, np.array([one for row in rows for one in row], np.int32)
