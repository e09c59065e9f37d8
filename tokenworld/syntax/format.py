"""The canonical layout of a source text (`tw fmt`): columns, long lines, the whole file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tokenworld.diagnostics import Diagnostic, Source, has_errors
from tokenworld.syntax.format_lines import (
    LISTS,
    STEP,
    Choices,
    Layout,
    Line,
    Remark,
    Shape,
    Style,
    break_rank,
    gap,
    may_break,
    shape_of,
)
from tokenworld.syntax.lalr import Token, lex
from tokenworld.syntax.nodes import Comment
from tokenworld.syntax.parse import Splitter, comments, parse_source
from tokenworld.syntax.tables import tables

# ---- Where each token of a line stands: blanks, aligned columns, continuation lines --------------
# Columns that authors aligned by hand survive: in consecutive lines the place that most of them
# share is kept, as long as it leaves room for the tokens before it.


WIDTH: Final = 115
_COMMENT_GAP: Final = 2
# The columns that statements beside each other may form in the lines of a list.
_BESIDE: Final = 8
# In the order in which they are settled, from left to right.
_FIXED: Final = ("=", "then", "else", "text")


@dataclass(frozen=True, slots=True)
class _Member:
    """A token (or a trailing comment) that may stand in a column with others.

    `least` is the leftmost place it may have, `wish` where its author put it (None if unknown),
    `rest` the width from there to the end of the line.
    """

    line: int
    token: int
    least: int
    wish: int | None
    rest: int


_Votes = Counter[int | None]


class Columns:
    """The places of all tokens of laid-out lines. `column[i]` counts from 0."""

    def __init__(self, layout: Layout, lines: list[Line], styles: dict[int, Style]) -> None:
        self.layout, self.lines, self.styles = layout, lines, styles
        tokens, shape = layout.tokens, layout.shape
        self.gaps = [gap(tokens, shape, i) if i else 0 for i in range(len(tokens))]
        self.column = [0] * len(tokens)
        self.comment_column: dict[int, int] = {}
        self._source: list[tuple[int, int]] = _places(layout.text, tokens)
        self._moved: dict[int, int] = {}
        self._indents: list[int] = [line.indent for line in lines]
        self._cells = [tuple(self._cells_of(line)) for line in lines]
        self._settle()

    # ---- places ---------------------------------------------------------------------------

    def width(self, number: int) -> int:
        """The width of a line without its comment."""
        return self._end(self.lines[number])

    def indent(self, number: int) -> int:
        """The blanks before a line."""
        return self._indents[number]

    def _end(self, line: Line) -> int:
        if line.first == line.end:
            return 0
        last = line.end - 1
        return self.column[last] + len(self.layout.tokens[last].text)

    def _settle(self) -> None:
        self._place_all()
        wide = {key for cells in self._cells for _, key in cells}
        numbered = sorted(key for key in wide if key not in _FIXED)
        for key in [*numbered, *(key for key in _FIXED if key in wide)]:
            groups = self._groups(key)
            common = Counter(member.wish for group in groups for member in group)
            for group in groups:
                self._align(key, group, common)
            self._place_all()
        for group in self._comment_groups():
            self.comment_column.update(_comment_columns(group))

    def _place_all(self) -> None:
        """Put every token after the one before it, and `more` lines below their anchors."""
        start = 0
        for number, line in enumerate(self.lines):
            if line.first == line.end:
                continue
            if line.kind != "more":
                start = line.first
            elif line.first not in self._moved:
                self._indents[number] = self._anchor(line, start)
            self._place(line, self._moved.get(line.first, self._indents[number]))

    def _place(self, line: Line, column: int) -> None:
        for index in range(line.first, line.end):
            if index > line.first:
                column += self.gaps[index]
            self.column[index] = column
            column += len(self.layout.tokens[index].text)

    def _anchor(self, line: Line, start: int) -> int:
        """The column of a `more` line: below the word its author put it under, or one step in."""
        shape, first = self.layout.shape, line.first
        source_line, source_column = self._source[first]
        around = shape.inside[first]
        hangs = around >= start and self.styles[around] == "hang"
        low = around + 1 if hangs else start + 1
        for index in range(first - 1, low - 1, -1):
            at_line, at_column = self._source[index]
            if at_column == source_column and at_line < source_line:
                return self.column[index]
        return self.column[around + 1] if hangs else line.indent

    # ---- columns of tokens ----------------------------------------------------------------

    def _cells_of(self, line: Line) -> Iterable[tuple[int, str]]:
        """The tokens of a line that may be aligned, each with the name of its column."""
        shape = self.layout.shape
        count = 0
        for index in range(line.first, line.end):
            name = shape.columns.get(index)
            later = index > line.first
            if name in ("else", "text", "=") or (name == "then" and later):
                yield index, name
            elif later and count < _BESIDE and self._beside(index, line):
                count += 1
                yield index, str(count)

    def _beside(self, index: int, line: Line) -> bool:
        """Return whether a token begins another statement of the list that the line belongs to."""
        shape = self.layout.shape
        around = shape.starts.get(index, -1)
        return (
            around >= 0
            and around == shape.inside[line.first]
            and self.styles[around] == "block"
            and self.gaps[index] > 1
        )

    def _groups(self, key: str) -> list[list[_Member]]:
        """The members of a column in runs of consecutive lines."""
        groups: list[list[_Member]] = [[]]
        around = -1
        for number, line in enumerate(self.lines):
            cell = next((index for index, name in self._cells[number] if name == key), None)
            if line.kind == "comment" or line.blank or self._interrupts(line, cell, key, around):
                groups.append([])
            if line.kind == "comment":
                continue
            if line.kind != "more":
                around = self.layout.shape.inside[line.first]
            if cell is not None:
                groups[-1].append(self._member(number, line, cell))
        if key == "text":
            # Texts stand below each other only where the words `else` before them do.
            return [part for group in groups for part in self._by_else(group)]
        return [group for group in groups if group]

    def _by_else(self, group: list[_Member]) -> list[list[_Member]]:
        parts: dict[int, list[_Member]] = {}
        for member in group:
            parts.setdefault(self.column[member.token - 2], []).append(member)
        return list(parts.values())

    def _interrupts(self, line: Line, cell: int | None, key: str, around: int) -> bool:
        """Return whether a line ends a run of lines that share a column."""
        if line.kind == "more":
            return False
        if line.kind == "close" or self.layout.shape.inside[line.first] != around:
            return True
        if cell is not None or key == "then":
            return False
        return not (key in ("else", "text") and self._is_require(line))

    def _is_require(self, line: Line) -> bool:
        return self.layout.tokens[line.first].terminal == "require"

    def _member(self, number: int, line: Line, index: int) -> _Member:
        before = self._indents[number]
        if index > line.first:
            before = self.column[index - 1] + len(self.layout.tokens[index - 1].text)
        least = before + (self.gaps[index] if index > line.first else 0)
        rest = self._end(line) - self.column[index]
        return _Member(number, index, least, self._wish(line, index), rest)

    def _wish(self, line: Line, index: int) -> int | None:
        """The column that the author gave a token, moved with its line; None on another line."""
        at_line, at_column = self._source[index]
        if not line.first < index:
            return at_column if at_line > self._source[index - 1][0] else None
        first_line, first_column = self._source[line.first]
        begins = line.first == 0 or self._source[line.first - 1][0] < first_line
        if at_line != first_line or not begins:
            return None
        return at_column - first_column + self.column[line.first]

    def _align(self, key: str, group: list[_Member], common: _Votes) -> None:
        for member, column in _columns(group, key, common):
            if member.token == self.lines[member.line].first:
                self._moved[member.token] = self._indents[member.line] = column
            else:
                self.gaps[member.token] += column - member.least

    # ---- columns of comments --------------------------------------------------------------

    def _comment_groups(self) -> list[list[_Member]]:
        """The comments after the tokens of consecutive lines."""
        groups: list[list[_Member]] = [[]]
        for number, line in enumerate(self.lines):
            if line.kind == "comment" or not line.comment or line.blank:
                groups.append([])
            if line.kind != "comment" and line.comment:
                groups[-1].append(self._remark(number, line))
        return [group for group in groups if group]

    def _remark(self, number: int, line: Line) -> _Member:
        first_column = self._source[line.first][1]
        text = self.layout.text
        line_start = text.rfind("\n", 0, line.comment_start) + 1
        same_line = self.layout.tokens[line.first].start >= line_start
        wish = line.comment_start - line_start - first_column + self.column[line.first]
        least = self._end(line) + _COMMENT_GAP
        return _Member(number, -1, least, wish if same_line else None, 0)


def _columns(group: list[_Member], key: str, common: _Votes) -> Iterable[tuple[_Member, int]]:
    """The column of each member: the one most of them share, and what to do without one.

    Where a group of requirements or steps shares none, a column that is common in the file will
    do; `common` counts the places that the authors of all groups chose.
    """
    shared = _shared(group)
    if shared is None and key in ("else", "then"):
        shared = _shared([member for member in group for _ in range(common[member.wish])])
    crowded = shared is not None and any(_overflows(member, shared) for member in group)
    if key in ("else", "text") and (shared is None or crowded):
        shared = group[0].wish if len(group) == 1 else _widest(group)
    return [(member, _column(member, shared, key)) for member in group]


def _column(member: _Member, shared: int | None, key: str) -> int:
    overflows = shared is not None and _overflows(member, shared)
    if shared is not None and member.least <= shared and not overflows:
        return shared
    if key == "then" and member.wish is not None and not overflows:
        # A line that is too long for the column keeps a little of its author's room.
        return min(max(member.wish, member.least), member.least + 2)
    return member.least


def _overflows(member: _Member, column: int) -> bool:
    """Return whether a line is too long with a token at a column, though it need not be."""
    return column + member.rest > WIDTH >= member.least + member.rest


def _shared(group: list[_Member]) -> int | None:
    """The column that at least two members have and can keep; the widest of equals."""
    votes = Counter(m.wish for m in group if m.wish is not None and m.wish >= m.least)
    wish, count = max(votes.items(), key=lambda vote: (vote[1], vote[0] or 0), default=(None, 0))
    return wish if count > 1 else None


def _widest(group: list[_Member]) -> int:
    """The first column that has room for every member, save those that push others too far."""
    rest = max(member.rest for member in group)
    places = sorted(member.least for member in group)
    fitting = [place for place in places if place + rest <= WIDTH]
    return fitting[-1] if fitting else places[0]


def _comment_columns(group: list[_Member]) -> Iterable[tuple[int, int]]:
    shared = _shared(group)
    if shared is None:
        lonely = group[0].wish if len(group) == 1 else None
        shared = lonely if lonely is not None else max(member.least for member in group)
    return [(member.line, max(member.least, shared)) for member in group]


def _places(text: str, tokens: list[Token]) -> list[tuple[int, int]]:
    """The line and column of each token in the source, both from 0."""
    places = []
    line = position = line_start = 0
    for token in tokens:
        breaks = text.count("\n", position, token.start)
        if breaks:
            line += breaks
            line_start = text.rfind("\n", 0, token.start) + 1
        places.append((line, token.start - line_start))
        position = token.start
    return places


# ---- format_long ---------------------------------------------------------------------------------
# What to do about lines that are too long: open a brace, or begin a new line at a good place.


def shortened(layout: Layout, columns: Columns, styles: dict[int, Style]) -> Choices:
    """The choices with one more remedy for every line that is too long; the same if none helps."""
    expanded, broken = set(layout.choices.expanded), set(layout.choices.broken)
    for number, line in enumerate(columns.lines):
        if line.kind == "comment" or columns.width(number) <= WIDTH:
            continue
        remedy = _Remedy(layout, columns, line, styles)
        apart = remedy.branches() or remedy.statements()
        opened = None if apart else remedy.brace()
        if opened is not None:
            expanded.add(opened)
        else:
            broken.update(apart or remedy.parts())
    return Choices(frozenset(expanded), frozenset(broken))


class _Remedy:
    """One line that is too long."""

    def __init__(
        self, layout: Layout, columns: Columns, line: Line, styles: dict[int, Style]
    ) -> None:
        self.layout, self.columns, self.line, self.styles = layout, columns, line, styles
        self.around = layout.shape.inside[line.first]

    def branches(self) -> list[int]:
        """The `else` and `or` of the line's own statement."""
        shape = self.layout.shape
        return [
            index
            for index in range(self.line.first + 1, self.line.end)
            if index in shape.branches and shape.inside[index] == self.around
        ]

    def brace(self) -> int | None:
        """The first outermost pair of braces that can be opened up."""
        braces, styles = self.layout.shape.braces, self.styles
        index = self.line.first
        while index < self.line.end:
            brace = braces.get(index)
            if brace is not None:
                empty = brace.close == brace.open + 1
                if styles[index] == "flat" and brace.kind not in LISTS and not empty:
                    return index
                index = brace.close if styles[index] != "block" else index
            index += 1
        return None

    def statements(self) -> list[int]:
        """The statements beside the first one that no longer fit on the line."""
        shape = self.layout.shape
        beside = [
            index
            for index in range(self.line.first + 1, self.line.end)
            if shape.starts.get(index, -1) == self.around and self.around >= 0
        ]
        # The checks of a step stay beside it while there are other places to break.
        beside = [i for i in beside if shape.columns.get(i) != "then"] or beside
        return self._fill(beside, self.columns.column[self.line.first])

    def parts(self) -> list[int]:
        """Places inside the statement, of the best rank that shortens the line."""
        tokens, shape = self.layout.tokens, self.layout.shape
        column = self.columns.column
        indent = self.line.indent + (0 if self.line.kind == "more" else STEP)
        ranked: dict[tuple[int, int], list[int]] = {}
        for index in range(self.line.first + 1, self.line.end):
            if not may_break(tokens, shape, index) or shape.columns.get(index) == "text":
                continue
            if column[index] > indent + STEP and self._worth(index):
                ranked.setdefault(break_rank(tokens, shape, index), []).append(index)
        for rank in sorted(ranked):
            found = self._fill(ranked[rank], indent)
            if found:
                return found
        return []

    def _worth(self, index: int) -> bool:
        """An `else` moves down only from far right: it goes to the column of its neighbours."""
        if self.layout.shape.columns.get(index) != "else":
            return True
        return self.columns.column[index] > WIDTH // 2

    def _fill(self, places: list[int], indent: int) -> list[int]:
        """The tokens that begin lines if each line takes as many of the parts as fit."""
        column, tokens = self.columns.column, self.layout.tokens
        if not places:
            return []
        end = column[self.line.end - 1] + len(tokens[self.line.end - 1].text)
        found: list[int] = []
        shift = 0
        for here, after in zip(places, [*places[1:], None], strict=True):
            stop = end if after is None else column[after] - 1
            if stop - shift > WIDTH:
                found.append(here)
                shift = column[here] - indent
        return found


