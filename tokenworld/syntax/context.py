"""What the builders share: the text, the tables, and the problems found on the way."""

from __future__ import annotations

from typing import Final, TypeVar

from tokenworld.diagnostics import Diagnostic, Source, Span
from tokenworld.syntax.leaves import Name
from tokenworld.syntax.tables import Tables
from tokenworld.syntax.tree import Kid, Token, Tree

# Deeper expressions are refused, so that no later pass can run out of Python's stack.
EXPRESSION_DEPTH: Final = 100
# language.md §18: nesting of blocks.
BLOCK_DEPTH: Final = 32

T = TypeVar("T")


class BuildError(Exception):
    """A tree that no node can be made of; carries the diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(diagnostic.message)


class Context:
    """One file while its nodes are built."""

    def __init__(self, source: Source, tables: Tables) -> None:
        self.source = source
        self.tables = tables
        self.problems: list[Diagnostic] = []
        self._depth = 0

    def span(self, kid: Kid) -> Span:
        """The place of a token or tree."""
        return self.source.span(kid.start, kid.end)

    def enter(self, kid: Kid) -> None:
        """Go one expression deeper; raises `BuildError` below the limit."""
        self._depth += 1
        if self._depth > EXPRESSION_DEPTH:
            raise BuildError(
                Diagnostic(
                    "TW0101",
                    f"The expression is nested more than {EXPRESSION_DEPTH} deep.",
                    self.source.span(kid.start, min(kid.end, kid.start + 1)),
                    label="the limit is reached here",
                    hint="Split it: name a part with `let` or a `derive`.",
                )
            )

    def leave(self) -> None:
        """Come back up."""
        self._depth -= 1

    def restart(self) -> None:
        """Begin another item: a `BuildError` may have left the last one half-way."""
        self._depth = 0


def name(cx: Context, kid: Kid | None) -> Name:
    """A name, type name or keyword used as a name."""
    token = token_of(kid)
    raw = token.terminal == "RAW"
    return Name(cx.span(token), token.text[1:-1] if raw else token.text, raw)


def names(cx: Context, kids: list[Tree]) -> tuple[Name, ...]:
    """Several names, in order."""
    return tuple(name(cx, kid) for kid in kids)


def optional_name(cx: Context, kid: Kid | None) -> Name | None:
    """A name, where there is one."""
    return name(cx, kid) if kid is not None else None


def token_of(kid: Kid | None) -> Token:
    """The one token below a tree of single children."""
    while isinstance(kid, Tree):
        kid = kid.kids[0]
    return must(kid)


def must(value: T | None) -> T:
    """A part that the grammar says is there."""
    if value is None:
        raise LookupError("the grammar and the builder disagree")
    return value
