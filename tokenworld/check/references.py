"""Names, calls and paths to terms (language.md §1, §3, §4)."""

from __future__ import annotations

from dataclasses import replace

from tokenworld.check import builtins
from tokenworld.check.attributes import find_member, wrong_type
from tokenworld.check.context import BROKEN, Context
from tokenworld.check.derives import derive_type
from tokenworld.check.draft import Abandon
from tokenworld.check.relations import optional
from tokenworld.diagnostics import Span, did_you_mean
from tokenworld.model import (
    BOOL,
    BoolType,
    ClosureOf,
    DeriveCall,
    EnumLiteral,
    EnumType,
    Fluent,
    InverseOf,
    Local,
    Me,
    Member,
    ObjectLiteral,
    ObjectType,
    ParamRead,
    Read,
    Term,
    ValueType,
    is_optional,
    map_children,
)
from tokenworld.syntax import nodes as syn

__all__ = ["call_fluent", "check_reference"]

Reference = syn.Ref | syn.Was | syn.Qualified


def check_reference(expr: Reference, ctx: Context, expected: ValueType | None) -> Term:
    """The term that a name, call, path, ``was`` or qualified member means."""
    match expr:
        case syn.Name():
            return _name(expr, ctx, expected)
        case syn.Call(function=function, args=args):
            return _call(function, args, ctx, expr.span)
        case syn.Attr(base=base, name=name):
            return _attribute(base, name, (), ctx, expr.span)
        case syn.Method(base=base, name=name, args=args):
            return _attribute(base, name, args, ctx, expr.span)
        case syn.Was(ref=ref):
            return _was(ref, ctx, expr.span)
        case syn.Qualified(type=enum, name=member):
            return _qualified(enum, member, ctx, expr.span)


# ---- names ----------------------------------------------------------------------------


def _name(name: syn.Name, ctx: Context, expected: ValueType | None) -> Term:
    draft, value = ctx.draft, name.value
    if ctx.names.get(value) is BROKEN:
        raise Abandon
    if value in ctx.names:
        return Local(value, ctx.names[value], name.span)
    if isinstance(expected, EnumType) and value in draft.enums[expected.name].members:
        return _member_of(ctx, expected.name, value, name.span)
    if value == draft.actor_name and draft.actor is not None:
        return _me(ctx, name.span)
    return _global(name, ctx)


def _me(ctx: Context, span: Span) -> Term:
    draft = ctx.draft
    if not ctx.me:
        what = f"Nobody acts here, and `{draft.actor_name}` could be any of several actors."
        hint = "Name the object instead."
        draft.stop("TW0201", what, span, "no acting object", hint)
    return Me(ObjectType(draft.actor or ""), span)


def _global(name: syn.Name, ctx: Context) -> Term:
    draft, value = ctx.draft, name.value
    for world in (ctx.world, None):
        if (world, value) in draft.object_types:
            return ObjectLiteral(value, ObjectType(draft.object_types[world, value]), name.span)
    if value in draft.params:
        return ParamRead(value, draft.params[value].type, name.span)
    if value == "score":
        return builtins.score(name.span)
    if value == "pi":
        return builtins.pi(name.span)
    owners = [enum.name for enum in draft.enums.values() if value in enum.members]
    if len(owners) == 1:
        return _member_of(ctx, owners[0], value, name.span)
    if owners:
        written = " or ".join(f"`{owner}.{value}`" for owner in owners)
        what = f"`{value}` is a member of several enums."
        draft.stop("TW0205", what, name.span, "ambiguous", f"Write {written}.")
    return _unknown_name(name, ctx)


def _unknown_name(name: syn.Name, ctx: Context) -> Term:
    draft, value = ctx.draft, name.value
    if value in draft.fluents or value in draft.derive_items:
        hint = f"Write `{value}()` for a fact without arguments."
        draft.stop("TW0201", f"`{value}` needs its arguments.", name.span, "not a value", hint)
    visible = [key for world, key in draft.object_types if world in (None, ctx.world)]
    members = [member for enum in draft.enums.values() for member in enum.members]
    known = (*ctx.names, *visible, *draft.params, *members, draft.actor_name)
    elsewhere = [world for world, key in draft.object_types if key == value and world]
    hint = did_you_mean(value, known) or "Declare it, or correct its name."
    if elsewhere:
        hint = (
            f"`{value}` belongs to the world `{elsewhere[0]}`: rules see only objects declared "
            "outside worlds. Use a parameter."
        )
    draft.stop("TW0201", f"There is nothing called `{value}` here.", name.span, "unknown", hint)


def _member_of(ctx: Context, enum: str, member: str, span: Span) -> Term:
    index = ctx.draft.enums[enum].members.index(member)
    return EnumLiteral(enum, member, index, EnumType(enum), span)


