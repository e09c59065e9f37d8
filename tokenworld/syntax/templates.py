"""Quoted texts with slots, and the context that all builders share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar, cast, get_args

from tokenworld.diagnostics import Diagnostic, Source, Span
from tokenworld.diagnostics.limits import SLOT_LIMIT
from tokenworld.syntax.expressions import (
    Article,
    Expr,
    FoldKind,
    Name,
    Slot,
    Str,
    Template,
    TextPart,
)
from tokenworld.syntax.hint_words import Found, describe, expectation, is_reserved_name
from tokenworld.syntax.hints import QUOTE_HINT
from tokenworld.syntax.lalr import BAD, Kid, Machine, Token, Tree, lex
from tokenworld.syntax.tables import Tables

# Deeper expressions are refused, so that no later pass can run out of Python's stack.
EXPRESSION_DEPTH: Final = 100
# language.md §18: nesting of blocks.
BLOCK_DEPTH: Final = 32

T = TypeVar("T")
N = TypeVar("N")


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


Read = Callable[[Context, Kid], object]
"""Reads a field of a node off a child of the tree."""
Build = Callable[[Context, Tree], Any]
"""Makes a node, or a field of one, of a tree."""


def quoted(cx: Context, kid: Kid | None) -> Str:
    """A quoted text without slots."""
    return plain(cx, token_of(kid))


def word(cx: Context, kid: Kid) -> str:
    """The text of the one token of a child."""
    return token_of(kid).text


def kind(cx: Context, tree: Tree) -> str:
    """The kind of the tree itself."""
    return tree.kind


def built(node: Callable[..., N], *parts: Build | tuple[Read, int]) -> Callable[[Context, Tree], N]:
    """The builder of a node: each field is read off the tree, or off the child at a place."""
    reads = [one if isinstance(one, tuple) else (one, None) for one in parts]

    def build(cx: Context, tree: Tree) -> N:
        values = list[object]()
        for read, place in reads:
            values.append(read(cx, tree if place is None else tree.kids[place]))  # type: ignore[arg-type]
        return node(cx.span(tree), *values)

    return build


def child(read: Build, kind: str) -> Build:
    """A field that is the tree of one kind directly below; None where there is none."""

    def build(cx: Context, tree: Tree) -> object:
        found = tree.find(kind)
        return None if found is None else read(cx, found)

    return build


def after(read: Read, terminal: str) -> Build:
    """A field that follows a token; None where the token is missing."""

    def build(cx: Context, tree: Tree) -> object:
        found = tree.after(terminal)
        return None if found is None else read(cx, found)

    return build


def each(read: Build, kind: str) -> Build:
    """A field that holds the trees of one kind directly below, in order."""
    return lambda cx, tree: tuple([read(cx, one) for one in tree.trees(kind)])


def each_after(read: Read, *terminals: str) -> Build:
    """A field that holds what follows each token of these terminals, in order."""
    return lambda cx, tree: tuple([read(cx, one) for one in tree.all_after(*terminals)])


def each_inside(table: Mapping[str, Build]) -> Build:
    """A field that holds the trees after the first brace, built by their kinds."""

    def build(cx: Context, tree: Tree) -> object:
        kids = iter(tree.kids)
        for kid in kids:
            if isinstance(kid, Token) and kid.terminal == "{":
                break
        return tuple([table[one.kind](cx, one) for one in kids if isinstance(one, Tree)])

    return build


def has(kind: str) -> Build:
    """A field that says whether a tree of one kind stands directly below."""
    return lambda cx, tree: tree.find(kind) is not None


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


# ---- Quoted texts: escapes, and the slots of a template with spans inside the string -------------


_ESCAPES: Final = '{}"\\'
_ARTICLES: Final = frozenset({"a", "A", "the", "The"})
# After a word, these begin a value of their own; anything else would continue the word.
_BEGINS_VALUE: Final = frozenset({"NAME", "TYPE", "RAW", "NUMBER", "PERCENT", "QUANTITY"})
_BEGINS_VALUE_WORDS: Final = frozenset(
    ("if", "not", "was", "true", "false", "none", *get_args(FoldKind))
)

_RAW: Final = re.compile(r"`[^`\n]*`")
_LITERAL: Final = re.compile(r"[^\\{]+")
"""A run of characters that mean themselves, inside a text or a template."""
_QUOTES: Final = re.compile("[\"'“”„«»‘’]")

BuildExpr = Callable[[Context, Kid], Expr]


def plain(cx: Context, token: Token) -> Str:
    """A quoted text without slots: a title, a path, a row of a layout."""
    text = cx.source.text
    parts: list[str] = []
    position, end = token.start + 1, token.end - 1
    while position < end:
        piece, position = _characters(cx, text, position, end)
        parts.append(piece)
    return Str(cx.span(token), "".join(parts))


def template(cx: Context, token: Token, build: BuildExpr) -> Template:
    """A quoted text with slots; problems are noted in the context and the slot left out."""
    text = cx.source.text
    parts: list[TextPart | Slot] = []
    words: list[str] = []
    begin = position = token.start + 1
    slots = 0
    end = token.end - 1
    while position < end:
        if text[position] != "{":
            piece, position = _characters(cx, text, position, end)
            words.append(piece)
            continue
        _flush(cx, parts, words, begin, position)
        close = _closing(text, position + 1, end)
        if close is None:
            _note(
                cx,
                position,
                position + 1,
                "The brace of the text is not closed.",
                "opens here",
                "Close it with `}`, or write `\\{` for a plain brace.",
            )
            return Template(cx.span(token), tuple(parts))
        slots += 1
        if slots > SLOT_LIMIT:
            _note(
                cx,
                position,
                close + 1,
                f"A text has at most {SLOT_LIMIT} slots.",
                "the limit is reached here",
                "Say it in several texts.",
            )
            return Template(cx.span(token), tuple(parts))
        slot = _slot(cx, position, close, build)
        if slot is not None:
            parts.append(slot)
        begin = position = close + 1
    _flush(cx, parts, words, begin, end)
    return Template(cx.span(token), tuple(parts))


def _flush(
    cx: Context, parts: list[TextPart | Slot], words: list[str], begin: int, end: int
) -> None:
    if words:
        parts.append(TextPart(cx.source.span(begin, end), "".join(words)))
        words.clear()


def _characters(cx: Context, text: str, position: int, end: int) -> tuple[str, int]:
    """The characters that the text means from a place on, up to an escape, and where they end."""
    run = _LITERAL.match(text, position, end)
    if run:
        return run.group(), run.end()
    if text[position] == "{":
        return "{", position + 1
    escaped = text[position + 1]
    if escaped not in _ESCAPES:
        _note(
            cx,
            position,
            position + 2,
            f"A text has no escape `\\{escaped}`.",
            "unknown escape",
            'Write `\\\\` for a backslash; only `\\{`, `\\}`, `\\"` and `\\\\` are escapes.',
        )
    return escaped, position + 2


def _closing(text: str, start: int, end: int) -> int | None:
    """The place at which the brace opened before `start` closes; raw names may hold braces."""
    position = start
    while position < end:
        if text[position] == "`":
            again = text.find("`", position + 1, end)
            position = again if again >= 0 else position
        elif text[position] == "}":
            return position
        position += 1
    return None


def _slot(cx: Context, start: int, close: int, build: BuildExpr) -> Slot | None:
    """The slot between two braces; None if it cannot be parsed (then noted)."""
    if _QUOTES.search(_RAW.sub("", cx.source.text[start:close])):
        _note(
            cx,
            start,
            close + 1,
            "The braces hold a quoted text.",
            "quotes inside braces",
            QUOTE_HINT,
        )
        return None
    tokens, problems = lex(cx.source, cx.tables, start + 1, close)
    if problems:
        cx.problems.extend(problems)
        return None
    article, listed, rest = _opening(cx, tokens)
    value = _value(cx, rest, start, close, build)
    if value is None:
        return None
    return Slot(cx.source.span(start, close + 1), article, listed, value)


def _opening(cx: Context, tokens: list[Token]) -> tuple[Article, bool, list[Token]]:
    """Take the article and the word `list` off, where a value follows them."""
    article = ""
    if tokens and tokens[0].text in _ARTICLES and _value_follows(cx, tokens, 1):
        article, tokens = tokens[0].text, tokens[1:]
    listed = bool(tokens) and tokens[0].text == "list" and _value_follows(cx, tokens, 1)
    return cast(Article, article), listed, tokens[1:] if listed else tokens


def _value_follows(cx: Context, tokens: list[Token], index: int) -> bool:
    if index >= len(tokens):
        return False
    terminal = tokens[index].terminal
    return (
        terminal in _BEGINS_VALUE or terminal in _BEGINS_VALUE_WORDS or terminal in cx.tables.soft
    )


def _value(
    cx: Context, tokens: list[Token], start: int, close: int, build: BuildExpr
) -> Expr | None:
    machine = Machine(cx.tables, "expr")
    for index, token in enumerate(tokens):
        if not machine.feed(token):
            if token.terminal != BAD:
                _unexpected(cx, tokens[:index], token)
            return None
    tree = machine.finish()
    if tree is None and tokens and machine.expected() == {"("}:
        word = tokens[-1].text
        _note(
            cx,
            tokens[-1].start,
            tokens[-1].end,
            f"Unexpected `}}` after `{word}` in the braces of a text.",
            "expected `(`",
            f"`{word}` is a reserved word: write it in backquotes to use it as a name.",
        )
        return None
    if tree is None:
        what = "are empty" if not tokens else "hold no complete value"
        signs = [token.terminal for token in tokens]
        lacks = ")" * (signs.count("(") - signs.count(")"))
        _note(
            cx,
            start,
            close + 1,
            f"The braces of the text {what}.",
            f"`{lacks}` is missing before the brace" if lacks else "a value is missing",
            f"Write `{lacks}}}`: what opens in the braces closes there." if lacks else _FILL,
        )
        return None
    return build(cx, tree)


_FILL = "Put a name or an expression in the braces, or write `\\{` for a plain brace."


def _unexpected(cx: Context, before: list[Token], token: Token) -> None:
    machine = Machine(cx.tables, "expr")
    for earlier in before:
        machine.feed(earlier)
    expected = machine.expected()
    _note(
        cx,
        token.start,
        token.end,
        f"Unexpected {describe(token)} in the braces of a text.",
        f"expected {expectation(cx.tables, expected, '`}`')}",
        _advice(Found(cx.tables, before, token, expected)),
    )


def _advice(found: Found) -> str:
    if is_reserved_name(found):
        word = found.token.text
        return f"`{word}` is a reserved word: write it in backquotes to use it as a name."
    if found.token.terminal == "{":
        return "Write one brace around an expression, or `\\{` for a plain brace."
    if found.token.terminal == ":":
        return "Leave the format out: numbers print as they are."
    return "Put one expression in the braces, with `a`, `the` or `list` before it if you like."


def _note(cx: Context, start: int, end: int, message: str, label: str, hint: str) -> None:
    span = cx.source.span(start, end)
    cx.problems.append(Diagnostic("TW0104", message, span, label=label, hint=hint))
