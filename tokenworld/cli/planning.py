"""The verbs that look ahead or go to PDDL: plan, hint, audit, doctor, sweep, export, import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tokenworld.cli.frame import (
    Flag,
    Goal,
    Json,
    Length,
    Limit,
    Memory,
    Operator,
    Played,
    Policy,
    Seed,
    States,
    Store,
    Whole,
    World,
    app,
    does,
    verb,
)

_ENCODINGS = "Only on this encoding: E (Fast Downward) or A (ENHSP)."
_ENGINES = "Only this engine: own, width, hmax, hadd, ff, blind, lama, symk, enhsp or up:NAME."


@does("plan.verb.plan_asked", limited=True)
def plan(
    world: World,
    problem: Annotated[
        Path | None, Parameter(help="The problem, where the first file is a PDDL domain.")
    ] = None,
    /,
    *,
    goal: Goal = None,
    luck: Annotated[
        Literal["possible", "least", "certain", "probability"],
        Parameter(help="Who decides draws: the planner; it, but rarely; an adversary; or chance."),
    ] = "possible",
    policy: Annotated[
        Path | None, Parameter(help="Write the command of each state to this file.")
    ] = None,
    plan_file: Annotated[
        Path | None, Parameter(help="Write the plan in PDDL, for validators such as VAL.")
    ] = None,
    certificate: Annotated[Path | None, Parameter(help="Write a certificate here.")] = None,
    check: Annotated[Path | None, Parameter(help="Check a certificate; 1 if it fails.")] = None,
    why: Annotated[
        Flag, Parameter(help="Print the whole reason why a goal is unwinnable.")
    ] = False,
    explain: Annotated[Flag, Parameter(help="List what each encoding supports.")] = False,
    engine: Annotated[str | None, Parameter(help=_ENGINES)] = None,
    encoding: Annotated[str | None, Parameter(help=_ENCODINGS)] = None,
    alias: Annotated[
        str | None, Parameter(help="Only Fast Downward with this alias, as lama-first.")
    ] = None,
    search: Annotated[
        str | None, Parameter(help="Only Fast Downward with this search, as 'astar(lmcut())'.")
    ] = None,
    optimal: Annotated[Flag, Parameter(help="Find a plan that is proved cheapest.")] = False,
    top: Annotated[int | None, Parameter(help="This many plans, cheapest first.")] = None,
    all_optimal: Annotated[Flag, Parameter(help="All cheapest plans.")] = False,
    honest: Annotated[
        Flag, Parameter(help="Find one plan that wins whatever the secrets are.")
    ] = False,
    branches: Annotated[
        Flag, Parameter(help="With --honest: a plan that branches on what the player sees.")
    ] = False,
    quality: Annotated[
        Literal["satisficing", "anytime"] | None,
        Parameter(help="Stop at the first plan, or look for better ones until the time is over."),
    ] = None,
    time_limit: Limit = 60.0,
    states: States = 200_000,
    memory_limit: Memory = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Is the goal reachable? Winnable (0) with a plan, unwinnable (1) with proof, unknown (3)."""