def _qualified(enum: syn.Name, member: syn.Name, ctx: Context, span: Span) -> Term:
    if enum.value not in ctx.draft.enums:
        ctx.draft.unknown("enum", enum, ctx.draft.enums)
    members = ctx.draft.enums[enum.value].members
    if member.value not in members:
        hint = did_you_mean(member.value, members) or f"Its members are {', '.join(members)}."
        what = f"`{enum.value}` has no member `{member.value}`."
        ctx.draft.stop("TW0201", what, member.span, "unknown member", hint)
    return _member_of(ctx, enum.value, member.value, span)


# ---- calls ----------------------------------------------------------------------------


def _call(function: syn.Name, args: tuple[syn.Expr, ...], ctx: Context, span: Span) -> Term:
    draft, name = ctx.draft, function.value
    if name in draft.fluents:
        return call_fluent(draft.fluents[name], args, ctx, function, span=span)
    if name in draft.derive_items:
        return _call_derive(function, args, ctx, span)
    closure = next((one for one in draft.fluents.values() if one.closure == name), None)
    if closure is not None and closure.fluent_kind == "relation":
        _arity("closure", function, 2, args, ctx)
        return _related(closure, _plain(args[0], ctx), args[1], ctx, span)
    if builtins.is_builtin(name):
        return builtins.check_builtin(function, args, ctx, span)
    if args:
        return _attribute_of_term(_plain(args[0], ctx), function, args[1:], ctx, span)
    known = (*draft.fluents, *draft.derive_items, *builtins.NAMES)
    hint = did_you_mean(name, known) or "Declare it as a relation, function, table or derive."
    draft.stop("TW0201", f"There is no fact or function `{name}`.", function.span, "unknown", hint)


def _plain(expr: syn.Expr, ctx: Context) -> Term:
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
    return Read(fluent.id, fitted, _value_type(fluent.type, fitted), span)


def _argument(term: Term, wanted: ValueType, ctx: Context, name: syn.Name) -> Term:
    """An argument may be optional (the call is then `none`), but must be of the kind."""
    from tokenworld.check.expressions import fit

    return fit(term, optional(wanted), ctx, f"argument of `{name.value}`")


def _value_type(kind: ValueType, args: tuple[Term, ...]) -> ValueType:
    if isinstance(kind, BoolType):
        return kind
    return optional(kind) if any(is_optional(arg.type) for arg in args) else kind


def _call_derive(
    name: syn.Name,
    args: tuple[syn.Expr, ...],
    ctx: Context,
    span: Span,
    first: Term | None = None,
) -> Term:
    from tokenworld.check.expressions import check

    binders, kind = derive_type(name.value, ctx.draft)
    _arity("derive", name, len(binders) - (first is not None), args, ctx)
    terms = [first] if first is not None else []
    for arg, binder in zip(args, binders[len(terms) :], strict=True):
        terms.append(check(arg, ctx, binder.type))
    fitted = tuple(
        _argument(term, binder.type, ctx, name) for term, binder in zip(terms, binders, strict=True)
    )
    return DeriveCall(name.value, fitted, _value_type(kind, fitted), span)


# ---- paths ----------------------------------------------------------------------------


def _attribute(
    base: syn.Ref, name: syn.Name, args: tuple[syn.Expr, ...], ctx: Context, span: Span
) -> Term:
    return _attribute_of_term(_plain(base, ctx), name, args, ctx, span)


def _attribute_of_term(
    base: Term, name: syn.Name, args: tuple[syn.Expr, ...], ctx: Context, span: Span
) -> Term:
    draft = ctx.draft
    found = find_member(draft, base.type, name.value)
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
    if name.value in draft.fluents:
        return call_fluent(draft.fluents[name.value], args, ctx, name, base, span=span)
    if name.value in draft.derive_items:
        return _call_derive(name, args, ctx, span, base)
    wrong_type(base, name, ctx)


def _collection_of(fluent: Fluent) -> ValueType:
    from tokenworld.model import CollectionType

    end = 1 if fluent.fluent_kind == "relation" else 0
    return CollectionType(fluent.params[end].type)


# ---- was ------------------------------------------------------------------------------


def _was(ref: syn.Ref, ctx: Context, span: Span) -> Term:
    term = _plain(ref, ctx)
    if not isinstance(term, (Read, DeriveCall, InverseOf, ClosureOf, Member)):
        what = f"`{ctx.quoted(term)}` is the same all through a tick."
        hint = "Write `was` before an attribute, a relation, a function or a derive."
        ctx.draft.stop("TW0504", what, span, "never changes", hint)
    marked = _marked(term)
    return replace(marked, span=span) if not isinstance(marked, Local) else marked


def _marked(term: Term) -> Term:
    """The term with every read in it moved to the start of the tick."""
    inner = map_children(term, _marked)
    if isinstance(inner, (Read, DeriveCall, InverseOf, ClosureOf)):
        return replace(inner, was=True)
    return inner
