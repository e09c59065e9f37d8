"""Arrays for `kernel`: reserved rows for states, a hash table that grows, applicability tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tokenworld.planning.search.packed.successors import Packing
from tokenworld.planning.search.packed.world import Packed
from tokenworld.planning.task import Literal, Operator

# ---- Memory -------------------------------------------------------------------------------------
# Rows are allocated all at once: the system backs only those that are written, and none is ever
# copied. Where the system does not overcommit memory there are fewer rows, and they are doubled.

BATCH = 512
"""Successors listed, or a few more, before they are looked up in the hash table."""
FIRST_TABLE = 1 << 19
"""Places of the first hash table."""
_QUICK = 1 << 21
"""Tables with fewer places grow fourfold."""
_BYTES = 1 << 28
"""Bytes reserved for states: some 33 million states of one word."""
_FEWEST_ROWS = 1 << 18


def reserved_rows(width: int) -> int:
    """The number of rows to reserve for states of ``width`` words."""
    return max(_BYTES // (8 * width), _FEWEST_ROWS)


def zeros(rows: int, *shape: int, dtype: str) -> Any:
    """An array of zeros with so many rows, or as many as the system grants."""
    import numpy as np

    while True:
        try:
            return np.zeros((rows, *shape), dtype)
        except MemoryError:
            if rows <= _FEWEST_ROWS:
                raise
            rows = max(rows // 2, _FEWEST_ROWS)


def doubled(array: Any) -> Any:
    """An array with twice the rows."""
    import numpy as np

    new = np.zeros((2 * len(array), *array.shape[1:]), array.dtype)
    new[: len(array)] = array
    return new


def fitting(table: Any) -> int:
    """The number of states that a hash table may hold: a load of 0.7."""
    return 7 * len(table) // 10


def larger(places: int) -> Any:
    """An empty table in place of one with so many places."""
    import numpy as np

    return np.zeros(places * (4 if places < _QUICK else 2), np.uint32)


# ---- Applicability tests ------------------------------------------------------------------------
# A decision tree, and blocks of bit masks. At most 64 operators form a block. A few bits of a state
# index a table of words with one bit per operator; the operators whose bits survive all look-ups
# are applicable, found without a branch. Where there are many operators, the tree first tests the
# variables that tell most of them apart. (Fast Downward's successor generators are such trees with
# single operators as leaves.)

BLOCK = 64
"""Operators of one block at most: the bits of a word."""
_FEW = 2 * BLOCK
"""So many operators or fewer get no test of a variable before their blocks."""
_BITS = 8
"""Bits of a state that one look-up uses; more only where a variable has more."""
_WORD = 64
_Wanted = tuple[Literal, ...]
_Item = tuple[_Wanted, int]


def applicability_masks(
    packing: Packing, preconditions: Sequence[Sequence[Literal]]
) -> tuple[Any, ...]:
    """The arrays of these preconditions.

    ``code``: at each node its first block, the one after its last, and how many variables follow
    with the places in ``tree`` where nodes stand by their values (0: none). ``blocks``: the first
    look of each block and the one after its last. ``looks``: word, shift, mask and the place in
    ``masks`` where their words stand. ``listed``: the operators of the blocks, 64 places for each.
    """
    import numpy as np

    found = _Masks(packing)
    possible = [  # what no value fulfils is left out
        (found.wanted(literals), number)
        for number, literals in enumerate(preconditions)
        if all(positions for _, positions in literals)
    ]
    found.node(possible)
    return (
        np.array(found.code, np.int32),
        np.array(found.tree, np.int32),
        np.array(found.blocks, np.int32).reshape(-1, 2),
        np.array(found.looks, np.uint64).reshape(-1, 4),
        np.concatenate([np.zeros(1, np.uint64), *found.masks]),
        np.array(found.listed, np.uint32),
    )


class _Masks:
    def __init__(self, packing: Packing) -> None:
        self._packing, self._size = packing, 1
        self.code, self.tree, self.listed = [0], [0], list[int]()
        self.blocks, self.looks = list[tuple[int, int]](), list[tuple[int, int, int, int]]()
        self.masks: list[Any] = []

    def wanted(self, literals: Sequence[Literal]) -> _Wanted:
        """The literals that some value of their variables does not fulfil."""
        sizes = self._packing.sizes
        return tuple(one for one in literals if len(one[1]) < sizes[one[0]])

    # ---- the tree ---------------------------------------------------------------------------

    def node(self, items: list[_Item]) -> int:
        """Build a node and all below it; its place in ``code``."""
        switches: list[tuple[int, list[_Item]]] = []
        while len(items) > _FEW:
            best, gain = self._telling(items)
            if gain < BLOCK:
                break
            switches.append((best, [i for i in items if any(v == best for v, _ in i[0])]))
            items = [i for i in items if all(v != best for v, _ in i[0])]
        at, first = len(self.code), len(self.blocks)
        for start in range(0, len(items), BLOCK):
            self._block(items[start : start + BLOCK])
        self.code += [first, len(self.blocks), len(switches), *([0] * (2 * len(switches)))]
        for place, (variable, found) in enumerate(switches):
            self.code[at + 3 + 2 * place] = variable
            self.code[at + 4 + 2 * place] = self._switch(variable, found)
        return at

    def _telling(self, items: list[_Item]) -> tuple[int, float]:
        """The variable that rules out most operators, and how many on the average."""
        ruled: dict[int, float] = {}
        for wanted, _ in items:
            for variable, positions in wanted:
                share = 1 - len(positions) / self._packing.sizes[variable]
                ruled[variable] = ruled.get(variable, 0) + share
        best = max(ruled, key=lambda one: (ruled[one], -one), default=0)
        return best, ruled.get(best, 0)

    def _switch(self, variable: int, items: list[_Item]) -> int:
        """A table of nodes by the value of a variable."""
        at, size = len(self.tree), self._packing.sizes[variable]
        kept: list[list[_Item]] = [[] for _ in range(size)]
        self.tree += [0] * size
        for wanted, number in items:
            rest = tuple(one for one in wanted if one[0] != variable)
            for value in dict(wanted)[variable]:
                kept[value].append((rest, number))
        made: dict[tuple[int, ...], int] = {(): 0}
        for value, found in enumerate(kept):
            key = tuple(number for _, number in found)
            if key not in made:
                made[key] = self.node(found)
            self.tree[at + value] = made[key]
        return at

    # ---- blocks -----------------------------------------------------------------------------

    def _block(self, items: list[_Item]) -> None:
        """A block of operators with its looks, at least one."""
        first = len(self.looks)
        asked = sorted({variable for wanted, _ in items for variable, _ in wanted})
        allowed = {one: self._allowed(one, items) for one in asked}
        for group in self._groups(asked):
            self._look(group, allowed)
        if not asked:
            self._add((0, 0, 0), [(1 << len(items)) - 1])
        self.blocks.append((first, len(self.looks)))
        self.listed += [number for _, number in items] + [0] * (BLOCK - len(items))

    def _allowed(self, variable: int, items: list[_Item]) -> list[int]:
        """For each value of a variable, which operators it does not rule out: a bit for each."""
        every = (1 << len(items)) - 1
        found = [0] * self._packing.sizes[variable]
        for place, (wanted, _) in enumerate(items):
            positions = dict(wanted).get(variable)
            if positions is not None:
                every &= ~(1 << place)
                for one in positions:
                    found[one] |= 1 << place
        return [one | every for one in found]

    def _groups(self, variables: list[int]) -> Iterator[list[int]]:
        """Variables that are looked at together: they lie in a few bits of one word."""
        group = list[int]()
        for variable in variables:
            if group and self._window([*group, variable])[2] > 1 << _BITS:
                yield group
                group = []
            group.append(variable)
        if group:
            yield group

    def _window(self, group: list[int]) -> tuple[int, int, int]:
        """The first and the last word in which variables lie, and how many values their bits have
        that lie between (too many for two words)."""
        shifts, masks = self._packing.shifts, self._packing.masks
        low = min(shifts[one] for one in group)
        high = max(low, *(masks[one].bit_length() for one in group))
        return low, high, 1 << (high - low if low // _WORD == (high - 1) // _WORD else _WORD)

    def _look(self, group: list[int], allowed: dict[int, list[int]]) -> None:
        """The words of all values of some variables."""
        import numpy as np

        low, _, size = self._window(group)
        value = np.arange(size, dtype=np.int64)
        found: Any = np.full(size, (1 << _WORD) - 1, np.uint64)
        for one in group:
            shift, mask = self._packing.shifts[one] - low, self._packing.masks[one]
            words = np.zeros((mask >> self._packing.shifts[one]) + 1, np.uint64)
            words[: len(allowed[one])] = np.array(allowed[one], np.uint64)
            found &= words[value >> shift & mask >> self._packing.shifts[one]]
        self._add((low // _WORD, low % _WORD, size - 1), found)

    def _add(self, where: tuple[int, int, int], words: Any) -> None:
        import numpy as np

        self.looks.append((*where, self._size))
        self.masks.append(np.array(words, np.uint64))
        self._size += len(words)


# ---- A packed world as arrays --------------------------------------------------------------------

_LISTED = 1 << 14
"""Rows for the successors of one batch, and for states between phases."""


@dataclass(frozen=True, slots=True)
class Tables:
    """A packed world as arrays, in the order in which `kernel.follow_one` unpacks them."""

    width: int
    start: Any
    arrays: tuple[Any, ...]

    @staticmethod
    def of(world: Packed, *, to_goal: bool) -> Tables | None:
        """Return the tables of a world, or ``None`` if objects may be destroyed.

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
        operators, numbers = self._world.task.operators, self._world.numbers
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
        """The index of the table of allowed values."""
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
