"""Finding runs and reading their ticks back: rows from records, records from rows, queries."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean, fields_json
from tokenworld.ground import STATUSES, Json, Status
from tokenworld.store.database import Database, nothing_recorded, unreadable
from tokenworld.store.records import (
    HEADER,
    INTENT,
    INTENT_SOURCES,
    OUTCOME,
    VERDICTS,
    Ending,
    Maybe,
    OneOf,
    Origin,
    Parent,
    Reference,
    Run,
    RunHeader,
    SourceText,
    Tick,
    TickRecord,
    Timing,
    canonical,
    digest_of,
    fitting,
    link,
    parsed,
    storable,
)
from tokenworld.store.usage import Usage

_HEADER = ("world", "digest", "compiler", "seed", "player", "params", "start_hash")
"""The fields of a header that its JSON has as they are."""


def sources_json(sources: Sequence[SourceText]) -> Json:
    return [[source.name, source.text] for source in sources]


def header_json(header: RunHeader, origin: Origin | None) -> Json:
    """Return the JSON that the genesis hashes: all of the header, with sources and parent by their
    hashes."""
    carried: dict[str, Json] = {}
    if header.carried is not None:
        carried = {"carried": _place_json(header.carried)}
    if header.language > 1:
        carried["language"] = header.language
    return {
        "format": "tw-run/1",
        **{name: getattr(header, name) for name in _HEADER},
        "sources": digest_of(sources_json(header.sources)),
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
    return insert(
        connection,
        "run",
        world=header.world,
        number=number,
        slug=f"{header.world}-{number}",
        source_set=source_set,
        parent_run=header.parent.run if header.parent else None,
        header=canonical(text),
        genesis=digest_of(text),
    )


def insert(connection: sqlite3.Connection, table: str, **row: object) -> int:
    """Store a row, column by column; its number."""
    marks = ", ".join("?" * len(row))
    query = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"
    return cast(int, connection.execute(query, tuple(row.values())).lastrowid)


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
    row = {name: getattr(tick, name) for name in _TICK_ROW}
    row |= {"intent": canonical(tick.intent), "outcome": canonical(tick.outcome)}
    insert(connection, "tick", **row)
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
    insert(connection, "timing", run=run, seq=seq, **fields_json(timing))


def insert_snapshot(connection: sqlite3.Connection, tick: Tick, state: Mapping[str, Json]) -> None:
    text, after = canonical(state), tick.hash_after
    insert(connection, "snapshot", run=tick.run, seq=tick.seq, state=text, state_hash=after)


def tick_of(row: tuple[Any, ...]) -> Tick:
    """The record of a row of `_ticks`; `ValueError` where it is damaged."""
    try:
        found = dict(zip(_TICK_ROW, row, strict=False))
        fitting(found, _TICK_ROW)
        found["intent"] = parsed(found["intent"], INTENT)
        found["outcome"] = parsed(found["outcome"], OUTCOME)
        prose = fitting(row[14], Maybe(str))
        usage = Usage(*fitting(row[15:18], (Maybe(int), Maybe(int), Maybe(float))))
        return Tick(**found, timing=timing_of(row[12], row[13]), prose=prose, usage=usage)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"record {row[1]} of run {row[0]}: {error}") from error


_TICK_ROW = {
    "run": int,
    "seq": int,
    "actor": Maybe(str),
    "source": OneOf(INTENT_SOURCES),
    "text": Maybe(str),
    "intent": str,
    "outcome": str,
    "status": OneOf(STATUSES),
    "hash_before": str,
    "hash_after": str,
    "previous": str,
    "chain": str,
}


def timing_of(started: object, microseconds: object) -> Timing | None:
    """The timing of a (left joined) row; `ValueError` where it is damaged."""
    if started is None and microseconds is None:
        return None
    return Timing(*fitting((started, microseconds), (str, int)))


def ending_of(row: tuple[Any, ...]) -> Ending | None:
    """The ending of a (left joined) row of reason, ticks, state hash and chain."""
    return None if row[0] is None else Ending(*fitting(row, (str, int, str, str)))


# ---- Finding runs and reading their ticks back. Nothing here changes the store -------------------


_RUNS = """
SELECT run.id, run.slug, run.source_set, run.parent_run, run.header, run.genesis,
  coalesce(tick.seq, 0), tick.hash_after, tick.status,
  ending.reason, ending.ticks, ending.state_hash, ending.chain,
  timing.started, timing.microseconds, run.world, tick.chain
FROM run
LEFT JOIN tick ON tick.run = run.id
  AND tick.seq = (SELECT max(seq) FROM tick WHERE run = run.id)
