"""Edits of the words around an unexpected one.

Each generator yields edits for one common mistake: a word too many or too few, two words in the
wrong order, a part in the wrong place, a call without parentheses, a text without quotes. An edit
is kept if the parser accepts the text after it; another module tests whether it checks. Its cost
grows with the probability that the author meant something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from tokenworld.diagnostics import Source, closest, edit_distance
from tokenworld.diagnostics.frozen import frozen
from tokenworld.syntax.foreign.words import NUMERALS, items_for
from tokenworld.syntax.lalr import Token, advanced
from tokenworld.syntax.tables import END, Tables

_SIGNS: Final = ("(", ")", "[", "]", "{", "}", ",", ":", "=", "==", ".", "?", "<", "+=", "-=")
_JOINING: Final = (
    "else", "then", "when", "where", "in", "for", "because", "during", "as", "to", "of", "or",
    "and", "say", "add", "remove", "let", "until", "by", "times", "require", "when",
)  # fmt: skip
_BEHIND: Final = 12
"""Words behind an edit that must be read before it is taken seriously."""
_LONGEST: Final = 16
"""Words of a part that stands in the wrong place."""


@frozen
class Broken:
    """The words of an item that was not read, and which one was unexpected.

    ``known`` are names that stand before arguments, ``types`` those of types, ``values`` those of
    members, objects and params.
    """

    source: Source
    tables: Tables
    tokens: Sequence[Token]
    at: int
    known: Collection[str]
    types: Collection[str]
    values: Collection[str]

    def line(self, index: int) -> int:
        """The line of a word."""
        return self.source.line_and_column(self.tokens[index].start)[0]

    def is_name(self, index: int) -> bool:
        """Return whether a word may be a name."""
        inside = 0 <= index < len(self.tokens)
        return inside and self.tokens[index].terminal in self.tables.soft | {"NAME", "RAW"}


@frozen
class Rewrite:
    """Words ``first`` to ``last`` (not included) are replaced by others.

    ``telling`` ones keep all that the author wrote, in another order or form: where such an edit
    fits, it is hardly by chance. A sign more or less fits in many places.
    """

    cost: float
    first: int
    last: int
    words: tuple[Token, ...]
    telling: bool = False


def _word(text: str, terminal: str | None = None) -> Token:
    return Token(terminal or text, text, 0, 0)


def rewrites(broken: Broken) -> list[Rewrite]:
    """The edits behind which the grammar reads on, the likeliest first."""
    reader = _Reader(broken)
    found = dict[tuple[int, int, tuple[str, ...]], Rewrite]()
    for make in _GENERATORS:
        for one in make(broken):
            key = (one.first, one.last, tuple(word.text for word in one.words))
            if key not in found and reader.reads_on(one):
                found[key] = one
    return sorted(found.values(), key=lambda one: one.cost)


class _Reader:
    """The automaton, with its stack before each word of the item."""

    def __init__(self, broken: Broken) -> None:
        self._broken = broken
        start, _ = broken.tables.starts["item"]
        stacks: list[list[int]] = [[start]]
        for token in broken.tokens[: broken.at + 1]:
            stack = advanced(broken.tables, stacks[-1], token.terminal)
            if stack is None:
                break
            stacks.append(stack)
        self._stacks = stacks

    def reads_on(self, edit: Rewrite) -> bool:
        """Return whether the text after the edit parses, up to the end of the item or for some
        words."""
        if edit.first >= len(self._stacks):
            return False
        added = edit.words[0].terminal if len(edit.words) == 1 and edit.first == edit.last else ""
        if added in self._broken.tables.soft and self._goes_on(edit, ["NAME"]):
            return False  # it would be a name, and which one only the author knows
        return self._goes_on(edit, [token.terminal for token in edit.words])

    def _goes_on(self, edit: Rewrite, words: Sequence[str]) -> bool:
        tokens, tables = self._broken.tokens, self._broken.tables
        stack: list[int] | None = self._stacks[edit.first]
        for terminal in words:
            stack = advanced(tables, stack, terminal) if stack is not None else None
        if stack is None:
            return False
        least = max(self._broken.at + 2, edit.last)
        for index in range(edit.last, min(len(tokens), least + _BEHIND)):
            further = advanced(tables, stack, tokens[index].terminal)
            if further is None:
                ended = tokens[index].terminal in tables.first("item")
                return ended and index >= least - 1 and advanced(tables, stack, END) is not None
            stack = further
        at_end = len(tokens) < least + _BEHIND
        return not at_end or advanced(tables, stack, END) is not None


# ---- generators ----------------------------------------------------------------------------------


def _inserted(broken: Broken) -> Iterator[Rewrite]:
    """A sign or a word that is missing."""
    for place in range(broken.at, max(0, broken.at - 4), -1):
        far = 0.3 if place < broken.at else 0.0
        for sign in (one for one in _SIGNS if one not in "{}"):
            yield Rewrite(1.0 + far, place, place, (_word(sign),))
        for number, word in enumerate(_JOINING):
            yield Rewrite(1.2 + far + number / 1000, place, place, (_word(word),))


def _listed(broken: Broken) -> Iterator[Rewrite]:
    """Commas that are missing between several names."""
    first = last = broken.at - 1
    while first < last + 1 <= len(broken.tokens) and broken.is_name(last) and _near(broken, last):
        last += 1
    if last - first > 2:
        names = [(_word(","), token) for token in broken.tokens[first:last]]
        words = tuple(word for pair in names for word in pair)[1:]
        yield Rewrite(0.95, first, last, words, telling=True)


def _left_out(broken: Broken) -> Iterator[Rewrite]:
    """One or two words too many."""
    for first in range(broken.at, max(0, broken.at - 3), -1):
        for last in (first + 1, first + 2):
            if first <= broken.at < last <= len(broken.tokens):
                costs = (_weight(one, broken) for one in broken.tokens[first:last])
                yield Rewrite(sum(costs), first, last, ())


def _weight(token: Token, broken: Broken) -> float:
    if not token.text[:1].isalnum() and token.terminal != "STRING":
        return 1.0
    return 1.6 if token.terminal in broken.tables.keywords else 2.4


def _exchanged(broken: Broken) -> Iterator[Rewrite]:
    """A sign for another one, or a word that is nearly a keyword."""
    for place in (broken.at, broken.at - 1):
        if not 0 < place < len(broken.tokens):
            continue
        token = broken.tokens[place]
        if not token.text[:1].isalnum() or token.terminal == "and":
            yield from (Rewrite(1.1, place, place + 1, (_word(sign),)) for sign in _SIGNS)
        elif token.text.lower() in NUMERALS:
            number = str(NUMERALS.index(token.text.lower()))
            yield Rewrite(0.5, place, place + 1, (_word(number, "NUMBER"),), telling=True)
        elif token.text in broken.tables.reserved:
            for name in closest(token.text, broken.values, at_most=1):
                yield Rewrite(0.9, place, place + 1, (_word(name, "NAME"),))
        elif token.terminal in ("NAME", "TYPE") and len(token.text) > 2:
            for word in sorted(broken.tables.keywords):
                away = edit_distance(token.text.lower(), word, 2)
                if away <= min(2, len(word) // 3):
                    yield Rewrite(0.5 + 0.3 * away, place, place + 1, (_word(word),))


def _chosen(broken: Broken) -> Iterator[Rewrite]:
    """``if c then a else b`` for ``a if c else b``."""
    tokens, at = broken.tokens, broken.at
    here = [k for k in range(max(1, at - 14), min(len(tokens), at + 24)) if _near(broken, k)]
    place = next((k for k in here if tokens[k].terminal == "if"), None)
    other = next((k for k in here if place and k > place and tokens[k].terminal == "else"), None)
    if place is None or other is None:
        return
    for first in range(place - 1, max(0, place - 8), -1):
        if tokens[first - 1].terminal not in ("=", "(", ",", "{", "+=", "-=", "else", "then"):
            continue
        for last in range(other + 2, here[-1] + 2):
            condition, values = tokens[place + 1 : other], (tokens[first:place], tokens[other:last])
            words = (tokens[place], *condition, _word("then"), *values[0], *values[1])
            yield Rewrite(0.7 + last / 1000, first, last, words, telling=True)


def _as_item(broken: Broken) -> Iterator[Rewrite]:
    """A word that begins an item in another language, as ``def`` for ``derive``."""
    if broken.at == 0 and len(broken.tokens) > 1:
        for number, word in enumerate(items_for(broken.tokens[0].text, broken.tables)):
            words = (_word(word), broken.tokens[1])
            yield Rewrite(0.7 + number / 100, 0, 2, words, telling=True)


def hyphened(broken: Broken, at: int) -> Iterator[Rewrite]:
    """A declared name with a hyphen that stands without its backquotes, or one with `_`."""
    first = last = at
    while first > 1 and broken.tokens[first - 1].end == broken.tokens[first].start:
        first -= 1
    while (
        last + 1 < len(broken.tokens) and broken.tokens[last].end == broken.tokens[last + 1].start
    ):
        last += 1
    for begin in range(first, at):
        for end in range(last + 1, at + 1, -1):
            name = "".join(one.text for one in broken.tokens[begin:end])
            if name in broken.known or name in broken.values:
                yield Rewrite(0.6, begin, end, (_word(f"`{name}`", "RAW"),), telling=True)
            plain = name.replace("-", "_")
            if plain in broken.known or plain in broken.values or plain in broken.tables.keywords:
                terminal = plain if plain in broken.tables.keywords else "NAME"
                yield Rewrite(0.6, begin, end, (_word(plain, terminal),), telling=True)


def _with_hyphen(broken: Broken) -> Iterator[Rewrite]:
    """The same at the unexpected word, or before it."""
    for place in range(max(1, broken.at - 4), min(broken.at + 1, len(broken.tokens))):
        if broken.tokens[place].terminal == "-":
            yield from hyphened(broken, place)


def _of_case(broken: Broken) -> Iterator[Rewrite]:
    """A type with a small letter, a name with a capital."""
    for place in (broken.at, broken.at - 1):
        if not 0 < place < len(broken.tokens):
            continue
        token, small = broken.tokens[place], broken.tokens[place].text.lower()
        declared = broken.tokens[place - 1].terminal in _DECLARING
        if token.terminal == "TYPE" and (declared or small in broken.values):
            yield Rewrite(0.9, place, place + 1, (_word(small, "NAME"),), telling=True)
        for name in broken.types:
            if token.terminal == "NAME" and name.lower() == small.replace("_", ""):
                yield Rewrite(0.6, place, place + 1, (_word(name, "TYPE"),), telling=True)


_DECLARING: Final = ("object", "action", "law", "phase", "param", "derive", "relation", "world")


def _moved(broken: Broken) -> Iterator[Rewrite]:
    """A part in the wrong place of its line."""
    tokens, at = broken.tokens, broken.at
    here = [k for k in range(max(0, at - 14), min(len(tokens), at + 24)) if _near(broken, k)]
    for first in (at, at - 1, at - 2):
        for last in range(first + 1, first + _LONGEST):
            if first not in here or last - 1 not in here or not first <= at <= last:
                continue
            part = tuple(tokens[first:last])
            if not _is_whole(part) or (len(part) == 1 and part[0].terminal in _PREFIXES):
                continue
            for place in (*here, here[-1] + 1) if first else ():
                if _untyped(broken, part, place):
                    continue
                cost = 1.35 + 0.05 * len(part) + 0.02 * abs(place - first)
                if place < first:
                    words = (*part, *tokens[place:first])
                    yield Rewrite(cost, place, last, words, telling=True)
                elif place > last:
                    words = (*tokens[last:place], *part)
                    yield Rewrite(cost, first, place, words, telling=True)


_PREFIXES: Final = ("was", "and", "or", "is", "in", "if", "for")
"""Words that belong to the word after them: alone they are not misplaced."""


def _untyped(broken: Broken, part: Sequence[Token], place: int) -> bool:
    """Return whether an unknown word would become a parameter without a type, or an argument."""
    word, known = part[0], (*broken.known, *broken.values)
    named = word.terminal in broken.tables.soft | {"NAME"}
    unknown = len(part) == 1 and named and word.text not in known
    often = sum(one.text == word.text for one in broken.tokens) > 1
    return unknown and not often and broken.tokens[place - 1].terminal in ("(", ",")


def _is_whole(part: Sequence[Token]) -> bool:
    """Return whether a part begins with a word, and its brackets are its own."""
    texts = [token.text for token in part]
    pairs = (("(", ")"), ("[", "]"), ("{", "}"))
    own = all(texts.count(one) == texts.count(other) for one, other in pairs)
    return own and (texts[0][0].isalnum() or texts[0][0] in '(:="')


def _near(broken: Broken, index: int) -> bool:
    """Return whether a word stands on the line of the unexpected one, or of the one before it."""
    at = min(broken.at, len(broken.tokens) - 1)
    return broken.line(index) in (broken.line(at), broken.line(max(0, at - 1)))


def _called(broken: Broken) -> Iterator[Rewrite]:
    """``a on b`` and ``on a b`` for ``on(a, b)``."""
    for place in range(max(1, broken.at - 8), min(len(broken.tokens), broken.at + 3)):
        name = broken.tokens[place]
        fold = name.terminal in _FOLDS
        if not fold and (not broken.is_name(place) or name.text.strip("`") not in broken.known):
            continue
        if not _near(broken, place):
            continue
        first, left = _operand_before(broken, place)
        second, last = _operand(broken, place + 1), place + 1
        if first < place and second > place + 1 and not fold:
            right = broken.tokens[last:second]
            yield Rewrite(0.8, first, second, _call(name, [left, right]), telling=True)
            for number, sign in enumerate(("==", "=")):
                words = (*left, _word("."), name, _word(sign), *right)
                yield Rewrite(0.82 + number / 100, first, second, words, telling=True)
        parts: list[Sequence[Token]] = []
        while len(parts) < (1 if fold else 4) and (end := _operand(broken, last)) > last:
            parts.append(broken.tokens[last:end])
            last = end
            cost, words = 0.9 - 0.05 * len(parts), _call(name, parts)
            yield Rewrite(cost, place, last, words, telling=True)


def _call(name: Token, parts: Sequence[Sequence[Token]]) -> tuple[Token, ...]:
    between = [token for part in parts for token in (_word(","), *part)][1:]
    return (name, _word("("), *between, _word(")"))


def _operand(broken: Broken, first: int) -> int:
    """The end of a name, path or number that begins at a word; the word itself if there is none."""
    if first >= len(broken.tokens) or not _near(broken, first):
        return first
    if broken.tokens[first].terminal in ("NUMBER", "QUANTITY", "PERCENT"):
        return first + 1
    end = first
    while broken.is_name(end):
        end += 1
        if end >= len(broken.tokens) or broken.tokens[end].terminal != ".":
            return end
        end += 1
    return first


def _operand_before(broken: Broken, end: int) -> tuple[int, Sequence[Token]]:
    """The path that ends before a word."""
    first = end
    while first > 1 and broken.is_name(first - 1):
        first -= 1
        if broken.tokens[first - 1].terminal != ".":
            break
        first -= 1
    return first, broken.tokens[first:end]


def _indexed(broken: Broken) -> Iterator[Rewrite]:
    """``f[a, b]`` for ``f(a, b)``."""
    at, tokens = broken.at, broken.tokens
    if not 0 < at < len(tokens) or tokens[at].terminal != "[" or not broken.is_name(at - 1):
        return
    ends = [k for k in range(at + 1, len(tokens)) if tokens[k].terminal == "]"]
    if ends:
        words = (_word("("), *tokens[at + 1 : ends[0]], _word(")"))
        yield Rewrite(0.8, at, ends[0] + 1, words, telling=True)


def _bare(broken: Broken) -> Iterator[Rewrite]:
    """``was x.f`` for ``was(x.f)``, and the same of other words that are no functions."""
    at, tokens = broken.at, broken.tokens
    if not 0 < at < len(tokens) or tokens[at].terminal != "(":
        return
    end = _operand(broken, at + 1)
    if at + 1 < end < len(tokens) and tokens[end].terminal == ")":
        yield Rewrite(0.7, at, end + 1, tuple(tokens[at + 1 : end]), telling=True)


def _joined(broken: Broken) -> Iterator[Rewrite]:
    """``a_b`` for ``a b``, where the text has that name."""
    tokens = broken.tokens
    for place in range(max(1, broken.at - 1), min(broken.at + 2, len(tokens))):
        name = f"{tokens[place - 1].text}_{tokens[place].text}"
        if re.search(rf"\b{re.escape(name)}\b", broken.source.text):
            yield Rewrite(0.6, place - 1, place + 1, (_word(name, "NAME"),), telling=True)


def _folded(broken: Broken) -> Iterator[Rewrite]:
    """``x.f.count`` and ``x.f.count()`` for ``count(x.f)``."""
    at, tokens = broken.at, broken.tokens
    if not 1 < at < len(tokens) or tokens[at].text not in _FOLDS or tokens[at - 1].text != ".":
        return
    first, path = _operand_before(broken, at - 1)
    called = [token.text for token in tokens[at + 1 : at + 3]] == ["(", ")"]
    words = (tokens[at], _word("("), *path, _word(")"))
    yield Rewrite(0.7, first, at + 1 + 2 * called, words, telling=True)


def _enlisted(broken: Broken) -> Iterator[Rewrite]:
    """``x in a, b`` and ``x in (a, b)`` for ``x in [a, b]``."""
    tokens, at = broken.tokens, broken.at
    first = next((k + 1 for k in range(at - 1, 0, -1) if tokens[k].terminal == "in"), None)
    if first is None or at >= len(tokens) or tokens[at].terminal != "," or not _near(broken, first):
        return
    begin = first + (tokens[first].terminal == "(")
    end = _operand(broken, begin)
    while end < len(tokens) and tokens[end].terminal == "," and _operand(broken, end + 1) > end + 1:
        end = _operand(broken, end + 1)
    words = (_word("["), *tokens[begin:end], _word("]"))
    yield Rewrite(0.8, first, end + (begin > first), words, telling=True)


def _with_field(broken: Broken) -> Iterator[Rewrite]:
    """``x: T at hall`` for ``x: T { at = hall }``."""
    tokens = broken.tokens
    for place in range(max(2, broken.at - 2), min(broken.at + 1, len(tokens))):
        sign = place + 1 < len(tokens) and tokens[place + 1].terminal in ("=", ":")
        value = place + 1 + sign
        end = _operand(broken, value)
        if tokens[place - 1].terminal == "TYPE" and broken.is_name(place) and end > value:
            words = (_word("{"), tokens[place], _word("="), *tokens[value:end], _word("}"))
            yield Rewrite(0.95, place, end, words, telling=True)


def _typed(broken: Broken) -> Iterator[Rewrite]:
    """The type of a truth that is declared by its value alone."""
    at, tokens = broken.at, broken.tokens
    if at + 1 < len(tokens) and tokens[at + 1].terminal in ("true", "false"):
        yield Rewrite(0.9, at, at, (_word(":"), _word("bool")), telling=True)


def _turned(broken: Broken) -> Iterator[Rewrite]:
    """``=>`` for ``>=``."""
    at, tokens = broken.at, broken.tokens
    if at + 1 < len(tokens) and tokens[at].terminal == "=" and tokens[at + 1].terminal in "<>":
        yield Rewrite(0.7, at, at + 2, (_word(f"{tokens[at + 1].text}="),), telling=True)


def _for_keyword(broken: Broken) -> Iterator[Rewrite]:
    """A word that stands where the language has another one, as `on` for `during`."""
    at = broken.at
    if not 0 < at < len(broken.tokens) or broken.tokens[at].terminal not in ("NAME", "if"):
        return
    for word in _PARTING:
        yield Rewrite(1.3, at, at + 1, (_word(word),))


_PARTING: Final = (
    "during", "when", "where", "until", "as", "because", "in", "times", "takes", "to", "of",
)  # fmt: skip


def _quoted(broken: Broken) -> Iterator[Rewrite]:
    """Words that stand where a text should be, up to the end of their line or a brace."""
    for first in (broken.at, broken.at - 1):
        if not 1 < first < len(broken.tokens):
            continue
        before = [token.terminal for token in broken.tokens[first - 2 : first]]
        if before[1] not in ("say", "as", "says") and before[0] != "else":
            continue
        last = first
        while last < len(broken.tokens) and broken.line(last) == broken.line(first):
            last += 1
        ends = [last, *(k for k in range(last - 1, first, -1) if broken.tokens[k].text in "{}")]
        for end in ends[:3]:
            start, stop = broken.tokens[first].start, broken.tokens[end - 1].end
            text = broken.source.text[start:stop]
            if '"' not in text and " " in text:
                words = (_word(f'"{text}"', "STRING"),)
                yield Rewrite(1.25, first, end, words, telling=True)


def _bound(broken: Broken) -> Iterator[Rewrite]:
    """A type where a variable of the type should be declared; the body names the variable."""
    for place in (broken.at, broken.at - 1):
        if not 0 < place < len(broken.tokens) or broken.tokens[place].terminal != "TYPE":
            continue
        if broken.tokens[place - 1].terminal not in ("pick", "for"):
            continue
        behind = broken.tokens[place + 1 : place + 30]
        short = [one.text for one in behind if one.terminal == "NAME" and len(one.text) <= 2]
        for number, name in enumerate(
            dict.fromkeys((*short, broken.tokens[place].text[0].lower()))
        ):
            words = (_word(name, "NAME"), _word(":"), broken.tokens[place])
            yield Rewrite(1.3 + number / 100, place, place + 1, words, telling=True)


def _braced(broken: Broken) -> Iterator[Rewrite]:
    """Put the rest of the line in braces or in parentheses."""
    at, tokens = broken.at, broken.tokens
    if at >= len(tokens):
        return
    last = at
    while last < len(tokens) and broken.line(last) == broken.line(at):
        last += 1
    for first in (at, at - 1):
        body = tuple(tokens[first:last])
        yield Rewrite(1.3, first, last, (_word("{"), *body, _word("}")))


_GENERATORS: Final[tuple[Callable[[Broken], Iterator[Rewrite]], ...]] = (
    _as_item,
    _chosen,
    _with_hyphen,
    _called,
    _of_case,
    _exchanged,
    _inserted,
    _left_out,
    _indexed,
    _bare,
    _joined,
    _folded,
    _listed,
    _enlisted,
    _with_field,
    _typed,
    _turned,
    _for_keyword,
    _quoted,
    _bound,
    _braced,
    _moved,
)

# ---- the text of an edit -------------------------------------------------------------------------

_NO_BLANK_BEFORE: Final = frozenset({")", "]", ",", ":", ".", "?"})
_NO_BLANK_AFTER: Final = frozenset({"(", "[", "."})


def spelled(words: Sequence[Token], tables: Tables) -> str:
    """Words as a text, with blanks where they are usual."""
    text = ""
    for number, word in enumerate(words):
        before = words[number - 1] if number else None
        tight = before is None or before.text in _NO_BLANK_AFTER or word.text in _NO_BLANK_BEFORE
        if before is not None and word.text == "(":
            called = before.terminal in ("NAME", "RAW", *_FOLDS) or before.text in tables.soft
            tight = tight or called
        text += word.text if tight else f" {word.text}"
    return text


_FOLDS: Final = ("any", "all", "count", "sum", "min", "max", "first", "last")
