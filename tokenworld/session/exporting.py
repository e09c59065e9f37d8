"""A world as PDDL, from its start state, and plans of such a pair brought back."""

from __future__ import annotations

from functools import partial

from tokenworld.engine import EngineSimulator
from tokenworld.planning import Verdict
from tokenworld.planning.pddl.export import (
    PddlExport,
    export_ppddl,
    export_world,
    sanitize,
)
from tokenworld.planning.refereed import fitted, refereed
from tokenworld.session.loading import OpenWorld
from tokenworld.session.solving import wins_under_seed

__all__ = ["export", "read_plan"]

FOREIGN = "the plan given"
"""Who found a plan that came from outside."""


def export(
    world: OpenWorld, goal: str | None, *, names: bool = False, luck: bool = False
) -> PddlExport:
    """Domain and problem of a world; ``goal`` names one of its goal lines.

    ``names``: with names that every planner takes. ``luck``: as PPDDL, with probabilities.
    """
    start = world.engine.start()
    simulator = EngineSimulator(world.engine, start)
    if luck:
        found = export_ppddl(simulator.instance_at(start), partial(simulator.read, start), goal)
    else:
        found = export_world(simulator, start, goal)
    return sanitize(found) if names else found


def read_plan(world: OpenWorld, exported: PddlExport, plan: str, goal: str | None) -> Verdict | str:
    """The verdict *winnable* of a plan of an exported pair, or a clause that says why it is none.

    Raises `Failure` (TW0812) for a step that the pair does not have.
    """
    start = world.engine.start()
    simulator = EngineSimulator(world.engine, start)
    steps = exported.steps(plan)
    commands = [step.command for step in steps]
    found = fitted(simulator, start, commands, goal)
    if found is None:
        return "its steps do not lead to the goal"
    verdict = refereed(simulator, start, found, goal, FOREIGN, "", polish=False)
    if isinstance(verdict, str):
        return verdict
    return verdict.with_seed(start.seed, wins_under_seed(world.engine, start, verdict.steps, goal))
