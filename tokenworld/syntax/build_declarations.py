"""Concrete trees to nodes: files, vocabulary, prose, worlds and scenarios."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, cast, get_args

from tokenworld.syntax import declarations as d
from tokenworld.syntax.build_expr import aka, expr, formal, number, params, ref, type_ref
from tokenworld.syntax.build_rules import block, block_below, field, fields, optional_text
from tokenworld.syntax.expressions import Name, Number, Str
from tokenworld.syntax.lalr import Kid, Token, Tree
from tokenworld.syntax.templates import (
    Context,
    built,
    name,
    names,
    optional_name,
    plain,
    quoted,
    token_of,
)

# ---- files --------------------------------------------------------------------------------


edition = built(d.EditionDecl, (number, 1))
"""`edition 1`."""


def use(cx: Context, tree: Tree) -> d.UseDecl:
    """`use a.b as c`."""
    path = tuple(name(cx, kid) for kid in tree.all_after("use", "."))
    return d.UseDecl(cx.span(tree), path, optional_name(cx, tree.after("as")))


model = built(d.ModelDecl, (name, 1))
"""`model name`."""


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
_FLAG_KINDS = frozenset(("default", "inverse", "closure", *get_args(_MarkKind)))


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


actor = built(d.ActorDecl, (name, 1), (name, 3))
"""`actor me: Hero`."""


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
    """`derive d(x: A): T = let n = e then value`."""
    declared = tree.after(":")
    return d.DeriveDecl(
        cx.span(tree),
        name(cx, tree.get("name")),
        params(cx, tree),
        type_ref(cx, declared) if declared else None,
        tuple(_naming(cx, kid) for kid in tree.trees("naming")),
        expr(cx, tree.kids[-1]),
    )


def _naming(cx: Context, tree: Tree) -> d.Naming:
    return d.Naming(cx.span(tree), name(cx, tree.get("name")), expr(cx, tree.after("=")))


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


# ---- Concrete trees to nodes: worlds and scenarios -----------------------------------------------


def world(cx: Context, tree: Tree) -> d.WorldDecl:
    """`world w "Title" { … }`."""
    brace = _brace(tree)
    title = [kid for kid in tree.kids[:brace] if isinstance(kid, Token) and _is_string(kid)]
    items = tuple(
        _WORLD_ITEMS[kid.kind](cx, kid) for kid in tree.kids[brace:] if isinstance(kid, Tree)
    )
    return d.WorldDecl(
        cx.span(tree), name(cx, tree.kids[1]), plain(cx, title[0]) if title else None, items
    )


def scenario(cx: Context, tree: Tree) -> d.ScenarioDecl:
    """`scenario "title" in world { … }`."""
    steps = tuple(
        _STEPS[kid.kind](cx, kid) for kid in tree.kids[_brace(tree) :] if isinstance(kid, Tree)
    )
    title = quoted(cx, tree.kids[1])
    return d.ScenarioDecl(cx.span(tree), title, name(cx, tree.kids[3]), steps)


def _brace(tree: Tree) -> int:
    return next(
        i for i, kid in enumerate(tree.kids) if isinstance(kid, Token) and kid.terminal == "{"
    )


def _is_string(kid: Token) -> bool:
    return kid.terminal == "STRING"


# ---- lines of a world ---------------------------------------------------------------------


_LEGEND: Final = built(d.Legend, (quoted, 1), (block, -1))


def _layout(cx: Context, tree: Tree) -> d.WorldItem:
    rows = tuple(plain(cx, token) for token in tree.strings())
    legends = tuple(_LEGEND(cx, kid) for kid in tree.trees("legend"))
    return d.Layout(cx.span(tree), name(cx, tree.kids[1]), rows, legends)


def _turns(cx: Context, tree: Tree) -> d.WorldItem:
    return d.Turns(cx.span(tree), names(cx, tree.trees("name")))


def _ambiguous(cx: Context, tree: Tree) -> d.WorldItem:
    policy = cast(Literal["first", "ask"], token_of(tree.kids[1]).text)
    return d.Ambiguous(cx.span(tree), policy)


def _outcomes(cx: Context, tree: Tree) -> d.WorldItem:
    policy = cast(Literal["latched", "live"], token_of(tree.kids[1]).text)
    return d.OutcomePolicy(cx.span(tree), policy)


def _ending(cx: Context, tree: Tree) -> d.WorldItem:
    kind = cast(Literal["goal", "lose", "stop"], tree.kind)
    condition = expr(cx, tree.kids[3])
    return d.Ending(cx.span(tree), kind, name(cx, tree.kids[1]), condition, optional_text(cx, tree))


_WORLD_ITEMS: Final[dict[str, Callable[[Context, Tree], d.WorldItem]]] = {
    "object": object_decl,
    "spare": built(d.Spare, (name, 1), (number, 2)),
    "layout": _layout,
    "setup": built(d.Setup, (block, -1)),
    "start_file": built(d.StartFile, (quoted, 1)),
    "tune": built(d.Tune, (name, 1), (expr, 3)),
    "time": built(d.TimePolicy, (name, 2)),
    "turns": _turns,
    "ambiguous": _ambiguous,
    "endless": built(d.Endless),
    "outcomes": _outcomes,
    "goal": _ending,
    "lose": _ending,
    "stop": _ending,
    "award": built(d.Award, (expr, 1), (expr, 3)),
    "pays": built(d.Pays, (expr, 1), (expr, 3)),
    "score": built(d.Score, (expr, 2)),
}


# ---- steps of a scenario ------------------------------------------------------------------


def _input(cx: Context, tree: Tree) -> d.Step:
    return d.When(
        cx.span(tree),
        _intent(cx, tree.kids[1]),
        optional_name(cx, tree.after("by")),
        _optional_number(cx, tree, "times"),
    )


def _intent(cx: Context, kid: Kid) -> d.Intent:
    if isinstance(kid, Tree) and kid.kind == "typed":
        return d.Typed(cx.span(kid), quoted(cx, kid))
    if isinstance(kid, Tree) and kid.kind == "pass":
        return d.Pass(cx.span(kid))
    return ref(cx, kid)


def _optional_number(cx: Context, tree: Tree, word: str) -> Number | None:
    kid = tree.after(word)
    return number(cx, kid) if kid is not None else None


def _then(cx: Context, tree: Tree) -> d.Step:
    return d.Then(cx.span(tree), tuple(_check(cx, kid) for kid in tree.all_after("then", ",")))


_STEPS: Final[dict[str, Callable[[Context, Tree], d.Step]]] = {
    "given": built(d.Given, (block, -1)),
    "random": built(d.Random, (number, 1)),
    "input": _input,
    "then": _then,
    "always_check": built(d.Always, (expr, 1)),
    "never_check": built(d.Never, (expr, 1)),
    "replay": built(d.Replay, (quoted, 1)),
}


# ---- checks -------------------------------------------------------------------------------


def _check(cx: Context, kid: Kid) -> d.Check:
    build = _CHECKS.get(kid.kind) if isinstance(kid, Tree) else None
    if build is not None and isinstance(kid, Tree):
        return build(cx, kid)
    return d.Holds(cx.span(kid), expr(cx, kid))


def _refused(cx: Context, tree: Tree) -> d.Check:
    return d.Refused(cx.span(tree), optional_name(cx, tree.after("because")))


def _won(cx: Context, tree: Tree) -> d.Check:
    return d.Won(cx.span(tree), optional_name(cx, tree.find("name")))


def _lost(cx: Context, tree: Tree) -> d.Check:
    return d.Lost(cx.span(tree), optional_name(cx, tree.find("name")))


def _winnable(cx: Context, tree: Tree) -> d.Check:
    return d.Winnable(cx.span(tree), _optional_number(cx, tree, "within"))


_CHECKS: Final[dict[str, Callable[[Context, Tree], d.Check]]] = {
    "refused": _refused,
    "status": built(d.StatusIs, (name, 1)),
    "unchanged": built(d.Unchanged),
    "won": _won,
    "lost": _lost,
    "says": built(d.Says, (quoted, 1)),
    "emits": built(d.Emits, (ref, 1)),
    "within": built(d.Within, (number, 1), (expr, 2)),
    "winnable": _winnable,
    "unwinnable": built(d.Unwinnable),
}
