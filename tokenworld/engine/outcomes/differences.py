"""Why an observed successor is impossible: the first slot in which no outcome agrees with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.outcomes.seen import Seen
from tokenworld.engine.rows.layout import KINDS, NAMES, TICK, Slots
from tokenworld.engine.saved.digest import header_json
from tokenworld.engine.state import State
from tokenworld.ground import Json, Raw, show_value, value_text
from tokenworld.model import ValueType

__all__ = ["SlotDifference", "first_difference", "other_population"]


@frozen
class SlotDifference:
    """The slot in which no outcome agrees with the observation: the values in the outcomes, and the
    rules that may write it. Parts that are no slots have their names in the JSON of states."""

    fluent: str
    args: tuple[Json, ...]
    seen: Json
    predicted: tuple[Json, ...]
    rules: tuple[str, ...] = ()

    def text(self) -> str:
        """As people read it: ``Hen.at(ida): nest was observed, the rules give yard``."""
        args = ", ".join(map(str, self.args))
        place = f"{self.fluent}({args})" if args else self.fluent
        given = " or ".join(map(_said, self.predicted))
        by = f" (written by {', '.join(self.rules)})" if self.rules else ""
        return f"{place}: {_said(self.seen)} was observed, the rules give {given}{by}"

    def to_json(self) -> dict[str, Json]:
        return {
            "fluent": self.fluent,
            "args": list(self.args),
            "seen": self.seen,
            "predicted": list(self.predicted),
            "rules": list(self.rules),
        }


def _said(value: Json) -> str:
    if isinstance(value, list):
        return ", ".join(map(value_text, value)) or "nothing"
    return value_text(value)


def first_difference(known: Seen, nearest: list[Any] | None) -> SlotDifference:
    """The slot in which everything contradicted the observed successor, or else the first one in
    which the row of one outcome differs from it."""
    slots, found = known.slots, known.conflict
    if found is not None and found.slot == KINDS:
        return _peopled(known, *found.values)
    if found is not None:
        return _of_slot(known, found.slot, found.values)
    if nearest is None:
        by = () if known.broken is None else known.broken.rules
        return SlotDifference("tick", (), known.S[TICK], (known.first(TICK),), by)
    slots.fill(nearest)
    if nearest[KINDS] != known.S[KINDS] and known.fields is None:
        return _peopled(known, nearest[KINDS])
    for slot, value in enumerate(nearest):
        if known.counts(slot) and value != known.value(slot):
            return _of_slot(known, slot, [value])
    one, other = header_json(slots.decode(known.S)), header_json(slots.decode(nearest))
    for key in {**one, **other}:
        if one.get(key) != other.get(key):
            return SlotDifference(key, (), one.get(key), (other.get(key),))
    return SlotDifference("state", (), "another", ("one with the same visible parts",))


def _of_slot(known: Seen, slot: int, values: list[Any]) -> SlotDifference:
    slots, store = known.slots, known.slots.owner[slot]
    assert store is not None
    fluent = store.column.fluent
    args = zip(fluent.params, slots.args[slot], strict=True)
    given = dict.fromkeys(_shown(known, fluent.type, value) for value in values)
    return SlotDifference(
        fluent.id, tuple(_shown(known, one.type, value) for one, value in args),
        _shown(known, fluent.type, known.value(slot)), tuple(given), known.writers(fluent.id),
    )  # fmt: skip


def _shown(known: Seen, kind: ValueType, value: Raw) -> Json:
    names = known.S[NAMES]
    if kind.kind == "object" and isinstance(value, int) and value >= len(names):
        return f"object {value}"
    return show_value(known.slots.program, names, kind, value)


def _peopled(known: Seen, *kinds: tuple[str | None, ...]) -> SlotDifference:
    """The observed population differs."""
    return _unlike(known.S[KINDS], *kinds)


def _unlike(seen: Sequence[str | None], *kinds: Sequence[str | None]) -> SlotDifference:
    """The objects that not all agree on, by number and type."""
    every = [seen, *kinds]
    size = max(map(len, every))
    whole = [[*one, *(None for _ in range(size - len(one)))] for one in every]
    apart = [at for at, types in enumerate(zip(*whole, strict=True)) if len(set(types)) > 1]
    told: list[list[Json]] = [
        [f"{one[at]} (number {at})" for at in apart if one[at] is not None] for one in whole
    ]
    first, *others = told
    given = dict.fromkeys(tuple(one) for one in others)
    return SlotDifference("objects", (), first, tuple(list(one) for one in given))


def other_population(slots: Slots, seen: State) -> SlotDifference:
    """An observed state has other objects or other unchanging facts than the state before it."""
    base = slots.base
    if len(seen.kinds) < len(base.kinds):
        return _unlike(seen.kinds, base.kinds)
    for store in slots.stores:
        if not store.live and seen.cols[store.column.index] != base.cols[store.column.index]:
            fluent = store.column.fluent.id
            return SlotDifference(fluent, (), "another value", ("one that never changes",))
    return _unlike(seen.kinds, base.kinds)
