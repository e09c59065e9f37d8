"""Packed worlds on the compiled explorer (extra `fast`): tables for `kernel`, a search on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Generic

from tokenworld.ground import Simulator, StateT
from tokenworld.planning.encodings.ir import Literal
from tokenworld.planning.explore.bits import Packing
from tokenworld.planning.explore.packed import WON, Packed
from tokenworld.planning.explore.search import Progress, plan_along
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

__all__ = ["CompiledSearch", "Tables", "available"]

_WORD = 64
_FIRST = 1 << 14
_CHUNK = 1 << 14
"""So many states are expanded between two looks at the limits."""


def available() -> bool:
    """Whether what compiles is installed."""
    return all(find_spec(name) is not None for name in ("numpy", "numba"))


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
        self._code, self._tree = [0], [0]

    def made(self) -> Tables:
        np, world = self._np, self._world
        operators = world.fused.task.operators
        self._node([(self._wanted(one.precondition), n) for n, one in enumerate(operators)])
        steps = [self._packing.step(one) for one in operators]
        ranges, effects, changes = list[tuple[int, int]](), list[tuple[int, int]](), list[Any]()
        for operator in operators:
            first = len(effects)
            for effect in operator.effects:
                if effect.conditions:
                    effects.append(self._ranged(effect.conditions))
                    changes.append(self._pair(*self._packing.change([effect])))
            ranges.append((first, len(effects)))
        ends = [
            (kind, *self._ranged(way))
            for kind, ways in (world.ways if self._to_goal else ())
            for way in ways
        ]
        bits = [self._pair(step.keep, step.put) for step in steps]
        lay = [
            (shift // _WORD, shift % _WORD, mask >> shift)
            for shift, mask in zip(self._packing.shifts, self._packing.masks, strict=True)
        ]
        token = self._packing.masks[world.token]
        words = (len(bits), 2, self._width), (len(changes), 2, self._width)
        return Tables(
            self._width,
            np.array([self._words(world.start)], np.uint64),
            (
                np.array(self._code, np.int32),
                np.array(self._tree, np.int32),
                np.array(ranges, np.int32).reshape(-1, 2),
                np.array(bits, np.uint64).reshape(words[0]),
                np.array(effects, np.int32).reshape(-1, 2),
                np.array(changes, np.uint64).reshape(words[1]),
                np.array(self._tests, np.int32).reshape(-1, 2),
                np.array(self._allow, np.uint8),
                np.array(lay, np.uint64),
                np.array(ends, np.int32).reshape(-1, 3),
                np.array([token, int(self._to_goal)], np.uint64),
            ),
        )

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

    # ---- the tree ---------------------------------------------------------------------------

    def _wanted(self, literals: Iterable[Literal]) -> tuple[Literal, ...]:
        sizes = self._packing.sizes
        return tuple(one for one in literals if len(one[1]) < sizes[one[0]])

    def _node(self, items: list[tuple[tuple[Literal, ...], int]]) -> int:
        """A node: the operators that apply, then what else to look at."""
        ready = [number for wanted, number in items if not wanted]
        items = [item for item in items if item[0]]
        switches: list[tuple[int, list[tuple[tuple[Literal, ...], int]]]] = []
        while items:
            asked: dict[int, int] = {}
            for wanted, _ in items:
                for variable, _ in wanted:
                    asked[variable] = asked.get(variable, 0) + 1
            sizes = self._packing.sizes
            best = max(asked, key=lambda one: (asked[one] * (sizes[one] - 1) / sizes[one], -one))
            switches.append((best, [i for i in items if any(v == best for v, _ in i[0])]))
            items = [i for i in items if all(v != best for v, _ in i[0])]
        at = len(self._code)
        self._code += [len(ready), *ready, len(switches), *([0] * (2 * len(switches)))]
        for place, (variable, found) in enumerate(switches):
            spot = at + 2 + len(ready) + 2 * place
            self._code[spot] = variable
            self._code[spot + 1] = self._switch(variable, found)
        return at

    def _switch(self, variable: int, items: list[tuple[tuple[Literal, ...], int]]) -> int:
        """A table of nodes by the value of a variable."""
        size = self._packing.sizes[variable]
        at = len(self._tree)
        self._tree += [0] * size
        made: dict[tuple[int, ...], int] = {}
        for value in range(size):
            kept = [
                (tuple(one for one in wanted if one[0] != variable), number)
                for wanted, number in items
                if value in dict(wanted)[variable]
            ]
            if kept:
                key = tuple(number for _, number in kept)
                if key not in made:
                    made[key] = self._node(kept)
                self._tree[at + value] = made[key]
        return at


class CompiledSearch(Generic[StateT]):
    """Breadth first on the compiled explorer. It goes on where it stopped when it is run again."""

    def __init__(
        self, simulator: Simulator[StateT], world: Packed, start: StateT, tables: Tables
    ) -> None:
        import numpy as np

        self._np, self._simulator, self._world, self._start = np, simulator, world, start
        self._tables = tables
        self.states: Any = np.zeros((_FIRST, tables.width), np.uint64)
        self.parents: Any = np.zeros(_FIRST, np.int32)
        self.kinds: Any = np.zeros(_FIRST, np.uint8)
        self._table: Any = np.zeros(2 * _FIRST, np.int32)
        self.count: Any = np.array([1, 0, 0, -1, 0], np.int64)
        self.states[0], self.parents[0] = tables.start[0], -1
        won = world.ends(world.start) == WON and bool(tables.arrays[-1][1])
        self.kinds[0], self.count[3] = int(won), 0 if won else -1
        self._filed()

    def run(
        self, limits: Limits, *, progress: Progress = None, cancel: Cancel | None = None
    ) -> SearchResult:
        """Search until there is an answer or a limit is hit."""
        from tokenworld.planning.explore.kernel import FULL, expand_many, expand_one

        expand = expand_one if self._tables.width == 1 else expand_many
        watch = Watch(limits, cancel)
        count = self.count
        while count[3] < 0 and count[1] < count[0]:
            if (hit := watch.stop(self.size, self.memory())) is not None:
                return Capped(*hit, self.size, int(count[1]))
            if progress is not None and watch.due():
                progress(self.so_far())
            held = self.states, self.parents, self.kinds, self._table, count
            until = int(count[1]) + _CHUNK
            if expand(*held, until, *self._tables.arrays) == FULL:
                self._grow()
        if count[3] < 0:
            return Exhausted(self.size, int(count[1]))
        steps = plan_along(self._simulator, self._world, self._start, self._trail())
        return Found(steps, len(steps), self.size, int(count[1]), "ticks")

    @property
    def size(self) -> int:
        """How many states were seen."""
        return int(self.count[0] - self.count[4])

    @property
    def generated(self) -> int:
        """How many states were made, those that were known included."""
        return int(self.count[2])

    def memory(self) -> int:
        """The bytes of all arrays."""
        held = (self.states, self.parents, self.kinds, self._table)
        return sum(int(one.nbytes) for one in held)

    def so_far(self) -> SearchProgress:
        """How far it has come."""
        expanded = int(self.count[1])
        return SearchProgress(self.size, expanded, int(self.count[0]) - expanded, 0)

    def _grow(self) -> None:
        """Twice the room."""
        np = self._np
        room = 2 * len(self.parents)
        for name in ("states", "parents", "kinds"):
            old = getattr(self, name)
            new = np.zeros((room, *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)
        self._table = np.zeros(2 * room, np.int32)
        self._filed()

    def _filed(self) -> None:
        from tokenworld.planning.explore.kernel import rehash

        rehash(self.states, int(self.count[0]), self._table)

    def _trail(self) -> list[int]:
        """The states on the way to the goal."""
        node, found = int(self.count[3]), list[int]()
        while node >= 0:
            found.append(_joined(self.states[node]))
            node = int(self.parents[node])
        return found[::-1]


def _joined(words: Sequence[Any]) -> int:
    return sum(int(word) << _WORD * place for place, word in enumerate(words))
