"""The terms by which rules decide what happens: conditions, values and arguments, not texts.

What they read is what states can be told apart by; what they do not read is only kept or shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tokenworld.model.effects import Body, Chance, Draw, Effect, Let, Pick
from tokenworld.model.program import Program
from tokenworld.model.rules import Action, Require
from tokenworld.model.terms import BuiltinCall, Term
from tokenworld.model.walk import effects_in, subterms, terms_of
from tokenworld.model.worlds import World

__all__ = [
    "body_terms",
    "calls",
    "guard_terms",
    "is_draw",
    "is_drawn",
    "looks_back",
    "may_draw",
    "rule_terms",
]


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


def calls(terms: Iterable[Term], *names: str) -> bool:
    """Whether one of these built-in functions is called; derived facts are not followed."""
    return any(
        isinstance(part, BuiltinCall) and part.name in names
        for term in terms
        for part in subterms(term)
    )


def looks_back(terms: Iterable[Term]) -> bool:
    """Whether a value at the start of the tick is read; derived facts are not followed."""
    return any(getattr(part, "was", False) for term in terms for part in subterms(term))


def is_draw(effect: Effect) -> bool:
    """Whether a change draws (``by least`` and ``by most`` do not, and are counted too)."""
    return is_drawn(effect) or isinstance(effect, (Chance, Pick))


def is_drawn(effect: object) -> bool:
    """Whether it names a value that is drawn."""
    return isinstance(effect, Let) and isinstance(effect.value, Draw)


def may_draw(body: Body) -> bool:
    """Whether something in a body draws."""
    return any(is_draw(effect) for effect in effects_in(body))
