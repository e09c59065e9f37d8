"""What a world must be like to be explored as packed states."""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.ground import Instance, NotConstant, constant
from tokenworld.model import (
    Action,
    Arithmetic,
    Body,
    BuiltinCall,
    Effect,
    Let,
    NumberLiteral,
    Term,
    effects_in,
    is_draw,
    may_draw,
    rule_terms,
    subterms,
)

__all__ = ["is_finite", "is_plain", "rings"]


def is_finite(instance: Instance, goal: str | None) -> bool:
    """Whether what the language has can be told apart by the values of slots alone."""
    program, world = instance.program, instance.world
    return (
        (goal is None or not _history(instance))
        and all(line.ending in ("goal", "lose") or not world.endless for line in world.endings)
        and not program.births
        and not any(_draws_late(one) for one in program.actions.values())
    )


def _draws_late(action: Action) -> bool:
    """Whether a long action draws: what is drawn where it is refused at its end counts for nothing,
    and is told all the same."""
    free = isinstance(action.takes, NumberLiteral) and action.takes.value == 0
    long = not free and (action.takes is not None or action.until is not None)
    return long and may_draw((*_lets(action), *action.body))


def _history(instance: Instance) -> bool:
    """Whether play goes on past goals, so that it counts which of them were reached."""
    world = instance.world
    return world.endless and world.outcomes == "latched" and len(world.goals) > 1


def is_plain(instance: Instance, goal: str | None) -> bool:
    """Whether nothing happens but what is commanded, and play ends at the goal only."""
    program, world = instance.program, instance.world
    by_itself = (program.laws, program.watches, program.invariants, world.awards)
    goals = [line for line in world.endings if line.ending == "goal"]
    return (
        not any(by_itself)
        and not world.endless
        and world.outcomes == "latched"
        and not any(is_draw(effect) for effect in _effects(instance))
        and all(one.takes is None and one.until is None for one in program.actions.values())
        and len(goals) == len(world.endings)
        and (goal is None or len(goals) == 1)
    )


def _effects(instance: Instance) -> Iterator[Effect]:
    program = instance.program
    bodies: list[Body] = [law.body for law in program.laws.values()]
    for action in program.actions.values():
        bodies += [_lets(action), action.body, action.cancelled]
    for body in bodies:
        yield from effects_in(body)


def _lets(action: Action) -> Body:
    return tuple(one for one in action.guards if isinstance(one, Let))


def rings(instance: Instance) -> Iterator[int]:
    """The moduli by which rules read `tick()`: states differ in them even if that is no matter."""
    program = instance.program
    derived = (one.value for one in program.derives.values())
    for term in (*rule_terms(program, instance.world), *derived):
        for part in subterms(term):
            match part:
                case Arithmetic(op="mod", left=BuiltinCall(name="tick"), right=right):
                    if (modulus := _number(right, instance)) > 1:
                        yield modulus


def _number(term: Term, instance: Instance) -> int:
    try:
        value = constant(term, instance.numbers, instance.params)
    except (NotConstant, KeyError):
        return 0
    return value if isinstance(value, int) else 0
