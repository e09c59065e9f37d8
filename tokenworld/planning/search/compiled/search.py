"""Searches compiled by numba (extra `fast`): breadth first and A*.

`kernel` runs on the arrays of `tables`. Both searches give the answers of `packed.searches`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Generic

from tokenworld.ground import Simulator, StateT
from tokenworld.planning.search.compiled.tables import (
    FIRST_TABLE,
    SuccessorList,
    Tables,
    doubled,
    fitting,
    larger,
    reserved_rows,
    zeros,
)
from tokenworld.planning.search.interpreted import (
    Exhausted,
    Found,
    Resumable,
    SearchProgress,
    SearchResult,
    Watch,
    fewest_commands,
)
from tokenworld.planning.search.packed.searches import (
    FAR,
    STEP,
    Heuristic,
    Relaxed,
    plan_along,
    plan_found,
    weights_of,
)
from tokenworld.planning.search.packed.world import PLAYING, WON, Packed

_WORD = 64
_CHUNK = 1 << 14
"""States expanded between two checks of the limits."""


class StateRows:
    """States in rows, with their parents and kinds, and a hash table of their numbers.

    ``count`` holds the number of states and of expanded states; its other counts are
    defined by the kernel that expands them. ``rows`` names the arrays with a row for each state.
    """

    rows: tuple[str, ...] = ("states", "parents", "kinds")

    def __init__(
        self, tables: Tables, kind: int, count: Sequence[int], room: int, places: int
    ) -> None:
        import numpy as np

        self._tables, self._listing = tables, SuccessorList(tables)
        self.states = zeros(room, tables.width, dtype="uint64")
        self.parents, self.kinds = zeros(room, dtype="int32"), zeros(room, dtype="uint8")
        self._table: Any = np.zeros(places, np.uint32)
        self.count: Any = np.array(count, np.int64)
        self.states[0], self.parents[0], self.kinds[0] = tables.start[0], -1, kind
        self._rehash()

    @property
    def size(self) -> int:
        return int(self.count[0] - self.count[4])

    @property
    def expanded(self) -> int:
        return int(self.count[1])

    def memory(self) -> int:
        """The bytes that are in use: arrays are long before they are full."""
        rows = (getattr(self, name) for name in self.rows)
        each = sum(int(one.nbytes) // len(one) for one in rows)
        return int(self._table.nbytes) + int(self.count[0]) * each

    def depth(self) -> int:
        """The number of ticks to the state that is expanded next."""
        depth, node = -1, min(self.expanded, int(self.count[0]) - 1)
        while node >= 0:
            depth, node = depth + 1, int(self.parents[node])
        return depth

    def so_far(self) -> SearchProgress:
        waiting = int(self.count[0]) - self.expanded
        return SearchProgress(self.size, self.expanded, waiting, self.depth())

    @property
    def _fit(self) -> int:
        """For how many states there is room."""
        return min(fitting(self._table), *(len(getattr(self, name)) for name in self.rows))

    @property
    def _held(self) -> tuple[Any, Any, Any, Any]:
        """The arrays that every kernel reads first."""
        return self.states[: self._fit], self.parents, self.kinds, self._table

    def _make_room(self, stopped: int) -> None:
        """Make room where a kernel stopped for want of it."""
        from tokenworld.planning.search.compiled.kernel import CROWDED, FULL

        if stopped == FULL:
            self._grow()
        elif stopped == CROWDED:
            self._listing = self._listing.doubled(self._tables)

    def _grow(self) -> None:
        """More rows, or more places in the table."""
        if self._fit < fitting(self._table):
            self._double(*self.rows)
        else:
            places = len(self._table)
            self._table = None  # both tables at once would take too much
            self._table = larger(places)
            self._rehash()

    def _double(self, *names: str) -> None:
        for name in names:
            setattr(self, name, doubled(getattr(self, name)))

    def _rehash(self) -> None:
        from tokenworld.planning.search.compiled.kernel import rehash

        rehash(self.states, int(self.count[0]), self._table)


class CompiledBreadthFirst(StateRows, Resumable, Generic[StateT]):
    """Breadth-first search, compiled."""

    def __init__(
        self, simulator: Simulator[StateT], world: Packed, start: StateT, tables: Tables
    ) -> None:
        self._simulator, self._world, self._start = simulator, world, start
        won = world.ends(world.start) == WON and bool(tables.arrays[-1][1])
        count = (1, 0, 0, 0 if won else -1, 0)
        super().__init__(tables, int(won), count, reserved_rows(tables.width), FIRST_TABLE)

    def _answer(self) -> SearchResult | None:
        if self.count[3] < 0:
            done = self.count[1] == self.count[0]
            return Exhausted(self.size, self.expanded) if done else None
        way = way_to(int(self.count[3]), self.states, self.parents)
        steps = plan_along(self._simulator, self._world, self._start, way)
        fewest = fewest_commands(self._simulator)
        return Found(steps, len(steps), self.size, self.expanded, fewest)

    def _advance(self, watch: Watch) -> None:
        self.expand(self.expanded + _CHUNK)

    def expand(self, until: int) -> None:
        """Expand states up to the one of this number, as far as there is room, and make room."""
        from tokenworld.planning.search.compiled.kernel import expand

        arrays = self._listing.arrays, self._tables.arrays
        self._make_room(expand(*self._held, self.count, until, *arrays))

    @property
    def generated(self) -> int:
        """The number of states generated, duplicates included."""
        return int(self.count[2])


def way_to(node: int, states: Any, parents: Any) -> list[int]:
    """The states on the way to one of them, by their numbers."""
    found = list[int]()
    while node >= 0:
        found.append(joined(states[node]))
        node = int(parents[node])
    return found[::-1]


def joined(words: Sequence[Any]) -> int:
    """The number of a state."""
    return sum(int(word) << _WORD * place for place, word in enumerate(words))


_FIRST, _QUEUED = 1 << 14, 24
"""Rows of the first arrays, and the bytes of a state that waits."""
_MODES: dict[Heuristic, int] = {"blind": 0, "max": 1, "add": 2}
_CHUNKS: dict[Heuristic, int] = {"blind": 1 << 13, "max": 1 << 8, "add": 1 << 8}
"""So many states are expanded between two looks at the limits."""


class CompiledAStar(StateRows, Resumable, Generic[StateT]):
    """A* over packed states."""

    rows = ("states", "parents", "kinds", "_paid", "_ahead")

    def __init__(
        self,
        simulator: Simulator[StateT],
        world: Packed,
        start: StateT,
        tables: Tables,
        heuristic: Heuristic = "blind",
    ) -> None:
        import numpy as np

        self._simulator, self._world, self._start = simulator, world, start
        self._heuristic = heuristic
        relaxed = None if heuristic == "blind" else Relaxed.of(world)
        self._relaxed = _arrays(relaxed)
        self._weights: Any = np.array(weights_of(world), np.int64)
        self._paid: Any = np.zeros(_FIRST, np.int64)
        self._ahead: Any = np.zeros(_FIRST, np.int64)
        self._queue: Any = np.zeros((_FIRST, 3), np.int64)
        kind, ahead = world.ends(world.start), 0
        if kind == PLAYING and relaxed is not None:
            held = relaxed.holding(world, world.start)
            ahead = relaxed.value(held, add=heuristic == "add")
        self._ahead[0] = self._queue[0, 0] = self._queue[0, 1] = ahead
        hopeless = ahead >= FAR
        count = (1, 0, 0, -1, 0, int(not hopeless), int(hopeless))
        super().__init__(tables, kind, count, _FIRST, 2 * _FIRST)

    @property
    def hopeless(self) -> int:
        """The number of states pruned because nothing leads from them to the goal."""
        return int(self.count[6])

    def memory(self) -> int:
        return super().memory() + _QUEUED * int(self.count[5])

    def so_far(self) -> SearchProgress:
        waiting = int(self.count[5])
        depth = int(self._paid[self._queue[0, 2]]) % STEP if waiting else 0
        return SearchProgress(self.size, self.expanded, waiting, depth)

    def _answer(self) -> SearchResult | None:
        winner = int(self.count[3])
        if winner < 0:
            return None if self.count[5] > 0 else Exhausted(self.size, self.expanded)
        paid, counts = int(self._paid[winner]), (self.size, self.expanded)
        way = way_to(winner, self.states, self.parents)
        return plan_found(
            self._simulator, self._world, self._start, way, paid, counts, self._heuristic
        )

    def _advance(self, watch: Watch) -> None:
        from tokenworld.planning.search.compiled.kernel import advance

        stopped = advance(
            *(*self._held, self._paid, self._ahead, self._queue, self.count),
            _CHUNKS[self._heuristic],
            _MODES[self._heuristic],
            self._weights,
            self._listing.arrays,
            self._tables.arrays,
            self._relaxed,
        )
        self._make_room(stopped)

    def _grow(self) -> None:
        if int(self.count[5]) + len(self._listing.arrays[1]) > len(self._queue):
            self._double("_queue")
        else:
            super()._grow()


def _arrays(relaxed: Relaxed | None) -> tuple[Any, ...]:
    """The relaxed rules of a world as arrays, in the order in which `kernel` unpacks them."""
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
    """MemoTable one after the other, and where each begins."""
    import numpy as np

    ends = np.array([0, *accumulate(map(len, rows))], np.int32)
    return ends, np.array([one for row in rows for one in row], np.int32)
