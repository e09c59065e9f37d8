"""Runs as JSON lines: written without loss, and read back with every line checked.

The database is the truth; a file is a copy to carry. It holds one object per line: for each run its
header (`tw-run/1`), its records (`tw-tick/1`) and, if it was finished, its ending (`tw-end/1`) and
whether it is a reference (`tw-reference/1`). Parents come before their branches. The last line
(`tw-export/1`) counts the lines before it and has their SHA-256, so that a cut file is noticed.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokenworld.diagnostics import Diagnostic, Failure, Span, fields_json
from tokenworld.ground import Json
from tokenworld.store.check import broken_law
from tokenworld.store.database import Database
from tokenworld.store.log import RunStore
from tokenworld.store.read import (
    chained,
    find_run,
    header_json,
    header_of,
    insert,
    insert_run,
    insert_snapshot,
    insert_tick,
    insert_timing,
    last_link,
    place_of,
    run_at,
    snapshots_of,
    sources_json,
    ticks_of,
)
from tokenworld.store.records import (
    HEADER,
    INTENT_SOURCES,
    VERDICTS,
    Ending,
    Maybe,
    OneOf,
    Origin,
    Parent,
    Reference,
    Run,
    SourceText,
    Tick,
    TickRecord,
    Timing,
    canonical,
    digest_of,
    misfit,
)
from tokenworld.store.usage import usage_of

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

RUN_FORMAT, TICK_FORMAT, END_FORMAT = "tw-run/1", "tw-tick/1", "tw-end/1"
REFERENCE_FORMAT, EXPORT_FORMAT = "tw-reference/1", "tw-export/1"


def export_lines(store: Database, runs: Iterable[Run]) -> Iterator[str]:
    """The runs and their ancestors as JSON lines, with the closing line; each ends in a newline."""
    hashed, count = sha256(), 0
    for line in _lines(store, runs):
        hashed.update(line.encode("utf-8"))
        count += 1
        yield line
    yield _line({"format": EXPORT_FORMAT, "lines": count, "hash": hashed.hexdigest()})


def _lines(store: Database, runs: Iterable[Run]) -> Iterator[str]:
    for run in _with_ancestors(store, runs):
        yield _line(_run_json(run))
        states = snapshots_of(store, run)
        for tick in ticks_of(store, run):
            yield _line(_tick_json(tick, states.get(tick.seq)))
        if run.ending:
            yield _line(_end_json(run.ending))
        if run.reference:
            yield _line(_reference_json(run.reference))


def write_export(store: Database, runs: Iterable[Run], path: Path | str) -> None:
    """Write the lines to a file: all of them, or none (`Failure` TW1102)."""
    path = Path(path)
    part = path.with_name(f"{path.name}.part")
    try:
        try:
            with part.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(export_lines(store, runs))
            os.replace(part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        message = f"The export `{path}` cannot be written: {why}."
        hint = "Name a file in a folder that can be written to."
        raise Failure(Diagnostic("TW1102", message, hint=hint)) from error


def _with_ancestors(store: Database, runs: Iterable[Run]) -> list[Run]:
    found: dict[int, Run] = {}
    waiting = list(runs)
    while waiting:
        run = waiting.pop()
        if run.id not in found:
            found[run.id] = run
            if run.header.parent:
                waiting.append(find_run(store, run.header.parent.run))
    return [found[number] for number in sorted(found)]  # a parent's id is the smaller one


def _line(value: Json) -> str:
    return canonical(value) + "\n"


def _run_json(run: Run) -> Json:
    return {
        "format": RUN_FORMAT,
        "id": run.id,
        "slug": run.slug,
        "parent": run.header.parent.run if run.header.parent else None,
        "header": header_json(run.header, run.origin),
        "sources": sources_json(run.header.sources),
        "genesis": run.genesis,
        "timing": _timing_json(run.timing),
    }


def _tick_json(tick: Tick, snapshot: Json) -> Json:
    return {
        "format": TICK_FORMAT,
        "seq": tick.seq,
        "source": tick.source,
        "text": tick.text,
        "intent": tick.intent,
        "outcome": tick.outcome,
        "chain": tick.chain,
        "timing": _timing_json(tick.timing),
        "snapshot": snapshot,
        **({} if tick.prose is None else {"prose": tick.prose}),
        **({} if tick.usage.is_empty else {"usage": fields_json(tick.usage)}),
    }


def _end_json(ending: Ending) -> Json:
    return {"format": END_FORMAT, **fields_json(ending)}


def _reference_json(reference: Reference) -> Json:
    return {"format": REFERENCE_FORMAT, **fields_json(reference)}


def _timing_json(timing: Timing | None) -> Json:
    return None if timing is None else fields_json(timing)


# ---- Reading exported runs back in: every line is re-checked, and all are stored or none ---------
# A torn last line, as a crash leaves it, is reported (TW1106) and skipped, and so is that the
# closing line is missing: the file was cut, or was written by an earlier version. Any other line
# that is malformed, or does not have the hash it claims, stops the import.


@dataclass(frozen=True, slots=True)
class Imported:
    """The imported runs as they are in the store, with findings on the skipped ones."""

    runs: tuple[Run, ...]
    findings: tuple[Diagnostic, ...]


class _Malformed(ValueError):
    """The fault of a line, as the end of a sentence."""


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
    """The progress of reading a file: the run of the lines, and new ids by old ones."""

    current: int | None = None
    ids: dict[int, int] = field(default_factory=dict)
    lines: int = 0
    hashed: Hash = field(default_factory=sha256)
    closed: bool = False

    def read(self, line: str) -> None:
        """Count a line that was taken."""
        self.lines += 1
        self.hashed.update(f"{line}\n".encode("utf-8", "surrogatepass"))

    def close(self, line: Mapping[str, Json]) -> None:
        """The closing line, which must be that of the lines before it."""
        if (line.get("lines"), line.get("hash")) != (self.lines, self.hashed.hexdigest()):
            raise _Malformed(f"closes other lines than the {self.lines} before it")
        self.closed = True


def import_file(store: RunStore, path: Path | str) -> Imported:
    """Store all runs of an export; slugs are kept where they are free.

    Raises `Failure` TW1106 for a file that cannot be read, holds no run or has a malformed line,
    and then nothing of it is stored.
    """
    path = Path(path)
    lines = _lines_of(_text(path))
    findings: list[Diagnostic] = []
    progress = _Progress()
    with store.transaction() as connection:
        for line in lines:
            try:
                if progress.closed:
                    raise _Malformed("stands after the closing line")
                _take(connection, progress, _parse(line.text))
                progress.read(line.text)
            except _Malformed as error:
                finding = _finding(path, line, str(error))
                if not (line is lines[-1] and isinstance(error, _Torn) and progress.ids):
                    raise Failure(finding) from error
                findings.append(finding)
        if not progress.ids:
            raise Failure(_no_export(f"The export `{path}` holds no run."))
    if not progress.closed and not findings:
        findings.append(_cut(path, progress))
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


def _cut(path: Path, progress: _Progress) -> Diagnostic:
    message = f"`{path}` has no closing line: records or runs after its line {progress.lines} are "
    message += "missing, or an earlier version wrote it."
    return Diagnostic("TW1106", message, hint="Compare the number of records with the first store.")


def _lines_of(text: str) -> list[_Line]:
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


def _parse(line: str) -> Mapping[str, Any]:
    """The object of a line, which has the shape that its `format` says."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise _Torn("is torn or is not JSON") from error
    if not isinstance(value, dict):
        raise _Malformed("is not a JSON object")
    kind = value.get("format")
    if not isinstance(kind, str) or kind not in _SHAPES:
        raise _Malformed("has no `format` that is known here")
    wrong = misfit(value, _SHAPES[kind])
    if wrong is not None:
        raise _Malformed(f"has no proper `{wrong.removeprefix('.')}`")
    return value


