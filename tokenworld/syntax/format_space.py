"""Between two tokens: how many blanks stand there, and whether a line may be broken there."""

from __future__ import annotations

from typing import Final

from tokenworld.syntax.format_shape import LISTS, Shape
from tokenworld.syntax.tree import Token

_CLOSING: Final = frozenset({",", ")", "]", ".", "?"})
_OPENING: Final = frozenset({"(", "[", "."})
_COMPARE: Final = frozenset({"==", "!=", "<=", ">=", "<", ">"})
_OPERATORS: Final = frozenset({"+", "-", "*", "/", "div", "mod"}) | _COMPARE
# Words that begin a part of a statement: the order is that in which a long line is broken.
_CLAUSES: Final = (
    "when",
    "during",
    "as",
    "takes",
    "cost",
    "weight",
    "until",
    "aka",
    "else",
    "then",
)
_JOINTS: Final = ("implies", "or", "and", "where", "for", "in", "is", "by")
_BREAKS: Final = frozenset({*_CLAUSES, *_JOINTS}) | _OPERATORS


def gap(tokens: list[Token], shape: Shape, index: int) -> int:
    """The blanks before a token that follows another one on its line."""
    before, token = tokens[index - 1], tokens[index]
    if shape.columns.get(index) == "then":
        return 1
    if index in shape.starts and before.terminal not in ("{", ","):
        return 1 if shape.inside[index] < 0 or _in_list(shape, index) else 2
    if token.terminal in _CLOSING or before.terminal in _OPENING or index - 1 in shape.unary:
        return 0
    if token.terminal == ":":
        return 1 if index in shape.parents else 0
    if token.terminal == "(":
        return 0 if index in shape.calls else 1
    return 1


def _in_list(shape: Shape, index: int) -> bool:
    return shape.braces[shape.inside[index]].kind in LISTS


def may_break(tokens: list[Token], shape: Shape, index: int) -> bool:
    """Whether the author may put a line break before a token inside a statement."""
    token, before = tokens[index], tokens[index - 1]
    if token.terminal in _CLOSING or token.terminal in ("{", "}"):
        return False
    if before.terminal in (",", "(", "["):
        return True
    if before.terminal in ("=", ":", "+=", "-="):
        return index - 1 not in shape.parents and not _names_type(tokens, shape, index)
    if index in shape.rows | shape.titles | shape.starts.keys():
        return True
    is_word = token.terminal in _BREAKS and index not in shape.names
    return (is_word and index not in shape.unary) or token.terminal == "~"


def _names_type(tokens: list[Token], shape: Shape, index: int) -> bool:
    """Whether a token is the type behind the colon of a declaration, which stays with it."""
    return tokens[index].terminal == "TYPE" and tokens[index - 1].terminal == ":"


def break_rank(tokens: list[Token], shape: Shape, index: int) -> tuple[int, int]:
    """How well a long line is broken before a token: the lowest rank first."""
    terminal = tokens[index].terminal
    if index in shape.columns or index in shape.titles:
        kind = 0
    elif terminal in _CLAUSES:
        kind = 1
    elif terminal in _JOINTS:
        kind = 2 + _JOINTS.index(terminal)
    elif tokens[index - 1].terminal == ",":
        kind = 12
    else:
        kind = 14 if terminal in _OPERATORS else 16
    return shape.nesting[index], kind
