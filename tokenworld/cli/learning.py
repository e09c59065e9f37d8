"""The verbs that learn from play and compare plans: learn fit, propose, explore, rank; duel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from tokenworld.cli.frame import Flag, Json, Seed, World, app, does

learn = App(name="learn", help="Learn rules, and numbers in rules, from recorded play.")
app.command(learn)


Journal = Annotated[
    Path | None,
    Parameter(help="Keep finished parts here: the same command goes on after a break."),
]


Report = Annotated[Path | None, Parameter(help="Write a report to this HTML file.")]


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
    write: Annotated[
        Flag, Parameter(help="Write the values into the rules; replace files.")
    ] = False,
    noise: Annotated[
        float | None, Parameter(help="The probability of rows that the rules cannot bring forth.")
    ] = None,
    journal: Journal = None,
    report: Report = None,
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
    world: Annotated[
        str | None,
        Parameter(help="FILE[:world]: keep these rules, and add what the rows show besides."),
    ] = None,
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
    noisy: Annotated[
        Flag, Parameter(help="Any change may come by chance, though no state was met twice.")
    ] = False,
    proposer: Annotated[
        str | None, Parameter(help="A program that is asked for laws, in lines of JSON.")
    ] = None,
    reply_timeout: Annotated[
        float, Parameter(name="--reply-timeout", help="Seconds that one answer may take.")
    ] = 60.0,
    journal: Journal = None,
    report: Report = None,
    curve: Annotated[
        tuple[int, ...],
        Parameter(help="Learn from so many rows too, for the report.", negative=""),
    ] = (),
    write: Annotated[Flag, Parameter(help="Replace files that are there.")] = False,
    json: Json = False,
) -> None:
    """Learn the rules of a world from recorded rows alone: types, commands, effects and laws."""


@does("learn.exploring.explore", learn.command, name="explore")
def explore_(
    world: World,
    /,
    *,
    output: Annotated[
        Path, Parameter(name=["--output", "-o"], help="The file for the rows (.jsonl).")
    ],
    policy: Annotated[
        Literal["novelty", "random"],
        Parameter(help="Prefer commands that were given least often in a state, or draw any."),
    ] = "novelty",
    ticks: Annotated[int, Parameter(help="How many rows.")] = 400,
    episode: Annotated[int, Parameter(help="Rows after which a new game begins.")] = 100,
    seed: Seed = 0,
    write: Annotated[Flag, Parameter(help="Replace a file that is there.")] = False,
    json: Json = False,
) -> None:
    """Play a world without a goal and record what happens as rows, to learn from."""


@does("learn.ranking.rank", learn.command, name="rank")
def rank_(
    world: World,
    rows: Annotated[
        tuple[Path, ...], Parameter(help="Files of `tw runs rows` or `tw learn explore`.")
    ] = (),
    /,
    *,
    reference: Annotated[
        str | None, Parameter(help="A world that is right: mutants that it allows are left out.")
    ] = None,
    distractors: Annotated[int, Parameter(help="Mutants of each observed successor.")] = 8,
    most: Annotated[int, Parameter(help="Transitions that are ranked.")] = 400,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Rank observed successors among mutants by their probability under the rules."""


@does("learn.duel.duel")
def duel(
    world: World,
    first: Annotated[str, Parameter(help="A plan: a script, a policy of `tw plan`, or `random`.")],
    second: Annotated[str, Parameter(help="The other plan.")],
    /,
    *,
    by: Annotated[
        Literal["reward", "score", "won"], Parameter(help="The value of a run.")
    ] = "reward",
    worlds: Annotated[int, Parameter(help="Runs of each plan, with equal seeds.")] = 100,
    ticks: Annotated[int, Parameter(help="Records of a run at most.")] = 1000,
    seed: Seed = 0,
    reference: Annotated[
        str | None,
        Parameter(
            help="A second world: play there too, and tell whether both rank the plans alike."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Compare two plans by their mean return, with its 95 % interval."""
