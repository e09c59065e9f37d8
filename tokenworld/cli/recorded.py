"""``tw runs``: the verbs for recorded runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from tokenworld.cli.frame import app, verb
from tokenworld.cli.parameters import (
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
    from tokenworld.tools.logs import listing

    return verb(json, lambda out: listing(out, store, world))


@runs.command
def show(run: RunName = None, /, *, store: Store = None, json: Json = False) -> int:
    """Show a run record by record."""
    from tokenworld.tools.logs import show as show_run

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
    from tokenworld.tools.logs import replay as replay_run

    return verb(json, lambda out: replay_run(run, out, store, verify=verify))


@runs.command
def verify(
    references: RunNames = (),
    /,
    *,
    every: Annotated[Flag, Parameter(name="--all", help="Every run.")] = False,
    store: Store = None,
    json: Json = False,
) -> int:
    """Check the file, the hash chain, the laws, and every record by the reference evaluator."""
    from tokenworld.tools.verifying import verify as verify_runs

    return verb(json, lambda out: verify_runs(references, out, store, every=every))


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
    from tokenworld.tools.travelling import at as show_state

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
    from tokenworld.tools.travelling import diff as compare

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
    from tokenworld.tools.tracing import trace as show_trace

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
    from tokenworld.tools.travelling import why as explain

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
    from tokenworld.tools.choosing import Choice
    from tokenworld.tools.travelling import branch as begin_branch

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
    from tokenworld.tools.choosing import Choice
    from tokenworld.tools.travelling import resume as play_on

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
    from tokenworld.tools.logs import export_runs

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
    from tokenworld.tools.logs import write_rows

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
    from tokenworld.tools.logs import import_runs

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
    from tokenworld.tools.following import log as print_log

    return verb(json, lambda out: print_log(run, out, store, follow=follow, last=last))
