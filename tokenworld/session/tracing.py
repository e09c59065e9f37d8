"""The law trace of a tick: which laws fired in what order, with which bindings, and to what end.

Records keep what a tick changed in all (`tw-outcome/1`). A trace plays the tick again from the
state before it and tells each law apart: what it asked for, what it changed, and where several
asked for the same slot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tokenworld.engine import ForcedLuck, State
from tokenworld.engine.applying import shown_key
from tokenworld.engine.births import LIFE
from tokenworld.engine.delta import RawChange, Write
from tokenworld.engine.layout import Column, Key
from tokenworld.engine.tracing import Batch, Firing, PhaseTrace, Tracer
from tokenworld.ground import PASS, Command, Json, NoMatch, Outcome, Raw, Status, show_value
from tokenworld.model import Program
from tokenworld.session.differing import SlotChange, slot_text
from tokenworld.session.obstacles import command_of
from tokenworld.session.session import Moment, Session

__all__ = ["Asked", "LawFired", "PhaseRan", "Shared", "TickTrace", "Tracing"]

Op = Literal["=", "+", "add", "remove", "create", "destroy"]
How = Literal["agree", "sum", "add wins", "conflict"]
"""How requests for one slot go together: the same value, summed up, an addition beside a removal,
or not at all (language.md §5)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of a law: a slot's new value, an amount to add, a fact, a life."""

    slot: str
    op: Op
    value: Json

    def to_json(self) -> dict[str, Json]:
        return {"slot": self.slot, "op": self.op, "value": self.value}


@dataclass(frozen=True, slots=True)
class LawFired:
    """One binding of a law whose condition held. ``number`` counts through the whole tick.

    ``changes`` are those that it alone is the cause of; what it shares stands in `Shared`.
    """

    number: int
    law: str
    bindings: Mapping[str, Json]
    asked: tuple[Asked, ...]
    changes: tuple[SlotChange, ...]

    def to_json(self) -> dict[str, Json]:
        return {
            "number": self.number,
            "law": self.law,
            "bindings": dict(self.bindings),
            "asked": [one.to_json() for one in self.asked],
            "changes": _changes_json(self.changes),
        }


@dataclass(frozen=True, slots=True)
class Shared:
    """A slot that was asked for more than once at the same time, by these firings.

    ``change`` is ``None`` where the slot kept its value, or where the tick came to nothing.
    """

    slot: str
    how: How
    by: tuple[tuple[int, Asked], ...]
    change: SlotChange | None

    def to_json(self) -> dict[str, Json]:
        return {
            "slot": self.slot,
            "how": self.how,
            "by": [{"number": number, **one.to_json()} for number, one in self.by],
            "changes": _changes_json((self.change,) if self.change else ()),
        }


@dataclass(frozen=True, slots=True)
class PhaseRan:
    """A phase of the tick: its laws as written, what fired, and what was asked for twice."""

    name: str
    order: str
    laws: tuple[str, ...]
    fired: tuple[LawFired, ...]
    shared: tuple[Shared, ...]

    @property
    def idle(self) -> tuple[str, ...]:
        """The laws that had no binding whose condition held."""
        active = {one.law for one in self.fired}
        return tuple(one for one in self.laws if one not in active)

    def to_json(self) -> dict[str, Json]:
        return {
            "name": self.name,
            "order": self.order,
            "laws": list(self.laws),
            "fired": [one.to_json() for one in self.fired],
            "shared": [one.to_json() for one in self.shared],
        }


@dataclass(frozen=True, slots=True)
class TickTrace:
    """A tick told law by law. ``changes`` are those of the action itself.

    ``stopped`` is what discarded the tick, with its code; it carries on from where a phase broke
    off, or from the checks behind the last one. ``broke_off``: it was in the last phase told of.
    """

    tick: int
    asked: str
    status: Status
    action: str
    args: Mapping[str, Json]
    time_passed: bool
    changes: tuple[SlotChange, ...]
    phases: tuple[PhaseRan, ...]
    stopped: str
    broke_off: bool

    @property
    def conflicts(self) -> tuple[Shared, ...]:
        """The slots that were given two values at once."""
        return tuple(one for phase in self.phases for one in phase.shared if one.how == "conflict")

    def to_json(self) -> dict[str, Json]:
        """``tw-trace/1``."""
        return {
            "schema": "tw-trace/1",
            "tick": self.tick,
            "asked": self.asked,
            "status": self.status,
            "action": self.action,
            "args": dict(self.args),
            "time_passed": self.time_passed,
            "changes": _changes_json(self.changes),
            "phases": [one.to_json() for one in self.phases],
            "stopped": self.stopped,
            "broke_off": self.broke_off,
        }


def _changes_json(changes: Sequence[SlotChange]) -> list[Json]:
    return [{"slot": one.slot, "old": one.old, "new": one.new} for one in changes]


