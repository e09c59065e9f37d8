"""Reading exported runs back in: every line is re-checked, and all are stored or none.

A torn last line, as a crash leaves it, is reported (TW1106) and skipped; any other line that is
malformed, or does not have the hash it claims, stops the import.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, cast

from tokenworld.diagnostics import Diagnostic, Failure, Span
from tokenworld.ground import Json
from tokenworld.store.chain import digest_of
from tokenworld.store.export import END_FORMAT, REFERENCE_FORMAT, RUN_FORMAT, TICK_FORMAT
from tokenworld.store.laws import broken_law
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run
from tokenworld.store.records import (
    INTENT_SOURCES,
    Ending,
    Origin,
    Parent,
    Reference,
    Run,
    RunHeader,
    SourceText,
    TickRecord,
    Timing,
)
from tokenworld.store.rows import (
    chained,
    header_json,
    insert_ending,
    insert_reference,
    insert_run,
    insert_snapshot,
    insert_tick,
    insert_timing,
    last_link,
)

__all__ = ["Imported", "import_file"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Imported:
    """The runs as they are now in the store, and what was skipped."""

    runs: tuple[Run, ...]
    findings: tuple[Diagnostic, ...]


class _Malformed(ValueError):
    """Why a line is not what it should be, as the end of a sentence."""


class _Torn(_Malformed):
    """The line is not even JSON: cut off while it was written."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A line that is not blank: its number from 0 and where it begins, in characters."""

    number: int
    offset: int
    text: str


@dataclass(slots=True)
class _Progress:
    """How far the file has been read: the run that lines belong to, and new ids by old ones."""

    current: int | None = None
    ids: dict[int, int] = field(default_factory=dict)


def import_file(store: RunStore, path: Path | str) -> Imported:
    """Store all runs of an export; slugs are kept where they are free.

    Raises `Failure` TW1106 for a file that cannot be read, holds no run or has a malformed line,
    and then nothing of it is stored.
    """
    path = Path(path)
    lines = _lines(_text(path))
    findings: list[Diagnostic] = []
    progress = _Progress()
    with store.transaction() as connection:
        for line in lines:
            try:
                _take(connection, progress, _parse(line.text))
            except _Malformed as error:
                finding = _finding(path, line, str(error))
                if not (line is lines[-1] and isinstance(error, _Torn) and progress.ids):
                    raise Failure(finding) from error
                findings.append(finding)
        if not progress.ids:
            raise Failure(_no_export(f"The export `{path}` holds no run."))
    return Imported(tuple(find_run(store, new) for new in progress.ids.values()), tuple(findings))


def _text(path: Path) -> str:
    try:
        # A character cut in the middle makes its line unparsable; that is reported there.
        return path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise Failure(_no_export(f"The export `{path}` cannot be read: {why}.")) from error


def _no_export(message: str) -> Diagnostic:
    return Diagnostic("TW1106", message, hint="Name a file that `tw runs export` wrote.")


def _lines(text: str) -> list[_Line]:
    found, offset = [], 0
    # Not `splitlines`: strings may hold other line separators, which JSON does not escape.
    for number, line in enumerate(text.split("\n")):
        if line.strip():
            found.append(_Line(number, offset, line))
        offset += len(line) + 1
    return found


def _finding(path: Path, line: _Line, why: str) -> Diagnostic:
    row, end = line.number + 1, len(line.text)
    return Diagnostic(
        "TW1106",
        f"Line {row} of `{path}` {why}.",
        Span(str(path), line.offset, line.offset + end, row, 1, row, end + 1),
        label="this line",
        hint="Export the run again; everything before this line is intact.",
    )


def _parse(line: str) -> Mapping[str, Json]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _Torn("is torn or is not JSON") from error
    if not isinstance(value, dict):
        raise _Malformed("is not a JSON object")
    return value


def _take(connection: sqlite3.Connection, progress: _Progress, line: Mapping[str, Json]) -> None:
    """Store one line; whatever is wrong with it is `_Malformed`."""
    kind = line.get("format")
    try:
        if kind == RUN_FORMAT:
            progress.current = _take_run(connection, progress, line)
        elif kind == TICK_FORMAT:
            _take_tick(connection, _current(progress), line)
        elif kind == END_FORMAT:
            _take_end(connection, _current(progress), line)
        elif kind == REFERENCE_FORMAT:
            _take_reference(connection, _current(progress), line)
        else:
            raise _Malformed("has no `format` that is known here")
    except _Malformed:
        raise
    except sqlite3.IntegrityError as error:
        raise _Malformed(f"breaks a law of the log ({error})") from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise _Malformed(f"holds a value that cannot be stored ({error})") from error


def _current(progress: _Progress) -> int:
    if progress.current is None:
        raise _Malformed("belongs to no run: its header is missing")
    return progress.current


