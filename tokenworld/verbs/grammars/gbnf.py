"""The grammar as GBNF, the notation of llama.cpp, which XGrammar reads as well.

GBNF has no tokens, so that blanks are a matter of the rules: white space and comments may stand
before every sign, and must stand between two words. Whether a word stands at a place is known from
what can begin and end a rule (FIRST and LAST; Aho, Lam, Sethi, Ullman, *Compilers*, section 4.4).
A rule that can begin with either is written twice, `x-w` for words and `x-s` for signs, so that the
first letter decides. Left recursion, which GBNF forbids, becomes repetition, and common
prefixes of alternatives are written once.

The parser accepts all texts of this grammar. The grammar lacks one layout that the parser accepts:
a word that touches a bracket or a string before it, `f(x)and y`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, assert_never, cast

from tokenworld.verbs.grammars.dialects import NAME, keywords_of, not_a_word

_NEW_RULE: Final = re.compile(r"^[?!]*([A-Za-z_0-9]+)\s*:(.*)$")
_TOKENS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|/(?:[^/\\]|\\.)+/|[A-Za-z_0-9]+|[|()*+?]')
_BLANKS: Final = r"""ws ::= ([ \t\r\n] | "#" [^\n]* "\n")*
ws1 ::= ([ \t\r\n] | "#" [^\n]* "\n")+"""


Sign = Literal["*", "+", "?"]


@dataclass(frozen=True, slots=True)
class Token:
    """A terminal: its text or pattern, and whether it begins and ends like a word."""

    text: str
    begins: bool
    ends: bool
    pattern: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """The name of another rule."""

    name: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """Parts one after the other; none: nothing."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several."""

    ways: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part with ``*``, ``+`` or ``?``."""

    part: Node
    sign: Sign


Node = Token | Rule | Sequence | Choice | Repeat


def gbnf_grammar(grammar: str) -> str:
    """Return a grammar in lark's notation as GBNF; ``root`` is its start.

    Raises `ValueError` for notation that it does not know, and for left recursion by way of another
    rule.
    """
    return _Writer(_read(grammar), skips="%ignore" in grammar).text()


# ---- reading lark's notation ---------------------------------------------------------------------


def _read(grammar: str) -> dict[str, Node]:
    """Return the rules and terminals of a grammar."""
    written: dict[str, str] = {}
    name = ""
    for line in re.sub(r"(^|\s)//[^\n]*", r"\1", grammar).split("\n"):
        found = _NEW_RULE.match(line)
        if found is not None:
            name = found[1]
            written[name] = found[2]
        elif line.startswith("%"):
            name = ""
        elif name:
            written[name] += f" {line.strip()}"
    keywords = keywords_of(grammar)
    free = NAME.partition(": ")[2]
    return {
        name: Token(not_a_word(keywords), True, True, True)
        if name == "NAME" and text.strip() == free
        else _unrecursed(name, _Reader(text).choice())
        for name, text in written.items()
    }


class _Reader:
    """Reads the right side of one rule."""

    def __init__(self, text: str) -> None:
        plain = re.sub(r"->\s*[a-z_]+", "", text)
        if strange := _TOKENS.sub("", plain).strip():
            raise ValueError(f"`{strange}` is no notation that can be read")
        self.tokens = _TOKENS.findall(plain)
        self.place = 0

    def choice(self) -> Node:
        ways = [self._sequence()]
        while self._peek() == "|":
            self.place += 1
            ways.append(self._sequence())
        return ways[0] if len(ways) == 1 else Choice(tuple(ways))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self._peek() not in ("", "|", ")"):
            part = self._part()
            sign = self._peek()
            if sign in ("*", "+", "?"):
                self.place += 1
                part = Repeat(part, cast(Sign, sign))
            parts.append(part)
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _part(self) -> Node:
        token = self._peek()
        self.place += 1
        if token == "(":
            inner = self.choice()
            self.place += 1
            return inner
        if token.startswith('"'):
            text = token[1:-1].encode().decode("unicode_escape") if "\\" in token else token[1:-1]
            return Token(text, _in_word(text[0]), _in_word(text[-1]))
        if token.startswith("/"):
            return _pattern(token[1:-1])
        return Rule(token)

    def _peek(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""


def _in_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _pattern(text: str) -> Token:
    """Return a regular expression of classes, groups and letters as GBNF."""
    parts = re.findall(r"\[(?:[^\]\\]|\\.)*\]|\\.|.", text)
    shown = "".join(_escaped(one) for one in parts)
    first = text.lstrip("(")
    begins = first[0] == "[" or _in_word(first[0])
    last = text.rstrip("+*?)")
    return Token(shown, begins, last[-1] == "]" or _in_word(last[-1]), pattern=True)


def _escaped(part: str) -> str:
    if part[0] == "[" or part in ("(", ")", "*", "+", "?", "|"):
        return part
    if part == ".":
        return r"[^\n]"
    return _quoted(part[1] if part[0] == "\\" else part)


def _quoted(text: str) -> str:
    signs = {'"': r"\"", "\\": r"\\", "\n": r"\n", "\t": r"\t", "\r": r"\r"}
    return f'"{"".join(signs.get(one, one) for one in text)}"'


def _unrecursed(name: str, node: Node) -> Node:
    """Rewrite ``a: b | a c`` as ``a: b c*``."""
    tails, heads = [], []
    for parts in _ways(node):
        if parts and parts[0] == Rule(name):
            tails.append(parts[1:])
        else:
            heads.append(parts)
    if not tails:
        return _factored(heads)
    return Sequence((_factored(heads), Repeat(_factored(tails), "*")))


def _ways(node: Node) -> list[tuple[Node, ...]]:
    """Return the alternatives of a node, each as a row of parts."""
    ways = node.ways if isinstance(node, Choice) else (node,)
    return [way.parts if isinstance(way, Sequence) else (way,) for way in ways]


def _factored(ways: list[tuple[Node, ...]]) -> Node:
    """Return the alternatives, with a common beginning written once: a decoder follows every one
    that is possible, and each of them anew in each of its parts."""
    by_head: dict[Node, list[tuple[Node, ...]]] = {}
    for way in ways:
        by_head.setdefault(way[0], []).append(way[1:])
    found: list[Node] = []
    for head, rests in by_head.items():
        full = [rest for rest in rests if rest]
        parts: tuple[Node, ...] = (head,)
        if full:
            tail = _factored(full)
            parts += (tail,) if len(full) == len(rests) else (Repeat(tail, "?"),)
        found.append(_in_row(parts))
    return found[0] if len(found) == 1 else Choice(tuple(found))


def _in_row(parts: tuple[Node, ...]) -> Node:
    """Return a row of parts, with rows in it taken apart."""
    flat: list[Node] = []
    for part in parts:
        flat += part.parts if isinstance(part, Sequence) else (part,)
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


# ---- writing GBNF --------------------------------------------------------------------------------


Kind = Literal["w", "s"]
"""The kind of a token's first or last character: like a word, or like a sign."""
Kinds = frozenset[Kind]
_NONE: Final[Kinds] = frozenset()


