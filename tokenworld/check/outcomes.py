"""The ways through a body: which changes are made together, and what is known then."""

from __future__ import annotations

from dataclasses import replace

from tokenworld.check.intervals import Facts, entry
from tokenworld.check.past import fluents_written
from tokenworld.check.rulebook import Rulebook
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import (
    Action,
    AddFact,
    Assign,
    Binder,
    Body,
    Chance,
    Create,
    Destroy,
    Effect,
    For,
    If,
    Law,
    Let,
    Pick,
    RemoveFact,
    Swap,
    Transfer,
)

__all__ = ["Made", "Outcome", "Work", "outcomes", "touches", "works"]

_MOST = 64
_CHANGES = (Assign, AddFact, RemoveFact, Create, Destroy, Transfer, Swap)


@frozen
class Made:
    """One change, the loops around it, and what is known where it stands."""

    effect: Effect
    loops: tuple[Span, ...]
    facts: Facts


@frozen
class Outcome:
    """The changes of one way through a body; ``facts`` opens the names its terms use."""

    facts: Facts
    made: tuple[Made, ...] = ()


@frozen
class Work:
    """One body of a rule: an action's changes or its ``cancelled`` block, or a law's changes.

    ``guard`` is the rule whose conditions hold before the body, if there are any.
    """

    rule: str
    phase: str | None
    body: Body
    start: Facts
    guard: Action | Law | None = None
    params: tuple[Binder, ...] = ()

    @property
    def facts(self) -> Facts:
        """What is known before the body, worked out when it is asked for."""
        return self.start if self.guard is None else entry(self.guard, self.start.words)


def works(rule: Action | Law, start: Facts) -> tuple[Work, ...]:
    """The bodies of a rule that may change the state of a running world."""
    if isinstance(rule, Law):
        return (Work(rule.name, rule.phase, rule.body, start, rule, rule.params),)
    return (
        Work(rule.name, None, rule.body, start, rule),
        Work(rule.name, None, rule.cancelled, start),
    )


def outcomes(body: Body, facts: Facts) -> tuple[Outcome, ...] | None:
    """The ways through a body that are not provably impossible; ``None`` for too many.

    A change in a loop stands once for all its rounds; each branch in a loop gives a way of its own.
    """
    found = _ways(body, (Outcome(facts),), ())
    if found is None:
        return None
    return tuple(one for one in found if not one.facts.impossible)


def _ways(
    body: Body, before: tuple[Outcome, ...], loops: tuple[Span, ...]
) -> tuple[Outcome, ...] | None:
    for effect in body:
        after: list[Outcome] = []
        for one in before:
            ways = _one(effect, one, loops)
            if ways is None:
                return None
            after += ways
        if len(after) > _MOST:
            return None
        before = tuple(after)
    return before


def _one(effect: Effect, at: Outcome, loops: tuple[Span, ...]) -> tuple[Outcome, ...] | None:
    facts = at.facts
    match effect:
        case Let():
            return (replace(at, facts=facts.let(effect)),)
        case If(condition=condition, then=then, otherwise=otherwise):
            first = _ways(then, (replace(at, facts=facts.given(condition)),), loops)
            second = _ways(otherwise, (replace(at, facts=facts.given(condition, False)),), loops)
            return None if first is None or second is None else (*first, *second)
        case Chance(branches=branches, otherwise=otherwise):
            return _either((*(branch.body for branch in branches), otherwise), at, loops)
        case Pick(body=body, otherwise=otherwise):
            return _either((body, otherwise), at, loops)
        case For(where=where, body=body):
            inside = _ways(body, (replace(at, facts=facts.given(where)),), (*loops, effect.span))
            return None if inside is None else (at, *(replace(one, facts=facts) for one in inside))
        case _ if isinstance(effect, _CHANGES):
            return (replace(at, made=(*at.made, Made(effect, loops, facts))),)
        case _:
            return (at,)


def _either(
    bodies: tuple[Body, ...], at: Outcome, loops: tuple[Span, ...]
) -> tuple[Outcome, ...] | None:
    found: list[Outcome] = []
    for body in bodies:
        ways = _ways(body, (at,), loops)
        if ways is None:
            return None
        found += ways
    return tuple(found)


def touches(work: Work, fluents: frozenset[str], book: Rulebook) -> bool:
    """Whether a body may change one of the fluents."""
    return bool(fluents_written([work.body], book) & fluents)
