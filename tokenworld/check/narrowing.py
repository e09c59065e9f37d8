"""Narrowing: what a condition tells about the locals in it (language.md §4)."""

from __future__ import annotations

from tokenworld.check.relations import is_subtype
from tokenworld.model import (
    And,
    Compare,
    Implies,
    IsType,
    Local,
    NoneLiteral,
    Not,
    ObjectKind,
    ObjectType,
    Or,
    Term,
    ValueType,
    without_none,
)

__all__ = ["when_false", "when_true"]

Facts = dict[str, ValueType]


def when_true(term: Term, types: dict[str, ObjectKind]) -> Facts:
    """The narrower types of locals where ``term`` holds."""
    match term:
        case Compare(op="!=", left=Local() as local, right=NoneLiteral()):
            return {local.name: without_none(local.type)}
        case Compare(op="!=", left=NoneLiteral(), right=Local() as local):
            return {local.name: without_none(local.type)}
        case IsType(term=Local() as local, of=of):
            return {local.name: _narrowed(local, of, types)}
        case And(terms=terms):
            return _all(terms, types, positive=True)
        case Not(term=inner):
            return when_false(inner, types)
        case _:
            return {}


def when_false(term: Term, types: dict[str, ObjectKind]) -> Facts:
    """The narrower types of locals where ``term`` does not hold."""
    match term:
        case Compare(op="==", left=Local() as local, right=NoneLiteral()):
            return {local.name: without_none(local.type)}
        case Compare(op="==", left=NoneLiteral(), right=Local() as local):
            return {local.name: without_none(local.type)}
        case Or(terms=terms):
            return _all(terms, types, positive=False)
        case Not(term=inner):
            return when_true(inner, types)
        case Implies(left=left, right=right):
            return {**when_true(left, types), **when_false(right, types)}
        case _:
            return {}


def _narrowed(local: Local, of: str, types: dict[str, ObjectKind]) -> ValueType:
    current = without_none(local.type)
    if isinstance(current, ObjectType) and is_subtype(types, current.name, of):
        return current
    return ObjectType(of)


def _all(terms: tuple[Term, ...], types: dict[str, ObjectKind], *, positive: bool) -> Facts:
    facts: Facts = {}
    for term in terms:
        facts |= when_true(term, types) if positive else when_false(term, types)
    return facts
