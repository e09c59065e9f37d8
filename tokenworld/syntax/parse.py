"""Source text to syntax tree: the one way in."""

from __future__ import annotations

from tokenworld.diagnostics import Diagnostic, Source, in_order
from tokenworld.syntax.build import build_item
from tokenworld.syntax.context import Context
from tokenworld.syntax.lexer import lex
from tokenworld.syntax.nodes import File, Item
from tokenworld.syntax.split import Splitter
from tokenworld.syntax.tables import tables
from tokenworld.syntax.trivia import comments


def parse_source(source: Source) -> tuple[File, tuple[Diagnostic, ...]]:
    """Every item of the text that parses, and what is wrong with the others.

    Never raises, whatever the text. A text without items gives the warning TW0004; the other
    diagnostics are errors TW0101 to TW0104, in the order of the text.
    """
    grammar = tables()
    tokens, problems = lex(source, grammar)
    trees, mistakes = Splitter(source, grammar, tokens).items()
    cx = Context(source, grammar)
    items: list[Item] = []
    for tree in trees:
        item = build_item(cx, tree)
        if item is not None:
            items.append(item)
    span = source.span(0, len(source.text))
    file = File(span, tuple(items), comments(source, tokens))
    problems = [*problems, *mistakes, *cx.problems]
    if not tokens:
        problems.append(_empty(source))
    return file, in_order(problems)


def _empty(source: Source) -> Diagnostic:
    return Diagnostic(
        "TW0004",
        f"`{source.name}` has no items.",
        source.span(0, 0),
        label="an item was expected",
        hint="Write an item, such as `type Room` or `world home { }`.",
    )
