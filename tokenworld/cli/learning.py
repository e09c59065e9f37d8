"""The verbs that learn from recorded play: learn fit, learn propose."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from tokenworld.cli.frame import Flag, Json, World, app, does

learn = App(name="learn", help="Rules, and numbers of rules, from recorded play.")
app.command(learn)


@does("learn.verb.fit_params", learn.command, name="fit")
def fit_(
    world: World,
    rows: Annotated[
        tuple[Path, ...], Parameter(help="Files of `tw runs rows`: .jsonl or .jsonl.gz.")
    ] = (),
    /,
    *,
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="Also write the values as JSON.")
    ] = None,
    write: Annotated[Flag, Parameter(help="Write the values into the rules.")] = False,
    noise: Annotated[
        float | None, Parameter(help="The probability of rows that the rules cannot bring forth.")
    ] = None,
    json: Json = False,
) -> None:
    """The likeliest values of params that are `learned`, with standard errors."""


@does("learn.propose.verb.propose", learn.command, name="propose")
def propose_(
    rows: Annotated[
        tuple[Path, ...],
        Parameter(help="Files of `tw runs rows`, or recorded rows of a text game."),
    ] = (),
    /,
    *,
    output: Annotated[
        Path | None,
        Parameter(
            name=["--output", "-o"],
            help="Write the world to this file; beside it the mapping of a text game.",
        ),
    ] = None,
    test: Annotated[
        tuple[Path, ...], Parameter(help="Score on the rows of these files.", negative="")
    ] = (),
    holdout: Annotated[
        float, Parameter(help="Without --test: the share of rows to score on.")
    ] = 0.2,
    seed: Annotated[int, Parameter(help="Which rows these are.")] = 0,
    write: Annotated[Flag, Parameter(help="Replace files that are there.")] = False,
    json: Json = False,
) -> None:
    """Learn the rules of a world from recorded rows alone: types, commands, effects and laws."""
