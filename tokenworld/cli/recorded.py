"""The verbs for recorded runs and rows: runs, log, quality, report, conform."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from tokenworld.cli.frame import (
    Flag,
    Grown,
    Json,
    Moment,
    Narrator,
    NarratorUrl,
    OperatorOn,
    OperatorUrl,
    OutputFile,
    PlayerOn,
    Prices,
    Record,
    ReplyTimeout,
    Run,
    RunName,
    RunNames,
    ScriptOn,
    Store,
    Ticks,
    Window,
    app,
    does,
)

runs = App(name="runs", help="Recorded runs: list, show, replay, verify, branch, export.")
app.command(runs)


@does("runs.listing.listing", runs.default)
def list_(
    *,
    world: Annotated[str | None, Parameter(help="Only runs of this world.")] = None,
    store: Store = None,
    json: Json = False,
) -> None:
    """List the recorded runs."""


@does("runs.listing.show", runs.command)
def show(run: RunName = None, /, *, store: Store = None, json: Json = False) -> None:
    """Show a run record by record."""


@does("runs.listing.replay", runs.command)
def replay(
    run: RunName = None,
    /,
    *,
    verify: Annotated[Flag, Parameter(help="Check the log itself too.")] = False,
    store: Store = None,
    json: Json = False,
) -> None:
    """Play a run again from its seed and compare every hash."""


@does("runs.listing.verify", runs.command)
def verify(
    references: RunNames = (),
    /,
    *,
    every: Annotated[Flag, Parameter(name="--all", help="Every run.")] = False,
    link: Annotated[
        str | None, Parameter(help="The link that was kept elsewhere: a record must have it.")
    ] = None,
    store: Store = None,
    json: Json = False,
) -> None:
    """Check the file, the hash chain, and every record by playing its run again.

    The engine and the reference evaluator work out each record anew from the sources and the seed
    of the run. A chain without a secret cannot show a cut tail, nor who typed: for that keep the
    link that `tw run` prints, and give it to `--link`.
    """


@does("runs.provenance.at", runs.command)
def at(
    run: Run,
    record: Record,
    /,
    *,
    store: Store = None,
    json: Json = False,
) -> None:
    """Show the whole state after a record."""


@does("runs.provenance.diff", runs.command)
def diff(
    first: Moment,
    second: Moment,
    /,
    *,
    store: Store = None,
    json: Json = False,
) -> None:
    """Compare two moments of a run, or of two branches."""


@does("runs.trace.trace", runs.command)
def trace(
    run: Run,
    record: Annotated[int, Parameter(help="This record, from 1.")],
    /,
    *,
    store: Store = None,
    json: Json = False,
) -> None:
    """List the laws that fired in a tick, in their order, with bindings, changes and conflicts."""


@does("runs.provenance.why", runs.command)
def why(
    run: Run,
    slot: Annotated[str, Parameter(help="object.attribute, or function(a, b).")],
    /,
    *,
    record: Annotated[
        int | None, Parameter(name="--at", help="As it was after this record; the end.")
    ] = None,
    store: Store = None,
    json: Json = False,
) -> None:
    """Name the rule and the record that set a value, and what enabled that rule."""


@does("runs.provenance.branch", runs.command)
def branch(
    run: Run,
    record: Record,
    /,
    *,
    script: ScriptOn = None,
    player: PlayerOn = None,
    narrator: Narrator = None,
    narrator_url: NarratorUrl = None,
    operator: OperatorOn = None,
    operator_url: OperatorUrl = None,
    grown: Grown = None,
    reply_timeout: ReplyTimeout = 60.0,
    ticks: Ticks = None,
    store: Store = None,
    json: Json = False,
) -> None:
    """Begin a new run after a record of another one, and continue to play there."""


@does("runs.provenance.resume", runs.command)
def resume(
    run: RunName = None,
    /,
    *,
    script: ScriptOn = None,
    player: PlayerOn = None,
    narrator: Narrator = None,
    narrator_url: NarratorUrl = None,
    operator: OperatorOn = None,
    operator_url: OperatorUrl = None,
    grown: Grown = None,
    reply_timeout: ReplyTimeout = 60.0,
    ticks: Ticks = None,
    store: Store = None,
    json: Json = False,
) -> None:
    """Continue a run that was cut off."""


@does("runs.listing.export_runs", runs.command, name="export")
def export_(
    runs: RunNames = (),
    /,
    *,
    output: OutputFile,
    store: Store = None,
    json: Json = False,
) -> None:
    """Write runs as JSON lines."""


@does("runs.listing.write_rows", runs.command)
def rows(
    run: RunName = None,
    /,
    *,
    output: OutputFile,
    store: Store = None,
    json: Json = False,
) -> None:
    """Write a run as rows for a scenario's `replay`."""


