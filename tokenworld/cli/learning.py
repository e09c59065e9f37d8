"""The verbs that learn from recorded play: learn fit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from tokenworld.cli.frame import Flag, Json, World, app, does

learn = App(name="learn", help="Numbers of rules from recorded play.")
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
