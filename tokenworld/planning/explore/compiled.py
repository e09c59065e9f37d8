"""Packed worlds on the compiled explorer (extra `fast`): tables for `kernel`, a search on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from tokenworld.ground import Simulator, StateT
from tokenworld.planning.encodings.ir import Literal, Operator
from tokenworld.planning.explore.bits import Packing
from tokenworld.planning.explore.installed import available
from tokenworld.planning.explore.packed import WON, Packed
from tokenworld.planning.explore.room import (
    BATCH,
    FIRST_TABLE,
    doubled,
    fitting,
    larger,
    reserved_rows,
    zeros,
)
from tokenworld.planning.explore.search import Progress, plan_along
from tokenworld.planning.explore.sieve import sieve
from tokenworld.planning.search import (
    Cancel,
    Capped,
    Exhausted,
    Found,
    Limits,
    SearchProgress,
    SearchResult,
    Watch,
)

__all__ = ["CompiledSearch", "Listing", "Tables", "available", "joined", "way_to"]

_WORD = 64
_LISTED = 1 << 14
"""Room for what follows the states of one batch, and for states between phases."""
_CHUNK = 1 << 14
"""So many states are expanded between two looks at the limits."""


@dataclass(frozen=True, slots=True)
class Tables:
    """A packed world as arrays, in the order in which `kernel.expand_one` takes them."""

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
        return _Tabling(world, to_goal).made()


class _Tabling:
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
                *sieve(self._packing, [one.precondition for one in operators]),
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
        """Operators by the numbers of the doings that they stand for, then those of the phases: so
        the place of an operator is its number."""
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


class Listing:
    """Where what follows some states is listed: arrays in the order in which `stepping` takes them.

    States, the operators that lead to them, the states before; their places in the table and their
    numbers there; states between phases with their operators; nodes of the tree; where the list
    ends for each state of a batch; the places of states that are not known, and what states are.
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

    def doubled(self, tables: Tables) -> Listing:
        """One with twice the room, for states that are followed by more."""
        return Listing(tables, 2 * len(self.arrays[1]))


class CompiledSearch(Generic[StateT]):
    """Breadth first on the compiled explorer. It goes on where it stopped when it is run again."""

    def __init__(
        self, simulator: Simulator[StateT], world: Packed, start: StateT, tables: Tables
    ) -> None:
        import numpy as np

        self._np, self._simulator, self._world, self._start = np, simulator, world, start
        self._tables, self._listing = tables, Listing(tables)
        rows = reserved_rows(tables.width)
        self.states = zeros(rows, tables.width, dtype="uint64")
        self.parents, self.kinds = zeros(rows, dtype="int32"), zeros(rows, dtype="uint8")
        self._table: Any = np.zeros(FIRST_TABLE, np.uint32)
        self.count: Any = np.array([1, 0, 0, -1, 0], np.int64)
        self.states[0], self.parents[0] = tables.start[0], -1
        won = world.ends(world.start) == WON and bool(tables.arrays[-1][1])
        self.kinds[0], self.count[3] = int(won), 0 if won else -1
        self._filed()

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
        from tokenworld.planning.explore.kernel import CROWDED, FULL, expand

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
            self._filed()

    def _filed(self) -> None:
        from tokenworld.planning.explore.kernel import rehash

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
