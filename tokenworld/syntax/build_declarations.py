"""Concrete trees to nodes: files, vocabulary, prose, worlds and scenarios."""

from __future__ import annotations

from typing import Final, get_args

from tokenworld.syntax import declarations as d
from tokenworld.syntax.build_expr import aka, expr, formal, number, params, ref, type_ref
from tokenworld.syntax.build_rules import block, block_below, field, fields, optional_text
from tokenworld.syntax.expressions import Name, Number, Str
from tokenworld.syntax.lalr import Kid, Tree
from tokenworld.syntax.rules import Field
from tokenworld.syntax.templates import (
    Build,
    Context,
    after,
    built,
    child,
    each,
    each_after,
    each_inside,
    has,
    kind,
    name,
    plain,
    quoted,
    token_of,
    word,
)


def _key(cx: Context, kid: Kid) -> Name | Str | Number:
    """A name, number or plain text: the value of an entry, or the key of a row."""
    token = token_of(kid)
    if token.terminal == "STRING":
        return plain(cx, token)
    if token.terminal in ("NUMBER", "PERCENT", "QUANTITY"):
        return number(cx, token)
    return name(cx, kid)


# ---- types and facts ----------------------------------------------------------------------


_FLAGS: Final[dict[str, Build]] = {
    "default": built(d.Default, (expr, 1)),
    "inverse": built(d.Inverse, (name, 1)),
    "closure": built(d.Closure, (name, 1)),
    **dict.fromkeys(get_args(d.MarkKind), built(d.Mark, kind)),
}


def _flags(cx: Context, tree: Tree) -> tuple[d.Flag, ...]:
    kids = (kid for kid in tree.kids if isinstance(kid, Tree))
    # a `closure` has its own rule, so it comes wrapped in the `flag` that holds it
    bare = (kid.kids[0] if kid.kind in ("flag", "relation_flag") else kid for kid in kids)
    return tuple(
        _FLAGS[kid.kind](cx, kid) for kid in bare if isinstance(kid, Tree) and kid.kind in _FLAGS
    )


_MODIFIERS: Final = each(built(d.Modifier, word), "modifier")
_NAME: Final = child(name, "name")
_VALUE: Final = after(type_ref, ":")
_MEMBERS: Final[dict[str, Build]] = {
    "field": field,
    "attribute": built(d.AttributeDecl, _MODIFIERS, _NAME, _VALUE, _flags),
}


def _scratch(cx: Context, tree: Tree) -> tuple[d.Modifier, ...]:
    """The word `scratch`, read as a modifier."""
    return (d.Modifier(cx.span(tree.kids[0]), "scratch"),)


def _members(cx: Context, tree: Tree) -> tuple[d.AttributeDecl | Field, ...]:
    kids = (kid for kid in tree.kids if isinstance(kid, Tree) and kid.kind in _MEMBERS)
    return tuple(_MEMBERS[kid.kind](cx, kid) for kid in kids)


def _parents(cx: Context, tree: Tree) -> tuple[Name, ...]:
    parents = tree.find("parents")
    return tuple(name(cx, kid) for kid in parents.trees("typename")) if parents else ()


def _row(cx: Context, tree: Tree) -> d.Row:
    value = tree.after(":")
    keys = (tree.kids[0], *tree.all_after(","))
    return d.Row(
        cx.span(tree), tuple(_key(cx, kid) for kid in keys), expr(cx, value) if value else None
    )


def _is_ladder(_cx: Context, tree: Tree) -> bool:
    return tree.kind == "ladder"


def _title(cx: Context, tree: Tree) -> Str | None:
    """The quoted title of an object or a world."""
    found = tree.strings()
    return plain(cx, found[0]) if found else None


_NAMES: Final = each(name, "name")
_FORMAL: Final = child(formal, "formal")
_OBJECT: Final = built(d.ObjectDecl, _NAMES, child(name, "typename"), _title, aka, fields)
_ENTRY: Final = built(d.PddlEntry, (name, 0), each_after(_key, "=", ","))
_NAMING: Final = built(d.Naming, _NAME, after(expr, "="))
_ENUM: Final = built(d.EnumDecl, (name, 1), _NAMES, _is_ladder)


# ---- worlds and scenarios -----------------------------------------------------------------


def _rows(cx: Context, tree: Tree) -> tuple[Str, ...]:
    return tuple(plain(cx, token) for token in tree.strings())