LEFT JOIN ending ON ending.run = run.id
LEFT JOIN timing ON timing.run = run.id AND timing.seq = 0
"""
_LAST_OF_ALL = "WHERE run.id = (SELECT max(id) FROM run)"
_LAST_OF_WORLD = "WHERE run.id = (SELECT max(id) FROM run WHERE world = ?)"


def list_runs(store: Database, world: str | None = None) -> tuple[Run, ...]:
    """All runs (of a world), oldest first; empty where there is none."""
    if world is None:
        return _runs(store, "ORDER BY run.id")
    return _runs(store, "WHERE run.world = ? ORDER BY run.id", world)


def find_run(store: Database, reference: str | int | None = None) -> Run:
    """The run that `reference` names: an id, a slug, a world's name for its latest run, or None.

    None is the latest run of all. Raises `Failure` TW1104 where nothing fits.
    """
    if reference is None:
        found = _runs(store, _LAST_OF_ALL)
    else:
        found = _by_id(store, str(reference)) or _by_name(store, str(reference))
    if not found:
        raise _no_such_run(store, reference)
    return found[0]


def _by_id(store: Database, word: str) -> tuple[Run, ...]:
    # Eighteen digits fit into SQLite's integers; a longer number is no id.
    if not (word.isascii() and word.isdigit() and len(word) <= 18):
        return ()
    return _runs(store, "WHERE run.id = ?", int(word))


def _by_name(store: Database, word: str) -> tuple[Run, ...]:
    if not _storable(word):
        return ()
    return _runs(store, "WHERE run.slug = ?", word) or _runs(store, _LAST_OF_WORLD, word)


def _storable(word: str) -> bool:
    """Return whether the word is valid text: a terminal may pass bytes that are not UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in word)


def _no_such_run(store: Database, reference: str | int | None) -> Failure:
    with store.reading() as connection:
        rows = connection.execute("SELECT slug, world FROM run ORDER BY id DESC").fetchall()
    if not rows or reference is None:
        return nothing_recorded(store.path)
    names = dict.fromkeys([world for _, world in rows] + [slug for slug, _ in rows])
    hint = did_you_mean(str(reference), names) or "List the runs with `tw runs`."
    word = str(reference) if _storable(str(reference)) else ascii(reference)
    return Failure(Diagnostic("TW1104", f"No run is called `{word}`.", hint=hint))


def run_with_link(store: Database, origin: Origin) -> Run | None:
    """The first run of the store that has a link of the chain at a place, if one has."""
    with store.reading() as connection:
        found = run_at(connection, origin)
    return None if found is None else find_run(store, found)


def run_at(connection: sqlite3.Connection, origin: Origin) -> int | None:
    """The id of the first run that has this link, if one has."""
    query = (
        "SELECT min(id) FROM run WHERE genesis = ?"
        if origin.tick == 0
        else "SELECT min(run) FROM tick WHERE chain = ?"
    )
    return cast(int | None, connection.execute(query, (origin.chain,)).fetchone()[0])


def find_tick(store: Database, run: Run, seq: int) -> Tick:
    """Record `seq` of the run, counted from 1; raises `Failure` TW1104 where there is none."""
    if 1 <= seq <= run.ticks:
        return _ticks(store, "WHERE tick.run = ? AND tick.seq = ?", run.id, seq)[0]
    hint = (
        f"Choose a tick from 1 to {run.ticks}."
        if run.ticks
        else "Name another run; this one has no ticks yet."
    )
    raise Failure(Diagnostic("TW1104", f"Run `{run.slug}` has no tick {seq}.", hint=hint))


def ticks_of(store: Database, run: Run | int, upto: int | None = None) -> tuple[Tick, ...]:
    """The records of a run in order, those after `upto` left out."""
    number = run if isinstance(run, int) else run.id
    if upto is None:
        return _ticks(store, "WHERE tick.run = ? ORDER BY tick.seq", number)
    return _ticks(store, "WHERE tick.run = ? AND tick.seq <= ? ORDER BY tick.seq", number, upto)


def ticks_after(store: Database, run: Run | int, seq: int) -> tuple[Tick, ...]:
    """Return the records of a run after record ``seq``, for a reader that has read up to it."""
    number = run if isinstance(run, int) else run.id
    return _ticks(store, "WHERE tick.run = ? AND tick.seq > ? ORDER BY tick.seq", number, seq)


def history(store: Database, run: Run) -> tuple[Tick, ...]:
    """The records that lead from the very start to the end of the run, through its parents.

    Replaying them from the start state of the first ancestor ends in ``run.state_hash``. Raises
    `Failure` TW1104 for a branch whose parent is not in this store.
    """
    found = ticks_of(store, run)
    while run.origin:
        parent = run.header.parent
        if parent is None:
            message = f"Run `{run.slug}` is a branch of a run that is not in `{store.path}`."
            hint = "Import the parent and the branch together."
            raise Failure(Diagnostic("TW1104", message, hint=hint))
        run = find_run(store, parent.run)
        found = ticks_of(store, run, parent.tick) + found
    return found


def snapshot_before(
    store: Database, run: Run, seq: int
) -> tuple[int, Mapping[str, Json], str] | None:
    """The last stored whole state at or before record `seq`: (record, state, state hash)."""
    with store.reading() as connection:
        row = connection.execute(
            "SELECT seq, state, state_hash FROM snapshot WHERE run = ? AND seq <= ? "
            "ORDER BY seq DESC LIMIT 1",
            (run.id, seq),
        ).fetchone()
    if row is None:
        return None
    with undamaged(store, f"a snapshot of run `{run.slug}`"):
        return row[0], parsed(row[1], {}), fitting(row[2], str)


