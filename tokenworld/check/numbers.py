"""The changes of ranged numbers in a body, with what is known where each stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from tokenworld.check.draft import Draft
from tokenworld.check.intervals import Facts, Step, steps_of
from tokenworld.check.linear import Form, Interval
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.model import (
    Assign,
    Binder,
    Body,
    Fluent,
    NumberType,
    Read,
    Term,
    Transfer,
    show_type,
)

__all__ = ["NumberWrite", "number_writes", "outside", "range_of", "said"]


@frozen
class NumberWrite:
    """One change of a number: a value, or a step up or down (``sign`` 1 or -1)."""

    rule: str
    target: Read
    value: Term
    sign: int
    sets: bool
    facts: Facts
    binders: tuple[Binder, ...]
    path: tuple[tuple[Span, int], ...]
    span: Span
    optional: bool = False

    @property
    def form(self) -> Form:
        return self.facts.form(self.value).times(Fraction(self.sign))


def number_writes(
    body: Body, facts: Facts, rule: str, params: tuple[Binder, ...], draft: Draft
) -> Iterator[NumberWrite]:
    """The changes of ranged numbers in a body that are not clamped."""
    for step in steps_of(body, facts):
        for target, value, sign, sets in _parts(step):
            fluent = draft.fluents[target.fluent]
            kind = fluent.type
            if isinstance(kind, NumberType) and kind.low is not None and not fluent.clamped:
                opened = replace(target, args=tuple(step.facts.open(arg) for arg in target.args))
                yield NumberWrite(
                    rule, opened, value, sign, sets, step.facts, (*params, *step.loops),
                    step.path, step.effect.span,
                )  # fmt: skip


def _parts(step: Step) -> Iterator[tuple[Read, Term, int, bool]]:
    match step.effect:
        case Assign(target=target, op=op, value=value):
            yield target, value, -1 if op == "-=" else 1, op == "="
        case Transfer(amount=amount, source=source, target=target):
            yield source, amount, -1, False
            yield target, amount, 1, False
        case _:
            return


def range_of(fluent: Fluent) -> tuple[Fraction, Fraction]:
    kind = fluent.type
    assert isinstance(kind, NumberType)
    assert kind.low is not None
    assert kind.high is not None
    step = Fraction(1, 10**kind.decimals)
    return kind.low * step, kind.high * step


def outside(found: Interval, low: Fraction, high: Fraction) -> bool:
    return (found.low is not None and found.low > high) or (
        found.high is not None and found.high < low
    )


def said(found: Interval, fluent: Fluent) -> str:
    """An interval as an author would write it."""
    kind = fluent.type
    assert isinstance(kind, NumberType)

    def one(value: Fraction) -> str:
        scaled = int(value * 10**kind.decimals)
        return show_type(replace(kind, low=scaled, high=scaled, optional=False))

    match found:
        case Interval(low=None, high=None):
            return "any number"
        case Interval(low=None, high=Fraction() as high):
            return f"{one(high)} or less"
        case Interval(low=Fraction() as low, high=None):
            return f"{one(low)} or more"
        case Interval(low=Fraction() as low, high=Fraction() as high):
            return one(low) if low == high else f"{one(low)} to {one(high)}"
        case _:
            raise AssertionError(found)
