"""Comments: kept beside the tree, since no rule of the grammar sees them."""

from __future__ import annotations

import re

from tokenworld.diagnostics import Source
from tokenworld.syntax.nodes import Comment, File, Item
from tokenworld.syntax.tree import Token

_COMMENT = re.compile(r"#[^\n]*")


def comments(source: Source, tokens: list[Token]) -> tuple[Comment, ...]:
    """All comments in order; between two tokens stand only white space and comments."""
    text = source.text
    found: list[Comment] = []
    position = 0
    ends = [(token.start, token.end) for token in tokens]
    for start, end in [*ends, (len(text), len(text))]:
        if "#" in text[position:start]:
            found += [_comment(source, m) for m in _COMMENT.finditer(text, position, start)]
        position = end
    return tuple(found)


def doc_of(file: File, item: Item) -> str | None:
    """The doc comment of an item: the `##` lines straight above it, without their marks."""
    return docs_of(file).get(item.span.line)


def docs_of(file: File) -> dict[int, str]:
    """Every doc comment of a file by the line that it stands above."""
    found: dict[int, list[str]] = {}
    for comment in file.comments:
        if comment.doc and comment.own_line:
            line = comment.span.line
            found[line + 1] = [*found.pop(line, ()), comment.text.lstrip("#").strip()]
    texts = {line: "\n".join(lines) for line, lines in found.items()}
    return {line: text for line, text in texts.items() if text}


def _comment(source: Source, match: re.Match[str]) -> Comment:
    start, text = match.start(), match.group().rstrip("\r")
    line_start = source.text.rfind("\n", 0, start) + 1
    own_line = not source.text[line_start:start].strip()
    span = source.span(start, start + len(text))
    return Comment(span, text, text.startswith("##"), own_line)
