"""Concrete trees to nodes: blocks, changes, phases, actions, laws, beliefs, invariants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, cast

from tokenworld.diagnostics import Diagnostic, Related
from tokenworld.syntax import rules as r
from tokenworld.syntax.build_expr import args, expr, formal, params, ref, slot_value, where
from tokenworld.syntax.expressions import Expr, Name, Template
from tokenworld.syntax.lalr import Kid, Token, Tree
from tokenworld.syntax.rules import Let
from tokenworld.syntax.templates import (
    BuildError,
    Context,
    built,
    must,
    name,
    optional_name,
    template,
    token_of,
)


def block(cx: Context, kid: Kid | None) -> r.Block:
    """`{ … }`."""
    tree = _tree(kid)
    effects = tuple(effect(cx, k) for k in tree.kids if isinstance(k, Tree))
    return r.Block(cx.span(tree), effects)


def block_below(cx: Context, tree: Tree) -> r.Block:
    """The block directly below a tree."""
    return block(cx, tree.get("block"))


def effect(cx: Context, tree: Tree) -> r.Effect:
    """One change, control structure or line of output."""
    return _BUILDERS[tree.kind](cx, tree)


def fields(cx: Context, tree: Tree) -> tuple[r.Field, ...]:
    """The fields of an object or a created object; none where the braces are missing."""
    part = tree.find("fields")
    return tuple(field(cx, kid) for kid in part.trees("field")) if part else ()


def field(cx: Context, tree: Tree) -> r.Field:
    """`name = value`."""
    return r.Field(cx.span(tree), name(cx, tree.kids[0]), expr(cx, tree.kids[2]))


def text(cx: Context, token: Token) -> Template:
    """A quoted text as a template."""
    return template(cx, token, slot_value)


def optional_text(cx: Context, tree: Tree) -> Template | None:
    """The quoted text directly below a tree, where there is one."""
    found = tree.strings()
    return text(cx, found[0]) if found else None


def let(cx: Context, tree: Tree) -> r.Let:
    """`let name = value` or a draw."""
    value = tree.kids[3]
    if isinstance(value, Tree) and value.kind.startswith("draw_"):
        return r.Let(cx.span(tree), name(cx, tree.kids[1]), _draw(cx, value))
    return r.Let(cx.span(tree), name(cx, tree.kids[1]), expr(cx, value))


# ---- one function per kind of tree --------------------------------------------------------


def _tree(kid: Kid | None) -> Tree:
    if not isinstance(kid, Tree):
        raise LookupError("the grammar and the builder disagree")
    return kid


def _draw(cx: Context, tree: Tree) -> r.Draw:
    span = cx.span(tree)
    match tree.kind:
        case "draw_chance":
            return r.DrawChance(span, expr(cx, tree.kids[1]))
        case "draw_pick":
            return r.DrawPick(span, where(cx, tree.get("where")), _pick_by(cx, tree))
        case _:
            return r.DrawUniform(span, expr(cx, tree.after("(")), expr(cx, tree.after(",")))


def _pick_by(cx: Context, tree: Tree) -> r.PickBy | None:
    part = tree.find("pick_by")
    if part is None:
        return None
    kind = cast(Literal["least", "most", "weight"], token_of(part.kids[1]).text)
    return r.PickBy(cx.span(part), kind, expr(cx, part.kids[2]))


def _set(cx: Context, tree: Tree) -> r.Effect:
    op = cast(Literal["=", "+=", "-="], token_of(tree.kids[1]).text)
    return r.Set(cx.span(tree), ref(cx, tree.kids[0]), op, expr(cx, tree.kids[2]))


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


def _for(cx: Context, tree: Tree) -> r.Effect:
    return r.For(cx.span(tree), where(cx, tree.get("where")), block_below(cx, tree))


def _chance(cx: Context, tree: Tree) -> r.Effect:
    kids = tree.kids
    starts = [i for i, k in enumerate(kids) if isinstance(k, Token) and k.text in ("chance", "or")]
    branches = tuple(_branch(cx, kids[i + 1], kids[i + 2]) for i in starts)
    return r.Chance(cx.span(tree), branches, _otherwise(cx, tree))


def _otherwise(cx: Context, tree: Tree) -> r.Block | None:
    rest = tree.after("else")
    return block(cx, rest) if rest is not None else None


def _pick(cx: Context, tree: Tree) -> r.Effect:
    return r.Pick(
        cx.span(tree),
        where(cx, tree.get("where")),
        _pick_by(cx, tree),
        block_below(cx, tree),
        _otherwise(cx, tree),
    )


def _create(cx: Context, tree: Tree) -> r.Effect:
    return r.Create(cx.span(tree), name(cx, tree.kids[1]), name(cx, tree.kids[3]), fields(cx, tree))


def _emit(cx: Context, tree: Tree) -> r.Effect:
    return r.Emit(cx.span(tree), name(cx, tree.kids[1]), args(cx, tree))


def _say(cx: Context, tree: Tree) -> r.Effect:
    return r.Say(cx.span(tree), text(cx, must(tree.strings()[0])))


_BUILDERS: Final[dict[str, Callable[[Context, Tree], r.Effect]]] = {
    "let": let,
    "set": _set,
    "apply": _apply,
    "add": built(r.Add, (ref, 1)),
    "remove": built(r.Remove, (ref, 1)),
    "if": _if,
    "for": _for,
    "chance": _chance,
    "pick": _pick,
    "create": _create,
    "destroy": built(r.Destroy, (ref, 1)),
    "transfer": built(r.Transfer, (expr, 1), (ref, 3), (ref, 5)),
    "swap": built(r.Swap, (ref, 1), (ref, 3)),
    "emit": _emit,
    "say": _say,
    "show": built(r.Show, (ref, 1)),
    "reward": built(r.Reward, (expr, 1)),
}


# ---- Concrete trees to nodes: phases, actions, laws, beliefs and what must hold ------------------


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


def effect_decl(cx: Context, tree: Tree) -> r.EffectDecl:
    """`effect e(x: T) { … }`."""
    return r.EffectDecl(
        cx.span(tree), name(cx, tree.kids[1]), params(cx, tree), block_below(cx, tree)
    )


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
