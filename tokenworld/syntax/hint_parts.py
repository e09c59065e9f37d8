"""Hints about parts that are there and wrong: separators, brackets, numbers, chains."""

from __future__ import annotations

from typing import Final

from tokenworld.syntax.hint_words import COMPARE, NUMBERS, Found
from tokenworld.syntax.tree import Token

_CLOSING: Final = frozenset({")", "]", "}"})
_OPEN_BLOCKS: Final = frozenset({"if", "for", "chance", "pick", "else", "when"})
_CHECKS: Final = frozenset({"won", "lost", "refused", "unchanged", "winnable", "unwinnable"})


def separator(found: Found) -> str | None:
    """Commas where none belong, or the lack of one."""
    terminal, expected = found.token.terminal, found.expected
    if terminal in _CLOSING and found.back(1) == ",":
        return f"Remove the comma before `{terminal}`."
    if terminal == "," and found.item == "action" and found.back(2) in ("as", "or"):
        return "Write `or` between the texts."
    if terminal == "," and ("let" in expected or "}" in expected):
        what = {"type": "attributes", "object": "values", "table": "rows", "world": "lines"}
        return f"Remove the comma: {what.get(found.item, 'changes')} need no separators."
    if found.item == "enum" and terminal == "}" and found.back(1) == "{":
        return "Write at least one member between the braces."
    if found.item == "enum" and "," in expected and found.is_name(found.token):
        return "Put a comma between the members."
    return None


def part(found: Found) -> str | None:
    """A part in the wrong form, told by what was being read."""
    terminal, before, item = found.token.terminal, found.back(1), found.item
    if terminal in (":", "then") and "{" in found.expected and item != "type":
        return f"Write `{{` instead of `{found.token.text}`: what follows stands in braces."
    if terminal == "(" and before == "for":
        return "Leave out the parentheses: `for x in … { }`."
    if terminal == "of" and "in" in found.expected:
        return "Write `in`: `for x in … { }`."
    if terminal in ("else", "or") and found.change_expected:
        return f"Put `{terminal}` behind the `}}` of an `if`, `chance` or `pick`."
    if terminal in _CHECKS and found.value_expected:
        return f"Let `{terminal}` stand alone, and put commas between the checks."
    if item == "world" and {"goal", "endless"} <= found.expected and found.is_name(found.token):
        return "Put changes of the start into `setup { }`."
    if item == "scenario" and terminal == "and" and "times" in found.expected:
        return "Write another `when`."
    if terminal == "+" and before == "STRING" and found.change_expected:
        return 'Write one text, with values in braces: `"… {x} …"`.'
    return _of_values(found) or _of_items(found)


def _of_values(found: Found) -> str | None:
    """Parts of an expression."""
    terminal, before = found.token.terminal, found.back(1)
    if terminal == "{" and "then" in found.expected:
        return "Write `if … then … else …` for a value."
    if terminal == "{" and found.value_expected and before in ("=", "in", "("):
        return "Write a list in brackets: `[a, b]`."
    if terminal == ":" and "for" in found.expected:
        return "Write what is taken of each thing first: `x for x: T where …`."
    if before == "." and "NAME" in found.expected and terminal not in found.tables.reserved:
        return "Write a name behind the point."
    return None


def _of_items(found: Found) -> str | None:
    """Parts of a declaration."""
    terminal, item, expected = found.token.terminal, found.item, found.expected
    if item == "use" and terminal == "STRING":
        return "Write the name of the module without quotes: `use folder.module`."
    if item == "use" and terminal == "/":
        return "Write `.` between the names: `use folder.module`."
    if item == "edition":
        return "Write `edition 1`."
    if item == "type" and {":", "{"} <= expected:
        return "Write the parents behind a colon: `type A : B`."
    if item == "relation" and terminal == ":" and "symmetric" in expected:
        return "Write `function` for a fact with a value: a relation has none."
    if item == "phase" and terminal == "{":
        return "Leave out the braces: laws name their phase with `during`."
    if item == "world" and terminal == "STRING" and found.back(1) == "world":
        return f"Write a name before the title: `world home {found.token.text[:40]}`."
    if item in ("param", "function") and terminal == "=" and ":" in expected:
        return "Write the type of its value behind a colon: `: 0 to 9`."
    if terminal in ("TYPE", "=") and ":" in expected:
        return "Write the type behind a colon: `x: T`."
    return None


