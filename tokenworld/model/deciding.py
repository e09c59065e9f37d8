"""The terms by which rules decide what happens: conditions, values and arguments, not texts.

What they read is what states can be told apart by; what they do not read is only kept or shown.
"""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.model.effects import Body, Let
from tokenworld.model.program import Program
from tokenworld.model.rules import Action, Require
from tokenworld.model.terms import Term
from tokenworld.model.walk import effects_in, terms_of
from tokenworld.model.worlds import World

__all__ = ["body_terms", "guard_terms", "rule_terms"]


def body_terms(body: Body) -> Iterator[Term]:
    """The terms that the changes of a body evaluate, nested ones included."""
    for effect in effects_in(body):
        yield from terms_of(effect)


def guard_terms(action: Action) -> Iterator[Term]:
    """The conditions of an action's requires and the values of the lets between them."""
    for guard in action.guards:
        match guard:
            case Require(condition=condition):
                yield condition
            case Let():
                yield from terms_of(guard)


def rule_terms(program: Program, world: World) -> Iterator[Term]:
    """The terms of actions, laws, births, invariants, conserved sums and endings.

    Derived facts are not followed, and watches, awards and scores decide nothing here.
    """
    for action in program.actions.values():
        yield from guard_terms(action)
        yield from (t for t in (action.takes, action.until, action.cost) if t is not None)
        yield from (*body_terms(action.body), *body_terms(action.cancelled))
    for law in program.laws.values():
        yield from () if law.when is None else (law.when,)
        yield from body_terms(law.body)
    for birth in program.births:
        yield from body_terms(birth.body)
    yield from (one.condition for one in program.invariants.values())
    yield from (one.value for one in program.conserves.values())
    yield from (line.condition for line in world.endings)
