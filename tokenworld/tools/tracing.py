"""``tw runs trace``: one record of a stored run, law by law."""

from __future__ import annotations

from pathlib import Path

from tokenworld.session.replaying import again
from tokenworld.session.tracing import TickTrace, Tracing
from tokenworld.session.travelling import session_at
from tokenworld.store import Run, RunStore, find_run, find_tick
from tokenworld.tools.output import EXIT_OK, Output
from tokenworld.tools.play.glyphs import fitting_glyphs
from tokenworld.tools.play.laws import trace_lines
from tokenworld.tools.play.lines import plain_text

__all__ = ["trace", "traced"]


def trace(reference: str | None, seq: int, out: Output, store: Path | None) -> int:
    """Tell what each law did in the tick of record ``seq``.

    Raises `Failure` TW1104 where the run has no such record, TW1105 where it does not play again
    as it is stored.
    """
    with RunStore.open(store, writable=False) as opened:
        run = find_run(opened, reference)
        found = traced(opened, run, seq)
    out.line(f"{run.slug}, record {seq}")
    out.line(plain_text(trace_lines(found, fitting_glyphs())))
    out.json({"schema_version": 1, "run": run.slug, "record": seq, **found.to_json()})
    return EXIT_OK


def traced(store: RunStore, run: Run, seq: int) -> TickTrace:
    """The trace of a stored record: its intent, given again in the state before it."""
    tick = find_tick(store, run, seq)
    session = session_at(store, run, seq - 1 - _paired(store, run, seq))
    before = session.state
    again(session, tick)
    return Tracing(session).trace(before, session.moments[-1])


def _paired(store: RunStore, run: Run, seq: int) -> int:
    """1 for the second record of an intent: it cancelled a long action, which is the first."""
    if seq < 2:
        return 0
    earlier = find_tick(store, run, seq - 1).outcome
    return int(earlier["status"] == "interrupted" and earlier.get("cause") == "a new intent")
