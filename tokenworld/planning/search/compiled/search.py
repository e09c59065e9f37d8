"""Searches compiled by numba (extra `fast`): breadth first and A*, and the arrays that they read.

`Tables` are the arrays of a packed world; `kernel` and `kernel_astar` run on them. Both searches
give the answers of `packed.breadth_first` and `packed.astar`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Generic

from tokenworld.ground import Simulator, StateT
from tokenworld.planning.encodings.ir import Literal, Operator
from tokenworld.planning.search.compiled import available
from tokenworld.planning.search.compiled.masks import applicability_masks
from tokenworld.planning.search.compiled.memory import (
    BATCH,
    FIRST_TABLE,
    doubled,
    fitting,
    larger,
    reserved_rows,
    zeros,
)
from tokenworld.planning.search.interpreted import (
    Cancel,
    Capped,
    Exhausted,
    Found,
    Limits,
    SearchProgress,
    SearchResult,
    Watch,
)
from tokenworld.planning.search.packed.astar import plan_found
from tokenworld.planning.search.packed.bits import Packing
from tokenworld.planning.search.packed.breadth_first import Progress, plan_along
from tokenworld.planning.search.packed.heuristics import FAR, STEP, Heuristic, Relaxed, weights_of
from tokenworld.planning.search.packed.world import PLAYING, WON, Packed

__all__ = [
    "CompiledAStar",
    "CompiledBreadthFirst",
    "SuccessorList",
    "Tables",
    "available",
    "joined",
    "way_to",
]

_WORD = 64
_LISTED = 1 << 14
"""Rows for the successors of one batch, and for states between phases."""
_CHUNK = 1 << 14
"""States expanded between two checks of the limits."""


@dataclass(frozen=True, slots=True)
class Tables:
    """A packed world as arrays, in the order in which `kernel.follow_one` unpacks them."""

    width: int
    start: Any
    arrays: tuple[Any, ...]

    @staticmethod
    def of(world: Packed, *, to_goal: bool) -> Tables | None:
        """The tables of a world; ``None`` where what was destroyed must be cleared.

        ``to_goal``: play ends at the ends of the world, and the search at the first goal.
        """
        if world.living:
            return None
        return _TableBuilder(world, to_goal).made()


class _TableBuilder:
    def __init__(self, world: Packed, to_goal: bool) -> None:
        import numpy as np

        self._np, self._world, self._to_goal = np, world, to_goal
        self._packing: Packing = world.packing
        self._width = max(1, -(-self._packing.width // _WORD))
        self._tests: list[tuple[int, int]] = []
        self._allow: list[int] = []
        self._known: dict[tuple[int, tuple[int, ...]], int] = {}

    def made(self) -> Tables:
        np, world = self._np, self._world
        operators = self._operators()
        steps = [self._packing.step(one) for one in operators]
        ranges, effects, changes = list[tuple[int, int]](), list[tuple[int, int]](), list[Any]()
        for operator in operators:
            first = len(effects)
            for effect in operator.effects:
                if effect.conditions:
                    effects.append(self._ranged(effect.conditions))
                    changes.append(self._pair(*self._packing.change([effect])))
            ranges.append((first, len(effects)))
        ways = [(k, way) for k, every in world.ways if self._to_goal for way in every]
        ends = [(kind, *self._ranged(one for one in way if len(one[1]) != 1)) for kind, way in ways]
        sure = [self._packing.test([one for one in way if len(one[1]) == 1]) for _, way in ways]
        aims = [[self._words(one.care), self._words(one.want)] for one in sure]
        bits = [self._pair(step.keep, step.put) for step in steps]
        lay = [
            (shift // _WORD, shift % _WORD, mask >> shift)
            for shift, mask in zip(self._packing.shifts, self._packing.masks, strict=True)
        ]
        token = self._packing.masks[world.token]
        words = [(len(rows), 2, self._width) for rows in (bits, changes, aims)]
        return Tables(
            self._width,
            np.array([self._words(world.start)], np.uint64),
            (
                *applicability_masks(self._packing, [one.precondition for one in operators]),
                np.array(ranges, np.int32).reshape(-1, 2),
                np.array(bits, np.uint64).reshape(words[0]),
                np.array(effects, np.int32).reshape(-1, 2),
                np.array(changes, np.uint64).reshape(words[1]),
                np.array(self._tests, np.int32).reshape(-1, 2),
                np.array(self._allow, np.uint8),
                np.array(lay, np.uint64),
                np.array(ends, np.int32).reshape(-1, 3),
                np.array(aims, np.uint64).reshape(words[2]),
                np.array([token, int(self._to_goal)], np.uint64),
            ),
        )

    def _operators(self) -> list[Operator]:
        """Operators of commands by their numbers, then those of the phases."""
        operators, numbers = self._world.fused.task.operators, self._world.numbers
        pairs = zip(numbers, operators, strict=True)
        return [one for _, one in sorted(pairs, key=lambda pair: (pair[0] < 0, pair[0]))]

    # ---- bits -------------------------------------------------------------------------------

    def _words(self, state: int) -> list[int]:
        return [state >> _WORD * word & (1 << _WORD) - 1 for word in range(self._width)]

    def _pair(self, keep: int, put: int) -> list[list[int]]:
        return [self._words(keep & (1 << _WORD * self._width) - 1), self._words(put)]

    def _ranged(self, literals: Iterable[Literal]) -> tuple[int, int]:
        """The tests of some literals, by the first and the one after the last."""
        first = len(self._tests)
        for variable, positions in literals:
            self._tests.append((variable, self._allowed(variable, positions)))
        return first, len(self._tests)

    def _allowed(self, variable: int, positions: tuple[int, ...]) -> int:
        """Where the table that says which values are allowed begins."""
        key = self._packing.sizes[variable], positions
        if key not in self._known:
            self._known[key] = len(self._allow)
            self._allow += [int(value in positions) for value in range(key[0])]
        return self._known[key]


class SuccessorList:
    """The successors of one batch: arrays in the order in which `kernel` unpacks them.

    States, the operators that lead to them, their parents; their places in the hash table and their
    numbers there; states between phases with their operators; nodes of the decision tree; the end
    of the list for each state of the batch; the places of new states, and the kinds of states.
    """

    def __init__(self, tables: Tables, room: int = _LISTED) -> None:
        import numpy as np

        width, nodes = tables.width, len(tables.arrays[0])
        self.arrays: tuple[Any, ...] = (
            np.zeros((room, width), np.uint64),
            np.zeros(room, np.int32),
            np.zeros(room, np.int32),
            np.zeros(room, np.uint64),
            np.zeros(room, np.uint32),
            np.zeros((room, width), np.uint64),
            np.zeros(room, np.int32),
            np.zeros(nodes, np.int64),
            np.zeros(BATCH, np.int64),
            np.zeros(room, np.uint32),
            np.zeros(room, np.uint8),
        )

    def doubled(self, tables: Tables) -> SuccessorList:
        """A list with twice the rows, for states with more successors."""
        return SuccessorList(tables, 2 * len(self.arrays[1]))


class CompiledBreadthFirst(Generic[StateT]):
    """Breadth-first search, compiled. It goes on where it stopped when it is run again."""

    def __init__(
        self, simulator: Simulator[StateT], world: Packed, start: StateT, tables: Tables
    ) -> None:
        import numpy as np

        self._np, self._simulator, self._world, self._start = np, simulator, world, start
        self._tables, self._listing = tables, SuccessorList(tables)
        rows = reserved_rows(tables.width)
        self.states = zeros(rows, tables.width, dtype="uint64")
        self.parents, self.kinds = zeros(rows, dtype="int32"), zeros(rows, dtype="uint8")
        self._table: Any = np.zeros(FIRST_TABLE, np.uint32)
        self.count: Any = np.array([1, 0, 0, -1, 0], np.int64)
        self.states[0], self.parents[0] = tables.start[0], -1
        won = world.ends(world.start) == WON and bool(tables.arrays[-1][1])
        self.kinds[0], self.count[3] = int(won), 0 if won else -1
        self._rehash()

    def run(
        self, limits: Limits, *, progress: Progress = None, cancel: Cancel | None = None
    ) -> SearchResult:
        """Search until there is an answer or a limit is hit."""
        watch, count = Watch(limits, cancel), self.count
        while count[3] < 0 and count[1] < count[0]:
            if (hit := watch.stop(self.size, self.memory())) is not None:
                return Capped(*hit, self.size, int(count[1]))
            if progress is not None and watch.due():
                progress(self.so_far())
            self.expand(int(count[1]) + _CHUNK)
        if count[3] < 0:
            return Exhausted(self.size, int(count[1]))
        way = way_to(int(self.count[3]), self.states, self.parents)
        steps = plan_along(self._simulator, self._world, self._start, way)
        return Found(steps, len(steps), self.size, int(count[1]), "ticks")

    def expand(self, until: int) -> None:
        """Expand states up to the one of this number, as far as there is room, and make room."""
        from tokenworld.planning.search.compiled.kernel import CROWDED, FULL, expand

        fit = self.states[: fitting(self._table)]
        held = fit, self.parents, self.kinds, self._table, self.count
        found = expand(*held, until, self._listing.arrays, self._tables.arrays)
        if found == FULL:
            self._grow()
        elif found == CROWDED:
            self._listing = self._listing.doubled(self._tables)

    @property
    def size(self) -> int:
        """How many states were seen."""
        return int(self.count[0] - self.count[4])

    @property
    def generated(self) -> int:
        """How many states were made, those that were known included."""
        return int(self.count[2])

    def memory(self) -> int:
        """The bytes that are in use: arrays are long before they are full."""
        used = int(self.count[0])
        rows = (self.states, self.parents, self.kinds)
        return int(self._table.nbytes) + used * sum(int(one.nbytes) // len(one) for one in rows)

    def so_far(self) -> SearchProgress:
        """How far it has come."""
        expanded = int(self.count[1])
        depth, node = -1, min(expanded, int(self.count[0]) - 1)
        while node >= 0:
            depth, node = depth + 1, int(self.parents[node])
        return SearchProgress(self.size, expanded, int(self.count[0]) - expanded, depth)

    def _grow(self) -> None:
        """More room: rows, or places in the table."""
        rows = min(len(self.states), len(self.parents), len(self.kinds))
        if fitting(self._table) >= rows:
            for name in ("states", "parents", "kinds"):
                setattr(self, name, doubled(getattr(self, name)))
        else:
            places = len(self._table)
            self._table = None  # both tables at once would take too much
            self._table = larger(places)
            self._rehash()

    def _rehash(self) -> None:
        from tokenworld.planning.search.compiled.kernel import rehash

        rehash(self.states, int(self.count[0]), self._table)


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


_FIRST = 1 << 14
_MODES: dict[Heuristic, int] = {"blind": 0, "max": 1, "add": 2}
_CHUNKS: dict[Heuristic, int] = {"blind": 1 << 13, "max": 1 << 8, "add": 1 << 8}
"""So many states are expanded between two looks at the limits."""


class CompiledAStar(Generic[StateT]):
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
        self._heuristic, self._tables, self._listing = heuristic, tables, SuccessorList(tables)
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
        self._rehash()

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
        return plan_found(
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
        from tokenworld.planning.search.compiled.kernel import CROWDED, FULL
        from tokenworld.planning.search.compiled.kernel_astar import advance

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
        self._rehash()

    def _rehash(self) -> None:
        from tokenworld.planning.search.compiled.kernel import rehash

        rehash(self.states, int(self.count[0]), self._table)


def _arrays(relaxed: Relaxed | None) -> tuple[Any, ...]:
    """The relaxed rules of a world as arrays, in the order in which `kernel_astar` unpacks them."""
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
