"""The kinds of tokens that editors and highlighters colour, from the grammar and its lexer.

The TextMate grammar and the Pygments lexer (`tokenworld.protocols.editors`) and the source pane of
play are made of `rules`, so a text has the same colours in an editor, in the docs and on a screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final, Literal, get_args

from tokenworld.assets import grammar_path
from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.nodes import Article
from tokenworld.syntax.tables import tables
from tokenworld.verbs.grammars.dialects import keywords_of

Kind = Literal[
    "doc", "comment", "string", "raw", "number", "constant", "primitive", "fold", "operator",
    "declaration", "keyword", "type", "name", "brace", "mark",
]  # fmt: skip

_TERMINALS: Final[dict[str, Kind]] = {
    "COMMENT": "comment", "STRING": "string", "RAW": "raw", "QUANTITY": "number",
    "PERCENT": "number", "NUMBER": "number", "TYPE": "type", "NAME": "name", "literal": "mark",
}  # fmt: skip
_WORDS: Final[dict[Kind, tuple[str, ...]]] = {
    "constant": ("constant",),
    "primitive": ("primitive", "scalar"),
    "fold": ("folder",),
    "operator": ("or_expr", "and_expr", "not_expr", "comparison", "operand", "product"),
}
"""The grammar rules whose keywords are of one kind."""
_IMPLIES: Final = ("implies", "was")
"""Operators of rules that have other keywords too."""
_BRACES: Final = "()[]{}"
ARTICLE: Final = rf"(?:{'|'.join(filter(None, get_args(Article)))}|list)(?= +[A-Za-z`])"
"""The text that may precede the value in a slot of a text."""
_DEFINED: Final = re.compile(r"^[!?]?(\w+):(.*(?:\n[ \t]+\|.*)*)", re.MULTILINE)
_GROUP: Final = re.compile(r"\(\?P<(\w+)>")


@frozen
class Rule:
    """A regular expression of one kind of token; the first one that matches counts."""

    kind: Kind
    pattern: str


def kind_of(terminal: str, text: str) -> Kind:
    """Return the kind of a token of our lexer, or of a comment."""
    if terminal == "COMMENT":
        return "doc" if text.startswith("##") else "comment"
    known = _kinds_of_words().get(terminal)
    if known is not None:
        return known
    if terminal in _TERMINALS:
        return _TERMINALS[terminal]
    return "brace" if terminal in _BRACES else "mark"


@cache
def rules() -> tuple[Rule, ...]:
    """Return the rules in the order in which the lexer tries them; white space has none."""
    found: list[Rule] = []
    for name, pattern in _groups():
        if name == "COMMENT":
            found += [Rule("doc", f"#{pattern}"), Rule("comment", pattern)]
        elif name == "NAME":
            words = _kinds_of_words()
            kinds = dict.fromkeys(words.values())
            found += [Rule(kind, _any(w for w, k in words.items() if k == kind)) for kind in kinds]
            found.append(Rule("name", pattern))
        elif name == "literal":
            found += [Rule("brace", rf"[{re.escape(_BRACES)}]"), Rule("mark", pattern)]
        elif name in _TERMINALS:
            found.append(Rule(_TERMINALS[name], pattern))
    return tuple(found)


def pieces(text: str) -> Iterator[tuple[str, Kind | None]]:
    """Cut a line of a text into its tokens, each with its kind; between them ``None``."""
    end = 0
    for found in _pattern().finditer(text):
        if found.start() > end:
            yield text[end : found.start()], None
        assert found.lastgroup is not None
        yield found.group(), rules()[int(found.lastgroup[1:])].kind
        end = found.end()
    if end < len(text):
        yield text[end:], None


@cache
def _pattern() -> re.Pattern[str]:
    """All rules as one pattern, with a group for each."""
    return re.compile("|".join(f"(?P<k{at}>{one.pattern})" for at, one in enumerate(rules())))


def _groups() -> list[tuple[str, str]]:
    """Return the named groups of the lexer's pattern, in order."""
    pattern = tables().pattern.pattern
    starts = list(_GROUP.finditer(pattern))
    ends = [one.start() for one in starts[1:]] + [len(pattern) + 1]
    return [(one[1], pattern[one.end() : end - 2]) for one, end in zip(starts, ends, strict=True)]


def _any(words: Iterable[str]) -> str:
    return f"(?:{'|'.join(sorted(words))})(?![A-Za-z0-9_])"


@cache
def _kinds_of_words() -> Mapping[str, Kind]:
    """Return the kind of each keyword of the grammar."""
    grammar = grammar_path().read_text(encoding="utf-8")
    defined = {name: keywords_of(body) for name, body in _DEFINED.findall(grammar)}
    found: dict[str, Kind] = dict.fromkeys(sorted(tables().keywords), "keyword")
    found |= dict.fromkeys(sorted(tables().first("item") & tables().keywords), "declaration")
    found |= dict.fromkeys(_IMPLIES, "operator")
    for kind, names in _WORDS.items():
        found |= {word: kind for name in names for word in defined[name]}
    return found
