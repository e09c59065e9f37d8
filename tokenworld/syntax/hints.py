"""An unexpected token in human words: what stands there, what was expected, what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tokenworld.diagnostics import Diagnostic, Edit, Fix, Source, closest
from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.tables import END, Tables
from tokenworld.syntax.tree import Token

QUOTE_HINT: Final = (
    "Name the text in a text derive and put that in the braces: braces cannot hold a quoted text."
)
_NUMBERS: Final = frozenset({"NUMBER", "PERCENT", "QUANTITY"})
_COMPARE: Final = frozenset({"==", "!=", "<=", ">=", "<", ">"})
_CALCULATE: Final = frozenset({"+", "-", "*", "/", "div", "mod"})
_OPERATORS: Final = _COMPARE | _CALCULATE | {"in", "is", "and", "or", "implies"}
_PRIMITIVES: Final = frozenset({"bool", "int", "real", "text"})
_EFFECTS: Final = frozenset(
    [
        "let",
        "add",
        "remove",
        "if",
        "for",
        "chance",
        "pick",
        "create",
        "destroy",
        "transfer",
        "swap",
        "emit",
        "say",
        "describe",
        "reward",
        "require",
        "cancelled",
    ]
)
_WORLD: Final = frozenset(
    [
        "object",
        "spare",
        "layout",
        "setup",
        "start",
        "param",
        "time",
        "turns",
        "ambiguous",
        "endless",
        "outcomes",
        "goal",
        "lose",
        "stop",
        "award",
        "score",
        "reward",
    ]
)
_STEPS: Final = frozenset(["given", "random", "when", "then", "always", "never", "replay"])
_ELSE_IF: Final = frozenset({"elif", "elsif", "elseif"})


@frozen
class Found:
    """An unexpected token with its surroundings: the item's tokens before it."""

    tables: Tables
    before: list[Token]
    token: Token
    expected: frozenset[str]

    @property
    def previous(self) -> Token | None:
        """The token just before, in the same item."""
        return self.before[-1] if self.before else None


# ---- words --------------------------------------------------------------------------------


def describe(token: Token) -> str:
    """What stands there, in words."""
    match token.terminal:
        case "$END":
            return "end of the file"
        case "STRING":
            shown = token.text if len(token.text) <= 30 else token.text[:28] + '…"'
            return f"text `{shown}`" if "`" not in shown else "text"
        case "RAW":
            return "raw name " + token.text
        case _:
            shown = token.text if len(token.text) <= 40 else token.text[:39] + "…"
            return f"`{shown}`"


def expectation(tables: Tables, expected: frozenset[str], end: str = "the end of the item") -> str:
    """The accepted terminals as one phrase, such as "a name or `{`"; `end` names their end."""
    rest = set(expected)
    words: list[str] = []

    def take(group: frozenset[str], word: str, needs: frozenset[str]) -> None:
        if needs <= rest:
            rest.difference_update(group)
            words.append(word)

    take(tables.first("item"), "the next item", frozenset({"law", "invariant", "world"}))
    if "require" in rest:
        take(_EFFECTS | _names(tables), "a requirement or a change", frozenset({"let", "say"}))
    take(_EFFECTS | _names(tables), "a change", frozenset({"let", "say"}))
    take(_WORLD, "a line of the world", frozenset({"goal", "endless"}))
    take(_STEPS, "a step of the scenario", frozenset({"given", "replay"}))
    take(tables.first("expr"), "a value", frozenset({"[", "NAME", "NUMBER"}))
    take(_OPERATORS | {".", "("}, "an operator", frozenset({"*", "+"}))
    take(_OPERATORS, "an operator", frozenset({"and", "or"}))
    take(_names(tables), "a name", frozenset({"NAME", "RAW"}))
    take(_PRIMITIVES | {"TYPE", "RAW"}, "a type", frozenset({"TYPE"}))
    take(frozenset({"RAW"}), "a raw name", frozenset({"RAW"}))
    take(_NUMBERS | {"-"}, "a number", frozenset({"NUMBER"}))
    take(frozenset({"STRING"}), "a text in quotes", frozenset({"STRING"}))
    take(frozenset({END}), end, frozenset({END}))
    words += [f"`{terminal}`" for terminal in sorted(rest)]
    return _either(words)


def _names(tables: Tables) -> frozenset[str]:
    return tables.soft | {"NAME", "RAW"}


def _either(words: list[str]) -> str:
    if len(words) > 6:
        words = [*words[:5], "something else"]
    if len(words) < 2:
        return words[0] if words else "nothing more"
    return f"{', '.join(words[:-1])} or {words[-1]}"


# ---- the diagnostic -----------------------------------------------------------------------


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
    fix = _replacement(source, found)
    return Diagnostic("TW0101", message, span, label=label, hint=advice, fix=fix)


def _inside(before: list[Token]) -> str:
    """` in the action `take``: which item is being read."""
    first = next((t for t in before if t.terminal not in ("static", "secret")), before[0])
    index = before.index(first)
    if first.text == "quirk" or not first.text.isalpha():
        return ""
    article = "an" if first.text[0] in "aeiou" else "a"
    if index + 1 < len(before) and before[index + 1].terminal in ("NAME", "TYPE"):
        return f" in the {first.text} `{before[index + 1].text}`"
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
    if token.terminal == "=" and "==" in expected:
        return Fix("compare with `==`", (Edit(span, "=="),))
    if token.terminal == "==" and "=" in expected and "==" not in expected:
        return Fix("set with `=`", (Edit(span, "="),))
    if _is_reserved_name(found):
        return Fix("quote the name", (Edit(span, f"`{token.text}`"),))
    return None


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


