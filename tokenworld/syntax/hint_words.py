"""The words of hints: how tokens are spoken of, misspelt names, words of other languages."""

from __future__ import annotations

from typing import Final

from tokenworld.diagnostics import closest
from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.lalr import Token
from tokenworld.syntax.tables import END, Tables

NUMBERS: Final = frozenset({"NUMBER", "PERCENT", "QUANTITY"})
COMPARE: Final = frozenset({"==", "!=", "<=", ">=", "<", ">"})
CALCULATE: Final = frozenset({"+", "-", "*", "/", "div", "mod"})
OPERATORS: Final = COMPARE | CALCULATE | {"in", "is", "and", "or", "implies", "otherwise"}
FOLDERS: Final = frozenset({"any", "all", "count", "sum", "min", "max", "first", "last"})
_PRIMITIVES: Final = frozenset({"bool", "int", "real", "text"})
EFFECTS: Final = frozenset(
    {"let", "add", "remove", "if", "for", "chance", "pick", "create", "destroy", "transfer"}
    | {"swap", "emit", "say", "describe", "reward", "require", "cancelled"}
)
WORLD: Final = frozenset(
    {"object", "spare", "layout", "setup", "start", "param", "time", "turns", "ambiguous"}
    | {"endless", "outcomes", "goal", "lose", "stop", "award", "score", "reward"}
)
STEPS: Final = frozenset({"given", "random", "when", "then", "always", "never", "replay"})


@frozen
class Found:
    """An unexpected token: the item's tokens before it, and the one behind it."""

    tables: Tables
    before: list[Token]
    token: Token
    expected: frozenset[str]
    following: Token | None = None

    @property
    def previous(self) -> Token | None:
        """The token just before, in the same item."""
        return self.before[-1] if self.before else None

    @property
    def item(self) -> str:
        """The keyword that the item began with; empty at its very beginning."""
        words = (t.terminal for t in self.before if t.terminal not in ("static", "secret"))
        return next(words, "")

    @property
    def value_expected(self) -> bool:
        """Whether a value may begin here."""
        return "[" in self.expected

    @property
    def change_expected(self) -> bool:
        """Whether a change of a body may begin here."""
        return {"let", "say"} <= self.expected

    def back(self, count: int) -> str:
        """The terminal so many tokens before the unexpected one; empty before the item."""
        return self.before[-count].terminal if count <= len(self.before) else ""

    def is_name(self, token: Token | None) -> bool:
        """Whether a token can be a name."""
        return token is not None and token.terminal in self.tables.soft | {"NAME", "RAW"}

    def touches(self, token: Token | None) -> bool:
        """Whether a token follows the unexpected one without a blank, as in `++`."""
        return token is not None and token.start == self.token.end


def describe(token: Token) -> str:
    """Describe a token in words."""
    match token.terminal:
        case "$END":
            return "end of the file"
        case "STRING":
            shown = token.text if len(token.text) <= 30 else token.text[:28] + '…"'
            return f"text `{shown}`" if "`" not in shown else "text"
        case "RAW":
            shown = token.text if len(token.text) <= 40 else token.text[:38] + "…`"
            return f"raw name {shown}"
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

    names = tables.soft | {"NAME", "RAW"}
    take(tables.first("item"), "the next item", frozenset({"law", "invariant", "world"}))
    if "require" in rest:
        take(EFFECTS | names, "a requirement or a change", frozenset({"let", "say"}))
    take(EFFECTS | names, "a change", frozenset({"let", "say"}))
    take(WORLD, "a line of the world", frozenset({"goal", "endless"}))
    take(STEPS, "a step of the scenario", frozenset({"given", "replay"}))
    take(tables.first("expr"), "a value", frozenset({"[", "NAME", "NUMBER"}))
    take(OPERATORS | {".", "("}, "an operator", frozenset({"*", "+"}))
    take(OPERATORS, "an operator", frozenset({"and", "or"}))
    take(names, "a name", frozenset({"NAME", "RAW"}))
    take(_PRIMITIVES | {"TYPE", "RAW"}, "a type", frozenset({"TYPE"}))
    take(frozenset({"RAW"}), "a raw name", frozenset({"RAW"}))
    take(NUMBERS | {"-"}, "a number", frozenset({"NUMBER"}))
    take(frozenset({"STRING"}), "a text in quotes", frozenset({"STRING"}))
    take(frozenset({END}), end, frozenset({END}))
    words += [f"`{terminal}`" for terminal in sorted(rest)]
    return _either(words)


