"""A file's tokens to item trees: one mistake spoils one item, and the next one is read again.

The automaton itself says where an item ends: at a token that cannot continue it and begins
another one (language.md §18). Only after a mistake is the layout of the lines looked at.
"""

from __future__ import annotations

from typing import Final

from tokenworld.diagnostics import Diagnostic, Related, Source
from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.context import BLOCK_DEPTH
from tokenworld.syntax.hints import Found, describe, unexpected
from tokenworld.syntax.machine import Machine
from tokenworld.syntax.tables import END, Tables
from tokenworld.syntax.tree import BAD, Kid, Token, Tree

# More mistakes in one file are not reported: it is no program, or one mistake hides them.
ERROR_LIMIT: Final = 50


@frozen
class Splitter:
    """One file's tokens, and what its lines look like."""

    source: Source
    tables: Tables
    tokens: list[Token]

    def items(self) -> tuple[list[Tree], list[Diagnostic]]:
        """The trees of all items that parse, and one diagnostic per item that does not."""
        trees: list[Tree] = []
        problems: list[Diagnostic] = []
        position = 0
        while position < len(self.tokens) and len(problems) < ERROR_LIMIT:
            tree, stop = self._item(position)
            if isinstance(tree, Tree):
                trees.append(tree)
                position = stop
                continue
            problem = self._problem(position, stop)
            if problem is not None:
                problems.append(problem)
            position = self._resume(position, stop, problem)
        return trees, problems

    def item_end(self, first: int) -> int | None:
        """The index behind the item that begins at `first`; None if it has a mistake."""
        tree, stop = self._item(first)
        return stop if isinstance(tree, Tree) else None

    def _item(self, first: int) -> tuple[Kid | None, int]:
        """The item that begins at `first` and the index behind it, or None and the culprit."""
        machine = Machine(self.tables, "item")
        depth = 0
        for index in range(first, len(self.tokens)):
            token = self.tokens[index]
            if token.terminal == "{":
                depth += 1
                if depth > BLOCK_DEPTH:
                    return None, index
            elif token.terminal == "}":
                depth -= 1
            if not machine.feed(token):
                ends = depth < 0 or (depth == 0 and self._parted(first, index))
                return (machine.finish() if ends else None), index
        return machine.finish(), len(self.tokens)

    def _parted(self, first: int, index: int) -> bool:
        """Whether a token that cannot continue the item is no fault of the item.

        It begins another one, or it stands where the next one should begin. (A `}` too many is
        no fault of the item before it either.)
        """
        if self._begins_item(index):
            return True
        return self._begins_line(index) and self._column(index) <= self._column(first)

    # ---- what went wrong ------------------------------------------------------------------

    def _problem(self, first: int, stop: int) -> Diagnostic | None:
        """The diagnostic for an item that fails at index `stop`; None if it is reported."""
        at_end = stop == len(self.tokens)
        if not at_end and self.tokens[stop].terminal == BAD:
            return None
        opened, suspect = self._open_braces(first, stop)
        if len(opened) >= BLOCK_DEPTH and not at_end and self.tokens[stop].terminal == "{":
            return self._too_deep(stop)
        intruder = self._intruder(first, stop)
        if intruder is not None:
            opened, suspect = self._open_braces(first, intruder)
            return self._unclosed(suspect or opened[-1], self.tokens[intruder])
        if at_end and opened:
            return self._unclosed(suspect or opened[-1], None)
        outsider = self._outsider(stop, opened)
        if outsider is not None:
            return self._still_open(opened[-1], outsider)
        token = self._end_token() if at_end else self.tokens[stop]
        nested = self._nested(first, stop)
        if nested is not None and opened:
            return self._inside(opened[-1], self.tokens[nested])
        machine = Machine(self.tables, "item")
        for earlier in self.tokens[first:stop]:
            machine.feed(earlier)
        before, after = self.tokens[first:stop], self.tokens[stop + 1 : stop + 2]
        following = after[0] if after else None
        found = Found(self.tables, before, token, machine.expected(), following)
        return unexpected(self.source, found)

    def _intruder(self, first: int, stop: int) -> int | None:
        """An item keyword that stands where items begin although a brace is still open."""
        depth = 0
        left = self._column(first)
        for index in range(first, min(stop + 1, len(self.tokens))):
            token = self.tokens[index]
            if index > first and depth > 0 and self._stands_left(index, left):
                return index
            depth += {"{": 1, "}": -1}.get(token.terminal, 0)
        return None

    def _nested(self, first: int, stop: int) -> int | None:
        """A keyword that begins a whole item where a statement should begin."""
        for index in (stop, stop - 1):
            if not first < index < len(self.tokens) - 1 or not self._begins_item(index):
                continue
            before, after = self.tokens[index - 1].terminal, self.tokens[index + 1].terminal
            begins = before in ("{", "}") or self._begins_line(index)
            if begins and after in ("NAME", "RAW", "TYPE", "static", "secret", "relation"):
                return index
        return None

    def _inside(self, brace: Token, keyword: Token) -> Diagnostic:
        line = self.source.line_and_column(brace.start)[0]
        return Diagnostic(
            "TW0102",
            f"The item {describe(keyword)} begins inside the brace opened on line {line}.",
            self.source.span(keyword.start, keyword.end),
            label="an item cannot begin inside a brace",
            hint=f"Move it out of the braces, or close that of line {line} with `}}` before it.",
            related=(Related(self.source.span(brace.start, brace.end), "still open here"),),
        )

    def _outsider(self, stop: int, opened: list[Token]) -> Token | None:
        """A keyword that begins a line no further right than the line of the open brace."""
        if not opened:
            return None
        left = self._indentation(opened[-1]) + 1
        for index in (min(stop, len(self.tokens) - 1), stop - 1):
            token = self.tokens[index]
            keyword = token.terminal in self.tables.keywords and token.start > opened[-1].start
            if keyword and self._begins_line(index) and self._column(index) <= left:
                return token
        return None

    def _still_open(self, brace: Token, outsider: Token) -> Diagnostic:
        line = self.source.line_and_column(brace.start)[0]
        return Diagnostic(
            "TW0102",
            f"The brace opened on line {line} is still open at {describe(outsider)}.",
            self.source.span(outsider.start, outsider.end),
            label="cannot stand inside that brace",
            hint=f"Close the brace of line {line} with `}}` before this line.",
            related=(Related(self.source.span(brace.start, brace.end), "still open"),),
        )

    def _open_braces(self, first: int, stop: int) -> tuple[list[Token], Token | None]:
        """The braces still open before `stop`, and the first that indentation speaks against.

        A `}` that stands further left than the line of the brace it closes was meant for an
        outer brace: then the inner one is the culprit.
        """
        opened: list[tuple[Token, int]] = []
        suspect: Token | None = None
        for index in range(first, stop):
            token = self.tokens[index]
            if token.terminal == "{":
                opened.append((token, self._indentation(token)))
            elif token.terminal == "}" and opened:
                brace, indentation = opened.pop()
                if self._begins_line(index) and self._column(index) <= indentation:
                    suspect = suspect or brace
        return [brace for brace, _ in opened], suspect

    def _unclosed(self, brace: Token, intruder: Token | None) -> Diagnostic:
        line = self.source.line_and_column(brace.start)[0]
        place = Related(self.source.span(brace.start, brace.end), "this brace is never closed")
        if intruder is None:
            return Diagnostic(
                "TW0102",
                f"The brace opened on line {line} is never closed.",
                place.span,
                label="never closed",
                hint="Close it with `}`.",
            )
        return Diagnostic(
            "TW0102",
            f"The item {describe(intruder)} begins inside the brace opened on line {line}.",
            self.source.span(intruder.start, intruder.end),
            label="an item cannot begin inside a brace",
            hint=f"Close the brace of line {line} with `}}` before this item.",
            related=(place,),
        )

    def _too_deep(self, index: int) -> Diagnostic:
        token = self.tokens[index]
        return Diagnostic(
            "TW0101",
            f"Blocks are nested more than {BLOCK_DEPTH} deep.",
            self.source.span(token.start, token.end),
            label="the limit is reached here",
            hint="Move the inner blocks into laws or derives of their own.",
        )

    def _end_token(self) -> Token:
        """The end of the file, shown behind the last token."""
        last = self.tokens[-1].end
        return Token(END, "", last, last)

    # ---- where to go on -------------------------------------------------------------------

    def _resume(self, first: int, stop: int, problem: Diagnostic | None) -> int:
        """The index of the next item after one that failed; always beyond `first`."""
        if problem is not None and problem.code == "TW0102" and problem.related:
            intruder = self._intruder(first, stop)
            if intruder is not None:
                return intruder
        depth = 0
        left = self._column(first)
        for index in range(first, len(self.tokens)):
            if index >= max(stop, first + 1) and self._begins_item(index):
                if self._stands_left(index, left):
                    return index
                behind = self.tokens[index - 1].terminal == "}" or self._begins_line(index)
                if depth == 0 and behind:
                    return index
            depth = max(0, depth + {"{": 1, "}": -1}.get(self.tokens[index].terminal, 0))
        return len(self.tokens)

    def _begins_item(self, index: int) -> bool:
        """Whether the token is a word that an item may begin with."""
        terminal = self.tokens[index].terminal
        if terminal not in self.tables.first("item"):
            return False
        if terminal in ("static", "secret"):
            # Attributes have these words too; only a relation or function is an item.
            following = self.tokens[index + 1 : index + 2]
            return any(
                t.terminal in ("relation", "function", "static", "secret") for t in following
            )
        return True

    def _stands_left(self, index: int, left: int) -> bool:
        """Whether an item keyword begins a line no further right than column `left`."""
        on_line = self._begins_item(index) and self._begins_line(index)
        return on_line and self._column(index) <= left

    # ---- lines ----------------------------------------------------------------------------

    def _column(self, index: int) -> int:
        return self.source.line_and_column(self.tokens[index].start)[1]

    def _begins_line(self, index: int) -> bool:
        start = self.tokens[index].start
        text = self.source.text
        return not text[text.rfind("\n", 0, start) + 1 : start].strip()

    def _indentation(self, token: Token) -> int:
        """The characters before the first word of the line that a token stands on."""
        line = self.source.line_text(self.source.line_and_column(token.start)[0])
        return len(line) - len(line.lstrip())
