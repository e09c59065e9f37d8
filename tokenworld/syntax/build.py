"""Concrete trees to nodes: one item at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tokenworld.diagnostics import Diagnostic
from tokenworld.syntax import build_declarations as d
from tokenworld.syntax import build_rules as r
from tokenworld.syntax import build_worlds as w
from tokenworld.syntax.context import BuildError, Context, token_of
from tokenworld.syntax.nodes import Item, QuirkDecl
from tokenworld.syntax.templates import plain
from tokenworld.syntax.tree import Tree


def build_item(cx: Context, tree: Tree) -> Item | None:
    """The node of an item; None if something in it cannot be built, which is then noted."""
    noted = len(cx.problems)
    cx.restart()
    try:
        item = _item(cx, tree)
    except BuildError as error:
        cx.problems.append(error.diagnostic)
        return None
    return item if len(cx.problems) == noted else None


def _item(cx: Context, tree: Tree) -> Item:
    quirks: list[Tree] = []
    while tree.kind == "quirk":
        quirks.append(tree)
        inner = tree.kids[2]
        if not isinstance(inner, Tree):
            raise LookupError("the grammar and the builder disagree")
        tree = inner
    if len(quirks) > 1:
        raise BuildError(_repeated_quirk(cx, quirks[1]))
    item: Item = _BUILDERS[tree.kind](cx, tree)
    for quirk in quirks:
        item = QuirkDecl(cx.span(quirk), plain(cx, token_of(quirk.kids[1])), item)
    return item


def _repeated_quirk(cx: Context, tree: Tree) -> Diagnostic:
    return Diagnostic(
        "TW0101",
        "An item can have one `quirk` only.",
        cx.source.span(tree.start, tree.kids[1].end),
        label="a second quirk",
        hint="Put both reasons into one text.",
    )


_BUILDERS: Final[dict[str, Callable[[Context, Tree], Item]]] = {
    "edition": d.edition,
    "use": d.use,
    "model": d.model,
    "pddl": d.pddl,
    "unit": d.unit,
    "enum": d.enum,
    "ladder": d.enum,
    "type": d.type_decl,
    "object": d.object_decl,
    "actor": d.actor,
    "relation": d.relation,
    "function": d.function,
    "table": d.table,
    "derive": d.derive,
    "param": d.param,
    "event": d.event,
    "phase": r.phase,
    "action": r.action,
    "law": r.law,
    "believe": r.believe,
    "birth": r.birth,
    "watch": r.watch,
    "invariant": r.invariant,
    "conserve": r.conserve,
    "called": d.called,
    "scope": d.scope,
    "describe": d.describe,
    "world": w.world,
    "scenario": w.scenario,
}
