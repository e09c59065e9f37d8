"""An unexpected token in human words: what stands there, what was expected, what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tokenworld.diagnostics import Diagnostic, Edit, Fix, Related, Source
from tokenworld.syntax.hint_foreign import foreign_sign, foreign_type, foreign_word, misplaced
from tokenworld.syntax.hint_missing import missing
from tokenworld.syntax.hint_names import is_reserved_name, letter_case, misspelt, reserved
from tokenworld.syntax.hint_parts import bracket, chained, number, open_bracket, part, separator
from tokenworld.syntax.hint_words import Found, describe, expectation
from tokenworld.syntax.tables import END
from tokenworld.syntax.tree import Token

__all__ = ["QUOTE_HINT", "Found", "describe", "expectation", "unexpected"]

QUOTE_HINT: Final = (
    "Name the text in a text derive and put that in the braces: braces cannot hold a quoted text."
)


def unexpected(source: Source, found: Found) -> Diagnostic:
    """The one diagnostic for a token that does not fit."""
    token = found.token
    for string in found.before[-3:]:
        if string.terminal == "STRING" and _open_brace(string.text) and token.terminal != END:
            return _quote_in_braces(source, string)
    span = source.span(token.start, token.end)
    advice = next((hint for hint in (ask(found) for ask in _HINTS) if hint), None)
    if not found.before:
        message = f"{_capital(describe(token))} does not begin an item."
        label = "expected an item such as `type`, `action` or `world`"
        if token.text == "}":
            message, label = "This `}` closes nothing.", "no brace is open here"
            advice = "Remove it, or open a brace before it."
    else:
        message = f"Unexpected {describe(token)}{_inside(found.before)}."
        label = f"expected {expectation(found.tables, found.expected)}"
    opened = open_bracket(found) if advice and advice == bracket(found) else None
    related = () if opened is None else (_opened(source, opened),)
    fix = _replacement(source, found)
    return Diagnostic("TW0101", message, span, label=label, hint=advice, related=related, fix=fix)


def _opened(source: Source, token: Token) -> Related:
    return Related(source.span(token.start, token.end), "opened here")


def _inside(before: list[Token]) -> str:
    """` in the action `take``: which item is being read."""
    index = next((i for i, t in enumerate(before) if t.terminal not in ("static", "secret")), 0)
    first = before[index]
    if first.text == "quirk" or not first.text.isalpha():
        return ""
    if index + 1 < len(before) and before[index + 1].terminal in ("NAME", "TYPE"):
        name = before[index + 1].text
        return f" in the {first.text} `{name if len(name) <= 40 else name[:39] + '…'}`"
    article = "an" if first.text[0] in "aeio" else "a"
    return f" in {article} `{first.text}`"


def _open_brace(text: str) -> bool:
    """Whether a quoted text ends inside braces: its author put a quote into them."""
    return text.rfind("{") > text.rfind("}")


def _quote_in_braces(source: Source, string: Token) -> Diagnostic:
    brace = string.start + string.text.rfind("{")
    return Diagnostic(
        "TW0104",
        "The text ends inside its braces.",
        source.span(brace, string.end),
        label="this quote ends the text, not something in the braces",
        hint=QUOTE_HINT,
    )


def _replacement(source: Source, found: Found) -> Fix | None:
    token, expected = found.token, found.expected
    span = source.span(token.start, token.end)
    if _compares(found):
        return Fix("compare with `==`", (Edit(span, "=="),))
    if token.terminal == "==" and "=" in expected and "==" not in expected:
        return Fix("set with `=`", (Edit(span, "="),))
    if is_reserved_name(found):
        return Fix("quote the name", (Edit(span, f"`{token.text}`"),))
    return None


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _compares(found: Found) -> bool:
    """Whether a lone `=` stands where `==` would fit."""
    after = found.following
    arrow = found.touches(after) and after is not None and after.terminal in ("<", ">")
    return found.token.terminal == "=" and "==" in found.expected and not arrow


def _assignment(found: Found) -> str | None:
    if _compares(found):
        return "Write `==` to compare."
    if found.token.terminal == "==" and "=" in found.expected and "==" not in found.expected:
        return "Write `=` to set a value."
    return None


# The first hint that fits is given: what is surest stands first.
_HINTS: Final[tuple[Callable[[Found], str | None], ...]] = (
    misplaced,
    foreign_word,
    _assignment,
    foreign_sign,
    foreign_type,
    misspelt,
    chained,
    number,
    separator,
    reserved,
    letter_case,
    part,
    missing,
    bracket,
)
