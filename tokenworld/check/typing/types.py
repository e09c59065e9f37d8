"""Value types: subtypes, joins, assignability; the types of number literals and written types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, assert_never

from tokenworld import model as m
from tokenworld.check.draft import Draft
from tokenworld.diagnostics import did_you_mean
from tokenworld.model import is_optional, without_none
from tokenworld.syntax import nodes as syn
from tokenworld.syntax.hint_words import TYPES

Types = Mapping[str, m.ObjectKind]


def is_subtype(types: Types, name: str, ancestor: str) -> bool:
    """Return whether every ``name`` is an ``ancestor``."""
    return ancestor == m.ROOT or (name in types and ancestor in types[name].ancestors)


def optional(value_type: m.ValueType) -> m.ValueType:
    """The same type with ``none`` allowed (truth values and collections never are)."""
    match value_type:
        case m.BoolType() | m.CollectionType() | m.NoneType():
            return value_type
        case m.ObjectType(name=name, optional=known):  # most arguments are objects
            return value_type if known else m.ObjectType(name, True)
        case m.EnumType() | m.NumberType() | m.RealType() | m.TextType():
            return replace(value_type, optional=True)
        case _:
            assert_never(value_type)


def same_unit(left: str, right: str) -> bool:
    """Return whether two units agree; a percentage is a plain number (25% is 0.25)."""
    return left == right or {left, right} == {"", "%"}


def _common_ancestor(types: Types, left: str, right: str) -> str:
    if is_subtype(types, left, right):
        return right
    if is_subtype(types, right, left):
        return left
    shared = (name for name in types[left].ancestors if is_subtype(types, right, name))
    return next(shared, m.ROOT)


def join(types: Types, left: m.ValueType, right: m.ValueType) -> m.ValueType | None:
    """The least type of both; ``None`` if there is none."""
    if isinstance(left, m.NoneType) or isinstance(right, m.NoneType):
        other = right if isinstance(left, m.NoneType) else left
        return optional(other) if not isinstance(other, m.NoneType) else m.NONE
    either = is_optional(left) or is_optional(right)
    joined = _join_present(types, without_none(left), without_none(right))
    return optional(joined) if joined is not None and either else joined


def _join_present(types: Types, left: m.ValueType, right: m.ValueType) -> m.ValueType | None:
    match left, right:
        case m.ObjectType(name=one), m.ObjectType(name=other):
            return m.ObjectType(_common_ancestor(types, one, other))
        case m.NumberType(), m.NumberType() if same_unit(left.unit, right.unit):
            low = None if left.low is None or right.low is None else min(left.low, right.low)
            high = None if left.high is None or right.high is None else max(left.high, right.high)
            return m.NumberType(low, high, max(left.decimals, right.decimals), left.unit)
        case m.NumberType() | m.RealType(), m.NumberType() | m.RealType():
            return m.RealType()
        case m.CollectionType(element=one_), m.CollectionType(element=other_):
            element = join(types, one_, other_)
            return None if element is None else m.CollectionType(element)
        case _:
            return left if left == right else None


def assignable(types: Types, value: m.ValueType, target: m.ValueType) -> bool:
    """Return whether a value may be stored or passed where ``target`` is wanted, `none` aside.

    Decimals, units and ranges are checked apart, where the message can name them.
    """
    match value, target:
        case m.NoneType(), _:
            return is_optional(target)
        case m.ObjectType(name=name), m.ObjectType(name=ancestor):
            return is_subtype(types, name, ancestor)
        case m.EnumType(name=name), m.EnumType(name=other):
            return name == other
        case m.NumberType(), m.NumberType() | m.RealType():
            return True
        case _:
            return type(value) is type(target)


def can_equal(types: Types, left: m.ValueType, right: m.ValueType) -> bool:
    """Return whether values of the two types can ever be equal."""
    match left, right:
        case m.NoneType(), _:
            return is_optional(right) or isinstance(right, m.NoneType)
        case _, m.NoneType():
            return can_equal(types, right, left)
        case m.ObjectType(name=one), m.ObjectType(name=other):
            if is_subtype(types, one, other) or is_subtype(types, other, one):
                return True
            both = (kind.ancestors for kind in types.values())
            return any(one in ancestors and other in ancestors for ancestors in both)
        case m.NumberType() | m.RealType(), m.NumberType() | m.RealType():
            return True
        case m.EnumType(name=one), m.EnumType(name=other):
            return one == other
        case _:
            return type(left) is type(right)


def number_type(draft: Draft, number: syn.Number) -> m.NumberType:
    """The one-value type of a literal: its scaled value, decimals and unit.

    ``25%`` is 25 with two decimals; a multiple such as ``3l`` with ``unit l = 1000ml`` is
    counted in the base unit.
    """
    value, unit = number.scaled, number.unit or ""
    if unit == "%":
        return m.NumberType(value, value, number.decimals + 2, "%")
    if unit:
        if unit not in draft.units:
            near = None if len(unit) == 1 else did_you_mean(unit, draft.units)
            like = [one for one in draft.units if unit in one]  # `l` for `ml`, but not for `c`
            near = near or (did_you_mean(unit, like) if like else None)
            plain = "" if draft.units else ", or write the number alone"
            hint = near or f"Declare it with `unit {unit}`{plain}."
            if unit in ("pct", "percent", "pc"):
                hint = "Write `50%`."
            draft.stop("TW0201", f"There is no unit `{unit}`.", number.span, "unknown unit", hint)
        declared = draft.units[unit]
        value, unit = value * declared.multiple, declared.base
    return m.NumberType(value, value, number.decimals, unit)


def bound_of(draft: Draft, bound: syn.Bound) -> m.NumberType:
    """The one-value type of a bound of a range, which may have a minus sign."""
    if isinstance(bound, syn.Number):
        return number_type(draft, bound)
    if not isinstance(bound.operand, syn.Number):
        draft.stop("TW0301", "A bound of a range is a number.", bound.span, "not a number")
    found = number_type(draft, bound.operand)
    value = -(found.low or 0)
    return m.NumberType(value, value, found.decimals, found.unit)


def _range(draft: Draft, node: syn.RangeType) -> m.NumberType:
    low, high = bound_of(draft, node.low), bound_of(draft, node.high)
    if not same_unit(low.unit, high.unit):
        draft.stop("TW0303", "The bounds of a range have different units.", node.span, "units")
    decimals = max(low.decimals, high.decimals)
    first = (low.low or 0) * 10 ** (decimals - low.decimals)
    last = (high.low or 0) * 10 ** (decimals - high.decimals)
    if first > last:
        hint = "Write the lower bound first."
        draft.stop("TW0308", "The range is empty.", node.span, "no number lies in it", hint)
    if max(abs(first), abs(last)) > 2**62:
        draft.stop("TW0308", "The range is too wide.", node.span, hint="Stay within ±2⁶².")
    return m.NumberType(first, last, decimals, high.unit or low.unit)


def _named(draft: Draft, name: syn.Name) -> m.ValueType:
    if name.value in draft.enums:
        return m.EnumType(name.value)
    if name.value == m.ROOT or name.value in draft.types:
        return m.ObjectType(name.value)
    known = (*draft.types, *draft.enums, m.ROOT)
    foreign = TYPES.get(name.value.lower())
    hint = f"Write {foreign}." if foreign else did_you_mean(name.value, known)
    hint = hint or "Declare it with `type` or `enum`."
    draft.stop("TW0202", f"There is no type `{name.value}`.", name.span, "unknown type", hint)


MOST_REPEATED: Final = 10_000
"""How often a step of a scenario may be repeated, and how many spare objects a line may declare."""


def whole(draft: Draft, number: syn.Number, least: int = 0, most: int | None = None) -> int:
    """A number of ticks, steps or objects: whole, from ``least`` to ``most``."""
    if number.decimals:
        hint = "Write a whole number."
        draft.stop("TW0305", "Only whole numbers count here.", number.span, "decimals", hint)
    if number.scaled < least:
        hint = f"Write at least {least}."
        draft.stop("TW0308", f"At least {least} is needed.", number.span, "too few", hint)
    if most is not None and number.scaled > most:
        hint = f"Write at most {most}."
        draft.stop("TW0308", f"At most {most} are allowed.", number.span, "too many", hint)
    return number.scaled


def object_type(draft: Draft, name: syn.Name) -> str:
    """The name of an object type, where no other type will do."""
    if name.value in draft.types:
        return name.value
    if name.value in draft.enums:
        what = f"`{name.value}` is an enum, and a type of objects is needed."
        draft.stop("TW0301", what, name.span, "not a type of objects", "Name a type.")
    hint = did_you_mean(name.value, draft.types) or "Declare it with `type`."
    draft.stop("TW0202", f"There is no type `{name.value}`.", name.span, "unknown type", hint)


def type_of_ref(draft: Draft, ref: syn.TypeRef) -> m.ValueType:
    """The value type that an author wrote for a fluent."""
    match ref:
        case syn.NamedType(name=name):
            found = _named(draft, name)
        case syn.PrimitiveType(kind="bool"):
            found = m.BOOL
        case syn.PrimitiveType(kind="int"):
            found = m.NumberType()
        case syn.PrimitiveType(kind="real"):
            found = m.REAL
        case syn.PrimitiveType():
            found = m.TEXT
        case syn.RangeType():
            return _range(draft, ref)
        case _:
            assert_never(ref)
    if not ref.optional:
        return found
    if found == m.BOOL:
        hint = "Write `bool`, or an enum with a member for the third case."
        draft.stop("TW0310", "A truth value is never `none`.", ref.span, "`bool?`", hint)
    return optional(found)


def kind_type(draft: Draft, kind: syn.TypeRef | None) -> m.ValueType:
    """The type a parameter or loop variable ranges over; without one, any object."""
    if kind is None:
        return m.ObjectType(m.ROOT)
    if isinstance(kind, syn.PrimitiveType):
        what = f"A parameter stands for one of a list of values, and `{kind.kind}` has none."
        hint = "Write a type of objects, an enum or a range: derives and effects take the others."
        draft.stop("TW0301", what, kind.span, f"`{kind.kind}`", hint)
    if isinstance(kind, syn.RangeType):
        return _range(draft, kind)
    if kind.optional:
        hint = "Leave out the `?`: a variable always stands for something."
        draft.stop("TW0301", "A variable cannot range over `none`.", kind.span, "optional", hint)
    return _named(draft, kind.name)
