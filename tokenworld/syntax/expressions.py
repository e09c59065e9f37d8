"""Syntax tree: names, texts, types and expressions.

Every node carries the span of exactly its own source text. Parentheses leave no node: the span
of a parenthesised expression is that of the expression inside. They stay visible where they
mean something: `And` and `Or` hold one operand per term of *one written group*, so
`a and b and c` is one node with three operands and `(a and b) and c` is a node in a node.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tokenworld.diagnostics import Span


@dataclass(frozen=True, slots=True)
class Node:
    """Anything with a place in the source."""

    span: Span


@dataclass(frozen=True, slots=True)
class Name(Node):
    """An identifier, a type name, or a bare name used as an expression.

    `value` is the name itself; a raw name loses its backquotes, so `` `door` `` and `door`
    have the same value. `raw` tells how it was written.
    """

    value: str
    raw: bool = False


# ---- texts --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Str(Node):
    """A quoted text without slots (titles, paths, rows); `value` has its escapes resolved."""

    value: str


@dataclass(frozen=True, slots=True)
class TextPart(Node):
    """Literal words of a template, escapes resolved."""

    value: str


Article = Literal["", "a", "A", "the", "The"]


@dataclass(frozen=True, slots=True)
class Slot(Node):
    """`{the x}`: an expression to print; the span includes the braces.

    `article` is the article as written; `list` is set for `{list …}` and `{a list …}`.
    """

    article: Article
    list: bool
    value: Expr


@dataclass(frozen=True, slots=True)
class Template(Node):
    """A quoted text with slots: what `say`, refusals, phrases and text values hold.

    The span includes the quotes; `parts` are in written order and never two texts in a row.
    """

    parts: tuple[TextPart | Slot, ...]


# ---- types --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NamedType(Node):
    """`Room` or `Room?`: an object type or an enum."""

    name: Name
    optional: bool = False


@dataclass(frozen=True, slots=True)
class PrimitiveType(Node):
    """`bool`, `int`, `real` or `text`, or one of them with `?`."""

    kind: Literal["bool", "int", "real", "text"]
    optional: bool = False


@dataclass(frozen=True, slots=True)
class RangeType(Node):
    """`low to high`: an exact number between two bounds, both included."""

    low: Bound
    high: Bound


# ---- binders ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Formal(Node):
    """A parameter of a rule or fluent; without a kind it stands for any object."""

    name: Name
    kind: Kind | None


@dataclass(frozen=True, slots=True)
class Binder(Node):
    """`x: T`, `x in e`, `x: T in e` or bare `x` of a loop or fold."""

    name: Name
    kind: Kind | None
    collection: Expr | None


@dataclass(frozen=True, slots=True)
class Where(Node):
    """One or more binders and the condition that filters their bindings."""

    binders: tuple[Binder, ...]
    condition: Expr | None


# ---- expressions --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Text(Node):
    """A quoted text as a value; it is a template."""

    template: Template


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """`true`, `false`, or `none` (as None)."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`f(a, b)`: a fluent, derive, built-in function, or action of an intent."""

    function: Name
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Attr(Node):
    """`base.name`."""

    base: Ref
    name: Name


@dataclass(frozen=True, slots=True)
class Method(Node):
    """`base.name(args)`, which means `name(base, args)`."""

    base: Ref
    name: Name
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Was(Node):
    """`was x.f`: the value at the start of the tick."""

    ref: Ref


@dataclass(frozen=True, slots=True)
class Qualified(Node):
    """`Lock.open`: a member named with its enum."""

    type: Name
    name: Name


@dataclass(frozen=True, slots=True)
class ListExpr(Node):
    """`[a, b]`."""

    items: tuple[Expr, ...]


FoldKind = Literal["any", "all", "count", "sum", "min", "max", "first", "last"]


@dataclass(frozen=True, slots=True)
class Fold(Node):
    """`kind(value for x: T where c)`."""

    kind: FoldKind
    value: Expr
    where: Where


@dataclass(frozen=True, slots=True)
class FoldOf(Node):
    """`min(a, b)`: a fold of two or more written values."""

    kind: FoldKind
    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class FoldAll(Node):
    """`count(c.contents)`: a fold of a collection."""

    kind: FoldKind
    collection: Expr


@dataclass(frozen=True, slots=True)
class Not(Node):
    """`not operand`."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class And(Node):
    """`a and b and …`: two or more operands of one written group."""

    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Or(Node):
    """`a or b or …`: two or more operands of one written group."""

    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Implies(Node):
    """`left implies right`, grouping to the right."""

    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Choose(Node):
    """`if condition then then else otherwise`, as a value."""

    condition: Expr
    then: Expr
    otherwise: Expr


CompareOp = Literal["==", "!=", "<=", ">=", "<", ">"]


@dataclass(frozen=True, slots=True)
class Compare(Node):
    """One comparison of two terms."""

    op: CompareOp
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class MemberOf(Node):
    """`item in collection`."""

    item: Expr
    collection: Expr


@dataclass(frozen=True, slots=True)
class IsType(Node):
    """`value is T`."""

    value: Expr
    type: Name


BinaryOp = Literal["+", "-", "*", "/", "div", "mod"]


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """Arithmetic on two values."""

    op: BinaryOp
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
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
    | And
    | Or
    | Implies
    | Choose
    | Compare
    | MemberOf
    | IsType
    | Binary
    | Negative
)
Bound = Number | Negative
Kind = NamedType | RangeType
TypeRef = NamedType | PrimitiveType | RangeType
