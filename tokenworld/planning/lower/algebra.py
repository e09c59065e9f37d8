"""The two ways in which terms are evaluated without a state.

*Diagrams* are exact: a value for each assignment of the variables. *Value sets* forget which value
belongs to which: they bound what a slot can ever hold, which fixes the domains of the variables.
One evaluator (`lower.terms`) serves both through the protocol `Algebra`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import product
from math import prod
from typing import Generic, Protocol, TypeVar

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Raw
from tokenworld.planning.lower.diagram import Diagram, Diagrams, Mark, Value

V = TypeVar("V")
AnyValue = TypeVar("AnyValue", bound=Value)
Slot = tuple[str, tuple[Raw, ...]]
"""A stored fluent's id with its arguments, or one of the slots below."""
Universe = Callable[[], Sequence[Raw] | None]
"""All values of a type, ``None`` if there are infinitely many."""

# What a state holds besides stored fluents. No name of the language has a line break.
ALIVE = "\nalive"  # (object): whether it exists
RING = "\ntick"  # (n): tick() mod n
LONG = "\nlong"  # (): the number of the running long action's stage, `none` if there is none
DID = "\ndid"  # (action, args…): what the intent of this tick was
COIN = "\ncoin"  # (rule, args…, n): the alternative that a draw takes
WAS = "\nwas"  # (fluent, args…): what a slot held at the start of the tick


@frozen
class Obstacle:
    """Something that has no place in the encoding: what, where, why, and under which code."""

    construct: str
    span: Span
    reason: str
    code: str = "TW0801"


class Refused(Exception):
    """Raised where a term, an effect or a whole rule cannot be encoded."""

    def __init__(self, construct: str, span: Span, reason: str, code: str = "TW0801") -> None:
        super().__init__(construct)
        self.obstacle = Obstacle(construct, span, reason, code)


def conj(algebra: Algebra[V], left: V, right: V) -> V:
    """Both conditions, where the right one is known already."""
    return algebra.both(left, lambda: right)


def disj(algebra: Algebra[V], left: V, right: V) -> V:
    """Either condition, where the right one is known already."""
    return algebra.either(left, lambda: right)


class Algebra(Protocol[V]):
    """The operations on values that the evaluator uses; conditions are values too, true or not."""

    def const(self, value: Value) -> V: ...

    def lift(self, key: Hashable, function: Callable[..., Value], *operands: V) -> V:
        """``function`` applied to the values; equal keys mean equal functions."""

    def bind(self, operand: V, universe: Universe, function: Callable[[Raw], V]) -> V:
        """``function`` applied to each value that the operand can have."""

    def both(self, left: V, right: Callable[[], V]) -> V: ...

    def either(self, left: V, right: Callable[[], V]) -> V: ...

    def negate(self, condition: V) -> V: ...

    def choose(self, condition: V, then: Callable[[], V], otherwise: Callable[[], V]) -> V: ...

    def possible(self, operand: V, universe: Universe) -> Sequence[Raw] | None:
        """The values the operand can have, ``None`` if they are not known."""

    def never(self, condition: V) -> bool:
        """Whether the condition is known to be false everywhere."""

    def slot(self, slot: Slot, was: bool) -> V:
        """The value of a slot now, or at the start of the tick."""

    def refuse(self, refused: Refused) -> V:
        """The value for a term that cannot be evaluated (or the refusal, raised)."""


def _key(value: Value) -> tuple[int, str, float, str]:
    if isinstance(value, (int, float)):
        return (0, "", value, "")
    return (2, "", 0, "") if value is None else (1, type(value).__name__, 0, str(value))


def ordered_values(values: Iterable[AnyValue]) -> list[AnyValue]:
    """Values in an order that does not depend on hashes: numbers, texts, `none`."""
    return sorted(values, key=_key)


class DiagramAlgebra:
    """Exact evaluation. ``slots`` gives the diagram of a slot's value."""

    def __init__(self, diagrams: Diagrams, slots: Callable[[Slot, bool], Diagram]) -> None:
        self.diagrams, self._slots = diagrams, slots

    def const(self, value: Value) -> Diagram:
        return self.diagrams.leaf(value)

    def lift(self, key: Hashable, function: Callable[..., Value], *operands: Diagram) -> Diagram:
        return self.diagrams.lift(key, function, *operands)

    def bind(
        self, operand: Diagram, universe: Universe, function: Callable[[Raw], Diagram]
    ) -> Diagram:
        def one(value: Value) -> Diagram:
            return self.diagrams.leaf(value) if isinstance(value, Mark) else function(value)

        return self.diagrams.bind(operand, one)

    def both(self, left: Diagram, right: Callable[[], Diagram]) -> Diagram:
        diagrams = self.diagrams
        if left in (diagrams.false, diagrams.broken):
            return left
        return diagrams.both(left, right())

    def either(self, left: Diagram, right: Callable[[], Diagram]) -> Diagram:
        diagrams = self.diagrams
        if left in (diagrams.true, diagrams.broken):
            return left
        return diagrams.either(left, right())

    def negate(self, condition: Diagram) -> Diagram:
        return self.diagrams.negate(condition)

    def choose(
        self,
        condition: Diagram,
        then: Callable[[], Diagram],
        otherwise: Callable[[], Diagram],
    ) -> Diagram:
        diagrams = self.diagrams
        if condition == diagrams.broken:
            return condition
        if diagrams.constant(condition):
            return then() if condition == diagrams.true else otherwise()
        return diagrams.choose(condition, then(), otherwise())

    def possible(self, operand: Diagram, universe: Universe) -> Sequence[Raw] | None:
        return [leaf for leaf in self.diagrams.leaves(operand) if not isinstance(leaf, Mark)]

    def never(self, condition: Diagram) -> bool:
        return self.diagrams.constant(condition) and condition != self.diagrams.true

    def slot(self, slot: Slot, was: bool) -> Diagram:
        return self._slots(slot, was)

    def refuse(self, refused: Refused) -> Diagram:
        raise refused