@does("runs.listing.import_runs", runs.command, name="import")
def import_(
    file: Annotated[Path, Parameter(help="A file of JSON lines.")],
    /,
    *,
    store: Store = None,
    json: Json = False,
) -> None:
    """Read runs from JSON lines into the store."""


@does("runs.listing.log")
def log(
    run: RunName = None,
    /,
    *,
    follow: Annotated[
        Flag, Parameter(name=["--follow", "-f"], help="Continue until the run ends.")
    ] = False,
    last: Annotated[int | None, Parameter(help="Begin with this many of the last records.")] = None,
    store: Store = None,
    json: Json = False,
) -> None:
    """Print the records of a run, with `--follow` as they are committed."""


@does("quality.scorecard.quality")
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
    time_limit: Annotated[
        float, Parameter(help="Seconds to ask whether the goal is in reach; 0: do not.")
    ] = 5.0,
    store: Store = None,
    json: Json = False,
) -> None:
    """Score the last records of a run in seven dimensions, and give a verdict."""


@does("quality.report.report")
def report(
    *,
    since: Annotated[
        str | None, Parameter(help="12h, 7d, a time of ISO 8601, or a run; all by default.")
    ] = None,
    output: Annotated[
        Path | None,
        Parameter(name=["-o", "--output"], help="A folder for report.md and report.html."),
    ] = None,
    window: Annotated[Window, Parameter(help="Number of last ticks of a run.")] = 50,
    time_limit: Annotated[
        float, Parameter(help="Seconds to look for a plan of each world; 0: none.")
    ] = 5.0,
    prices: Prices = None,
    store: Store = None,
    json: Json = False,
) -> None:
    """Write the morning report: which runs went bad, and where to look."""


@does("conform.verb.conform")
def conform(
    world: Annotated[str, Parameter(help="FILE[:world], or a folder with a world for each game.")],
    rows: Annotated[tuple[Path, ...], Parameter(help="Files of rows: .jsonl or .jsonl.gz.")] = (),
    /,
    *,
    strict: Annotated[Flag, Parameter(help="Judge strictly.")] = False,
    predictor: Annotated[
        str | None, Parameter(help="A program that answers in place of the world.")
    ] = None,
    reply_timeout: Annotated[float, Parameter(help="Seconds for one answer of it.")] = 60.0,
    predictions: Annotated[
        Path | None, Parameter(help="A file of answers, in place of the world.")
    ] = None,
    questions: Annotated[
        Path | None, Parameter(help="Only write the questions that a predictor is asked.")
    ] = None,
    tasks: Annotated[str, Parameter(help="Some of act, env, score, step.")] = "act,env,score,step",
    coverage: Annotated[
        Flag, Parameter(help="Count how often each rule, require and branch was reached.")
    ] = False,
    score: Annotated[
        Flag, Parameter(help="Rows of `tw runs rows`: how likely is each by the rules?")
    ] = False,
    json: Json = False,
) -> None:
    """Replay recorded transitions of a text game: are state, tick and score predicted rightly?"""
