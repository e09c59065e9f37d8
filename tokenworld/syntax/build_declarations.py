"""Concrete trees to nodes: files, vocabulary and prose items."""

from __future__ import annotations

from typing import Literal, cast

from tokenworld.syntax import declarations as d
from tokenworld.syntax.build_changes import block_below, field, fields
from tokenworld.syntax.build_expr import (
    aka,
    expr,
    formal,
    number,
    params,
    type_ref,
)
from tokenworld.syntax.context import Context, name, names, optional_name, token_of
from tokenworld.syntax.leaves import Name, Number, Str
from tokenworld.syntax.templates import plain
from tokenworld.syntax.tree import Kid, Tree

# ---- files --------------------------------------------------------------------------------


def edition(cx: Context, tree: Tree) -> d.EditionDecl:
    """`edition 1`."""
    return d.EditionDecl(cx.span(tree), number(cx, tree.kids[1]))


def use(cx: Context, tree: Tree) -> d.UseDecl:
    """`use a.b as c`."""
    path = tuple(name(cx, kid) for kid in tree.all_after("use", "."))
    return d.UseDecl(cx.span(tree), path, optional_name(cx, tree.after("as")))


def model(cx: Context, tree: Tree) -> d.ModelDecl:
    """`model name`."""
    return d.ModelDecl(cx.span(tree), name(cx, tree.kids[1]))


def pddl(cx: Context, tree: Tree) -> d.PddlDecl:
    """`pddl { … }`."""
    entries = tuple(_entry(cx, kid) for kid in tree.trees("entry"))
    return d.PddlDecl(cx.span(tree), entries)


def _entry(cx: Context, tree: Tree) -> d.PddlEntry:
    values = tuple(_key(cx, kid) for kid in tree.all_after("=", ","))
    return d.PddlEntry(cx.span(tree), name(cx, tree.kids[0]), values)


def _key(cx: Context, kid: Kid) -> Name | Str | Number:
    """A name, number or plain text: the value of an entry, or the key of a row."""
    token = token_of(kid)
    if token.terminal == "STRING":
        return plain(cx, token)
    if token.terminal in ("NUMBER", "PERCENT", "QUANTITY"):
        return number(cx, token)
    return name(cx, kid)


# ---- vocabulary ---------------------------------------------------------------------------


def unit(cx: Context, tree: Tree) -> d.UnitDecl:
    """`unit l = 1000ml`."""
    value = tree.after("=")
    return d.UnitDecl(cx.span(tree), name(cx, tree.kids[1]), number(cx, value) if value else None)


def enum(cx: Context, tree: Tree) -> d.EnumDecl:
    """`enum T { … }`, or a ladder."""
    members = names(cx, tree.trees("name"))
    return d.EnumDecl(cx.span(tree), name(cx, tree.kids[1]), members, tree.kind == "ladder")


def type_decl(cx: Context, tree: Tree) -> d.TypeDecl:
    """`type T : A { … }`."""
    parents = tree.find("parents")
    members = tuple(
        field(cx, kid) if kid.kind == "field" else _attribute(cx, kid)
        for kid in tree.kids
        if isinstance(kid, Tree) and kid.kind in ("field", "attribute")
    )
    return d.TypeDecl(
        cx.span(tree),
        name(cx, tree.kids[1]),
        names(cx, parents.trees("typename")) if parents else (),
        members,
    )


def _attribute(cx: Context, tree: Tree) -> d.AttributeDecl:
    return d.AttributeDecl(
        cx.span(tree),
        _modifiers(cx, tree),
        name(cx, tree.get("name")),
        type_ref(cx, tree.after(":")),
        _flags(cx, tree),
    )


def _modifiers(cx: Context, tree: Tree) -> tuple[d.Modifier, ...]:
    return tuple(
        d.Modifier(cx.span(kid), cast(Literal["static", "secret"], token_of(kid).text))
        for kid in tree.trees("modifier")
    )


def _flags(cx: Context, tree: Tree) -> tuple[d.Flag, ...]:
    kids = (kid for kid in tree.kids if isinstance(kid, Tree))
    # a `closure` has its own rule, so it comes wrapped in the `flag` that holds it
    bare = (kid.kids[0] if kid.kind in ("flag", "relation_flag") else kid for kid in kids)
    return tuple(
        _flag(cx, kid) for kid in bare if isinstance(kid, Tree) and kid.kind in _FLAG_KINDS
    )


