"""Why a goal is out of reach: not even by rules that never take anything away (TW0803)."""

from __future__ import annotations

from tokenworld.diagnostics import Diagnostic
from tokenworld.ground import Simulator, StateT

__all__ = ["hopeless", "out_of_reach"]

_SMALL = 50_000
"""Nodes of decision diagrams: so much work a reason is worth where the answer is known."""


def out_of_reach(
    simulator: Simulator[StateT], state: StateT, goal: str | None
) -> Diagnostic | None:
    """The finding that a goal is unreachable even when relaxed, ``None`` if it is not, or if the
    world is too large to say so quickly."""
    from tokenworld.planning.lower.encode import Unencodable, encode

    encoding = encode(simulator.instance_at(state), simulator, state, goal, limit=_SMALL)
    if isinstance(encoding, Unencodable) or not encoding.unreachable:
        return None
    return hopeless(simulator, goal)


def hopeless(simulator: Simulator[StateT], goal: str | None) -> Diagnostic:
    """The finding, at the goal line."""
    lines = [one for one in simulator.instance.world.goals if goal in (None, one.name)]
    names = " and ".join(f"`{line.name}`" for line in lines)
    are, reach = ("is", "the goal") if len(lines) == 1 else ("are", "the goals")
    return Diagnostic(
        "TW0803",
        f"{reach.capitalize()} {names} {are} out of reach even if nothing were ever undone.",
        lines[0].span,
        "no rule leads to this",
        hint="Add a rule that can make it true, or correct the goal.",
    )
