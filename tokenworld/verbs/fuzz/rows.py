"""Rows of their own in `tw fuzz`: taken back and stepped again, loud and quiet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tokenworld.engine import Engine, State
from tokenworld.engine.rows import Record, Row, RowStepper
from tokenworld.engine.rows.legal import Legal
from tokenworld.engine.rows.log import rewarded
from tokenworld.engine.rows.record import number_json
from tokenworld.ground import Command, NoMatch, Outcome
from tokenworld.prose import EnglishProse

__all__ = ["RowSide"]

Agree = Callable[[str, Any, Any], None]
"""Raises where two values differ; the first argument names what they are."""


@dataclass
class RowSide:
    """The row of the present state. Every tick is undone, looked at and done again.

    A second, ``quiet`` stepper works out no texts and takes the quick way where there is one.
    """

    engine: Engine
    stepper: RowStepper
    row: Row
    quiet: RowStepper
    still: Row
    agree: Agree

    @classmethod
    def of(cls, engine: Engine, state: State, agree: Agree) -> RowSide:
        """The rows of a world at its start."""
        given = engine.instance, engine.layout, EnglishProse(), state
        stepper, quiet = RowStepper(*given), RowStepper(*given, quiet=True)
        return cls(engine, stepper, stepper.row(state), quiet, quiet.row(state), agree)

    def step(
        self, intent: Command | NoMatch, outcomes: Sequence[Outcome], after: State, *, whole: bool
    ) -> None:
        """Play an intent and compare records, state and undo; ``whole``: the state as JSON too."""
        row, mark = self.row, self.row.mark
        before = list(row.S)
        met = self.stepper.shown.before(row)
        records = self.stepper.tick(row, intent)
        self.agree("rows.number of records", len(outcomes), len(records))
        shown = self.stepper.shown.outcomes(records, met)
        for outcome, record in zip(outcomes, shown, strict=True):
            self.agree("rows.record", outcome.to_json(), record.to_json())
        found = self.stepper.state(row)
        if whole:
            self.agree("rows.state", self.engine.json(after), self.engine.json(found))
        self.agree("rows.state hash", outcomes[-1].hash_after, self.engine.hash(found))
        self._undone(mark, before)
        self._quietly(intent, records)
        self.agree("rows.quiet state hash", outcomes[-1].hash_after, self.quiet_hash())
        if whole and not after.turn:  # from here on with a row that was made of the state
            self.row, self.still = self.stepper.row(after), self.quiet.row(after)
        self.row.J.clear()
        self.still.J.clear()

    def quiet_hash(self) -> str:
        """The hash of the state that the quiet stepper is in."""
        return self.engine.hash(self.quiet.state(self.still))

    def _quietly(self, intent: Command | NoMatch, told: Sequence[Record]) -> None:
        """The same intent where nothing is said: a text without a value is no error there."""
        mark = self.still.mark
        records = self.quiet.tick(self.still, intent)
        breach = told[-1].breach
        if breach is not None and breach.code == "TW1006" and records[-1].status != "error":
            self.still.undo(mark)
            return
        self.agree("rows.quiet status", [x.status for x in told], [x.status for x in records])
        for name in ("refused", "latched", "time_passed", "generated"):
            left, right = (getattr(one[-1], name) for one in (told, records))
            self.agree(f"rows.quiet {name}", left, right)
        reward = number_json(sum((one.reward for one in told), Fraction(0)))
        self.agree("rows.quiet reward", reward, number_json(rewarded(self.still.paid)))

    def _undone(self, mark: int, before: list[Any]) -> None:
        """Every slot is as it was once the tick is taken back; then it is done again."""
        again = self.row.redo(mark)
        blank = self.stepper.slots.blank[len(before) :]
        wrong = [
            (slot, value, own)
            for slot, (value, own) in enumerate(zip([*before, *blank], self.row.S, strict=True))
            if value != own
        ]
        self.agree("rows.undone slots", [], wrong)
        again()

    def asked(self, legal: list[str]) -> None:
        """Compare what is legal now."""
        for stepper, row in ((self.stepper, self.row), (self.quiet, self.still)):
            mark, before = row.mark, list(row.S)
            found = Legal(stepper).commands(row)
            self.agree("rows.legal commands", legal, [f"{x.action}{x.args}" for x in found])
            self.agree("rows.journal after asking", mark, row.mark)
            changed = [slot for slot, old in enumerate(before) if old != row.S[slot]]
            self.agree("rows.slots after asking", [], changed)
