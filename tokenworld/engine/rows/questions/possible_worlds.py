"""Evaluate questions for all values that the secrets of a state may have (supervaluation).

An evaluation runs the same compiled code as a search. When it reads a secret slot, `Asked` names
the slot, and the evaluation restarts for each value that the type of the slot allows. So only
slots that are read are enumerated, and only if they matter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeVar

from tokenworld.engine.luck import SeededLuck
from tokenworld.engine.rows.layout import ROUND
from tokenworld.engine.rows.log import Row
from tokenworld.engine.rows.questions.hidden import MOST, Asked, HiddenRow, TooMany
from tokenworld.engine.rows.stepper import RowStepper, Tick
from tokenworld.engine.state import State
from tokenworld.ground import Raw

T = TypeVar("T")


class PossibleWorlds:
    """The row of a state in which the slots of secret fluents ask for their values. The stepper
    keeps all facts in its rows, because unchanging facts may be secret."""

    def __init__(self, stepper: RowStepper, state: State, secret: Collection[str]) -> None:
        self._stepper, slots = stepper, stepper.slots
        S = slots.encode(state)
        began = S[ROUND]
        self._rows = [HiddenRow(one, slots, secret) for one in (S, began) if one is not None]
        if began is not None:
            self._rows[0][ROUND] = self._rows[1]
        self._row = Row(slots, self._rows[0])

    def some(self, test: Callable[[Tick], bool]) -> bool:
        """Return whether a test holds for some values of the secrets, or they are too many."""
        try:
            return any(self._each(test))
        except TooMany:
            return True

    def every(self, read: Callable[[Tick], T]) -> frozenset[T] | None:
        """All results of a reading; ``None`` where there are too many values to look at."""
        try:
            return frozenset(self._each(read))
        except TooMany:
            return None

    def _each(self, read: Callable[[Tick], T]) -> Iterator[T]:
        open_slots: list[tuple[Asked, Iterator[Raw]]] = []
        try:
            for _ in range(MOST):
                try:
                    yield self._once(read)
                except Asked as asked:
                    open_slots.append((asked, iter(self._allowed(asked))))
                if not _advance(open_slots):
                    return
            raise TooMany
        finally:
            for one, _ in open_slots:
                one.row.take(one.slot)

    def _once(self, read: Callable[[Tick], T]) -> T:
        """One reading, with the values given so far."""
        for one in self._rows:
            one.hide()
        self._stepper.slots.epoch += 1
        try:
            return read(Tick(self._stepper, self._row, SeededLuck()))
        finally:
            self._row.undo(0)

    def _allowed(self, asked: Asked) -> Collection[Raw]:
        store = self._stepper.slots.owner[asked.slot]
        assert store is not None
        return asked.row.allowed(store.column.fluent.type)


def _advance(open_slots: list[tuple[Asked, Iterator[Raw]]]) -> bool:
    """Give the last slot its next value, the one before where it has none; false at the end."""
    while open_slots:
        asked, values = open_slots[-1]
        for value in values:
            asked.row.give(asked.slot, value)
            return True
        asked.row.take(asked.slot)
        open_slots.pop()
    return False
