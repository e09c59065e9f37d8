"""Expressions to terms: names resolved, types and units settled (language.md §4)."""

from __future__ import annotations

from dataclasses import replace

from tokenworld.check import arithmetic, folds, references
from tokenworld.check.context import Context
from tokenworld.check.literals import number_type, object_type
from tokenworld.check.narrowing import when_false, when_true
from tokenworld.check.relations import assignable, can_equal, is_subtype, join
from tokenworld.check.templates import check_template
from tokenworld.diagnostics import Span
from tokenworld.model import (
    BOOL,
    NONE,
    ROOT,
    TEXT,
    And,
    BoolLiteral,
    BoolType,
    Choose,
    CollectionType,
    Compare,
    EnumType,
    Implies,
    IsType,
    ListTerm,
    Local,
    Member,
    NoneLiteral,
    NoneType,
    Not,
    NumberLiteral,
    NumberType,
    ObjectType,
    Or,
    RealType,
    TemplateTerm,
    Term,
    ValueType,
    is_optional,
    show_type,
    without_none,
)
from tokenworld.syntax import nodes as syn

__all__ = ["check", "check_condition", "fit"]


def check(expr: syn.Expr, ctx: Context, expected: ValueType | None = None) -> Term:
    """The term an expression means; ``expected`` helps bare enum members to be found.

    Raises `Abandon` once its one diagnostic is reported.
    """
    match expr:
        case syn.Number():
            return _number(expr, ctx)
        case syn.Text(template=template):
            return TemplateTerm(check_template(template, ctx), TEXT, expr.span)
        case syn.Constant(value=None):
            return NoneLiteral(NONE, expr.span)
        case syn.Constant(value=bool() as value):
            return BoolLiteral(value, BOOL, expr.span)
        case syn.Name() | syn.Call() | syn.Attr() | syn.Method() | syn.Was() | syn.Qualified():
            return references.check_reference(expr, ctx, expected)
        case syn.ListExpr(items=items):
            return _list(items, ctx, expected, expr.span)
        case syn.Fold() | syn.FoldOf() | syn.FoldAll():
            return folds.check_fold(expr, ctx, expected)
        case syn.Binary() | syn.Negative():
            return arithmetic.check_arithmetic(expr, ctx)
        case _:
            return _logic(expr, ctx, expected)


def _number(expr: syn.Number, ctx: Context) -> Term:
    found = number_type(ctx.draft, expr)
    return NumberLiteral(found.low or 0, found, expr.span)


def _logic(expr: syn.Expr, ctx: Context, expected: ValueType | None) -> Term:
    match expr:
        case syn.Not(operand=operand):
            return Not(check_condition(operand, ctx), BOOL, expr.span)
        case syn.And(operands=operands):
            return And(_group(operands, ctx, positive=True), BOOL, expr.span)
        case syn.Or(operands=operands):
            return Or(_group(operands, ctx, positive=False), BOOL, expr.span)
        case syn.Implies(left=left, right=right):
            first = check_condition(left, ctx)
            second = check_condition(right, _knowing(first, ctx))
            return Implies(first, second, BOOL, expr.span)
        case syn.Choose():
            return _choose(expr, ctx, expected)
        case syn.Compare():
            return _compare(expr, ctx)
        case syn.MemberOf(item=item, collection=collection):
            return _member(item, collection, ctx, expr.span)
        case syn.IsType():
            return _is_type(expr, ctx)
        case _:
            raise TypeError(f"not an expression: {expr!r}")


def _knowing(term: Term, ctx: Context, *, holds: bool = True) -> Context:
    facts = (when_true if holds else when_false)(term, ctx.draft.types)
    return ctx.narrow(facts)


def _group(operands: tuple[syn.Expr, ...], ctx: Context, *, positive: bool) -> tuple[Term, ...]:
    terms: list[Term] = []
    for operand in operands:
        term = check_condition(operand, ctx)
        ctx = _knowing(term, ctx, holds=positive)
        terms.append(term)
    return tuple(terms)


def check_condition(expr: syn.Expr, ctx: Context) -> Term:
    """A term that must be truth-valued."""
    term = check(expr, ctx, BOOL)
    if not isinstance(term.type, BoolType):
        hint = "Compare it with something, such as `!= none`."
        what = f"`{ctx.quoted(term)}` is {show_type(term.type)}, where a condition is needed."
        ctx.draft.stop("TW0301", what, term.span, "not true or false", hint)
    return term


