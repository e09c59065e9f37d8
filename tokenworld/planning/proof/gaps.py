"""Limits of a proof by search: rules that our own search leaves out, and real arithmetic.

The search asks the interpreter for all outcomes of chance. A draw without a finite list of outcomes
is reported here, so that an exhausted search is never taken for a proof where one was left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.core import lowered
from tokenworld.core.nodes import Body, Let, UniformDraw
from tokenworld.core.rules import Action
from tokenworld.core.walk import statements_in
from tokenworld.diagnostics import Diagnostic, Span
from tokenworld.ground import Instance, count_bindings, parameter_domains
from tokenworld.model import RealType, subterms, telling_terms


def gaps(instance: Instance, unlisted: frozenset[str] = frozenset()) -> tuple[Diagnostic, ...]:
    """The rules that our own search does not follow, each with its place: draws of real numbers
    (TW0804) and actions with too many bindings (TW0801).

    ``unlisted`` are actions with too many bindings to list, which it never tries.
    """
    rules = lowered(instance.program)
    found: list[Diagnostic] = []
    for action in rules.actions.values():
        body = (*action.guards, *action.body, *action.cancelled)
        found += _uniform_gaps(f"action `{action.name}`", body)
    for law in rules.laws.values():
        found += _uniform_gaps(f"law `{law.name}`", law.body)
    found += [_unlisted(instance, rules.actions[name]) for name in sorted(unlisted)]
    return tuple(found)


def _uniform_gaps(rule: str, body: Body) -> Iterator[Diagnostic]:
    for one in statements_in(body):
        if isinstance(one, Let) and isinstance(one.value, UniformDraw):
            what = "draws a real number, which has no list of outcomes"
            yield _gap("TW0804", rule, what, one.span)


def _unlisted(instance: Instance, action: Action) -> Diagnostic:
    number = count_bindings(parameter_domains(instance, action.params))
    rule = f"action `{action.name}`"
    return _gap("TW0801", rule, f"has {number:,} bindings, too many to list", action.span)


def _gap(code: str, rule: str, what: str, span: Span) -> Diagnostic:
    return Diagnostic(
        code,
        f"The {rule} {what}, and our own search does not follow that.",
        span,
        "left out of the search",
        hint="Read an empty search as unknown, or write the rule in another way.",
    )


def platform(instance: Instance) -> str:
    """The restriction of a proof about a world with real numbers: another platform may compute
    other values. Empty for all other worlds."""
    terms = telling_terms(instance.program, instance.world)
    real = any(isinstance(part.type, RealType) for term in terms for part in subterms(term))
    return ", on this platform's arithmetic" if real else ""