# ---- The canonical layout of a source text: `tw fmt` ---------------------------------------------
# Only white space changes: the tokens of the result are those of the text, one by one, and so are
# its comments. So no rule can come to mean something else, whatever the formatter does.


# Each remedy for a long line opens one level; no text needs more rounds than its depth allows.
_ROUNDS: Final = 200
# A column that moved may let another one settle; this many passes have always been enough.
_PASSES: Final = 8


def format_source(source: Source) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """The formatted text, or None with the errors: a text with errors is not formatted.

    Formatting the result again changes nothing.
    """
    _, problems = parse_source(source)
    if has_errors(problems):
        return None, problems
    text = source.text
    for _ in range(_PASSES):
        before, text = text, _pass(text)
        if text == before:
            break
    return text, problems


def _pass(text: str) -> str:
    """Lay the text out once."""
    text = text.replace("\r\n", "\n").lstrip(" \t\r\n")
    source = Source("text", None, text)
    tokens, _ = lex(source, tables())
    remarks = comments(source, tokens)
    if not tokens:
        return "".join(f"{remark.text.rstrip()}\n" for remark in remarks)
    trees, _ = Splitter(source, tables(), tokens).items()
    return _laid_out(text, tokens, shape_of(tokens, trees), _by_token(remarks, tokens))


