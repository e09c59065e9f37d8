"""Which names may stand for something that is no more.

The checker proves that a variable is never `none`, and knows nothing of destruction: an object that
a rule names, the acting object, or an argument of a long action may be destroyed before the rule is
read. Its attributes then read as `none` (language.md §4), so terms over such names are emitted with
care. Programs that destroy nothing pay nothing.
"""

from __future__ import annotations

from tokenworld.engine.births import given_bodies, play_bodies
from tokenworld.model import Create, Destroy, ObjectType, Program, effects_in

__all__ = ["breaking_off_destroys", "mortal_types"]


def mortal_types(program: Program) -> frozenset[str]:
    """The types of which an object may be destroyed in play, or that it may be taken for."""
    births = (birth.body for birth in program.births)
    bodies = (*play_bodies(program), *births, *given_bodies(program))
    doomed = {
        effect.target.type.name
        for body in bodies
        for effect in effects_in(body)
        if isinstance(effect, Destroy) and isinstance(effect.target.type, ObjectType)
    }
    if not doomed:
        return frozenset()
    below = {name: _below(program, name) for name in (*program.types, *doomed)}
    return frozenset(
        name for name, own in below.items() if any(own & below[other] for other in doomed)
    )


def breaking_off_destroys(program: Program) -> bool:
    """Whether breaking off a long action may destroy what the next command names."""
    return any(
        isinstance(effect, (Create, Destroy))  # births may destroy as well
        for action in program.actions.values()
        for effect in effects_in(action.cancelled)
    )


def _below(program: Program, name: str) -> frozenset[str]:
    return frozenset(one for one in program.types if program.is_subtype(one, name)) | {name}
