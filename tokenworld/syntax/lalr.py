"""Tokens, concrete trees, and the LALR(1) automaton that makes the trees of the tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tokenworld.diagnostics import Diagnostic, Source
from tokenworld.diagnostics.limits import DIGIT_LIMIT
from tokenworld.syntax.tables import END, Start, Tables

BAD: Final = "$BAD"


class Token:
    """One token: the name of its terminal, its text, and its place as character offsets.

    Punctuation and keywords are named by their own text. A token of the terminal `BAD` stands
    for characters that were reported already.
    """

    __slots__ = ("end", "start", "terminal", "text")

    def __init__(self, terminal: str, text: str, start: int, end: int) -> None:
        self.terminal = terminal
        self.text = text
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"Token({self.terminal!r}, {self.text!r}, {self.start})"


class Tree:
    """One application of a rule: all its tokens and trees in order, none left out."""

    __slots__ = ("end", "kids", "kind", "start")

    def __init__(self, kind: str, kids: list[Kid], start: int, end: int) -> None:
        self.kind = kind
        self.kids = kids
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"Tree({self.kind!r}, {self.kids!r})"

    def trees(self, kind: str) -> list[Tree]:
        """The trees of one kind directly below."""
        return [kid for kid in self.kids if isinstance(kid, Tree) and kid.kind == kind]

    def find(self, kind: str) -> Tree | None:
        """The first tree of one kind directly below."""
        for kid in self.kids:
            if isinstance(kid, Tree) and kid.kind == kind:
                return kid
        return None

    def get(self, kind: str) -> Tree:
        """The tree of one kind directly below, which the grammar says is there."""
        found = self.find(kind)
        if found is None:
            raise LookupError(f"`{self.kind}` has no `{kind}`")
        return found

    def has(self, terminal: str) -> bool:
        """Return whether a token of this terminal stands directly below."""
        return any(isinstance(kid, Token) and kid.terminal == terminal for kid in self.kids)

    def after(self, terminal: str) -> Kid | None:
        """The child after the first token of this terminal."""
        kids = self.kids
        for i, kid in enumerate(kids):
            if isinstance(kid, Token) and kid.terminal == terminal:
                return kids[i + 1]
        return None

    def all_after(self, *terminals: str) -> list[Kid]:
        """The children after each token of these terminals, in order."""
        kids = self.kids
        return [
            kids[i + 1]
            for i, kid in enumerate(kids[:-1])
            if isinstance(kid, Token) and kid.terminal in terminals
        ]

    def strings(self) -> list[Token]:
        """The quoted texts directly below."""
        return [kid for kid in self.kids if isinstance(kid, Token) and kid.terminal == "STRING"]


Kid = Token | Tree


# ---- Text to tokens. Characters that begin no token are reported and stepped over ----------------


# A text that is no program at all is not reported character by character.
ERROR_LIMIT: Final = 20

_SKIPPED = frozenset({"COMMENT", "__IGNORE_1"})
_NUMBERS = frozenset({"NUMBER", "PERCENT", "QUANTITY"})
_OPERATORS: Final = {
    "&": "Write `and`.",
    "|": "Write `or`.",
    "!": "Write `not`.",
    "%": "Write `mod` for a remainder, or put the `%` right after its number; a name needs none.",
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
    """The end of a stretch of bad characters: an open quote makes all of its line bad."""
    if text[start] in '"`':
        newline = text.find("\n", start, end)
        return newline if newline >= 0 else end
    if text[start] in _QUOTES or (text[start] == "'" and not _POSSESSED.match(text, start, end)):
        # A text in other quotes is one mistake, not two.
        close = _QUOTED.match(text, start, end)
        if close:
            return close.end()
    position = start + 1
    while position < end and text[position] not in '"`':
        # A letter after a bad one is most likely part of the same foreign word.
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
        return _in_context(text, start, end) or _OPERATORS[first]
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


def _in_context(text: str, start: int, end: int) -> str | None:
    """Advise on an operator that means something else where it stands."""
    line = text[text.rfind("\n", 0, start) + 1 : start]
    owner = re.search(r"([A-Za-z]\w*)\s*$", line)
    if text[start] == "|" and _NONE.match(text, end) and owner:
        return f"Write `{owner.group(1)[:40]}?`." if owner.group(1)[0].isupper() else "Write `T?`."
    if text[start] == "|" and re.search(r"\bNone\s*$", line):
        return "Write `T?`."
    if text[start] == ";" and re.match(r"\s*enum\b", line):
        return "Write a comma between the members."
    if text[start] == ";" and line.count("(") > line.count(")"):
        return "Write a comma."
    if text[start] == "&" and re.search(r"[:(,=]\s*$", line):
        return "Remove it: a name stands for the thing itself."
    if text[start] == "|" and (bars := re.match(r"\|([^|\n]{1,40})\|(?!\|)", text[start:])):
        return f"Write `abs({bars[1].strip()})`."
    possessed = _POSSESSED.match(text, start)
    if possessed and owner:
        return f"Write a point: `{owner.group(1)[:20]}.{possessed.group(1)[:20]}`."
    return None


_NONE: Final = re.compile(r"\s*(None|none|null|nil|undefined)\b")
_POSSESSED: Final = re.compile(r"'s\s+([a-z]\w*)")


def _long_number(source: Source, start: int, end: int) -> Diagnostic:
    return Diagnostic(
        "TW0103",
        f"The number has {end - start} digits; the limit is {DIGIT_LIMIT}.",
        source.span(start, end),
        label="too long",
        hint="Use a shorter number.",
    )


# ---- machine -------------------------------------------------------------------------------------
# The LALR(1) automaton reads tokens and returns one concrete tree, or the tokens it would accept.


class Machine:
    """Parses one item or one expression, token by token.

    A token that does not fit changes nothing that matters: the caller reports it and drops the
    machine. Nothing here recurses, so the depth of the input is not limited by Python's stack.
    """

    __slots__ = ("_end_state", "_start_state", "_states", "_tables", "_values")

    def __init__(self, tables: Tables, start: Start) -> None:
        self._tables = tables
        self._start_state, self._end_state = tables.starts[start]
        self._states = [self._start_state]
        self._values: list[Kid | list[Kid]] = []

    def feed(self, token: Token) -> bool:
        """Take one token; False if no rule allows it here."""
        states, tables = self._states, self._tables
        actions, rules, climbs = tables.actions, tables.rules, tables.climbs
        terminal = token.terminal
        while True:
            action = actions[states[-1]].get(terminal)
            if action is None:
                return False
            if action >= 0:
                states.append(action)
                self._values.append(token)
                return True
            if rules[~action].keep:
                way = (states[-2], states[-1], terminal)
                states[-1] = climbs.get(way) or self._climb(way)
            else:
                self._reduce(~action)

    def _climb(self, way: tuple[int, int, str]) -> int:
        """The state after all `?rule`s that pass a symbol on, one after another.

        A name in an expression climbs through a dozen levels of operators; where it comes out
        depends on the two topmost states and the next token only, so it is found once.
        """
        below, state, terminal = way
        tables = self._tables
        while True:
            action = tables.actions[state].get(terminal)
            if action is None or action >= 0 or not tables.rules[~action].keep:
                break
            state = tables.gotos[below][tables.rules[~action].origin]
        tables.climbs[way] = state
        return state

    def finish(self) -> Kid | None:
        """End the input here: the tree of the whole, or None if something is missing."""
        states, actions = self._states, self._tables.actions
        while states[-1] != self._end_state:
            action = actions[states[-1]].get(END)
            if action is None or action >= 0:
                return None
            self._reduce(~action)
        (value,) = self._values
        return value if not isinstance(value, list) else None

    def expected(self) -> frozenset[str]:
        """Every terminal (`END` too) that could come next, found by trying each in turn."""
        terminals = {t for state in self._states[-1:] for t in self._tables.actions[state]}
        return frozenset(t for t in terminals if self._would_take(t))

    def _would_take(self, terminal: str) -> bool:
        """Run the automaton without values, since a reduction may be taken in vain."""
        return advanced(self._tables, self._states, terminal, self._end_state) is not None

    def _reduce(self, number: int) -> None:
        kind, size, origin, keep, splice = self._tables.rules[number]
        states, values = self._states, self._values
        if keep:
            # `?rule` with a single symbol: the value stays as it is.
            states.pop()
        elif size == 1:
            value = values[-1]
            kids = value if isinstance(value, list) else [value]
            values[-1] = kids if splice else Tree(kind, kids, kids[0].start, kids[-1].end)
            states.pop()
        else:
            kids = _spliced(values[-size:])
            del values[-size:], states[-size:]
            values.append(kids if splice else Tree(kind, kids, kids[0].start, kids[-1].end))
        states.append(self._tables.gotos[states[-1]][origin])


def advanced(
    tables: Tables, stack: Sequence[int], terminal: str, end: int | None = None
) -> list[int] | None:
    """The stack after a terminal, without values; None if no rule allows the terminal here.

    ``end`` is the state in which the input may end: that of an item, if nothing is said.
    """
    states, last = list(stack), tables.starts["item"][1] if end is None else end
    rules, actions, gotos = tables.rules, tables.actions, tables.gotos
    while terminal != END or states[-1] != last:
        action = actions[states[-1]].get(terminal)
        if action is None:
            return None
        if action >= 0:
            states.append(action)
            return states
        rule = rules[~action]
        del states[len(states) - rule.size :]
        states.append(gotos[states[-1]][rule.origin])
    return states


def _spliced(values: list[Kid | list[Kid]]) -> list[Kid]:
    """The values as one list; a list in first place is grown, which keeps loops linear."""
    first = values[0]
    kids: list[Kid] = first if isinstance(first, list) else [first]
    for value in values[1:]:
        if isinstance(value, list):
            kids += value
        else:
            kids.append(value)
    return kids
