"""Recording: beginning a run, appending its ticks, finishing it.

The store never deletes or changes a record. Undo and branches are new runs with a
parent; a run that a crash cut off is resumed after its last committed tick.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure, fields_json
from tokenworld.ground import Json
from tokenworld.store.check import broken_law
from tokenworld.store.database import Database, unwritable
from tokenworld.store.read import (
    chained,
    find_run,
    find_tick,
    insert,
    insert_run,
    insert_snapshot,
    insert_tick,
    insert_timing,
    last_link,
)
from tokenworld.store.records import (
    Ending,
    Origin,
    Parent,
    Reference,
    Run,
    RunHeader,
    Tick,
    TickRecord,
    Timing,
    storable,
)
from tokenworld.store.usage import Usage

SNAPSHOT_EVERY = 100

_DEFECT = "Report this as a defect: the engine made a record that contradicts itself or the log."
_BRANCH = "Branch from it, or begin a new run."


class RunStore(Database):
    """A run store that runs can be recorded in; open it with `RunStore.open`."""

    def begin(
        self, header: RunHeader, *, parent: Parent | None = None, timing: Timing | None = None
    ) -> RunHandle:
        """Store a new run; `parent` (else ``header.parent``) makes it a branch.

        Raises `Failure`: TW1104 where the parent has no such tick, TW1102 where the start state
        is not the one the parent had there or the store cannot be written.
        """
        header = replace(header, parent=parent or header.parent)
        with self.transaction() as connection, _expressible(self.path):
            origin = self._origin(header, header.parent) if header.parent else None
            number = insert_run(connection, header, origin)
            if timing:
                insert_timing(connection, number, 0, timing)
        return RunHandle(self, number, find_run(self, number).slug)

    def link_after(self, run: Run, tick: int) -> Origin:
        """The place after a record of a run (0: before the first) by content."""
        chain = find_tick(self, run, tick).chain if tick else run.genesis
        return Origin(tick, chain)

    def resume(self, reference: str | int | None = None) -> RunHandle:
        """Go on with a run that was not finished, after its last committed tick."""
        run = find_run(self, reference)
        if run.ending:
            raise _finished(run.slug)
        return RunHandle(self, run.id, run.slug)

    def keep_as_reference(self, run: Run, reference: Reference) -> None:
        """Note that a finished run passed the gate; again the same is no change.

        Raises `Failure` TW1102 for a run that is not finished, or is a reference already with
        another verdict: records are never changed.
        """
        with self.transaction() as connection:
            now = find_run(self, run.id)
            if now.ending is None:
                raise _unfinished(run.slug)
            if now.reference is None:
                insert(connection, "reference", run=run.id, **fields_json(reference))
            elif now.reference != reference:
                raise unwritable(self.path, f"run `{run.slug}` is a reference already", _BRANCH)

    def _origin(self, header: RunHeader, parent: Parent) -> Origin:
        """The link of the chain that a branch hangs on."""
        run = find_run(self, parent.run)
        if parent.tick == 0:
            state, chain = run.header.start_hash, run.genesis
        else:
            tick = find_tick(self, run, parent.tick)
            state, chain = tick.hash_after, tick.chain
        if state != header.start_hash:
            why = f"the branch does not start in the state after tick {parent.tick} of `{run.slug}`"
            raise unwritable(self.path, why, _DEFECT)
        return Origin(parent.tick, chain)


@dataclass(frozen=True, slots=True)
class RunHandle:
    """A run being recorded. It keeps no state of its own: the store is the truth."""

    store: RunStore
    id: int
    slug: str

    def append(
        self,
        record: TickRecord,
        *,
        timing: Timing | None = None,
        snapshot: Mapping[str, Json] | None = None,
    ) -> Tick:
        """Store one record in one transaction, committed when this returns.

        `snapshot` is the whole state after it (wanted every `SNAPSHOT_EVERY` records). Raises
        `Failure` TW1102, with nothing of the record stored, where it breaks a law of the log or
        the store cannot be written.
        """
        path = self.store.path
        with self.store.transaction() as connection, _expressible(path):
            seq, previous, state = self._last(connection)
            _check(path, seq + 1, state, record)
            tick = chained(self.id, seq + 1, previous, record, timing)
            insert_tick(connection, tick)
            if snapshot is not None:
                insert_snapshot(connection, tick, snapshot)
        return tick

    def narrate(self, seq: int, prose: str) -> None:
        """Store the prose of a narrator on the intent that ended with record ``seq``."""
        with self.store.transaction() as connection:
            insert(connection, "narration", run=self.id, seq=seq, prose=storable(prose))

    def used(self, seq: int, usage: Usage) -> None:
        """Store the tokens that a model used for the intent that ended with record ``seq``."""
        with self.store.transaction() as connection:
            insert(connection, "usage", run=self.id, seq=seq, **fields_json(usage))

    def finish(self, reason: str) -> Ending:
        """Close the run for good: no record can follow. Waits until the disk has it."""
        with self.store.waiting_for_the_disk(), self.store.transaction() as connection:
            seq, chain, state = self._last(connection)
            ending = Ending(storable(reason), seq, state, chain)
            insert(connection, "ending", run=self.id, **fields_json(ending))
        return ending

    def run(self) -> Run:
        """The run as it is stored now."""
        return find_run(self.store, self.id)

    def _last(self, connection: sqlite3.Connection) -> tuple[int, str, str]:
        """Number, link and state hash that the next record follows; fails once finished."""
        if connection.execute("SELECT 1 FROM ending WHERE run = ?", (self.id,)).fetchone():
            raise _finished(self.slug)
        return last_link(connection, self.id)


def _finished(slug: str) -> Failure:
    return Failure(Diagnostic("TW1102", f"Run `{slug}` is finished.", hint=_BRANCH))


def _unfinished(slug: str) -> Failure:
    hint = "Let it be played to its end first, or begin a new run."
    return Failure(Diagnostic("TW1102", f"Run `{slug}` is not finished.", hint=hint))


def _check(path: Path, seq: int, state: str, record: TickRecord) -> None:
    """Raise `Failure` for a record that a later check of the log would reject."""
    law = broken_law(record.outcome)
    if law:
        raise unwritable(path, f"tick {seq} breaks the law `{law.name}`: {law.text}", _DEFECT)
    if record.outcome["hash_before"] != state:
        why = f"tick {seq} does not start in the state that the one before it ended in"
        raise unwritable(path, why, _DEFECT)
    if not {"action", "text", "pass", "halt"} & record.intent.keys():
        raise unwritable(path, f"tick {seq} has no intent that could be replayed", _DEFECT)


@contextmanager
def _expressible(path: Path) -> Iterator[None]:
    """A value that JSON cannot hold is one diagnostic like the rest."""
    try:
        yield
    except (ValueError, RecursionError) as error:
        raise unwritable(path, f"a value has no JSON form ({error})", _DEFECT) from error
