"""Rows of the store from records, and records from rows. No transaction begins or ends here."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from tokenworld.ground import Json, Status
from tokenworld.store.chain import canonical, digest_of, link, storable
from tokenworld.store.records import (
    Ending,
    IntentSource,
    Origin,
    Reference,
    RunHeader,
    SourceText,
    Tick,
    TickRecord,
    Timing,
)

__all__ = [
    "TICK_COLUMNS",
    "chained",
    "ending_of",
    "event_rows",
    "header_json",
    "insert_ending",
    "insert_reference",
    "insert_run",
    "insert_snapshot",
    "insert_tick",
    "insert_timing",
    "last_link",
    "sources_json",
    "tick_of",
]

TICK_COLUMNS = (
    "run, seq, actor, source, text, intent, outcome, status, "
    "hash_before, hash_after, previous, chain, started, microseconds"
)
TickRow = tuple[
    int, int, str | None, str, str | None, str, str, str, str, str, str, str, str | None, int | None
]


def sources_json(sources: Sequence[SourceText]) -> Json:
    return [[source.name, source.text] for source in sources]


def header_json(header: RunHeader, origin: Origin | None) -> Json:
    """What the genesis hashes: all of the header, with sources and parent by their hashes."""
    carried: dict[str, Json] = {}
    if header.carried is not None:
        carried = {"carried": _place_json(header.carried)}
    return {
        "format": "tw-run/1",
        "world": header.world,
        "digest": header.digest,
        "sources": digest_of(sources_json(header.sources)),
        "compiler": header.compiler,
        "seed": header.seed,
        "player": header.player,
        "params": header.params,
        "start_hash": header.start_hash,
        "parent": _place_json(origin) if origin else None,
        **carried,
    }


def _place_json(origin: Origin) -> dict[str, Json]:
    return {"tick": origin.tick, "chain": origin.chain}


def insert_run(
    connection: sqlite3.Connection,
    header: RunHeader,
    origin: Origin | None,
    number: int | None = None,
) -> int:
    """Store a header and return the run's id; `number` is kept in the slug where it is free."""
    sources = canonical(sources_json(header.sources))
    source_set = digest_of(sources_json(header.sources))
    connection.execute(
        "INSERT INTO source_set (hash, sources) SELECT ?, ? "
        "WHERE NOT EXISTS (SELECT 1 FROM source_set WHERE hash = ?)",
        (source_set, sources, source_set),
    )
    number = _slug_number(connection, header.world, number)
    text = header_json(header, origin)
    row = (
        header.world,
        number,
        f"{header.world}-{number}",
        source_set,
        header.parent.run if header.parent else None,
        canonical(text),
        digest_of(text),
    )
    cursor = connection.execute(
        "INSERT INTO run (world, number, slug, source_set, parent_run, header, genesis) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        row,
    )
    return cast(int, cursor.lastrowid)


def _slug_number(connection: sqlite3.Connection, world: str, wanted: int | None) -> int:
    query = "SELECT 1 FROM run WHERE world = ? AND number = ?"
    if wanted is not None and not connection.execute(query, (world, wanted)).fetchone():
        return wanted
    query = "SELECT 1 + coalesce(max(number), 0) FROM run WHERE world = ?"
    return int(connection.execute(query, (world,)).fetchone()[0])


def last_link(connection: sqlite3.Connection, run: int) -> tuple[int, str, str]:
    """Sequence number, chain and state hash that the next record of the run follows."""
    row = connection.execute(
        "SELECT seq, chain, hash_after FROM tick WHERE run = ? ORDER BY seq DESC LIMIT 1", (run,)
    ).fetchone()
    if row is None:
        row = connection.execute(
            "SELECT 0, genesis, json_extract(header, '$.start_hash') FROM run WHERE id = ?", (run,)
        ).fetchone()
    return cast(tuple[int, str, str], tuple(row))