class _Writer:
    """Writes the rules that are used, each for the kinds of tokens that can begin it."""

    def __init__(self, rules: Mapping[str, Node], *, skips: bool) -> None:
        self.rules, self.skips = rules, skips
        self.first = self._settled(forward=True)
        self.last = self._settled(forward=False)
        self.asked: dict[tuple[str, Kind], None] = {}

    def text(self) -> str:
        """Return the whole grammar: the rules that are used, in the order of their first use."""
        start = self._joined(Rule("start"), _NONE)
        body = f'({start})? ws ("#" [^\\n]*)?' if self.skips else start
        lines: dict[tuple[str, Kind], str] = {}
        while missing := [one for one in self.asked if one not in lines]:
            for name, kind in missing:
                shown = self._shown(self.rules[name], kind)
                lines[name, kind] = f"{self._named(name, kind)} ::= {shown}"
        return (
            "\n".join([f"root ::= {body}", *lines.values(), *([_BLANKS] if self.skips else [])])
            + "\n"
        )

    def _shown(self, node: Node, kind: Kind) -> str | None:
        """Return a node as GBNF, with a first token of one kind; ``None`` if it has none."""
        match node:
            case Token():
                if (kind == "w") != node.begins:
                    return None
                text = node.text if node.pattern else _quoted(node.text)
                return f"(ws {text})" if self.skips and kind == "s" else text
            case Rule():
                if kind not in self.first[node.name]:
                    return None
                self.asked[node.name, kind] = None
                return self._named(node.name, kind)
            case Choice():
                return _either([self._shown(way, kind) for way in node.ways])
            case Repeat():
                return self._row((node,), kind)
            case Sequence():
                return self._row(node.parts, kind)
        assert_never(node)

    def _row(self, parts: tuple[Node, ...], kind: Kind) -> str | None:
        """Return a sequence of parts whose first token is of one kind."""
        if not parts:
            return None
        head, rest = parts[0], parts[1:]
        if not isinstance(head, Repeat):
            shown = self._shown(head, kind)
            return None if shown is None else f"{shown}{self._behind(rest, self._last(head))}"
        shown = self._shown(head.part, kind)
        last = self._last(head.part)
        some = None if shown is None else f"{shown}{self._again(head)}{self._behind(rest, last)}"
        return some if head.sign == "+" else _either([some, self._row(rest, kind)])

    def _behind(self, parts: tuple[Node, ...], last: Kinds) -> str:
        """Return the parts of a row after a token of these kinds."""
        shown = ""
        for part in parts:
            if isinstance(part, Repeat):
                some = f"{self._joined(part.part, last)}{self._again(part)}"
                shown += f" ({some}){'' if part.sign == '+' else '?'}"
                last = self._last(part.part) | (_NONE if part.sign == "+" else last)
            else:
                shown += f" {self._joined(part, last)}"
                last = self._last(part)
        return shown

    def _again(self, node: Repeat) -> str:
        """Return the second and later times of a part."""
        if node.sign == "?":
            return ""
        return f" ({self._joined(node.part, self._last(node.part))})*"

    def _joined(self, node: Node, last: Kinds) -> str:
        """Return a node after a token of these kinds, with the blanks that a word needs first."""
        word, sign = self._shown(node, "w"), self._shown(node, "s")
        if word is not None and self.skips:
            word = f"{'ws1' if 'w' in last else 'ws'} {word}"
        found = _either([word, sign])
        assert found is not None
        return found

    def _named(self, name: str, kind: Kind) -> str:
        """Return a name of GBNF: no underscores, terminals apart from rules, the kind if both are
        there."""
        plain = name.lower().replace("_", "-")
        both = f"-{kind}" if len(self.first[name]) > 1 else ""
        return f"{'t-' if name.isupper() else ''}{plain}{both}"

    # ---- what begins and ends a node -------------------------------------------------------------

    def _settled(self, *, forward: bool) -> dict[str, Kinds]:
        """Return for each rule the kinds of its first tokens, or of its last ones."""
        found: dict[str, Kinds] = dict.fromkeys(self.rules, _NONE)
        changed = True
        while changed:
            before = dict(found)
            for name, node in self.rules.items():
                found[name] = _edge(node, found, forward=forward)
            changed = before != found
        return found

    def _last(self, node: Node) -> Kinds:
        return _edge(node, self.last, forward=False)


def _edge(node: Node, known: Mapping[str, Kinds], *, forward: bool) -> Kinds:
    """Return the kinds of the tokens at one edge of a node."""
    match node:
        case Token():
            return frozenset(("w" if (node.begins if forward else node.ends) else "s",))
        case Rule():
            return known[node.name]
        case Choice():
            return _NONE.union(*(_edge(way, known, forward=forward) for way in node.ways))
        case Repeat():
            return _edge(node.part, known, forward=forward)
        case Sequence():
            found = _NONE
            for part in node.parts if forward else reversed(node.parts):
                found |= _edge(part, known, forward=forward)
                if not (isinstance(part, Repeat) and part.sign != "+"):
                    break
            return found
    assert_never(node)


def _either(ways: Iterable[str | None]) -> str | None:
    """Join the alternatives that are not ``None``."""
    found = list(dict.fromkeys(way for way in ways if way is not None))
    if len(found) < 2:
        return found[0] if found else None
    return f"({' | '.join(found)})"
