"""Planning tasks on packed states: a state is one whole number, each variable a few of its bits.

An operator is a test of some bits and a change of some bits. Operators are filed under the bits of
one *switch*, so that in a state only a handful is looked at: a variable, or a group of facts of
which exactly one holds at any time (`at(stone, place)` over all places).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tokenworld.planning.encodings.ir import Effect, Literal, Operator, Task

__all__ = ["Change", "Packing", "Step", "Switch", "Test", "switch_of"]


@dataclass(frozen=True, slots=True)
class Test:
    """Holds in a state whose bits ``care`` are ``want``, and whose ``sets`` of bits are listed."""

    care: int
    want: int
    sets: tuple[tuple[int, frozenset[int]], ...] = ()

    def holds(self, state: int) -> bool:
        if state & self.care != self.want:
            return False
        return all(state & mask in allowed for mask, allowed in self.sets)


@dataclass(frozen=True, slots=True)
class Change:
    """Keeps the bits ``keep`` and adds the bits ``put``, where ``test`` holds before the step."""

    test: Test
    keep: int
    put: int


@dataclass(frozen=True, slots=True)
class Step:
    """An operator: where ``test`` holds, ``keep`` and ``put`` and then each of ``changes``."""

    number: int
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
    """Where each variable of a task has its bits."""

    def __init__(self, task: Task) -> None:
        widths = [max(1, (len(one.values) - 1).bit_length()) for one in task.variables]
        self._shifts = [sum(widths[:number]) for number in range(len(widths))]
        self._masks = [
            ((1 << width) - 1) << shift for width, shift in zip(widths, self._shifts, strict=True)
        ]

    def pack(self, positions: Iterable[int]) -> int:
        """The number of a state."""
        return sum(value << shift for value, shift in zip(positions, self._shifts, strict=True))

    def position(self, state: int, variable: int) -> int:
        """The position of a variable's value."""
        return (state & self._masks[variable]) >> self._shifts[variable]

    def mask(self, variable: int) -> int:
        return self._masks[variable]

    def bits(self, variable: int, position: int) -> int:
        return position << self._shifts[variable]

    def test(self, literals: Iterable[Literal]) -> Test:
        """The test of some literals."""
        care = want = 0
        sets = []
        for variable, positions in literals:
            if len(positions) == 1:
                care |= self._masks[variable]
                want |= self.bits(variable, positions[0])
            else:
                allowed = frozenset(self.bits(variable, one) for one in positions)
                sets.append((self._masks[variable], allowed))
        return Test(care, want, tuple(sets))

    def step(self, number: int, operator: Operator) -> Step:
        """An operator, packed."""
        sure = [effect for effect in operator.effects if not effect.conditions]
        keep, put = self._change(sure)
        changes = tuple(
            Change(self.test(effect.conditions), *self._change([effect]))
            for effect in operator.effects
            if effect.conditions
        )
        return Step(number, self.test(operator.precondition), keep, put, changes)

    def _change(self, effects: Iterable[Effect]) -> tuple[int, int]:
        lost = put = 0
        for effect in effects:
            lost |= self._masks[effect.variable]
            put |= self.bits(effect.variable, effect.value)
        return ~lost, put


@dataclass(frozen=True, slots=True)
class Switch:
    """``table[state & mask]`` are the steps to look at in a state, ``rest`` where there is none."""

    mask: int
    table: dict[int, tuple[Step, ...]]
    rest: tuple[Step, ...]

    @property
    def most(self) -> int:
        """How many steps are looked at in the worst state."""
        return max((len(one) for one in self.table.values()), default=len(self.rest))


def switch_of(task: Task, packing: Packing, steps: Sequence[Step]) -> Switch:
    """The switch under which the fewest steps are looked at in the worst state."""
    best = Switch(0, {}, tuple(steps))
    for mask in _masks(task, packing):
        made = _filed(mask, steps)
        if made.most < best.most:
            best = made
    return best


def _filed(mask: int, steps: Sequence[Step]) -> Switch:
    """Steps by what their tests want of the bits of ``mask``; all others belong everywhere.

    A test that wants some bits to be zero only is one of the others: it does not name the value.
    """
    named: dict[int, list[Step]] = {}
    rest = list[Step]()
    for step in steps:
        value = step.test.want & mask
        if value or step.test.care & mask == mask:
            named.setdefault(value, []).append(step)
        else:
            rest.append(step)
    table = {
        value: tuple(sorted((*mine, *rest), key=lambda one: one.number))
        for value, mine in named.items()
    }
    return Switch(mask, table, tuple(rest))


def _masks(task: Task, packing: Packing) -> Iterable[int]:
    """What steps can be filed under: variables, and groups of facts of which exactly one holds.

    A variable of two values is no good: a test that wants its bit to be zero names no bits.
    """
    for number, variable in enumerate(task.variables):
        if len(variable.values) > 2:
            yield packing.mask(number)
    for group in _groups(task):
        if _exactly_one(task, group):
            yield sum(packing.mask(number) for number in group)


def _groups(task: Task) -> Iterable[frozenset[int]]:
    """Facts of one relation that differ in one argument."""
    found: dict[tuple[object, ...], set[int]] = {}
    for number, variable in enumerate(task.variables):
        if variable.kind == "slot" and variable.values == (False, True):
            for place in range(len(variable.args)):
                others = (*variable.args[:place], *variable.args[place + 1 :])
                found.setdefault((variable.fluent, place, others), set()).add(number)
    return (frozenset(group) for group in found.values() if len(group) > 2)


def _exactly_one(task: Task, group: frozenset[int]) -> bool:
    """Whether exactly one fact of a group holds at the start and after every operator."""
    if sum(task.variables[number].initial for number in group) != 1:
        return False
    return all(_moves_one(operator, group) for operator in task.operators)


def _moves_one(operator: Operator, group: frozenset[int]) -> bool:
    """Whether an operator leaves the group alone, or takes the fact that held for another one."""
    effects = [effect for effect in operator.effects if effect.variable in group]
    if not effects:
        return True
    held = {one for one, positions in operator.precondition if one in group and positions == (1,)}
    after = dict.fromkeys(held, True)
    for effect in effects:
        if effect.conditions:
            return False
        after[effect.variable] = effect.value == 1
    return len(held) == 1 and sum(after.values()) == 1
