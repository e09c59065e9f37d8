"""``tw runs verify``: a log checked without believing what wrote it.

First as it lies in the file: the pages, the hash chain, the laws of every record. Then by its
intents: engine and reference evaluator play the run again from the sources and the seed of its
header, and each record must equal theirs, key by key.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, usage
from tokenworld.model import CARRIED
from tokenworld.session import Session
from tokenworld.session.replaying import stored_session
from tokenworld.store import (
    INTENT_SOURCES,
    Database,
    Run,
    RunStore,
    Tick,
    check_file,
    find_run,
    history,
    language_differs,
    list_runs,
    run_with_link,
    snapshots_of,
    ticks_of,
    verify_chain,
)
from tokenworld.verbs.output import EXIT_NEGATIVE, EXIT_OK, Output
from tokenworld.verbs.recheck import replayed

__all__ = ["header_fault", "verify"]


def header_fault(store: Database, run: Run, session: Session, ticks: Sequence[Tick]) -> str | None:
    """The first fault of a header; ``None`` if there is none.

    ``session`` is at the start of the run's sources, ``ticks`` lead from there to its end. Which
    version recorded a run, who played it, and which game it goes on with where that is not in the
    store, nothing shows but the header.
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
    references: tuple[str, ...],
    out: Output,
    store: Path | None,
    *,
    every: bool,
    link: str | None = None,
) -> int:
    """Check runs, the latest by default; 1 at the first run that does not stand.

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
    """Raise `Failure` (TW0006) for what is no link, or for more than one run."""
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
"""What is found wrong with a record as it lies in the file; other breaches are told by what the
rules make of it, which names the part that was changed."""


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
