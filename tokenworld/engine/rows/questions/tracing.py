"""Repeat the passage of time of one tick and report its firings, law by law.

A tick keeps only its result; this module repeats it on a past state and keeps the requests of
every binding apart. It makes no record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tokenworld.core.nodes import Binder
from tokenworld.engine.changes import Breach, RawChange
from tokenworld.engine.columns import Column, Key
from tokenworld.engine.luck import Luck
from tokenworld.engine.rows.laws import Order
from tokenworld.engine.rows.layout import NAMES
from tokenworld.engine.rows.log import Log, Row
from tokenworld.engine.rows.record import Broken, Record
from tokenworld.engine.rows.stepper import Args, RowStepper, Tick, Together
from tokenworld.ground import Raw
from tokenworld.model import Law

Write = tuple[str, Column, Key, Raw]
"""A request: how the slot changes, its column and key, the value."""


class Newborn(NamedTuple):
    """An object asked for."""

    number: int
    name: str
    of: str


@dataclass(frozen=True, slots=True)
class Firing:
    """One binding of a law whose condition held, and the requests of its body."""

    title: str
    args: Args
    asked: tuple[Write, ...] = ()
    born: tuple[Newborn, ...] = ()
    doomed: tuple[int, ...] = ()


@dataclass(slots=True)
class Batch:
    """Firings that read the same row and were applied at once; ``changes`` are their changes, or
    empty if a breach stopped them. ``names`` are those of all objects that they may name."""

    firings: tuple[Firing, ...]
    changes: list[RawChange] = field(default_factory=list)
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PhaseTrace:
    """One phase: its laws as written, and its batches in order. ``name`` is empty for the last."""

    name: str
    order: str
    laws: tuple[Law, ...]
    batches: tuple[Batch, ...]


@dataclass(frozen=True, slots=True)
class TimeTrace:
    """All phases that ran; ``broken``: the tick was stopped in the last of them."""

    phases: tuple[PhaseTrace, ...] = ()
    broken: bool = False


class _Marked(Log):
    """A log that knows where the requests of each firing begin."""

    __slots__ = ("marks",)

    def __init__(self, row: Row, luck: Luck, params: dict[str, tuple[Binder, ...]]) -> None:
        super().__init__(row, luck, params)
        self.marks: list[tuple[int, int, int]] = []

    def by(self, title: str, args: Args) -> None:
        self.marks.append((len(self.writes), len(self.births), len(self.doomed)))
        super().by(title, args)

    def clear(self) -> None:
        super().clear()
        self.marks.clear()

    def firings(self) -> Iterator[Firing]:
        """The requests of each firing, in order."""
        ends = [*self.marks[1:], (len(self.writes), len(self.births), len(self.doomed))]
        names = self.row.S[NAMES]
        for (title, args), begin, end in zip(self.fired, self.marks, ends, strict=False):
            births = self.births[begin[1] : end[1]]
            yield Firing(
                title,
                args,
                tuple(map(self._written, self.writes[begin[0] : end[0]])),
                tuple(Newborn(x.number, names[x.number], x.maker.of) for x in births),
                tuple(number for number, _ in self.doomed[begin[2] : end[2]]),
            )

    def _written(self, write: tuple[int, str, Raw, str]) -> Write:
        slot, op, value, _ = write
        store = self.slots.owner[slot]
        assert store is not None
        return op, store.column, store.column.key(self.slots.args[slot]), value


class TracedTick(Tick):
    """A tick that keeps ``phases``; ``broken``: one of them was stopped."""

    def __init__(self, stepper: RowStepper, row: Row, luck: Luck) -> None:
        super().__init__(stepper, row, luck)
        self.phases: list[PhaseTrace] = []
        self.broken = False
        self._batches: list[Batch] = []
        self._last: _Marked | None = None

    def pass_time(self, record: Record) -> None:
        for phase, (name, order, laws) in zip(self.of.phases, self._named(), strict=True):
            self._batches = []
            try:
                if isinstance(phase, Order):
                    self._in_turn(phase, record)
                else:
                    self._together(phase, record)
            except Breach:
                self.broken = True
                raise
            finally:
                self.phases.append(PhaseTrace(name, order, laws, tuple(self._batches)))

    def _named(self) -> Iterator[tuple[str, str, tuple[Law, ...]]]:
        """The phases that have laws, in the order in which a tick runs them."""
        program = self.of.instance.program
        for name in (*program.phases, ""):
            laws = tuple(law for law in program.laws.values() if law.phase == name)
            if laws:
                yield name, program.phases[name].order if name else "simultaneous", laws

    def _log(self, title: str, args: Args) -> Log:
        if title:
            return super()._log(title, args)
        self._last = _Marked(self.row, self.luck, self.of.params)
        self._last.pasts = super()._log(title, args).pasts
        return self._last

    def _together(self, laws: Together, record: Record) -> None:
        try:
            super()._together(laws, record)
        except Breach:
            if not self._batches and self._last is not None and self._last.fired:
                self._note(self._last)  # a later law had no value
            raise

    def _note(self, log: _Marked) -> Batch:
        batch = Batch(tuple(log.firings()), [], self.row.S[NAMES])
        self._batches.append(batch)
        return batch

    def _commit(self, log: Log, record: Record) -> None:
        if not isinstance(log, _Marked):
            super()._commit(log, record)
            return
        batch = self._note(log)
        try:
            super()._commit(log, record)
        except Broken:
            batch.changes = list(log.changes or ())
            raise
        batch.changes = list(log.changes or ())
