"""The layout of packed states: variables as bits of one whole number, operators as bit masks.

A part of a state that effects depend on has few values (a pot and its pea, a fire and a blade), so
effects are memo tables by the bits of that part (`MemoTable`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod

from tokenworld.diagnostics.frozen import frozen
from tokenworld.planning.encodings.ir import Effect, Literal, Operator, Variable

_WORD = 64


@frozen
class Test:
    """Holds in a state whose bits ``care`` are ``want``, and whose ``sets`` of bits are listed."""

    care: int
    want: int
    sets: tuple[tuple[int, frozenset[int]], ...] = ()

    def holds(self, state: int) -> bool:
        if state & self.care != self.want:
            return False
        return all(state & mask in allowed for mask, allowed in self.sets)


@frozen
class Change:
    """Keeps the bits ``keep`` and adds the bits ``put``, where ``test`` holds before the step."""

    test: Test
    keep: int
    put: int


@frozen
class Step:
    """An operator: where ``test`` holds, ``keep`` and ``put`` and then each of ``changes``."""

    test: Test
    keep: int
    put: int
    changes: tuple[Change, ...]

    def after(self, state: int) -> int:
        """The state after the step."""
        found = state & self.keep | self.put
        for change in self.changes:
            if change.test.holds(state):
                found = found & change.keep | change.put
        return found


class Packing:
    """The bits of each variable of a task: as few as its values need, and never across the border
    of a 64-bit word."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        widths = [(len(one.values) - 1).bit_length() for one in variables]
        self.shifts = list[int]()
        free = 0
        for width in widths:
            if free % _WORD + width > _WORD:
                free += _WORD - free % _WORD
            self.shifts.append(free)
            free += width
        self.masks = [
            ((1 << width) - 1) << shift for width, shift in zip(widths, self.shifts, strict=True)
        ]
        self.sizes = [len(one.values) for one in variables]
        self.width, self.every = free, (1 << free) - 1

    def pack(self, positions: Iterable[int]) -> int:
        """The number of a state."""
        return sum(value << shift for value, shift in zip(positions, self.shifts, strict=True))

    def position(self, state: int, variable: int) -> int:
        """The position of a variable's value."""
        return (state & self.masks[variable]) >> self.shifts[variable]

    def bits(self, variable: int, position: int) -> int:
        return position << self.shifts[variable]

    def test(self, literals: Iterable[Literal]) -> Test:
        """The test of some literals."""
        care = want = 0
        sets = []
        for variable, positions in literals:
            if len(positions) == 1:
                care |= self.masks[variable]
                want |= self.bits(variable, positions[0])
            else:
                allowed = frozenset(self.bits(variable, one) for one in positions)
                sets.append((self.masks[variable], allowed))
        return Test(care, want, tuple(sets))

    def step(self, operator: Operator) -> Step:
        """An operator, packed."""
        sure = [effect for effect in operator.effects if not effect.conditions]
        keep, put = self.change(sure)
        changes = tuple(
            Change(self.test(effect.conditions), *self.change([effect]))
            for effect in operator.effects
            if effect.conditions
        )
        return Step(self.test(operator.precondition), keep, put, changes)

    def change(self, effects: Iterable[Effect]) -> tuple[int, int]:
        """The bits that effects keep, and those that they put in place of the others."""
        lost = put = 0
        for effect in effects:
            lost |= self.masks[effect.variable]
            put |= self.bits(effect.variable, effect.value)
        return self.every & ~lost, put


_MOST = 1 << 18
"""Most entries of one memo table; later parts are computed each time."""
_NARROW = 1 << 12
"""Most values of parts that are joined in one memo table."""


class MemoTable(dict[int, int]):
    """Memo table: the effect on a part of a state, by the bits of that part."""

    __slots__ = ("_made",)

    def __init__(self, made: Callable[[int], int]) -> None:
        super().__init__()
        self._made = made

    def __missing__(self, key: int) -> int:
        found = self._made(key)
        if len(self) < _MOST:
            self[key] = found
        return found


MaskedTable = tuple[int, MemoTable]
"""The mask of a part and its table."""


def grouped(
    packing: Packing, supports: Mapping[int, frozenset[int]]
) -> list[tuple[frozenset[int], frozenset[int]]]:
    """Groups of variables that share a memo table, each with the variables it depends on.

    ``supports`` are the variables that each one depends on. Variables that depend on the same part
    of a state share a table, and so do small parts.
    """
    found: list[tuple[set[int], frozenset[int]]] = []
    for variable, support in sorted(supports.items(), key=lambda one: (-len(one[1]), one[0])):
        place = _fitting(packing, found, support)
        if place is None:
            found.append(({variable}, support))
        else:
            found[place][0].add(variable)
            found[place] = (found[place][0], found[place][1] | support)
    return [(frozenset(variables), support) for variables, support in found]


def _fitting(
    packing: Packing, found: Iterable[tuple[set[int], frozenset[int]]], support: frozenset[int]
) -> int | None:
    """The first group that depends on all of ``support``, or that stays small with it."""
    for place, (_, looked) in enumerate(found):
        together = looked | support
        if together == looked or prod(packing.sizes[one] for one in together) <= _NARROW:
            return place
    return None
