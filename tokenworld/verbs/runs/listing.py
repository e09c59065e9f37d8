"""``tw runs`` and ``tw log``: list, show, follow, replay, verify, export and import recorded runs.

``tw runs verify`` checks a log without believing what wrote it. First as it lies in the file: the
pages, the hash chain, the laws of every record. Then by its intents: engine and reference evaluator
play the run again from the sources and the seed of its header, and each record must equal theirs,
key by key.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from tokenworld.diagnostics import Diagnostic, Failure, usage
from tokenworld.model import CARRIED
from tokenworld.session import Session
from tokenworld.session.refusals.explained import explained_log
from tokenworld.session.replaying import asked_in, replay_run, stored_session
from tokenworld.store.check import check_file, language_differs, verify_chain
from tokenworld.store.database import Database
from tokenworld.store.exchange import import_file, write_export
from tokenworld.store.log import RunStore
from tokenworld.store.read import (
    find_run,
    history,
    list_runs,
    run_with_link,
    snapshots_of,
    ticks_after,
    ticks_of,
)
from tokenworld.store.records import INTENT_SOURCES, Run, Tick
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output, write_file
from tokenworld.verbs.recheck import replayed
from tokenworld.verbs.refusals.lines import compact
from tokenworld.verbs.runs.run import GLYPHS


def listing(
    out: Output,
    *,
    world: Annotated[str | None, "Only runs of this world."] = None,
    store: opt.Store = None,
) -> int:
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


def show(reference: opt.RunName, out: Output, *, store: opt.Store = None) -> int:
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
    records = [{"seq": one.seq, "source": one.source, **_told(one)} for one in ticks]
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
    asked = asked_in(tick) or "pass"
    out.entry(
        f"{tick.seq:>5} {GLYPHS[tick.status]} {asked}  [{tick.status}]  {tick.hash_after[:8]}"
    )
    found = explained_log(tick.outcome)
    for line in () if found is None else compact(found, {}):
        out.entry(f"        {line}")
    said = tick.outcome.get("said")
    for line in said if isinstance(said, list) else ():
        out.entry(f"        {line}")
    for line in (tick.prose or "").splitlines():
        out.entry(f"        » {line}")


def replay(
    reference: opt.RunName,
    out: Output,
    *,
    verify: Annotated[bool, "Check the log itself too."] = False,
    store: opt.Store = None,
) -> int:
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


def export_runs(
    references: Annotated[opt.RunNames, opt.Option("runs")],
    out: Output,
    *,
    output: opt.OutputFile,
    store: opt.Store = None,
) -> int:
    """Write runs as JSON lines, whole or not at all."""
    with _open(store) as opened:
        runs = [find_run(opened, reference) for reference in references or (None,)]
        write_export(opened, runs, output)
    out.line(f"wrote {', '.join(run.slug for run in runs)} to {output}")
    out.json({"schema_version": 1, "file": str(output), "runs": [run.slug for run in runs]})
    return EXIT_OK


def write_rows(
    reference: opt.RunName,
    out: Output,
    *,
    output: opt.OutputFile,
    store: opt.Store = None,
) -> int:
    """Write a run as rows that a scenario's `replay` plays: whole or not at all."""
    from tokenworld.session.replaying import rows_of_run

    with _open(store) as opened:
        run = find_run(opened, reference)
        rows = [json.dumps(row, ensure_ascii=False) for row in rows_of_run(opened, run)]
    write_file(output, "".join(f"{row}\n" for row in rows), "Name a writable file.")
    out.line(f"wrote {len(rows)} rows of {run.slug} to {output}")
    out.json({"schema_version": 1, "file": str(output), "run": run.slug, "rows": len(rows)})
    return EXIT_OK


def import_runs(
    path: Annotated[Annotated[Path, "A file of JSON lines."], opt.Option("file")],
    out: Output,
    *,
    store: opt.Store = None,
) -> int:
    """Import runs from JSON lines; torn ones are reported and skipped."""
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
    reference: opt.RunName,
    out: Output,
    *,
    follow: Annotated[bool, opt.Option(("--follow", "-f")), "Continue until the run ends."] = False,
    last: Annotated[int | None, "Begin with this many of the last records."] = None,
    store: opt.Store = None,
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
    return {"seq": tick.seq, "source": tick.source, "text": tick.text, **_told(tick)}


def _told(tick: Tick) -> dict[str, object]:
    """The outcome of a record, with the prose of a narrator."""
    return {**tick.outcome, **({} if tick.prose is None else {"prose": tick.prose})}


def _show(ticks: tuple[Tick, ...], out: Output) -> None:
    for tick in ticks:
        show_tick(tick, out)


# ---- verifying -----------------------------------------------------------------------------------


def header_fault(store: Database, run: Run, session: Session, ticks: Sequence[Tick]) -> str | None:
    """The first fault of a header; ``None`` if there is none.

    ``session`` is at the start of the run's sources, ``ticks`` lead from there to its end. The
    version that recorded a run, its player, and its parent if that is not in the store, are in the
    header only, so they cannot be checked.
    """
    header = run.header
    if header.params:
        return "its `params` are none that a run has"
    if header.player not in INTENT_SOURCES:
        return f"its `player` is `{header.player}`, and nobody is called so"
    own = ticks[len(ticks) - run.ticks :]
    if own and header.player not in ("human", own[0].source):
        return f"its `player` is `{header.player}`, and its first record is by `{own[0].source}`"
    if header.digest != session.world.program.digest:
        return "its `digest` is not that of the sources stored with it"
    return _start_fault(store, run, session, ticks) or _carried_fault(store, run)