_LEGEND: Final = built(d.Legend, (quoted, 1), (block, -1))
_ENDING: Final = built(d.Ending, kind, (name, 1), (expr, 3), optional_text)
_WORLD_ITEMS: Final[dict[str, Build]] = {
    "object": _OBJECT,
    "spare": built(d.Spare, (name, 1), (number, 2)),
    "layout": built(d.Layout, (name, 1), _rows, each(_LEGEND, "legend")),
    "setup": built(d.Setup, (block, -1)),
    "start_file": built(d.StartFile, (quoted, 1)),
    "tune": built(d.Tune, (name, 1), (expr, 3)),
    "time": built(d.TimePolicy, (name, 2)),
    "turns": built(d.Turns, _NAMES),
    "ambiguous": built(d.Ambiguous, (word, 1)),
    "endless": built(d.Endless),
    "outcomes": built(d.OutcomePolicy, (word, 1)),
    "goal": _ENDING,
    "lose": _ENDING,
    "stop": _ENDING,
    "award": built(d.Award, (expr, 1), (expr, 3)),
    "pays": built(d.Pays, (expr, 1), (expr, 3)),
    "score": built(d.Score, (expr, 2)),
}


def _intent(cx: Context, kid: Kid) -> d.Intent:
    if isinstance(kid, Tree) and kid.kind == "typed":
        return d.Typed(cx.span(kid), quoted(cx, kid))
    if isinstance(kid, Tree) and kid.kind == "pass":
        return d.Pass(cx.span(kid))
    return ref(cx, kid)


_CHECKS: Final[dict[str, Build]] = {
    "refused": built(d.Refused, after(name, "because")),
    "status": built(d.StatusIs, (name, 1)),
    "unchanged": built(d.Unchanged),
    "won": built(d.Won, _NAME),
    "lost": built(d.Lost, _NAME),
    "says": built(d.Says, (quoted, 1)),
    "emits": built(d.Emits, (ref, 1)),
    "within": built(d.Within, (number, 1), (expr, 2)),
    "winnable": built(d.Winnable, after(number, "within")),
    "unwinnable": built(d.Unwinnable),
}


def _check(cx: Context, kid: Kid) -> d.Check:
    if isinstance(kid, Tree) and kid.kind in _CHECKS:
        check: d.Check = _CHECKS[kid.kind](cx, kid)
        return check
    return d.Holds(cx.span(kid), expr(cx, kid))


_STEPS: Final[dict[str, Build]] = {
    "given": built(d.Given, (block, -1)),
    "random": built(d.Random, (number, 1)),
    "input": built(d.When, (_intent, 1), after(name, "by"), after(number, "times")),
    "then": built(d.Then, each_after(_check, "then", ",")),
    "always_check": built(d.Always, (expr, 1)),
    "never_check": built(d.Never, (expr, 1)),
    "replay": built(d.Replay, (quoted, 1)),
}
DECLARATIONS: Final[dict[str, Build]] = {
    "edition": built(d.EditionDecl, (number, 1)),
    "use": built(d.UseDecl, each_after(name, "use", "."), after(name, "as")),
    "model": built(d.ModelDecl, (name, 1)),
    "pddl": built(d.PddlDecl, each(_ENTRY, "entry")),
    "unit": built(d.UnitDecl, (name, 1), after(number, "=")),
    "enum": _ENUM,
    "ladder": _ENUM,
    "type": built(d.TypeDecl, (name, 1), _parents, _members),
    "object": _OBJECT,
    "actor": built(d.ActorDecl, (name, 1), (name, 3)),
    "relation": built(d.RelationDecl, _MODIFIERS, _NAME, params, _flags),
    "function": built(d.FunctionDecl, _MODIFIERS, _NAME, params, _VALUE, _flags),
    "scratch": built(d.FunctionDecl, _scratch, _NAME, params, _VALUE, _flags),
    "table": built(d.TableDecl, _NAME, params, _VALUE, _flags, each(_row, "row")),
    "derive": built(d.DeriveDecl, _NAME, params, _VALUE, each(_NAMING, "naming"), (expr, -1)),
    "param": built(d.ParamDecl, (name, 1), (type_ref, 3), (expr, 5), has("learned")),
    "event": built(d.EventDecl, (name, 1), params),
    "called": built(d.CalledDecl, _FORMAL, after(expr, "="), aka),
    "scope": built(d.ScopeDecl, _FORMAL, after(expr, "=")),
    "describe": built(d.DescribeDecl, _FORMAL, block_below),
    "world": built(d.WorldDecl, (name, 1), _title, each_inside(_WORLD_ITEMS)),
    "scenario": built(d.ScenarioDecl, (quoted, 1), (name, 3), each_inside(_STEPS)),
}
"""The items of a file that are no rules, by the kind of their tree."""
