"""Hints about parts that are missing where something else, or the end, came instead."""

from __future__ import annotations

from typing import Final

from tokenworld.syntax.hint_words import OPERATORS, Found
from tokenworld.syntax.tables import END

_CONDITIONS: Final = frozenset({"require", "when", "if", "where", "until", "always", "never"})
_AMOUNTS: Final = {
    "chance": "a probability",
    "or": "a probability",
    "takes": "a number of ticks",
    "cost": "a number",
    "weight": "a number",
    "reward": "a number",
    "award": "a number",
}
_BODIES: Final = frozenset({"action", "law", "watch", "birth", "describe", "world", "scenario"})
_NAMED: Final = frozenset(
    {"unit", "model", "param", "event", "phase", "action", "law", "watch", "invariant", "conserve"}
    | {"relation", "function", "table", "derive", "object", "actor", "world", "believe", "use"}
)


def missing(found: Found) -> str | None:
    """What should have come here."""
    if found.value_expected:
        return _value(found)
    return _of_requirement(found) or _text(found) or _of_item(found) or _of_change(found)


def _value(found: Found) -> str | None:
    """A value, a condition or an amount."""
    before, terminal = found.back(1), found.token.terminal
    if terminal not in ("}", "{", "else", "then", ")", "]", ",", END, "when", "during"):
        return None
    if before in _CONDITIONS:
        return f"Write a condition behind `{before}`."
    if before == "then":
        if found.item == "scenario":
            return "Write what must hold behind `then`, such as `won` or `refused`."
        return "Write a value behind `then`."
    if before in _AMOUNTS and not (before == "or" and found.item != "law"):
        return f"Write {_AMOUNTS[before]} behind `{before}`."
    if before in OPERATORS | {"=", "+=", "-=", "not", "else", ":", "was"}:
        return f"Write a value behind `{before}`."
    return None


def _of_requirement(found: Found) -> str | None:
    """The label and text of a `require`."""
    terminal = found.token.terminal
    if found.expected == {"STRING"} and found.back(2) == "else":
        if terminal == ":":
            return "Remove the colon: the text follows the label."
        return "Write the text of the refusal behind the label, in quotes."
    if found.back(1) == "else" and "STRING" in found.expected:
        return 'Write a label and a text behind `else`, as in `else far "Too far."`.'
    if terminal == "STRING" and "else" in found.expected:
        return "Write `else` before the text."
    return None


def _text(found: Found) -> str | None:
    """A text in quotes."""
    if "STRING" not in found.expected:
        return None
    before = found.back(1)
    if before == "say":
        return 'Put the words in quotes: `say "…"`.'
    if before == "as":
        return 'Put the words to type in quotes: `as "go {x}"`.'
    if before in ("scenario", "quirk", "replay", "start", "says", "legend"):
        return f'Write a text in quotes behind `{before}`: `{before} "…"`.'
    return None


def _of_item(found: Found) -> str | None:
    """The name, parameters, type or body of an item."""
    before, item, expected = found.back(1), found.item, found.expected
    if "NAME" in expected and len(found.before) == 1 and item in _NAMED:
        return f"Write a name behind `{item}`."
    if "TYPE" in expected and "NAME" not in expected and before in ("type", "enum", "is", ":"):
        what = "a type" if before in ("is", ":") else "a name with a capital letter"
        return f"Write {what} behind `{before}`."
    if expected == {"("} and len(found.before) <= 3 and found.is_name(found.previous):
        return "Write parentheses behind the name, `()` if there are no parameters."
    if item == "scenario" and expected == {"in"}:
        return 'Name the world behind the title: `scenario "…" in name { }`.'
    if item == "watch" and "when" in expected and before == ")":
        return "Write `when` and a condition before the brace."
    if item == "believe" and "weight" in expected:
        return "Write `weight` and a number before the brace."
    if "to" in expected and expected <= {"to"}:
        return "Write a range, such as `0 to 9`."
    if item in ("function", "param") and ":" in expected and "{" not in expected:
        return "Write the type of its value behind a colon: `: 0 to 9`."
    if item in ("derive", "param") and "=" in expected and found.token.terminal == END:
        return "Write `=` and a value."
    return _of_body(found)


def _of_body(found: Found) -> str | None:
    """The braces of an item, or the two branches of a value."""
    expected, item = found.expected, found.item
    if found.token.terminal == END and "{" in expected and item in _BODIES | {"enum", "table"}:
        return "Write what belongs to it in braces: `{ … }`."
    if "else" in expected and "require" not in expected and _choosing(found):
        return "Write `else` and the other value."
    if item == "type" and {":", "="} <= expected and found.is_name(found.previous):
        return "Write the type of the attribute behind a colon: `x: T`."
    return None


def _choosing(found: Found) -> bool:
    """Whether an `if … then` is open."""
    for token in reversed(found.before):
        if token.terminal in ("then", "if", "else", "{"):
            return token.terminal == "then"
    return False


def _of_change(found: Found) -> str | None:
    """What a change does, once its target is named; or a change at all."""
    expected = found.expected
    if "+=" in expected and found.back(1) == ")":
        return "Write `add` before a fact, `emit` before an event, or `=` and a value behind it."
    if "+=" in expected and found.is_name(found.previous):
        return "Write what becomes of it, as in `x.f = …`."
    if found.change_expected and found.token.terminal in (
        "NUMBER", "QUANTITY", "PERCENT", "STRING", "true", "false", "none",
    ):  # fmt: skip
        return "Write a change, such as `x.f = …`."
    return None
