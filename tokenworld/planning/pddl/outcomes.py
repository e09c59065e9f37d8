"""Chance in an action: one alternative body per outcome, which the planner may choose between.

Only outcomes of positive probability count. The alternatives are made on the model, before
anything is lifted; a `pick` becomes a parameter that must be a candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from tokenworld.diagnostics import Span
from tokenworld.model import (
    BOOL,
    Binder,
    Body,
    BoolLiteral,
    Chance,
    Compare,
    DrawChance,
    DrawPick,
    Effect,
    Fold,
    For,
    If,
    Let,
    Local,
    NoneLiteral,
    Not,
    NumberLiteral,
    NumberType,
    Pick,
    Term,
    effects_in,
)
from tokenworld.planning.pddl.vocabulary import LiftingError

__all__ = ["Alternative", "alternatives", "draws"]


@dataclass(frozen=True, slots=True)
class Alternative:
    """A body without draws, the parameters that picks add, and conditions on top-level names."""

    body: Body = ()
    params: tuple[Binder, ...] = ()
    conds: tuple[Term, ...] = ()

    def then(self, other: Alternative) -> Alternative:
        return Alternative(
            self.body + other.body, self.params + other.params, self.conds + other.conds
        )


def draws(body: Body) -> Span | None:
    """The place of the first draw of chance in a body, if there is one."""
    for effect in effects_in(body):
        if isinstance(effect, Chance):
            return effect.span
        if isinstance(effect, Pick) and effect.key in ("uniform", "weight"):
            return effect.span
        if isinstance(effect, Let) and not isinstance(effect.value, Term):
            return effect.span
    return None


def alternatives(body: Body, top: bool = True) -> list[Alternative]:
    """All outcomes of a body in written order; one without draws if nothing is drawn."""
    parts = [_effect(effect, top) for effect in body]
    found = []
    for combined in product(*parts):
        whole = Alternative()
        for part in combined:
            whole = whole.then(part)
        found.append(whole)
    return found


def _effect(effect: Effect, top: bool) -> list[Alternative]:
    match effect:
        case Chance():
            return _chance(effect, top)
        case If(then=then, otherwise=otherwise):
            sides = product(alternatives(then, False), alternatives(otherwise, False))
            return [
                Alternative((replace(effect, then=one.body, otherwise=other.body),))
                for one, other in sides
            ]
        case For(body=inner) if draws(inner) is not None:
            raise LiftingError("chance in a loop", effect.span)
        case Pick():
            return _pick(effect, top)
        case Let(value=DrawChance(probability=probability)):
            chance = _number(probability)
            values = [value for value, p in ((True, chance), (False, 1 - chance)) if p > 0]
            return [
                Alternative((replace(effect, value=BoolLiteral(value, BOOL, effect.span)),))
                for value in values
            ]
        case Let(value=DrawPick() as draw):
            return _let_pick(effect, draw, top)
        case Let() if not isinstance(effect.value, Term):
            raise LiftingError("`uniform()`", effect.span)
        case _:
            return [Alternative((effect,))]


def _number(term: Term) -> float:
    """The probability, if it is constant."""
    if isinstance(term, NumberLiteral) and isinstance(term.type, NumberType):
        return float(term.value) / float(10**term.type.decimals)
    raise LiftingError("a probability that changes", term.span)


def _chance(effect: Chance, top: bool) -> list[Alternative]:
    found: list[Alternative] = []
    left = 1.0
    for branch in effect.branches:
        chance = _number(branch.probability)
        left -= chance
        if chance > 0:
            found += alternatives(branch.body, top)
    return found + (alternatives(effect.otherwise, top) if left > 1e-12 else [])


def _candidates(draw: Pick | DrawPick, span: Span, top: bool) -> tuple[Term, ...]:
    """The conditions on a candidate of a random pick."""
    if draw.key not in ("uniform", "weight") or not top:
        what = "`pick` by order" if top else "`pick` under a condition"
        raise LiftingError(what, span)
    where = () if draw.where is None else (draw.where,)
    if draw.key == "uniform" or draw.weight is None:
        return where
    zero = NumberLiteral(0, draw.weight.type, span)
    return (*where, Compare(">", draw.weight, zero, BOOL, span))


def _nobody(binders: Sequence[Binder], conds: tuple[Term, ...], span: Span) -> Term:
    where = conds[0] if len(conds) == 1 else None
    value: Term = BoolLiteral(True, BOOL, span)
    if len(conds) == 2:
        where, value = conds
    return Not(Fold("any", value, tuple(binders), where, BOOL, span), BOOL, span)


def _pick(effect: Pick, top: bool) -> list[Alternative]:
    conds = _candidates(effect, effect.span, top)
    chosen = Alternative((), effect.binders, conds)
    found = [chosen.then(inner) for inner in alternatives(effect.body, top)]
    nobody = Alternative((), (), (_nobody(effect.binders, conds, effect.span),))
    return found + [nobody.then(inner) for inner in alternatives(effect.otherwise, top)]


def _let_pick(effect: Let, draw: DrawPick, top: bool) -> list[Alternative]:
    conds = _candidates(draw, effect.span, top)
    if len(draw.binders) != 1:
        raise LiftingError("`pick` of several values", effect.span)
    binder = draw.binders[0]
    local = Local(binder.name, binder.type, binder.span)
    none = NoneLiteral(effect.type, effect.span)
    nobody = _nobody(draw.binders, conds, effect.span)
    return [
        Alternative((replace(effect, value=local),), draw.binders, conds),
        Alternative((replace(effect, value=none),), (), (nobody,)),
    ]
