"""Which fields of a class of the model hold plain values, and which hold other parts of it."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Final

from tokenworld.diagnostics import Span

__all__ = ["Sorted", "sorted_fields"]

Sorted = tuple[tuple[str, ...], tuple[str, ...]]
"""The names of plain fields, and of the others; places and types of values are in neither."""

_PLAIN: Final = frozenset(
    ("str", "str | None", "int", "int | None", "bool", "tuple[str, ...]", "CompareOp",
     "ArithmeticOp", "AssignOp", "BuiltinName", "FoldKind", "FluentKind", "PhaseOrder",
     "EndingKind", "PickKey")
)  # fmt: skip
"""Annotations, as they are written, of fields without parts."""


def sorted_fields(kind: type) -> Sorted:
    """The fields of a class, each sort in written order; none for plain values and places."""
    if kind is Span or not is_dataclass(kind):
        return (), ()
    counted = [one for one in fields(kind) if one.name != "type" and one.type != "Span"]
    plain = [one.name for one in counted if _is_plain(str(one.type))]
    return tuple(plain), tuple([one.name for one in counted if one.name not in plain])


def _is_plain(annotation: str) -> bool:
    return annotation in _PLAIN or annotation.startswith("Literal[")
