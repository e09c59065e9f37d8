"""Conditions that have a value whatever else holds, so that they may be tested in any order."""

from __future__ import annotations

from typing import assert_never

from tokenworld.engine.probe import is_atom
from tokenworld.model import (
    And,
    BoolLiteral,
    Compare,
    CompositeTerm,
    Fold,
    Implies,
    IntervalRange,
    IsType,
    LeafTerm,
    Local,
    Not,
    NumberTerm,
    Or,
    Read,
    StateTerm,
    Term,
    TestTerm,
    TypeRange,
    children,
    subterms,
)

__all__ = ["bound_in", "is_total", "names_of"]


def is_total(term: Term) -> bool:
    """A fact, an equation (`probe.is_atom`), a comparison of slots, or what is made of such by
    logic and by quantifiers over types. Nothing of it calculates, draws or looks back."""
    match term:
        case Not(term=inner):
            return is_total(inner)
        case And(terms=terms) | Or(terms=terms):
            return all(map(is_total, terms))
        case Implies(left=left, right=right):
            return is_total(left) and is_total(right)
        case Fold(fold="any" | "all", value=value, binders=binders, where=where):
            ranges = all(isinstance(one.domain, TypeRange | IntervalRange) for one in binders)
            return ranges and all(is_total(one) for one in (value, where) if one is not None)
        case Compare(op="<" | "<=" | ">" | ">=", left=left, right=right):
            return _is_slot(left) and _is_slot(right)
        case IsType(term=Local()) | BoolLiteral():
            return True
        case LeafTerm() | StateTerm() | TestTerm() | NumberTerm() | CompositeTerm():
            return is_atom(term)
        case _:
            assert_never(term)


def _is_slot(term: Term) -> bool:
    return is_atom(term) if isinstance(term, Read) else not children(term)


def names_of(term: Term) -> frozenset[str]:
    """The names that a term speaks of and does not bind itself."""
    return frozenset(one.name for one in subterms(term) if isinstance(one, Local)) - bound_in(term)


def bound_in(term: Term) -> frozenset[str]:
    """The names that the quantifiers of a term bind."""
    folds = (one for one in subterms(term) if isinstance(one, Fold))
    return frozenset(binder.name for fold in folds for binder in fold.binders)
