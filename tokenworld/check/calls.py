"""Calls and members to terms: what stands before brackets and behind a dot (language.md §3)."""

from __future__ import annotations

from dataclasses import replace

from tokenworld.check import builtins
from tokenworld.check.attributes import fact_id, find_member, wrong_type
from tokenworld.check.context import Context
from tokenworld.check.derives import derive_type
from tokenworld.check.grid import step_type
from tokenworld.check.relations import optional
from tokenworld.diagnostics import Span, did_you_mean
from tokenworld.model import (
    BOOL,
    BoolType,
    ClosureOf,
    CollectionType,
    DeriveCall,
    Fluent,
    InverseOf,
    Local,
    Member,
    Read,
    Term,
    ValueType,
    is_optional,
)
from tokenworld.syntax import nodes as syn

__all__ = ["call", "call_fluent", "fact_named", "member", "plain"]


def fact_named(name: syn.Name, ctx: Context) -> Fluent | str | None:
    """What a name called with arguments means: a stored fact, or the full name of a derive."""
    draft = ctx.draft
    for full in draft.candidates(name):
        if fact_id(full) in draft.fluents:
            return draft.fluents[fact_id(full)]
        if full in draft.derive_items:
            return full
    return None


def _closure_named(name: syn.Name, ctx: Context) -> Fluent | None:
    """The relation whose closure has that name."""
    draft = ctx.draft
    names = draft.candidates(name)
    for one in draft.fluents.values():
        if one.fluent_kind == "relation" and one.closure is not None:
            prefix = draft.namespace(one.span).prefix
            if f"{prefix}{one.closure}" in names:
                return one
    return None


def call(function: syn.Name, args: tuple[syn.Expr, ...], ctx: Context, span: Span) -> Term:
    draft, name = ctx.draft, function.value
    match fact_named(function, ctx):
        case Fluent() as fluent:
            return call_fluent(fluent, args, ctx, function, span=span)
        case str() as derive:
            return _call_derive(derive, function, args, ctx, span)
        case None:
            pass
    closure = _closure_named(function, ctx)
    if closure is not None:
        _arity("closure", function, 2, args, ctx)
        return _related(closure, plain(args[0], ctx), args[1], ctx, span)
    if builtins.is_builtin(name):
        return builtins.check_builtin(function, args, ctx, span)
    if args:
        return member(plain(args[0], ctx), function, args[1:], ctx, span)
    known = (*draft.fluents, *draft.derive_items, *builtins.NAMES)
    hint = did_you_mean(name, known) or "Declare it as a relation, function, table or derive."
    draft.stop("TW0201", f"There is no fact or function `{name}`.", function.span, "unknown", hint)


def plain(expr: syn.Expr, ctx: Context) -> Term:
    """The term of an expression where nothing is expected of it."""
    from tokenworld.check.expressions import check

    return check(expr, ctx)


def _related(fluent: Fluent, first: Term, second: syn.Expr, ctx: Context, span: Span) -> Term:
    """The closure of a relation called as a relation: false over `none`."""
    from tokenworld.check.expressions import check, fit

    what = f"argument of `{fluent.closure}`"
    wanted = [optional(param.type) for param in fluent.params]
    start = fit(first, wanted[0], ctx, what)
    end = fit(check(second, ctx, wanted[1]), wanted[1], ctx, what)
    return Member(end, ClosureOf(fluent.id, start, _collection_of(fluent), span), BOOL, span)


def _arity(
    what: str, name: syn.Name, wanted: int, args: tuple[syn.Expr, ...], ctx: Context
) -> None:
    if wanted != len(args):
        plural = "argument" if wanted == 1 else "arguments"
        said = f"The {what} `{name.value}` takes {wanted} {plural}, and this gives {len(args)}."
        ctx.draft.stop("TW0302", said, name.span, f"{len(args)} given", "Correct the arguments.")


