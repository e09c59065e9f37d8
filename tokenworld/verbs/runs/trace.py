"""``tw runs trace``: which laws fired in a tick, in what order, with which bindings and changes.

Records keep the changes of a whole tick (`tw-outcome/1`). A trace plays the tick again from the
state before it and separates the laws: the changes that each requested, those that were applied,
and slots that several laws requested.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, assert_never

from tokenworld.diagnostics import fields_json
from tokenworld.engine import ForcedLuck, State
from tokenworld.engine.changes import LIFE, RawChange, shown_key
from tokenworld.engine.columns import Column, Key
from tokenworld.engine.rows.questions.tracing import Batch, Firing, PhaseTrace, Write
from tokenworld.ground import (
    PASS,
    Command,
    Json,
    NoMatch,
    Outcome,
    Raw,
    Status,
    show_value,
    value_text,
)
from tokenworld.ground.secrets import Secrets
from tokenworld.model import Program
from tokenworld.session.moments import Moment, SlotChange, slot_text
from tokenworld.session.obstacles import command_of
from tokenworld.session.replaying import again, session_at
from tokenworld.session.session import Session
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, find_tick
from tokenworld.store.records import Run
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import (
    EXIT_OK,
    Glyphs,
    Line,
    Output,
    Piece,
    fitting_glyphs,
    line,
    plain_text,
)

Op = Literal["=", "+", "add", "remove", "create", "destroy"]
How = Literal["agree", "sum", "add wins", "conflict"]
"""The way in which requests for one slot are joined: the same value, summed up, an addition beside
a removal, or not at all (language.md §5)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of a law: a slot's new value, an amount to add, a fact, a life."""

    slot: str
    op: Op
    value: Json


@dataclass(frozen=True, slots=True)
class LawFired:
    """One binding of a law whose condition held. ``number`` counts through the whole tick.

    ``changes`` are those that it alone caused; changes of several laws are in `Shared`.
    """

    number: int
    law: str
    bindings: Mapping[str, Json]
    asked: tuple[Asked, ...]
    changes: tuple[SlotChange, ...]


@dataclass(frozen=True, slots=True)
class Shared:
    """A slot that several writes of one batch have as their target, made by these firings.

    ``change`` is ``None`` where the slot kept its value, or where the tick was rolled back.
    """

    slot: str
    how: How
    by: tuple[tuple[int, Asked], ...]
    change: SlotChange | None

    def to_json(self) -> dict[str, Json]:
        return {
            "slot": self.slot,
            "how": self.how,
            "by": [{"number": number, **fields_json(one)} for number, one in self.by],
            "changes": [fields_json(self.change)] if self.change else [],
        }


@dataclass(frozen=True, slots=True)
class PhaseRan:
    """A phase of the tick: its laws as written, the firings, and the slots requested twice."""

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


