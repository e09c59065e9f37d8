"""The row of the state that was played last, which `Engine.play` steps.

A state is a value; the row changes. Playing on from the last state steps the row; for any other
state the row is first set to it, by the slots that may differ if the states are near each other.
The state after a tick shares all columns that the tick did not write.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, get_ident
from typing import Any, NamedTuple, TypeVar

from tokenworld.engine.columns import Layout
from tokenworld.engine.luck import Luck
from tokenworld.engine.rows.layout import FACTS, HEAD, KINDS, REPORTED, ROUND, Slots
from tokenworld.engine.rows.legal import Legal
from tokenworld.engine.rows.log import Row
from tokenworld.engine.rows.questions.tracing import TimeTrace, TracedTick
from tokenworld.engine.rows.record import Record, Stamp
from tokenworld.engine.rows.stepper import RowStepper, Tick
from tokenworld.engine.state import ALL, State, between
from tokenworld.ground import By, Command, Instance, NoMatch, Outcome, Prose

T = TypeVar("T")
Enough = Callable[[Record, State], bool]
"""Called with the record of an action and the state after it; true: time need not pass."""


class Halves(NamedTuple):
    """A tick in two halves: the state after the command alone, with its record, and the state after
    the whole tick, with its records."""

    acted: State
    done: Record
    after: State
    records: list[Record]


class _Halved(Tick):
    """A tick of the row of a state ``met`` that reports the row before time passes, and ends there
    if it is ``enough``. The requires of a refused command are not reported."""

    def __init__(
        self, stepper: RowStepper, row: Row, luck: Luck, met: State, enough: Enough
    ) -> None:
        super().__init__(stepper, row, luck)
        self.met, self.acted, self.enough = met, met, enough
        self.done: Record | None = None
        self.stopped = False

    def _explain(self, refused: Record) -> None:
        pass

    def _time_passes(self, fruitless: Record) -> list[Record]:
        if self.long() is None and self.enough(fruitless, self.met):
            self.done, self.stopped = fruitless, True
            return [fruitless]
        return super()._time_passes(fruitless)

    def _finished(self, records: list[Record]) -> list[Record]:
        return records if self.stopped else super()._finished(records)

    def _ended(self, records: list[Record], *, free: bool) -> list[Record]:
        if self.done is None:
            self.done = records[-1]
            if self.row.J:
                self.acted = state_after(self.met, self.slots, self.row)
            self.stopped = self.enough(self.done, self.acted)
            if self.stopped:
                return records
        return super()._ended(records, free=free)


class LiveRow:
    """Plays states of one engine."""

    def __init__(self, instance: Instance, layout: Layout, prose: Prose) -> None:
        self._given = instance, layout, prose
        self._stepper: RowStepper | None = None
        self._fixed = True
        """False after states differed in a fluent that play never writes: code must not rely on it
        then."""
        self._legal: Legal | None = None
        self._row: Row | None = None
        self._state: State | None = None
        self._stamp: Stamp | None = None
        self._lock = Lock()
        self._worker: int | None = None

    def play(
        self, state: State, intent: Command | NoMatch, luck: Luck, by: By
    ) -> tuple[State, tuple[Outcome, ...]]:
        """The state that an intent leaves, and its records."""

        def played(stepper: RowStepper, row: Row) -> tuple[State, tuple[Outcome, ...]]:
            stepper.know_facts(row, state)
            before = stepper.shown.before(row, self._stamp)
            records = stepper.tick(row, intent, luck, by)
            after = state_after(state, stepper.slots, row) if row.J else state
            row.J.clear()
            self._state, self._stamp = after, records[-1].after
            return after, stepper.shown.outcomes(records, before)

        return self.on_row(state, played)

    def halves(
        self, state: State, intent: Command | NoMatch, luck: Luck,
        enough: Enough = lambda done, acted: False,
    ) -> Halves:  # fmt: skip
        """Play an intent, return the states after its action and its tick, restore the row. Nobody
        asks for the hashes of its records, so none is computed. ``enough``: see `Enough`."""

        def halved(stepper: RowStepper, row: Row) -> Halves:
            facts, row.S[FACTS] = row.S[FACTS], None
            tick = _Halved(stepper, row, luck, state, enough)
            try:
                records = tick.intent(intent)
                after = state_after(state, stepper.slots, row) if row.J else state
                return Halves(tick.acted, tick.done or records[0], after, records)
            finally:
                row.undo(0)
                row.S[FACTS] = facts

        return self.on_row(state, halved)

    def traced(self, state: State, intent: Command | NoMatch, luck: Luck) -> TimeTrace:
        """Play the tick of an intent and return what each law did; the row is restored."""

        def traced(stepper: RowStepper, row: Row) -> TimeTrace:
            stepper.know_facts(row, state)
            tick = TracedTick(stepper, row, luck)
            try:
                tick.intent(intent)
            finally:
                row.undo(0)
            return TimeTrace(tuple(tick.phases), tick.broken)

        return self.on_row(state, traced)

    def listed(self, state: State, read: Callable[[Legal, Row], T]) -> T:
        """Evaluate `read` on the legal commands of a state."""

        def read_on(stepper: RowStepper, row: Row) -> T:
            if self._legal is None or self._legal.stepper is not stepper:
                self._legal = Legal(stepper)
            return read(self._legal, row)

        return self.on_row(state, read_on)

    def halt(self, state: State, cause: str) -> Outcome:
        """The record that the runner stopped in a state, and why."""

        def halted(stepper: RowStepper, row: Row) -> Outcome:
            stepper.know_facts(row, state)
            return stepper.halt(row, cause)

        return self.on_row(state, halted)

    def on_row(self, state: State, work: Callable[[RowStepper, Row], T]) -> T:
        """Do some work on the row of a state, and restore the row if the work fails.

        The work undoes its own changes and must not call the engine, which would move its one row.
        """
        worker = get_ident()
        if self._worker == worker:
            raise RuntimeError("the engine was asked something by work on its row")
        with self._lock:
            self._worker = worker
            try:
                stepper, row = self._reached(state)
                try:
                    return work(stepper, row)
                except BaseException:
                    row.undo(0)
                    raise
            finally:
                self._worker = None

    # ---- reaching a state ---------------------------------------------------------------------

    def _reached(self, state: State) -> tuple[RowStepper, Row]:
        """The row, brought to a state; one that was interrupted half-way is made anew later."""
        try:
            return self._at(state)
        except BaseException:
            self._row = self._state = None
            raise

    def _at(self, state: State) -> tuple[RowStepper, Row]:
        """The row, brought to a state."""
        if self._stepper is not None and self._row is not None and self._state is not None:
            if self._state is state:
                return self._stepper, self._row
            self._stamp = None
            if _moved(self._state, state, self._row):
                self._state = state
                return self._stepper, self._row
            if not self._stepper.slots.fits(state):
                self._fixed = self._fixed and not self._stepper.slots.peopled(state)
                self._stepper = None
        if self._stepper is None:
            self._stepper = RowStepper(*self._given, state, fixed=self._fixed)
        slots = self._stepper.slots
        self._row, self._state = Row(slots, slots.encode(state)), state
        slots.epoch += 1
        return self._stepper, self._row


def _moved(now: State, state: State, row: Row) -> bool:
    """Set a row to a state with the same objects that is near the state that it has."""
    touched = between(now.trail, state.trail)
    near = touched is not None and not any(key is ALL for _, key in touched)
    if not near or state.round is not None:
        return False
    slots, S = row.slots, row.S
    slots.fill(S)
    for index, key in touched or ():
        store = slots.stores[index]
        if not store.live:
            return False
        place = slots.slot(store, store.column.args(key))
        slots.fill(S)
        if store.kids is not None:
            for parent in (S[place], state.cols[index][key]):
                if parent is not None:
                    S[store.kids[parent]] = tuple(state.kids[index][parent])
        S[place] = state.get(store.column, key)
    slots.take_header(state, S)
    slots.epoch += 1
    return True


def state_after(before: State, slots: Slots, row: Row) -> State:
    """The state of a row that has been stepped from that of an earlier state."""
    S, after = row.S, before.fork()
    written = dict.fromkeys(row.J[::2])
    slots.put_header(S, after)
    if KINDS in written:
        after.lengthen()
    for slot in written:
        if slot >= HEAD:
            _put(after, slots, slot, S[slot])
    after.round = None if S[ROUND] is None else before.round or before
    if S[REPORTED] is None:
        after.reported = None
    elif REPORTED in written:
        after.reported = after.fork()
        after.reported.reported = None
    return after


def _put(state: State, slots: Slots, slot: int, value: Any) -> None:
    """Write a slot, or a list of children, of a row into a state."""
    store = slots.owner[slot]
    if store is None:
        if slot in slots.lists:
            store, parent = slots.lists[slot]
            state.to_write(store.column)
            state.kids[store.column.index][parent] = list(value)
        return
    column = store.column
    key = column.key(slots.args[slot])
    state.trail.slots.append((column.index, key))
    stored = state.to_write(column)
    if column.tupled and value == column.default:
        stored.pop(key, None)
    else:
        stored[key] = value