class Later(Generic[V]):
    """A value computed when it is first asked for: a ``let`` that may not be needed."""

    def __init__(self, compute: Callable[[], V]) -> None:
        self._compute: Callable[[], V] | None = compute
        self._value: V | None = None

    def value(self) -> V:
        if self._compute is not None:
            self._value, self._compute = self._compute(), None
        return self._value  # type: ignore[return-value]  # `None` may be a value of the algebra


@frozen
class Env(Generic[V]):
    """The values of names. ``was``: every read is of the state at the start of the tick.

    ``actor`` is who `me` is; ``None`` where nobody acts, or only one object may.
    """

    names: Mapping[str, V | Later[V]] = field(default_factory=dict)
    was: bool = False
    actor: Raw = None

    def bind(self, name: str, value: V | Later[V]) -> Env[V]:
        return replace(self, names={**self.names, name: value})

    def look(self, name: str) -> V:
        """The value a name stands for."""
        found = self.names[name]
        return found.value() if isinstance(found, Later) else found


ValueSet = frozenset[Value] | None
"""The values something can have; ``None`` if nothing is known of them."""

_TRUTHS: frozenset[Value] = frozenset((False, True))
_FALSE: frozenset[Value] = frozenset((False,))
_MOST = 20_000


class SetAlgebra:
    """Evaluation on sets of values. ``known`` grows as rules are seen to write more values.

    ``reads`` collects the slots looked at since it was last emptied.
    """

    def __init__(
        self, starts: Callable[[Slot], frozenset[Raw]], known: Mapping[Slot, ValueSet]
    ) -> None:
        self._starts, self._known = starts, known
        self.reads: dict[Slot, None] = {}

    def const(self, value: Value) -> ValueSet:
        return frozenset((value,))

    def lift(self, key: Hashable, function: Callable[..., Value], *operands: ValueSet) -> ValueSet:
        sets = [one for one in operands if one is not None]
        if len(sets) < len(operands) or prod(len(one) for one in sets) > _MOST:
            return None
        return frozenset(function(*values) for values in product(*sets))

    def bind(
        self, operand: ValueSet, universe: Universe, function: Callable[[Raw], ValueSet]
    ) -> ValueSet:
        values = universe() if operand is None else ordered_values(operand)
        if values is None:
            return None
        found: set[Value] = set()
        for value in values:
            made = frozenset((value,)) if isinstance(value, Mark) else function(value)
            if made is None:
                return None
            found |= made
        return frozenset(found)

    @staticmethod
    def _truths(condition: ValueSet) -> frozenset[Value]:
        if condition is None:
            return _TRUTHS
        return frozenset(value is True for value in condition)

    def both(self, left: ValueSet, right: Callable[[], ValueSet]) -> ValueSet:
        known = self._truths(left)
        if known == _FALSE:
            return known
        other = self._truths(right())
        return other if known == {True} else other | _FALSE

    def either(self, left: ValueSet, right: Callable[[], ValueSet]) -> ValueSet:
        known = self._truths(left)
        if known == {True}:
            return known
        other = self._truths(right())
        return other if known == _FALSE else other | {True}

    def negate(self, condition: ValueSet) -> ValueSet:
        return frozenset(value is not True for value in self._truths(condition))

    def choose(
        self,
        condition: ValueSet,
        then: Callable[[], ValueSet],
        otherwise: Callable[[], ValueSet],
    ) -> ValueSet:
        known = self._truths(condition)
        if len(known) == 1:
            return then() if True in known else otherwise()
        left, right = then(), otherwise()
        return None if left is None or right is None else left | right

    def possible(self, operand: ValueSet, universe: Universe) -> Sequence[Raw] | None:
        if operand is None:
            return universe()
        return [value for value in ordered_values(operand) if not isinstance(value, Mark)]

    def never(self, condition: ValueSet) -> bool:
        return condition is not None and True not in condition

    def slot(self, slot: Slot, was: bool) -> ValueSet:
        self.reads[slot] = None
        if slot in self._known:
            return self._known[slot]
        return self._starts(slot)

    def refuse(self, refused: Refused) -> ValueSet:
        return None