@dataclass(frozen=True, slots=True)
class TickTrace:
    """A tick, law by law. ``changes`` are those of the action itself.

    ``stopped`` is what discarded the tick, with its code; it carries on from where a phase broke
    off, or from the checks after the last one. ``broke_off``: it was in the last phase told of.
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
        return {"schema": "tw-trace/1", **fields_json(self)}


class Tracing:
    """Traces the ticks of one session, in the thread that plays it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.engine = session.engine
        self._program = session.world.program

    def trace(self, before: State, moment: Moment) -> TickTrace:
        """Return the trace of the tick from a state to a moment, for its last record.

        If the state belongs to other rules (they were replaced since), the trace has no phases.
        """
        outcome = moment.outcomes[-1]
        intent = self._intent(moment, outcome)
        broken = outcome.breach is not None
        phases: tuple[PhaseTrace, ...] = ()
        broke_off = False
        known = before.layout is self.engine.layout
        if known and intent is not None and (outcome.time_passed or broken):
            found = self.engine.traced(before, intent, ForcedLuck(moment.drawn))
            phases, broke_off = self._known(found.phases), found.broken
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

    def _known(self, phases: tuple[PhaseTrace, ...]) -> tuple[PhaseTrace, ...]:
        """Phases without secret slots, and without the laws that only concern such slots."""
        known = self._session.known
        if known.is_whole:
            return phases
        secrets = known.secrets
        return tuple(
            replace(
                phase,
                laws=tuple(one for one in phase.laws if not secrets.law(one)),
                batches=tuple(_public(secrets, one) for one in phase.batches),
            )
            for phase in phases
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


def _public(secrets: Secrets, batch: Batch) -> Batch:
    """A batch without its changes of secret slots; a law that writes such slots is listed only
    where it changed others too."""
    hidden = secrets.fluents
    changes = [one for one in batch.changes if one[0].fluent.id not in hidden]
    changed = {_place(one) for one in changes}
    firings = []
    for one in batch.firings:
        asked = tuple(write for write in one.asked if write[1].fluent.id not in hidden)
        seen = any((write[1].index, write[2]) in changed for write in asked)
        if seen or not secrets.rule(one.title):
            firings.append(replace(one, asked=asked))
    return replace(batch, firings=tuple(firings), changes=changes)


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
            law = firing.title.partition(" ")[2]
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
            for binder, value in zip(params, firing.args, strict=True)
        }

    def _asked(self, firing: Firing) -> Iterator[Asked]:
        for one in firing.born:
            yield Asked(one.name, "create", one.of)
        yield from map(self._written, firing.asked)
        for number in firing.doomed:
            yield Asked(self._names[number], "destroy", None)

    def _written(self, write: Write) -> Asked:
        op, column, key, value = write
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
    """Return the firing that caused a change: the one that requested it, else the one that
    created or destroyed its object."""
    asked = owners.get(_place(change))
    if asked:
        return asked[0][0]
    column, key, _, _, title = change
    mine = [at for at, one in enumerate(batch.firings) if one.title == title]
    numbers = {key} if column.by_object or column is LIFE else set(column.args(key))
    for at in mine:
        one = batch.firings[at]
        if numbers & {*one.doomed, *(born.number for born in one.born)}:
            return at
    return next((at for at in mine if batch.firings[at].doomed), mine[0] if mine else 0)


def _how(writes: Sequence[Write]) -> How:
    """The rule by which the language joins several requests for one slot."""
    ops, values = {one[0] for one in writes}, {one[3] for one in writes}
    if ops == {"+"}:
        return "sum"
    if ops == {"="}:
        return "agree" if len(values) == 1 else "conflict"
    if "=" in ops:
        return "conflict"
    return "agree" if len(ops) == 1 else "add wins"


_ORDERS = {
    "simultaneous": "all laws at once",
    "sequential": "one object after another",
    "by_nesting": "containers before their contents",
}
_HOW: dict[How, str] = {
    "agree": "they agree",
    "sum": "added up",
    "add wins": "an addition beats a removal",
    "conflict": "they clash",
}


def trace_lines(found: TickTrace, glyphs: Glyphs) -> Iterator[Line]:
    """Yield the lines of a trace, in the order of events."""
    asked = f"  {found.asked}" if found.asked else ""
    status = found.status.replace("_", " ")
    good = found.status in ("executed", "waiting", "interrupted")
    yield (
        (f"{glyphs.of(found.status)} {status}", "good" if good else "bad"),
        (f" in tick {found.tick}", "dim"),
        (asked, "head"),
    )
    yield from _action(found, glyphs)
    if not found.phases:
        yield line("")
        yield line(_why_nothing(found), "dim")
    for phase in found.phases:
        yield line("")
        yield from _phase(phase, glyphs)
    if found.stopped:
        where = "It broke off here." if found.broke_off else "It was discarded at the end."
        yield line("")
        yield line(f"{glyphs.rolled_back} {found.stopped}", "bad")
        yield line(f"{where} Nothing of the tick was kept.", "bad")


def _why_nothing(found: TickTrace) -> str:
    if found.time_passed:
        return "No law is known of this tick: the world has none, or its rules were exchanged."
    return "No time passed, so no law ran."


def _action(found: TickTrace, glyphs: Glyphs) -> Iterator[Line]:
    if not found.action:
        return
    args = ", ".join(map(value_text, found.args.values()))
    yield line("")
    yield line(f"action {found.action}({args})" if found.action != "pass" else "pass", "head")
    yield from _changes(found.changes, glyphs)
    if found.status == "waiting":
        yield line("      goes on", "dim")
    elif not found.changes and not found.stopped:
        yield line("      changed nothing", "dim")


