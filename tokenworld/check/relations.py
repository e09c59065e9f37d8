"""How value types relate: subtypes, joins, what may be stored where, what can be equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tokenworld.model import (
    NONE,
    ROOT,
    BoolType,
    CollectionType,
    EnumType,
    NoneType,
    NumberType,
    ObjectKind,
    ObjectType,
    RealType,
    ValueType,
    is_optional,
    without_none,
)

__all__ = ["assignable", "can_equal", "is_subtype", "join", "optional", "same_unit"]

Types = Mapping[str, ObjectKind]


def is_subtype(types: Types, name: str, ancestor: str) -> bool:
    """Whether every ``name`` is an ``ancestor``."""
    return ancestor == ROOT or (name in types and ancestor in types[name].ancestors)


def optional(value_type: ValueType) -> ValueType:
    """The same type with ``none`` allowed (truth values and collections never are)."""
    match value_type:
        case BoolType() | CollectionType() | NoneType():
            return value_type
        case ObjectType(name=name, optional=known):  # most arguments are objects
            return value_type if known else ObjectType(name, True)
        case _:
            return replace(value_type, optional=True)


def same_unit(left: str, right: str) -> bool:
    """Whether two units agree; a percentage is a plain number (25% is 0.25)."""
    return left == right or {left, right} == {"", "%"}


def _common_ancestor(types: Types, left: str, right: str) -> str:
    if is_subtype(types, left, right):
        return right
    if is_subtype(types, right, left):
        return left
    shared = (name for name in types[left].ancestors if is_subtype(types, right, name))
    return next(shared, ROOT)


def join(types: Types, left: ValueType, right: ValueType) -> ValueType | None:
    """The least type of both; ``None`` if there is none."""
    if isinstance(left, NoneType) or isinstance(right, NoneType):
        other = right if isinstance(left, NoneType) else left
        return optional(other) if not isinstance(other, NoneType) else NONE
    either = is_optional(left) or is_optional(right)
    joined = _join_present(types, without_none(left), without_none(right))
    return optional(joined) if joined is not None and either else joined


def _join_present(types: Types, left: ValueType, right: ValueType) -> ValueType | None:
    match left, right:
        case ObjectType(name=one), ObjectType(name=other):
            return ObjectType(_common_ancestor(types, one, other))
        case NumberType(), NumberType() if same_unit(left.unit, right.unit):
            low = None if left.low is None or right.low is None else min(left.low, right.low)
            high = None if left.high is None or right.high is None else max(left.high, right.high)
            return NumberType(low, high, max(left.decimals, right.decimals), left.unit)
        case NumberType() | RealType(), NumberType() | RealType():
            return RealType()
        case CollectionType(element=one_), CollectionType(element=other_):
            element = join(types, one_, other_)
            return None if element is None else CollectionType(element)
        case _:
            return left if left == right else None


def assignable(types: Types, value: ValueType, target: ValueType) -> bool:
    """Whether a value may be stored or passed where ``target`` is wanted, `none` aside.

    Decimals, units and ranges are checked apart, where the message can name them.
    """
    match value, target:
        case NoneType(), _:
            return is_optional(target)
        case ObjectType(name=name), ObjectType(name=ancestor):
            return is_subtype(types, name, ancestor)
        case EnumType(name=name), EnumType(name=other):
            return name == other
        case NumberType(), NumberType() | RealType():
            return True
        case _:
            return type(value) is type(target)


def can_equal(types: Types, left: ValueType, right: ValueType) -> bool:
    """Whether values of the two types can ever be equal."""
    match left, right:
        case NoneType(), _:
            return is_optional(right) or isinstance(right, NoneType)
        case _, NoneType():
            return can_equal(types, right, left)
        case ObjectType(name=one), ObjectType(name=other):
            if is_subtype(types, one, other) or is_subtype(types, other, one):
                return True
            both = (kind.ancestors for kind in types.values())
            return any(one in ancestors and other in ancestors for ancestors in both)
        case NumberType() | RealType(), NumberType() | RealType():
            return True
        case EnumType(name=one), EnumType(name=other):
            return one == other
        case _:
            return type(left) is type(right)
