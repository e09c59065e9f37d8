"""Narrowing: what a condition tells about the locals in it (language.md §4)."""

from __future__ import annotations

from collections.abc import Mapping

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

__all__ = ["Facts", "narrowed", "when_false", "when_true"]

Types = Mapping[str, ObjectKind]
Facts = dict[str, tuple[ValueType, ...]]
"""What is known of locals: every type that the value has, the first one leading.

Several types stand beside each other where none is a subtype of another: after `x is A` and
`x is B` of two mixins, or the common ancestors after `x is A or x is B`.
"""


def when_true(term: Term, types: Types) -> Facts:
    """The narrower types of locals where ``term`` holds."""
    match term:
        case Compare(op="!=", left=Local() as local, right=NoneLiteral()):
            return {local.name: (without_none(local.type),)}
        case Compare(op="!=", left=NoneLiteral(), right=Local() as local):
            return {local.name: (without_none(local.type),)}
        case IsType(term=Local() as local, of=of):
            return {local.name: (ObjectType(of),)}
        case And(terms=terms):
            return _all([when_true(part, types) for part in terms], types)
        case Or(terms=terms):
            return _some([when_true(part, types) for part in terms], types)
        case Implies(left=left, right=right):
            return _some([when_false(left, types), when_true(right, types)], types)
        case Not(term=inner):
            return when_false(inner, types)
        case _:
            return {}


def when_false(term: Term, types: Types) -> Facts:
    """The narrower types of locals where ``term`` does not hold."""
    match term:
        case Compare(op="==", left=Local() as local, right=NoneLiteral()):
            return {local.name: (without_none(local.type),)}
        case Compare(op="==", left=NoneLiteral(), right=Local() as local):
            return {local.name: (without_none(local.type),)}
        case Or(terms=terms):
            return _all([when_false(part, types) for part in terms], types)
        case And(terms=terms):
            return _some([when_false(part, types) for part in terms], types)
        case Not(term=inner):
            return when_true(inner, types)
        case Implies(left=left, right=right):
            return _all([when_true(left, types), when_false(right, types)], types)
        case _:
            return {}


def narrowed(
    before: tuple[ValueType, ...], fact: tuple[ValueType, ...], types: Types
) -> tuple[ValueType, ...]:
    """What is known of a value with the types ``before`` once ``fact`` holds too."""
    if not all(isinstance(kind, ObjectType) for kind in (*before, *fact)):
        return fact
    names = [kind.name for kind in (*fact, *before) if isinstance(kind, ObjectType)]
    return tuple(ObjectType(name) for name in _nearest(names, types))


def _nearest(names: list[str], types: Types) -> list[str]:
    """The types that no other one implies, each once."""
    kept = dict.fromkeys(names)
    return [
        name
        for name in kept
        if not any(other != name and is_subtype(types, other, name) for other in kept)
    ]


def _all(parts: list[Facts], types: Types) -> Facts:
    """What holds where every part does."""
    facts: Facts = {}
    for part in parts:
        for name, kinds in part.items():
            facts[name] = narrowed(facts[name], kinds, types) if name in facts else kinds
    return facts


def _some(parts: list[Facts], types: Types) -> Facts:
    """What holds where at least one part does: the nearest types common to all of them."""
    facts: Facts = {}
    for name in parts[0]:
        every = [part[name] for part in parts if name in part]
        common = _common(every, types) if len(every) == len(parts) else ()
        if common:
            facts[name] = common
    return facts


def _common(every: list[tuple[ValueType, ...]], types: Types) -> tuple[ValueType, ...]:
    if all(kinds == every[0] for kinds in every):
        return every[0]
    if not all(isinstance(kind, ObjectType) for kinds in every for kind in kinds):
        return ()
    names = [[kind.name for kind in kinds if isinstance(kind, ObjectType)] for kinds in every]
    ancestors = [above for name in names[0] if name in types for above in types[name].ancestors]
    shared = [
        one
        for one in dict.fromkeys(ancestors)
        if all(any(is_subtype(types, name, one) for name in each) for each in names)
    ]
    return tuple(ObjectType(name) for name in _nearest(shared, types))
