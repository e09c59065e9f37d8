"""What columns hold, by number: states are put together of columns that others had before.

A change is a list of columns that are others now, each by its place among those that are numbered
(see `marks`) and the number of what it holds. What a number stands for is kept the first time that
a state has it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokenworld.engine.layout import Column
from tokenworld.engine.searching.marks import Marks
from tokenworld.engine.state import State
from tokenworld.engine.trail import Slot

__all__ = ["Change", "Parts", "Patches", "changed"]

Parts = Sequence[int]
Change = tuple[tuple[int, int], ...]
"""Columns that are others now: their places, and the numbers of what they hold."""
_MOST = 1 << 16
"""Pairs of columns of which it is kept in which slots they differ."""


class Patches:
    """The columns of the states of one search."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._columns: tuple[Column, ...] = marks.columns
        self._held: list[dict[int, tuple[Any, Any]]] = [{} for _ in self._columns]
        self._apart: dict[tuple[int, int, int], list[Slot]] = {}

    def between(self, before: Parts, after: State) -> Change:
        """The columns in which a state differs; what they hold is kept."""
        found = []
        for place, number in enumerate(self._marks.parts_of(after)):
            if number != before[place]:
                found.append((place, number))
                index = self._columns[place].index
                self._held[place].setdefault(number, (after.cols[index], after.kids[index]))
        return tuple(found)

    def put(self, state: State, change: Change) -> State:
        """A fork with other columns; they are shared, as those of the state are."""
        new = state.fork()
        for place, number in change:
            index = self._columns[place].index
            new.cols[index], new.kids[index] = self._held[place][number]
        return new

    def made(self, state: State, parts: Parts, change: Change) -> State:
        """The same for a state that is kept: its trail tells in which slots it differs from
        ``state``, whose columns have the numbers ``parts``."""
        new = self.put(state, change)
        for place, number in change:
            new.trail.slots += self._differing(state, place, parts[place], number)
        return new

    def _differing(self, state: State, place: int, before: int, after: int) -> list[Slot]:
        key = place, before, after
        slots = self._apart.get(key)
        if slots is None:
            if len(self._apart) >= _MOST:
                self._apart.clear()
            held = self._held[place][after]
            slots = self._apart[key] = _differing(self._columns[place], state, held)
        return slots


def changed(parts: Parts, change: Change) -> Parts:
    """The numbers of the columns after a change."""
    if not change:
        return parts
    found = list(parts)
    for place, number in change:
        found[place] = number
    return found


def _differing(column: Column, state: State, held: tuple[Any, Any]) -> list[Slot]:
    """The slots of a column in which a state differs from what is put there instead."""
    index, (stored, children) = column.index, held
    before, kids = state.cols[index], state.kids[index]
    if isinstance(stored, dict):
        keys = [key for key, _ in stored.items() ^ before.items()]
    else:
        pairs = zip(before, stored, strict=True)
        keys = [key for key, (old, new) in enumerate(pairs) if old is not new and old != new]
        if column.fluent.ordered and children is not None:
            moved = (pair for pair in zip(kids, children, strict=True) if pair[0] != pair[1])
            keys += [child for pair in moved for one in pair for child in one]
    return [(index, key) for key in keys]
