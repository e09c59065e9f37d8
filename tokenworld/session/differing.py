"""What differs between two states, slot by slot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokenworld.ground import Json
from tokenworld.model import Fluent

__all__ = ["SlotChange", "differences", "slot_text", "slots_of"]


@dataclass(frozen=True, slots=True)
class SlotChange:
    """A slot by its name with both values; ``None`` where a state does not have it, too."""

    slot: str
    old: Json
    new: Json


def slots_of(state: Mapping[str, Json]) -> dict[str, Json]:
    """Every slot of a state (``tw-state/1``) by its name, in the order of the state's JSON.

    The name of an object stands for its type, ``chest.open`` for an attribute, ``linked(a, b)`` for
    a row of a table.
    """
    return dict(_listed(state))


def _listed(state: Mapping[str, Any]) -> Iterator[tuple[str, Json]]:
    for one in state["objects"]:
        yield one["name"], one["type"]
        for name, value in one["attrs"].items():
            yield f"{one['name']}.{name}", value
    for name, rows in state["functions"].items():
        for args, value in rows:
            yield _row(name, args), value
    for name, rows in state["relations"].items():
        for args in rows:
            yield _row(name, args), True


def slot_text(fluent: Fluent, args: Sequence[Json]) -> str:
    """The name of a fluent's slot: ``chest.open`` for an attribute, ``linked(a, b)`` else."""
    if fluent.fluent_kind == "attribute" and len(args) == 1:
        return f"{args[0]}.{fluent.name}"
    return _row(fluent.name, args) if args else fluent.name


def _row(table: str, args: Sequence[Json]) -> str:
    return f"{table}({', '.join(map(str, args))})"


def differences(old: Mapping[str, Json], new: Mapping[str, Json]) -> tuple[SlotChange, ...]:
    """The slots that differ between two states, as `slots_of` names them."""
    return tuple(
        SlotChange(slot, old.get(slot), new.get(slot))
        for slot in dict.fromkeys((*old, *new))
        if (slot in old, old.get(slot)) != (slot in new, new.get(slot))
    )