# ---- hints, the first that fits is given --------------------------------------------------


def _assignment(found: Found) -> str | None:
    if found.token.terminal == "=" and "==" in found.expected:
        return "Write `==` to compare."
    if found.token.terminal == "==" and "=" in found.expected and "==" not in found.expected:
        return "Write `=` to set a value."
    return None


def _is_reserved_name(found: Found) -> bool:
    previous = found.previous
    return (
        found.token.terminal in found.tables.reserved
        and bool(found.expected & {"NAME", "TYPE"})
        # Where a value may stand, an operator word is a missing operand and not a name.
        and found.token.terminal not in _OPERATORS
        and not ("[" in found.expected and found.token.terminal in found.tables.first("item"))
        and not {"let", "say"} <= found.expected
        and previous is not None
        and ("[" not in found.expected or previous.terminal not in _OPERATORS | {"when", "if"})
    )


def _reserved(found: Found) -> str | None:
    previous = found.previous
    if _is_reserved_name(found):
        word = found.token.text
    elif previous and previous.terminal in found.tables.reserved and found.expected == {"("}:
        word = previous.text
    else:
        return None
    return f"`{word}` is a reserved word: write it in backquotes to use it as a name."


def _misspelt(found: Found) -> str | None:
    """A word that is nearly a keyword: this one, or the one before it that began the line."""
    token, previous = found.token, found.previous
    if token.text in _ELSE_IF or (previous and previous.text in _ELSE_IF):
        return "Write `else if`."
    if not found.before:
        known = sorted(found.tables.first("item"))
        return _did_you_mean(token.text, known) if token.terminal == "NAME" else None
    words = sorted(t for t in found.expected if t in found.tables.keywords)
    if token.terminal == "NAME" and "NAME" not in found.expected:
        near = _did_you_mean(token.text, words)
        if near:
            return near
    dotted = len(found.before) > 1 and found.before[-2].terminal == "."
    if dotted:
        return None
    if previous and previous.terminal == "NAME" and token.terminal not in (".", ")", "}"):
        known = sorted(_EFFECTS | _WORLD | _STEPS | {"else", "during", "when", "where"})
        return _did_you_mean(previous.text, known)
    return None


def _did_you_mean(word: str, known: list[str]) -> str | None:
    near = closest(word, known, at_most=1)
    return f"Did you mean `{near[0]}`?" if near else None


def _letter_case(found: Found) -> str | None:
    terminal, expected = found.token.terminal, found.expected
    if terminal == "TYPE" and "NAME" in expected:
        return "Begin this name with a small letter: only types begin with a capital."
    is_name = terminal == "NAME" or terminal in found.tables.soft
    if is_name and "TYPE" in expected and "NAME" not in expected:
        return "Begin the name of a type with a capital letter."
    return None


def _separator(found: Found) -> str | None:
    if found.token.terminal == "," and "let" in found.expected:
        return "Remove the comma: changes need no separators."
    return None


def _brace_style(found: Found) -> str | None:
    token = found.token
    if token.terminal in (":", "then") and "{" in found.expected:
        return f"Write `{{` instead of `{token.text}`: what follows stands in braces."
    return None


def _parenthesis(found: Found) -> str | None:
    if ")" in found.expected and found.token.terminal != ")":
        depth = 0
        for token in reversed(found.before):
            depth += {")": 1, "(": -1}.get(token.terminal, 0)
            if depth < 0:
                return "Close the parenthesis with `)`."
    if "]" in found.expected and found.token.terminal != "]":
        return "Close the list with `]`."
    return None


def _number(found: Found) -> str | None:
    previous = found.previous
    if found.token.terminal == "." and "to" in found.expected and "NAME" not in found.expected:
        return "Write a range with `to`, as in `0 to 9`."
    if found.token.terminal in _NUMBERS and previous and previous.terminal == "QUANTITY":
        return "Write the number out: numbers have no exponents."
    if found.token.terminal == "." and "NUMBER" in found.expected:
        return "Write a digit before the point, as in `0.5`."
    if found.token.terminal == "." and previous and previous.terminal == "NUMBER":
        return "Write a digit behind the point, as in `5.0`."
    return None


def _chained(found: Found) -> str | None:
    terminal, expected = found.token.terminal, found.expected
    if terminal in _COMPARE | {"in", "is"} and "+" in expected:
        return "Compare one pair at a time, and join the pairs with `and`."
    if terminal == "not" and "NUMBER" in expected:
        return "Put the negated part in parentheses: `(not …)`."
    if terminal == ">" and found.previous and found.previous.terminal in ("-", "="):
        return "Write `implies` in a condition."
    return None


_HINTS: Final[tuple[Callable[[Found], str | None], ...]] = (
    _assignment,
    _misspelt,
    _chained,
    _reserved,
    _letter_case,
    _separator,
    _brace_style,
    _number,
    _parenthesis,
)
