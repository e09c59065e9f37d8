"""Indexes of facts that play never changes, for the loops that look rows up by what is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tokenworld.engine.layout import Column
from tokenworld.engine.state import State

__all__ = ["Index"]


@dataclass(frozen=True, slots=True)
class Index:
    """Rows of a fact that play does not change: those parts that are looked for, by those that are
    known. ``valued``: the last part is the value of a slot."""

    column: Column
    known: tuple[int, ...]
    wanted: tuple[int, ...]
    valued: bool

    def build(self, state: State) -> Any:
        """By the known parts: the wanted ones, as a value or a tuple, in order."""
        found: dict[Any, list[Any]] = {}
        for row in _rows(state, self.column, valued=self.valued):
            key = tuple(row[place] for place in self.known)
            wanted = tuple(row[place] for place in self.wanted)
            found.setdefault(key, []).append(wanted[0] if len(wanted) == 1 else wanted)
        for rows in found.values():
            rows.sort()
        return found


def _rows(state: State, column: Column, *, valued: bool) -> list[tuple[Any, ...]]:
    stored = state.cols[column.index]
    if valued:
        alive = (number for number, kind in enumerate(state.kinds) if kind is not None)
        return [(one, stored[one]) for one in alive if stored[one] is not None]
    if column.by_object:
        return [(number,) for number, holds in enumerate(stored) if holds]
    held = [key for key, holds in stored.items() if holds]
    return [*held, *((b, a) for a, b in held)] if column.fluent.symmetric else held
