"""Numbers: units, decimals, ranges; typed calls of built-in functions; values that fit a place.

All functions take checked terms (language.md §2, §4).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NoReturn, assert_never, get_args

from tokenworld import model as m
from tokenworld.check.typing.advice import (
    in_words,
    of_operand,
    of_place,
    of_units,
    unit_in_words,
    unordered,
)
from tokenworld.check.typing.context import Context
from tokenworld.check.typing.types import (
    assignable,
    join,
    optional,
    same_unit,
)
from tokenworld.diagnostics import Span
from tokenworld.model import is_optional, show_type, without_none


def operand(
    term: m.Term, ctx: Context, hint: str = "Name it with `let` and test it with `!= none` first."
) -> m.Term:
    """The term, which must be a number and never `none`; ``hint`` says how to exclude `none`."""
    if not isinstance(term.type, (m.NumberType, m.RealType)):
        what = f"`{ctx.quoted(term)}` is {show_type(term.type)}, not a number."
        ctx.draft.stop("TW0301", what, term.span, "not a number", of_operand(term, ctx))
    if is_optional(term.type):
        what = f"`{ctx.quoted(term)}` may be `none`, and `none` cannot be calculated with."
        ctx.draft.stop("TW0307", what, term.span, "may be `none`", hint)
    return term


def negated(term: m.Term, span: Span) -> m.Term:
    """A number with its sign changed."""
    if isinstance(term, m.NumberLiteral) and isinstance(term.type, m.NumberType):
        kind = replace(term.type, low=-term.value, high=-term.value)
        return m.NumberLiteral(-term.value, kind, span)
    return m.Negate(term, _negative(term.type), span)


def _negative(kind: m.ValueType) -> m.ValueType:
    if not isinstance(kind, m.NumberType):
        return kind
    low, high = kind.low, kind.high
    return replace(kind, low=None if high is None else -high, high=None if low is None else -low)


def calculated(op: m.ArithmeticOp, left: m.Term, right: m.Term, ctx: Context, span: Span) -> m.Term:
    """``+ - * / div mod`` of two numbers: real unless both are decimals with a fixed scale."""
    exact = isinstance(left.type, m.NumberType) and isinstance(right.type, m.NumberType)
    if op == "/" or not exact:
        return m.Arithmetic(op, _real(left), _real(right), m.REAL, span)
    if op != "*":
        left, right = aligned(left, right, ctx, span)
    assert isinstance(left.type, m.NumberType)
    assert isinstance(right.type, m.NumberType)
    return m.Arithmetic(op, left, right, _result(op, left.type, right.type, ctx, span), span)


def _result(
    op: m.ArithmeticOp, left: m.NumberType, right: m.NumberType, ctx: Context, span: Span
) -> m.NumberType:
    low, high = _bounds(op, left, right)
    if op == "*":
        if left.unit not in ("", "%") and right.unit not in ("", "%"):
            hint = "Leave the unit off one of the factors."
            ctx.draft.stop("TW0303", "A product keeps one unit.", span, "two units", hint)
        unit = left.unit if left.unit not in ("", "%") else right.unit
        unit = "" if unit == "%" else unit
        return m.NumberType(low, high, left.decimals + right.decimals, unit)
    if op == "div":
        return m.NumberType(low, high, 0, "")
    return m.NumberType(low, high, left.decimals, left.unit or right.unit)


def _bounds(
    op: m.ArithmeticOp, left: m.NumberType, right: m.NumberType
) -> tuple[int | None, int | None]:
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
        case "/" | "div" | "mod":
            return None, None
        case _:
            assert_never(op)


def _real(term: m.Term) -> m.Term:
    return term if isinstance(term.type, m.RealType) else m.ToReal(term, m.REAL, term.span)


def _rescaled(term: m.Term, kind: m.NumberType, decimals: int) -> m.Term:
    digits = decimals - kind.decimals
    if digits <= 0:
        return term
    factor = 10**digits
    low = None if kind.low is None else kind.low * factor
    high = None if kind.high is None else kind.high * factor
    wider = replace(kind, low=low, high=high, decimals=decimals)
    if isinstance(term, m.NumberLiteral):
        return m.NumberLiteral(term.value * factor, wider, term.span)
    return m.Rescale(term, digits, wider, term.span)


def aligned(left: m.Term, right: m.Term, ctx: Context, span: Span) -> tuple[m.Term, m.Term]:
    """Both sides with equal decimals (or both real); units must agree."""
    if isinstance(left.type, m.NumberType) and isinstance(right.type, m.NumberType):
        if not same_unit(left.type.unit, right.type.unit):
            units = " and ".join(unit_in_words(one) for one in (left.type, right.type))
            hint = of_units(left, right, ctx)
            ctx.draft.stop("TW0303", f"The units differ: {units}.", span, "units differ", hint)
        most = max(left.type.decimals, right.type.decimals)
        return _rescaled(left, left.type, most), _rescaled(right, right.type, most)
    if isinstance(left.type, m.RealType) and isinstance(right.type, m.NumberType):
        return left, _real(right)
    if isinstance(right.type, m.RealType) and isinstance(left.type, m.NumberType):
        return _real(left), right
    return left, right


def align_to(term: m.Term, kind: m.ValueType) -> m.Term:
    """The term with the decimals of ``kind``, a type it was joined into."""
    if isinstance(kind, m.RealType) and isinstance(term.type, m.NumberType):
        return _real(term)
    if isinstance(kind, m.NumberType) and isinstance(term.type, m.NumberType):
        return _rescaled(term, term.type, kind.decimals)
    return term


def align_member(item: m.Term, collection: m.Term, ctx: Context) -> tuple[m.Term, m.Term]:
    """An item and a collection it is looked for in, with equal decimals."""
    if not isinstance(collection.type, m.CollectionType):
        return item, collection
    element = collection.type.element
    if not isinstance(item.type, m.NumberType) or not isinstance(element, m.NumberType):
        return item, collection
    if not same_unit(item.type.unit, element.unit):
        ctx.draft.stop("TW0303", "The units differ.", item.span, "units differ", "Use one unit.")
    most = max(item.type.decimals, element.decimals)
    if isinstance(collection, m.ListTerm):
        items = tuple(align_to(one, replace(element, decimals=most)) for one in collection.items)
        kind = m.CollectionType(replace(element, decimals=most))
        collection = m.ListTerm(items, kind, collection.span)
    return _rescaled(item, item.type, most), collection


def _not_exact(term: m.Term, ctx: Context, what: str) -> NoReturn:
    divided = isinstance(term, m.Arithmetic) and term.op == "/"
    div = "Write `div` for a quotient without a remainder, or round it" if divided else "Round it"
    hint = f"{div} with `round(x, n)` or `floor(x)`."
    ctx.draft.stop("TW0304", f"The {what} is exact.", term.span, "a real", hint)


def fit_number(term: m.Term, target: m.ValueType, ctx: Context, what: str) -> m.Term:
    """A number as a value of ``target``: unit, decimals and constants outside the range."""
    found = term.type
    if isinstance(target, m.RealType) and isinstance(found, m.NumberType):
        return _real(term)
    if isinstance(found, m.RealType) and isinstance(target, m.NumberType):
        _not_exact(term, ctx, what)
    if not isinstance(found, m.NumberType) or not isinstance(target, m.NumberType):
        return term
    if not same_unit(found.unit, target.unit):
        named = unit_in_words(target)
        hint = f"Write it with {named}."
        if isinstance(term, m.NumberLiteral):
            hint = f"Write `{ctx.quoted(term).removesuffix(found.unit)}{target.unit}`."
        said = f"The {what} has {named}, and this has {unit_in_words(found)}."
        ctx.draft.stop("TW0303", said, term.span, "units differ", hint)
    if found.decimals > target.decimals:
        kept = f"{target.decimals} decimal{'' if target.decimals == 1 else 's'}"
        said = f"The {what} keeps {kept}, and this has {found.decimals}."
        hint = "Round it with `round(x, n)`, or give the range more decimals."
        if isinstance(term, m.NumberLiteral):
            fewer = f"Write it with {kept}" if target.decimals else "Write a whole number"
            hint = f"{fewer}, or give the range more decimals, as in `0.0 to 9.0`."
        ctx.draft.stop("TW0305", said, term.span, "too many decimals", hint)
    fitted = _rescaled(term, found, target.decimals)
    _in_range(fitted, target, ctx, what)
    return fitted


def _constants(term: m.Term) -> tuple[m.NumberLiteral, ...]:
    match term:
        case m.NumberLiteral():
            return (term,)
        case m.Choose(then=then, otherwise=otherwise):
            return (*_constants(then), *_constants(otherwise))
        case (
            m.LeafTerm() | m.StateTerm() | m.LogicTerm() | m.TestTerm() | m.NumberTerm()
            | m.ListTerm() | m.Fold() | m.BuiltinCall() | m.TemplateTerm()
        ):  # fmt: skip
            return ()
        case _:
            assert_never(term)


def _in_range(term: m.Term, target: m.NumberType, ctx: Context, what: str) -> None:
    for literal in _constants(term):
        below = target.low is not None and literal.value < target.low
        above = target.high is not None and literal.value > target.high
        if below or above:
            said = f"The {what} is {show_type(target)}."
            hint = "Write a number inside the range, or widen the range."
            source = ctx.draft.source_of(literal.span)
            if source is not None and source.text[: literal.span.start].endswith("="):
                hint = "Write `-=` to subtract." if literal.value < 0 else hint
            ctx.draft.stop("TW0308", said, literal.span, "outside the range", hint)


BUILTINS: tuple[m.BuiltinName, ...] = get_args(m.BuiltinName)


ARGUMENTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("abs", "sign", "floor", "sqrt", "sin", "cos", "exp", "log"), ("x",)),
    **dict.fromkeys(("next", "prev", "id", "born"), ("x",)),
    "clamp": ("x", "low", "high"), "toward": ("x", "target", "step"), "round": ("x", "n"),
    "pow": ("x", "n"), "tick": (),
}  # fmt: skip
"""The parameters of the built-in functions, but for `busy` and `did`, which name an action."""


Numeric = Literal[
    "abs", "min", "max", "clamp", "toward", "sign", "floor", "round", "pow", "sqrt", "sin", "cos",
    "exp", "log",
]  # fmt: skip


def is_builtin(name: str) -> bool:
    """Return whether a function of that name is built in."""
    return name in ARGUMENTS or name in ("busy", "did")


def builtin_call(
    name: m.BuiltinName, terms: tuple[m.Term, ...], ctx: Context, span: Span
) -> m.Term:
    """The call of a built-in function with checked arguments, as many as it takes."""
    match name:
        case "tick":
            return m.BuiltinCall(name, (), m.NumberType(0, None), span)
        case "id" | "born":
            return _identity(name, terms[0], ctx, span)
        case "next" | "prev":
            return _neighbour(name, terms[0], ctx, span)
        case "busy" | "did" | "pi" | "score" | "number":
            raise ValueError(f"`{name}` is checked elsewhere")
        case _:
            return _numeric(name, terms, ctx, span)


def _identity(name: m.BuiltinName, term: m.Term, ctx: Context, span: Span) -> m.Term:
    if not isinstance(term.type, m.ObjectType):
        what = f"`{ctx.quoted(term)}` is {show_type(term.type)}, not an object."
        ctx.draft.stop("TW0301", what, term.span, "not an object", "Name an object.")
    least = 0 if name == "id" else None
    kind = m.NumberType(least, None, optional=is_optional(term.type))
    return m.BuiltinCall(name, (term,), kind, span)


def _neighbour(name: m.BuiltinName, term: m.Term, ctx: Context, span: Span) -> m.Term:
    kind = term.type
    if not isinstance(kind, m.EnumType) or not ctx.draft.enums[kind.name].ladder:
        if isinstance(kind, m.EnumType):
            unordered(kind, term.span, ctx)
        what = f"`{name}` steps along a ladder, and this is {show_type(kind)}."
        hint = "Write a value of an enum with `<` between its members."
        ctx.draft.stop("TW0309", what, term.span, "not a ladder", hint)
    return m.BuiltinCall(name, (term,), kind, span, detail=kind.name)


def _numeric(name: Numeric, terms: tuple[m.Term, ...], ctx: Context, span: Span) -> m.Term:
    terms = tuple(operand(term, ctx, "Test it for `none` first.") for term in terms)
    match name:
        case "sqrt" | "sin" | "cos" | "exp" | "log":
            return m.BuiltinCall(name, (align_to(terms[0], m.REAL),), m.REAL, span)
        case "pow":
            times = fit_number(terms[1], m.NumberType(), ctx, "exponent of `pow`")
            return m.BuiltinCall(name, (align_to(terms[0], m.REAL), times), m.REAL, span)
        case "round":
            return _round(terms, ctx, span)
        case "floor":
            return m.BuiltinCall(name, terms, m.NumberType(), span)
        case "sign":
            return m.BuiltinCall(name, terms, m.NumberType(-1, 1), span)
        case "abs" | "min" | "max" | "clamp" | "toward":
            return _between(name, terms, ctx, span)
        case _:
            assert_never(name)


def _between(
    name: m.BuiltinName, terms: tuple[m.Term, ...], ctx: Context, span: Span
) -> m.BuiltinCall:
    """The call of a function whose result has the type that joins those of its arguments."""
    kind: m.ValueType = terms[0].type
    for term in terms[1:]:
        aligned(terms[0], term, ctx, term.span)
        kind = join(ctx.draft.types, kind, term.type) or kind
    args = tuple(align_to(term, kind) for term in terms)
    return m.BuiltinCall(name, args, _widened(name, kind), span)


def _widened(name: m.BuiltinName, kind: m.ValueType) -> m.ValueType:
    """``abs`` leaves the hull of its argument; the others stay between their arguments."""
    if name != "abs" or not isinstance(kind, m.NumberType):
        return kind
    if kind.low is None or kind.high is None:
        return m.NumberType(0, None, kind.decimals, kind.unit)
    return m.NumberType(0, max(abs(kind.low), abs(kind.high)), kind.decimals, kind.unit)


def _round(terms: tuple[m.Term, ...], ctx: Context, span: Span) -> m.Term:
    digits = terms[1]
    if not isinstance(digits, m.NumberLiteral) or not 0 <= digits.value <= 15:
        hint = "Write a whole number from 0 to 15."
        ctx.draft.stop(
            "TW0301", "`round` needs a constant number of digits.", digits.span, hint=hint
        )
    unit = terms[0].type.unit if isinstance(terms[0].type, m.NumberType) else ""
    return m.BuiltinCall("round", terms, m.NumberType(None, None, digits.value, unit), span)


def fold_type(kind: m.FoldKind, term: m.Term, ctx: Context) -> m.ValueType:
    found = term.type
    if kind in ("any", "all"):
        if not isinstance(found, m.BoolType):
            what = f"`{kind}` folds conditions, and this is {show_type(found)}."
            ctx.draft.stop("TW0301", what, term.span, "not a condition", "Compare it.")
        return m.BOOL
    if kind == "count":
        return m.NumberType(0, None)
    if kind in ("first", "last"):
        return optional(found)
    numeric = isinstance(found, (m.NumberType, m.RealType))
    if not numeric and not (kind != "sum" and isinstance(found, m.EnumType)):
        what = f"`{kind}` folds numbers, and this is {show_type(found)}."
        ctx.draft.stop("TW0301", what, term.span, "not a number", "Fold a number.")
    if is_optional(found):
        what = f"`{ctx.quoted(term)}` may be `none`, and `none` cannot be folded."
        ctx.draft.stop("TW0307", what, term.span, "may be `none`", "Guard it in `where`.")
    if kind == "sum":
        summed = found
        return (
            m.NumberType(None, None, summed.decimals, summed.unit)
            if isinstance(summed, m.NumberType)
            else summed
        )
    return optional(found)


def hull(kind: str, args: tuple[m.Term, ...], joined: m.ValueType) -> m.ValueType:
    """The range of a minimum or maximum: tighter than the hull of its arguments."""
    numbers = [arg.type for arg in args if isinstance(arg.type, m.NumberType)]
    if not isinstance(joined, m.NumberType) or len(numbers) != len(args):
        return joined
    lows, highs = [one.low for one in numbers], [one.high for one in numbers]
    known_lows = [low for low in lows if low is not None]
    known_highs = [high for high in highs if high is not None]
    every_low, every_high = len(known_lows) == len(lows), len(known_highs) == len(highs)
    if kind == "min":
        low = min(known_lows) if every_low else None
        high = min(known_highs) if known_highs else None
    else:
        low = max(known_lows) if known_lows else None
        high = max(known_highs) if every_high else None
    return m.NumberType(low, high, joined.decimals, joined.unit)


def fit(
    term: m.Term,
    target: m.ValueType,
    ctx: Context,
    what: str,
    declared: m.ValueType | None = None,
) -> m.Term:
    """The term as a value of ``target``, or a diagnostic that says why it does not fit.

    ``what`` names the place: ``attribute `at` ``, ``parameter `k` of `unlock` ``. ``declared`` is
    the type that the hint speaks of, where the place takes more than it declares.
    """
    term = _seen_as(term, target, ctx)
    found = term.type
    draft = ctx.draft
    if isinstance(found, m.NoneType) and not is_optional(target):
        hint = "Give it a value, or make its type optional with `?`."
        draft.stop("TW0307", f"The {what} is never `none`.", term.span, "`none`", hint)
    if isinstance(without_none(found), m.RealType) and isinstance(target, m.NumberType):
        _not_exact(term, ctx, what)
    if not assignable(draft.types, found, target):
        needs = f"The {what} needs {show_type(without_none(target))}"
        said = f"{needs}, and `{ctx.quoted(term)}` is {in_words(found)}."
        draft.stop(
            "TW0301", said, term.span, in_words(found), of_place(term, declared or target, ctx)
        )
    if is_optional(found) and not is_optional(target) and not isinstance(target, m.BoolType):
        said = f"The {what} is never `none`, and `{ctx.quoted(term)}` may be."
        hint = "Name it with `let` and require it to be `!= none` first."
        draft.stop("TW0307", said, term.span, "may be `none`", hint)
    return fit_number(term, target, ctx, what)


def _seen_as(term: m.Term, target: m.ValueType, ctx: Context) -> m.Term:
    """A local or path that is known to have several types, as the one that fits."""
    if not assignable(ctx.draft.types, term.type, target):
        for kind in ctx.further(term):
            if assignable(ctx.draft.types, kind, target):
                return replace(term, type=kind)
    return term
