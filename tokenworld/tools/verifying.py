"""``tw runs verify``: a log checked without believing what wrote it.

First as it lies in the file: the pages, the hash chain, the laws of every record. Then by the
reference evaluator, which works out each intent anew: the status, the require that refused, the
changes and the words.
"""

from __future__ import annotations

from pathlib import Path

from tokenworld.diagnostics import Diagnostic
from tokenworld.quality.replayed import replayed
from tokenworld.session.replaying import stored_session
from tokenworld.store import Run, RunStore, check_file, find_run, history, list_runs, verify_chain
from tokenworld.tools.output import EXIT_NEGATIVE, EXIT_OK, Output

__all__ = ["verify"]


def verify(references: tuple[str, ...], out: Output, store: Path | None, *, every: bool) -> int:
    """Check runs, the latest by default; 1 at the first run that does not stand."""
    with RunStore.open(store, writable=False) as opened:
        check_file(opened)
        named = references or (None,)
        runs = list_runs(opened) if every else tuple(find_run(opened, one) for one in named)
        findings = {run.slug: _finding(opened, run, out) for run in runs}
    bad = [found for found in findings.values() if found is not None]
    for run in runs:
        if findings[run.slug] is None:
            out.line(f"{run.slug} is sound: {run.ticks} records, state {run.state_hash}")
    out.diagnostics(bad)
    out.json(
        {
            "schema_version": 1,
            "ok": not bad,
            "runs": [
                {"run": run.slug, "records": run.ticks, "ok": findings[run.slug] is None,
                 "finding": None if (one := findings[run.slug]) is None else one.message}
                for run in runs
            ],
        }
    )  # fmt: skip
    return EXIT_NEGATIVE if bad else EXIT_OK


def _finding(store: RunStore, run: Run, out: Output) -> Diagnostic | None:
    """What is wrong with a run, if anything is."""
    found = verify_chain(store, run).diagnostic()
    if found is not None:
        return found
    session, ticks = stored_session(run), history(store, run)
    first = len(ticks) - run.ticks + 1  # what came before a branch belongs to its parent
    checks = replayed(session.world, session.seed, ticks, first, say=out.progress).checks
    for place in sorted(checks):
        if checks[place].faults:
            return Diagnostic(
                "TW1101",
                f"Tick {place - first + 1} of run `{run.slug}` is not what its rules make of it: "
                f"{checks[place].faults[0]}.",
                hint=f"Trust the run up to tick {place - first} only.",
            )
    return None
