"""Decision diagrams and sets of values: the ways in which terms are evaluated without a state.

A diagram is multi-valued with values at the leaves: the value of a term over the variables. It is a
number (`Diagram`) into the tables of a `Diagrams`. Equal functions have equal numbers (nodes are
unique, a node whose edges agree is left out), variables are tested in the order in which they were
declared. A wide counter is one variable, so a test of it is one node.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from enum import Enum
from itertools import product
from math import prod
from typing import Generic, NewType, Protocol, TypeVar

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Raw

Diagram = NewType("Diagram", int)
Path = tuple[tuple[int, tuple[int, ...]], ...]
"""Tests on the way to a leaf: a variable and the positions of the values that lead on."""


class Mark(Enum):
    """Leaves that are no values of the language: the result of an illegal or missing write."""

    UNSET = "unset"
    """Nothing was written, or no element was met yet."""
    CLASH = "clash"
    """Two different values for one slot (TW1003)."""
    OUTSIDE = "outside"
    """A number outside its range."""
    BROKEN = "broken"
    """A number that is not defined, such as 1 div 0 (TW1006)."""


Value = Raw | Mark
_LEAF = 1 << 30
_ASKED_EVERY = 1 << 14  # kids looked at between two looks at the time: wide variables are work


class Explosion(Exception):
    """The diagrams outgrew their limit: ``size`` nodes, or the time they had (``late``)."""

    def __init__(self, size: int, *, late: bool = False) -> None:
        super().__init__(size)
        self.size, self.late = size, late


class Diagrams:
    """The tables of all diagrams of one encoding.

    ``limit`` bounds the nodes ever made; ``late`` is asked now and then whether time is up.
    """

    def __init__(self, limit: int = 600_000, late: Callable[[], bool] | None = None) -> None:
        self.limit, self._late, self._work, self._look_at = limit, late, 0, _ASKED_EVERY
        self.domains: list[tuple[Raw, ...]] = []
        self._level: list[int] = []
        self._kids: list[tuple[Diagram, ...]] = []
        self._leaf: list[Value] = []
        self._leaves: dict[tuple[type, Value], Diagram] = {}
        self._nodes: dict[tuple[int, tuple[Diagram, ...]], Diagram] = {}
        self._memos: dict[Hashable, dict[tuple[Diagram, ...], Diagram]] = {}
        self._selected: dict[tuple[int, tuple[Diagram, ...]], Diagram] = {}
        self._supports: dict[Diagram, frozenset[int]] = {}
        self.false, self.true = self.leaf(False), self.leaf(True)
        self.none, self.broken = self.leaf(None), self.leaf(Mark.BROKEN)

    # ---- making ---------------------------------------------------------------------------

    def declare(self, domain: Sequence[Raw]) -> int:
        """A new variable, tested after all earlier ones; its number."""
        self.domains.append(tuple(domain))
        return len(self.domains) - 1

    def _add(self, level: int, kids: tuple[Diagram, ...], leaf: Value) -> Diagram:
        if len(self._level) >= self.limit:
            raise Explosion(len(self._level))
        self._level.append(level)
        self._kids.append(kids)
        self._leaf.append(leaf)
        return Diagram(len(self._level) - 1)

    def leaf(self, value: Value) -> Diagram:
        """The constant ``value`` (``True`` and ``1`` are different constants)."""
        key = (type(value), value)
        found = self._leaves.get(key)
        if found is None:
            found = self._leaves[key] = self._add(_LEAF, (), value)
        return found

    def node(self, variable: int, kids: tuple[Diagram, ...]) -> Diagram:
        """A test of ``variable``; every kid tests later variables only."""
        first = kids[0]
        if all(kid == first for kid in kids):
            return first
        key = (variable, kids)
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = self._add(variable, kids, None)
        return found

    def variable(self, number: int) -> Diagram:
        """The value of a variable."""
        return self.node(number, tuple(self.leaf(value) for value in self.domains[number]))

    # ---- looking --------------------------------------------------------------------------

    def constant(self, diagram: Diagram) -> bool:
        """Return whether it is the same everywhere."""
        return self._level[diagram] == _LEAF

    def value(self, diagram: Diagram) -> Value:
        """The value of a constant."""
        return self._leaf[diagram]

    def leaves(self, diagram: Diagram) -> list[Value]:
        """The values it can take, in order of first meeting."""
        found: dict[Diagram, None] = {}
        seen: set[Diagram] = set()
        waiting = [diagram]
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            if self._level[one] == _LEAF:
                found[one] = None
            waiting.extend(reversed(self._kids[one]))
        return [self._leaf[one] for one in found]

    def support(self, diagram: Diagram) -> frozenset[int]:
        """The variables it depends on."""
        found = self._supports.get(diagram)
        if found is None:
            kids = frozenset(self._kids[diagram])
            own = [self._level[diagram]] if kids else []
            found = frozenset(own).union(*(self.support(kid) for kid in kids))
            self._supports[diagram] = found
        return found

    def paths(self, diagram: Diagram) -> Iterator[tuple[Path, Value]]:
        """All ways to a leaf: disjoint, exhaustive, values that lead on together grouped."""
        if self._level[diagram] == _LEAF:
            yield (), self._leaf[diagram]
            return
        groups: dict[Diagram, list[int]] = {}
        for position, kid in enumerate(self._kids[diagram]):
            groups.setdefault(kid, []).append(position)
        level = self._level[diagram]
        for kid, positions in groups.items():
            test = (level, tuple(positions))
            for rest, value in self.paths(kid):
                yield (test, *rest), value

    def count_paths(self, diagram: Diagram, leaf: Value | None = None) -> int:
        """The number of paths to a leaf (to one with this value), counted without listing them."""
        memo: dict[Diagram, int] = {}

        def count(one: Diagram) -> int:
            if self._level[one] == _LEAF:
                return int(leaf is None or self._leaf[one] is leaf)
            if one not in memo:
                memo[one] = sum(count(kid) for kid in dict.fromkeys(self._kids[one]))
            return memo[one]

        return count(diagram)

    def tests(self, diagram: Diagram) -> Iterator[tuple[Diagram, int, tuple[int, ...], Diagram]]:
        """Each test below a diagram once: its position, its variable, the positions that lead to
        one kid, and this kid. There are as many as nodes, for any number of paths."""
        waiting, seen = [diagram], {diagram}
        while waiting:
            one = waiting.pop()
            groups: dict[Diagram, list[int]] = {}
            for position, kid in enumerate(self._kids[one]):
                groups.setdefault(kid, []).append(position)
            for kid, positions in groups.items():
                yield one, self._level[one], tuple(positions), kid
                if kid not in seen:
                    seen.add(kid)
                    waiting.append(kid)

    def evaluate(self, diagram: Diagram, position: Callable[[int], int]) -> Value:
        """The leaf where ``position`` gives the position of each variable's value."""
        while self._level[diagram] != _LEAF:
            diagram = self._kids[diagram][position(self._level[diagram])]
        return self._leaf[diagram]

    # ---- combining ------------------------------------------------------------------------

    def _cofactor(self, diagram: Diagram, variable: int, position: int) -> Diagram:
        return self._kids[diagram][position] if self._level[diagram] == variable else diagram

    def lift(self, key: Hashable, function: Callable[..., Value], *operands: Diagram) -> Diagram:
        """``function`` of the values in every leaf; ``key`` identifies the function."""
        memo = self._memos.setdefault(key, {})
        return self._lift(memo, function, operands)

    def _lift(
        self,
        memo: dict[tuple[Diagram, ...], Diagram],
        function: Callable[..., Value],
        operands: tuple[Diagram, ...],
    ) -> Diagram:
        found = memo.get(operands)
        if found is not None:
            return found
        level = self._level
        top = min([level[one] for one in operands])
        self._work += 1 if top == _LEAF else len(self.domains[top])
        if self._work >= self._look_at:
            self._look_at = self._work + _ASKED_EVERY
            if self._late is not None and self._late():
                raise Explosion(len(self._level), late=True)
        if top == _LEAF:
            result = self.leaf(function(*[self._leaf[one] for one in operands]))
        else:
            result = self.node(
                top,
                tuple(
                    [
                        self._lift(memo, function, self._at(operands, top, position))
                        for position in range(len(self.domains[top]))
                    ]
                ),
            )
        memo[operands] = result
        return result

    def _at(self, operands: tuple[Diagram, ...], top: int, position: int) -> tuple[Diagram, ...]:
        level, kids = self._level, self._kids
        return tuple([kids[one][position] if level[one] == top else one for one in operands])

    def select(self, variable: int, kids: tuple[Diagram, ...]) -> Diagram:
        """The kid that belongs to the value of ``variable``; kids may test any variable."""
        first = kids[0]
        if all(kid == first for kid in kids):
            return first
        level = self._level
        top = min(variable, *[level[kid] for kid in kids])
        if top == variable:
            picked = [self._cofactor(kid, variable, position) for position, kid in enumerate(kids)]
            return self.node(variable, tuple(picked))
        key = (variable, kids)
        found = self._selected.get(key)
        if found is None:
            size = range(len(self.domains[top]))
            parts = [self.select(variable, self._at(kids, top, position)) for position in size]
            found = self._selected[key] = self.node(top, tuple(parts))
        return found

    def bind(self, diagram: Diagram, function: Callable[[Value], Diagram]) -> Diagram:
        """Each leaf replaced by ``function`` of its value."""
        memo: dict[Diagram, Diagram] = {}

        def replaced(one: Diagram) -> Diagram:
            found = memo.get(one)
            if found is None:
                if self._level[one] == _LEAF:
                    found = function(self._leaf[one])
                else:
                    kids = tuple([replaced(kid) for kid in self._kids[one]])
                    found = self.select(self._level[one], kids)
                memo[one] = found
            return found

        return replaced(diagram)

    def choose(self, condition: Diagram, then: Diagram, otherwise: Diagram) -> Diagram:
        """``then`` where the condition is true, else ``otherwise``; broken stays broken."""
        if self.constant(condition):
            chosen = self._leaf[condition]
            if chosen is Mark.BROKEN:
                return condition
            return then if chosen is True else otherwise
        if then == otherwise and Mark.BROKEN not in self.leaves(condition):
            return then
        return self.lift("choose", _choose, condition, then, otherwise)

    def both(self, left: Diagram, right: Diagram) -> Diagram:
        """Conjunction of truths, the left one first (``false and broken`` is false)."""
        if left in (self.false, self.broken) or left == right:
            return left
        return right if left == self.true else self.lift("and", _both, left, right)

    def either(self, left: Diagram, right: Diagram) -> Diagram:
        """Disjunction of truths, the left one first."""
        if left in (self.true, self.broken) or left == right:
            return left
        return right if left == self.false else self.lift("or", _either, left, right)

    def negate(self, condition: Diagram) -> Diagram:
        return self.lift("not", _negate, condition)

    def compose(self, diagram: Diagram, values: Mapping[int, Diagram]) -> Diagram:
        """The diagram with variables replaced by the diagrams in ``values``."""
        memo: dict[Diagram, Diagram] = {}

        def replaced(one: Diagram) -> Diagram:
            if self._level[one] == _LEAF:
                return one
            found = memo.get(one)
            if found is None:
                found = memo[one] = self._replace_top(one, values, replaced)
            return found

        return replaced(diagram)

    def _replace_top(
        self,
        one: Diagram,
        values: Mapping[int, Diagram],
        replaced: Callable[[Diagram], Diagram],
    ) -> Diagram:
        level, kids = self._level[one], tuple(replaced(kid) for kid in self._kids[one])
        if level not in values:
            return self.select(level, kids)
        by_value: dict[tuple[type, Value], Diagram] = {
            (type(value), value): kid for value, kid in zip(self.domains[level], kids, strict=True)
        }
        return self.bind(
            values[level], lambda value: by_value.get((type(value), value), self.broken)
        )

    def restrict(self, diagram: Diagram, allowed: Mapping[int, frozenset[int]]) -> Diagram:
        """A diagram that agrees where each variable has an allowed value, and is simpler."""
        memo: dict[Diagram, Diagram] = {}

        def simpler(one: Diagram) -> Diagram:
            level = self._level[one]
            if level == _LEAF:
                return one
            found = memo.get(one)
            if found is None:
                kids, open_ = self._kids[one], allowed.get(level)
                if open_ is None:
                    found = self.node(level, tuple(simpler(kid) for kid in kids))
                else:
                    kept = {position: simpler(kids[position]) for position in sorted(open_)}
                    spare = next(iter(kept.values()))
                    made = tuple(kept.get(position, spare) for position in range(len(kids)))
                    found = self.node(level, made)
                memo[one] = found
            return found

        return simpler(diagram)


