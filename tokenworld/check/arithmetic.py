"""Numbers in expressions: decimals, units, ranges (language.md §2)."""

from __future__ import annotations

from dataclasses import replace

from tokenworld.check.context import Context
from tokenworld.check.relations import same_unit
from tokenworld.diagnostics import Span
from tokenworld.model import (
    REAL,
    Arithmetic,
    ArithmeticOp,
    Choose,
    CollectionType,
    ListTerm,
    Negate,
    NumberLiteral,
    NumberType,
    RealType,
    Rescale,
    Term,
    ToReal,
    ValueType,
    is_optional,
    show_type,
)
from tokenworld.syntax import nodes as syn

__all__ = ["align_member", "align_to", "aligned", "check_arithmetic", "fit_number"]


def check_arithmetic(expr: syn.Binary | syn.Negative, ctx: Context) -> Term:
    """``+ - * / div mod`` and the sign."""
    from tokenworld.check.expressions import check

    if isinstance(expr, syn.Negative):
        term = _operand(check(expr.operand, ctx), ctx)
        if isinstance(term, NumberLiteral) and isinstance(term.type, NumberType):
            kind = replace(term.type, low=-term.value, high=-term.value)
            return NumberLiteral(-term.value, kind, expr.span)
        return Negate(term, _negative(term.type), expr.span)
    left = _operand(check(expr.left, ctx), ctx)
    right = _operand(check(expr.right, ctx), ctx)
    return _binary(expr.op, left, right, ctx, expr.span)


def _operand(term: Term, ctx: Context) -> Term:
    if not isinstance(term.type, (NumberType, RealType)):
        what = f"`{ctx.quoted(term)}` is {show_type(term.type)}, not a number."
        ctx.draft.stop("TW0301", what, term.span, "not a number", "Calculate with numbers only.")
    if is_optional(term.type):
        what = f"`{ctx.quoted(term)}` may be `none`, and `none` cannot be calculated with."
        hint = "Name it with `let` and test it with `!= none` first."
        ctx.draft.stop("TW0307", what, term.span, "may be `none`", hint)
    return term


def _negative(kind: ValueType) -> ValueType:
    if not isinstance(kind, NumberType):
        return kind
    low, high = kind.low, kind.high
    return replace(kind, low=None if high is None else -high, high=None if low is None else -low)


def _binary(op: ArithmeticOp, left: Term, right: Term, ctx: Context, span: Span) -> Term:
    exact = isinstance(left.type, NumberType) and isinstance(right.type, NumberType)
    if op == "/" or not exact:
        return Arithmetic(op, _real(left), _real(right), REAL, span)
    if op != "*":
        left, right = aligned(left, right, ctx, span)
    assert isinstance(left.type, NumberType)
    assert isinstance(right.type, NumberType)
    return Arithmetic(op, left, right, _result(op, left.type, right.type, ctx, span), span)


def _result(
    op: ArithmeticOp, left: NumberType, right: NumberType, ctx: Context, span: Span
) -> NumberType:
    low, high = _bounds(op, left, right)
    if op == "*":
        if left.unit not in ("", "%") and right.unit not in ("", "%"):
            hint = "Leave the unit off one of the factors."
            ctx.draft.stop("TW0303", "A product keeps one unit.", span, "two units", hint)
        unit = left.unit if left.unit not in ("", "%") else right.unit
        unit = "" if unit == "%" else unit
        return NumberType(low, high, left.decimals + right.decimals, unit)
    if op == "div":
        return NumberType(low, high, 0, "")
    return NumberType(low, high, left.decimals, left.unit or right.unit)


