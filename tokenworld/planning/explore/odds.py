"""Whether the odds of all draws are written down as numbers, so that no state can change them."""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.ground import Instance, NotConstant, constant
from tokenworld.model import (
    Chance,
    DrawChance,
    DrawPick,
    DrawUniform,
    Effect,
    Let,
    Pick,
    Term,
    effects_in,
)

__all__ = ["fixed_odds"]


def fixed_odds(instance: Instance) -> bool:
    """Whether a chance always has the same probability, and a pick the same weight for all."""
    return all(_fixed(effect, instance) for effect in _effects(instance))


def _effects(instance: Instance) -> Iterator[Effect]:
    program = instance.program
    for law in program.laws.values():
        yield from effects_in(law.body)
    for action in program.actions.values():
        lets = tuple(one for one in action.guards if isinstance(one, Let))
        yield from effects_in((*lets, *action.body, *action.cancelled))


def _fixed(effect: Effect, instance: Instance) -> bool:
    match effect:
        case Chance(branches=branches):
            return all(_is_number(one.probability, instance) for one in branches)
        case Let(value=DrawChance(probability=probability)):
            return _is_number(probability, instance)
        case Pick(key=key) | Let(value=DrawPick(key=key)):
            return key != "weight"
        case Let(value=DrawUniform()):
            return False
    return True


def _is_number(term: Term, instance: Instance) -> bool:
    try:
        constant(term, instance.numbers, instance.params)
    except (NotConstant, KeyError):
        return False
    return True
