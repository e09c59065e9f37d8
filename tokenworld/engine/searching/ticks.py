"""Ticks for a search, whole and in pieces: nothing is said, and no watch is asked.

A command is carried out on the row of a state, in place, and taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import RLock
from typing import Any, Generic, Protocol, TypeVar

from tokenworld.engine.layout import Layout
from tokenworld.engine.luck import ExploringLuck, Luck, SeededLuck
from tokenworld.engine.rows import Record, Row, RowStepper
from tokenworld.engine.rows.layout import AWARDED, LATCHED, ROUND
from tokenworld.engine.rows.program import Function
from tokenworld.engine.rows.stepper import Tick
from tokenworld.engine.searching.kept import Kept
from tokenworld.engine.state import State
from tokenworld.ground import Command, Enough, Instance, NoMatch, Prose, Unfinished

LuckT = TypeVar("LuckT", bound=Luck)

_SEEDED = SeededLuck()
_OFTEN = 128
"""Every so many outcomes of one command it is asked whether they are enough."""


@dataclass(slots=True)
class Came(Generic[LuckT]):
    """One outcome: the record, the state after it, the slots in which that differs from the one
    before, the luck it took."""

    record: Record
    after: Kept
    written: Sequence[int]
    luck: LuckT


class Listener(Protocol):
    """Who wants to know what happens on the edges that a search looks at."""

    def observe(self, before: Kept, record: Record, after: Kept) -> None:
        """What came of a command, kept or discarded."""

    def executed(
        self,
        command: Command,
        titles: tuple[str, ...],
        latched: tuple[str, ...],
        awarded: tuple[int, ...],
    ) -> None:
        """A command was executed, of which it is known what it comes to."""

    def watch(self, before: Kept, after: Kept) -> None:
        """Two states between which a watch may speak."""

    @property
    def watches(self) -> bool:
        """Whether there are watches that were not heard yet."""


class SearchStepper(RowStepper):
    """Steps rows of which nobody asks what watches say and what is paid. Searches side by side
    share it, each with the ``lock`` while it asks."""

    in_pieces = True

    def __init__(
        self, instance: Instance, layout: Layout, prose: Prose, base: State, *,
        quiet: bool = True, fixed: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(instance, layout, prose, base, quiet=quiet, fixed=fixed)
        self.pays, self.lock, self.fixed = (), RLock(), fixed

    def _needs_start(self) -> bool:
        rules = (*self.rules.in_play, *(x.footprint for x in self.rules.invariants.values()))
        return any(one.looks_back for one in rules)

    def watch(self, row: Row, told: list[Any], record: Record, luck: Luck) -> None:
        """Watches are not asked."""


def leads_on(record: Record) -> bool:
    """Whether a record is that of a command which was carried out, and so leads to a successor."""
    return record.status in ("executed", "waiting", "interrupted") and record.by == "player"


class Ticks:
    """All outcomes of commands in one world."""

    def __init__(self, stepper: RowStepper) -> None:
        self._stepper, self._slots = stepper, stepper.slots
        self._guarded = bool(stepper.rules.invariants)
        self._several = len(stepper.actors) > 1
        code = stepper.code
        guards = stepper.guards
        names = () if guards.sums_look_back else tuple(stepper.rules.actions)
        self._effects = {
            name: code.space[code.names["do", name]] for name in names if ("do", name) in code.names
        }
        self._sums: dict[str, list[Function]] = {
            name: [
                code["conserve", one] for one, by in guards.sums.items() if f"action {name}" in by
            ]
            for name in names
        }
        self.enough: Enough | None = None

    def look(self, count: int) -> None:
        """Go on listing the outcomes of a command, of which there are so many; or `Unfinished`."""
        if self.enough is not None and count % _OFTEN == 0 and self.enough(count):
            raise Unfinished

    # ---- whole ticks --------------------------------------------------------------------------

    def outcomes(self, state: Kept, command: Command) -> Iterator[Came[ExploringLuck]]:
        """All that a command may come to, each combination of draws once."""
        prefix: tuple[int, ...] | None = ()
        count = 0
        while prefix is not None:
            luck = ExploringLuck(prefix)
            yield self.outcome(state, command, luck)
            count += 1
            self.look(count)
            prefix = luck.next_prefix()

    def outcome(self, state: Kept, command: Command | NoMatch, luck: LuckT) -> Came[LuckT]:
        """What a command comes to with some luck."""
        row = Row(self._slots, state.S)
        try:
            record = self._stepper.tick(row, command, luck)[-1]
            return Came(record, Kept(self._slots, state.S[:]), row.J[::2], luck)
        finally:
            row.undo(0)

    # ---- pieces -------------------------------------------------------------------------------

    @property
    def laws(self) -> bool:
        """Whether anything happens or is checked at the end of a tick."""
        return bool(self._stepper.phases) or self._guarded

    def at(self, state: Kept) -> Tick:
        """A tick of a state to ask for pieces of it."""
        return Tick(self._stepper, Row(self._slots, state.S), _SEEDED)

    def effects(self, tick: Tick, command: Command, luck: ExploringLuck) -> bool:
        """Carry out a command's own changes alone, in place; false where it is not executed.
        `Breach` where it cannot be."""
        row = tick.row
        began = row.S[ROUND] or row.S
        done = self._at_once(tick, began, command, luck)
        if done is None:
            row.undo(tick.mark)
            tick.anew(luck, began)
            done = tick.does(command)
        if done and self._several:
            self._check(row, began)
        return done

    def _at_once(
        self, tick: Tick, began: list[Any], command: Command, luck: ExploringLuck
    ) -> bool | None:
        """The same by one function; ``None`` leaves it to the general way."""
        do, row = self._effects.get(command.action), tick.row
        if do is None:
            return None
        self._stepper.use(luck)
        self._slots.epoch += 1
        sums = self._sums.get(command.action, ())
        before = [one(row.S, row.S, self._stepper.me) for one in sums]
        code: int = do(row.S, began, tick.acting, row, row.J, *command.args)
        self._slots.epoch += 1
        if code > 0 or before != [one(row.S, row.S, self._stepper.me) for one in sums]:
            return None
        return code == 0

    def passed(self, row: Row, began: list[Any], luck: ExploringLuck) -> tuple[str, ...]:
        """Let the phases of a tick run, in place: the titles of the laws that fired."""
        record, tick = Record("executed"), Tick(self._stepper, row, luck)
        tick.start = tick.told = began
        tick.pass_time(record)
        self._check(row, began)
        return tuple(dict.fromkeys(title for title, _ in record.fired))

    def _check(self, row: Row, began: list[Any]) -> None:
        if self._guarded:
            self._stepper.guards.check_invariants(row, began, None, (), self._stepper.me)

    def ended(self, row: Row) -> tuple[tuple[str, ...], tuple[int, ...], tuple[str, ...]]:
        """Give awards and latch endings at the end of a tick, in place: what is latched, what is
        awarded, and which endings were reached now."""
        news = Tick(self._stepper, row, _SEEDED).progress()
        return row.S[LATCHED], row.S[AWARDED], news
