"""When two slots are provably different (language.md §5, the aliasing rule)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace

from tokenworld.check.relations import can_equal
from tokenworld.diagnostics import Span
from tokenworld.model import (
    And,
    Binder,
    ClosureOf,
    CollectionRange,
    Compare,
    EnumLiteral,
    InverseOf,
    Local,
    Not,
    NumberLiteral,
    ObjectKind,
    ObjectLiteral,
    ObjectType,
    Term,
)

__all__ = ["Knowledge", "skeleton"]


def skeleton(term: object) -> object:
    """A term without its places: two terms with one skeleton are written alike."""
    if isinstance(term, tuple):
        return tuple(skeleton(part) for part in term)
    if isinstance(term, Span):
        return None
    if is_dataclass(term) and not isinstance(term, type):
        parts = (getattr(term, one.name) for one in fields(term) if one.name != "type")
        return (type(term).__name__, *(skeleton(part) for part in parts))
    return term


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known where a slot is read or written.

    ``apart`` holds pairs of terms (by skeleton) that some condition keeps apart, ``homes`` the
    collection that a loop variable comes from, ``rounds`` the variables that differ between the
    two rounds compared.
    """

    types: Mapping[str, ObjectKind]
    apart: frozenset[tuple[object, object]] = frozenset()
    homes: Mapping[str, Term] = field(default_factory=dict)
    rounds: frozenset[str] = frozenset()

    def given(self, condition: Term | None) -> Knowledge:
        """The same with what a condition that holds tells."""
        pairs = set(self.apart)
        for left, right in _inequalities(condition):
            pairs |= {(skeleton(left), skeleton(right)), (skeleton(right), skeleton(left))}
        return replace(self, apart=frozenset(pairs))

    def bound(self, binders: tuple[Binder, ...]) -> Knowledge:
        """The same inside a loop."""
        homes = dict(self.homes)
        for binder in binders:
            if isinstance(binder.domain, CollectionRange):
                homes[binder.name] = binder.domain.collection
        return replace(self, homes=homes)

    def between_rounds(self, binders: tuple[Binder, ...]) -> Knowledge:
        """The same for two different rounds of a loop over one variable."""
        names = {binder.name for binder in binders} if len(binders) == 1 else set()
        return replace(self, rounds=self.rounds | names)

    def different(self, left: tuple[Term, ...], right: tuple[Term, ...]) -> bool:
        """Whether two argument tuples of one fluent are provably not the same slot."""
        return any(self._differs(one, other) for one, other in zip(left, right, strict=True))

    def _differs(self, left: Term, right: Term) -> bool:
        if isinstance(left, Local) and isinstance(right, Local) and left.name == right.name:
            return left.name in self.rounds
        if (skeleton(left), skeleton(right)) in self.apart:
            return True
        match left, right:
            case ObjectLiteral(name=one), ObjectLiteral(name=other):
                return one != other
            case EnumLiteral(index=one_), EnumLiteral(index=other_):
                return one_ != other_
            case NumberLiteral(value=one_), NumberLiteral(value=other_):
                return one_ != other_
            case _:
                return self._disjoint(left, right) or self._contained(left, right)

    def _disjoint(self, left: Term, right: Term) -> bool:
        if not isinstance(left.type, ObjectType) or not isinstance(right.type, ObjectType):
            return False
        return not can_equal(self.types, left.type, right.type)

    def _contained(self, left: Term, right: Term) -> bool:
        """A container and what is inside it; the contents of two different holders."""
        one, other = self._holder(left), self._holder(right)
        if one is not None and skeleton(one) == skeleton(right):
            return True
        if other is not None and skeleton(other) == skeleton(left):
            return True
        return one is not None and other is not None and self._differs(one, other)

    def _holder(self, term: Term) -> Term | None:
        home = self.homes.get(term.name) if isinstance(term, Local) else None
        return home.of if isinstance(home, (InverseOf, ClosureOf)) else None


def _inequalities(condition: Term | None) -> list[tuple[Term, Term]]:
    match condition:
        case Compare(op="!=", left=left, right=right):
            return [(left, right)]
        case Not(term=Compare(op="==", left=left, right=right)):
            return [(left, right)]
        case And(terms=terms):
            return [pair for term in terms for pair in _inequalities(term)]
        case _:
            return []