def _choose(expr: syn.Choose, ctx: Context, expected: ValueType | None) -> Term:
    condition = check_condition(expr.condition, ctx)
    then = check(expr.then, _knowing(condition, ctx), expected)
    other = check(
        expr.otherwise, _knowing(condition, ctx, holds=False), expected or without_none(then.type)
    )
    joined = join(ctx.draft.types, then.type, other.type)
    if joined is None:
        what = f"The branches are {show_type(then.type)} and {show_type(other.type)}."
        ctx.draft.stop("TW0301", what, expr.span, "branches differ", "Give both the same type.")
    then, other = (arithmetic.align_to(branch, joined) for branch in (then, other))
    return Choose(condition, then, other, joined, expr.span)


def _is_member_name(expr: syn.Expr, ctx: Context) -> bool:
    """Whether a bare name may be an enum member that needs the other side's type."""
    if not isinstance(expr, syn.Name) or expr.value in ctx.names:
        return False
    names = ctx.draft.candidates(expr)
    return not any((ctx.world, name) in ctx.draft.object_types for name in names)


def check_pair(left: syn.Expr, right: syn.Expr, ctx: Context) -> tuple[Term, Term]:
    """Two sides of a comparison, each giving the other what it expects."""
    if _is_member_name(left, ctx) and not _is_member_name(right, ctx):
        second = check(right, ctx)
        return check(left, ctx, without_none(second.type)), second
    first = check(left, ctx)
    return first, check(right, ctx, without_none(first.type))


def _compare(expr: syn.Compare, ctx: Context) -> Term:
    left, right = check_pair(expr.left, expr.right, ctx)
    if expr.op in ("==", "!="):
        _comparable(left, right, expr, ctx)
    else:
        _ordered(left, right, expr, ctx)
    left, right = arithmetic.aligned(left, right, ctx, expr.span)
    return Compare(expr.op, left, right, BOOL, expr.span)


def _comparable(left: Term, right: Term, expr: syn.Compare, ctx: Context) -> None:
    if can_equal(ctx.draft.types, left.type, right.type):
        return
    what = f"{show_type(left.type)} and {show_type(right.type)} are never equal."
    hint = "Compare values of one kind."
    ctx.draft.stop("TW0301", what, expr.span, "types differ", hint)


def _ordered(left: Term, right: Term, expr: syn.Compare, ctx: Context) -> None:
    kinds = (left.type, right.type)
    for term, kind in zip((left, right), kinds, strict=True):
        if isinstance(kind, EnumType) and not ctx.draft.enums[kind.name].ladder:
            what = f"The members of `{kind.name}` have no order."
            hint = f"Write `enum {kind.name}` with `<` between its members, or use `==`."
            ctx.draft.stop("TW0309", what, expr.span, "not a ladder", hint)
        if not isinstance(kind, (EnumType, NumberType, RealType)):
            what = f"`{ctx.quoted(term)}` is {show_type(kind)}, which has no order."
            ctx.draft.stop("TW0301", what, term.span, "cannot be ordered", "Use `==` or `!=`.")
    if not can_equal(ctx.draft.types, *kinds):
        what = f"{show_type(kinds[0])} and {show_type(kinds[1])} cannot be compared."
        ctx.draft.stop("TW0301", what, expr.span, "types differ", "Compare values of one kind.")


def _member(item: syn.Expr, collection: syn.Expr, ctx: Context, span: Span) -> Term:
    if isinstance(collection, syn.ListExpr):
        first = check(item, ctx)
        second = _list(collection.items, ctx, CollectionType(first.type), collection.span)
    else:
        second = check(collection, ctx)
        element = second.type.element if isinstance(second.type, CollectionType) else None
        first = check(item, ctx, element)
    if not isinstance(second.type, CollectionType):
        what = f"`{ctx.quoted(second)}` is {show_type(second.type)}, not a collection."
        ctx.draft.stop("TW0301", what, second.span, "not a collection", "Use `==` for one value.")
    if not can_equal(ctx.draft.types, first.type, second.type.element):
        what = f"No {show_type(first.type)} is in a {show_type(second.type)}."
        ctx.draft.stop("TW0301", what, span, "types differ", "Test a value of the same kind.")
    first, second = arithmetic.align_member(first, second, ctx)
    return Member(first, second, BOOL, span)