def _take_run(connection: sqlite3.Connection, progress: _Progress, line: Mapping[str, Json]) -> int:
    raw = cast(Mapping[str, Json], _get(line, "header", dict))
    origin = _origin(raw.get("parent"))
    parent = _parent(connection, progress, line.get("parent"), origin)
    header = RunHeader(
        world=_get(raw, "world", str),
        digest=_get(raw, "digest", str),
        sources=_sources(_get(line, "sources", list)),
        compiler=_get(raw, "compiler", str),
        seed=_get(raw, "seed", int),
        player=_get(raw, "player", str),
        start_hash=_get(raw, "start_hash", str),
        params=_get(raw, "params", dict),
        parent=parent,
        carried=_origin(raw.get("carried")),
    )
    rebuilt = header_json(header, origin)
    if rebuilt != raw or digest_of(rebuilt) != line.get("genesis"):
        raise _Malformed("does not have the hash that it was exported with")
    _, _, number = _get(line, "slug", str).rpartition("-")
    wanted = int(number) if number.isascii() and number.isdigit() and len(number) < 18 else None
    run = insert_run(connection, header, origin, wanted or None)
    _take_timing(connection, run, 0, line)
    progress.ids[_get(line, "id", int)] = run
    return run


def _origin(raw: Json) -> Origin | None:
    if raw is None:
        return None
    if not isinstance(raw, Mapping):
        raise _Malformed("has a `parent` that is no object")
    return Origin(_get(raw, "tick", int), _get(raw, "chain", str))


def _parent(
    connection: sqlite3.Connection, progress: _Progress, old: Json, origin: Origin | None
) -> Parent | None:
    """The parent in this store: from this file, else any run with the very same history."""
    if origin is None:
        return None
    if isinstance(old, int) and old in progress.ids:
        return Parent(progress.ids[old], origin.tick)
    query = (
        "SELECT min(id) FROM run WHERE genesis = ?"
        if origin.tick == 0
        else "SELECT min(run) FROM tick WHERE chain = ?"
    )
    (found,) = connection.execute(query, (origin.chain,)).fetchone()
    return None if found is None else Parent(found, origin.tick)


def _sources(raw: Sequence[Json]) -> tuple[SourceText, ...]:
    found = []
    for pair in raw:
        match pair:
            case [str(name), str(text)]:
                found.append(SourceText(name, text))
            case _:
                raise _Malformed("has `sources` that are not pairs of name and text")
    return tuple(found)


def _take_tick(connection: sqlite3.Connection, run: int, line: Mapping[str, Json]) -> None:
    source = _get(line, "source", str)
    if source not in INTENT_SOURCES:
        raise _Malformed(f"has the unknown source `{source}`")
    text = line.get("text")
    if not isinstance(text, str | None):
        raise _Malformed("has a `text` that is no text")
    outcome = cast(Mapping[str, Json], _get(line, "outcome", dict))
    law = broken_law(outcome)
    if law:
        raise _Malformed(f"breaks the law `{law.name}`: {law.text}")
    record = TickRecord(_get(line, "intent", dict), outcome, source, text)
    before, previous, _ = last_link(connection, run)
    tick = chained(run, before + 1, previous, record)
    if (tick.seq, tick.chain) != (line.get("seq"), line.get("chain")):
        raise _Malformed("does not continue the hash chain of its run")
    insert_tick(connection, tick)
    _take_timing(connection, run, tick.seq, line)
    if line.get("snapshot") is not None:
        insert_snapshot(connection, tick, _get(line, "snapshot", dict))


def _take_end(connection: sqlite3.Connection, run: int, line: Mapping[str, Json]) -> None:
    ticks, chain, state = last_link(connection, run)
    ending = Ending(_get(line, "reason", str), ticks, state, chain)
    claimed = (line.get("ticks"), line.get("state_hash"), line.get("chain"))
    if claimed != (ticks, state, chain):
        raise _Malformed("does not end the run that stands before it")
    insert_ending(connection, run, ending)


def _take_reference(connection: sqlite3.Connection, run: int, line: Mapping[str, Json]) -> None:
    match line.get("verdict"):
        case "HEALTHY" | "DEGRADED" as verdict:
            insert_reference(connection, run, Reference(verdict, _get(line, "window", int)))
        case _:
            raise _Malformed("has a `verdict` that no reference has")


def _take_timing(
    connection: sqlite3.Connection, run: int, seq: int, line: Mapping[str, Json]
) -> None:
    raw = line.get("timing")
    if raw is not None:
        raw = _get(line, "timing", dict)
        timing = Timing(_get(raw, "started", str), _get(raw, "microseconds", int))
        insert_timing(connection, run, seq, timing)


def _get(values: Mapping[str, Json], key: str, kind: type[T]) -> T:
    """The value of a key, which must be of exactly this kind (a truth is no number)."""
    value = values.get(key)
    if type(value) is not kind:
        raise _Malformed(f"has no proper `{key}`")
    return value
