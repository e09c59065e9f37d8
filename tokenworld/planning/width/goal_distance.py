"""How far a goal line is from true in one state: goal counting on its own condition.

A third algebra beside diagrams and sets of values (`lower.algebra`): it evaluates a term in one
state and tells, for every condition, how much is missing until it holds and until it fails. A
conjunction misses what its parts miss together, a disjunction what the nearest part misses, a
quantifier the same over its bindings, a comparison of numbers more the further they are apart.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from tokenworld.core import lowered
from tokenworld.core.rules import Ending
from tokenworld.ground import Instance, Raw, Simulator, StateT
from tokenworld.model import NumberType, RealType
from tokenworld.planning.lower.algebra import ALIVE, RING, Env, Refused, Slot, Universe
from tokenworld.planning.lower.diagram import Mark, Value
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.terms import Terms

FAR = 1 << 30
"""The distance of a condition that nothing ever makes true."""
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class Graded:
    """A value; as a condition, what is missing until it is true and until it is not.

    ``fixed``: no rule can change it. ``number``: it counts or measures something.
    """

    value: Value
    short: int
    over: int
    fixed: bool
    number: bool = False


class GoalDistance(Generic[StateT]):
    """The distance to the nearest of some goal lines: 0 only where one of them holds."""

    def __init__(self, simulator: Simulator[StateT], lines: Sequence[Ending]) -> None:
        self._simulator, self._lines = simulator, lines
        self._changing = lowered(simulator.instance.program).changing
        self._instance: Instance | None = None

    def __call__(self, state: StateT) -> int:
        instance = self._simulator.instance_at(state)
        if self._instance is None or not _alike(instance, self._instance):
            self._instance = instance
            self._algebra = _GradedAlgebra(self._simulator, instance, self._changing)
            facts = Facts(instance, lambda fluent, args: self._algebra.read(fluent, args))
            self._terms: Terms[Graded] = Terms(facts, self._algebra)
        self._algebra.enter(state)
        self._terms.forget()
        return min((self._missing(line) for line in self._lines), default=FAR)

    def _missing(self, line: Ending) -> int:
        try:
            return self._terms.condition(line.condition, Env()).short
        except Refused:
            return 1


def _alike(one: Instance, other: Instance) -> bool:
    """Whether the same objects live in two instances."""
    return one is other or (one.members == other.members and one.actors == other.actors)


class _GradedAlgebra(Generic[StateT]):
    """Evaluation in one state, the one it entered last."""

    def __init__(
        self, simulator: Simulator[StateT], instance: Instance, changing: frozenset[str]
    ) -> None:
        self._simulator, self._changing = simulator, changing
        self._fluents = instance.program.fluents

    def enter(self, state: StateT) -> None:
        self._state = state

    def read(self, fluent: str, args: Sequence[Raw]) -> Raw:
        return self._simulator.read(self._state, fluent, args)

    def const(self, value: Value) -> Graded:
        return Graded(value, *((0, FAR) if value is True else (FAR, 0)), True)

    def lift(self, key: Hashable, function: Callable[..., Value], *operands: Graded) -> Graded:
        value = function(*(one.value for one in operands))
        fixed = all(one.fixed for one in operands)
        name = key[0] if isinstance(key, tuple) else key
        if fixed:
            return self.const(value)
        if name == "truth":
            (inner,) = operands
            return replace(inner, value=value)
        if name in ("compare", "equal"):
            op = str(key[1]) if isinstance(key, tuple) else "=="
            if value is True:
                return Graded(value, 0, _gap(_NEGATED[op], operands), False)
            return Graded(value, _gap(op, operands), 0, False)
        return _plain(value, name == "arithmetic" or any(one.number for one in operands))

    def bind(
        self, operand: Graded, universe: Universe, function: Callable[[Raw], Graded]
    ) -> Graded:
        value = operand.value
        made = operand if isinstance(value, Mark) else function(value)
        return made if operand.fixed else _loose(made)

    def both(self, left: Graded, right: Callable[[], Graded]) -> Graded:
        if left.short >= FAR:
            return left
        other = right()
        value = other.value if left.value is True else left.value
        short = min(FAR, left.short + other.short)
        return Graded(value, short, min(left.over, other.over), left.fixed and other.fixed)

    def either(self, left: Graded, right: Callable[[], Graded]) -> Graded:
        if left.over >= FAR:
            return left
        other = right()
        value = left.value if left.value is True else other.value
        over = min(FAR, left.over + other.over)
        return Graded(value, min(left.short, other.short), over, left.fixed and other.fixed)

    def negate(self, condition: Graded) -> Graded:
        value = condition.value is not True
        return Graded(value, condition.over, condition.short, condition.fixed)

    def choose(
        self, condition: Graded, then: Callable[[], Graded], otherwise: Callable[[], Graded]
    ) -> Graded:
        made = then() if condition.value is True else otherwise()
        return made if condition.fixed else _loose(made)

    def possible(self, operand: Graded, universe: Universe) -> Sequence[Raw] | None:
        return [] if isinstance(operand.value, Mark) else [operand.value]

    def never(self, condition: Graded) -> bool:
        return condition.short >= FAR

    def slot(self, slot: Slot, was: bool) -> Graded:
        name, args = slot
        if name == ALIVE:
            return self.const(True)
        if name not in self._fluents:
            return _plain(self._outside(slot), False)
        value = self.read(name, args)
        if name not in self._changing:
            return self.const(value)
        return _plain(value, isinstance(self._fluents[name].type, (NumberType, RealType)))

    def _outside(self, slot: Slot) -> Value:
        """The value of a slot that is no fluent, as far as it is known here."""
        name, args = slot
        if name == RING and isinstance(args[0], int):
            return self._simulator.tick(self._state) % args[0]
        return None

    def refuse(self, refused: Refused) -> Graded:
        raise refused


def _plain(value: Value, number: bool) -> Graded:
    return Graded(value, *((0, 1) if value is True else (1, 0)), False, number)


def _loose(made: Graded) -> Graded:
    """The same where another value of something else would make another one."""
    short, over = (1 if one >= FAR else one for one in (made.short, made.over))
    return replace(made, short=short, over=over, fixed=False)


def _gap(op: str, sides: Sequence[Graded]) -> int:
    """The distance of a comparison that fails; for numbers one more each time the gap doubles."""
    left, right = (one.value for one in sides)
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        return 1
    if op == "!=" or (op == "==" and not any(one.number for one in sides)):
        return 1
    return max(1, int(min(abs(left - right), FAR)).bit_length())
