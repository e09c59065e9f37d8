"""``tw log``: the records of a run as lines, and those to come as they are committed."""

from __future__ import annotations

import time
from pathlib import Path

from tokenworld.store import RunStore, Tick, find_run, ticks_after
from tokenworld.tools.logs import show_tick
from tokenworld.tools.output import EXIT_OK, Output

__all__ = ["log"]

POLL_SECONDS = 0.2


def log(
    reference: str | None, out: Output, store: Path | None, *, follow: bool, last: int | None
) -> int:
    """Print the (last) records of a run; with ``follow`` go on until the run is finished.

    With JSON the answer is one object with all records; with ``follow`` each record is an object on
    a line of its own, as it comes, for the end is not known yet.
    """
    with RunStore.open(store, writable=False) as opened:
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
