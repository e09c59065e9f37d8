"""``tw runs`` and ``tw log``: list, show, follow, replay, export and import recorded runs."""

from __future__ import annotations

import json
import time
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.ground import value_text, values_text
from tokenworld.session.replaying import replay_run
from tokenworld.store import (
    Run,
    RunStore,
    Tick,
    find_run,
    import_file,
    list_runs,
    run_with_link,
    ticks_after,
    ticks_of,
    write_export,
)
from tokenworld.verbs.files import write_file
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output
from tokenworld.verbs.runs.run import GLYPHS

__all__ = ["export_runs", "import_runs", "listing", "log", "replay", "show", "show_tick"]


def listing(out: Output, store: Path | None, world: str | None) -> int:
    """Every run of the store, oldest first."""
    with _open(store) as opened:
        runs = list_runs(opened, world)
    for run in runs:
        out.entry(_line(run))
    if not runs:
        out.line("No run is recorded yet: `tw run` and `tw play` record theirs.")
    out.json({"schema_version": 1, "runs": [_run_json(run) for run in runs]})
    return EXIT_OK


def _open(store: Path | None) -> RunStore:
    """An existing store, read only."""
    return RunStore.open(store, writable=False)


def _line(run: Run) -> str:
    ended = run.ending.reason if run.ending else "open"
    player, seed = run.header.player, run.header.seed
    return (
        f"{run.slug:<20} {run.ticks:>6} records  seed {seed:<6} by {player:<9} "
        f"{ended:<12} {run.state_hash}{'  reference' if run.reference else ''}"
    )


def _run_json(run: Run) -> dict[str, object]:
    return {
        "id": run.id,
        "run": run.slug,
        "world": run.header.world,
        "seed": run.header.seed,
        "player": run.header.player,
        "records": run.ticks,
        "ended": run.ending.reason if run.ending else None,
        "parent": None
        if run.header.parent is None
        else {"run": run.header.parent.run, "record": run.header.parent.tick},
        "digest": run.header.digest,
        "compiler": run.header.compiler,
        "state_hash": run.state_hash,
        "link": run.link,
        "reference": run.reference.verdict if run.reference else None,
    }


def show(reference: str | None, out: Output, store: Path | None) -> int:
    """One run, record by record."""
    with _open(store) as opened:
        run = find_run(opened, reference)
        ticks = tuple(ticks_of(opened, run))
        carried = _carried(opened, run)
    out.entry(_line(run))
    if carried is not None:
        out.line(f"  goes on with changed rules from record {carried['record']} of "
                 f"{carried['run'] or 'a run that is not in this store'}")  # fmt: skip
    for tick in ticks:
        show_tick(tick, out)
    records = [{"seq": one.seq, "source": one.source, **one.outcome} for one in ticks]
    shown = {"schema_version": 1, **_run_json(run), "carried": carried, "ticks": records}
    out.json(shown)
    return EXIT_OK


def _carried(store: RunStore, run: Run) -> dict[str, object] | None:
    """The record at which a game left another run, to go on in this one with changed rules."""
    if run.header.carried is None:
        return None
    left = run_with_link(store, run.header.carried)
    return {"run": None if left is None else left.slug, "record": run.header.carried.tick}


def show_tick(tick: Tick, out: Output) -> None:
    """One stored record as a reader sees it."""
    asked = tick.text or _asked(tick)
    out.entry(
        f"{tick.seq:>5} {GLYPHS[tick.status]} {asked}  [{tick.status}]  {tick.hash_after[:8]}"
    )
    refusal = tick.outcome.get("refusal")
    if isinstance(refusal, dict):
        out.entry(f"        {refusal['label']}: {refusal['text']}")
        for failed in refusal["failed"]:
            values = values_text(failed["values"])
            out.entry(f"        ✗ {failed['condition']}  ({values})  {failed['span']}")
    said = tick.outcome.get("said")
    for line in said if isinstance(said, list) else ():
        out.entry(f"        {line}")


def _asked(tick: Tick) -> str:
    args = tick.outcome.get("args")
    shown = (
        ", ".join(value_text(value) for value in args.values()) if isinstance(args, dict) else ""
    )
    action = str(tick.outcome.get("action") or "pass")
    return action if action == "pass" else f"{action}({shown})"


