"""The verb that asks one question many times: sweep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from tokenworld.cli.frame import app, verb
from tokenworld.cli.parameters import Goal, Json, Length, Policy, States, Store, World


@app.command
def sweep(
    world: World,
    /,
    *,
    param: Annotated[
        tuple[str, ...],
        Parameter(
            help="NAME=VALUES, as `p=1..9`, `p=1..9..2`, `p=a,b`; for each param.", negative=""
        ),
    ] = (),
    what: Annotated[
        Literal["plan", "rollout", "audit"], Parameter(help="What is asked of each cell.")
    ] = "plan",
    seeds: Annotated[int, Parameter(help="So many seeds for each combination of values.")] = 1,
    seed: Annotated[int, Parameter(help="The first seed.")] = 0,
    goal: Goal = None,
    time_limit: Annotated[float, Parameter(help="Seconds for a cell at most.")] = 60.0,
    states: States = 1_000_000,
    worlds: Annotated[int, Parameter(help="Runs of a cell, for rollouts.")] = 1,
    ticks: Length = 1000,
    policy: Policy = "random",
    jobs: Annotated[int | None, Parameter(help="So many processes; one a core by default.")] = None,
    dask: Annotated[
        str | None, Parameter(help="A Dask scheduler's address, or local:N for N processes.")
    ] = None,
    csv: Annotated[Path | None, Parameter(help="Write a line for each cell here.")] = None,
    store: Store = None,
    json: Json = False,
) -> int:
    """Plan, play or audit a world for many values of its params and many seeds; resumable."""
    from tokenworld.tools.sweeping import Asked
    from tokenworld.tools.sweeping import sweep as sweep_world

    asked = Asked(
        param, what, seeds, seed, goal, time_limit, states, worlds, ticks, policy, jobs, dask,
        csv, store,
    )  # fmt: skip
    return verb(json, lambda out: sweep_world(world, out, asked))
