"""The verb for published benchmarks: bench, with text2world, cwmb and bytesized32."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from tokenworld.cli.frame import Json, app, does

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
