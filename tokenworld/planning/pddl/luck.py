"""Draws of chance as PPDDL's ``(probabilistic p1 e1 p2 e2 …)``: exact weights, and whose they are.

A weight is written as a decimal where it has one, and as a fraction otherwise: PPDDL takes any
rational number. A uniform `pick` over few candidates becomes one case for each set of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from tokenworld.diagnostics import Span
from tokenworld.ground import Instance, Raw, domain_of
from tokenworld.model import (
    BOOL,
    Arithmetic,
    Binder,
    Body,
    BoolLiteral,
    BoolType,
    Chance,
    DrawChance,
    Effect,
    EnumLiteral,
    EnumType,
    IntervalRange,
    Let,
    Negate,
    NumberLiteral,
    NumberType,
    ObjectLiteral,
    ObjectType,
    ParamRead,
    Pick,
    RealType,
    Rescale,
    Term,
    ToReal,
    TypeRange,
    ValueType,
    effects_in,
)
from tokenworld.planning.pddl.vocabulary import LiftingError

__all__ = [
    "Outcome",
    "candidates",
    "outcomes",
    "rounded",
    "share",
    "subsets",
    "weight_text",
]

MOST_CANDIDATES = 5
"""Candidates of a `pick` at most: there is a case for each set of them."""

Outcome = tuple[Fraction, Body]


def share(instance: Instance, term: Term) -> Fraction:
    """A probability as an exact number; `LiftingError` where it changes in play."""
    found = _value(instance, term)
    if found is None:
        raise LiftingError("a probability that changes", term.span)
    return found


def _value(instance: Instance, term: Term) -> Fraction | None:
    match term:
        case NumberLiteral(value=value, type=NumberType(decimals=decimals)):
            return Fraction(value, 10**decimals)
        case ParamRead(name=name, type=of):
            return _scaled(instance.params[name], of)
        case Rescale(term=inner) | ToReal(term=inner):
            return _value(instance, inner)
        case Negate(term=inner):
            found = _value(instance, inner)
            return None if found is None else -found
        case Arithmetic(op=op, left=left, right=right):
            one, other = _value(instance, left), _value(instance, right)
            return None if one is None or other is None else _worked_out(op, one, other)
        case _:
            return None


def _scaled(value: Raw, of: ValueType) -> Fraction | None:
    if isinstance(value, int) and isinstance(of, NumberType):
        return Fraction(value, 10**of.decimals)
    return None


def _worked_out(op: str, one: Fraction, other: Fraction) -> Fraction | None:
    match op:
        case "+":
            return one + other
        case "-":
            return one - other
        case "*":
            return one * other
        case "/" if other:
            return one / other
        case _:
            return None


def outcomes(instance: Instance, effect: Chance) -> list[Outcome]:
    """The bodies that may happen, `else` with the rest of the probability."""
    found = [share(instance, branch.probability) for branch in effect.branches]
    bodies = (branch.body for branch in effect.branches)
    pairs = [*zip(found, bodies, strict=True), (1 - sum(found, Fraction(0)), effect.otherwise)]
    return [(weight, body) for weight, body in pairs if weight > 0]


def rounded(instance: Instance) -> Iterator[Term]:
    """The probabilities that play works out as real numbers and therefore rounds."""
    program = instance.program
    rules = [one.body for one in program.actions.values()]
    rules += [one.body for one in program.laws.values()]
    for body in rules:
        for effect in effects_in(body):
            for term in _asked(effect):
                exact, real = _value(instance, term), isinstance(term.type, RealType)
                if real and exact is not None and Fraction(float(exact)) != exact:
                    yield term


def _asked(effect: Effect) -> Sequence[Term]:
    match effect:
        case Chance(branches=branches):
            return [branch.probability for branch in branches]
        case Let(value=DrawChance(probability=probability)):
            return [probability]
        case _:
            return ()


def weight_text(weight: Fraction) -> str:
    """``0.25`` where the decimal is exact, else ``1/3``."""
    rest, digits = weight.denominator, 0
    for factor in (2, 5):
        count = 0
        while rest % factor == 0:
            rest, count = rest // factor, count + 1
        digits = max(digits, count)
    if rest != 1:
        return f"{weight.numerator}/{weight.denominator}"
    if digits == 0:
        return str(weight.numerator)
    scaled = f"{weight.numerator * 10**digits // weight.denominator:0{digits + 1}d}"
    return f"{scaled[:-digits]}.{scaled[-digits:]}"


# ---- picks --------------------------------------------------------------------------------------


def candidates(instance: Instance, effect: Pick) -> list[Term]:
    """The values of a uniform pick as literals; `LiftingError` where PPDDL cannot list them."""
    if effect.key != "uniform" or len(effect.binders) != 1:
        raise LiftingError("a `pick` that is not uniform over one name", effect.span)
    (binder,) = effect.binders
    values = _domain(instance, binder)
    if values is None or len(values) > MOST_CANDIDATES:
        raise LiftingError(f"`pick` among more than {MOST_CANDIDATES} candidates", effect.span)
    return [_literal(instance, binder.type, value, binder.span) for value in values]


def _domain(instance: Instance, binder: Binder) -> Sequence[Raw] | None:
    match binder.domain:
        case IntervalRange(low=low, high=high):
            return range(low, high + 1)
        case TypeRange(of=of):
            return domain_of(instance, of)
        case _:
            return None


def _literal(instance: Instance, of: ValueType, value: Raw, span: Span) -> Term:
    match of:
        case BoolType():
            return BoolLiteral(bool(value), BOOL, span)
        case EnumType(name=name) if isinstance(value, int):
            return EnumLiteral(name, instance.program.enums[name].members[value], value, of, span)
        case ObjectType() if isinstance(value, int):
            return ObjectLiteral(instance.names[value], of, span)
        case NumberType() if isinstance(value, int):
            return NumberLiteral(value, of, span)
        case _:
            raise LiftingError("`pick` of a value that may be absent", span)


def subsets(count: int) -> Iterator[tuple[int, ...]]:
    """All sets of the first ``count`` numbers, the empty one first."""
    for size in range(count + 1):
        yield from combinations(range(count), size)