def chained(
    run: int, seq: int, previous: str, record: TickRecord, timing: Timing | None = None
) -> Tick:
    """The record with its place in the run and its link of the chain."""
    text = None if record.text is None else storable(record.text)
    outcome = record.outcome
    chain = link(
        previous,
        seq=seq,
        source=record.source,
        text=text,
        intent=record.intent,
        outcome=outcome,
    )
    return Tick(
        run=run,
        seq=seq,
        actor=cast(str | None, outcome.get("actor")),
        source=record.source,
        text=text,
        intent=record.intent,
        outcome=outcome,
        status=cast(Status, outcome.get("status")),
        hash_before=cast(str, outcome.get("hash_before")),
        hash_after=cast(str, outcome.get("hash_after")),
        previous=previous,
        chain=chain,
        timing=timing,
    )


def insert_tick(connection: sqlite3.Connection, tick: Tick) -> None:
    """Store a record with its rows in the side tables."""
    row = (
        tick.run,
        tick.seq,
        tick.actor,
        tick.source,
        tick.text,
        canonical(tick.intent),
        canonical(tick.outcome),
        tick.status,
        tick.hash_before,
        tick.hash_after,
        tick.previous,
        tick.chain,
    )
    connection.execute(
        "INSERT INTO tick (run, seq, actor, source, text, intent, outcome, status, "
        "hash_before, hash_after, previous, chain) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        row,
    )
    connection.executemany(
        "INSERT INTO event (run, seq, position, part, fluent, args, old, new, rule) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((tick.run, tick.seq, *event) for event in event_rows(tick.outcome)),
    )
    if tick.timing:
        insert_timing(connection, tick.run, tick.seq, tick.timing)


def event_rows(outcome: Mapping[str, Json]) -> Iterator[tuple[int, str, str, str, str, str, str]]:
    """(position, part, fluent, args, old, new, rule) of every committed change, in order."""
    position = 0
    for part, key in (("action", "changes"), ("law", "law_changes")):
        for item in cast(Sequence[Mapping[str, Json]], outcome[key]):
            args, old, new = (canonical(item[name]) for name in ("args", "old", "new"))
            yield position, part, str(item["fluent"]), args, old, new, str(item["rule"])
            position += 1


def insert_timing(connection: sqlite3.Connection, run: int, seq: int, timing: Timing) -> None:
    connection.execute(
        "INSERT INTO timing (run, seq, started, microseconds) VALUES (?, ?, ?, ?)",
        (run, seq, timing.started, timing.microseconds),
    )


def insert_snapshot(connection: sqlite3.Connection, tick: Tick, state: Mapping[str, Json]) -> None:
    connection.execute(
        "INSERT INTO snapshot (run, seq, state, state_hash) VALUES (?, ?, ?, ?)",
        (tick.run, tick.seq, canonical(state), tick.hash_after),
    )


def insert_ending(connection: sqlite3.Connection, run: int, ending: Ending) -> None:
    connection.execute(
        "INSERT INTO ending (run, reason, ticks, state_hash, chain) VALUES (?, ?, ?, ?, ?)",
        (run, ending.reason, ending.ticks, ending.state_hash, ending.chain),
    )


def insert_reference(connection: sqlite3.Connection, run: int, reference: Reference) -> None:
    connection.execute(
        "INSERT INTO reference (run, verdict, window) VALUES (?, ?, ?)",
        (run, reference.verdict, reference.window),
    )


def tick_of(row: TickRow) -> Tick:
    """The record of a row of `TICK_COLUMNS`; `ValueError` where its JSON is damaged."""
    run, seq, actor, source, text, intent, outcome, status, before, after, previous, chain = row[
        :12
    ]
    return Tick(
        run=run,
        seq=seq,
        actor=actor,
        source=cast(IntentSource, source),
        text=text,
        intent=json.loads(intent),
        outcome=json.loads(outcome),
        status=cast(Status, status),
        hash_before=before,
        hash_after=after,
        previous=previous,
        chain=chain,
        timing=timing_of(row[12], row[13]),
    )


def timing_of(started: str | None, microseconds: int | None) -> Timing | None:
    if started is None or microseconds is None:
        return None
    return Timing(started, microseconds)


def ending_of(row: tuple[str | None, int, str, str]) -> Ending | None:
    """The ending of a (left joined) row of reason, ticks, state hash and chain."""
    reason, ticks, state_hash, chain = row
    return None if reason is None else Ending(reason, ticks, state_hash, chain)
