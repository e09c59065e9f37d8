"""What our own search leaves out: with such a rule it may find a plan, but proves nothing.

A searcher asks the interpreter for all outcomes of chance. A draw that has no finite list of
outcomes is named here, so that an empty search is never taken for a proof.
"""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.diagnostics import Diagnostic, Span
from tokenworld.ground import Instance, count_bindings, parameter_domains
from tokenworld.model import (
    Action,
    Body,
    DrawUniform,
    Let,
    effects_in,
)

__all__ = ["gaps"]


def gaps(instance: Instance, unlisted: frozenset[str] = frozenset()) -> tuple[Diagnostic, ...]:
    """The rules that our own search does not follow, each with its place (TW0801).

    ``unlisted`` are actions with too many bindings to list, which it never tries.
    """
    program = instance.program
    found = [gap for action in program.actions.values() for gap in _action_gaps(action)]
    for law in program.laws.values():
        found += _uniform_gaps(f"law `{law.name}`", law.body)
    found += [_unlisted(instance, program.actions[name]) for name in sorted(unlisted)]
    return tuple(found)


def _action_gaps(action: Action) -> Iterator[Diagnostic]:
    rule = f"action `{action.name}`"
    lets = tuple(guard for guard in action.guards if isinstance(guard, Let))
    yield from _uniform_gaps(rule, (*lets, *action.body, *action.cancelled))


def _uniform_gaps(rule: str, body: Body) -> Iterator[Diagnostic]:
    for effect in effects_in(body):
        if isinstance(effect, Let) and isinstance(effect.value, DrawUniform):
            yield _gap(rule, "draws a real number, which has no list of outcomes", effect.span)


def _unlisted(instance: Instance, action: Action) -> Diagnostic:
    number = count_bindings(parameter_domains(instance, action.params))
    rule = f"action `{action.name}`"
    return _gap(rule, f"has {number:,} bindings, too many to list", action.span)


def _gap(rule: str, what: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "TW0801",
        f"The {rule} {what}, and our own search does not follow that.",
        span,
        "left out of the search",
        hint="Read an empty search as unknown, or write the rule in another way.",
    )