_TIMING = Maybe({"started": str, "microseconds": int})
_SHAPES: Mapping[str, Any] = {
    RUN_FORMAT: {
        "id": int, "slug": str, "parent?": Maybe(int), "header": HEADER, "sources": [(str, str)],
        "genesis": str, "timing?": _TIMING,
    },
    TICK_FORMAT: {
        "seq": int, "source": OneOf(INTENT_SOURCES), "text?": Maybe(str), "intent": {},
        "outcome": {}, "chain": str, "timing?": _TIMING, "snapshot?": Maybe({}), "prose?": str,
        "usage?": {"tokens_in": Maybe(int), "tokens_out": Maybe(int), "cost": Maybe(float)},
    },
    END_FORMAT: {"reason": str, "ticks": int, "state_hash": str, "chain": str},
    REFERENCE_FORMAT: {"verdict": OneOf(VERDICTS), "window": int},
    EXPORT_FORMAT: {"lines": int, "hash": str},
}  # fmt: skip
"""The shape of a line by its format."""


def _take(connection: sqlite3.Connection, progress: _Progress, line: Mapping[str, Any]) -> None:
    """Store one line; raises `_Malformed` for errors in it."""
    try:
        match line["format"]:
            case "tw-run/1":
                progress.current = _take_run(connection, progress, line)
            case "tw-tick/1":
                _take_tick(connection, _current(progress), line)
            case "tw-end/1":
                _take_end(connection, _current(progress), line)
            case "tw-reference/1":
                kept = Reference(line["verdict"], line["window"])
                insert(connection, "reference", run=_current(progress), **fields_json(kept))
            case _:
                progress.close(line)
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


