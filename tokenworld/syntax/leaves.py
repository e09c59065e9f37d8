"""Syntax tree: the base of all nodes, and the leaves of expressions: names, words, constants."""

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