def replay(reference: str | None, out: Output, store: Path | None, *, verify: bool) -> int:
    """Play a run again and compare every hash."""
    with _open(store) as opened:
        run = find_run(opened, reference)
        report = replay_run(opened, run, verify=verify, say=out.progress)
    out.json(report.to_json())
    if report.changed is not None:
        out.diagnostics([report.changed])
    if report.verification is not None and report.verification.breach is not None:
        found = report.verification.diagnostic()
        out.diagnostics([found] if found is not None else [])
    if report.divergence is not None:
        out.diagnostics([report.divergence.diagnostic(run)])
    if not report.ok:
        return EXIT_NEGATIVE
    what = "replays exactly, and its log is sound" if verify else "replays exactly"
    out.line(f"{run.slug} {what}: {report.records} records, state {report.final_hash}")
    return EXIT_OK


def export_runs(references: tuple[str, ...], path: Path, out: Output, store: Path | None) -> int:
    """Write runs as JSON lines, whole or not at all."""
    with _open(store) as opened:
        runs = [find_run(opened, reference) for reference in references or (None,)]
        write_export(opened, runs, path)
    out.line(f"wrote {', '.join(run.slug for run in runs)} to {path}")
    out.json({"schema_version": 1, "file": str(path), "runs": [run.slug for run in runs]})
    return EXIT_OK


def write_rows(reference: str | None, path: Path, out: Output, store: Path | None) -> int:
    """Write a run as rows that a scenario's `replay` plays: whole or not at all."""
    from tokenworld.session.replaying import rows_of_run

    with _open(store) as opened:
        run = find_run(opened, reference)
        rows = [json.dumps(row, ensure_ascii=False) for row in rows_of_run(opened, run)]
    write_file(path, "".join(f"{row}\n" for row in rows), "Name a writable file.")
    out.line(f"wrote {len(rows)} rows of {run.slug} to {path}")
    out.json({"schema_version": 1, "file": str(path), "run": run.slug, "rows": len(rows)})
    return EXIT_OK


def import_runs(path: Path, out: Output, store: Path | None) -> int:
    """Take runs from JSON lines; what is torn is reported and skipped."""
    with RunStore.open(store) as opened:
        imported = import_file(opened, path)
    out.diagnostics(imported.findings)
    slugs = [run.slug for run in imported.runs]
    out.line(f"took {', '.join(slugs) or 'nothing'} from {path}")
    out.json({"schema_version": 1, "runs": slugs, "findings": len(imported.findings)})
    if not slugs and not imported.findings:
        raise Failure(Diagnostic("TW1106", f"`{path}` holds no run.", hint="Name an export."))
    return EXIT_OK


POLL_SECONDS = 0.2


def log(
    reference: str | None, out: Output, store: Path | None, *, follow: bool, last: int | None
) -> int:
    """Print the (last) records of a run; with ``follow`` go on until the run is finished.

    With JSON the answer is one object with all records; with ``follow`` each record is an object on
    a line of its own, as it comes, for the end is not known yet.
    """
    with _open(store) as opened:
        run = find_run(opened, reference)
        seen = 0 if last is None else max(0, run.ticks - last)
        if not follow:
            ticks = ticks_after(opened, run, seen)
            out.json({"schema_version": 1, "run": run.slug, "ticks": list(map(_json, ticks))})
            _show(ticks, out)
        while follow:
            run = find_run(opened, run.id)
            for tick in ticks_after(opened, run, seen):
                out.json({"schema_version": 1, "run": run.slug, **_json(tick)})
                _show((tick,), out)
                seen = tick.seq
            if run.ending is not None:
                break
            time.sleep(POLL_SECONDS)
    if run.ending is not None:
        out.line(f"{run.slug} has ended: {run.ending.reason}, {run.ending.ticks} records")
    return EXIT_OK


def _json(tick: Tick) -> dict[str, object]:
    return {"seq": tick.seq, "source": tick.source, "text": tick.text, **tick.outcome}


def _show(ticks: tuple[Tick, ...], out: Output) -> None:
    for tick in ticks:
        show_tick(tick, out)
