"""The grid: what a layout makes of its rows, and where one step leads (language.md §12)."""

from __future__ import annotations

from tokenworld.check.attributes import attribute_of
from tokenworld.check.draft import Draft
from tokenworld.check.relations import is_subtype
from tokenworld.model import (
    EnumType,
    Fluent,
    NumberType,
    ObjectType,
    Term,
    ValueType,
)

__all__ = ["COMPASS", "coordinate_of", "is_step", "step_of", "step_type"]

COMPASS: dict[str, tuple[int, int]] = {
    "north": (0, -1),
    "east": (1, 0),
    "south": (0, 1),
    "west": (-1, 0),
}
"""Directions of the grid by the name of their enum member: columns count from the left, rows from
the top."""


def is_step(fluent: Fluent, draft: Draft) -> bool:
    """Whether layouts fill this function: ``step(c: Cell, d: Direction): Cell?``."""
    name = fluent.name.removeprefix(draft.namespace(fluent.span).prefix)
    if fluent.fluent_kind != "function" or name != "step" or len(fluent.params) != 2:
        return False
    cell, direction = (param.type for param in fluent.params)
    if not isinstance(cell, ObjectType) or not isinstance(direction, EnumType):
        return False
    if not isinstance(fluent.type, ObjectType) or not fluent.type.optional:
        return False
    compass = set(COMPASS) <= set(draft.enums[direction.name].members)
    return compass and is_subtype(draft.types, cell.name, fluent.type.name)


def step_type(fluent: Fluent, args: tuple[Term, ...], draft: Draft) -> ValueType:
    """The type of a call: on a subtype of the cells a step leads to that subtype again."""
    if not is_step(fluent, draft) or not isinstance(fluent.type, ObjectType):
        return fluent.type
    start = args[0].type
    if isinstance(start, ObjectType) and is_subtype(draft.types, start.name, fluent.type.name):
        return ObjectType(start.name, optional=True)
    return fluent.type


def step_of(draft: Draft, of: str) -> Fluent | None:
    """The function that a layout of cells of a type fills."""
    for fluent in draft.fluents.values():
        if is_step(fluent, draft):
            cell = fluent.params[0].type
            if isinstance(cell, ObjectType) and is_subtype(draft.types, of, cell.name):
                return fluent
    return None


def coordinate_of(draft: Draft, of: str, name: str) -> Fluent | None:
    """The attribute that takes the column (``x``) or the row (``y``) of a cell."""
    fluent = attribute_of(draft, of, name)
    if fluent is None or not isinstance(fluent.type, NumberType):
        return None
    return fluent if fluent.type.decimals == 0 and not fluent.type.unit else None
