"""Preconditions of packing: which worlds have packed states at all."""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.core import Rules, lowered
from tokenworld.core.nodes import (
    BranchDraw,
    Call,
    Constant,
    Draw,
    Let,
    PickDraw,
    Statement,
    Term,
    UniformDraw,
)
from tokenworld.core.rules import Action
from tokenworld.core.walk import is_draw, statements_in, subterms, terms_in
from tokenworld.ground import Instance, NotConstant, known_value


def is_finite(instance: Instance, goal: str | None) -> bool:
    """Whether what the language has can be told apart by the values of slots alone."""
    program, world = instance.program, instance.world
    return (
        (goal is None or not _history(instance))
        and all(line.ending in ("goal", "lose") or not world.endless for line in world.endings)
        and not program.births
        and not any(map(_draws_late, lowered(program).actions.values()))
    )


def _draws_late(action: Action) -> bool:
    """Whether a long action draws: what is drawn where it is refused at its end counts for nothing,
    and is told all the same."""
    takes = action.takes
    free = isinstance(takes, Constant) and takes.value == 0
    long = not free and (takes is not None or action.until is not None)
    return long and any(map(is_draw, statements_in((*action.guards, *action.body))))


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
        and not any(one.draws for one in lowered(program).in_play)
        and all(one.takes is None and one.until is None for one in program.actions.values())
        and len(goals) == len(world.endings)
        and (goal is None or len(goals) == 1)
    )


def _statements(rules: Rules) -> Iterator[Statement]:
    """Every statement of laws and actions."""
    for law in rules.laws.values():
        yield from statements_in(law.body)
    for action in rules.actions.values():
        yield from statements_in((*action.guards, *action.body, *action.cancelled))


# ---- odds -------------------------------------------------------------------------------------


def fixed_odds(instance: Instance) -> bool:
    """Whether no state changes the odds of a draw: a chance always has the same probability, and a
    pick the same weight for all."""
    return all(
        _fixed(one.value, instance)
        for one in _statements(lowered(instance.program))
        if isinstance(one, Let) and isinstance(one.value, (BranchDraw, PickDraw, UniformDraw))
    )


def _fixed(draw: Draw, instance: Instance) -> bool:
    if isinstance(draw, BranchDraw):
        return all(_value(one, instance) is not None for one in draw.probabilities)
    return isinstance(draw, PickDraw) and draw.key != "weight"


def _value(term: Term, instance: Instance) -> object:
    """The value of a term that no state decides, else ``None``."""
    try:
        return known_value(term, instance.numbers, instance.params)
    except (NotConstant, KeyError):
        return None


# ---- the clock --------------------------------------------------------------------------------


def rings(instance: Instance) -> Iterator[int]:
    """The moduli by which rules read `tick()`: states differ in them even if that is no matter."""
    for term in _terms(lowered(instance.program), instance.world.name):
        for part in subterms(term):
            if not isinstance(part, Call) or part.op != "mod":
                continue
            ticks = isinstance(part.args[0], Call) and part.args[0].op == "tick"
            modulus = _value(part.args[1], instance) if ticks else None
            if isinstance(modulus, int) and modulus > 1:
                yield modulus


def _terms(rules: Rules, world: str) -> Iterator[Term]:
    """The terms of actions, laws, births, invariants, conserved sums, endings and derives."""
    for action in rules.actions.values():
        yield from terms_in((*action.guards, *action.body, *action.cancelled))
        yield from (one for one in (action.takes, action.until, action.cost) if one is not None)
    for law in rules.laws.values():
        yield from () if law.when is None else (law.when,)
        yield from terms_in(law.body)
    for birth in rules.births:
        yield from terms_in(birth.body)
    yield from (one.condition for one in rules.invariants.values())
    yield from (one.value for one in rules.conserves.values())
    yield from (one.condition for one in rules.worlds[world].endings)
    yield from (one.value for one in rules.derives.values())
