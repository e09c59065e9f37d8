"""What may be asked of a planner at all."""

from __future__ import annotations

from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean
from tokenworld.ground import Simulator, StateT, refuse_huge

__all__ = ["require_goal"]


def require_goal(simulator: Simulator[StateT], goal: str | None) -> None:
    """`Failure` with TW0201 for a goal that the world does not have, or where it has none.

    TW0813 where the world is too large for any tick of it.
    """
    refuse_huge(simulator.instance)
    world = simulator.instance.world
    names = [line.name for line in world.goals]
    if goal in names or (goal is None and names):
        return
    if not names:
        message = f"The world `{world.name}` has no goal."
        hint: str | None = "Add a line such as `goal done: …` to the world."
    else:
        message = f"The world `{world.name}` has no goal `{goal}`."
        known = ", ".join(f"`{name}`" for name in names)
        hint = did_you_mean(str(goal), names) or f"Name one of its goals: {known}."
    raise Failure(Diagnostic("TW0201", message, world.span, "this world", hint=hint))
