"""The verbs that look ahead: plan, hint, audit, and doctor, which tells of the planners."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from tokenworld.cli.frame import app, verb
from tokenworld.cli.parameters import Flag, Goal, Json, Limit, Played, Seed, States, World

if TYPE_CHECKING:
    from tokenworld.tools.output import Output

_ENCODINGS = "Only on this encoding: E, D (Fast Downward) or A (ENHSP)."
_ENGINES = "Only this engine: own, width, hmax, hadd, ff, blind, lama, symk, enhsp or up:NAME."


@app.command
def plan(
    world: World,
    problem: Annotated[
        Path | None, Parameter(help="The problem, where the first file is a PDDL domain.")
    ] = None,
    /,
    *,
    goal: Goal = None,
    luck: Annotated[
        Literal["possible", "certain", "probability"],
        Parameter(help="Luck is the planner's choice, or an adversary, or weighed."),
    ] = "possible",
    policy: Annotated[Path | None, Parameter(help="Write what to do in each state here.")] = None,
    certificate: Annotated[Path | None, Parameter(help="Write a certificate here.")] = None,
    check: Annotated[Path | None, Parameter(help="Check a certificate; 1 if it fails.")] = None,
    why: Annotated[Flag, Parameter(help="All of why it is unwinnable.")] = False,
    explain: Annotated[Flag, Parameter(help="What each encoding takes.")] = False,
    engine: Annotated[str | None, Parameter(help=_ENGINES)] = None,
    encoding: Annotated[str | None, Parameter(help=_ENCODINGS)] = None,
    optimal: Annotated[Flag, Parameter(help="A plan proved cheapest.")] = False,
    top: Annotated[int | None, Parameter(help="So many plans, cheapest first.")] = None,
    all_optimal: Annotated[Flag, Parameter(help="All cheapest plans.")] = False,
    honest: Annotated[Flag, Parameter(help="One plan, whatever is secret.")] = False,
    quality: Annotated[
        Literal["satisficing", "anytime"] | None,
        Parameter(help="The first plan there is, or ever better ones."),
    ] = None,
    time_limit: Limit = 60.0,
    states: States = 200_000,
    seed: Seed = 0,
    json: Json = False,
) -> int:
    """Is the goal reachable? Winnable (0) with a plan, unwinnable (1) with proof, unknown (3)."""
    from tokenworld.tools.plan_extras import Extras
    from tokenworld.tools.solving import plan_luck as plan_world

    extras = Extras(
        certificate, check, why, explain, engine, optimal, top, all_optimal, encoding, honest,
        quality,
    )  # fmt: skip

    def work(out: Output) -> int:
        if problem is not None or world.lower().endswith(".pddl"):
            from tokenworld.tools.importing import plan_pddl

            pair, more = (Path(world), problem), extras.asked or luck != "possible" or policy
            return plan_pddl(
                *pair, out, goal=goal, time_limit=time_limit, seed=seed, more=bool(more)
            )
        return plan_world(
            world,
            out,
            luck=luck,
            goal=goal,
            states=states,
            time_limit=time_limit,
            seed=seed,
            policy=policy,
            extras=extras,
        )

    return verb(json, work)


@app.command
def hint(
    world: World,
    /,
    *,
    script: Played = None,
    goal: Goal = None,
    time_limit: Limit = 20.0,
    seed: Seed = 0,
    json: Json = False,
) -> int:
    """The next step of a shortest plan, the distance, and what every way must pass."""
    from tokenworld.tools.hinting import hint_after

    return verb(
        json,
        lambda out: hint_after(
            world, out, script=script, goal=goal, time_limit=time_limit, seed=seed
        ),
    )


@app.command
def audit(
    world: World,
    /,
    *,
    goal: Goal = None,
    states: States = 1_000_000,
    time_limit: Limit = 60.0,
    past_goal: Annotated[Flag, Parameter(help="Count what follows the goal as well.")] = False,
    graph: Annotated[Path | None, Parameter(help="Draw the states: FILE.dot or FILE.svg.")] = None,
    json: Json = False,
) -> int:
    """What can become of a world: dead ends and how cruel they are, and what never happens."""
    from tokenworld.tools.auditing import audit as audit_world

    def work(out: Output) -> int:
        return audit_world(
            world, out, goal=goal, states=states, time_limit=time_limit, graph=graph,
            past_goal=past_goal,
        )  # fmt: skip

    return verb(json, work)


@app.command
def doctor(*, json: Json = False) -> int:
    """Which planners are installed, and how to install the others."""
    from tokenworld.tools.doctoring import doctor as examine

    return verb(json, examine)
