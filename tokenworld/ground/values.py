"""Raw values and their exchange form.

Inside the engine, the planner and the store's callers a value is *raw*: a truth, a whole number (a
scaled exact number, an enum position or an object's number), a double, a text or ``None``. At the
border it is *shown*: names for objects and enum members, JSON numbers with declared decimals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import assert_never

from tokenworld import model as m

Raw = bool | int | float | str | None
Json = bool | int | float | str | None | Sequence["Json"] | Mapping[str, "Json"]


def implicit_default(value_type: m.ValueType) -> Raw:
    """The value of a slot that nothing sets (language.md §2)."""
    if m.is_optional(value_type):
        return None
    match value_type:
        case m.BoolType():
            return False
        case m.EnumType():
            return 0
        case m.NumberType(low=low, high=high):
            below = low is not None and low > 0
            above = high is not None and high < 0
            return low if below or above else 0
        case m.RealType():
            return 0.0
        case m.TextType():
            return ""
        case m.ObjectType() | m.NoneType() | m.CollectionType():
            return None
        case _:
            assert_never(value_type)


def show_value(
    program: m.Program, names: Sequence[str], value_type: m.ValueType, value: Raw
) -> bool | int | float | str | None:
    """The exchange form of a raw value; ``names`` are object names by number."""
    if value is None or isinstance(value, (bool, str, float)):
        return value
    if isinstance(value_type, m.ObjectType):
        return names[value]
    match value_type:
        case m.EnumType(name=enum):
            return program.enums[enum].members[value]
        case m.NumberType(decimals=decimals) if decimals:
            return float(Decimal(value).scaleb(-decimals))
        case (
            m.BoolType() | m.NumberType() | m.RealType() | m.TextType() | m.NoneType()
            | m.CollectionType()
        ):  # fmt: skip
            return value
        case _:
            assert_never(value_type)


def value_text(value: Json) -> str:
    """A shown value as an author writes it: ``true``, ``none``, a name or a number."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def values_text(values: Mapping[str, Json]) -> str:
    """Named values in a row: ``c.state = locked, me.energy = 80``."""
    return ", ".join(f"{name} = {value_text(value)}" for name, value in values.items())


def _number(value_type: m.NumberType, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        raise ValueError(f"{value!r} is not a number")
    try:
        scaled = Decimal(str(value)).scaleb(value_type.decimals)
    except InvalidOperation:
        raise ValueError(f"{value!r} is not a number") from None
    if not scaled.is_finite():
        raise ValueError(f"{value!r} is not a number")
    if scaled != scaled.to_integral_value():
        raise ValueError(f"{value} has more than {value_type.decimals} decimals")
    number = int(scaled)
    low, high = value_type.low, value_type.high
    if (low is not None and number < low) or (high is not None and number > high):
        raise ValueError(f"{value} is outside its range")
    return number


def read_value(
    program: m.Program, numbers: Mapping[str, int], value_type: m.ValueType, value: object
) -> Raw:
    """The raw value of an exchanged one.

    ``numbers`` are object numbers by name. Raises `ValueError` with a sentence where the value
    does not fit the type.
    """
    if value is None and m.is_optional(value_type):
        return None
    match value_type:
        case m.BoolType() if isinstance(value, bool):
            return value
        case m.EnumType(name=enum) if value in program.enums[enum].members:
            return program.enums[enum].members.index(str(value))
        case m.ObjectType() if isinstance(value, str) and value in numbers:
            return numbers[value]
        case m.NumberType():
            return _number(value_type, value)
        case m.RealType() if isinstance(value, (int, float)) and not isinstance(value, bool):
            return float(value)
        case m.TextType() if isinstance(value, str):
            return value
        case m.CollectionType():
            raise ValueError("a collection cannot be stored")
        case (
            m.BoolType()
            | m.EnumType()
            | m.ObjectType()
            | m.RealType()
            | m.TextType()
            | m.NoneType()
        ):
            raise ValueError(f"{value!r} does not fit here")
        case _:
            assert_never(value_type)
