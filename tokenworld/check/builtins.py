"""The built-in functions (language.md §2, §4)."""

from __future__ import annotations

from typing import cast, get_args

from tokenworld.check import arithmetic
from tokenworld.check.context import Context
from tokenworld.check.literals import kind_type
from tokenworld.check.relations import join, optional
from tokenworld.diagnostics import Span
from tokenworld.model import (
    BOOL,
    REAL,
    BuiltinCall,
    BuiltinName,
    EnumType,
    NumberLiteral,
    NumberType,
    ObjectType,
    RealType,
    Term,
    ValueType,
    is_optional,
    show_type,
)
from tokenworld.syntax import nodes as syn

__all__ = ["NAMES", "check_builtin", "is_builtin", "pi", "score"]

NAMES: tuple[BuiltinName, ...] = get_args(BuiltinName)
_ARITY = {
    "abs": 1, "clamp": 3, "toward": 3, "sign": 1, "floor": 1, "round": 2, "sqrt": 1, "sin": 1,
    "cos": 1, "exp": 1, "log": 1, "pow": 2, "next": 1, "prev": 1, "tick": 0, "id": 1,
}  # fmt: skip
_REAL = ("sqrt", "sin", "cos", "exp", "log")


def is_builtin(name: str) -> bool:
    """Whether a function of that name is built in."""
    return name in _ARITY or name in ("busy", "did")


def score(span: Span) -> Term:
    """The score of the world so far."""
    return BuiltinCall("score", (), NumberType(), span)


def pi(span: Span) -> Term:
    """The nearest double to π."""
    return BuiltinCall("pi", (), REAL, span)


def check_builtin(name: syn.Name, args: tuple[syn.Expr, ...], ctx: Context, span: Span) -> Term:
    """A call of a built-in function."""
    from tokenworld.check.expressions import check

    if name.value in ("busy", "did"):
        return _deed(name, args, ctx, span)
    if len(args) != _ARITY[name.value]:
        what = f"`{name.value}` takes {_ARITY[name.value]} arguments, and this gives {len(args)}."
        ctx.draft.stop("TW0302", what, name.span, f"{len(args)} given", "Correct the arguments.")
    terms = tuple(check(arg, ctx) for arg in args)
    builtin = cast(BuiltinName, name.value)
    match builtin:
        case "tick":
            return BuiltinCall(builtin, (), NumberType(0, None), span)
        case "id":
            return _identity(terms[0], ctx, span)
        case "next" | "prev":
            return _neighbour(builtin, terms[0], ctx, span)
        case _:
            return _numeric(builtin, terms, ctx, span)


def _identity(term: Term, ctx: Context, span: Span) -> Term:
    if not isinstance(term.type, ObjectType):
        what = f"`{ctx.quoted(term)}` is {show_type(term.type)}, not an object."
        ctx.draft.stop("TW0301", what, term.span, "not an object", "Objects have numbers.")
    return BuiltinCall("id", (term,), NumberType(0, None, optional=is_optional(term.type)), span)


def _neighbour(name: BuiltinName, term: Term, ctx: Context, span: Span) -> Term:
    kind = term.type
    if not isinstance(kind, EnumType) or not ctx.draft.enums[kind.name].ladder:
        what = f"`{name}` steps along a ladder, and this is {show_type(kind)}."
        hint = "Write the enum with `<` between its members."
        ctx.draft.stop("TW0309", what, term.span, "not a ladder", hint)
    return BuiltinCall(name, (term,), kind, span, detail=kind.name)


def _number(term: Term, ctx: Context) -> Term:
    if not isinstance(term.type, (NumberType, RealType)):
        what = f"`{ctx.quoted(term)}` is {show_type(term.type)}, not a number."
        ctx.draft.stop("TW0301", what, term.span, "not a number", "Calculate with numbers only.")
    if is_optional(term.type):
        what = f"`{ctx.quoted(term)}` may be `none`, and `none` cannot be calculated with."
        ctx.draft.stop("TW0307", what, term.span, "may be `none`", "Test it for `none` first.")
    return term


