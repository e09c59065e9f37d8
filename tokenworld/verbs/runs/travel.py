"""``tw runs at``, ``diff``, ``why``, ``branch``, ``resume``: going back in a stored run, and on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokenworld.diagnostics import fields_json
from tokenworld.ground import value_text
from tokenworld.session import Session
from tokenworld.session.moments import differences, slots_of
from tokenworld.session.replaying import branched, resumed, session_at
from tokenworld.store import Run, RunStore, Tick, find_run, history
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output
from tokenworld.verbs.runs.provenance import Provenance, Setter, last_setter, provenance, slot_named
from tokenworld.verbs.runs.run import Choice, play_on, seated

__all__ = ["at", "branch", "diff", "resume", "why"]


def at(reference: str | None, seq: int, out: Output, store: Path | None) -> int:
    """The whole state after a record."""
    with RunStore.open(store, writable=False) as opened:
        run = find_run(opened, reference)
        session = session_at(opened, run, seq)
    out.line(f"{run.slug} after record {seq}: tick {session.tick}, state {_hash(session)}")
    for slot, value in slots_of(session.state_json()).items():
        out.line(f"  {slot} = {value_text(value)}")
    out.json({"schema_version": 1, "run": run.slug, "record": seq, "state_hash": _hash(session),
              "state": session.state_json()})  # fmt: skip
    return EXIT_OK


def _hash(session: Session) -> str:
    return session.engine.hash(session.state)


# ---- diff -------------------------------------------------------------------------------------


def diff(first: str, second: str, out: Output, store: Path | None) -> int:
    """Print the differences of two moments, each RUN or RUN@N; returns 1 if there are any."""
    with RunStore.open(store, writable=False) as opened:
        (run, place), (other, there) = (_moment(opened, one) for one in (first, second))
        old, new = session_at(opened, run, place), session_at(opened, other, there)
        fork = _fork(_before(opened, run, place), _before(opened, other, there))
    found = differences(slots_of(old.state_json()), slots_of(new.state_json()))
    out.line(f"{run.slug}@{place} (tick {old.tick}) and {other.slug}@{there} (tick {new.tick})")
    out.line(f"  {_common(fork, run, other)}")
    for one in found:
        out.line(f"  {one.slot}: {_text(one.old)} → {_text(one.new)}")
    if not found:
        out.line("  no slot differs")
    out.json({"schema_version": 1, "first": {"run": run.slug, "record": place},
              "second": {"run": other.slug, "record": there}, "common_records": fork,
              "changes": [{"slot": one.slot, "first": one.old, "second": one.new}
                          for one in found]})  # fmt: skip
    return EXIT_NEGATIVE if found else EXIT_OK


def _common(fork: int, run: Run, other: Run) -> str:
    if not fork:
        return "no record in common"
    then = "one goes on" if run.id == other.id else "they part"
    return f"the same for {fork} records, then {then}"


def _moment(store: RunStore, text: str) -> tuple[Run, int]:
    """``RUN@N``, or the end of a run."""
    name, mark, number = text.rpartition("@")
    if mark and number.isascii() and number.isdigit() and len(number) < 10:
        return find_run(store, name or None), int(number)
    run = find_run(store, text)
    return run, run.ticks


def _before(store: RunStore, run: Run, seq: int) -> tuple[Tick, ...]:
    whole = history(store, run)
    return whole[: len(whole) - run.ticks + seq]


def _fork(one: tuple[Tick, ...], other: tuple[Tick, ...]) -> int:
    """The length of the common prefix of two histories: equal intents with equal outcomes."""
    same = 0
    for left, right in zip(one, other, strict=False):
        if (left.intent, left.outcome) != (right.intent, right.outcome):
            break
        same += 1
    return same


def _text(value: Any) -> str:
    return "–" if value is None else value_text(value)


# ---- why --------------------------------------------------------------------------------------


def why(reference: str | None, slot: str, out: Output, store: Path | None, seq: int | None) -> int:
    """Which rule of which record set a slot, and what let it."""
    with RunStore.open(store, writable=False) as opened:
        run = find_run(opened, reference)
        place = run.ticks if seq is None else seq
        session = session_at(opened, run, place)
        ticks = _before(opened, run, place)
        found = provenance(session, ticks, slot, _setting(opened, run, session, ticks, slot))
    for line in _told(found):
        out.line(line)
    out.json({"schema_version": 1, "run": run.slug, "record": place, **fields_json(found)})
    return EXIT_OK


def _setting(
    store: RunStore, run: Run, session: Session, ticks: tuple[Tick, ...], slot: str
) -> Any:
    """The state in which the record was given that set the slot, if one did."""
    fluent, args = slot_named(session.world.program, session.state, slot)
    setter = last_setter(ticks, fluent.id, args)
    if not setter.record:
        return None
    place = setter.record - 1
    while place and ticks[place - 1].status == "interrupted":
        place -= 1
    owner = next(one for one in _line_of(store, run) if one[1] <= place)
    return session_at(store, owner[0], place - owner[1]).state


def _line_of(store: RunStore, run: Run) -> Iterator[tuple[Run, int]]:
    """The run and its ancestors, each with the place in the history at which it starts."""
    start = len(history(store, run)) - run.ticks
    yield run, start
    while run.header.parent is not None:
        parent = run.header.parent
        run = find_run(store, parent.run)
        start -= parent.tick
        yield run, start


def _told(found: Provenance) -> Iterator[str]:
    yield f"{found.slot} = {value_text(found.value)}"
    yield f"  {_origin(found.set_by)}"
    if found.asked:
        yield f"  asked: {found.asked}"
    for need in found.needs:
        yield f"  because {need.condition}: {need.slot} = {value_text(need.value)}"
        yield f"    {_origin(need.set_by)}"


def _origin(setter: Setter) -> str:
    if not setter.record:
        return "as it was at the start"
    old, new = value_text(setter.old), value_text(setter.new)
    return f"record {setter.record}: {setter.rule} changed it from {old} to {new}"


# ---- branch -----------------------------------------------------------------------------------


def branch(
    reference: str | None, seq: int, out: Output, store: Path | None, choice: Choice | None
) -> int:
    """A new run that leaves another one after a record, and is played on if somebody is to play."""
    with RunStore.open(store) as opened:
        run = find_run(opened, reference)
        if choice is None:
            session = branched(opened, run, seq, "human")
            assert session.recording is not None
            out.line(f"{session.recording.slug} leaves {run.slug} after record {seq}")
            out.json({"schema_version": 1, "run": session.recording.slug, "parent": run.slug,
                      "record": seq, "state_hash": _hash(session)})  # fmt: skip
            return EXIT_OK
        seat = seated(choice, session_at(opened, run, seq).world, out.progress)
        try:
            session = branched(opened, run, seq, seat.source)
            return play_on(session, seat, choice.ticks, out)
        finally:
            seat.close()


def resume(reference: str | None, out: Output, store: Path | None, choice: Choice) -> int:
    """Play on in a run that was cut off; what is stored of it stays as it is."""
    with RunStore.open(store) as opened:
        run = find_run(opened, reference)
        session = resumed(opened, run)
        seat = seated(choice, session.world, out.progress)
        try:
            return play_on(session, seat, choice.ticks, out)
        finally:
            seat.close()
