"""Goals named on the command line."""

from __future__ import annotations

from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean
from tokenworld.session import OpenWorld

__all__ = ["check_goal"]


def check_goal(opened: OpenWorld, goal: str | None) -> None:
    """Usage, not a verdict: `Failure` (TW0006) for a goal that the world does not have."""
    world = opened.world
    names = [line.name for line in world.goals]
    if goal is None or goal in names:
        return
    known = ", ".join(f"`{name}`" for name in names)
    hint = did_you_mean(goal, names) or (f"Its goals are {known}." if names else "It has none.")
    what = f"The world `{world.name}` has no goal `{goal}`."
    raise Failure(Diagnostic("TW0006", what, world.span, "this world", hint=hint))
