"""Concrete trees to nodes: expressions, types, parameters and binders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, cast

from tokenworld.syntax import expressions as e
from tokenworld.syntax.expressions import Constant, NamedType, Number, PrimitiveType, Qualified
from tokenworld.syntax.lalr import Kid, Token, Tree
from tokenworld.syntax.templates import Context, built, must, name, template, token_of

_BINARY: Final[dict[str, e.BinaryOp]] = {
    "plus": "+",
    "minus": "-",
    "times": "*",
    "over": "/",
    "div": "div",
    "mod": "mod",
}


def expr(cx: Context, kid: Kid | None) -> e.Expr:
    """Any expression."""
    if isinstance(kid, Token):
        return number(cx, kid)
    tree: Tree = must(kid)
    cx.enter(tree)
    node = _binary(cx, tree) if tree.kind in _BINARY else _BUILDERS[tree.kind](cx, tree)
    cx.leave()
    return node


def exprs(cx: Context, kids: list[Kid]) -> tuple[e.Expr, ...]:
    """Several expressions, in order."""
    return tuple(expr(cx, kid) for kid in kids)


def ref(cx: Context, kid: Kid | None) -> e.Ref:
    """A name, call, attribute or method."""
    return cast(e.Ref, expr(cx, kid))


def aka(cx: Context, tree: Tree) -> tuple[e.Expr, ...]:
    """The words after `aka` of an object or a `called` item."""
    part = tree.find("aka")
    return exprs(cx, part.all_after("aka", ",")) if part else ()


def number(cx: Context, kid: Kid | None) -> Number:
    """A number token, split into its digits and its unit."""
    token = token_of(kid)
    digits = token.text.rstrip("%abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    decimals = len(digits) - digits.index(".") - 1 if "." in digits else 0
    return Number(cx.span(token), digits, decimals, token.text[len(digits) :] or None)


# ---- types and binders --------------------------------------------------------------------


def type_ref(cx: Context, kid: Kid | None) -> e.TypeRef:
    """A declared type: an object type, enum, primitive or range."""
    tree = must(kid)
    if not isinstance(tree, Tree):
        raise LookupError("a type is a tree")
    optional = tree.has("?")
    span = cx.span(tree)
    match tree.kind:
        case "range":
            return e.RangeType(span, bound(cx, tree.kids[0]), bound(cx, tree.kids[2]))
        case "type_primitive" | "type_primitive_optional" | "scalar":
            kind = cast(Literal["bool", "int", "real", "text"], token_of(tree).text)
            return PrimitiveType(span, kind, optional)
        case _:
            return NamedType(span, name(cx, tree), optional)


def bound(cx: Context, kid: Kid) -> e.Bound:
    """One end of a range."""
    if isinstance(kid, Tree):
        return e.Negative(cx.span(kid), number(cx, kid.kids[1]))
    return number(cx, kid)


def kind_of(cx: Context, kid: Kid | None) -> e.Kind | None:
    """The type or range after a colon, where there is one."""
    if kid is None:
        return None
    return cast(e.Kind, type_ref(cx, kid))


def formal(cx: Context, tree: Tree) -> e.Formal:
    """`x: T`."""
    kind = tree.after(":")
    of = None if kind is None else type_ref(cx, kind)
    return e.Formal(cx.span(tree), name(cx, tree.kids[0]), of)


def params(cx: Context, tree: Tree) -> tuple[e.Formal, ...]:
    """The parameter list of a rule or fluent."""
    return tuple(formal(cx, kid) for kid in tree.get("params").trees("formal"))


def where(cx: Context, tree: Tree) -> e.Where:
    """Binders with their condition."""
    binders = tuple(_binder(cx, kid) for kid in tree.trees("binder"))
    condition = tree.after("where")
    return e.Where(cx.span(tree), binders, expr(cx, condition) if condition else None)


def _binder(cx: Context, tree: Tree) -> e.Binder:
    collection = tree.after("in")
    return e.Binder(
        cx.span(tree),
        name(cx, tree.kids[0]),
        kind_of(cx, tree.after(":")),
        expr(cx, collection) if collection else None,
    )


def args(cx: Context, tree: Tree) -> tuple[e.Expr, ...]:
    """The arguments of a call, method or event."""
    part = tree.get("args")
    return exprs(cx, [kid for kid in part.kids if not _is_mark(kid)])


def _is_mark(kid: Kid) -> bool:
    return isinstance(kid, Token) and kid.terminal in ("(", ")", ",", "[", "]")


# ---- one function per kind of tree --------------------------------------------------------


def _text(cx: Context, tree: Tree) -> e.Expr:
    return e.Text(cx.span(tree), template(cx, token_of(tree), slot_value))


def slot_value(cx: Context, kid: Kid) -> e.Expr:
    """The expression in the braces of a template."""
    return expr(cx, kid)


def _constant(cx: Context, tree: Tree) -> e.Expr:
    word = token_of(tree).text
    return Constant(cx.span(tree), None if word == "none" else word == "true")


def _call(cx: Context, tree: Tree) -> e.Expr:
    return e.Call(cx.span(tree), name(cx, tree.kids[0]), args(cx, tree))


def _method(cx: Context, tree: Tree) -> e.Expr:
    return e.Method(cx.span(tree), ref(cx, tree.kids[0]), name(cx, tree.kids[2]), args(cx, tree))


def _group(cx: Context, tree: Tree) -> e.Expr:
    return expr(cx, tree.kids[1])


def _list(cx: Context, tree: Tree) -> e.Expr:
    return e.ListExpr(cx.span(tree), exprs(cx, [kid for kid in tree.kids if not _is_mark(kid)]))


def _folder(tree: Tree) -> e.FoldKind:
    return cast(e.FoldKind, token_of(tree.kids[0]).text)


def _fold(cx: Context, tree: Tree) -> e.Expr:
    value = expr(cx, tree.kids[2])
    return e.Fold(cx.span(tree), _folder(tree), value, where(cx, tree.get("where")))


def _fold_of(cx: Context, tree: Tree) -> e.Expr:
    return e.FoldOf(cx.span(tree), _folder(tree), exprs(cx, tree.all_after("(", ",")))


def _fold_all(cx: Context, tree: Tree) -> e.Expr:
    return e.FoldAll(cx.span(tree), _folder(tree), expr(cx, tree.kids[2]))


def _and_or(cx: Context, tree: Tree) -> e.Expr:
    node = e.And if tree.kind == "and" else e.Or
    return node(cx.span(tree), exprs(cx, _operands(tree)))


def _operands(tree: Tree) -> list[Kid]:
    """The operands of one written group: the left spine of equal operators, in order."""
    found: list[Kid] = []
    left: Kid = tree
    while isinstance(left, Tree) and left.kind == tree.kind:
        found.append(left.kids[2])
        left = left.kids[0]
    return [left, *reversed(found)]


def _choose(cx: Context, tree: Tree) -> e.Expr:
    condition, then, otherwise = exprs(cx, tree.kids[1::2])
    return e.Choose(cx.span(tree), condition, then, otherwise)


def _compare(cx: Context, tree: Tree) -> e.Expr:
    op = cast(e.CompareOp, token_of(tree.kids[1]).text)
    return e.Compare(cx.span(tree), op, expr(cx, tree.kids[0]), expr(cx, tree.kids[2]))


def _binary(cx: Context, tree: Tree) -> e.Expr:
    op = _BINARY[tree.kind]
    return e.Binary(cx.span(tree), op, expr(cx, tree.kids[0]), expr(cx, tree.kids[2]))


_BUILDERS: Final[dict[str, Callable[[Context, Tree], e.Expr]]] = {
    "name": name,
    "text": _text,
    "constant": _constant,
    "call": _call,
    "attr": built(e.Attr, (ref, 0), (name, 2)),
    "method": _method,
    "was": built(e.Was, (ref, 1)),
    "qualified": built(Qualified, (name, 0), (name, 2)),
    "group": _group,
    "list": _list,
    "fold": _fold,
    "fold_of": _fold_of,
    "fold_all": _fold_all,
    "not": built(e.Not, (expr, 1)),
    "and": _and_or,
    "or": _and_or,
    "implies": built(e.Implies, (expr, 0), (expr, 2)),
    "choose": _choose,
    "default_for": built(e.Otherwise, (expr, 0), (expr, 2)),
    "compare": _compare,
    "member_of": built(e.MemberOf, (expr, 0), (expr, 2)),
    "is_type": built(e.IsType, (expr, 0), (name, 2)),
    "negative": built(e.Negative, (expr, 1)),
}
