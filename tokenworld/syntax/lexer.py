"""Text to tokens. Characters that begin no token are reported and stepped over."""

from __future__ import annotations

import re
from typing import Final

from tokenworld.diagnostics import Diagnostic, Source
from tokenworld.syntax.tables import Tables
from tokenworld.syntax.tree import BAD, Token

# Longer numbers are refused: Python limits the conversion of digits to integers.
DIGIT_LIMIT: Final = 1000
# A text that is no program at all is not reported character by character.
ERROR_LIMIT: Final = 20

_SKIPPED = frozenset({"COMMENT", "__IGNORE_1"})
_NUMBERS = frozenset({"NUMBER", "PERCENT", "QUANTITY"})
_OPERATORS: Final = {
    "&": "Write `and`.",
    "|": "Write `or`.",
    "!": "Write `not`.",
    "%": "Write `mod` for a remainder, or put the `%` right behind its number.",
    ";": "Remove it: statements need no separators.",
    "'": 'Put texts in double quotes: `"`.',
    "\\": "Remove it: an escape belongs inside quotes.",
    "^": "Write `pow(x, n)`.",
    "@": "Remove it.",
    "$": "Remove it.",
}
_QUOTES: Final = "“”„«»‘’´"
_QUOTED: Final = re.compile(f"[{_QUOTES}][^\n{_QUOTES}\"]*[{_QUOTES}]|'[^\n'\"]*'")
_LOOKALIKES: Final = {
    **dict.fromkeys("–—−", "-"),
    "×": "*",
    "·": "*",
    "÷": "/",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "∧": "and",
    "∨": "or",
    "¬": "not",
    "→": "implies",
    "∈": "in",
    "…": "to",
}


def lex(
    source: Source, tables: Tables, start: int = 0, end: int | None = None
) -> tuple[list[Token], list[Diagnostic]]:
    """The tokens of `text[start:end]` with their offsets in the whole text.

    Each stretch of bad characters becomes one `BAD` token and one TW0103.
    """
    text = source.text
    end = len(text) if end is None else end
    tokens: list[Token] = []
    problems: list[Diagnostic] = []
    position = start
    while position < end:
        position = _good_end(source, tables, position, end, tokens, problems)
        if position < end:
            stop = _bad_end(text, position, end, tables)
            tokens.append(Token(BAD, text[position:stop], position, stop))
            if len(problems) < ERROR_LIMIT:
                problems.append(_bad_text(source, position, stop))
            position = stop
    return tokens, problems


def _good_end(
    source: Source,
    tables: Tables,
    position: int,
    end: int,
    tokens: list[Token],
    problems: list[Diagnostic],
) -> int:
    """Read tokens up to the end or to a character that begins none; where that is."""
    keywords = tables.keywords
    for found in tables.pattern.finditer(source.text, position, end):
        first, stop = found.span()
        if first != position:
            break
        kind = found.lastgroup or ""
        if kind not in _SKIPPED:
            word = found.group()
            if kind == "literal" or (kind == "NAME" and word in keywords):
                kind = word
            elif kind in _NUMBERS and len(word) > DIGIT_LIMIT:
                problems.append(_long_number(source, position, stop))
                kind = BAD
            tokens.append(Token(kind, word, position, stop))
        position = stop
    return position


def _bad_end(text: str, start: int, end: int, tables: Tables) -> int:
    """Where a stretch of bad characters ends: an open quote spoils the rest of its line."""
    if text[start] in '"`':
        newline = text.find("\n", start, end)
        return newline if newline >= 0 else end
    if text[start] in _QUOTES or text[start] == "'":
        # A text in other quotes is one mistake, not two.
        close = _QUOTED.match(text, start, end)
        if close:
            return close.end()
    position = start + 1
    while position < end and text[position] not in '"`':
        # A letter behind a bad one is most likely part of the same foreign word.
        word = text[position].isalnum() and text[start].isalpha()
        if not word and tables.pattern.match(text, position, end):
            break
        position += 1
    return position


def _bad_text(source: Source, start: int, end: int) -> Diagnostic:
    first = source.text[start]
    if first == '"':
        return Diagnostic(
            "TW0103",
            "The text that begins here is not closed on its line.",
            source.span(start, start + 1),
            label="this quote is never closed",
            hint='Close the text with `"`; write `\\"` for a quote inside it.',
        )
    if first == "`":
        return Diagnostic(
            "TW0103",
            "The raw name that begins here is not closed on its line.",
            source.span(start, start + 1),
            label="this backquote is never closed",
            hint="Close the name with a second backquote; it may not be empty.",
        )
    shown = source.text[start:end]
    return Diagnostic(
        "TW0103",
        f"The language has no {_named(shown)}.",
        source.span(start, end),
        label="cannot be read here",
        hint=_advice(source.text, start, end),
    )


def _named(shown: str) -> str:
    if len(shown) > 20:
        return "such characters"
    if shown.isprintable():
        return f"`{shown}`"
    return f"character U+{ord(shown[0]):04X}"


def _advice(text: str, start: int, end: int) -> str:
    first = text[start]
    if first in _QUOTES:
        return 'Use straight quotes: `"`.'
    if first in _OPERATORS:
        return _OPERATORS[first]
    if first in _LOOKALIKES:
        return f"Write `{_LOOKALIKES[first]}`."
    if first.isalpha():
        while start > 0 and (text[start - 1].isalnum() or text[start - 1] == "_"):
            start -= 1
        while end < len(text) and (text[end].isalnum() or text[end] == "_"):
            end += 1
        return (
            f"Put a name with other letters than a to z in backquotes: `` `{text[start:end]}` ``."
        )
    if first == "_":
        if text[start - 1 : start].isdigit() and text[end : end + 1].isdigit():
            return "Leave out the `_`: digits stand together, as in `1000`."
        return "Begin names with a letter, or put them in backquotes."
    return "Remove it, or put it in quotes if it belongs to a text."


def _long_number(source: Source, start: int, end: int) -> Diagnostic:
    return Diagnostic(
        "TW0103",
        f"The number has {end - start} digits; the limit is {DIGIT_LIMIT}.",
        source.span(start, end),
        label="too long",
        hint="Use a shorter number.",
    )
