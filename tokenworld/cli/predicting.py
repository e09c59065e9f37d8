"""The verb for predictors of worlds: simbench, with make, run, score and play."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from tokenworld.cli.frame import Json, Prices, Seed, World, app, does

simbench = App(
    name="simbench", help="Make a benchmark of a world for predictors, run it, and score answers."
)
app.command(simbench)

Set = Annotated[Path, Parameter(help="The folder of a set of questions.")]
Answers = Annotated[
    Path | None, Parameter(name=["-o", "--output"], help="The transcript to write.")
]


@does("simbench.making.make", simbench.command)
def make(
    world: World,
    /,
    *,
    recorded: Annotated[
        tuple[Path, ...],
        Parameter(name="--from", negative="", help="Files of recorded rows to choose from."),
    ] = (),
    rows: Annotated[int, Parameter(help="Rows for each task.")] = 60,
    seed: Seed = 0,
    output: Annotated[Path, Parameter(name=["-o", "--output"], help="The folder to write.")],
    json: Json = False,
) -> None:
    """Make a set of questions: what does this world make of a state and a command?"""


@does("simbench.playing.run", simbench.command)
def run(
    folder: Set,
    /,
    *,
    predictor: Annotated[
        str | None, Parameter(help="A program: a question a line, an answer a line.")
    ] = None,
    url: Annotated[str | None, Parameter(help="An HTTP address that answers a POST.")] = None,
    replay: Annotated[
        Path | None, Parameter(help="Take the answers from a transcript instead.")
    ] = None,
    mode: Annotated[
        Literal["full", "diff"], Parameter(help="Ask for the whole state, or for what changes.")
    ] = "full",
    rules: Annotated[
        str, Parameter(help="none, english, tw, or a file: the rules that are told.")
    ] = "english",
    examples: Annotated[int, Parameter(help="Rows that are shown with their answers.")] = 1,
    output: Answers = None,
    reply_timeout: Annotated[float, Parameter(help="Seconds for one answer.")] = 60.0,
    retries: Annotated[
        int, Parameter(help="How often an answer that cannot be read is asked for again.")
    ] = 2,
    json: Json = False,
) -> None:
    """Ask a predictor the questions of a set; continue where an earlier run stopped."""


@does("simbench.games.score", simbench.command)
def score(
    folder: Annotated[
        Path, Parameter(help="The folder of a set of questions, or of several sets.")
    ],
    answers: Annotated[tuple[Path, ...], Parameter(help="Transcripts of runs.")] = (),
    /,
    *,
    output: Annotated[
        Path | None,
        Parameter(name=["-o", "--output"], help="A folder for score.md and score.html."),
    ] = None,
    prices: Prices = None,
    json: Json = False,
) -> None:
    """Score answers: by part, verb and property, over several steps, beside baselines.

    For a folder of sets, name transcripts as they are called in each set; the tables are then means
    over the games.
    """


@does("simbench.playing.play", simbench.command)
def play(
    folder: Set,
    /,
    *,
    rules: Annotated[
        str, Parameter(help="none, english, tw, or a file: the rules that are told.")
    ] = "english",
    questions: Annotated[
        int | None, Parameter(help="Questions of this sitting; all that are left by default.")
    ] = None,
    output: Answers = None,
    json: Json = False,
) -> None:
    """Answer the questions of a set yourself: what will be different?"""
