"""Intervals of checked terms where conditions are known to hold (language.md §7).

`Facts` collects what is known at a place: conditions that hold or do not, and the values that
`let` names. It answers where a number lies, and whether conditions can hold together. Answers are
conservative: an interval holds every possible value, and "impossible" is never said wrongly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace

from tokenworld.check.linear import Form, Interval, interval_of
from tokenworld.check.substitution import substituted
from tokenworld.check.terms import Translator
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import (
    Action,
    Binder,
    Body,
    Chance,
    Draw,
    Effect,
    For,
    If,
    Law,
    Let,
    Pick,
    Term,
)

__all__ = ["Facts", "Step", "entry", "steps_of"]


@frozen
class Facts:
    """What is known at one place of a rule.

    ``names`` replaces locals: `let` names by their values, parameters by those of another rule.
    Conditions become formulas only when something is asked: few places are ever asked about.
    """

    words: Translator
    known: tuple[tuple[Term, bool], ...] = ()
    names: Mapping[str, Term] = field(default_factory=dict)

    def given(self, condition: Term | None, holds: bool = True) -> Facts:
        """The same where a condition holds (or does not)."""
        if condition is None:
            return self
        known = (*self.known, (self.open(condition), holds))
        return Facts(self.words, known, self.names)

    def let(self, effect: Let) -> Facts:
        """The same with one more name; a drawn value stays unknown."""
        if isinstance(effect.value, Draw):
            return self
        names = {**self.names, effect.name: self.open(effect.value)}
        return Facts(self.words, self.known, names)

    def also(self, other: Facts) -> Facts:
        """What is known at two places of one rule, or of rules brought under one naming."""
        return replace(self, known=(*self.known, *other.known))

    def moved(self, change: Callable[[Term], Term]) -> Facts:
        """The same conditions in other words: under other names, after a change."""
        facts = Facts(self.words)
        for term, holds in self.known:
            facts = facts.given(change(term), holds)
        return facts

    @property
    def true(self) -> tuple[Term, ...]:
        """The conditions that hold, without `let` names."""
        return tuple(term for term, holds in self.known if holds)

    def open(self, term: Term) -> Term:
        """A term without `let` names."""
        return substituted(term, self.names)

    def form(self, term: Term) -> Form:
        """A term as a linear form."""
        return self.words.form(self.open(term))

    def interval(self, value: Term | Form) -> Interval | None:
        """Where a value lies; ``None`` if this place is never reached."""
        form = value if isinstance(value, Form) else self.form(value)
        formulas = [self.words.known(term, holds) for term, holds in self.known]
        return interval_of(form, formulas)

    @property
    def impossible(self) -> bool:
        """Whether the conditions provably never hold together."""
        return self.interval(Form(())) is None

    def proves(self, condition: Term | None) -> bool:
        """Whether a condition provably holds here."""
        return condition is None or self.given(condition, holds=False).impossible

    def implies(self, other: Facts) -> bool:
        """Whether another place is provably reached whenever this one is."""
        return all(self.given(term, not holds).impossible for term, holds in other.known)

    def excludes(self, other: Facts) -> bool:
        """Whether this place and another are provably never reached together."""
        return self.also(other).impossible


@frozen
class Step:
    """One change of a body and its place.

    ``loops`` are the variables of the loops around it. ``path`` tells branches apart: each entry
    is an effect with branches and which of them is taken. ``certain``: no draw decides on it.
    """

    effect: Effect
    facts: Facts
    loops: tuple[Binder, ...] = ()
    path: tuple[tuple[Span, int], ...] = ()
    certain: bool = True


def entry(rule: Action | Law, words: Translator) -> Facts:
    """What is known where the body of a rule begins."""
    facts = Facts(words)
    if isinstance(rule, Law):
        return facts.given(rule.when)
    for guard in rule.guards:
        facts = facts.let(guard) if isinstance(guard, Let) else facts.given(guard.condition)
    return facts


def steps_of(body: Body, facts: Facts) -> Iterator[Step]:
    """Every change of a body with what is known there, in written order."""
    yield from _steps(body, _Place(facts))


@frozen
class _Place:
    """Where a body stands: see `Step`."""

    facts: Facts
    loops: tuple[Binder, ...] = ()
    path: tuple[tuple[Span, int], ...] = ()
    certain: bool = True


def _steps(body: Body, at: _Place) -> Iterator[Step]:
    facts = at.facts
    for effect in body:
        yield Step(effect, facts, at.loops, at.path, at.certain)
        if isinstance(effect, Let):
            facts = facts.let(effect)
        for number, (inner, below, binders) in enumerate(_branches(effect, facts)):
            path = at.path if isinstance(effect, For) else (*at.path, (effect.span, number))
            certain = at.certain and not isinstance(effect, (Chance, Pick))
            yield from _steps(inner, _Place(below, (*at.loops, *binders), path, certain))


def _branches(effect: Effect, facts: Facts) -> Iterator[tuple[Body, Facts, tuple[Binder, ...]]]:
    """The nested bodies with what is known in them, and the loop variables they add."""
    match effect:
        case If(condition=condition, then=then, otherwise=otherwise):
            yield then, facts.given(condition), ()
            yield otherwise, facts.given(condition, holds=False), ()
        case For(binders=binders, where=where, body=body):
            yield body, facts.given(where), binders
        case Chance(branches=branches, otherwise=otherwise):
            for branch in branches:
                yield branch.body, facts, ()
            yield otherwise, facts, ()
        case Pick(where=where, body=body, otherwise=otherwise):
            yield body, facts.given(where), ()
            yield otherwise, facts, ()
        case _:
            return
