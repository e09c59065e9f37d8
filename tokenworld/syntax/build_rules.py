"""Concrete trees to nodes: phases, actions, laws, beliefs and what must hold."""

from __future__ import annotations

from tokenworld.diagnostics import Diagnostic, Related
from tokenworld.syntax import rules as r
from tokenworld.syntax.build_changes import block, block_below, effect, let, optional_text, text
from tokenworld.syntax.build_expr import expr, formal, params, ref, where
from tokenworld.syntax.changes import Let
from tokenworld.syntax.context import BuildError, Context, name, optional_name
from tokenworld.syntax.expressions import Expr
from tokenworld.syntax.leaves import Name
from tokenworld.syntax.tree import Kid, Token, Tree


def phase(cx: Context, tree: Tree) -> r.PhaseDecl:
    """`phase p sequentially by nesting`."""
    order = tree.find("order")
    nesting = order is not None and order.find("by_nesting") is not None
    return r.PhaseDecl(cx.span(tree), name(cx, tree.kids[1]), order is not None, nesting)


def action(cx: Context, tree: Tree) -> r.ActionDecl:
    """`action a(x: T) … { … }`; each flag may be given once."""
    phrases = _only(cx, tree, "phrases")
    takes = _only(cx, tree, "takes")
    cost = _only(cx, tree, "cost")
    brace = next(i for i, kid in enumerate(tree.kids) if _is_brace(kid))
    return r.ActionDecl(
        cx.span(tree),
        name(cx, tree.kids[1]),
        params(cx, tree),
        tuple(text(cx, token) for token in phrases.strings()) if phrases else (),
        _takes(cx, takes) if takes else None,
        expr(cx, cost.kids[1]) if cost else None,
        tuple(_step(cx, kid) for kid in tree.kids[brace:] if isinstance(kid, Tree)),
    )


def _only(cx: Context, tree: Tree, kind: str) -> Tree | None:
    found = tree.trees(kind)
    if len(found) > 1:
        word = found[0].kids[0]
        raise BuildError(
            Diagnostic(
                "TW0101",
                f"The action `{name(cx, tree.kids[1]).value}` has `{_word(word)}` twice.",
                cx.span(found[1]),
                label="given again here",
                hint="Join alternative phrases with `or`." if kind == "phrases" else "Keep one.",
                related=(Related(cx.span(found[0]), "first given here"),),
            )
        )
    return found[0] if found else None


def _word(kid: Kid) -> str:
    return kid.text if isinstance(kid, Token) else ""


def _is_brace(kid: Kid) -> bool:
    return isinstance(kid, Token) and kid.terminal == "{"


def _takes(cx: Context, tree: Tree) -> r.Takes:
    until = tree.after("until")
    return r.Takes(cx.span(tree), expr(cx, tree.kids[1]), expr(cx, until) if until else None)


def _step(cx: Context, tree: Tree) -> r.ActionStep:
    match tree.kind:
        case "require":
            return r.Require(
                cx.span(tree),
                expr(cx, tree.kids[1]),
                _label(cx, tree),
                optional_text(cx, tree),
            )
        case "cancelled":
            return r.Cancelled(cx.span(tree), block(cx, tree.kids[1]))
        case _:
            return effect(cx, tree)


def _label(cx: Context, tree: Tree) -> Name | None:
    """The label after `else`, which may be followed by the text alone."""
    follows = tree.after("else")
    return name(cx, follows) if isinstance(follows, Tree) else None


def law(cx: Context, tree: Tree) -> r.LawDecl:
    """`law l(x: T) during p when c { … }`."""
    return r.LawDecl(
        cx.span(tree),
        name(cx, tree.kids[1]),
        params(cx, tree),
        _during(cx, tree),
        _when(cx, tree),
        block_below(cx, tree),
    )


def _during(cx: Context, tree: Tree) -> Name | None:
    part = tree.find("during")
    return optional_name(cx, part.kids[1] if part else None)


def _when(cx: Context, tree: Tree) -> Expr | None:
    part = tree.find("when")
    return expr(cx, part.kids[1]) if part else None


def birth(cx: Context, tree: Tree) -> r.BirthDecl:
    """`birth x: T { … }`."""
    return r.BirthDecl(cx.span(tree), formal(cx, tree.get("formal")), block_below(cx, tree))


def watch(cx: Context, tree: Tree) -> r.WatchDecl:
    """`watch w(x: T) once when c { … }`."""
    return r.WatchDecl(
        cx.span(tree),
        name(cx, tree.kids[1]),
        params(cx, tree),
        tree.find("once") is not None,
        expr(cx, tree.get("when").kids[1]),
        block_below(cx, tree),
    )


def invariant(cx: Context, tree: Tree) -> r.InvariantDecl:
    """`invariant i(x: T): c`."""
    return r.InvariantDecl(
        cx.span(tree), name(cx, tree.kids[1]), params(cx, tree), expr(cx, tree.after(":"))
    )


def conserve(cx: Context, tree: Tree) -> r.ConserveDecl:
    """`conserve n: e except a, b`."""
    exceptions = tuple(name(cx, kid) for kid in tree.all_after("except", ","))
    return r.ConserveDecl(
        cx.span(tree), name(cx, tree.kids[1]), expr(cx, tree.after(":")), exceptions
    )


# ---- beliefs ------------------------------------------------------------------------------


def believe(cx: Context, tree: Tree) -> r.BelieveDecl:
    """`believe b(x: T) during p when c weight w learned { … }`."""
    steps = tuple(
        _guess_step(cx, kid)
        for kid in tree.kids
        if isinstance(kid, Tree) and kid.kind in ("let", "guess", "guess_each")
    )
    return r.BelieveDecl(
        cx.span(tree),
        name(cx, tree.kids[1]),
        params(cx, tree),
        _during(cx, tree),
        _when(cx, tree),
        expr(cx, tree.after("weight")),
        tree.find("learned") is not None,
        steps,
    )


def _guess_step(cx: Context, tree: Tree) -> r.Guess | r.GuessEach | Let:
    span = cx.span(tree)
    match tree.kind:
        case "let":
            return let(cx, tree)
        case "guess":
            outcomes = tuple(_outcome(cx, kid) for kid in tree.all_after("{", ","))
            return r.Guess(span, ref(cx, tree.kids[0]), outcomes)
        case _:
            rest = tree.all_after(":")
            return r.GuessEach(
                span,
                ref(cx, tree.kids[0]),
                _outcome(cx, tree.after("{")),
                where(cx, tree.get("where")),
                expr(cx, rest[0]) if rest else None,
            )


def _outcome(cx: Context, kid: Kid | None) -> r.Outcome:
    if not isinstance(kid, Tree):
        raise LookupError("the grammar and the builder disagree")
    value = None if kid.kind == "otherwise" else expr(cx, kid.kids[0])
    return r.Outcome(cx.span(kid), value, expr(cx, kid.kids[2]))
