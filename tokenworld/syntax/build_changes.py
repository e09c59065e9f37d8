"""Concrete trees to nodes: blocks and changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, cast

from tokenworld.syntax import changes as c
from tokenworld.syntax.build_expr import args, expr, ref, slot_value, where
from tokenworld.syntax.context import Context, must, name, token_of
from tokenworld.syntax.expressions import Expr, Template
from tokenworld.syntax.templates import template
from tokenworld.syntax.tree import Kid, Token, Tree


def block(cx: Context, kid: Kid | None) -> c.Block:
    """`{ … }`."""
    tree = _tree(kid)
    effects = tuple(effect(cx, k) for k in tree.kids if isinstance(k, Tree))
    return c.Block(cx.span(tree), effects)


def block_below(cx: Context, tree: Tree) -> c.Block:
    """The block directly below a tree."""
    return block(cx, tree.get("block"))


def effect(cx: Context, tree: Tree) -> c.Effect:
    """One change, control structure or line of output."""
    return _BUILDERS[tree.kind](cx, tree)


def fields(cx: Context, tree: Tree) -> tuple[c.Field, ...]:
    """The fields of an object or a created object; none where the braces are missing."""
    part = tree.find("fields")
    return tuple(field(cx, kid) for kid in part.trees("field")) if part else ()


def field(cx: Context, tree: Tree) -> c.Field:
    """`name = value`."""
    return c.Field(cx.span(tree), name(cx, tree.kids[0]), expr(cx, tree.kids[2]))


def text(cx: Context, token: Token) -> Template:
    """A quoted text as a template."""
    return template(cx, token, slot_value)


def optional_text(cx: Context, tree: Tree) -> Template | None:
    """The quoted text directly below a tree, where there is one."""
    found = tree.strings()
    return text(cx, found[0]) if found else None


def let(cx: Context, tree: Tree) -> c.Let:
    """`let name = value` or a draw."""
    value = tree.kids[3]
    if isinstance(value, Tree) and value.kind.startswith("draw_"):
        return c.Let(cx.span(tree), name(cx, tree.kids[1]), _draw(cx, value))
    return c.Let(cx.span(tree), name(cx, tree.kids[1]), expr(cx, value))


# ---- one function per kind of tree --------------------------------------------------------


def _tree(kid: Kid | None) -> Tree:
    if not isinstance(kid, Tree):
        raise LookupError("the grammar and the builder disagree")
    return kid


def _draw(cx: Context, tree: Tree) -> c.Draw:
    span = cx.span(tree)
    match tree.kind:
        case "draw_chance":
            return c.DrawChance(span, expr(cx, tree.kids[1]))
        case "draw_pick":
            return c.DrawPick(span, where(cx, tree.get("where")), _pick_by(cx, tree))
        case _:
            return c.DrawUniform(span, expr(cx, tree.after("(")), expr(cx, tree.after(",")))


def _pick_by(cx: Context, tree: Tree) -> c.PickBy | None:
    part = tree.find("pick_by")
    if part is None:
        return None
    kind = cast(Literal["least", "most", "weight"], token_of(part.kids[1]).text)
    return c.PickBy(cx.span(part), kind, expr(cx, part.kids[2]))


def _set(cx: Context, tree: Tree) -> c.Effect:
    op = cast(Literal["=", "+=", "-="], token_of(tree.kids[1]).text)
    return c.Set(cx.span(tree), ref(cx, tree.kids[0]), op, expr(cx, tree.kids[2]))


def _add(cx: Context, tree: Tree) -> c.Effect:
    return c.Add(cx.span(tree), ref(cx, tree.kids[1]))


def _remove(cx: Context, tree: Tree) -> c.Effect:
    return c.Remove(cx.span(tree), ref(cx, tree.kids[1]))


def _if(cx: Context, tree: Tree) -> c.Effect:
    """The chain of `else if` becomes one list; it is walked, not recursed into."""
    branches: list[c.Branch] = []
    otherwise: c.Block | None = None
    link: Tree | None = tree
    while link is not None:
        branches.append(_branch(cx, link.kids[1], link.kids[2]))
        rest = link.after("else")
        link = rest if isinstance(rest, Tree) and rest.kind == "if" else None
        if link is None and rest is not None:
            otherwise = block(cx, rest)
    return c.If(cx.span(tree), tuple(branches), otherwise)


def _branch(cx: Context, condition: Kid, body: Kid) -> c.Branch:
    value: Expr = expr(cx, condition)
    span = cx.source.span(condition.start, body.end)
    return c.Branch(span, value, block(cx, body))


def _for(cx: Context, tree: Tree) -> c.Effect:
    return c.For(cx.span(tree), where(cx, tree.get("where")), block_below(cx, tree))


def _chance(cx: Context, tree: Tree) -> c.Effect:
    kids = tree.kids
    starts = [i for i, k in enumerate(kids) if isinstance(k, Token) and k.text in ("chance", "or")]
    branches = tuple(_branch(cx, kids[i + 1], kids[i + 2]) for i in starts)
    return c.Chance(cx.span(tree), branches, _otherwise(cx, tree))


def _otherwise(cx: Context, tree: Tree) -> c.Block | None:
    rest = tree.after("else")
    return block(cx, rest) if rest is not None else None


def _pick(cx: Context, tree: Tree) -> c.Effect:
    return c.Pick(
        cx.span(tree),
        where(cx, tree.get("where")),
        _pick_by(cx, tree),
        block_below(cx, tree),
        _otherwise(cx, tree),
    )


def _create(cx: Context, tree: Tree) -> c.Effect:
    return c.Create(cx.span(tree), name(cx, tree.kids[1]), name(cx, tree.kids[3]), fields(cx, tree))


def _destroy(cx: Context, tree: Tree) -> c.Effect:
    return c.Destroy(cx.span(tree), ref(cx, tree.kids[1]))


def _transfer(cx: Context, tree: Tree) -> c.Effect:
    amount, source, target = tree.kids[1], tree.kids[3], tree.kids[5]
    return c.Transfer(cx.span(tree), expr(cx, amount), ref(cx, source), ref(cx, target))


def _swap(cx: Context, tree: Tree) -> c.Effect:
    return c.Swap(cx.span(tree), ref(cx, tree.kids[1]), ref(cx, tree.kids[3]))


def _emit(cx: Context, tree: Tree) -> c.Effect:
    return c.Emit(cx.span(tree), name(cx, tree.kids[1]), args(cx, tree))


def _say(cx: Context, tree: Tree) -> c.Effect:
    return c.Say(cx.span(tree), text(cx, must(tree.strings()[0])))


def _show(cx: Context, tree: Tree) -> c.Effect:
    return c.Show(cx.span(tree), ref(cx, tree.kids[1]))


def _reward(cx: Context, tree: Tree) -> c.Effect:
    return c.Reward(cx.span(tree), expr(cx, tree.kids[1]))


_BUILDERS: Final[dict[str, Callable[[Context, Tree], c.Effect]]] = {
    "let": let,
    "set": _set,
    "add": _add,
    "remove": _remove,
    "if": _if,
    "for": _for,
    "chance": _chance,
    "pick": _pick,
    "create": _create,
    "destroy": _destroy,
    "transfer": _transfer,
    "swap": _swap,
    "emit": _emit,
    "say": _say,
    "show": _show,
    "reward": _reward,
}
