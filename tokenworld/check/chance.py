"""Chance in bodies: draws, picks and probabilities (language.md §13)."""

from __future__ import annotations

from fractions import Fraction

from tokenworld.check.context import Context
from tokenworld.check.folds import check_where
from tokenworld.check.relations import optional
from tokenworld.model import (
    BOOL,
    REAL,
    Binder,
    Draw,
    DrawChance,
    DrawPick,
    DrawUniform,
    NumberLiteral,
    NumberType,
    PickKey,
    RealType,
    Term,
    ValueType,
    is_optional,
    show_type,
)
from tokenworld.syntax import nodes as syn

__all__ = ["check_draw", "check_pick", "check_probabilities"]


def check_probabilities(terms: list[Term], ctx: Context) -> None:
    """Probabilities are numbers, and constant ones add up to 1 at most (TW0409)."""
    total = Fraction(0)
    for term in terms:
        if not isinstance(term.type, (NumberType, RealType)):
            what = f"A probability is a number, and this is {show_type(term.type)}."
            ctx.draft.stop("TW0301", what, term.span, "not a number", "Write `25%` or `0.25`.")
        _never_none(term, "probability", ctx)
        if isinstance(term, NumberLiteral) and isinstance(term.type, NumberType):
            if term.value < 0:
                what = "A probability is not below 0."
                ctx.draft.stop("TW0409", what, term.span, "below 0", "Write `25%` or `0.25`.")
            total += Fraction(term.value, 10**term.type.decimals)
    if total > 1:
        what = "The probabilities add up to more than 1."
        hint = "Lower them, so that they add up to 1 or less."
        ctx.draft.stop("TW0409", what, terms[0].span.join(terms[-1].span), f"{total}", hint)


def _never_none(term: Term, what: str, ctx: Context) -> None:
    if is_optional(term.type):
        said = f"The {what} may be `none`."
        hint = "Test it for `none` first, or guard it in `where`."
        ctx.draft.stop("TW0307", said, term.span, "may be `none`", hint)


def check_pick(
    where: syn.Where, by: syn.PickBy | None, ctx: Context
) -> tuple[tuple[Binder, ...], Term | None, PickKey, Term | None, Context]:
    """The candidates of a pick, how one is chosen, and the place of its body."""
    from tokenworld.check.expressions import check

    binders, condition, inner = check_where(where, ctx)
    if by is None:
        return binders, condition, "uniform", None, inner
    weight = check(by.key, inner)
    if not isinstance(weight.type, (NumberType, RealType)):
        what = f"`by {by.kind}` needs a number, and this is {show_type(weight.type)}."
        ctx.draft.stop("TW0301", what, weight.span, "not a number", "Write a number.")
    if by.kind == "weight":  # the others may be guarded by `where`, which narrows no path
        _never_none(weight, "weight", ctx)
    return binders, condition, by.kind, weight, inner


def check_draw(draw: syn.Draw, ctx: Context) -> tuple[Draw, ValueType]:
    """A draw used as a value, and its type."""
    from tokenworld.check.expressions import check, fit

    match draw:
        case syn.DrawChance(probability=probability):
            term = check(probability, ctx)
            check_probabilities([term], ctx)
            return DrawChance(term), BOOL
        case syn.DrawPick(where=where, by=by):
            binders, condition, key, weight, _ = check_pick(where, by, ctx)
            if len(binders) != 1:
                what = "A draw picks one thing."
                ctx.draft.stop("TW0302", what, draw.span, hint="Keep one variable.")
            return DrawPick(binders, condition, key, weight), optional(binders[0].type)
        case syn.DrawUniform(low=low, high=high):
            ends = [fit(check(end, ctx), REAL, ctx, "bound") for end in (low, high)]
            return DrawUniform(ends[0], ends[1]), REAL
