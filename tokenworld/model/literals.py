"""The leaves of terms: literals, the names of single things, ranges and words without a term."""

from __future__ import annotations

from typing import Literal

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model.types import ValueType

__all__ = [
    "BoolLiteral",
    "EnumLiteral",
    "IntervalRange",
    "Local",
    "Me",
    "NoneLiteral",
    "NumberLiteral",
    "ObjectLiteral",
    "ParamRead",
    "TextPart",
    "TypeRange",
]


@frozen
class BoolLiteral:
    value: bool
    type: ValueType
    span: Span
    kind: Literal["bool_literal"] = "bool_literal"


@frozen
class NumberLiteral:
    """``value`` is scaled by the decimals of ``type``, a `NumberType`."""

    value: int
    type: ValueType
    span: Span
    kind: Literal["number_literal"] = "number_literal"


@frozen
class EnumLiteral:
    enum: str
    member: str
    index: int
    type: ValueType
    span: Span
    kind: Literal["enum_literal"] = "enum_literal"


@frozen
class NoneLiteral:
    type: ValueType
    span: Span
    kind: Literal["none_literal"] = "none_literal"


@frozen
class ObjectLiteral:
    """A named object: top-level, of a world, or made by its setup."""

    name: str
    type: ValueType
    span: Span
    kind: Literal["object_literal"] = "object_literal"


@frozen
class ParamRead:
    """A ``param``: constant in one world, overridable by the world or a scenario."""

    name: str
    type: ValueType
    span: Span
    kind: Literal["param_read"] = "param_read"


@frozen
class Local:
    """A parameter, loop variable, ``let`` or created object of the enclosing rule."""

    name: str
    type: ValueType
    span: Span
    kind: Literal["local"] = "local"


@frozen
class Me:
    """The acting object (language.md §6)."""

    type: ValueType
    span: Span
    kind: Literal["me"] = "me"


@frozen
class TypeRange:
    """All live objects of a type, or all members of an enum, in declaration order."""

    of: ValueType
    kind: Literal["type_range"] = "type_range"


@frozen
class IntervalRange:
    """The whole numbers from ``low`` to ``high``, both included."""

    low: int
    high: int
    kind: Literal["interval_range"] = "interval_range"


@frozen
class TextPart:
    text: str
    kind: Literal["text_part"] = "text_part"