def call_fluent(
    fluent: Fluent,
    args: tuple[syn.Expr, ...],
    ctx: Context,
    name: syn.Name,
    first: Term | None = None,
    *,
    span: Span,
) -> Read:
    """A read of a stored fluent; ``first`` is the object before the dot, if any."""
    from tokenworld.check.expressions import check

    given = len(args) + (first is not None)
    if given != len(fluent.params):
        _arity(fluent.fluent_kind, name, len(fluent.params) - (first is not None), args, ctx)
    terms = [first] if first is not None else []
    for arg, param in zip(args, fluent.params[len(terms) :], strict=True):
        terms.append(check(arg, ctx, param.type))
    fitted = tuple(
        _argument(term, param.type, ctx, name)
        for term, param in zip(terms, fluent.params, strict=True)
    )
    kind = step_type(fluent, fitted, ctx.draft)
    return Read(fluent.id, fitted, _value_type(kind, fitted), span)


def _argument(term: Term, wanted: ValueType, ctx: Context, name: syn.Name) -> Term:
    """An argument may be optional (the call is then `none`), but must be of the kind."""
    from tokenworld.check.expressions import fit

    return fit(term, optional(wanted), ctx, f"argument of `{name.value}`")


def _value_type(kind: ValueType, args: tuple[Term, ...]) -> ValueType:
    if isinstance(kind, BoolType):
        return kind
    return optional(kind) if any(is_optional(arg.type) for arg in args) else kind


def _somebody_acts(derive: str, name: syn.Name, ctx: Context) -> None:
    """A derive that speaks of the actor may stand only where somebody acts."""
    draft = ctx.draft
    if not ctx.me and derive in draft.derives and draft.derives[derive].uses_me:
        what = f"Nobody acts here, and `{name.value}` depends on `{draft.actor_name}`."
        hint = "Give the derive a parameter for the object."
        draft.stop("TW0201", what, name.span, "no acting object", hint)


def _call_derive(
    derive: str,
    name: syn.Name,
    args: tuple[syn.Expr, ...],
    ctx: Context,
    span: Span,
    first: Term | None = None,
) -> Term:
    from tokenworld.check.expressions import check

    binders, kind = derive_type(derive, ctx.draft)
    _somebody_acts(derive, name, ctx)
    _arity("derive", name, len(binders) - (first is not None), args, ctx)
    terms = [first] if first is not None else []
    for arg, binder in zip(args, binders[len(terms) :], strict=True):
        terms.append(check(arg, ctx, binder.type))
    fitted = tuple(
        _argument(term, binder.type, ctx, name) for term, binder in zip(terms, binders, strict=True)
    )
    return DeriveCall(derive, fitted, _value_type(kind, fitted), span)


def member(
    base: Term, name: syn.Name, args: tuple[syn.Expr, ...], ctx: Context, span: Span
) -> Term:
    found, base = _member_behind(base, name, ctx)
    match found:
        case Fluent() if found.name == name.value:
            return call_fluent(found, args, ctx, name, base, span=span)
        case Fluent() if found.inverse == name.value:
            _arity("inverse", name, 0, args, ctx)
            return InverseOf(found.id, base, _collection_of(found), span)
        case Fluent() if found.fluent_kind == "relation" and args:
            _arity("closure", name, 1, args, ctx)
            return _related(found, base, args[0], ctx, span)
        case Fluent():
            _arity("closure", name, 0, args, ctx)
            return ClosureOf(found.id, base, _collection_of(found), span)
        case None:
            pass
    match fact_named(name, ctx):
        case Fluent() as fluent:
            return call_fluent(fluent, args, ctx, name, base, span=span)
        case str() as derive:
            return _call_derive(derive, name, args, ctx, span, base)
        case None:
            pass
    wrong_type(base, name, ctx)


def _member_behind(base: Term, name: syn.Name, ctx: Context) -> tuple[Fluent | None, Term]:
    """What the dot leads to; a local that has several types may find it in any of them."""
    found = find_member(ctx.draft, base.type, name.value)
    if found is None and isinstance(base, Local):
        for kind in ctx.also.get(base.name, ()):
            found = find_member(ctx.draft, kind, name.value)
            if found is not None:
                return found, replace(base, type=kind)
    return found, base


def _collection_of(fluent: Fluent) -> ValueType:
    end = 1 if fluent.fluent_kind == "relation" else 0
    return CollectionType(fluent.params[end].type)
