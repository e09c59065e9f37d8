"""Runs of one world on rows, one after the other: what rollouts and players without a session need.

`begin` sets the row to a start, `intend` changes it in place; nothing is kept to take a tick back.
"""

from __future__ import annotations

from tokenworld.engine.layout import Layout
from tokenworld.engine.luck import Luck, SeededLuck
from tokenworld.engine.rows.hoist import words_are_sure
from tokenworld.engine.rows.layout import LATCHED, SEED, TICK
from tokenworld.engine.rows.legal import Args, Legal
from tokenworld.engine.rows.log import Row, rewarded
from tokenworld.engine.rows.record import number_json
from tokenworld.engine.rows.stepper import Record, RowStepper
from tokenworld.engine.state import State
from tokenworld.ground import By, Command, Instance, NoMatch, Prose

__all__ = ["Runs"]


class Runs:
    """The present row of a world.

    ``told``: every text is worked out, as play does; else only where one may have no value, which
    is an error of its tick. ``fixed``: starts differ in nothing that play never writes.
    """

    def __init__(
        self, instance: Instance, layout: Layout, prose: Prose, *, told: bool, fixed: bool
    ) -> None:
        self._given, self._fixed = (instance, layout, prose), fixed
        self._endless = instance.world.endless
        self._live = instance.world.outcomes == "live"
        self._told: bool | None = True if told else None
        self._luck: Luck = SeededLuck()
        self._first: list[object] = []

    def begin(self, state: State) -> None:
        """Start a run in a state."""
        if not self._first or not self.stepper.slots.fits(state):
            self._make(state)
        self.row = self.stepper.row(state)
        self._first = list(self.row.S)

    def restart(self, seed: int) -> None:
        """Start a run where the last one did, with another seed."""
        self.row = Row(self.stepper.slots, list(self._first))
        self.row.S[SEED] = seed

    def _make(self, base: State) -> None:
        instance, layout, prose = self._given
        self.stepper = RowStepper(instance, layout, prose, base, quiet=True, fixed=self._fixed)
        if self._told is None:
            self._told = not words_are_sure(self.stepper.rules, instance.world.name)
        if self._told:
            self.stepper = RowStepper(instance, layout, prose, base, fixed=self._fixed)
        self._legal = Legal(self.stepper)

    # ---- playing --------------------------------------------------------------------------------

    def intend(self, intent: Command | NoMatch, by: By = "player") -> list[Record]:
        """The intent of the actor whose turn it is, and its records."""
        found = self.stepper.tick(self.row, intent, self._luck, by)
        self.row.J.clear()
        return found

    def paid(self) -> float:
        """The rewards of the last intent."""
        return float(number_json(rewarded(self.row.paid))) if self.row.paid else 0.0

    def legal(self) -> list[tuple[str, list[Args]]]:
        """The arguments of the legal commands of each action that has some."""
        return self._legal.by_action(self.row)

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
        """Whether an ending was reached."""
        return bool(self.row.S[LATCHED])

    @property
    def over(self) -> bool:
        """Whether later intents are halted."""
        return bool(self.row.S[LATCHED]) and not self._endless

    def reached(self) -> int:
        """The ending that came first; where outcomes are live, the one that is true now; or -1."""
        S, code = self.row.S, self.stepper.code
        names = [one.name for one in code.world.endings]
        if not self._live:
            return names.index(S[LATCHED][0]) if S[LATCHED] else -1
        me = self.stepper.me
        holds = (at for at in range(len(names)) if code["ending", str(at)](S, S, me))
        return next(holds, -1)

    def score(self) -> float:
        """The score now."""
        S = self.row.S
        return float(number_json(self.stepper.code.score(S, S, self.stepper.me)))

    def state(self) -> State:
        """The present state."""
        return self.stepper.state(self.row)
