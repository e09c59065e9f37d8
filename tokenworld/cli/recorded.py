"""The verbs for recorded runs and rows: runs, log, quality, report, conform."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from tokenworld.cli.frame import (
    Flag,
    Json,
    Moment,
    OutputFile,
    PlayerOn,
    Record,
    Run,
    RunName,
    RunNames,
    ScriptOn,
    Store,
    Ticks,
    Window,
    app,
    verb,
)

runs = App(name="runs", help="Recorded runs: list, show, replay and verify, carry away.")
app.command(runs)


@runs.default
def list_(
    *,
    world: Annotated[str | None, Parameter(help="Only runs of this world.")] = None,
    store: Store = None,
    json: Json = False,
) -> int:
    """List the recorded runs."""
    from tokenworld.verbs.runs.listing import listing

    return verb(json, lambda out: listing(out, store, world))


@runs.command
def show(run: RunName = None, /, *, store: Store = None, json: Json = False) -> int:
    """Show a run record by record."""
    from tokenworld.verbs.runs.listing import show as show_run

    return verb(json, lambda out: show_run(run, out, store))


@runs.command
def replay(
    run: RunName = None,
    /,
    *,
    verify: Annotated[Flag, Parameter(help="Check the log itself too.")] = False,
    store: Store = None,
    json: Json = False,
) -> int:
    """Play a run again from its seed and compare every hash."""
    from tokenworld.verbs.runs.listing import replay as replay_run

    return verb(json, lambda out: replay_run(run, out, store, verify=verify))


@runs.command
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
) -> int:
    """Check the file, the hash chain, and every record by playing its run again.

    The engine and the reference evaluator work out each record anew from the sources and the seed
    of the run. A chain without a secret cannot show a cut tail, nor who typed: for that keep the
    link that `tw run` prints, and give it to `--link`.
    """
    from tokenworld.verbs.runs.listing import verify as verify_runs

    return verb(json, lambda out: verify_runs(references, out, store, every=every, link=link))


@runs.command
def at(
    run: Run,
    record: Record,
    /,
    *,
    store: Store = None,
    json: Json = False,
) -> int:
    """Show the whole state after a record."""
    from tokenworld.verbs.runs.provenance import at as show_state

    return verb(json, lambda out: show_state(run, record, out, store))


@runs.command
def diff(
    first: Moment,
    second: Moment,
    /,
    *,
    store: Store = None,
    json: Json = False,
) -> int:
    """Compare two moments of a run, or of two branches."""
    from tokenworld.verbs.runs.provenance import diff as compare

    return verb(json, lambda out: compare(first, second, out, store))


@runs.command
def trace(
    run: Run,
    record: Annotated[int, Parameter(help="This record, from 1.")],
    /,
    *,
    store: Store = None,
    json: Json = False,
) -> int:
    """Tell which laws fired in a tick, in their order, with bindings, changes and conflicts."""
    from tokenworld.verbs.runs.trace import trace as show_trace

    return verb(json, lambda out: show_trace(run, record, out, store))


@runs.command
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
) -> int:
    """Tell which rule of which record set a value, and what enabled that rule."""
    from tokenworld.verbs.runs.provenance import why as explain

    return verb(json, lambda out: explain(run, slot, out, store, record))


@runs.command
def branch(
    run: Run,
    record: Record,
    /,
    *,
    script: ScriptOn = None,
    player: PlayerOn = None,
    ticks: Ticks = None,
    store: Store = None,
    json: Json = False,
) -> int:
    """Begin a new run in the middle of another one, and play on there."""
    from tokenworld.verbs.runs.provenance import branch as begin_branch
    from tokenworld.verbs.runs.run import Choice

    someone = script is not None or player is not None
    choice = Choice(script=script, player=player, ticks=ticks) if someone else None
    return verb(json, lambda out: begin_branch(run, record, out, store, choice))


@runs.command
def resume(
    run: RunName = None,
    /,
    *,
    script: ScriptOn = None,
    player: PlayerOn = None,
    ticks: Ticks = None,
    store: Store = None,
    json: Json = False,
) -> int:
    """Play on in a run that was cut off."""
    from tokenworld.verbs.runs.provenance import resume as play_on
    from tokenworld.verbs.runs.run import Choice

    choice = Choice(script=script, player=player, ticks=ticks)
    return verb(json, lambda out: play_on(run, out, store, choice))


@runs.command(name="export")
def export_(
    runs: RunNames = (),
    /,
    *,
    output: OutputFile,
    store: Store = None,
    json: Json = False,
) -> int:
    """Write runs as JSON lines."""
    from tokenworld.verbs.runs.listing import export_runs

    return verb(json, lambda out: export_runs(runs, output, out, store))


@runs.command
def rows(
    run: RunName = None,
    /,
    *,
    output: OutputFile,
    store: Store = None,
    json: Json = False,
) -> int:
    """Write a run as rows for a scenario's `replay`."""
    from tokenworld.verbs.runs.listing import write_rows

    return verb(json, lambda out: write_rows(run, output, out, store))


@runs.command(name="import")
def import_(
    file: Annotated[Path, Parameter(help="A file of JSON lines.")],
    /,
    *,
    store: Store = None,
    json: Json = False,
) -> int:
    """Take runs from JSON lines."""
    from tokenworld.verbs.runs.listing import import_runs

    return verb(json, lambda out: import_runs(file, out, store))


@app.command
def log(
    run: RunName = None,
    /,
    *,
    follow: Annotated[
        Flag, Parameter(name=["--follow", "-f"], help="Go on until the run ends.")
    ] = False,
    last: Annotated[int | None, Parameter(help="Begin with so many of the last records.")] = None,
    store: Store = None,
    json: Json = False,
) -> int:
    """Print the records of a run, with `--follow` as they are committed."""
    from tokenworld.verbs.runs.listing import log as print_log

    return verb(json, lambda out: print_log(run, out, store, follow=follow, last=last))


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
    from tokenworld.verbs.quality.scorecard import quality as score

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
    from tokenworld.verbs.quality.report import report as tell

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


@app.command
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
        Path | None, Parameter(help="Only write what an answerer is asked.")
    ] = None,
    tasks: Annotated[str, Parameter(help="Some of act, env, score, step.")] = "act,env,score,step",
    json: Json = False,
) -> int:
    """Replay recorded transitions of a text game: are state, tick and score predicted rightly?"""
    from tokenworld.verbs.conform.verb import conform as run_conform

    return verb(
        json,
        lambda out: run_conform(
            world,
            rows,
            out,
            strict=strict,
            predictor=predictor,
            reply_timeout=reply_timeout,
            predictions=predictions,
            questions=questions,
            tasks=tasks,
        ),
    )
