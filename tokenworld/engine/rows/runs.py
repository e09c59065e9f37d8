"""Runs of one world on rows, one after the other, for rollouts, environments and players without a
session.

`begin` sets the row to a start, `intend` changes it in place and keeps nothing to undo a tick.
"""

from __future__ import annotations

from typing import Any, Literal

from tokenworld.engine.columns import Layout
from tokenworld.engine.luck import SeededLuck
from tokenworld.engine.rows.code.hoist import words_are_sure
from tokenworld.engine.rows.layout import LATCHED, NAMES, SEED, TICK
from tokenworld.engine.rows.legal import Args, Legal
from tokenworld.engine.rows.log import Row, rewarded
from tokenworld.engine.rows.record import Before, Record, Stamp, number_json
from tokenworld.engine.rows.stepper import RowStepper
from tokenworld.engine.state import State
from tokenworld.ground import By, Command, Instance, NoMatch, Outcome, Prose, Status

Output = Literal["", "said", "all"]
EXECUTED: tuple[Status, ...] = ("executed",)
"""The result of most intents, as one tuple that callers may compare by identity."""
_REFUSED: tuple[Status, ...] = ("refused",)
_LUCK = SeededLuck()
_NONE: list[Record] = []
UNDECIDED, _OVER = object(), object()
MOST_LISTS = 4096
"""Lists of legal commands that are kept, by the slots that decide them."""


class Runs:
    """The present row of a world.

    ``output``: the output computed beside the result: ``all`` as play does, ``said`` only texts and
    reasons of refusals. A text that may have no value, which is an error of its tick, is always
    computed. ``fixed``: all starts agree on the fluents that play never writes.
    """

    def __init__(
        self, instance: Instance, layout: Layout, prose: Prose, *, output: Output, fixed: bool
    ) -> None:
        self._given, self._fixed, self._output = (instance, layout, prose), fixed, output
        self._endless = instance.world.endless
        self._first: list[object] = []
        self._refused: tuple[Command, int] | None = None
        self.records: list[Record] = []
        """Those of the last intent, where it took the general way of the stepper."""

    def begin(self, state: State) -> None:
        """Start a run in a state."""
        if not self._first or not self.stepper.slots.fits(state):
            self._make(state)
        self.row = self.stepper.row(state)
        self._first = list(self.row.S)

    @property
    def started(self) -> bool:
        """Return whether a run has been started."""
        return bool(self._first)

    def restart(self, seed: int) -> None:
        """Start a run where the last one did, with another seed."""
        self.row = Row(self.stepper.slots, list(self._first))
        self.row.S[SEED] = seed

    def _make(self, base: State) -> None:
        instance, layout, prose = self._given
        says, fixed = self._output == "said", self._fixed
        self.stepper = RowStepper(
            instance, layout, prose, base, quiet=True, says=says, fixed=fixed
        )  # fmt: skip
        if self._output == "all" or not words_are_sure(self.stepper.rules, instance.world.name):
            self.stepper = RowStepper(instance, layout, prose, base, fixed=fixed, hashed=False)
        self._legal = Legal(self.stepper)
        self._decided = self._legal.decided()
        self._listed: dict[Any, list[tuple[str, list[Args]]]] = {}

    # ---- playing --------------------------------------------------------------------------------

    def intend(self, intent: Command | NoMatch, by: By = "player") -> tuple[Status, ...]:
        """The intent of the actor whose turn it is, and the status of each of its records."""
        row, stepper = self.row, self.stepper
        row.J.clear()
        self.records, self._refused = _NONE, None
        if stepper.quiet and isinstance(intent, Command):
            code = stepper.quick(row, intent, _LUCK)
            if code == 0:
                return EXECUTED
            if code is not None:
                self._refused = intent, -1 - code
                return _REFUSED
        row.said = []
        self.records = stepper.general(row, intent, _LUCK, by)
        return tuple([one.status for one in self.records])

    def paid(self) -> float:
        """The rewards of the last intent."""
        total = 0
        for amount, decimals in self.row.paid:
            if decimals or not isinstance(amount, int):
                return float(number_json(rewarded(self.row.paid)))
            total += amount
        return float(total)

    def said(self) -> list[str]:
        """The lines that the last intent said."""
        return [*self.row.said, *(line for one in self.records for line in one.said)]

    def outcomes(self) -> tuple[Outcome, ...]:
        """The records of the last intent if it had no effect, without hashes."""
        row, stepper = self.row, self.stepper
        if self._refused is not None:
            self.records, self._refused = [stepper.refusal(row, *self._refused)], None
        before = Before(row.S[TICK], None, Stamp("", row.S[NAMES], None))
        return stepper.shown.outcomes(self.records, before)

    def legal(self) -> list[tuple[str, list[Args]]]:
        """The arguments of the legal commands of each action that has some."""
        key = self.decisive()
        if key is UNDECIDED:
            return self._legal.by_action(self.row)
        known = self._listed.get(key)
        if known is None:
            if len(self._listed) >= MOST_LISTS:
                self._listed.clear()
            known = self._listed[key] = self._legal.by_action(self.row)
        return known

    def decisive(self) -> Any:
        """The values that decide the legal commands; `UNDECIDED` where more than a few do."""
        S = self.row.S
        if self._decided is None:
            return UNDECIDED
        return _OVER if S[LATCHED] and not self._endless else self._decided(S)

    def command(self, name: str, args: Args) -> Command:
        """A legal command."""
        return self._legal.made[name][args]

    # ---- asking ---------------------------------------------------------------------------------

    @property
    def tick(self) -> int:
        """The number of the tick."""
        return int(self.row.S[TICK])

    @property
    def latched(self) -> bool:
        """Return whether an ending was reached."""
        return bool(self.row.S[LATCHED])

    @property
    def over(self) -> bool:
        """Return whether later intents are halted."""
        return bool(self.row.S[LATCHED]) and not self._endless

    def endings(self) -> tuple[str, ...]:
        """The endings reached so far; where outcomes are live, the one that is true now."""
        return self.stepper.goals.reached(self.row.S)

    def reached(self) -> int:
        """The ending that came first; where outcomes are live, the one that is true now; or -1."""
        found = self.endings()
        names = [one.name for one in self.stepper.code.world.endings]
        return names.index(found[0]) if found else -1

    def score(self) -> float:
        """The score now."""
        S = self.row.S
        return float(number_json(self.stepper.code.score(S, S, self.stepper.me)))

    def state(self) -> State:
        """The present state."""
        return self.stepper.state(self.row)
