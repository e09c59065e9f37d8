"""Tokens and concrete trees: what the parser makes and the builder reads."""

from __future__ import annotations

from typing import Final

BAD: Final = "$BAD"


class Token:
    """One token: the name of its terminal, its text, and its place as character offsets.

    Punctuation and keywords are named by their own text. A token of the terminal `BAD` stands
    for characters that were reported already.
    """

    __slots__ = ("end", "start", "terminal", "text")

    def __init__(self, terminal: str, text: str, start: int, end: int) -> None:
        self.terminal = terminal
        self.text = text
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"Token({self.terminal!r}, {self.text!r}, {self.start})"


class Tree:
    """One application of a rule: all its tokens and trees in order, none left out."""

    __slots__ = ("end", "kids", "kind", "start")

    def __init__(self, kind: str, kids: list[Kid], start: int, end: int) -> None:
        self.kind = kind
        self.kids = kids
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"Tree({self.kind!r}, {self.kids!r})"

    def trees(self, kind: str) -> list[Tree]:
        """The trees of one kind directly below."""
        return [kid for kid in self.kids if isinstance(kid, Tree) and kid.kind == kind]

    def find(self, kind: str) -> Tree | None:
        """The first tree of one kind directly below."""
        for kid in self.kids:
            if isinstance(kid, Tree) and kid.kind == kind:
                return kid
        return None

    def get(self, kind: str) -> Tree:
        """The tree of one kind directly below, which the grammar says is there."""
        found = self.find(kind)
        if found is None:
            raise LookupError(f"`{self.kind}` has no `{kind}`")
        return found

    def has(self, terminal: str) -> bool:
        """Whether a token of this terminal stands directly below."""
        return any(isinstance(kid, Token) and kid.terminal == terminal for kid in self.kids)

    def after(self, terminal: str) -> Kid | None:
        """What follows the first token of this terminal."""
        kids = self.kids
        for i, kid in enumerate(kids):
            if isinstance(kid, Token) and kid.terminal == terminal:
                return kids[i + 1]
        return None

    def all_after(self, *terminals: str) -> list[Kid]:
        """What follows each token of these terminals, in order."""
        kids = self.kids
        return [
            kids[i + 1]
            for i, kid in enumerate(kids[:-1])
            if isinstance(kid, Token) and kid.terminal in terminals
        ]

    def strings(self) -> list[Token]:
        """The quoted texts directly below."""
        return [kid for kid in self.kids if isinstance(kid, Token) and kid.terminal == "STRING"]


Kid = Token | Tree
