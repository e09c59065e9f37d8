"""The parameters that several verbs share: each type is one option or argument with its help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

Json = Annotated[bool, Parameter(name="--json", negative="", help="One JSON object on stdout.")]
Store = Annotated[
    Path | None,
    Parameter(name="--store", help="The run store (.tw/runs.sqlite beside `domains`, else here)."),
]
Seed = Annotated[int, Parameter(name="--seed", help="The seed of all draws.")]
Goal = Annotated[str | None, Parameter(name="--goal", help="One goal line; any by default.")]
Limit = Annotated[float, Parameter(name="--time-limit", help="Seconds of planning at most.")]
States = Annotated[int, Parameter(name="--states", help="States of the explored graph at most.")]
Pedantic = Annotated[bool, Parameter(help="Add remarks that are often deliberate.", negative="")]
World = Annotated[str, Parameter(help="FILE, or FILE:world where a file has several worlds.")]
RunName = Annotated[
    str | None, Parameter(help="A run's number, its name, or a world; the latest by default.")
]
