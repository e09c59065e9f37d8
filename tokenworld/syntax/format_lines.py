"""Which tokens and comments stand on which line of the formatted text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, Literal

from tokenworld.syntax.format_shape import CODE, HANGING, Shape
from tokenworld.syntax.format_space import may_break
from tokenworld.syntax.tree import Token

STEP: Final = 2

Style = Literal["flat", "hang", "block"]
LineKind = Literal["start", "close", "more", "comment"]


@dataclass(frozen=True, slots=True)
class Line:
    """The tokens `first:end` on one line, `indent` blanks in, or a comment of its own.

    `more` lines go on with the statement above; their place is settled later. `comment` is what
    stands behind the tokens, or the whole of a comment line.
    """

    kind: LineKind
    first: int
    end: int
    indent: int
    blank: bool = False
    comment: str = ""
    comment_start: int = -1


@dataclass(frozen=True, slots=True)
class Remark:
    """A comment of the source: its place, its text, and whether it has a line of its own."""

    start: int
    text: str
    own_line: bool


@dataclass(frozen=True, slots=True)
class Choices:
    """What a long line made necessary: braces to open up, and tokens to begin a line with."""

    expanded: frozenset[int] = frozenset()
    broken: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Layout:
    """One text on its way to lines. `remarks[i]` are the comments before token `i`."""

    text: str
    tokens: list[Token]
    shape: Shape
    remarks: dict[int, tuple[Remark, ...]]
    choices: Choices

    # ---- braces ---------------------------------------------------------------------------

    def styles(self) -> dict[int, Style]:
        """How each pair of braces is laid out, by its opening one."""
        return {first: self._style(first) for first in self.shape.braces}

    def _style(self, first: int) -> Style:
        brace, tokens = self.shape.braces[first], self.tokens
        content, last = tokens[first + 1], brace.close
        remarked = any(self.remarks.get(i) for i in range(first + 1, last + 1))
        if remarked:
            return "block"
        if first not in self.choices.expanded and not self.newline(tokens[first], tokens[last]):
            return "flat"
        if last == first + 1:
            return "flat"
        hangs = (
            brace.kind in HANGING
            and first not in self.choices.expanded
            and not self.newline(tokens[first], content)
            and not self.newline(tokens[last - 1], tokens[last])
        )
        return "hang" if hangs else "block"

    def newline(self, before: Token, after: Token) -> bool:
        """Whether the source has a line break between two tokens."""
        return self.text.find("\n", before.end, after.start) >= 0

    # ---- lines ----------------------------------------------------------------------------

    def lines(self, styles: dict[int, Style]) -> list[Line]:
        """All lines in order."""
        found: list[Line] = []
        first = above = 0
        for index in range(1, len(self.tokens) + 1):
            kind = self._kind_of(index, styles)
            if kind is None:
                continue
            trailing = [r for r in self.remarks.get(index, ()) if not r.own_line]
            line = self._line(first, index, styles, above)
            if line.kind != "more":
                above = line.indent
            if trailing:
                line = replace(line, comment=trailing[0].text, comment_start=trailing[0].start)
            found += [*self._comment_lines(first, line), line]
            first = index
        found += self._comment_lines(len(self.tokens), None)
        return found

    def _kind_of(self, index: int, styles: dict[int, Style]) -> LineKind | None:
        """How the line is begun that a token begins; None if it goes on with the line."""
        if index in (0, len(self.tokens)):
            return "start"
        forced = bool(self.remarks.get(index))
        asked = forced or self._asked(index)
        shape, token = self.shape, self.tokens[index]
        around = shape.inside[index]
        if token.terminal == "}":
            return "close" if styles[self.shape.opening[index]] == "block" else None
        if index in shape.branches:
            joined = self._after_block(index, styles)
            return "start" if forced or (asked and not joined) else None
        if index in shape.quirked:
            return "start" if asked else None
        if index in shape.starts or (index in shape.rows and around >= 0):
            return self._start_kind(index, around, asked, styles)
        if forced or (asked and may_break(self.tokens, shape, index)):
            return "more"
        return None

    def _asked(self, index: int) -> bool:
        """Whether the author or a long line wants a break here."""
        before, token = self.tokens[index - 1], self.tokens[index]
        return index in self.choices.broken or self.newline(before, token)

    def _start_kind(
        self, index: int, around: int, asked: bool, styles: dict[int, Style]
    ) -> LineKind | None:
        if around < 0:
            return "start"
        kind = self.shape.braces[around].kind
        if styles[around] != "block":
            return "more" if asked else None
        if kind == "layout" and index in self.shape.rows:
            return "start" if asked else None
        if kind in CODE or kind == "layout" or index == around + 1:
            return "start"
        if around in self.choices.expanded and self.shape.columns.get(index) != "then":
            return "start"
        return "start" if asked else None

    def _after_block(self, index: int, styles: dict[int, Style]) -> bool:
        """Whether a branch follows a `}` that has a line of its own."""
        before = index - 1
        return self.tokens[before].terminal == "}" and styles[self.shape.opening[before]] == "block"

    def _line(self, first: int, end: int, styles: dict[int, Style], above: int) -> Line:
        kind = self._kind_of(first, styles) or "start"
        indent = above + STEP if kind == "more" else self._indent(first)
        return Line(kind, first, end, indent, kind == "start" and self._blank_before(first))

    def _indent(self, index: int) -> int:
        """The blanks before a line that a statement or a closing brace begins."""
        around = self.shape.inside[index]
        return STEP * (self.shape.braces[around].depth + 1) if around >= 0 else 0

    # ---- comments and blank lines ---------------------------------------------------------

    def _comment_lines(self, index: int, line: Line | None) -> Iterator[Line]:
        """The comments with lines of their own above a line, or at the end of the file."""
        indent = line.indent if line else 0
        if line and line.kind == "close":
            indent += STEP
        apart = line is None or line.kind != "more"
        for remark in self.remarks.get(index, ()):
            if remark.own_line:
                blank = apart and self._empty_line_above(remark.start, index)
                yield Line("comment", index, index, indent, blank, remark.text, remark.start)

    def _blank_before(self, index: int) -> bool:
        if index in self.shape.branches:
            return False
        return self._empty_line_above(self.tokens[index].start, index)

    def _empty_line_above(self, start: int, index: int) -> bool:
        """Whether an empty line stands above an offset, and not just within an opening brace."""
        position, breaks = start - 1, 0
        while position >= 0 and self.text[position] in " \t\r\n":
            breaks += self.text[position] == "\n"
            position -= 1
        opens = index > 0 and self.tokens[index - 1].end == position + 1
        return breaks > 1 and not (opens and self.tokens[index - 1].terminal == "{")