class Tracing:
    """Traces the ticks of one session, in the thread that plays it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.engine = session.engine
        self._tracer = Tracer(session.engine.stepper)
        self._program = session.world.program

    def trace(self, before: State, moment: Moment) -> TickTrace:
        """The tick that led from a state to a moment; its last record is the one that is told.

        Where the state is one of other rules (they were exchanged since), no phase is told.
        """
        outcome = moment.outcomes[-1]
        intent = self._intent(moment, outcome)
        broken = outcome.breach is not None
        phases: tuple[PhaseTrace, ...] = ()
        broke_off = False
        known = before.layout is self.engine.layout
        if known and intent is not None and (outcome.time_passed or broken):
            draws = [draw for one in moment.outcomes for draw in one.draws]
            found = self._tracer.trace(
                before, intent, ForcedLuck(draws), broken=not outcome.time_passed
            )
            phases, broke_off = found.phases, found.breach is not None
        breach = outcome.breach or {}
        return TickTrace(
            outcome.tick,
            moment.asked,
            outcome.status,
            outcome.action,
            outcome.args,
            outcome.time_passed,
            tuple(self._own(moment)),
            tuple(_Telling(self._program).phases(phases)),
            f"{breach['code']}: {breach['message']}" if breach else "",
            broke_off,
        )

    def _intent(self, moment: Moment, outcome: Outcome) -> Command | NoMatch | None:
        if outcome.status == "halted":
            return None
        if outcome.no_match is not None:
            return outcome.no_match
        return PASS if outcome.action == "pass" else command_of(self._session, moment, outcome)

    def _own(self, moment: Moment) -> Iterator[SlotChange]:
        fluents = self._program.fluents
        for outcome in moment.outcomes:
            for one in outcome.changes:
                fluent = fluents.get(one.fluent, LIFE.fluent)
                yield SlotChange(slot_text(fluent, one.args), one.old, one.new)


class _Telling:
    """Shows raw traces; counts the firings through the tick."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._number = 0
        self._names: Sequence[str] = ()

    def phases(self, phases: Sequence[PhaseTrace]) -> Iterator[PhaseRan]:
        for phase in phases:
            fired: list[LawFired] = []
            shared: list[Shared] = []
            for batch in phase.batches:
                self._names = batch.names
                self._batch(batch, fired, shared)
            laws = tuple(one.name for one in phase.laws)
            yield PhaseRan(phase.name, phase.order, laws, tuple(fired), tuple(shared))

    def _batch(self, batch: Batch, fired: list[LawFired], shared: list[Shared]) -> None:
        first = self._number + 1
        self._number += len(batch.firings)
        owners = _owners(batch)
        alone: dict[int, list[SlotChange]] = {}
        for change in batch.changes:
            if len(owners.get(_place(change), ())) < 2:
                alone.setdefault(_cause(batch, owners, change), []).append(self._changed(change))
        for at, firing in enumerate(batch.firings):
            law = firing.rule.title.partition(" ")[2]
            asked = tuple(self._asked(firing))
            changes = tuple(alone.get(at, ()))
            fired.append(LawFired(first + at, law, self._bindings(law, firing), asked, changes))
        changed = {_place(one): self._changed(one) for one in batch.changes}
        for place, writes in owners.items():
            if len(writes) > 1:
                by = tuple((first + at, self._written(one)) for at, one in writes)
                how = _how([one for _, one in writes])
                shared.append(Shared(by[0][1].slot, how, by, changed.get(place)))

    def _bindings(self, law: str, firing: Firing) -> dict[str, Json]:
        params = self._program.laws[law].params
        return {
            binder.name: show_value(self._program, self._names, binder.type, value)
            for binder, value in zip(params, firing.rule.args, strict=True)
        }

    def _asked(self, firing: Firing) -> Iterator[Asked]:
        for one in firing.born:
            yield Asked(one.name, "create", one.of)
        yield from map(self._written, firing.asked)
        for number in firing.doomed:
            yield Asked(self._names[number], "destroy", None)

    def _written(self, write: Write) -> Asked:
        op, column, key, value, _ = write
        return Asked(self._slot(column, key), _OPS[op], self._shown(column, value))

    def _changed(self, change: RawChange) -> SlotChange:
        column, key, old, new, _ = change
        return SlotChange(
            self._slot(column, key), self._shown(column, old), self._shown(column, new)
        )

    def _slot(self, column: Column, key: Key) -> str:
        return slot_text(column.fluent, shown_key(self._program, self._names, column, key))

    def _shown(self, column: Column, value: Raw) -> Json:
        return show_value(self._program, self._names, column.fluent.type, value)


_OPS: Mapping[str, Op] = {"=": "=", "+": "+", "add": "add", "remove": "remove"}

_Place = tuple[int, Any]


def _place(change: RawChange) -> _Place:
    return change[0].index, change[1]


def _owners(batch: Batch) -> dict[_Place, list[tuple[int, Write]]]:
    """The requests for each slot, with the place of the firing in its batch."""
    found: dict[_Place, list[tuple[int, Write]]] = {}
    for at, firing in enumerate(batch.firings):
        for write in firing.asked:
            found.setdefault((write[1].index, write[2]), []).append((at, write))
    return found


def _cause(
    batch: Batch, owners: Mapping[_Place, list[tuple[int, Write]]], change: RawChange
) -> int:
    """The firing behind a change: who asked for it, else who made or ended the life it is of."""
    asked = owners.get(_place(change))
    if asked:
        return asked[0][0]
    column, key, _, _, title = change
    mine = [at for at, one in enumerate(batch.firings) if one.rule.title == title]
    numbers = {key} if column.by_object or column is LIFE else set(column.args(key))
    for at in mine:
        one = batch.firings[at]
        if numbers & {*one.doomed, *(born.number for born in one.born)}:
            return at
    return next((at for at in mine if batch.firings[at].doomed), mine[0] if mine else 0)


def _how(writes: Sequence[Write]) -> How:
    """What the language makes of several requests for one slot."""
    ops, values = {one[0] for one in writes}, {one[3] for one in writes}
    if ops == {"+"}:
        return "sum"
    if ops == {"="}:
        return "agree" if len(values) == 1 else "conflict"
    if "=" in ops:
        return "conflict"
    return "agree" if len(ops) == 1 else "add wins"
