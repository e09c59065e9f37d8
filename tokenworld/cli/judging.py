"""The verbs that judge recorded runs: quality and report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tokenworld.cli.frame import app, verb
from tokenworld.cli.parameters import Flag, Json, RunName, Store, Window


@app.command
def quality(
    run: RunName = None,
    /,
    *,
    window: Window = 50,
    gate: Annotated[
        Literal["plain", "strict"] | None,
        Parameter(help="Fail a FAILED run; `--gate strict` a DEGRADED one too."),
    ] = None,
    reference: Annotated[
        Flag, Parameter(help="Keep the run as a reference if it passes the gate.")
    ] = False,
    form: Annotated[
        Literal["table", "json"], Parameter(name="--format", help="How to print.")
    ] = "table",
    store: Store = None,
    json: Json = False,
) -> int:
    """Score the last ticks of a run in seven dimensions, and give a verdict."""
    from tokenworld.tools.quality import quality as score

    return verb(
        json or form == "json",
        lambda out: score(run, out, store=store, window=window, gate=gate, keep=reference),
    )


@app.command
def report(
    *,
    since: Annotated[
        str | None, Parameter(help="12h, 7d, a time of ISO 8601, or a run; all by default.")
    ] = None,
    output: Annotated[
        Path | None,
        Parameter(name=["-o", "--output"], help="A folder for report.md and report.html."),
    ] = None,
    window: Annotated[Window, Parameter(help="So many of the last ticks of a run.")] = 50,
    time_limit: Annotated[
        float, Parameter(help="Seconds to look for a plan of each world; 0: none.")
    ] = 5.0,
    store: Store = None,
    json: Json = False,
) -> int:
    """Write the morning report: which runs went bad, and where to look."""
    from tokenworld.tools.reporting import report as tell

    return verb(
        json,
        lambda out: tell(
            out,
            store=store,
            since=since,
            folder=output,
            window=window,
            plan_seconds=time_limit,
        ),
    )