def _choose(condition: Value, then: Value, otherwise: Value) -> Value:
    if condition is Mark.BROKEN:
        return condition
    return then if condition is True else otherwise


def _both(left: Value, right: Value) -> Value:
    return right if left is True else left


def _either(left: Value, right: Value) -> Value:
    return right if left is False else left


def _negate(condition: Value) -> Value:
    return condition if condition is Mark.BROKEN else condition is not True


# ---- Algebras -----------------------------------------------------------------------------------
# One evaluator (`lower.terms`) serves all of them through the protocol `Algebra`. *Diagrams* are
# exact: a value for each assignment of the variables. *Value sets* forget which value belongs to
# which: they bound what a slot can ever hold, which fixes the domains of the variables.

V = TypeVar("V")
AnyValue = TypeVar("AnyValue", bound=Value)
Slot = tuple[str, tuple[Raw, ...]]
"""A stored fluent's id with its arguments, or one of the slots below."""
Universe = Callable[[], Sequence[Raw] | None]
"""All values of a type, ``None`` if there are infinitely many."""

# What a state holds besides stored fluents. No name of the language has a line break.
ALIVE = "\nalive"  # (object): whether it exists
RING = "\ntick"  # (n): tick() mod n
CLOCK = "\nclock"  # (n): tick(), or n if it is larger
AWARD = "\naward"  # (n): whether the award of this number was given before this state
LONG = "\nlong"  # (): the number of the running long action's stage, `none` if there is none
DID = "\ndid"  # (action, args…): what the intent of this tick was
COIN = "\ncoin"  # (rule, args…, n): the alternative that a draw takes
WAS = "\nwas"  # (fluent, args…): what a slot held at the start of the tick


