"""Names, calls and paths to terms (language.md §1, §3, §4)."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from tokenworld.check import builtins
from tokenworld.check.aliases import dotted
from tokenworld.check.calls import call, fact_named, member, plain
from tokenworld.check.context import BROKEN, Context
from tokenworld.check.draft import Abandon
from tokenworld.diagnostics import Span, did_you_mean
from tokenworld.model import (
    ROOT,
    ClosureOf,
    DeriveCall,
    EnumLiteral,
    EnumType,
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
    map_children,
)
from tokenworld.syntax import nodes as syn

__all__ = ["behind_alias", "check_reference", "object_named"]

Reference = syn.Ref | syn.Was | syn.Qualified


def check_reference(expr: Reference, ctx: Context, expected: ValueType | None) -> Term:
    """The term that a name, call, path, ``was`` or qualified member means."""
    match expr:
        case syn.Name():
            return _name(expr, ctx, expected)
        case syn.Call(function=function, args=args):
            return call(function, args, ctx, expr.span)
        case syn.Attr(base=base, name=name):
            return _path(base, name, ctx, expr.span, expected)
        case syn.Method(base=base, name=name, args=args):
            full = behind_alias(base, name, ctx)
            if full is not None:
                return call(full, args, ctx, expr.span)
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
    if draft.actor is not None and draft.actor_name in draft.candidates(name):
        return _me(ctx, name.span)
    return _global(name, ctx)


def _me(ctx: Context, span: Span) -> Term:
    draft = ctx.draft
    if not ctx.me:
        what = f"Nobody acts here, and `{draft.actor_name}` could be any of several actors."
        hint = "Name the object instead."
        draft.stop("TW0201", what, span, "no acting object", hint)
    return Me(ObjectType(draft.actor or ""), span)


def object_named(name: syn.Name, ctx: Context) -> ObjectLiteral | None:
    """The object that a name means here: one of the world, or one of every world."""
    draft = ctx.draft
    for value in draft.candidates(name):
        for world in (ctx.world, None):
            if (world, value) in draft.object_types:
                if world is not None and value in ctx.unborn:
                    _not_yet(name, ctx)
                of = draft.object_types[world, value]
                if of != ROOT and of not in draft.types:
                    raise Abandon  # its type is reported where it is declared
                return ObjectLiteral(value, ObjectType(of), name.span)
    return None


def _not_yet(name: syn.Name, ctx: Context) -> NoReturn:
    what = f"`{name.value}` is created later."
    hint = "Name it after it is created, in a later `setup` or in a line of the world."
    ctx.draft.stop("TW0201", what, name.span, "not there yet", hint)


def _global(name: syn.Name, ctx: Context) -> Term:
    draft, value = ctx.draft, name.value
    found = object_named(name, ctx)
    if found is not None:
        return found
    for full in draft.candidates(name):
        if full in draft.param_types:
            return ParamRead(full, draft.param_types[full], name.span)
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
    if fact_named(name, ctx) is not None:
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


# ---- paths ----------------------------------------------------------------------------


def behind_alias(base: syn.Ref, name: syn.Name, ctx: Context) -> syn.Name | None:
    """``c.name`` as one name where ``c`` stands for a module (`use a.b as c`)."""
    before = dotted(base)
    if before is None or before.partition(".")[0] in ctx.names:
        return None
    ways = ctx.draft.namespace(name.span).seen
    if not any(way == f"{before}." for way, _ in ways):
        return None
    return syn.Name(base.span.join(name.span), f"{before}.{name.value}")


def _path(
    base: syn.Ref, name: syn.Name, ctx: Context, span: Span, expected: ValueType | None
) -> Term:
    """``x.f``, ``c.x`` behind an alias, or a member of an enum with a raw name."""
    full = behind_alias(base, name, ctx)
    if full is not None:
        return _name(full, ctx, expected)
    if isinstance(base, syn.Name) and base.raw and base.value not in ctx.names:
        enum = next((one for one in ctx.draft.candidates(base) if one in ctx.draft.enums), None)
        if enum is not None and object_named(base, ctx) is None:
            return _qualified(replace(base, value=enum), name, ctx, span)
    return _attribute(base, name, (), ctx, span)


def _attribute(
    base: syn.Ref, name: syn.Name, args: tuple[syn.Expr, ...], ctx: Context, span: Span
) -> Term:
    return member(plain(base, ctx), name, args, ctx, span)


# ---- was ------------------------------------------------------------------------------


def _was(ref: syn.Ref, ctx: Context, span: Span) -> Term:
    term = plain(ref, ctx)
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
