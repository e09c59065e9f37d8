"""Binders and folds: ``any all count sum min max first last`` (language.md §4)."""

from __future__ import annotations

from tokenworld.check import arithmetic
from tokenworld.check.context import Context, fresh_local
from tokenworld.check.literals import kind_type
from tokenworld.check.narrowing import when_true
from tokenworld.check.relations import join, optional
from tokenworld.model import (
    BOOL,
    Binder,
    BoolLiteral,
    BoolType,
    BuiltinCall,
    CollectionRange,
    CollectionType,
    Domain,
    EnumType,
    Fold,
    FoldKind,
    IntervalRange,
    Local,
    NumberType,
    ObjectType,
    RealType,
    Term,
    TypeRange,
    ValueType,
    is_optional,
    show_type,
    without_none,
)
from tokenworld.syntax import nodes as syn

__all__ = ["check_binders", "check_fold", "check_where", "formal_binders"]


MOST_PARAMETERS = 32
"""Of one rule: published planning domains have actions with two dozen."""


def formal_binders(ctx: Context, formals: tuple[syn.Formal, ...]) -> tuple[Binder, ...]:
    """The parameters of a rule as binders over types and ranges."""
    seen: dict[str, syn.Formal] = {}
    found: list[Binder] = []
    for formal in formals:
        if formal.name.value in seen:
            ctx.draft.twice("parameter", formal.name, seen[formal.name.value].span)
        seen[formal.name.value] = formal
        fresh_local(formal.name, ctx)
        kind = kind_type(ctx.draft, formal.kind)
        typed = formal.kind is not None
        found.append(Binder(formal.name.value, _domain_of(kind), kind, formal.span, typed))
    if len(found) > MOST_PARAMETERS:
        what = f"A rule has at most {MOST_PARAMETERS} parameters."
        ctx.draft.stop("TW0302", what, formals[MOST_PARAMETERS].span, hint="Split the rule.")
    return tuple(found)


def _domain_of(kind: ValueType) -> Domain:
    if isinstance(kind, NumberType):
        return IntervalRange(kind.low or 0, kind.high or 0)
    return TypeRange(kind)


def check_binders(
    nodes: tuple[syn.Binder, ...], ctx: Context
) -> tuple[tuple[Binder, ...], Context]:
    """Binders in order; later ones see earlier variables."""
    found: list[Binder] = []
    for node in nodes:
        binder = _binder(node, ctx)
        found.append(binder)
        ctx = ctx.bind(binder.name, binder.type)
    return tuple(found), ctx


def _binder(node: syn.Binder, ctx: Context) -> Binder:
    from tokenworld.check.expressions import check

    fresh_local(node.name, ctx)
    if node.collection is None:
        kind = kind_type(ctx.draft, node.kind)
        typed = node.kind is not None
        return Binder(node.name.value, _domain_of(kind), kind, node.span, typed)
    collection = check(node.collection, ctx)
    if not isinstance(collection.type, CollectionType):
        what = f"`{ctx.quoted(collection)}` is {show_type(collection.type)}, not a collection."
        hint = "Iterate over a type (`x: T`), a range or a collection (`x in c.contents`)."
        ctx.draft.stop("TW0301", what, collection.span, "not a collection", hint)
    element = without_none(collection.type.element)
    if node.kind is None:
        return Binder(node.name.value, CollectionRange(collection), element, node.span)
    kind = kind_type(ctx.draft, node.kind)
    if not isinstance(kind, ObjectType) or not isinstance(element, ObjectType):
        what = "Only objects of a collection can be filtered by type."
        ctx.draft.stop("TW0301", what, node.span, hint="Leave out the type.")
    return Binder(node.name.value, CollectionRange(collection, kind.name), kind, node.span)


def check_where(where: syn.Where, ctx: Context) -> tuple[tuple[Binder, ...], Term | None, Context]:
    """Binders, their condition, and the place behind it (narrowed by the condition)."""
    from tokenworld.check.expressions import check_condition

    binders, inner = check_binders(where.binders, ctx)
    if where.condition is None:
        return binders, None, inner
    condition = check_condition(where.condition, inner)
    return binders, condition, inner.narrow(when_true(condition, ctx.draft.types))


