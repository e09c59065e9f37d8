"""Concrete trees to nodes: blocks, changes, phases, actions, laws, beliefs, invariants."""

from __future__ import annotations

from typing import Final

from tokenworld.diagnostics import Diagnostic, Related
from tokenworld.syntax import rules as r
from tokenworld.syntax.build_expr import args, candidates, expr, formal, params, ref, text
from tokenworld.syntax.expressions import Expr, Name, Template
from tokenworld.syntax.lalr import Kid, Token, Tree
from tokenworld.syntax.templates import (
    Build,
    BuildError,
    Context,
    after,
    built,
    child,
    each_after,
    each_inside,
    has,
    name,
    word,
)


def block(cx: Context, kid: Kid | None) -> r.Block:
    """`{ … }`."""
    tree = _tree(kid)
    effects = tuple([EFFECTS[one.kind](cx, one) for one in tree.kids if isinstance(one, Tree)])
    return r.Block(cx.span(tree), effects)


def _tree(kid: Kid | None) -> Tree:
    if not isinstance(kid, Tree):
        raise LookupError("the grammar and the builder disagree")
    return kid


block_below: Final = child(block, "block")
"""The block directly below a tree."""
field: Final = built(r.Field, (name, 0), (expr, 2))
"""`name = value`."""


def fields(cx: Context, tree: Tree) -> tuple[r.Field, ...]:
    """The fields of an object or a created object; none where the braces are missing."""
    part = tree.find("fields")
    return tuple(field(cx, kid) for kid in part.trees("field")) if part else ()


def optional_text(cx: Context, tree: Tree) -> Template | None:
    """The quoted text directly below a tree, where there is one."""
    found = tree.strings()
    return text(cx, found[0]) if found else None


# ---- changes ------------------------------------------------------------------------------


_PICK_BY: Final = child(built(r.PickBy, (word, 1), (expr, 2)), "pick_by")
_DRAWS: Final[dict[str, Build]] = {
    "draw_chance": built(r.DrawChance, (expr, 1)),
    "draw_pick": built(r.DrawPick, candidates, _PICK_BY),
    "draw_uniform": built(r.DrawUniform, after(expr, "("), after(expr, ",")),
}


def _named(cx: Context, kid: Kid) -> r.Draw | Expr:
    """The value of a `let`: a draw or an expression."""
    if isinstance(kid, Tree) and kid.kind in _DRAWS:
        draw: r.Draw = _DRAWS[kid.kind](cx, kid)
        return draw
    return expr(cx, kid)


def _apply(cx: Context, tree: Tree) -> r.Effect:
    """A call; the name of an effect of a module may stand behind that of the module and a dot."""
    *path, called, _ = tree.kids
    word = name(cx, called)
    if path:
        before = "".join(cx.source.text[tree.start : called.start].split())
        word = Name(cx.source.span(tree.start, called.end), before + word.value)
    return r.Apply(cx.span(tree), word, args(cx, tree))


def _if(cx: Context, tree: Tree) -> r.Effect:
    """The chain of `else if` becomes one list; it is walked, not recursed into."""
    branches: list[r.Branch] = []
    otherwise: r.Block | None = None
    link: Tree | None = tree
    while link is not None:
        branches.append(_branch(cx, link.kids[1], link.kids[2]))
        rest = link.after("else")
        link = rest if isinstance(rest, Tree) and rest.kind == "if" else None
        if link is None and rest is not None:
            otherwise = block(cx, rest)
    return r.If(cx.span(tree), tuple(branches), otherwise)


def _branch(cx: Context, condition: Kid, body: Kid) -> r.Branch:
    value: Expr = expr(cx, condition)
    span = cx.source.span(condition.start, body.end)
    return r.Branch(span, value, block(cx, body))


def _chance(cx: Context, tree: Tree) -> r.Effect:
    kids = tree.kids
    starts = [i for i, k in enumerate(kids) if isinstance(k, Token) and k.text in ("chance", "or")]
    branches = tuple(_branch(cx, kids[i + 1], kids[i + 2]) for i in starts)
    return r.Chance(cx.span(tree), branches, _OTHERWISE(cx, tree))


