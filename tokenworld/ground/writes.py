"""Which stored facts a body may change, and which ones play leaves as they are."""

from __future__ import annotations

from collections.abc import Mapping

from tokenworld.model import (
    Body,
    Create,
    Destroy,
    Fluent,
    Program,
    effects_in,
    targets_of,
)

__all__ = ["changed_in_play", "written"]


def written(program_fluents: Mapping[str, Fluent], body: Body) -> frozenset[str]:
    """The ids of the fluents a body may change (everything, if it destroys objects).

    Of an object that it creates only the fields count: what it has else depends on its type alone.
    """
    found: set[str] = set()
    for effect in effects_in(body):
        found |= {target.fluent for target in targets_of(effect)}
        match effect:
            case Destroy():
                found |= set(program_fluents)
            case Create(fields=fields):
                found |= {field.fluent for field in fields}
            case _:
                pass
    return frozenset(found)


def changed_in_play(program: Program) -> frozenset[str]:
    """The ids of the fluents that some action, law or birth may change."""
    bodies: list[Body] = [law.body for law in program.laws.values()]
    bodies += [birth.body for birth in program.births]
    for action in program.actions.values():
        bodies += [action.body, action.cancelled]
    return frozenset[str]().union(*(written(program.fluents, body) for body in bodies))
