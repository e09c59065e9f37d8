"""The canonical layout of a source text: `tw fmt`.

Only white space changes: the tokens of the result are those of the text, one by one, and so are
its comments. So no rule can come to mean something else, whatever the formatter does.
"""

from __future__ import annotations

from typing import Final

from tokenworld.diagnostics import Diagnostic, Source, has_errors
from tokenworld.syntax.format_columns import Columns
from tokenworld.syntax.format_lines import Choices, Layout, Remark
from tokenworld.syntax.format_long import shortened
from tokenworld.syntax.format_shape import Shape, shape_of
from tokenworld.syntax.lexer import lex
from tokenworld.syntax.nodes import Comment
from tokenworld.syntax.parse import parse_source
from tokenworld.syntax.split import Splitter
from tokenworld.syntax.tables import tables
from tokenworld.syntax.tree import Token
from tokenworld.syntax.trivia import comments

# Each remedy for a long line opens one level; no text needs more rounds than its depth allows.
_ROUNDS: Final = 200
# A column that moved may let another one settle; this many passes have always been enough.
_PASSES: Final = 8


def format_source(source: Source) -> tuple[str | None, tuple[Diagnostic, ...]]:
    """The formatted text, or None with what is wrong: a text with mistakes is left alone.

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