_OTHERWISE: Final = after(block, "else")
EFFECTS: Final[dict[str, Build]] = {
    "let": built(r.Let, (name, 1), (_named, 3)),
    "set": built(r.Set, (ref, 0), (word, 1), (expr, 2)),
    "apply": _apply,
    "add": built(r.Add, (ref, 1)),
    "remove": built(r.Remove, (ref, 1)),
    "if": _if,
    "for": built(r.For, candidates, block_below),
    "chance": _chance,
    "pick": built(r.Pick, candidates, _PICK_BY, block_below, _OTHERWISE),
    "create": built(r.Create, (name, 1), (name, 3), fields),
    "destroy": built(r.Destroy, (ref, 1)),
    "transfer": built(r.Transfer, (expr, 1), (ref, 3), (ref, 5)),
    "swap": built(r.Swap, (ref, 1), (ref, 3)),
    "emit": built(r.Emit, (name, 1), args),
    "say": built(r.Say, optional_text),
    "show": built(r.Show, (ref, 1)),
    "reward": built(r.Reward, (expr, 1)),
}
"""The statements of a body, by the kind of their tree."""


# ---- phases, actions, laws, beliefs and what must hold --------------------------------------


def _phase(cx: Context, tree: Tree) -> r.PhaseDecl:
    """`phase p sequentially by nesting`."""
    order = tree.find("order")
    nesting = order is not None and order.find("by_nesting") is not None
    return r.PhaseDecl(cx.span(tree), name(cx, tree.kids[1]), order is not None, nesting)


def _once(flag: str, read: Build) -> Build:
    """A part of an action that may be given once: None where it is missing."""

    def build(cx: Context, tree: Tree) -> object:
        found = _only(cx, tree, flag)
        return None if found is None else read(cx, found)

    return build


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


def _phrases(cx: Context, tree: Tree) -> tuple[Template, ...]:
    found = _only(cx, tree, "phrases")
    return tuple(text(cx, token) for token in found.strings()) if found else ()


def _label(cx: Context, tree: Tree) -> Name | None:
    """The label after `else`, which may be followed by the text alone."""
    follows = tree.after("else")
    return name(cx, follows) if isinstance(follows, Tree) else None


_STEPS: Final[dict[str, Build]] = {
    **EFFECTS,
    "require": built(r.Require, (expr, 1), _label, optional_text),
    "cancelled": built(r.Cancelled, (block, 1)),
}
_TAKES: Final = built(r.Takes, (expr, 1), after(expr, "until"))
_DURING: Final = child(lambda cx, tree: name(cx, tree.kids[1]), "during")
_WHEN: Final = child(lambda cx, tree: expr(cx, tree.kids[1]), "when")


def _outcome(cx: Context, kid: Kid) -> r.Outcome:
    tree = _tree(kid)
    value = None if tree.kind == "otherwise" else expr(cx, tree.kids[0])
    return r.Outcome(cx.span(tree), value, expr(cx, tree.kids[2]))


_GUESSES: Final[dict[str, Build]] = {
    "let": EFFECTS["let"],
    "guess": built(r.Guess, (ref, 0), each_after(_outcome, "{", ",")),
    "guess_each": built(r.GuessEach, (ref, 0), after(_outcome, "{"), candidates, after(expr, ":")),
}
RULES: Final[dict[str, Build]] = {
    "phase": _phase,
    "action": built(
        r.ActionDecl,
        (name, 1),
        params,
        _phrases,
        _once("takes", _TAKES),
        _once("cost", lambda cx, tree: expr(cx, tree.kids[1])),
        each_inside(_STEPS),
    ),
    "effect": built(r.EffectDecl, (name, 1), params, block_below),
    "law": built(r.LawDecl, (name, 1), params, _DURING, _WHEN, block_below),
    "believe": built(
        r.BelieveDecl,
        (name, 1),
        params,
        _DURING,
        _WHEN,
        after(expr, "weight"),
        has("learned"),
        each_inside(_GUESSES),
    ),
    "birth": built(r.BirthDecl, child(formal, "formal"), block_below),
    "watch": built(r.WatchDecl, (name, 1), params, has("once"), _WHEN, block_below),
    "invariant": built(r.InvariantDecl, (name, 1), params, after(expr, ":")),
    "conserve": built(r.ConserveDecl, (name, 1), after(expr, ":"), each_after(name, "except", ",")),
}
"""The rules of a file, by the kind of their tree."""
