"""An unexpected token and its surroundings, and the words in which tokens are spoken of."""

from __future__ import annotations

from typing import Final

from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.tables import END, Tables
from tokenworld.syntax.tree import Token

NUMBERS: Final = frozenset({"NUMBER", "PERCENT", "QUANTITY"})
COMPARE: Final = frozenset({"==", "!=", "<=", ">=", "<", ">"})
CALCULATE: Final = frozenset({"+", "-", "*", "/", "div", "mod"})
OPERATORS: Final = COMPARE | CALCULATE | {"in", "is", "and", "or", "implies"}
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
    """What stands there, in words."""
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
