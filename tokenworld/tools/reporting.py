"""``tw report``: what happened in the runs of a night, as Markdown and as an HTML file."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.quality.morning import Morning, morning
from tokenworld.store import Run, RunStore, find_run, list_runs
from tokenworld.tools.files import write_file
from tokenworld.tools.output import EXIT_OK, Output
from tokenworld.tools.report.markdown import markdown
from tokenworld.tools.report.page import page

__all__ = ["report"]

_SPAN = re.compile(r"(\d{1,5})(m|h|d|w)")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def report(
    out: Output,
    *,
    store: Path | None,
    since: str | None,
    folder: Path | None,
    window: int,
    plan_seconds: float,
    now: datetime | None = None,
) -> int:
    """Tell the runs since a moment, all by default; with ``folder`` write both files there."""
    with RunStore.open(store, writable=False) as opened:
        runs = _since(opened, since, now or datetime.now(UTC))
        found = morning(
            opened, runs, since or "", window=window, plan_seconds=plan_seconds, say=out.progress
        )
    if folder is None:
        out.line(markdown(found).rstrip("\n"))
    else:
        _write(found, folder, out)
    files = [] if folder is None else [str(folder / "report.md"), str(folder / "report.html")]
    out.json({**found.to_json(), "files": files})
    return EXIT_OK


def _write(found: Morning, folder: Path, out: Output) -> None:
    hint = "Name a folder that can be written to."
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        message = f"The folder `{folder}` cannot be made: {why}."
        raise Failure(Diagnostic("TW1102", message, hint=hint)) from error
    write_file(folder / "report.md", markdown(found), hint)
    write_file(folder / "report.html", page(found), hint)
    out.line(f"wrote {folder / 'report.md'} and {folder / 'report.html'}")


def _since(store: RunStore, since: str | None, now: datetime) -> tuple[Run, ...]:
    """The runs that began at a moment or later: a time, a span before now, or a run."""
    runs = list_runs(store)
    if since is None:
        return runs
    moment = _moment(since, now)
    if moment is None:
        first = find_run(store, since)
        return tuple(run for run in runs if run.id >= first.id)
    return tuple(run for run in runs if _began(run) is not None and _began(run) >= moment)  # type: ignore[operator]


def _began(run: Run) -> datetime | None:
    """When a run began, where the store knows it."""
    if run.timing is None:
        return None
    try:
        began = datetime.fromisoformat(run.timing.started)
    except ValueError:
        return None
    return began if began.tzinfo else began.replace(tzinfo=UTC)


def _moment(since: str, now: datetime) -> datetime | None:
    """``12h`` or ``7d`` before now, or a time of ISO 8601 (local, where it names no zone)."""
    span = _SPAN.fullmatch(since.strip())
    if span is not None:
        return now - timedelta(**{_UNITS[span[2]]: int(span[1])})
    try:
        return datetime.fromisoformat(since.strip()).astimezone()
    except ValueError:
        return None
