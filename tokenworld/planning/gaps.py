"""What our own search leaves out: with such a rule it may find a plan, but proves nothing.

A searcher asks the interpreter for legal commands that take time and for all outcomes of chance.
Rules that change a world in other ways are named here, so that an empty search is never taken
for a proof.
"""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.diagnostics import Diagnostic, Span
from tokenworld.ground import Instance
from tokenworld.model import (
    Action,
    AddFact,
    Assign,
    Body,
    Create,
    Destroy,
    DrawUniform,
    Let,
    NumberLiteral,
    NumberType,
    ParamRead,
    RemoveFact,
    Swap,
    Transfer,
    effects_in,
)

__all__ = ["gaps"]

_CHANGES = (Assign, AddFact, RemoveFact, Create, Destroy, Transfer, Swap)


def gaps(instance: Instance) -> tuple[Diagnostic, ...]:
    """The rules that our own search does not follow, each with its place (TW0801)."""
    program = instance.program
    found = [gap for action in program.actions.values() for gap in _action_gaps(instance, action)]
    for law in program.laws.values():
        found += _uniform_gaps(f"law `{law.name}`", law.body)
    return tuple(found)


def _action_gaps(instance: Instance, action: Action) -> Iterator[Diagnostic]:
    rule = f"action `{action.name}`"
    lets = tuple(guard for guard in action.guards if isinstance(guard, Let))
    if _may_be_free(instance, action) and _changes_state(action.body):
        yield _gap(rule, "changes the world without taking time", action.span)
    if _changes_state(action.cancelled):
        yield _gap(rule, "changes the world when it is cancelled", action.span)
    yield from _uniform_gaps(rule, (*lets, *action.body, *action.cancelled))


def _uniform_gaps(rule: str, body: Body) -> Iterator[Diagnostic]:
    for effect in effects_in(body):
        if isinstance(effect, Let) and isinstance(effect.value, DrawUniform):
            yield _gap(rule, "draws a real number, which has no list of outcomes", effect.span)


def _gap(rule: str, what: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "TW0801",
        f"The {rule} {what}, and our own search does not follow that.",
        span,
        "left out of the search",
        hint="Read an empty search as unknown, or write the rule in another way.",
    )


def _changes_state(body: Body) -> bool:
    return any(isinstance(effect, _CHANGES) for effect in effects_in(body))


def _may_be_free(instance: Instance, action: Action) -> bool:
    """Whether the action takes no tick for some arguments."""
    match action.takes:
        case None:
            return False
        case NumberLiteral(value=value):
            return value <= 0
        case ParamRead(name=name):
            ticks = instance.params[name]
            return not isinstance(ticks, (int, float)) or ticks <= 0
        case term:
            low = term.type.low if isinstance(term.type, NumberType) else None
            return low is None or low <= 0
