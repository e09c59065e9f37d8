"""The parameters that several verbs share: each type is one option or argument with its help.

Where a verb says it otherwise, it adds to the type: ``Annotated[Window, Parameter(help="…")]``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

_world = Parameter(help="FILE, or FILE:world where a file has several worlds.")

# ---- every verb ---------------------------------------------------------------------------------

Flag = Annotated[bool, Parameter(negative="")]  # given or left out: there is no `--no-flag`
Json = Annotated[Flag, Parameter(name="--json", help="One JSON object on stdout.")]
Pedantic = Annotated[Flag, Parameter(help="Add remarks that are often deliberate.")]
Paths = Annotated[tuple[str, ...], Parameter(help="Files and folders.")]
OutputFile = Annotated[Path, Parameter(name=["-o", "--output"], help="The file to write.")]

# ---- a world, and how it is played and planned --------------------------------------------------

World = Annotated[str, _world]
MaybeWorld = Annotated[str | None, _world]
Seed = Annotated[int, Parameter(name="--seed", help="The seed of all draws.")]
Goal = Annotated[str | None, Parameter(name="--goal", help="One goal line; any by default.")]
Limit = Annotated[float, Parameter(name="--time-limit", help="Seconds of planning at most.")]
Memory = Annotated[
    int | None, Parameter(name="--memory-limit", help="MB of memory at most, planners included.")
]
States = Annotated[int, Parameter(name="--states", help="States of the explored graph at most.")]
Played = Annotated[Path | None, Parameter(help="What was played so far.")]
Policy = Annotated[str, Parameter(help="random, or a policy or script file.")]
Length = Annotated[int, Parameter(help="Records of a run at most.")]
Operator = Annotated[Flag, Parameter(help="Hide nothing: show what is secret.")]
Ticks = Annotated[int | None, Parameter(help="Stop after so many records.")]

# ---- recorded runs ------------------------------------------------------------------------------

Store = Annotated[
    Path | None,
    Parameter(name="--store", help="The run store (.tw/runs.sqlite beside `domains`, else here)."),
]
Run = Annotated[str, Parameter(help="A run.")]
RunName = Annotated[
    str | None, Parameter(help="A run's number, its name, or a world; the latest by default.")
]
RunNames = Annotated[tuple[str, ...], Parameter(help="Runs; the latest by default.")]
Moment = Annotated[str, Parameter(help="RUN, or RUN@N after record N.")]
Record = Annotated[int, Parameter(help="After this record; 0 is the start.")]
ScriptOn = Annotated[Path | None, Parameter(help="A script that plays on.")]
PlayerOn = Annotated[
    Literal["random", "planner", "adversarial"] | None, Parameter(help="Who plays on.")
]
Window = Annotated[int, Parameter(name=["--window", "--last"], help="So many of the last ticks.")]