def _take_run(connection: sqlite3.Connection, progress: _Progress, line: Mapping[str, Any]) -> int:
    raw = line["header"]
    for key in ("world", "compiler", "player"):
        if "\n" in raw[key]:
            raise _Malformed(f"has a `{key}` of several lines")
    origin = place_of(raw["parent"])
    parent = _parent(connection, progress, line.get("parent"), origin)
    header = header_of(raw, tuple(SourceText(*pair) for pair in line["sources"]), parent)
    rebuilt = header_json(header, origin)
    if rebuilt != raw or digest_of(rebuilt) != line["genesis"]:
        raise _Malformed("does not have the hash that it was exported with")
    _, _, number = line["slug"].rpartition("-")
    wanted = int(number) if number.isascii() and number.isdigit() and len(number) < 18 else None
    run = insert_run(connection, header, origin, wanted or None)
    _take_timing(connection, run, 0, line)
    progress.ids[line["id"]] = run
    return run


def _parent(
    connection: sqlite3.Connection, progress: _Progress, old: int | None, origin: Origin | None
) -> Parent | None:
    """The parent in this store: from this file, else any run with the very same history."""
    if origin is None:
        return None
    if old in progress.ids:
        return Parent(progress.ids[old], origin.tick)
    found = run_at(connection, origin)
    return None if found is None else Parent(found, origin.tick)


def _take_tick(connection: sqlite3.Connection, run: int, line: Mapping[str, Any]) -> None:
    outcome = line["outcome"]
    law = broken_law(outcome)
    if law:
        raise _Malformed(f"breaks the law `{law.name}`: {law.text}")
    record = TickRecord(line["intent"], outcome, line["source"], line.get("text"))
    before, previous, _ = last_link(connection, run)
    tick = chained(run, before + 1, previous, record)
    if (tick.seq, tick.chain) != (line["seq"], line["chain"]):
        raise _Malformed("does not continue the hash chain of its run")
    insert_tick(connection, tick)
    _take_timing(connection, run, tick.seq, line)
    if line.get("snapshot") is not None:
        insert_snapshot(connection, tick, line["snapshot"])
    if "prose" in line:
        insert(connection, "narration", run=run, seq=tick.seq, prose=line["prose"])
    if "usage" in line:
        insert(connection, "usage", run=run, seq=tick.seq, **fields_json(usage_of(line)))


def _take_end(connection: sqlite3.Connection, run: int, line: Mapping[str, Any]) -> None:
    ticks, chain, state = last_link(connection, run)
    if (line["ticks"], line["state_hash"], line["chain"]) != (ticks, state, chain):
        raise _Malformed("does not end the run that stands before it")
    ending = Ending(line["reason"], ticks, state, chain)
    insert(connection, "ending", run=run, **fields_json(ending))


def _take_timing(
    connection: sqlite3.Connection, run: int, seq: int, line: Mapping[str, Any]
) -> None:
    timing = line.get("timing")
    if timing is not None:
        insert_timing(connection, run, seq, Timing(timing["started"], timing["microseconds"]))
