"""Requires that the language adds to those of the author: ranges, unique values, places."""

from __future__ import annotations

from tokenworld.engine.births import creates
from tokenworld.ground import written
from tokenworld.model import Body, Program, Transfer, effects_in

__all__ = ["never_refused", "shaped_or_bounded"]


def shaped_or_bounded(program: Program) -> frozenset[str]:
    """The fluents of which a write may be refused: unclamped numbers, unique values, places."""
    return frozenset(
        name
        for name, fluent in program.fluents.items()
        if (fluent.type.kind == "number" and not fluent.clamped)
        or fluent.unique
        or fluent.nested
        or fluent.acyclic
    )


def never_refused(program: Program) -> dict[str, bool]:
    """Of each action whether it has none of them: it writes no bounded, unique or nested slot and
    transfers nothing."""
    fluents, risky = dict(program.fluents), shaped_or_bounded(program)
    births = [birth.body for birth in program.births]
    found = {}
    for name, action in program.actions.items():
        bodies = [action.body, *(births if creates([action.body]) else ())]
        found[name] = not any(written(fluents, body) & risky or _transfers(body) for body in bodies)
    return found


def _transfers(body: Body) -> bool:
    """Whether a body may be refused for a negative amount."""
    return any(isinstance(effect, Transfer) for effect in effects_in(body))
