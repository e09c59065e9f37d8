"""The verb for published benchmarks: bench, with text2world, cwmb and bytesized32."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from tokenworld.cli.frame import Json, app, does, verb

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
    output: Page = None,
    json: Json = False,
) -> int:
    """Score worlds on the discrete environments of the Code World Models benchmark."""
    return verb(
        json,
        lambda out: _cwmb()(
            path, out, predictions=predictions, model=model, date=date, cost=cost, only=only,
            rows=rows, episodes=episodes, output=output,
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
