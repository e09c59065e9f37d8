"""Parameters of verbs on the command line: their help, other names, how they are given.

A verb is a function: parameters before ``out`` are given by place, those after it by name. The type
of each is ``Annotated`` with its help, and with an `Option` where the name is another one. Types at
the end are parameters that several verbs share. Where a verb says it otherwise, it adds to the
type: ``Annotated[Window, "…"]``. A parameter whose type is a dataclass stands for the fields of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal


@dataclass(frozen=True, slots=True)
class Option:
    """How a parameter is given; without one its name and its type decide.

    ``many``: one option takes all values that follow. ``needed``: by place, and never left out,
    though it may have several values.
    """

    name: str | tuple[str, ...] = ()
    many: bool = False
    needed: bool = False


OUTPUT = Option(("--output", "-o"))
_world = "FILE, or FILE:world where a file has several worlds."

# ---- every verb ---------------------------------------------------------------------------------

Json = Annotated[bool, "One JSON object on stdout."]
Pedantic = Annotated[bool, "Add remarks that are often deliberate."]
Paths = Annotated[tuple[str, ...], "Files and folders."]
Files = Annotated[tuple[str, ...], Option(needed=True), "Files to check."]
OutputFile = Annotated[Path, Option(("-o", "--output")), "The file to write."]

# ---- a world, and how it is played and planned --------------------------------------------------

World = Annotated[str, Option("world"), _world]
MaybeWorld = Annotated[str | None, Option("world"), _world]
Seed = Annotated[int, "The seed of all draws."]
Goal = Annotated[str | None, "One goal line; any by default."]
Limit = Annotated[float, "Seconds of planning at most."]
Whole = Annotated[float | None, "Seconds for the whole command at most; none by default."]
Memory = Annotated[int | None, "MB of memory at most, planners included."]
States = Annotated[int, "States of the explored graph at most."]
Played = Annotated[Path | None, "What was played so far."]
PlayedAt = Annotated[Played, Option(("--at", "--script"))]
Policy = Annotated[str, "random, or a policy or script file."]
Length = Annotated[int, "Records of a run at most."]
Operator = Annotated[bool, "Hide nothing: show what is secret."]
Ticks = Annotated[int | None, "Stop after this many records."]

# ---- recorded runs ------------------------------------------------------------------------------

Store = Annotated[Path | None, "The run store (.tw/runs.sqlite beside `domains`, else here)."]
Prices = Annotated[
    str | None, "Prices of a million tokens in and out, such as 0.5,1.5, where no cost is told."
]
Run = Annotated[str, Option("run"), "A run."]
RunName = Annotated[
    str | None, Option("run"), "A run's number, its name, or a world; the latest by default."
]
RunNames = Annotated[tuple[str, ...], "Runs; the latest by default."]
Moment = Annotated[str, "RUN, or RUN@N after record N."]
Record = Annotated[int, Option("record"), "After this record; 0 is the start."]
ScriptOn = Annotated[Path | None, "A script that plays on."]
PlayerOn = Annotated[Literal["random", "planner", "adversarial"] | None, "Who plays on."]
Window = Annotated[int, Option(("--window", "--last")), "Number of last ticks."]

# ---- programs beside a run ----------------------------------------------------------------------

Narrator = Annotated[str | None, "A program that tells outcomes in prose."]
NarratorUrl = Annotated[str | None, "The HTTP address of a narrator."]
OperatorOn = Annotated[str | None, "A program that writes rules for unknown words."]
OperatorUrl = Annotated[str | None, "The HTTP address of an operator."]
Grown = Annotated[Path | None, "Write the world's file with the rules of the operator here."]
ReplyTimeout = Annotated[float, "Seconds for an answer of a program at most."]

# ---- learning, judging, and benchmarks ----------------------------------------------------------

Journal = Annotated[
    Path | None, "Keep finished parts here: the same command goes on after a break."
]
Report = Annotated[Path | None, "Write a report to this HTML file."]
Contract = Annotated[str, "game, pddl, free, rows:FILE, or a JSON file."]
Questions = Annotated[Path, "The folder of a set of questions."]
ToldRules = Annotated[str, "none, english, tw, or a file: the rules that are told."]
Answers = Annotated[Path | None, OUTPUT, "The transcript to write."]
Page = Annotated[Path | None, OUTPUT, "Write the tables here, as Markdown."]
Planners = Annotated[
    tuple[Literal["mcts", "cem"], ...], Option("--planner"), "Who plans: mcts, cem."
]