def _flag(cx: Context, tree: Tree) -> d.Flag:
    span = cx.span(tree)
    match tree.kind:
        case "default":
            return d.Default(span, expr(cx, tree.kids[1]))
        case "inverse":
            return d.Inverse(span, name(cx, tree.kids[1]))
        case "closure":
            return d.Closure(span, name(cx, tree.kids[1]))
        case kind:
            return d.Mark(span, cast(_MarkKind, kind))


_MarkKind = Literal["clamped", "unique", "nested", "ordered", "symmetric", "acyclic"]
_FLAG_KINDS = frozenset(
    [
        "default",
        "clamped",
        "unique",
        "nested",
        "ordered",
        "inverse",
        "closure",
        "symmetric",
        "acyclic",
    ]
)


def object_decl(cx: Context, tree: Tree) -> d.ObjectDecl:
    """`object a, b: T "Title" aka … { … }`."""
    title = tree.strings()
    return d.ObjectDecl(
        cx.span(tree),
        names(cx, tree.trees("name")),
        optional_name(cx, tree.find("typename")),
        plain(cx, title[0]) if title else None,
        aka(cx, tree),
        fields(cx, tree),
    )


def actor(cx: Context, tree: Tree) -> d.ActorDecl:
    """`actor me: Hero`."""
    return d.ActorDecl(cx.span(tree), name(cx, tree.kids[1]), name(cx, tree.kids[3]))


def relation(cx: Context, tree: Tree) -> d.RelationDecl:
    """`relation r(a: A) flags`."""
    flags = cast(tuple[d.RelationFlag, ...], _flags(cx, tree))
    return d.RelationDecl(
        cx.span(tree), _modifiers(cx, tree), name(cx, tree.get("name")), params(cx, tree), flags
    )


def function(cx: Context, tree: Tree) -> d.FunctionDecl:
    """`function f(a: A): V flags`."""
    return d.FunctionDecl(
        cx.span(tree),
        _modifiers(cx, tree),
        name(cx, tree.get("name")),
        params(cx, tree),
        type_ref(cx, tree.after(":")),
        _flags(cx, tree),
    )


def table(cx: Context, tree: Tree) -> d.TableDecl:
    """`table t(a: A): V { rows }`."""
    value = tree.after(":")
    return d.TableDecl(
        cx.span(tree),
        name(cx, tree.get("name")),
        params(cx, tree),
        type_ref(cx, value) if value else None,
        _flags(cx, tree),
        tuple(_row(cx, kid) for kid in tree.trees("row")),
    )


def _row(cx: Context, tree: Tree) -> d.Row:
    value = tree.after(":")
    keys = (tree.kids[0], *tree.all_after(","))
    return d.Row(
        cx.span(tree), tuple(_key(cx, kid) for kid in keys), expr(cx, value) if value else None
    )


def derive(cx: Context, tree: Tree) -> d.DeriveDecl:
    """`derive d(x: A): T = value`."""
    declared = tree.after(":")
    return d.DeriveDecl(
        cx.span(tree),
        name(cx, tree.get("name")),
        params(cx, tree),
        type_ref(cx, declared) if declared else None,
        expr(cx, tree.after("=")),
    )


def param(cx: Context, tree: Tree) -> d.ParamDecl:
    """`param p: T = value learned`."""
    return d.ParamDecl(
        cx.span(tree),
        name(cx, tree.kids[1]),
        type_ref(cx, tree.kids[3]),
        expr(cx, tree.kids[5]),
        tree.find("learned") is not None,
    )


def event(cx: Context, tree: Tree) -> d.EventDecl:
    """`event e(x: T)`."""
    return d.EventDecl(cx.span(tree), name(cx, tree.kids[1]), params(cx, tree))


# ---- prose --------------------------------------------------------------------------------


def called(cx: Context, tree: Tree) -> d.CalledDecl:
    """`called x: T = text aka text`."""
    value = expr(cx, tree.after("="))
    return d.CalledDecl(cx.span(tree), formal(cx, tree.get("formal")), value, aka(cx, tree))


def scope(cx: Context, tree: Tree) -> d.ScopeDecl:
    """`scope x: T = condition`."""
    return d.ScopeDecl(cx.span(tree), formal(cx, tree.get("formal")), expr(cx, tree.after("=")))


def describe(cx: Context, tree: Tree) -> d.DescribeDecl:
    """`describe x: T { … }`."""
    return d.DescribeDecl(cx.span(tree), formal(cx, tree.get("formal")), block_below(cx, tree))
