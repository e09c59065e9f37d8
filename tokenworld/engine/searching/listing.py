"""The commands that a search tries: those that the author's requires allow."""

from __future__ import annotations

from collections.abc import Iterable

from tokenworld.core.walk import is_draw
from tokenworld.engine.delta import Breach
from tokenworld.engine.rows import Row, RowStepper
from tokenworld.engine.rows.asking import may
from tokenworld.engine.rows.layout import KINDS, LONGS
from tokenworld.engine.rows.legal import Args, Legal
from tokenworld.engine.rows.stepper import Tick
from tokenworld.engine.state import LongAction
from tokenworld.ground import Command


class Allowed(Legal):
    """Lists commands by the author's requires alone, and by what some draw of ``cancelled`` may
    come to: what some luck may let happen."""

    def __init__(self, stepper: RowStepper) -> None:
        super().__init__(stepper)
        self._trials = {}
        rules = stepper.rules
        births = bool(rules.births)
        self._cancel_draws = frozenset(
            name
            for name, one in rules.actions.items()
            if births or any(map(is_draw, (*one.guards, *one.cancelled)))
        )

    def of(self, tick: Tick, name: str) -> list[Command]:
        """Those of one action, while play goes on."""
        row, made = tick.row, self.made[name]
        if name in self._counts and not self._is_listed(row, name):
            return []
        long = tick.long() if row.S[LONGS] else None
        if long is None:
            return [made[args] for args in self.found(row, tick, name)]
        return [made[args] for args in self._busy(row, tick, name, long)]

    def _busy(self, row: Row, tick: Tick, name: str, long: LongAction) -> list[Args]:
        """The bindings of an action while a long one is under way: it is broken off first."""
        own, kinds = long.command.action, row.S[KINDS]
        if name == own or name in self._free or own in self._cancel_draws:
            return self._tried(row, tick, name)
        mark = row.mark
        try:
            tick.break_off(long, "")
            alike = row.S[KINDS] is kinds  # a binding is one of those who live now
            found = self.found(row, tick, name) if alike else None
        except Breach:
            found = []
        row.undo(mark)
        return self._tried(row, tick, name) if found is None else found

    def tried(self, tick: Tick, name: str, bindings: Iterable[Args]) -> list[Args]:
        """Those of some bindings of an action that may be carried out."""
        long = tick.long()
        unsettled = long is not None and long.command.action in self._cancel_draws
        made, found = self.made[name], []
        for args in bindings:
            command = made[args]
            try:
                if (unsettled and not tick.is_free(command)) or may(tick, command):
                    found.append(args)
            except Breach:
                continue  # how long it takes has no value: it would be in error
        return found
