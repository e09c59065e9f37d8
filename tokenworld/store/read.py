"""Finding runs and reading their ticks back. Nothing here changes the store."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, cast

from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean
from tokenworld.ground import Json
from tokenworld.store.chain import canonical
from tokenworld.store.database import Database
from tokenworld.store.faults import nothing_recorded, unreadable
from tokenworld.store.records import Origin, Parent, Reference, Run, RunHeader, SourceText, Tick
from tokenworld.store.rows import TICK_COLUMNS, ending_of, tick_of, timing_of

__all__ = [
    "changes_of",
    "find_run",
    "find_tick",
    "history",
    "list_runs",
    "run_with_link",
    "snapshot_before",
    "ticks_after",
    "ticks_of",
]

_RUNS = """
SELECT run.id, run.slug, run.source_set, run.parent_run, run.header, run.genesis,
  coalesce(tick.seq, 0), tick.hash_after, tick.status,
  ending.reason, ending.ticks, ending.state_hash, ending.chain,
  timing.started, timing.microseconds
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
    """Whether the word is text at all: what a terminal hands over may be stray bytes."""
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
    query = (
        "SELECT min(id) FROM run WHERE genesis = ?"
        if origin.tick == 0
        else "SELECT min(run) FROM tick WHERE chain = ?"
    )
    with store.reading() as connection:
        (found,) = connection.execute(query, (origin.chain,)).fetchone()
    return None if found is None else find_run(store, found)


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
    """The records of a run behind record ``seq``: what is new to whoever has read so far."""
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
    return None if row is None else (row[0], json.loads(row[1]), row[2])


def changes_of(
    store: Database, run: Run, fluent: str, args: Sequence[Json]
) -> tuple[tuple[int, Json, Json, str], ...]:
    """Every committed change of a slot as (record, old, new, rule), oldest first."""
    with store.reading() as connection:
        rows = connection.execute(
            "SELECT seq, old, new, rule FROM event WHERE run = ? AND fluent = ? AND args = ? "
            "ORDER BY seq, position",
            (run.id, fluent, canonical(list(args))),
        ).fetchall()
    return tuple((seq, json.loads(old), json.loads(new), rule) for seq, old, new, rule in rows)


def _ticks(store: Database, where: str, *parameters: int) -> tuple[Tick, ...]:
    query = (
        "SELECT tick.run, tick.seq, "
        + TICK_COLUMNS.removeprefix("run, seq, ")
        + " FROM tick LEFT JOIN timing ON timing.run = tick.run AND timing.seq = tick.seq "
        + where
    )
    with store.reading() as connection:
        rows = connection.execute(query, parameters).fetchall()
    try:
        return tuple(map(tick_of, rows))
    except (ValueError, RecursionError) as error:
        raise unreadable(store.path, f"a tick is damaged ({error})") from error


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
        references = _references(connection)
    try:
        sources = {key: _sources(json.loads(row[0])) for key, row in texts.items()}
        return tuple(_run(row, sources[row[2]], references.get(row[0])) for row in rows)
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise unreadable(store.path, f"the header of a run is damaged ({error})") from error


def _sources(pairs: list[list[str]]) -> tuple[SourceText, ...]:
    return tuple(SourceText(name, text) for name, text in pairs)


def _references(connection: sqlite3.Connection) -> dict[int, Reference]:
    """The references by run; a store of an earlier schema that is only read has none."""
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'reference'"
    if connection.execute(query).fetchone() is None:
        return {}
    rows = connection.execute("SELECT run, verdict, window FROM reference")
    return {run: Reference(verdict, window) for run, verdict, window in rows}


def _run(row: tuple[Any, ...], sources: tuple[SourceText, ...], reference: Reference | None) -> Run:
    header = json.loads(row[4])
    parent = header["parent"]
    origin = Origin(parent["tick"], parent["chain"]) if parent else None
    return Run(
        id=row[0],
        slug=row[1],
        header=RunHeader(
            world=header["world"],
            digest=header["digest"],
            sources=sources,
            compiler=header["compiler"],
            seed=header["seed"],
            player=header["player"],
            start_hash=header["start_hash"],
            params=header["params"],
            parent=Parent(row[3], origin.tick) if origin and row[3] is not None else None,
            carried=Origin(**header["carried"]) if "carried" in header else None,
        ),
        genesis=row[5],
        origin=origin,
        ticks=row[6],
        state_hash=cast(str, row[7] or header["start_hash"]),
        last_status=row[8],
        ending=ending_of((row[9], row[10], row[11], row[12])),
        timing=timing_of(row[13], row[14]),
        reference=reference,
    )
