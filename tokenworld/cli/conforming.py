"""The verb that holds a world, or any predictor, against recorded transitions: conform."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tokenworld.cli.frame import app, verb
from tokenworld.cli.parameters import Flag, Json


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
    from tokenworld.tools.conforming import conform as run_conform

    return verb(
        json,
        lambda out: run_conform(
            world,
            rows,
            out,
            strict=strict,
            predictor=predictor,
            predictions=predictions,
            questions=questions,
            tasks=tasks,
        ),
    )
