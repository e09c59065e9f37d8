"""Where the variables of a task lie in a state, and its operators as tests and changes of bits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tokenworld.diagnostics.frozen import frozen
from tokenworld.planning.encodings.ir import Effect, Literal, Operator, Variable

__all__ = ["Change", "Packing", "Step", "Test"]

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
    """Where each variable of a task has its bits: as few as its values need, side by side, and none
    on both sides of the end of a word of 64 bits."""

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
