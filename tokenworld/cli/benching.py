"""The verb for published benchmarks: bench, with text2world, cwmb and bytesized32."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from tokenworld.cli.frame import Flag, Json, Prices, app, does, verb

bench = App(name="bench", help="Published benchmarks: text2world, cwmb, bytesized32.")
app.command(bench)

Predictions = Annotated[
    Path | None, Parameter(help="A folder with a model's answers; they are scored instead.")
]
Model = Annotated[str | None, Parameter(help="The model that wrote the predictions.")]
Day = Annotated[str | None, Parameter(help="The date of the predictions.")]
Cost = Annotated[str | None, Parameter(help="What the predictions cost, as the table shows it.")]
Page = Annotated[
    Path | None, Parameter(name=["-o", "--output"], help="Write the tables here, as Markdown.")
]


@does("bench.text2world.text2world", bench.command)
def text2world(
    path: Annotated[Path, Parameter(help="A folder of PDDL files, or the published list (JSON).")],
    /,
    *,
    predictions: Predictions = None,
    model: Model = None,
    date: Day = None,
    cost: Cost = None,
    author: Annotated[
        str | None,
        Parameter(help="Let it write them: script:FILE, command:PROGRAM, http or pydantic-ai."),
    ] = None,
    runs: Annotated[Path | None, Parameter(help="The folder for what it writes.")] = None,
    descriptions: Annotated[
        Path | None, Parameter(help="A folder of descriptions; else those of the list.")
    ] = None,
    url: Annotated[str, Parameter(help="The address of `http`.")] = "https://api.openai.com/v1",
    key_env: Annotated[
        str, Parameter(help="The environment variable that has the key of `http`.")
    ] = "OPENAI_API_KEY",
    direct: Annotated[
        Flag, Parameter(help="Ask once, without rounds: description in, world out.")
    ] = False,
    single: Annotated[Flag, Parameter(help="Leave out all roles but the developer.")] = False,
    without: Annotated[str, Parameter(help="Roles to leave out, as in `tw author`.")] = "",
    rounds: Annotated[int, Parameter(help="Rounds of each run at most.")] = 4,
    requests: Annotated[
        int, Parameter(name="--max-requests", help="Requests of each run at most.")
    ] = 100,
    prices: Prices = None,
    instances: Annotated[int, Parameter(help="Problems made to compare behaviour; 0: none.")] = 3,
    states: Annotated[int, Parameter(help="States that are compared on each problem.")] = 60,
    output: Page = None,
    json: Json = False,
) -> None:
    """Bring PDDL golds to .tw and back, or score predicted domains against them."""


@bench.command
def cwmb(
    path: Annotated[
        Path | None, Parameter(help="The folder of recorded buffers; else gymnasium makes steps.")
    ] = None,
    /,
    *,
    predictions: Predictions = None,
    model: Model = None,
    date: Day = None,
    cost: Cost = None,
    only: Annotated[
        tuple[str, ...], Parameter(name="--only", negative="", help="Only these environments.")
    ] = (),
    rows: Annotated[int, Parameter(help="Transitions, where none are recorded.")] = 1000,
    episodes: Annotated[int, Parameter(help="Planned episodes of each; 0: accuracy alone.")] = 2,
    planners: Annotated[
        tuple[Literal["mcts", "cem"], ...],
        Parameter(name="--planner", negative="", help="Who plans: mcts, cem."),
    ] = ("mcts",),
    samples: Annotated[int, Parameter(help="Plans that each round of cem draws.")] = 1000,
    output: Page = None,
    json: Json = False,
) -> int:
    """Score worlds on the discrete environments of the Code World Models benchmark."""
    return verb(
        json,
        lambda out: _cwmb()(
            path, out, predictions=predictions, model=model, date=date, cost=cost, only=only,
            rows=rows, episodes=episodes, planners=planners, samples=samples, output=output,
        ),
    )  # fmt: skip


def _cwmb() -> Callable[..., int]:
    """Import and return the function of the verb; gymnasium is an extra."""
    try:
        from tokenworld.gym.cwmb.verb import cwmb as work
    except ImportError:
        from tokenworld.diagnostics import usage

        hint = "Install the extra: `pip install 'token-world[gym]'`."
        raise usage("`tw bench cwmb` needs gymnasium and numpy.", hint) from None
    return work


@does("bench.bytesized32.bytesized32", bench.command)
def bytesized32(
    path: Annotated[
        Path | None, Parameter(help="A folder of worlds; those of the package by default.")
    ] = None,
    /,
    *,
    predictions: Predictions = None,
    model: Model = None,
    date: Day = None,
    cost: Cost = None,
    seconds: Annotated[float, Parameter(help="Seconds of each search.")] = 30.0,
    output: Page = None,
    json: Json = False,
) -> None:
    """Check worlds as games: they start, run, can be won, not trivially, with their objects."""
