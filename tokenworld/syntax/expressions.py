"""Syntax tree: the base of all nodes, expressions, templates, binders, types."""

from __future__ import annotations

from typing import Literal

from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen


@frozen
class Node:
    """Anything with a place in the source."""

    span: Span


@frozen
class Name(Node):
    """An identifier, a type name, or a bare name used as an expression.

    `value` is the name itself; a raw name loses its backquotes, so `` `door` `` and `door`
    have the same value. `raw` tells how it was written.
    """

    value: str
    raw: bool = False


@frozen
class Number(Node):
    """An unsigned number as written: `12.50l` has digits "12.50", 2 decimals, unit "l".

    `unit` is None without a suffix and "%" for a percentage.
    """

    digits: str
    decimals: int
    unit: str | None

    @property
    def scaled(self) -> int:
        """The digits as one integer: the value times ten to the power of `decimals`."""
        return int(self.digits.replace(".", ""))


@frozen
class Constant(Node):
    """`true`, `false`, or `none` (as None)."""

    value: bool | None


@frozen
class Qualified(Node):
    """`Lock.open`: a member named with its enum."""

    type: Name
    name: Name


# ---- texts --------------------------------------------------------------------------------


@frozen
class Str(Node):
    """A quoted text without slots (titles, paths, rows); `value` has its escapes resolved."""

    value: str


@frozen
class TextPart(Node):
    """Literal words of a template, escapes resolved."""

    value: str


Article = Literal["", "a", "A", "the", "The"]


# ---- types --------------------------------------------------------------------------------


@frozen
class NamedType(Node):
    """`Room` or `Room?`: an object type or an enum."""

    name: Name
    optional: bool = False


@frozen
class PrimitiveType(Node):
    """`bool`, `int`, `real` or `text`, or one of them with `?`."""

    kind: Literal["bool", "int", "real", "text"]
    optional: bool = False


# ---- Syntax tree: expressions, and the templates, binders and types made of them -----------------
# Every node carries the span of exactly its own source text. Parentheses leave no node: the span
# of a parenthesised expression is that of the expression inside. They stay visible where they
# mean something: `And` and `Or` hold one operand per term of *one written group*, so `a and b and
# c` is one node with three operands and `(a and b) and c` is a node in a node.


@frozen
class Slot(Node):
    """`{the x}`: an expression to print; the span includes the braces.

    `article` is the article as written; `list` is set for `{list …}` and `{a list …}`.
    """

    article: Article
    list: bool
    value: Expr


@frozen
class Template(Node):
    """A quoted text with slots: what `say`, refusals, phrases and text values hold.

    The span includes the quotes; `parts` are in written order and never two texts in a row.
    """

    parts: tuple[TextPart | Slot, ...]


@frozen
class RangeType(Node):
    """`low to high`: an exact number between two bounds, both included."""

    low: Bound
    high: Bound


# ---- binders ------------------------------------------------------------------------------


@frozen
class Formal(Node):
    """A parameter of a rule or fluent; without a kind it takes any object.

    `bool` and `real` are for derives and effects alone, types with `?` for effects.
    """

    name: Name
    kind: TypeRef | None


@frozen
class Binder(Node):
    """`x: T`, `x in e`, `x: T in e` or bare `x` of a loop or fold."""

    name: Name
    kind: Kind | None
    collection: Expr | None


@frozen
class Where(Node):
    """One or more binders and the condition that filters their bindings."""

    binders: tuple[Binder, ...]
    condition: Expr | None


# ---- expressions --------------------------------------------------------------------------


@frozen
class Text(Node):
    """A quoted text as a value; it is a template."""

    template: Template


@frozen
class Call(Node):
    """`f(a, b)`: a fluent, derive, built-in function, or action of an intent."""

    function: Name
    args: tuple[Expr, ...]


@frozen
class Attr(Node):
    """`base.name`."""

    base: Ref
    name: Name


@frozen
class Method(Node):
    """`base.name(args)`, which means `name(base, args)`."""

    base: Ref
    name: Name
    args: tuple[Expr, ...]


@frozen
class Was(Node):
    """`was x.f`: the value at the start of the tick."""

    ref: Ref


@frozen
class ListExpr(Node):
    """`[a, b]`."""

    items: tuple[Expr, ...]


FoldKind = Literal["any", "all", "count", "sum", "min", "max", "first", "last"]


@frozen
class Fold(Node):
    """`kind(value for x: T where c)`."""

    kind: FoldKind
    value: Expr
    where: Where


@frozen
class FoldOf(Node):
    """`min(a, b)`: a fold of two or more written values."""

    kind: FoldKind
    values: tuple[Expr, ...]


@frozen
class FoldAll(Node):
    """`count(c.contents)`: a fold of a collection."""

    kind: FoldKind
    collection: Expr


@frozen
class Not(Node):
    """`not operand`."""

    operand: Expr


OverTimeWord = Literal["sometime", "always", "at_most_once", "sometime_after", "sometime_before"]


@frozen
class OverTime(Node):
    """`sometime c`, `sometime_after c then d`: a condition on all states up to now."""

    word: OverTimeWord
    operands: tuple[Expr, ...]


@frozen
class And(Node):
    """`a and b and …`: two or more operands of one written group."""

    operands: tuple[Expr, ...]


@frozen
class Or(Node):
    """`a or b or …`: two or more operands of one written group."""

    operands: tuple[Expr, ...]


@frozen
class Implies(Node):
    """`left implies right`, grouping to the right."""

    left: Expr
    right: Expr


@frozen
class Choose(Node):
    """`if condition then then else otherwise`, as a value."""

    condition: Expr
    then: Expr
    otherwise: Expr


@frozen
class Otherwise(Node):
    """`value otherwise default`, grouping to the right: the default where the value is `none`."""

    value: Expr
    default: Expr


CompareOp = Literal["==", "!=", "<=", ">=", "<", ">"]


@frozen
class Compare(Node):
    """One comparison of two terms."""

    op: CompareOp
    left: Expr
    right: Expr


@frozen
class MemberOf(Node):
    """`item in collection`."""

    item: Expr
    collection: Expr


@frozen
class IsType(Node):
    """`value is T`."""

    value: Expr
    type: Name


BinaryOp = Literal["+", "-", "*", "/", "div", "mod"]


@frozen
class Binary(Node):
    """Arithmetic on two values."""

    op: BinaryOp
    left: Expr
    right: Expr


@frozen
class Negative(Node):
    """`-operand`."""

    operand: Expr


Ref = Name | Call | Attr | Method
Expr = (
    Number
    | Text
    | Constant
    | Ref
    | Was
    | Qualified
    | ListExpr
    | Fold
    | FoldOf
    | FoldAll
    | Not
    | OverTime
    | And
    | Or
    | Implies
    | Choose
    | Otherwise
    | Compare
    | MemberOf
    | IsType
    | Binary
    | Negative
)
Bound = Number | Negative
Kind = NamedType | RangeType
TypeRef = NamedType | PrimitiveType | RangeType