@frozen
class Obstacle:
    """A construct without an encoding: its name, its place, the reason, and the code."""

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

    def single(self, operand: V) -> tuple[Raw, ...]:
        """The value of the language that an operand has everywhere; nothing if it has several, or
        more belongs to it than its value."""

    def never(self, condition: V) -> bool:
        """Return whether the condition is known to be false everywhere."""

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

    def single(self, operand: Diagram) -> tuple[Raw, ...]:
        value = self.diagrams.value(operand)
        constant = self.diagrams.constant(operand) and not isinstance(value, Mark)
        return (value,) if constant else ()  # type: ignore[return-value]

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
    """The values of names. ``was``: every read is of the state at the start of the tick. ``actor``
    is the value of `me`; ``None`` if nobody acts, or only one object may."""

    names: Mapping[str, V | Later[V]] = field(default_factory=dict)
    was: bool = False
    actor: Raw = None

    def bind(self, name: str, value: V | Later[V]) -> Env[V]:
        return Env({**self.names, name: value}, self.was, self.actor)

    def look(self, name: str) -> V:
        """The value of a name."""
        found = self.names[name]
        return found.value() if isinstance(found, Later) else found


ValueSet = frozenset[Value] | None
"""The values something can have; ``None`` if nothing is known of them."""

_TRUTHS: frozenset[Value] = frozenset((False, True))
_FALSE: frozenset[Value] = frozenset((False,))
_TRUE: frozenset[Value] = frozenset((True,))
_MOST = 20_000
_MOST_REALS = 100
"""Of real values. Most real quantities take a new value at each step: no set of them ends."""


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
        values = ((one,) for one in sets[0]) if len(sets) == 1 else product(*sets)
        found = frozenset([function(*one) for one in values])
        many = len(found) > _MOST_REALS and any(isinstance(one, float) for one in found)
        return None if many else found

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
        if len(condition) == 1:
            (value,) = condition
            return _TRUE if value is True else _FALSE
        return frozenset([value is True for value in condition])

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

    def single(self, operand: ValueSet) -> tuple[Raw, ...]:
        if operand is None or len(operand) != 1:
            return ()
        (value,) = operand
        return () if isinstance(value, Mark) else (value,)

    def never(self, condition: ValueSet) -> bool:
        return condition is not None and True not in condition

    def slot(self, slot: Slot, was: bool) -> ValueSet:
        self.reads[slot] = None
        if slot in self._known:
            return self._known[slot]
        return self._starts(slot)

    def refuse(self, refused: Refused) -> ValueSet:
        return None