def check_fold(
    expr: syn.Fold | syn.FoldOf | syn.FoldAll, ctx: Context, expected: ValueType | None
) -> Term:
    """A fold over bindings, over a collection, or ``min``/``max`` of values."""
    match expr:
        case syn.FoldOf():
            return _of_values(expr, ctx)
        case syn.FoldAll():
            return _of_collection(expr, ctx)
        case syn.Fold(kind=kind, value=value, where=where):
            return _of_bindings(kind, value, where, ctx, expected, expr)


def _of_bindings(
    kind: FoldKind,
    value: syn.Expr,
    where: syn.Where,
    ctx: Context,
    expected: ValueType | None,
    expr: syn.Fold,
) -> Term:
    from tokenworld.check.expressions import check

    binders, condition, inner = check_where(where, ctx)
    term = check(value, inner, BOOL if kind in ("any", "all") else expected)
    counted = None if kind == "count" and not isinstance(term.type, BoolType) else term
    return Fold(kind, counted, binders, condition, _fold_type(kind, term, ctx), expr.span)


def _fold_type(kind: FoldKind, term: Term, ctx: Context) -> ValueType:
    found = term.type
    if kind in ("any", "all"):
        if not isinstance(found, BoolType):
            what = f"`{kind}` folds conditions, and this is {show_type(found)}."
            ctx.draft.stop("TW0301", what, term.span, "not a condition", "Compare it.")
        return BOOL
    if kind == "count":
        return NumberType(0, None)
    if kind in ("first", "last"):
        return optional(found)
    numeric = isinstance(found, (NumberType, RealType))
    if not numeric and not (kind != "sum" and isinstance(found, EnumType)):
        what = f"`{kind}` folds numbers, and this is {show_type(found)}."
        ctx.draft.stop("TW0301", what, term.span, "not a number", "Fold a number.")
    if is_optional(found):
        what = f"`{ctx.quoted(term)}` may be `none`, and `none` cannot be folded."
        ctx.draft.stop("TW0307", what, term.span, "may be `none`", "Guard it in `where`.")
    if kind == "sum":
        summed = found
        return (
            NumberType(None, None, summed.decimals, summed.unit)
            if isinstance(summed, NumberType)
            else summed
        )
    return optional(found)


def _of_collection(expr: syn.FoldAll, ctx: Context) -> Term:
    from tokenworld.check.expressions import check

    collection = check(expr.collection, ctx)
    if not isinstance(collection.type, CollectionType):
        what = f"`{ctx.quoted(collection)}` is {show_type(collection.type)}, not a collection."
        hint = f"Write `{expr.kind}(… for x: T)`, or name a collection."
        ctx.draft.stop("TW0301", what, collection.span, "not a collection", hint)
    element = collection.type.element
    binder = Binder("each", CollectionRange(collection), element, collection.span)
    item: Term = Local("each", element, collection.span)
    if expr.kind in ("any", "all") and not isinstance(element, BoolType):
        item = BoolLiteral(True, BOOL, collection.span)
    kind = _fold_type(expr.kind, item, ctx)
    value = None if expr.kind == "count" and not isinstance(element, BoolType) else item
    return Fold(expr.kind, value, (binder,), None, kind, expr.span)


def _of_values(expr: syn.FoldOf, ctx: Context) -> Term:
    from tokenworld.check.expressions import check

    if expr.kind not in ("min", "max"):
        what = f"`{expr.kind}` takes one collection, or `… for x: T`."
        ctx.draft.stop("TW0302", what, expr.span, "several values", "Put them in `[ ]`.")
    terms = [check(value, ctx) for value in expr.values]
    kind = terms[0].type
    for term in terms:
        _fold_type("max", term, ctx)
        joined = join(ctx.draft.types, kind, term.type)
        if joined is None:
            what = f"`{expr.kind}` compares {show_type(kind)} with {show_type(term.type)}."
            ctx.draft.stop("TW0301", what, term.span, "types differ", "Compare one kind.")
        arithmetic.aligned(terms[0], term, ctx, term.span)
        kind = joined
    args = tuple(arithmetic.align_to(term, kind) for term in terms)
    return BuiltinCall(expr.kind, args, _hull(expr.kind, args, kind), expr.span)


def _hull(kind: str, args: tuple[Term, ...], joined: ValueType) -> ValueType:
    """The range of a minimum or maximum: tighter than the hull of its arguments."""
    numbers = [arg.type for arg in args if isinstance(arg.type, NumberType)]
    if not isinstance(joined, NumberType) or len(numbers) != len(args):
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
    return NumberType(low, high, joined.decimals, joined.unit)
