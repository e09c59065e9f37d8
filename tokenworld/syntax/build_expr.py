"""Concrete trees to nodes: expressions, types, parameters and binders."""

from __future__ import annotations

from typing import Final, Literal, cast

from tokenworld.syntax import expressions as e
from tokenworld.syntax.expressions import Constant, NamedType, Number, PrimitiveType, Qualified
from tokenworld.syntax.lalr import Kid, Token, Tree
from tokenworld.syntax.templates import (
    Build,
    Context,
    after,
    built,
    child,
    each,
    each_after,
    must,
    name,
    template,
    token_of,
    word,
)

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
    node: e.Expr = _BUILDERS[tree.kind](cx, tree)
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


formal: Final = built(e.Formal, (name, 0), after(type_ref, ":"))
"""`x: T`."""


params: Final = child(each(formal, "formal"), "params")
"""The parameter list of a rule or fluent."""
_BINDER: Final = built(e.Binder, (name, 0), after(type_ref, ":"), after(expr, "in"))
where: Final = built(e.Where, each(_BINDER, "binder"), after(expr, "where"))
"""Binders with their condition."""
candidates: Final = child(where, "where")
"""The binders of a loop, a fold or a pick."""


def _values(cx: Context, tree: Tree) -> tuple[e.Expr, ...]:
    """The expressions between parentheses or brackets."""
    return exprs(cx, [kid for kid in tree.kids if not _is_mark(kid)])


args: Final = child(_values, "args")
"""The arguments of a call, method or event."""


def _is_mark(kid: Kid) -> bool:
    return isinstance(kid, Token) and kid.terminal in ("(", ")", ",", "[", "]")


# ---- one function per kind of tree --------------------------------------------------------


def text(cx: Context, kid: Kid) -> e.Template:
    """A quoted text as a template, with expressions in its braces."""
    return template(cx, token_of(kid), expr)


def _constant(cx: Context, tree: Tree) -> e.Expr:
    word = token_of(tree).text
    return Constant(cx.span(tree), None if word == "none" else word == "true")


def _group(cx: Context, tree: Tree) -> e.Expr:
    return expr(cx, tree.kids[1])


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


def _binary(cx: Context, tree: Tree) -> e.Expr:
    op = _BINARY[tree.kind]
    return e.Binary(cx.span(tree), op, expr(cx, tree.kids[0]), expr(cx, tree.kids[2]))


_BUILDERS: Final[dict[str, Build]] = {
    "name": name,
    "text": built(e.Text, text),
    "constant": _constant,
    "call": built(e.Call, (name, 0), args),
    "attr": built(e.Attr, (ref, 0), (name, 2)),
    "method": built(e.Method, (ref, 0), (name, 2), args),
    "was": built(e.Was, (ref, 1)),
    "qualified": built(Qualified, (name, 0), (name, 2)),
    "group": _group,
    "list": built(e.ListExpr, _values),
    "fold": built(e.Fold, (word, 0), (expr, 2), candidates),
    "fold_of": built(e.FoldOf, (word, 0), each_after(expr, "(", ",")),
    "fold_all": built(e.FoldAll, (word, 0), (expr, 2)),
    "not": built(e.Not, (expr, 1)),
    "and": _and_or,
    "or": _and_or,
    "implies": built(e.Implies, (expr, 0), (expr, 2)),
    "choose": built(e.Choose, (expr, 1), (expr, 3), (expr, 5)),
    "default_for": built(e.Otherwise, (expr, 0), (expr, 2)),
    "compare": built(e.Compare, (word, 1), (expr, 0), (expr, 2)),
    "member_of": built(e.MemberOf, (expr, 0), (expr, 2)),
    "is_type": built(e.IsType, (expr, 0), (name, 2)),
    "negative": built(e.Negative, (expr, 1)),
    **dict.fromkeys(_BINARY, _binary),
}
