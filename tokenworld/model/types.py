"""Value types of the checked model.

Exact numbers are integers scaled by a number of decimals (``12.5`` with one decimal is 125), so
every later stage computes with whole numbers. Enum values are positions in the declaration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, assert_never

from tokenworld.diagnostics.frozen import frozen

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler


class ByKind:
    """Tells pydantic to choose a member of a union by its field ``kind`` (`model.schema`).

    Without it, pydantic tries each member at each level of a term: time exponential in its depth.
    """

    @staticmethod
    def __get_pydantic_core_schema__(union: Any, handler: GetCoreSchemaHandler) -> Any:
        from pydantic import Discriminator

        return Discriminator("kind").__get_pydantic_core_schema__(union, handler)


@frozen
class BoolType:
    """Truth values."""

    kind: Literal["bool"] = "bool"


@frozen
class EnumType:
    """A member of an enumeration; at run time its position, counted from 0."""

    name: str
    optional: bool = False
    kind: Literal["enum"] = "enum"


@frozen
class ObjectType:
    """A reference to an object of a type; at run time its dense number (``id``)."""

    name: str
    optional: bool = False
    kind: Literal["object"] = "object"


@frozen
class NumberType:
    """An exact number: an integer in units of 10**-decimals.

    ``low`` and ``high`` are scaled bounds, ``None`` where there is none (``int`` has neither).
    """

    low: int | None = None
    high: int | None = None
    decimals: int = 0
    unit: str = ""
    optional: bool = False
    kind: Literal["number"] = "number"


@frozen
class RealType:
    """An IEEE double."""

    optional: bool = False
    kind: Literal["real"] = "real"


@frozen
class TextType:
    """Prose; it supports equality only."""

    optional: bool = False
    kind: Literal["text"] = "text"


@frozen
class NoneType:
    """The type of the literal ``none`` alone."""

    kind: Literal["none"] = "none"


@frozen
class CollectionType:
    """A finite sequence that can be iterated, folded and tested with ``in``, never stored."""

    element: ValueType
    kind: Literal["collection"] = "collection"


ValueType = Annotated[
    BoolType | EnumType | ObjectType | NumberType | RealType | TextType | NoneType | CollectionType,
    ByKind,
]

BOOL = BoolType()
NONE = NoneType()
REAL = RealType()
TEXT = TextType()


def is_optional(value_type: ValueType) -> bool:
    """Return whether a value of this type may be ``none``."""
    match value_type:
        case NoneType():
            return True
        case BoolType() | CollectionType():
            return False
        case EnumType() | ObjectType() | NumberType() | RealType() | TextType():
            return value_type.optional
        case _:
            assert_never(value_type)


def without_none(value_type: ValueType) -> ValueType:
    """The same type with ``none`` excluded."""
    match value_type:
        case EnumType(name=name):
            return EnumType(name)
        case ObjectType(name=name):
            return ObjectType(name)
        case NumberType(low=low, high=high, decimals=decimals, unit=unit):
            return NumberType(low, high, decimals, unit)
        case RealType():
            return REAL
        case TextType():
            return TEXT
        case BoolType() | NoneType() | CollectionType():
            return value_type
        case _:
            assert_never(value_type)


def scaled_text(value: int, decimals: int, unit: str = "") -> str:
    """The decimal notation of a scaled number: ``scaled_text(125, 1, "kg") == "12.5kg"``."""
    if unit == "%":  # 25% is the number 0.25
        value, decimals = value * 10 ** max(0, 2 - decimals), max(0, decimals - 2)
    sign, digits = ("-" if value < 0 else ""), str(abs(value)).rjust(decimals + 1, "0")
    whole, part = digits[: len(digits) - decimals], digits[len(digits) - decimals :]
    return f"{sign}{whole}{'.' + part if decimals else ''}{unit}"


def show_type(value_type: ValueType) -> str:
    """The type as an author would write it, for messages."""
    suffix = "?" if is_optional(value_type) else ""
    match value_type:
        case EnumType(name=name) | ObjectType(name=name):
            return name + suffix
        case NumberType(low=None) | NumberType(high=None):
            return "int" + suffix
        case NumberType(low=int() as low, high=int() as high) if low == high:
            return scaled_text(low, value_type.decimals, value_type.unit) + suffix
        case NumberType(low=int() as low, high=int() as high, decimals=decimals, unit=unit):
            bounds = (scaled_text(bound, decimals, unit) for bound in (low, high))
            return " to ".join(bounds) + suffix
        case CollectionType(element=element):
            return f"collection of {show_type(element)}"
        case NoneType():
            return "none"
        case NumberType() | BoolType() | RealType() | TextType():
            return value_type.kind + suffix
        case _:
            assert_never(value_type)