def _numeric(name: BuiltinName, terms: tuple[Term, ...], ctx: Context, span: Span) -> Term:
    terms = tuple(_number(term, ctx) for term in terms)
    if name in _REAL:
        return BuiltinCall(name, (arithmetic.align_to(terms[0], REAL),), REAL, span)
    if name == "pow":
        times = arithmetic.fit_number(terms[1], NumberType(), ctx, "exponent of `pow`")
        return BuiltinCall(name, (arithmetic.align_to(terms[0], REAL), times), REAL, span)
    if name == "round":
        return _round(terms, ctx, span)
    if name == "floor":
        return BuiltinCall(name, terms, NumberType(), span)
    if name == "sign":
        return BuiltinCall(name, terms, NumberType(-1, 1), span)
    kind: ValueType = terms[0].type
    for term in terms[1:]:
        arithmetic.aligned(terms[0], term, ctx, term.span)
        kind = join(ctx.draft.types, kind, term.type) or kind
    aligned = tuple(arithmetic.align_to(term, kind) for term in terms)
    return BuiltinCall(name, aligned, _widened(name, kind), span)


def _widened(name: BuiltinName, kind: ValueType) -> ValueType:
    """``abs`` leaves the hull of its argument; the others stay between their arguments."""
    if name != "abs" or not isinstance(kind, NumberType):
        return kind
    if kind.low is None or kind.high is None:
        return NumberType(0, None, kind.decimals, kind.unit)
    return NumberType(0, max(abs(kind.low), abs(kind.high)), kind.decimals, kind.unit)


def _round(terms: tuple[Term, ...], ctx: Context, span: Span) -> Term:
    digits = terms[1]
    if not isinstance(digits, NumberLiteral) or not 0 <= digits.value <= 15:
        hint = "Write a whole number from 0 to 15."
        ctx.draft.stop(
            "TW0301", "`round` needs a constant number of digits.", digits.span, hint=hint
        )
    unit = terms[0].type.unit if isinstance(terms[0].type, NumberType) else ""
    return BuiltinCall("round", terms, NumberType(None, None, digits.value, unit), span)


def _deed(name: syn.Name, args: tuple[syn.Expr, ...], ctx: Context, span: Span) -> Term:
    """``busy(h)``, ``busy(h, act)`` and ``did(h, act, args…)``."""
    from tokenworld.check.expressions import check, fit

    least = 1 if name.value == "busy" else 2
    if len(args) < least or (name.value == "busy" and len(args) > 2):
        what = f"`{name.value}` takes an actor and an action."
        ctx.draft.stop("TW0302", what, name.span, f"{len(args)} given", "Correct the arguments.")
    actor = check(args[0], ctx)
    if not isinstance(actor.type, ObjectType):
        what = f"`{ctx.quoted(actor)}` is {show_type(actor.type)}, not an object."
        ctx.draft.stop("TW0301", what, actor.span, "does not act", "Name the acting object.")
    if len(args) == 1:
        return BuiltinCall("busy", (actor,), BOOL, span)
    action = _action(args[1], ctx)
    kinds = [kind_type(ctx.draft, formal.kind) for formal in action.params]
    if len(args) - 2 > len(kinds):
        given = len(args) - 2
        what = f"`{action.name.value}` takes {len(kinds)} arguments, and this gives {given}."
        ctx.draft.stop("TW0302", what, name.span, f"{given} given", "Leave some out.")
    rest = tuple(
        fit(check(arg, ctx, kind), optional(kind), ctx, f"argument of `{action.name.value}`")
        for arg, kind in zip(args[2:], kinds, strict=False)
    )
    builtin = cast(BuiltinName, name.value)
    return BuiltinCall(builtin, (actor, *rest), BOOL, span, action.name.value)


def _action(expr: syn.Expr, ctx: Context) -> syn.ActionDecl:
    """The action that ``did`` or ``busy`` speaks of."""
    from tokenworld.check.references import behind_alias

    name = behind_alias(expr.base, expr.name, ctx) if isinstance(expr, syn.Attr) else expr
    if not isinstance(name, syn.Name):
        hint = "Write it without arguments; these follow it."
        ctx.draft.stop("TW0201", "The name of an action is needed.", expr.span, "no action", hint)
    known = {item.name.value: item for item, _ in ctx.draft.items(syn.ActionDecl)}
    full = next((one for one in ctx.draft.candidates(name) if one in known), None)
    if full is None:
        ctx.draft.unknown("action", name, known)
    return known[full]