def _phase(phase: PhaseRan, glyphs: Glyphs) -> Iterator[Line]:
    name = f"phase {phase.name}" if phase.name else "laws without a phase"
    yield ((name, "head"), (f"  {_ORDERS[phase.order]}", "dim"))
    beside = {number for one in phase.shared for number, _ in one.by}
    for law in phase.fired:
        yield from _law(law, law.number in beside, phase.shared, glyphs)
    for one in phase.shared:
        yield from _shared(one, glyphs)
    if phase.idle:
        yield line(f"  did not fire: {', '.join(phase.idle)}", "dim")


def _law(law: LawFired, shares: bool, shared: Sequence[Shared], glyphs: Glyphs) -> Iterator[Line]:
    bound = ", ".join(f"{name} = {value_text(value)}" for name, value in law.bindings.items())
    yield ((f"{law.number:>3} ", "dim"), (f"law {law.law}", "plain"), (f"  {bound}", "dim"))
    yield from _changes(law.changes, glyphs)
    common = {one.slot for one in shared for number, _ in one.by if number == law.number}
    if shares:
        for asked in law.asked:
            if asked.slot in common:
                yield (("      ", "plain"), *_asks(asked), ("  shared", "dim"))
    elif not law.changes:
        yield line(
            "      changed nothing" if law.asked else "      spoke, or changed nothing", "dim"
        )


def _changes(changes: Sequence[SlotChange], glyphs: Glyphs) -> Iterator[Line]:
    for one in changes:
        values = f"{value_text(one.old)} {glyphs.becomes} {value_text(one.new)}"
        yield ((f"      {one.slot} ", "plain"), (values, "good"))


def _asks(asked: Asked) -> tuple[Piece, ...]:
    return ((f"{asked.slot} ", "plain"), (_request(asked), "typed"))


def _request(asked: Asked) -> str:
    """The request of a law for a slot: ``= 3``, ``+ 2``, ``- 1``, ``add``."""
    match asked.op:
        case "=":
            return f"= {value_text(asked.value)}"
        case "+":
            return _amount(asked.value)
        case "add" | "remove" | "create" | "destroy":
            return asked.op
        case _:
            assert_never(asked.op)


def _amount(value: Json) -> str:
    if isinstance(value, int | float) and value < 0:
        return f"- {value_text(-value)}"
    return f"+ {value_text(value)}"


def _shared(one: Shared, glyphs: Glyphs) -> Iterator[Line]:
    clash = one.how == "conflict"
    sign = f"{glyphs.refused} " if clash else f"{glyphs.dot} "
    change = one.change
    value = "stays" if change is None else f"{value_text(change.old)} {glyphs.becomes} "
    after = "" if change is None else value_text(change.new)
    asked = ", ".join(f"{number}: {_request(ask)}" for number, ask in one.by)
    yield (
        (f"  {sign}{one.slot} ", "bad" if clash else "plain"),
        (f"{value}{after}", "bad" if clash else "good"),
        (f"  {_HOW[one.how]} ({asked})", "bad" if clash else "dim"),
    )


def trace(
    reference: opt.Run,
    seq: Annotated[Annotated[int, "This record, from 1."], opt.Option("record")],
    out: Output,
    *,
    store: opt.Store = None,
) -> int:
    """Tell what each law did in the tick of record ``seq``.

    Raises `Failure` TW1104 where the run has no such record, TW1105 where it does not play again
    as it is stored.
    """
    with RunStore.open(store, writable=False) as opened:
        run = find_run(opened, reference)
        found = traced(opened, run, seq)
    out.line(f"{run.slug}, record {seq}")
    out.line(plain_text(trace_lines(found, fitting_glyphs())))
    out.json({"schema_version": 1, "run": run.slug, "record": seq, **found.to_json()})
    return EXIT_OK


def traced(store: RunStore, run: Run, seq: int) -> TickTrace:
    """The trace of a stored record: its intent, given again in the state before it."""
    tick = find_tick(store, run, seq)
    session = session_at(store, run, seq - 1 - _paired(store, run, seq))
    before = session.state
    again(session, tick)
    return Tracing(session).trace(before, session.moments[-1])


def _paired(store: RunStore, run: Run, seq: int) -> int:
    """1 for the second record of an intent: it cancelled a long action, which is the first."""
    if seq < 2:
        return 0
    earlier = find_tick(store, run, seq - 1).outcome
    return int(earlier["status"] == "interrupted" and earlier.get("cause") == "a new intent")