def _either(words: list[str]) -> str:
    if len(words) > 6:
        words = [*words[:5], "something else"]
    if len(words) < 2:
        return words[0] if words else "nothing more"
    return f"{', '.join(words[:-1])} or {words[-1]}"


# ---- Hints about names: reserved words, misspelt keywords, capital letters -----------------------


_ELSE_IF: Final = frozenset({"elif", "elsif", "elseif"})
# The tokens that may follow the name at the beginning of a change.
_CHANGES: Final = frozenset({"=", "+=", "-=", ".", "~"})
# Checks of a scenario, which are no values.
_CHECKS: Final = frozenset({"won", "lost", "refused", "unchanged", "winnable", "unwinnable"})


def is_reserved_name(found: Found) -> bool:
    """Whether the unexpected token is a reserved word that was meant as a name."""
    token, previous, expected = found.token, found.previous, found.expected
    if token.terminal not in found.tables.reserved or previous is None:
        return False
    if found.change_expected:
        # Only what follows tells a name from a misplaced keyword.
        return bool(found.following and found.following.terminal in _CHANGES)
    if not expected & {"NAME", "TYPE"} or _negated(found):
        return False
    if not found.value_expected:
        return "TYPE" not in expected or "NAME" in expected
    # Where a value may stand, an operator word is a missing operand and not a name.
    return not (
        token.terminal in OPERATORS | _CHECKS | {"else", "then", "where", "for", "when"}
        or token.terminal in found.tables.first("item")
        or previous.terminal in OPERATORS | {"when", "if"}
    )


def _negated(found: Found) -> bool:
    return found.token.terminal == "not" and found.back(1) == "is"


def reserved(found: Found) -> str | None:
    """A reserved word used as a name must be quoted."""
    previous = found.previous
    if is_reserved_name(found):
        word = found.token.text
    elif previous and previous.terminal in FOLDERS and found.expected == {"("}:
        word = previous.text
        if found.is_name(found.token):
            kind = f"{word}({found.token.text}.… for {found.token.text}: T)"
            return f"Write `{kind}` to go over things."
    else:
        return None
    return f"`{word}` is a reserved word: write it in backquotes to use it as a name."


def misspelt(found: Found) -> str | None:
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
    if previous and _begins_statement(found) and token.terminal not in (".", ")", "}"):
        known = sorted(EFFECTS | WORLD | STEPS | {"else", "during", "when", "where"})
        return _did_you_mean(previous.text, known)
    return None


def _begins_statement(found: Found) -> bool:
    """Whether the token before may be the first word of a statement that went wrong."""
    previous = found.previous
    if previous is None or previous.terminal != "NAME" or len(found.before) < 2:
        return False
    earlier = found.before[-2].terminal
    return earlier != "." and earlier not in found.tables.keywords - {"endless"}


def _did_you_mean(word: str, known: list[str]) -> str | None:
    near = closest(word, known, at_most=1)
    return f"Did you mean `{near[0]}`?" if near else None


def letter_case(found: Found) -> str | None:
    """Types begin with a capital, everything else does not."""
    terminal, expected = found.token.terminal, found.expected
    if terminal == "TYPE" and "NAME" in expected:
        if found.back(1) in ("(", ",") and _names_after(found, found.following):
            return f"Write the name first, then its type: `x: {_short(found.token)}`."
        return "Begin this name with a small letter: only types begin with a capital."
    is_name = terminal == "NAME" or terminal in found.tables.soft
    if is_name and "TYPE" in expected and "NAME" not in expected:
        return "Begin the name of a type with a capital letter."
    if found.back(1) == "TYPE" and expected == {"."}:
        return "Write a member as `Type.name`, or begin the name with a small letter."
    return None


def _names_after(found: Found, token: Token | None) -> bool:
    return ":" not in found.expected and found.is_name(token)


def _short(token: Token) -> str:
    return token.text if len(token.text) <= 40 else token.text[:39] + "…"