def _list(
    items: tuple[syn.Expr, ...], ctx: Context, expected: ValueType | None, span: Span
) -> Term:
    wanted = expected.element if isinstance(expected, CollectionType) else None
    terms: list[Term] = []
    element: ValueType | None = None
    for item in items:
        term = check(item, ctx, without_none(wanted) if wanted is not None else None)
        joined = term.type if element is None else join(ctx.draft.types, element, term.type)
        if joined is None:
            what = "The items of a list have one type."
            ctx.draft.stop("TW0301", what, term.span, show_type(term.type), "Leave this one out.")
        element, wanted = joined, wanted or term.type
        terms.append(term)
    kind = element if element is not None else wanted or NONE
    aligned = tuple(arithmetic.align_to(term, kind) for term in terms)
    return ListTerm(aligned, CollectionType(kind), span)


def _is_type(expr: syn.IsType, ctx: Context) -> Term:
    term = check(expr.value, ctx)
    name = ROOT if expr.type.value == ROOT else object_type(ctx.draft, expr.type)
    if not isinstance(term.type, ObjectType):
        what = f"`{ctx.quoted(term)}` is {show_type(term.type)}, not an object."
        ctx.draft.stop("TW0301", what, term.span, "not an object", "Only objects have types.")
    if not can_equal(ctx.draft.types, term.type, ObjectType(name)):
        what = f"No {term.type.name} is a {name}."
        ctx.draft.stop("TW0301", what, expr.span, "never true", "Test a subtype.")
    return IsType(term, name, BOOL, expr.span)


def fit(term: Term, target: ValueType, ctx: Context, what: str) -> Term:
    """The term as a value of ``target``, or a diagnostic that says why it does not fit.

    ``what`` names the place: ``attribute `at` ``, ``parameter `k` of `unlock` ``.
    """
    term = _seen_as(term, target, ctx)
    found = term.type
    draft = ctx.draft
    if isinstance(found, NoneType) and not is_optional(target):
        hint = "Give it a value, or make its type optional with `?`."
        draft.stop("TW0307", f"The {what} is never `none`.", term.span, "`none`", hint)
    if isinstance(without_none(found), RealType) and isinstance(target, NumberType):
        hint = "Round it with `round(x, n)` or `floor(x)`."
        draft.stop("TW0304", f"The {what} is exact.", term.span, "a real", hint)
    if not assignable(draft.types, found, target):
        needs = f"The {what} needs {show_type(without_none(target))}"
        said = f"{needs}, and `{ctx.quoted(term)}` is {show_type(found)}."
        draft.stop("TW0301", said, term.span, show_type(found), _fit_hint(term, target, ctx))
    if is_optional(found) and not is_optional(target) and not isinstance(target, BoolType):
        said = f"The {what} is never `none`, and `{ctx.quoted(term)}` may be."
        hint = "Name it with `let` and require it to be `!= none` first."
        draft.stop("TW0307", said, term.span, "may be `none`", hint)
    return arithmetic.fit_number(term, target, ctx, what)


def _seen_as(term: Term, target: ValueType, ctx: Context) -> Term:
    """A local that is known to have several types, as the one that fits."""
    if isinstance(term, Local) and not assignable(ctx.draft.types, term.type, target):
        for kind in ctx.also.get(term.name, ()):
            if assignable(ctx.draft.types, kind, target):
                return replace(term, type=kind)
    return term


def _fit_hint(term: Term, target: ValueType, ctx: Context) -> str:
    match term.type, target:
        case ObjectType(name=wide), ObjectType(name=narrow) if is_subtype(
            ctx.draft.types, narrow, wide
        ):
            return f"Narrow it first, with `is {narrow}` on a name."
        case _, EnumType(name=enum):
            members = ctx.draft.enums[enum].members
            return f"Write one of {', '.join(f'`{member}`' for member in members[:6])}."
        case _:
            return f"Write a value of the type `{show_type(without_none(target))}`."
