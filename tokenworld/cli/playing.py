"""The verbs that play a world (run, rollout, play) or list its commands (legal, why)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tokenworld.cli.frame import (
    Flag,
    Goal,
    Grown,
    Json,
    Length,
    Limit,
    MaybeWorld,
    Narrator,
    NarratorUrl,
    Operator,
    OperatorUrl,
    Played,
    Policy,
    ReplyTimeout,
    Seed,
    Store,
    Ticks,
    World,
    app,
    does,
    verb,
)


@does("runs.run.run")
def run(
    world: World,
    /,
    *,
    script: Annotated[Path | None, Parameter(help="A file with one intent per line.")] = None,
    scenario: Annotated[str | None, Parameter(help="The `when` steps of this scenario.")] = None,
    player: Annotated[
        Literal["random", "planner", "adversarial", "llm"] | None, Parameter(help="Who plays.")
    ] = None,
    command: Annotated[
        str | None, Parameter(help="The program of `--player llm`: text in, text out.")
    ] = None,
    url: Annotated[str | None, Parameter(help="The HTTP address of `--player llm`.")] = None,
    narrator: Narrator = None,
    narrator_url: NarratorUrl = None,
    operator: Annotated[
        str | None,
        Parameter(
            help="A program that writes rules for unknown words; without one: show what is secret."
        ),
    ] = None,
    operator_url: OperatorUrl = None,
    grown: Grown = None,
    reply_timeout: ReplyTimeout = 60.0,
    policy: Annotated[Path | None, Parameter(help="A policy of `tw plan`, to play by.")] = None,
    ticks: Ticks = None,
    halt_refusals: Annotated[
        int | None, Parameter(help="Halt after this many refusals in a row; 0: never.")
    ] = None,
    patience: Annotated[
        int | None,
        Parameter(
            help="With several actors: how often one whose command has no effect is asked again "
            "(0; `llm`: 2)."
        ),
    ] = None,
    goal: Goal = None,
    time_limit: Limit = 60.0,
    seed: Seed = 0,
    store: Store = None,
    json: Json = False,
) -> None:
    """Run a world without a screen and record it."""


@does("runs.rollout.rollout")
def rollout(
    world: World,
    /,
    *,
    policy: Policy = "random",
    worlds: Annotated[int, Parameter(help="How many runs, each with the next seed.")] = 100,
    ticks: Length = 1000,
    engine: Annotated[
        Literal["auto", "fast", "plain", "play"],
        Parameter(help="Compiled; in Python; in Python with every text; auto: the fastest."),
    ] = "auto",
    digests: Annotated[Flag, Parameter(help="Add the state hash of every run.")] = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Play a world many times and count how often it is won, and how soon."""


@app.command
def play(
    world: MaybeWorld = None,
    /,
    *,
    run: Annotated[str | None, Parameter(help="Look at this stored run, record by record.")] = None,
    plan: Annotated[Flag, Parameter(help="Plan first; the plan can be stepped through.")] = False,
    goal: Goal = None,
    time_limit: Limit = 60.0,
    operator: Operator = False,
    tour: Annotated[Flag, Parameter(help="Begin with the tour, as the first game does.")] = False,
    seed: Seed = 0,
    store: Store = None,
    web: Annotated[
        Flag, Parameter(help="Play in a browser, at an address of this machine.")
    ] = False,
    host: Annotated[
        str | None, Parameter(help="With `--web`: the address to listen on (127.0.0.1).")
    ] = None,
    port: Annotated[
        int | None, Parameter(help="With `--web`: the port (8000); 0: any that is free.")
    ] = None,
    json: Json = False,
) -> int:
    """Play a world on the screen. Without a terminal its plan is played and printed.

    With `--run` a stored run is shown record by record; one can play on from any of them.
    """
    if world is None or run is not None:
        from tokenworld.play.verb import watch

        page = web or host is not None or port is not None
        given = world is not None or page or plan or goal is not None or seed or operator or tour
        return verb(json, lambda out: watch(run, out, store, alone=not given))
    if web or host is not None or port is not None:
        from tokenworld.play.web.verb import WebOptions, serve_play

        options = WebOptions(web, host, port)
        played = {"--plan": plan, "--goal": goal, "--time-limit": time_limit, "--seed": seed,
                  "--store": store, "--operator": operator, "--tour": tour}  # fmt: skip
        return verb(json, lambda out: serve_play(world, out, options, played, seed))
    from tokenworld.play.verb import play as play_world

    return verb(
        json,
        lambda out: play_world(
            world,
            out,
            seed=seed,
            store=store,
            planned=plan,
            time_limit=time_limit,
            goal=goal,
            operator=operator,
            tour=tour,
        ),
    )


@app.command
def publish(
    world: World,
    /,
    *,
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="The page (WORLD.html).")
    ] = None,
    runtime: Annotated[
        Path | None, Parameter(help="The archive of Pyodide; else it is fetched once.")
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> int:
    """Write a world as one HTML file that plays in any browser, without a server."""
    from tokenworld.play.publish.verb import publish as publish_world

    return verb(
        json,
        lambda out: publish_world(world, out, output=output, seed=seed, runtime=runtime),
    )


@app.command
def picture(
    world: MaybeWorld = None,
    /,
    *,
    output: Annotated[
        Path | None,
        Parameter(name=["--output", "-o"], help="FILE.svg or FILE.png (WORLD.svg)."),
    ] = None,
    run: Annotated[str | None, Parameter(help="Draw this stored run instead.")] = None,
    tick: Annotated[
        int | None, Parameter(help="With `--run`: the record to draw the state after (the last).")
    ] = None,
    seed: Seed = 0,
    store: Store = None,
    json: Json = False,
) -> int:
    """Draw the maps of a world, or of a stored run, with a legend (SVG or PNG)."""
    from tokenworld.play.picture import picture as draw

    return verb(
        json,
        lambda out: draw(world, out, output=output, run=run, tick=tick, seed=seed, store=store),
    )


@does("legal.legal")
def legal(
    world: World,
    /,
    *,
    focus: Annotated[str | None, Parameter(name="--with", help="Only with this object.")] = None,
    every: Annotated[
        Flag, Parameter(name="--all", help="Also what cannot be done, and why.")
    ] = False,
    script: Annotated[Played, Parameter(name=["--at", "--script"])] = None,
    operator: Operator = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """List the commands that are possible now, all or with one object; exit 1 if there are none."""


@does("refusals.why.why")
def why(
    world: World,
    intent: Annotated[str, Parameter(help="The command, in the words of a player or as a call.")],
    /,
    *,
    script: Annotated[Played, Parameter(name=["--at", "--script"])] = None,
    time_limit: Annotated[
        float, Parameter(name="--time-limit", help="Seconds to look for a way to it; 0: do not.")
    ] = 20.0,
    operator: Operator = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Why is a command refused? Its requires, since when they fail, and the way to it; exit 1."""


@does("dist.dist")
def dist(
    world: World,
    /,
    *,
    intent: Annotated[
        str | None, Parameter(help="The command, in the words of a player; without it: pass.")
    ] = None,
    start: Annotated[
        Path | None, Parameter(help="Begin in the state of this file (tw-state/1).")
    ] = None,
    script: Annotated[Played, Parameter(name=["--at", "--script"])] = None,
    most: Annotated[int, Parameter(help="Print so many outcomes at most, the likeliest.")] = 10_000,
    operator: Operator = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Print all outcomes that one command may have, with exact probabilities."""