def _bounds(op: ArithmeticOp, left: NumberType, right: NumberType) -> tuple[int | None, int | None]:
    if None in (left.low, left.high, right.low, right.high):
        return None, None
    a, b, c, d = left.low or 0, left.high or 0, right.low or 0, right.high or 0
    match op:
        case "+":
            return a + c, b + d
        case "-":
            return a - d, b - c
        case "*":
            corners = (a * c, a * d, b * c, b * d)
            return min(corners), max(corners)
        case "mod" if c > 0:
            return 0, d - 1
        case "div" if c > 0:
            corners = (a // c, a // d, b // c, b // d)
            return min(corners), max(corners)
        case _:
            return None, None


def _real(term: Term) -> Term:
    return term if isinstance(term.type, RealType) else ToReal(term, REAL, term.span)


def _rescaled(term: Term, kind: NumberType, decimals: int) -> Term:
    digits = decimals - kind.decimals
    if digits <= 0:
        return term
    factor = 10**digits
    low = None if kind.low is None else kind.low * factor
    high = None if kind.high is None else kind.high * factor
    wider = replace(kind, low=low, high=high, decimals=decimals)
    if isinstance(term, NumberLiteral):
        return NumberLiteral(term.value * factor, wider, term.span)
    return Rescale(term, digits, wider, term.span)


def aligned(left: Term, right: Term, ctx: Context, span: Span) -> tuple[Term, Term]:
    """Both sides with equal decimals (or both real); units must agree."""
    if isinstance(left.type, NumberType) and isinstance(right.type, NumberType):
        if not same_unit(left.type.unit, right.type.unit):
            units = f"`{left.type.unit or 'a plain number'}` and `{right.type.unit or 'none'}`"
            what = f"The units differ: {units}."
            ctx.draft.stop("TW0303", what, span, "units differ", "Write both with one unit.")
        most = max(left.type.decimals, right.type.decimals)
        return _rescaled(left, left.type, most), _rescaled(right, right.type, most)
    if isinstance(left.type, RealType) and isinstance(right.type, NumberType):
        return left, _real(right)
    if isinstance(right.type, RealType) and isinstance(left.type, NumberType):
        return _real(left), right
    return left, right


def align_to(term: Term, kind: ValueType) -> Term:
    """The term with the decimals of ``kind``, a type it was joined into."""
    if isinstance(kind, RealType) and isinstance(term.type, NumberType):
        return _real(term)
    if isinstance(kind, NumberType) and isinstance(term.type, NumberType):
        return _rescaled(term, term.type, kind.decimals)
    return term


def align_member(item: Term, collection: Term, ctx: Context) -> tuple[Term, Term]:
    """An item and a collection it is looked for in, with equal decimals."""
    if not isinstance(collection.type, CollectionType):
        return item, collection
    element = collection.type.element
    if not isinstance(item.type, NumberType) or not isinstance(element, NumberType):
        return item, collection
    if not same_unit(item.type.unit, element.unit):
        ctx.draft.stop("TW0303", "The units differ.", item.span, "units differ", "Use one unit.")
    most = max(item.type.decimals, element.decimals)
    if isinstance(collection, ListTerm):
        items = tuple(align_to(one, replace(element, decimals=most)) for one in collection.items)
        kind = CollectionType(replace(element, decimals=most))
        collection = ListTerm(items, kind, collection.span)
    return _rescaled(item, item.type, most), collection


def fit_number(term: Term, target: ValueType, ctx: Context, what: str) -> Term:
    """A number as a value of ``target``: unit, decimals and constants outside the range."""
    found = term.type
    if isinstance(target, RealType) and isinstance(found, NumberType):
        return _real(term)
    if isinstance(found, RealType) and isinstance(target, NumberType):
        hint = "Round it with `round(x, n)` or `floor(x)`."
        ctx.draft.stop("TW0304", f"The {what} is exact.", term.span, "a real", hint)
    if not isinstance(found, NumberType) or not isinstance(target, NumberType):
        return term
    if not same_unit(found.unit, target.unit):
        named = f"`{target.unit}`" if target.unit else "no unit"
        hint = f"Write it with {named}."
        said = f"The {what} has {named}, and this has `{found.unit or 'none'}`."
        ctx.draft.stop("TW0303", said, term.span, "units differ", hint)
    if found.decimals > target.decimals:
        kept = f"{target.decimals} decimal{'' if target.decimals == 1 else 's'}"
        said = f"The {what} keeps {kept}, and this has {found.decimals}."
        hint = "Round it with `round(x, n)`, or give the range more decimals."
        ctx.draft.stop("TW0305", said, term.span, "too many decimals", hint)
    fitted = _rescaled(term, found, target.decimals)
    _in_range(fitted, target, ctx, what)
    return fitted


def _constants(term: Term) -> tuple[NumberLiteral, ...]:
    match term:
        case NumberLiteral():
            return (term,)
        case Choose(then=then, otherwise=otherwise):
            return (*_constants(then), *_constants(otherwise))
        case _:
            return ()


def _in_range(term: Term, target: NumberType, ctx: Context, what: str) -> None:
    for literal in _constants(term):
        below = target.low is not None and literal.value < target.low
        above = target.high is not None and literal.value > target.high
        if below or above:
            said = f"The {what} is {show_type(target)}."
            hint = "Write a number inside the range, or widen the range."
            ctx.draft.stop("TW0308", said, literal.span, "outside the range", hint)
