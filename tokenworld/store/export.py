"""Runs as JSON lines, without loss. The database is the truth; a file is a copy to carry.

A file holds one object per line: for each run its header (`tw-run/1`), its records (`tw-tick/1`)
and, if it was finished, its ending (`tw-end/1`) and whether it is a reference (`tw-reference/1`).
Parents come before their branches.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.ground import Json
from tokenworld.store.chain import canonical
from tokenworld.store.database import Database
from tokenworld.store.read import find_run, ticks_of
from tokenworld.store.records import Ending, Reference, Run, Tick, Timing
from tokenworld.store.rows import header_json, sources_json

__all__ = ["END_FORMAT", "REFERENCE_FORMAT", "RUN_FORMAT", "TICK_FORMAT", "export_lines",
           "write_export"]  # fmt: skip

RUN_FORMAT, TICK_FORMAT, END_FORMAT = "tw-run/1", "tw-tick/1", "tw-end/1"
REFERENCE_FORMAT = "tw-reference/1"


def export_lines(store: Database, runs: Iterable[Run]) -> Iterator[str]:
    """The runs and their ancestors as JSON lines, each ending in a newline."""
    for run in _with_ancestors(store, runs):
        yield _line(_run_json(run))
        states = _snapshots(store, run)
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


def _snapshots(store: Database, run: Run) -> dict[int, Json]:
    with store.reading() as connection:
        rows = connection.execute("SELECT seq, state FROM snapshot WHERE run = ?", (run.id,))
        return {seq: json.loads(state) for seq, state in rows}


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
    }


def _end_json(ending: Ending) -> Json:
    return {
        "format": END_FORMAT,
        "reason": ending.reason,
        "ticks": ending.ticks,
        "state_hash": ending.state_hash,
        "chain": ending.chain,
    }


def _reference_json(reference: Reference) -> Json:
    return {
        "format": REFERENCE_FORMAT,
        "verdict": reference.verdict,
        "window": reference.window,
    }


def _timing_json(timing: Timing | None) -> Json:
    if timing is None:
        return None
    return {"started": timing.started, "microseconds": timing.microseconds}
