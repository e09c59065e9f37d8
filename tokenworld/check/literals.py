"""Numbers with units and the types that authors write."""

from __future__ import annotations

from tokenworld.check.draft import Draft
from tokenworld.check.relations import optional, same_unit
from tokenworld.diagnostics import did_you_mean
from tokenworld.model import (
    BOOL,
    REAL,
    ROOT,
    TEXT,
    EnumType,
    NumberType,
    ObjectType,
    ValueType,
)
from tokenworld.syntax import nodes as syn

__all__ = ["bound_of", "kind_type", "number_type", "object_type", "type_of_ref", "whole"]


def number_type(draft: Draft, number: syn.Number) -> NumberType:
    """The one-value type of a literal: its scaled value, decimals and unit.

    ``25%`` is 25 with two decimals; a multiple such as ``3l`` with ``unit l = 1000ml`` is
    counted in the base unit.
    """
    value, unit = number.scaled, number.unit or ""
    if unit == "%":
        return NumberType(value, value, number.decimals + 2, "%")
    if unit:
        if unit not in draft.units:
            hint = did_you_mean(unit, draft.units) or f"Declare it with `unit {unit}`."
            draft.stop("TW0201", f"There is no unit `{unit}`.", number.span, "unknown unit", hint)
        declared = draft.units[unit]
        value, unit = value * declared.multiple, declared.base
    return NumberType(value, value, number.decimals, unit)


def bound_of(draft: Draft, bound: syn.Bound) -> NumberType:
    """The one-value type of a bound of a range; a minus sign may stand before it."""
    if isinstance(bound, syn.Number):
        return number_type(draft, bound)
    if not isinstance(bound.operand, syn.Number):
        draft.stop("TW0301", "A bound of a range is a number.", bound.span, "not a number")
    found = number_type(draft, bound.operand)
    value = -(found.low or 0)
    return NumberType(value, value, found.decimals, found.unit)


def _range(draft: Draft, node: syn.RangeType) -> NumberType:
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
    return NumberType(first, last, decimals, high.unit or low.unit)


def _named(draft: Draft, name: syn.Name) -> ValueType:
    if name.value in draft.enums:
        return EnumType(name.value)
    if name.value == ROOT or name.value in draft.types:
        return ObjectType(name.value)
    known = (*draft.types, *draft.enums, ROOT)
    hint = did_you_mean(name.value, known) or "Declare it with `type` or `enum`."
    draft.stop("TW0202", f"There is no type `{name.value}`.", name.span, "unknown type", hint)


def whole(draft: Draft, number: syn.Number, least: int = 0) -> int:
    """A number of ticks, steps or objects: whole, and not below ``least``."""
    if number.decimals:
        hint = "Write a whole number."
        draft.stop("TW0305", "Only whole numbers count here.", number.span, "decimals", hint)
    if number.scaled < least:
        hint = f"Write at least {least}."
        draft.stop("TW0308", f"At least {least} is needed.", number.span, "too few", hint)
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


def type_of_ref(draft: Draft, ref: syn.TypeRef) -> ValueType:
    """The value type that an author wrote for a fluent."""
    match ref:
        case syn.NamedType(name=name):
            found = _named(draft, name)
        case syn.PrimitiveType(kind="bool"):
            found = BOOL
        case syn.PrimitiveType(kind="int"):
            found = NumberType()
        case syn.PrimitiveType(kind="real"):
            found = REAL
        case syn.PrimitiveType():
            found = TEXT
        case syn.RangeType():
            return _range(draft, ref)
    if not ref.optional:
        return found
    if found == BOOL:
        hint = "Write `bool`, or an enum with a member for the third case."
        draft.stop("TW0310", "A truth value is never `none`.", ref.span, "`bool?`", hint)
    return optional(found)


def kind_type(draft: Draft, kind: syn.Kind | None) -> ValueType:
    """The type a parameter or loop variable ranges over; without one, any object."""
    if kind is None:
        return ObjectType(ROOT)
    if isinstance(kind, syn.RangeType):
        return _range(draft, kind)
    if kind.optional:
        hint = "Leave out the `?`: a variable always stands for something."
        draft.stop("TW0301", "A variable cannot range over `none`.", kind.span, "optional", hint)
    return _named(draft, kind.name)
