"""Refutation: whether conditions can hold together, over enums, truth values and constants.

A small, honest prover: it says "never" only where every value of some term is ruled out by what
is written. What it cannot see through (calculations, folds, other objects) it leaves open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from tokenworld.check.aliasing import skeleton
from tokenworld.check.draft import Draft
from tokenworld.check.relations import can_equal
from tokenworld.model import (
    And,
    BoolLiteral,
    BoolType,
    Compare,
    EnumLiteral,
    EnumType,
    Implies,
    IsType,
    ListTerm,
    Local,
    Member,
    NoneLiteral,
    Not,
    NumberLiteral,
    NumberType,
    ObjectLiteral,
    ObjectType,
    Or,
    Term,
    is_optional,
    map_children,
)

__all__ = ["Values", "conjuncts", "never_hold", "substituted"]

Values = Callable[[Term], frozenset[int] | None]
"""The values an enum or truth term may have (positions; 0 and 1), ``None`` where any may be."""

_DEPTH: Final = 4
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_NEGATED: Final = {"==": "!=", "!=": "=="}


def conjuncts(condition: Term | None) -> tuple[Term, ...]:
    """The parts of a condition that must all hold."""
    match condition:
        case None:
            return ()
        case And(terms=terms):
            return tuple(part for term in terms for part in conjuncts(term))
        case Not(term=Or(terms=terms)):
            return tuple(
                part for term in terms for part in conjuncts(Not(term, term.type, term.span))
            )
        case Not(term=Not(term=inner)):
            return conjuncts(inner)
        case _:
            return (condition,)


def substituted(term: Term, lets: Mapping[str, Term]) -> Term:
    """The term with the values of ``let`` names in their places."""
    if isinstance(term, Local) and term.name in lets:
        return lets[term.name]
    return map_children(term, lambda inner: substituted(inner, lets))


def never_hold(parts: tuple[Term, ...], draft: Draft, values: Values, depth: int = _DEPTH) -> bool:
    """Whether the parts contradict each other (or one contradicts itself) in every state."""
    facts = _Facts(draft, values)
    for part in parts:
        if not facts.take(part):
            return True
    if depth == 0:
        return False
    return any(
        all(
            never_hold((*_without(parts, part), *conjuncts(choice)), draft, values, depth - 1)
            for choice in _choices(part)
        )
        for part in parts
        if _choices(part)
    )


def _without(parts: tuple[Term, ...], part: Term) -> tuple[Term, ...]:
    return tuple(one for one in parts if one is not part)


def _choices(part: Term) -> tuple[Term, ...]:
    """The cases of a part of which one must hold; empty for a plain part."""
    match part:
        case Or(terms=terms):
            return terms
        case Not(term=And(terms=terms)):
            return tuple(Not(term, term.type, term.span) for term in terms)
        case Implies(left=left, right=right):
            return (Not(left, left.type, left.span), right)
        case _:
            return ()


# ---- what is known of one term ----------------------------------------------------------


@dataclass(slots=True)
class _Known:
    """What a term may still be: positions or names not yet ruled out, bounds, absence, types."""

    allowed: frozenset[object] | None = None
    excluded: set[object] = field(default_factory=set)
    low: int | None = None
    high: int | None = None
    absent: bool = False
    present: bool = True
    types: list[str] = field(default_factory=list)

    def possible(self) -> bool:
        return self.absent or (self.present and self._some_value())

    def _some_value(self) -> bool:
        if self.allowed is not None:
            return any(self._fits(value) for value in self.allowed)
        if self.low is None or self.high is None or self.high - self.low > 1000:
            return self.low is None or self.high is None or self.low <= self.high
        return any(self._fits(value) for value in range(self.low, self.high + 1))

    def _fits(self, value: object) -> bool:
        if value in self.excluded:
            return False
        if not isinstance(value, int):
            return True
        return not (self.low is not None and value < self.low) and not (
            self.high is not None and value > self.high
        )


class _Facts:
    """Conditions taken one after another; ``take`` says whether they still can hold."""

    def __init__(self, draft: Draft, values: Values) -> None:
        self.draft = draft
        self.values = values
        self.known: dict[object, _Known] = {}
        self.truths: dict[object, bool] = {}

    def take(self, part: Term, positive: bool = True) -> bool:
        match part:
            case Not(term=inner):
                return self.take(inner, not positive)
            case And(terms=terms) if positive:
                return all(self.take(term) for term in terms)
            case BoolLiteral(value=value):
                return value is positive
            case Compare():
                return self._compare(part, positive) and self._truth(part, positive)
            case Member(item=item, collection=ListTerm(items=items)):
                return self._member(item, items, positive)
            case IsType(term=inner, of=of):
                return self._is(inner, of, positive) and self._truth(part, positive)
            case _:
                return self._truth(part, positive) and self._bool(part, positive)

    def _truth(self, part: Term, positive: bool) -> bool:
        """The same condition is not wanted both true and false."""
        return self.truths.setdefault(skeleton(part), positive) is positive

    def _bool(self, part: Term, positive: bool) -> bool:
        possible = self.values(part) if isinstance(part.type, BoolType) else None
        return possible is None or int(positive) in possible

    def of(self, term: Term) -> _Known:
        key = skeleton(term)
        if key not in self.known:
            self.known[key] = self._fresh(term)
        return self.known[key]

    def _fresh(self, term: Term) -> _Known:
        known = _Known(absent=is_optional(term.type))
        match term.type:
            case EnumType(name=name):
                given = self.values(term)
                every = range(len(self.draft.enums[name].members))
                known.allowed = frozenset(every if given is None else given)
            case BoolType():
                given = self.values(term)
                known.allowed = frozenset((0, 1) if given is None else given)
            case NumberType(low=low, high=high):
                known.low, known.high = low, high
            case _:
                pass
        return known

    def _compare(self, part: Compare, positive: bool) -> bool:
        left, op, right = part.left, str(part.op), part.right
        if _constant(left) is not None and _constant(right) is None:
            left, op, right = right, _MIRRORED[op], left
        value = _constant(right)
        if value is None:
            return True
        if not positive:
            if op not in _NEGATED:
                return self._not_ordered(left, op, value)
            op = _NEGATED[op]
        first = _constant(left)
        if first is not None:
            return _holds(first, op, value)
        return self._bound(self.of(left), op, value)

    def _not_ordered(self, left: Term, op: str, value: object) -> bool:
        """``not x < 3`` is ``x >= 3``, or `none`: a comparison over `none` is false."""
        known = self.of(left)
        absent = known.absent
        turned = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}[op]
        if _constant(left) is not None:
            return True
        self._bound(known, turned, value)
        known.absent = absent
        return known.possible()

    def _bound(self, known: _Known, op: str, value: object) -> bool:
        match op:
            case "==" if value is _NONE:
                known.present = False
            case "!=" if value is _NONE:
                known.absent = False
            case "==":
                known.absent = False
                known.allowed = (
                    frozenset({value}) if known.allowed is None else known.allowed & {value}
                )
            case "!=":
                known.excluded.add(value)
            case _ if isinstance(value, int):
                known.absent = False
                _order(known, op, value)
            case _:
                return True
        return known.possible()

    def _member(self, item: Term, items: tuple[Term, ...], positive: bool) -> bool:
        values = [_constant(one) for one in items]
        if any(value is None or value is _NONE for value in values) or _constant(item) is not None:
            return True
        known = self.of(item)
        wanted = frozenset(value for value in values if value is not None)
        if positive:
            known.absent = False
            known.allowed = wanted if known.allowed is None else known.allowed & wanted
        else:
            known.excluded |= wanted
        return known.possible()

    def _is(self, term: Term, of: str, positive: bool) -> bool:
        if not positive:
            return True
        known = self.of(term)
        known.absent = False
        wanted = ObjectType(of)
        fits = all(can_equal(self.draft.types, ObjectType(other), wanted) for other in known.types)
        known.types.append(of)
        return fits and known.possible()


def _order(known: _Known, op: str, value: int) -> None:
    strict = 1 if op in ("<", ">") else 0
    if op in ("<", "<="):
        limit = value - strict
        known.high = limit if known.high is None else min(known.high, limit)
    else:
        limit = value + strict
        known.low = limit if known.low is None else max(known.low, limit)


_NONE: Final = object()


def _constant(term: Term) -> object | None:
    """A constant as something to compare: a position, a scaled number, a name, `none`."""
    match term:
        case EnumLiteral(index=index):
            return index
        case NumberLiteral(value=value):
            return value
        case BoolLiteral(value=truth):
            return int(truth)
        case ObjectLiteral(name=name):
            return name
        case NoneLiteral():
            return _NONE
        case _:
            return None


def _holds(left: object, op: str, right: object) -> bool:
    if op == "==":
        return left == right
    if op == "!=":
        return left != right
    if not isinstance(left, int) or not isinstance(right, int):
        return False
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[op]