def _laid_out(
    text: str, tokens: list[Token], shape: Shape, remarks: dict[int, tuple[Remark, ...]]
) -> str:
    choices = Choices()
    for _ in range(_ROUNDS):
        layout = Layout(text, tokens, shape, remarks, choices)
        styles = layout.styles()
        columns = Columns(layout, layout.lines(styles), styles)
        choices = shortened(layout, columns, styles)
        if choices == layout.choices:
            break
    return _written(columns, tokens)


def _by_token(remarks: tuple[Comment, ...], tokens: list[Token]) -> dict[int, tuple[Remark, ...]]:
    """The comments by the index of the token they stand before."""
    found: dict[int, list[Remark]] = {}
    index = 0
    for comment in remarks:
        while index < len(tokens) and tokens[index].start < comment.span.start:
            index += 1
        own_line = comment.own_line or index == 0
        remark = Remark(comment.span.start, comment.text.rstrip(), own_line)
        found.setdefault(index, []).append(remark)
    return {index: tuple(before) for index, before in found.items()}


def _written(columns: Columns, tokens: list[Token]) -> str:
    """The lines as text."""
    written: list[str] = []
    for number, line in enumerate(columns.lines):
        if line.blank and written:
            written.append("")
        if line.kind == "comment":
            written.append(" " * line.indent + line.comment)
            continue
        words = [" " * columns.column[line.first], tokens[line.first].text]
        for index in range(line.first + 1, line.end):
            words += [" " * columns.gaps[index], tokens[index].text]
        shown = "".join(words)
        if line.comment:
            shown = shown.ljust(columns.comment_column[number]) + line.comment
        written.append(shown)
    return "\n".join(written) + "\n"