def snapshots_of(store: Database, run: Run) -> dict[int, Mapping[str, Json]]:
    """The whole states that are stored of a run, by the records that they lie after."""
    with store.reading() as connection:
        rows = connection.execute(
            "SELECT seq, state FROM snapshot WHERE run = ?", (run.id,)
        ).fetchall()
    with undamaged(store, f"a snapshot of run `{run.slug}`"):
        return {seq: parsed(state, {}) for seq, state in rows}


_BESIDE = {
    "timing": ("started", "microseconds"),
    "narration": ("prose",),
    "usage": ("tokens_in", "tokens_out", "cost"),
}
"""The tables beside the log, with the fields that a record gets from them."""


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    """Return whether a store has a table; one of an earlier schema that is only read may not."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?"
    return connection.execute(query, (name,)).fetchone() is not None


def _ticks(store: Database, where: str, *parameters: int) -> tuple[Tick, ...]:
    columns, joins = [f"tick.{name}" for name in _TICK_ROW], list[str]()
    with store.reading() as connection:
        for table, names in _BESIDE.items():
            there = _has_table(connection, table)
            columns += [f"{table}.{name}" if there else "NULL" for name in names]
            if there:
                joins.append(
                    f"LEFT JOIN {table} ON {table}.run = tick.run AND {table}.seq = tick.seq"
                )
        query = f"SELECT {', '.join(columns)} FROM tick {' '.join(joins)} {where}"
        rows = connection.execute(query, parameters).fetchall()
    with undamaged(store, "a record"):
        return tuple(map(tick_of, rows))


def _runs(store: Database, where: str, *parameters: str | int) -> tuple[Run, ...]:
    with store.reading() as connection:
        rows = connection.execute(_RUNS + where, parameters).fetchall()
        wanted = dict.fromkeys(row[2] for row in rows)
        texts = {
            key: connection.execute(
                "SELECT sources FROM source_set WHERE hash = ?", (key,)
            ).fetchone()
            for key in wanted
        }
        with undamaged(store, "a reference"):
            references = _references(connection)
    with undamaged(store, "the header of a run"):
        sources = {key: _sources(row) for key, row in texts.items()}
        return tuple(_run(row, sources[row[2]], references.get(row[0])) for row in rows)


@contextmanager
def undamaged(store: Database, what: str) -> Iterator[None]:
    """Turn damage found within the block into a `Failure` (TW1101)."""
    try:
        yield
    except (ValueError, RecursionError) as error:
        raise unreadable(store.path, f"{what} is damaged ({error})") from error


def _sources(row: tuple[object] | None) -> tuple[SourceText, ...]:
    if row is None:
        raise ValueError("its source texts are missing")
    return tuple(SourceText(name, text) for name, text in parsed(row[0], [(str, str)]))


def _references(connection: sqlite3.Connection) -> dict[int, Reference]:
    """The references by run."""
    if not _has_table(connection, "reference"):
        return {}
    rows = connection.execute("SELECT run, verdict, window FROM reference").fetchall()
    return {run: Reference(*fitting(row, (OneOf(VERDICTS), int))) for run, *row in rows}


def _run(row: tuple[Any, ...], sources: tuple[SourceText, ...], reference: Reference | None) -> Run:
    fitting(row[:9], _RUN_ROW)
    header = parsed(row[4], HEADER)
    parent = header["parent"]
    origin = place_of(parent)
    if row[3] is not None and row[3] >= row[0]:
        raise ValueError("it is a branch of a later run")
    if row[15] != header["world"]:
        raise ValueError("its world is another one than that of its row")
    return Run(
        id=row[0],
        slug=row[1],
        header=header_of(
            header,
            sources,
            Parent(row[3], origin.tick) if origin and row[3] is not None else None,
        ),
        genesis=row[5],
        origin=origin,
        ticks=row[6],
        link=fitting(row[16], Maybe(str)) or row[5],
        state_hash=row[7] or header["start_hash"],
        last_status=row[8],
        ending=ending_of(row[9:13]),
        timing=timing_of(row[13], row[14]),
        reference=reference,
    )


_RUN_ROW = (int, str, str, Maybe(int), str, str, int, Maybe(str), Maybe(str))


def header_of(
    found: Mapping[str, Any], sources: tuple[SourceText, ...], parent: Parent | None
) -> RunHeader:
    """The header of a run from its JSON, which has the shape `HEADER`."""
    return RunHeader(
        **{name: found[name] for name in _HEADER},
        sources=sources,
        parent=parent,
        carried=place_of(found.get("carried")),
        language=found.get("language", 1),
    )


def place_of(found: Mapping[str, Any] | None) -> Origin | None:
    """A place in a run, by its link of the chain."""
    return None if found is None else Origin(found["tick"], found["chain"])
