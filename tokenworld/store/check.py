"""Checking a stored run without trusting what wrote it: `tw runs verify`.

Reads the rows as they lie in the file, recomputes every link of the chain and re-checks the laws
of every record. It needs no rules; re-executing the run is the business of a replay.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tokenworld.diagnostics import Diagnostic
from tokenworld.ground import Json
from tokenworld.store.chain import canonical, digest_of
from tokenworld.store.database import Database
from tokenworld.store.faults import unreadable
from tokenworld.store.laws import broken_law
from tokenworld.store.read import find_run
from tokenworld.store.records import INTENT_SOURCES, Run, TickRecord
from tokenworld.store.rows import chained, event_rows

__all__ = ["Breach", "Verification", "check_file", "verify_chain"]


@dataclass(frozen=True, slots=True)
class Breach:
    """The first thing found wrong: at record `seq` (0 is the header), against `law`."""

    seq: int
    law: str
    message: str

    def to_json(self) -> dict[str, Json]:
        return {"tick": self.seq, "law": self.law, "message": self.message}


@dataclass(frozen=True, slots=True)
class Verification:
    """What a check of a run came to. ``ticks`` counts the records found good."""

    run: Run
    ticks: int
    breach: Breach | None

    @property
    def ok(self) -> bool:
        return self.breach is None

    def to_json(self) -> dict[str, Json]:
        return {
            "run": self.run.slug,
            "ticks": self.ticks,
            "ok": self.ok,
            "breach": self.breach.to_json() if self.breach else None,
        }

    def diagnostic(self) -> Diagnostic | None:
        """TW1101 with the place of the breach, or None."""
        if self.breach is None:
            return None
        place = f"tick {self.breach.seq}" if self.breach.seq else "the header"
        message = f"Run `{self.run.slug}` is not as it was recorded: {place} {self.breach.message}."
        hint = f"Trust the run up to tick {self.ticks} only." if self.ticks else "Do not trust it."
        return Diagnostic("TW1101", message, hint=hint)


def check_file(store: Database) -> None:
    """Read every page of the file; raises `Failure` TW1101 where it is damaged."""
    with store.reading() as connection:
        findings = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        orphan = connection.execute("PRAGMA foreign_key_check").fetchone()
    if findings != "ok":
        raise unreadable(store.path, f"it is damaged ({findings})")
    if orphan:
        raise unreadable(store.path, f"a row of `{orphan[0]}` belongs to nothing")


def verify_chain(store: Database, run: Run) -> Verification:
    """Check the header, every record and the ending of a run, and stop at the first breach.

    A run without an ending may have lost its last records unseen: nothing pins their number.
    """
    with store.reading() as connection:
        header = connection.execute(
            "SELECT header, genesis FROM run WHERE id = ?", (run.id,)
        ).fetchone()
        rows = connection.execute(
            "SELECT seq, actor, source, text, intent, outcome, status, hash_before, hash_after, "
            "previous, chain FROM tick WHERE run = ? ORDER BY seq",
            (run.id,),
        ).fetchall()
        events = _events(connection, run.id)
    message = _header_breach(store, run, *header)
    if message:
        return Verification(run, 0, Breach(0, "header", message))
    seq, link, state = 0, run.genesis, run.header.start_hash
    for row in rows:
        breach = _tick_breach(_Row(*row), seq + 1, link, state, events.get(row[0], []))
        if breach:
            return Verification(run, seq, breach)
        seq, state, link = row[0], row[8], row[10]
    return Verification(run, seq, _ending_breach(run, seq, link, state))


@dataclass(frozen=True, slots=True)
class _Row:
    """A record as it lies in the file, nothing parsed."""

    seq: int
    actor: str | None
    source: Any
    text: str | None
    intent: str
    outcome: str
    status: str
    hash_before: str
    hash_after: str
    previous: str
    chain: str


def _events(connection: sqlite3.Connection, run: int) -> dict[int, list[tuple[Any, ...]]]:
    found: dict[int, list[tuple[Any, ...]]] = {}
    for seq, *event in connection.execute(
        "SELECT seq, position, part, fluent, args, old, new, rule FROM event "
        "WHERE run = ? ORDER BY seq, position",
        (run,),
    ):
        found.setdefault(seq, []).append(tuple(event))
    return found


def _header_breach(store: Database, run: Run, header: str, genesis: str) -> str | None:
    if canonical(json.loads(header)) != header or digest_of(json.loads(header)) != genesis:
        return "does not have the hash that was recorded with it"
    sources: Json = [[source.name, source.text] for source in run.header.sources]
    if digest_of(sources) != json.loads(header)["sources"]:
        return "has other source texts than those recorded"
    parent = run.header.parent
    if parent is None:
        return None
    origin = find_run(store, parent.run)
    with store.reading() as connection:
        row = connection.execute(
            "SELECT chain, hash_after FROM tick WHERE run = ? AND seq = ?",
            (parent.run, parent.tick),
        ).fetchone()
    start = (origin.genesis, origin.header.start_hash) if parent.tick == 0 else row
    if run.origin is None or start != (run.origin.chain, run.header.start_hash):
        return f"does not follow tick {parent.tick} of its parent `{origin.slug}`"
    return None


def _tick_breach(
    row: _Row, seq: int, link: str, state: str, events: list[tuple[Any, ...]]
) -> Breach | None:
    """The first law that a record breaks, given what it has to follow."""
    if row.seq != seq:
        return Breach(seq, "gapless", "is missing")
    parsed = _parsed(row)
    if parsed is None:
        return Breach(seq, "canonical", "is not canonical JSON")
    intent, outcome = parsed
    if row.source not in INTENT_SOURCES:
        return Breach(seq, "source", f"has the unknown source `{row.source}`")
    if row.previous != link:
        return Breach(seq, "chain", "does not continue the hash chain")
    record = TickRecord(intent, outcome, row.source, row.text)
    if chained(0, seq, link, record).chain != row.chain:
        return Breach(seq, "chain", "does not have the hash that was recorded with it")
    columns = (row.actor, row.status, row.hash_before, row.hash_after)
    keys = ("actor", "status", "hash_before", "hash_after")
    for key, column in zip(keys, columns, strict=True):
        if outcome.get(key) != column:
            return Breach(seq, "columns", f"has another `{key}` in its column than in its outcome")
    law = broken_law(outcome)
    if law:
        return Breach(seq, law.name, f"breaks the law `{law.name}`: {law.text}")
    if row.hash_before != state:
        return Breach(seq, "continuity", "does not start in the state the last one ended in")
    if list(event_rows(outcome)) != events:
        return Breach(seq, "events", "has event rows that are not those of its changes")
    return None


def _parsed(row: _Row) -> tuple[Mapping[str, Json], Mapping[str, Json]] | None:
    """Intent and outcome, or None where a text is not the canonical JSON of an object."""
    found = []
    for text in (row.intent, row.outcome):
        try:
            value = json.loads(text)
            if not isinstance(value, dict) or canonical(value) != text:
                return None
        except (ValueError, TypeError, RecursionError):
            return None
        found.append(value)
    return found[0], found[1]


def _ending_breach(run: Run, seq: int, link: str, state: str) -> Breach | None:
    if run.ending is None:
        return None
    if run.ending.ticks < seq:
        return Breach(run.ending.ticks + 1, "ending", "was added after the run was finished")
    if run.ending.ticks > seq:
        message = f"is missing: the run was finished with {run.ending.ticks} ticks"
        return Breach(seq + 1, "ending", message)
    if (run.ending.chain, run.ending.state_hash) != (link, state):
        return Breach(seq, "ending", "is not the one that the run was finished with")
    return None