@does("hint.hint_after", limited=True)
def hint(
    world: World,
    /,
    *,
    script: Played = None,
    goal: Goal = None,
    time_limit: Limit = 20.0,
    operator: Operator = False,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """The next step of a shortest plan, its length, and what every plan must pass."""


@does("audit.verb.audit", limited=True)
def audit(
    world: World,
    /,
    *,
    goal: Goal = None,
    states: States = 1_000_000,
    time_limit: Limit = 60.0,
    memory_limit: Memory = None,
    past_goal: Annotated[Flag, Parameter(help="Explore the states after the goal too.")] = False,
    graph: Annotated[Path | None, Parameter(help="Draw the states: FILE.dot or FILE.svg.")] = None,
    json: Json = False,
) -> None:
    """Explore a world: its dead ends, how cruel they are, and the rules that never happen."""


@does("doctor.doctor")
def doctor(*, json: Json = False) -> None:
    """List the installed planners, and the commands that install the others."""


@does("pddl.export_pddl", limited=True)
def export(
    world: World,
    /,
    *,
    pddl: Annotated[Flag, Parameter(help="Write PDDL.")] = False,
    ppddl: Annotated[Flag, Parameter(help="Write PPDDL, with chances.")] = False,
    sanitize: Annotated[Flag, Parameter(help="Names that every planner takes.")] = False,
    output: Annotated[Path | None, Parameter(name=["-o", "--output"], help="A folder.")] = None,
    plan: Annotated[
        Path | None,
        Parameter(
            name="--read-plan", help="Read a plan for the exported files, and play it on the world."
        ),
    ] = None,
    goal: Goal = None,
    time_limit: Limit = 60.0,
    json: Json = False,
) -> None:
    """Write a world as PDDL: `domain.pddl` and `problem.pddl`."""


@does("pddl.import_pddl", name="import")
def import_pddl_(
    domain: Annotated[Path, Parameter(help="A PDDL domain.")],
    problems: Annotated[tuple[Path, ...], Parameter(help="Problems of the domain.")] = (),
    /,
    *,
    output: Annotated[
        Path | None, Parameter(name=["-o", "--output"], help="A folder; printed without it.")
    ] = None,
    force: Annotated[Flag, Parameter(help="Replace a file that is there.")] = False,
    json: Json = False,
) -> None:
    """Convert a PDDL domain and its problems to a `.tw` file; each problem becomes a world."""


@does("equiv.equivalence")
def equiv(
    first: Annotated[str, Parameter(help="A PDDL domain or a `.tw` FILE[:world].")],
    second: Annotated[str, Parameter(help="Another one.")],
    problems: Annotated[tuple[Path, ...], Parameter(help="PDDL problems for both.")] = (),
    /,
    *,
    limit: Annotated[int, Parameter(help="States to explore at most.")] = 10_000,
    walks: Annotated[int, Parameter(help="Random walks beyond the limit.")] = 100,
    json: Json = False,
) -> None:
    """Do two domains behave alike? Equivalent (0), different (1), no difference found (3)."""


@app.command
def sweep(
    world: World,
    more: Annotated[tuple[str, ...], Parameter(help="More worlds, each swept alike.")] = (),
    /,
    *,
    param: Annotated[
        tuple[str, ...],
        Parameter(
            help="NAME=VALUES, as `p=1..9`, `p=1..9..2`, `p=a,b`; for each param.", negative=""
        ),
    ] = (),
    what: Annotated[
        Literal["plan", "rollout", "audit"], Parameter(help="The question for each cell.")
    ] = "plan",
    seeds: Annotated[int, Parameter(help="Number of seeds for each combination of values.")] = 1,
    seed: Annotated[int, Parameter(help="The first seed.")] = 0,
    goal: Goal = None,
    time_limit: Whole = None,
    cell_limit: Annotated[float, Parameter(help="Seconds for a cell at most.")] = 60.0,
    states: States = 1_000_000,
    worlds: Annotated[int, Parameter(help="Runs of a cell, for rollouts.")] = 1,
    ticks: Length = 1000,
    policy: Policy = "random",
    jobs: Annotated[
        int | None, Parameter(help="Number of processes; one per core by default.")
    ] = None,
    dask: Annotated[
        str | None, Parameter(help="A Dask scheduler's address, or local:N for N processes.")
    ] = None,
    engine: Annotated[
        str | None,
        Parameter(help="Plan with this engine only, or with each of several, such as `own,ff`."),
    ] = None,
    csv: Annotated[Path | None, Parameter(help="Write a line for each cell here.")] = None,
    store: Store = None,
    json: Json = False,
) -> int:
    """Plan, play or audit a world for many values of its params and many seeds; resumable."""
    from tokenworld.verbs.audit.analysis import audit_counts
    from tokenworld.verbs.sweep.verb import Asked
    from tokenworld.verbs.sweep.verb import sweep as sweep_world

    asked = Asked(
        param, what, seeds, seed, goal, cell_limit, states, worlds, ticks, policy, jobs, dask,
        engine, csv, store,
    )  # fmt: skip
    return verb(json, lambda out: sweep_world((world, *more), out, asked, audit_counts), time_limit)
