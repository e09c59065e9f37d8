"""Concrete trees to nodes: worlds and scenarios."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, cast

from tokenworld.syntax import worlds as w
from tokenworld.syntax.build_changes import block_below, optional_text
from tokenworld.syntax.build_declarations import object_decl
from tokenworld.syntax.build_expr import expr, number, ref
from tokenworld.syntax.context import Context, name, names, optional_name, token_of
from tokenworld.syntax.leaves import Number
from tokenworld.syntax.templates import plain
from tokenworld.syntax.tree import Kid, Token, Tree


def world(cx: Context, tree: Tree) -> w.WorldDecl:
    """`world w "Title" { … }`."""
    brace = _brace(tree)
    title = [kid for kid in tree.kids[:brace] if isinstance(kid, Token) and _is_string(kid)]
    items = tuple(
        _WORLD_ITEMS[kid.kind](cx, kid) for kid in tree.kids[brace:] if isinstance(kid, Tree)
    )
    return w.WorldDecl(
        cx.span(tree), name(cx, tree.kids[1]), plain(cx, title[0]) if title else None, items
    )


def scenario(cx: Context, tree: Tree) -> w.ScenarioDecl:
    """`scenario "title" in world { … }`."""
    steps = tuple(
        _STEPS[kid.kind](cx, kid) for kid in tree.kids[_brace(tree) :] if isinstance(kid, Tree)
    )
    title = plain(cx, token_of(tree.kids[1]))
    return w.ScenarioDecl(cx.span(tree), title, name(cx, tree.kids[3]), steps)


def _brace(tree: Tree) -> int:
    return next(
        i for i, kid in enumerate(tree.kids) if isinstance(kid, Token) and kid.terminal == "{"
    )


def _is_string(kid: Token) -> bool:
    return kid.terminal == "STRING"


# ---- lines of a world ---------------------------------------------------------------------


def _spare(cx: Context, tree: Tree) -> w.WorldItem:
    return w.Spare(cx.span(tree), name(cx, tree.kids[1]), number(cx, tree.kids[2]))


def _layout(cx: Context, tree: Tree) -> w.WorldItem:
    rows = tuple(plain(cx, token) for token in tree.strings())
    legends = tuple(_legend(cx, kid) for kid in tree.trees("legend"))
    return w.Layout(cx.span(tree), name(cx, tree.kids[1]), rows, legends)


def _legend(cx: Context, tree: Tree) -> w.Legend:
    return w.Legend(cx.span(tree), plain(cx, token_of(tree.kids[1])), block_below(cx, tree))


def _setup(cx: Context, tree: Tree) -> w.WorldItem:
    return w.Setup(cx.span(tree), block_below(cx, tree))


def _start_file(cx: Context, tree: Tree) -> w.WorldItem:
    return w.StartFile(cx.span(tree), plain(cx, token_of(tree.kids[1])))


def _tune(cx: Context, tree: Tree) -> w.WorldItem:
    return w.Tune(cx.span(tree), name(cx, tree.kids[1]), expr(cx, tree.kids[3]))


def _time(cx: Context, tree: Tree) -> w.WorldItem:
    return w.TimePolicy(cx.span(tree), name(cx, tree.kids[2]))


def _turns(cx: Context, tree: Tree) -> w.WorldItem:
    return w.Turns(cx.span(tree), names(cx, tree.trees("name")))


def _ambiguous(cx: Context, tree: Tree) -> w.WorldItem:
    policy = cast(Literal["first", "ask"], token_of(tree.kids[1]).text)
    return w.Ambiguous(cx.span(tree), policy)


def _endless(cx: Context, tree: Tree) -> w.WorldItem:
    return w.Endless(cx.span(tree))


def _outcomes(cx: Context, tree: Tree) -> w.WorldItem:
    policy = cast(Literal["latched", "live"], token_of(tree.kids[1]).text)
    return w.OutcomePolicy(cx.span(tree), policy)


def _ending(cx: Context, tree: Tree) -> w.WorldItem:
    kind = cast(Literal["goal", "lose", "stop"], tree.kind)
    condition = expr(cx, tree.kids[3])
    return w.Ending(cx.span(tree), kind, name(cx, tree.kids[1]), condition, optional_text(cx, tree))


def _award(cx: Context, tree: Tree) -> w.WorldItem:
    return w.Award(cx.span(tree), expr(cx, tree.kids[1]), expr(cx, tree.kids[3]))


def _pays(cx: Context, tree: Tree) -> w.WorldItem:
    return w.Pays(cx.span(tree), expr(cx, tree.kids[1]), expr(cx, tree.kids[3]))


def _score(cx: Context, tree: Tree) -> w.WorldItem:
    return w.Score(cx.span(tree), expr(cx, tree.kids[2]))


_WORLD_ITEMS: Final[dict[str, Callable[[Context, Tree], w.WorldItem]]] = {
    "object": object_decl,
    "spare": _spare,
    "layout": _layout,
    "setup": _setup,
    "start_file": _start_file,
    "tune": _tune,
    "time": _time,
    "turns": _turns,
    "ambiguous": _ambiguous,
    "endless": _endless,
    "outcomes": _outcomes,
    "goal": _ending,
    "lose": _ending,
    "stop": _ending,
    "award": _award,
    "pays": _pays,
    "score": _score,
}


# ---- steps of a scenario ------------------------------------------------------------------


def _given(cx: Context, tree: Tree) -> w.Step:
    return w.Given(cx.span(tree), block_below(cx, tree))


def _random(cx: Context, tree: Tree) -> w.Step:
    return w.Random(cx.span(tree), number(cx, tree.kids[1]))


def _input(cx: Context, tree: Tree) -> w.Step:
    return w.When(
        cx.span(tree),
        _intent(cx, tree.kids[1]),
        optional_name(cx, tree.after("by")),
        _optional_number(cx, tree, "times"),
    )


def _intent(cx: Context, kid: Kid) -> w.Intent:
    if isinstance(kid, Tree) and kid.kind == "typed":
        return w.Typed(cx.span(kid), plain(cx, token_of(kid)))
    if isinstance(kid, Tree) and kid.kind == "pass":
        return w.Pass(cx.span(kid))
    return ref(cx, kid)


def _optional_number(cx: Context, tree: Tree, word: str) -> Number | None:
    kid = tree.after(word)
    return number(cx, kid) if kid is not None else None


def _then(cx: Context, tree: Tree) -> w.Step:
    return w.Then(cx.span(tree), tuple(_check(cx, kid) for kid in tree.all_after("then", ",")))


def _always(cx: Context, tree: Tree) -> w.Step:
    return w.Always(cx.span(tree), expr(cx, tree.kids[1]))


def _never(cx: Context, tree: Tree) -> w.Step:
    return w.Never(cx.span(tree), expr(cx, tree.kids[1]))


def _replay(cx: Context, tree: Tree) -> w.Step:
    return w.Replay(cx.span(tree), plain(cx, token_of(tree.kids[1])))


_STEPS: Final[dict[str, Callable[[Context, Tree], w.Step]]] = {
    "given": _given,
    "random": _random,
    "input": _input,
    "then": _then,
    "always_check": _always,
    "never_check": _never,
    "replay": _replay,
}


# ---- checks -------------------------------------------------------------------------------


def _check(cx: Context, kid: Kid) -> w.Check:
    build = _CHECKS.get(kid.kind) if isinstance(kid, Tree) else None
    if build is not None and isinstance(kid, Tree):
        return build(cx, kid)
    return w.Holds(cx.span(kid), expr(cx, kid))


def _refused(cx: Context, tree: Tree) -> w.Check:
    return w.Refused(cx.span(tree), optional_name(cx, tree.after("because")))


def _status(cx: Context, tree: Tree) -> w.Check:
    return w.StatusIs(cx.span(tree), name(cx, tree.kids[1]))


def _unchanged(cx: Context, tree: Tree) -> w.Check:
    return w.Unchanged(cx.span(tree))


def _won(cx: Context, tree: Tree) -> w.Check:
    return w.Won(cx.span(tree), optional_name(cx, tree.find("name")))


def _lost(cx: Context, tree: Tree) -> w.Check:
    return w.Lost(cx.span(tree), optional_name(cx, tree.find("name")))


def _says(cx: Context, tree: Tree) -> w.Check:
    return w.Says(cx.span(tree), plain(cx, token_of(tree.kids[1])))


def _emits(cx: Context, tree: Tree) -> w.Check:
    return w.Emits(cx.span(tree), ref(cx, tree.kids[1]))


def _within(cx: Context, tree: Tree) -> w.Check:
    return w.Within(cx.span(tree), number(cx, tree.kids[1]), expr(cx, tree.kids[2]))


def _winnable(cx: Context, tree: Tree) -> w.Check:
    return w.Winnable(cx.span(tree), _optional_number(cx, tree, "within"))


def _unwinnable(cx: Context, tree: Tree) -> w.Check:
    return w.Unwinnable(cx.span(tree))


_CHECKS: Final[dict[str, Callable[[Context, Tree], w.Check]]] = {
    "refused": _refused,
    "status": _status,
    "unchanged": _unchanged,
    "won": _won,
    "lost": _lost,
    "says": _says,
    "emits": _emits,
    "within": _within,
    "winnable": _winnable,
    "unwinnable": _unwinnable,
}