def number(found: Found) -> str | None:
    """Numbers in forms that the language does not have."""
    token, previous, expected = found.token, found.previous, found.expected
    if token.terminal == "." and "to" in expected and "NAME" not in expected:
        return "Write a range with `to`, as in `0 to 9`."
    if token.terminal == "." and "NUMBER" in expected:
        return "Write a digit before the point, as in `0.5`."
    if previous is None or previous.terminal not in NUMBERS:
        return _digit_first(found) or _spaced_unit(found)
    if token.terminal in NUMBERS and previous.terminal == "QUANTITY":
        if previous.text in ("0x", "0b", "0o"):
            return "Write the number in decimal digits."
        return "Write the number out: numbers have no exponents."
    if token.terminal == ".":
        once = "." in previous.text
        return "Write one point only." if once else "Write a digit behind the point, as in `5.0`."
    if token.terminal == "," and found.touches(found.following) and _digits(found):
        return "Leave out the comma: digits stand together, as in `1000`."
    if token.text == "percent":
        return f"Write `{previous.text[:20]}%`."
    return None


def _digits(found: Found) -> bool:
    return found.following is not None and found.following.terminal == "NUMBER"


def _digit_first(found: Found) -> str | None:
    """A name that begins with a digit reads as a number with a unit."""
    token = found.token
    if token.terminal == "QUANTITY" and "NAME" in found.expected and not found.value_expected:
        return f"Begin names with a letter, or put them in backquotes: `` `{token.text[:40]}` ``."
    return None


def _spaced_unit(found: Found) -> str | None:
    """A unit behind its number and a blank: it was read as the next statement."""
    previous = found.previous
    if previous is None or previous.terminal != "NAME" or found.back(2) != "NUMBER":
        return None
    if "+=" not in found.expected or len(previous.text) > 3:
        return None
    shown = f"{found.before[-2].text[:20]}{previous.text}"
    return f"Write the unit right behind its number: `{shown}`."


def chained(found: Found) -> str | None:
    """Comparisons and negations that need parentheses, or two steps."""
    terminal, expected = found.token.terminal, found.expected
    if terminal == ">" and found.back(1) == "=":
        return "Write `=` alone."
    if terminal in COMPARE | {"in", "is"} and "+" in expected:
        return "Compare one pair at a time, and join the pairs with `and`."
    if terminal == "not" and found.back(1) == "is":
        return "Write `not (x is T)`."
    if terminal == "not" and "*" in expected:
        return "Write `not (x in …)`."
    if terminal == "not" and "NUMBER" in expected:
        return "Put the negated part in parentheses: `(not …)`."
    return None


def open_bracket(found: Found) -> Token | None:
    """The parenthesis or bracket that should have been closed before the unexpected token."""
    for opening, closing in (("(", ")"), ("[", "]")):
        if closing not in found.expected or found.token.terminal == closing:
            continue
        depth = 0
        for token in reversed(found.before):
            depth += {closing: 1, opening: -1}.get(token.terminal, 0)
            if depth < 0:
                return token
    return None


def bracket(found: Found) -> str | None:
    """Parentheses and brackets that are open, or that close nothing."""
    terminal = found.token.terminal
    opened = open_bracket(found)
    if opened is not None:
        what = ("parenthesis", ")") if opened.terminal == "(" else ("list", "]")
        return f"Close the {what[0]} with `{what[1]}`."
    if terminal in (")", "]") and not found.value_expected:
        opening = "(" if terminal == ")" else "["
        return f"Remove it, or open it with `{opening}` before."
    return _braceless(found)


def _braceless(found: Found) -> str | None:
    """A statement right behind a condition, without braces."""
    if "{" not in found.expected or found.token.terminal == "{":
        return None
    for token in reversed(found.before):
        if token.terminal in _OPEN_BLOCKS:
            return "Put what follows in braces: `{ … }`."
        if token.terminal in ("{", "}"):
            break
    return None