def _start_fault(store: Database, run: Run, session: Session, ticks: Sequence[Tick]) -> str | None:
    first = run
    while first.header.parent is not None:
        first = find_run(store, first.header.parent.run)
    start = session.engine.hash(session.state)
    if start == first.header.start_hash:
        return None
    if ticks and ticks[0].hash_before == start:
        return f"its `start_hash` is {first.header.start_hash}, and it starts in {start}"
    return f"its `seed` {run.header.seed} and its sources do not lead to its `start_hash`"


def _carried_fault(store: Database, run: Run) -> str | None:
    brought = any(one.name == CARRIED for one in run.header.sources)
    carried = run.header.carried
    if run.origin is None and brought != (carried is not None):
        return "its `carried` says otherwise than its sources whether a game went on in it"
    left = None if carried is None else run_with_link(store, carried)
    if carried is not None and left is not None and left.ticks < carried.tick:
        return f"its `carried.tick` is {carried.tick}, and `{left.slug}` has {left.ticks}"
    return None


def verify(
    references: opt.RunNames,
    out: Output,
    *,
    every: Annotated[bool, opt.Option("--all"), "Every run."] = False,
    link: Annotated[str | None, "The link that was kept elsewhere: a record must have it."] = None,
    store: opt.Store = None,
) -> int:
    """Check runs, the latest by default; 1 at the first run with a fault.

    ``link`` was kept elsewhere: one run is checked, and its last record must have it.
    """
    if link is not None:
        _check_link(link, references, every=every)
    with RunStore.open(store, writable=False) as opened:
        check_file(opened)
        named = references or (None,)
        runs = list_runs(opened) if every else tuple(find_run(opened, one) for one in named)
        findings = {run.slug: _finding(opened, run, out) for run in runs}
        for run in runs if link is not None else ():
            findings[run.slug] = findings[run.slug] or _link_fault(opened, run, str(link).lower())
    bad = [found for found in findings.values() if found is not None]
    for run in runs:
        if findings[run.slug] is None:
            out.line(f"{run.slug} is sound: {run.ticks} records, state {run.state_hash}")
            out.line(f"link {run.link}")
    out.diagnostics(bad)
    out.json(
        {
            "schema_version": 1,
            "ok": not bad,
            "runs": [
                {"run": run.slug, "records": run.ticks, "ok": findings[run.slug] is None,
                 "link": run.link,
                 "finding": None if (one := findings[run.slug]) is None else one.message}
                for run in runs
            ],
        }
    )  # fmt: skip
    return EXIT_NEGATIVE if bad else EXIT_OK


def _check_link(link: str, references: tuple[str, ...], *, every: bool) -> None:
    """Raise `Failure` (TW0006) for an invalid link, or for more than one run."""
    hint = "Give the 64 digits that `tw run` printed, and name one run."
    if not re.fullmatch("[0-9a-fA-F]{64}", link):
        raise usage("`--link` takes 64 hexadecimal digits.", hint)
    if every or len(references) > 1:
        raise usage("`--link` belongs to one run.", hint)


def _link_fault(store: RunStore, run: Run, link: str) -> Diagnostic | None:
    """The contradiction between a kept link and a run that is sound in itself, if any."""
    if link == run.link:
        return None
    places = {run.genesis: 0, **{tick.chain: tick.seq for tick in ticks_of(store, run)}}
    if link in places:
        message = f"Run `{run.slug}` goes on behind the link: it is that of record {places[link]}, "
        message += f"and there are {run.ticks}."
        hint = "What stands up to that record is as it was when the link was kept."
    else:
        message = f"Run `{run.slug}` is not the one that the link was kept of: no record has it."
        hint = "Records were cut off or replaced since, or it is the link of another run."
    return Diagnostic("TW1101", message, hint=hint)


_AS_IT_LIES = ("gapless", "canonical", "source", "text", "chain", "columns", "events", "ending")
"""The faults of a record in the file; replaying the record finds the others."""


def _finding(store: RunStore, run: Run, out: Output) -> Diagnostic | None:
    """The fault of a run, if any, or the note that it was recorded in another language version."""
    found = verify_chain(store, run)
    if found.breach is not None and found.breach.law in (*_AS_IT_LIES, "header"):
        return found.diagnostic()
    changed = language_differs(run)
    if changed is not None:
        return changed
    session, ticks = stored_session(run), history(store, run)
    first = len(ticks) - run.ticks + 1  # what came before a branch belongs to its parent
    fault = header_fault(store, run, session, ticks)
    if fault is not None:
        message = f"The header of run `{run.slug}` is not that of its records: {fault}."
        return Diagnostic("TW1101", message, hint="Do not trust it.")
    states = {first - 1 + seq: state for seq, state in snapshots_of(store, run).items()}
    checks = replayed(
        session.world, session.seed, ticks, first, say=out.progress, states=states
    ).checks
    for place in sorted(checks):
        if checks[place].keys or checks[place].faults:
            seq = place - first + 1
            told = (checks[place].keys or checks[place].faults)[0]
            return Diagnostic(
                "TW1101",
                f"Tick {seq} of run `{run.slug}` is not what its rules make of it: {told}.",
                hint=f"Trust the run up to tick {seq - 1} only.",
            )
    return found.diagnostic()
