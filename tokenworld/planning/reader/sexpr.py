"""Parse PDDL text to nested lists with places; collect its faults.

Nothing here recurses, so deep input is no danger.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Union

from tokenworld.check.cascades import said_once
from tokenworld.diagnostics import (
    Diagnostic,
    Related,
    Severity,
    Source,
    Span,
    closest,
    did_you_mean,
    has_errors,
    in_order,
    severity_of,
)
from tokenworld.diagnostics.frozen import frozen

# ---- faults ------------------------------------------------------------------------------------

_MOST = 40


class Skip(Exception):
    """The part being read is unusable and was reported; the reader continues after it."""


class Faults:
    """The findings of one file, in the order of discovery.

    Names are looked up while the text is read; errors in them are reported only if the text can be
    read as a whole.
    """

    def __init__(self) -> None:
        self._syntax: list[Diagnostic] = []
        self._names: list[Diagnostic] = []

    @property
    def found(self) -> tuple[Diagnostic, ...]:
        """The diagnostics to report, in the order of places."""
        names = () if has_errors(self._syntax) else self._names
        return said_once(in_order((*self._syntax, *names)))

    def tell(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        label: str | None = None,
        hint: str | None = None,
        related: tuple[Related, ...] = (),
        severity: Severity | None = None,
        names: bool = False,
    ) -> None:
        """Report one finding, of ``names`` or of the text as such.

        A text that is no PDDL at all is not reported word by word.
        """
        found = self._names if names else self._syntax
        if len(found) < _MOST:
            kind = severity or severity_of(code)
            found.append(
                Diagnostic(code, message, span, label, hint=hint, related=related, severity=kind)
            )

    def unexpected(self, what: str, span: Span, hint: str) -> Skip:
        """Report TW0101 on an unexpected item; return the exception that leaves the part."""
        self.tell("TW0101", what, span, hint=hint)
        return Skip()

    def unsupported(self, what: str, span: Span, hint: str) -> Skip:
        """TW0810: legal PDDL that has no counterpart in a `.tw` file."""
        self.tell("TW0810", f"{what} is not supported.", span, hint=hint)
        return Skip()

    def unknown(self, kind: str, name: Word, known: Iterable[str], or_else: str) -> None:
        """TW0201, or TW0202 for types: a name without a declaration."""
        code = "TW0202" if kind == "type" else "TW0201"
        hint = did_you_mean(name.text, sorted(known)) or or_else
        message = f"There is no {kind} `{name.text}`."
        self.tell(code, message, name.span, label="unknown", hint=hint, names=True)

    def twice(self, kind: str, name: Word, first: Span) -> None:
        """TW0203: one name for two things of a kind."""
        related = (Related(first, "the first one"),)
        message = f"The {kind} `{name.text}` is declared twice."
        hint = "Remove or rename one of the two."
        self.tell(
            "TW0203", message, name.span, label="again", hint=hint, related=related, names=True
        )


# ---- sexpr -------------------------------------------------------------------------------------

_TOKEN = re.compile(r"\s+|;[^\n]*|([()])|(\??[^\s();?\"`'{}\[\]]+|\?)")
# A variable may touch the word before it, as in `(aircraft?a)`.
_DEEPEST = 60


@frozen
class Word:
    """A name, a number, a variable, a keyword or a sign: everything but parentheses."""

    text: str
    span: Span

    @property
    def key(self) -> str:
        """The word as PDDL compares it: without regard to case."""
        return self.text.lower()


@frozen
class Group:
    """A parenthesised list; ``span`` covers both parentheses."""

    items: tuple[Item, ...]
    span: Span

    @property
    def head(self) -> str:
        """The first word in lower case; empty if the list does not begin with one."""
        return self.items[0].key if self.items and isinstance(self.items[0], Word) else ""


Item = Union[Word, Group]  # noqa: UP007  (a recursive alias needs it before Python 3.12)


@dataclass(slots=True)
class _Open:
    start: int
    items: list[Item]


class _Nest:
    """Builds groups from tokens. A section or a field that begins too deep closes the groups left
    open, and one that begins too high opens again the group that was closed before it."""

    def __init__(self, source: Source, faults: Faults) -> None:
        self.source, self.faults = source, faults
        self.top: list[Item] = []
        self.open: list[_Open] = []
        self.unbalanced = False
        lengths = [len(line) + 1 for line in source.text.split("\n")]
        self._ends, self._line = list(accumulate(lengths)), 0

    def begin(self, at: int) -> None:
        if len(self.open) == _DEEPEST:
            what = f"The text nests more than {_DEEPEST} lists."
            self.faults.tell("TW0810", what, self.source.span(at, at + 1), hint="Nest less deeply.")
        self.open.append(_Open(at, []))

    def end(self, at: int) -> None:
        if not self.open:
            what, hint = "A `)` closes nothing.", "Remove it, or open a list before it."
            self._unbalanced(what, self.source.span(at, at + 1), "no list is open here", hint)
            return
        last = self.open.pop()
        keep = len(self.open) < _DEEPEST
        group = Group(tuple(last.items) if keep else (), self.source.span(last.start, at + 1))
        self._into(group)

    def word(self, text: str, at: int) -> None:
        if "," in text:
            what, hint = "PDDL has no commas.", "Remove the comma: blanks stand between names."
            self.faults.tell("TW0103", what, self._on_line(at, at + len(text)), hint=hint)
            text = text.replace(",", "") or "-"
        key = text.lower()
        if key in _SECTIONS and len(self.open) > 2:
            self._left_open()
        elif key in _FIELDS and len(self.open) > 2 and _head(self.open[1].items) in _RULES:
            self._lacks(at, 2)
        self._closed_early(key)
        self._into(Word(text, self._on_line(at, at + len(text))))

    def _on_line(self, at: int, end: int) -> Span:
        """The place of a word; they come in order, so that its line is the last one or a later."""
        ends = self._ends
        while ends[self._line] <= at:
            self._line += 1
        line = self._line
        column = at - (ends[line - 1] if line else 0) + 1
        return Span(self.source.name, at, end, line + 1, column, line + 1, column + end - at)

    def _into(self, item: Item) -> None:
        (self.open[-1].items if self.open else self.top).append(item)

    def _left_open(self) -> None:
        """``(:action`` inside another section: a parenthesis of that one is missing."""
        inner = self.open.pop()
        if inner.items:
            self.open.append(inner)
            return
        self._lacks(inner.start, 1)
        self.open.append(inner)

    def _lacks(self, at: int, depth: int) -> None:
        """Report a missing `)` before an offset, and close the lists that are open deeper than
        ``depth``."""
        end = len(self.source.text[:at].rstrip())
        begun = self.open[depth].start
        related = (Related(self.source.span(begun, begun + 1), "this list is left open"),)
        what = "A `)` is missing: the next part begins inside a list."
        span, label = self.source.span(end - 1, end), "`)` is missing after this"
        self._unbalanced(what, span, label, "Close the list with `)`.", related)
        while len(self.open) > depth:
            self.end(end - 1)

    def _closed_early(self, word: str) -> None:
        """A word that stands too high: a `)` too many has closed the list before it."""
        begins = bool(self.open) and not self.open[-1].items
        around = self.open[:-1] if begins else self.open
        items = around[-1].items if around else self.top
        last = items[-1] if items else None
        if not isinstance(last, Group) or not _continues(word, last, len(around), begins, items):
            return
        if len(around) == 2 and begins and last.head not in ("and", "or"):
            hint = "Write `(and` before the first of them, and `)` after the last."
            what = "Several conditions or effects stand side by side."
            self._unbalanced(what, last.span, "the first of them", hint)
            return
        items.pop()
        self.open.insert(len(around), _Open(last.span.start, list(last.items)))
        end = last.span.end
        what, label = "A `)` too many ends the list before its last part.", "one `)` too many"
        span, hint = self.source.span(end - 1, end), "Remove this `)`."
        self._unbalanced(what, span, label, hint)

    def _unbalanced(
        self, what: str, span: Span, label: str, hint: str, related: tuple[Related, ...] = ()
    ) -> None:
        """Report a parenthesis too many or too few; the others may follow from the first."""
        if not self.unbalanced:
            self.faults.tell("TW0101", what, span, label=label, hint=hint, related=related)
        self.unbalanced = True

    def finish(self) -> None:
        if self.open:
            start, end = self.open[-1].start, len(self.source.text.rstrip())
            begun = Related(self.source.span(start, start + 1), "this list is left open")
            what = "The text ends inside a list: a `)` is missing."
            span, hint = self.source.span(end - 1, end), "Close the list, here or where it ends."
            self._unbalanced(what, span, "the end", hint, (begun,))
        while self.open:
            self.end(len(self.source.text) - 1)


_SECTIONS = frozenset(
    (
        *(":action", ":durative-action", ":derived", ":process", ":event", ":axiom"),
        *(":predicates", ":functions", ":types", ":constants", ":requirements"),
        *(":init", ":goal", ":objects", ":metric", ":domain"),
    )
)


_RULES = frozenset({":action", ":durative-action"})
_FIELDS = frozenset({":parameters", ":precondition", ":effect", ":duration", ":condition"})
_SINGLE = frozenset({*_RULES, ":goal", ":constraints"})
"""Sections in which no list follows right after another one."""


def _head(items: list[Item]) -> str:
    return items[0].key if items and isinstance(items[0], Word) else ""


def _continues(word: str, last: Group, depth: int, begins: bool, items: list[Item]) -> bool:
    """Return whether a word belongs to the list before it; ``begins``: the word begins a list."""
    if not begins:
        return depth == 1 and word in _FIELDS and last.head in _RULES
    if depth == 0:
        return last.head == "define" and word != "define"
    if depth == 1:
        colon = f":{word}"  # is all that is missing?
        plain = not word.startswith(":") and not closest(colon, _SECTIONS)
        return plain and colon not in _SECTIONS and last.head in _SECTIONS
    return depth == 2 and _head(items) in _SINGLE


def _strange(source: Source, faults: Faults, start: int, end: int) -> None:
    """The characters between two tokens: none of them begins one."""
    for at in range(start, end):
        what = f"The character `{source.text[at]}` has no meaning in PDDL."
        if source.text[at] == "`":
            what = "A backquote has no meaning in PDDL."
        faults.tell("TW0103", what, source.span(at, at + 1), hint="Remove it.")


def read_items(source: Source, faults: Faults) -> tuple[Item, ...]:
    """Return the items at the top of a text; faults of its parentheses go to ``faults``."""
    nest, at = _Nest(source, faults), 0
    for found in _TOKEN.finditer(source.text):
        start, end = found.span()
        if start > at:
            _strange(source, faults, at, start)
        match found.lastindex:
            case 2:
                nest.word(found[2], start)
            case 1:
                (nest.begin if found[1] == "(" else nest.end)(start)
            case _:  # a blank or a comment
                pass
        at = end
    _strange(source, faults, at, len(source.text))
    nest.finish()
    return tuple(nest.top)
