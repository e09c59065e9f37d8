"""The words of one state: tokens, typed numbers, compiled phrases, names of objects and enums.

Matching ignores case, repeated spaces and a final full stop; ``_`` counts as a space
(language.md §11). *Folded* text keeps its spaces, *tidy* text has single ones and none at the ends.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from tokenworld import model as m
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command, Raw, Speaker
from tokenworld.model import subterms
from tokenworld.prose.wording import EnglishProse

ARTICLES: Final = ("a", "an", "the")
LONGEST: Final = 1000
"""Characters of a tidy text beyond which it is no command: bounds the work of matching."""


def fold(text: str) -> str:
    """Case and underscores ignored, composed characters; the spaces stay."""
    if text.isascii():
        return text.lower().replace("_", " ")
    return unicodedata.normalize("NFC", text.casefold()).replace("_", " ")


@lru_cache(maxsize=16_384)
def tidy(text: str) -> str:
    """Folded, with single spaces between words and none at the ends."""
    return " ".join(fold(text).split())


@lru_cache(maxsize=4096)
def variants(text: str) -> tuple[str, ...]:
    """The tidy text without its final full stop, then with it (a name may end in one)."""
    plain = tidy(text)
    return (plain[:-1].rstrip(), plain) if plain.endswith(".") else (plain,)


def after_article(text: str, start: int = 0) -> int:
    """The start of the words after an article at ``start`` (``start`` itself without one)."""
    for article in ARTICLES:
        if text.startswith(article + " ", start):
            return start + len(article) + 1
    return start


# ---- Typed numbers: ``4``, ``4l``, ``0.5``, ``25%`` as scaled exact numbers of a type ------------


_NUMBER = re.compile(r"(-?[0-9]+(?:\.[0-9]+)?)\s?(%|[^\W\d_]+)?")


def number_type(binder: m.Binder) -> m.NumberType | None:
    """The type of a parameter that takes a number, else ``None``."""
    of = binder.domain.of if isinstance(binder.domain, m.TypeRange) else binder.type
    return of if isinstance(of, m.NumberType) else None


def domain_range(binder: m.Binder) -> range:
    """The raw values a number parameter may take (empty where it has no bounds)."""
    match binder.domain:
        case m.IntervalRange(low=low, high=high):
            return range(low, high + 1)
        case m.TypeRange(of=m.NumberType(low=int() as low, high=int() as high)):
            return range(low, high + 1)
        case _:
            return range(0)


def read_number(text: str, binder: m.Binder, units: Mapping[str, m.Unit]) -> int | None:
    """The raw value of a whole text, ``None`` where it is no number the parameter may take.

    A number without a unit is taken in the unit of the type. ``25%`` is the exact number 0.25,
    for every type without a unit; a bare ``25`` is never a percentage.
    """
    of = number_type(binder)
    value = None if of is None else scaled_number(text, of, units)
    return value if value in domain_range(binder) else None


def scaled_number(text: str, of: m.NumberType, units: Mapping[str, m.Unit]) -> int | None:
    """The number of a whole text as a type counts it, in its range or not; see `read_number`."""
    found = _NUMBER.fullmatch(text)
    factor = None if found is None else _factor(found.group(2) or "", of.unit, units)
    if found is None or factor is None:
        return None
    scaled: Fraction = Fraction(found.group(1)) * factor * 10**of.decimals
    return scaled.numerator if scaled.denominator == 1 else None


def _factor(typed: str, unit: str, units: Mapping[str, m.Unit]) -> Fraction | None:
    if typed == "%":
        return Fraction(1, 100) if unit in ("", "%") else None
    if typed.casefold() in ("", unit.casefold()):
        return Fraction(1)
    named = next((one for one in units.values() if one.name.casefold() == typed.casefold()), None)
    own = units.get(unit)
    if named is None or own is None or named.base != own.base:
        return None
    return Fraction(named.multiple, own.multiple)


def number_ends(
    text: str, start: int, binder: m.Binder, units: Mapping[str, m.Unit]
) -> Iterator[tuple[int, tuple[Raw, ...]]]:
    """The possible ends of a number that begins at ``start``, without and with its unit."""
    found = _NUMBER.match(text, start)
    if found is None:
        return
    for end in sorted({found.end(1), found.end()}):
        value = read_number(text[start:end], binder, units)
        if value is not None:
            yield end, (value,)


# ---- The phrases of a program, compiled once: literal words, parameter slots, text slots ---------


_SPACES = re.compile(r"\s+")


@frozen
class Words:
    """Literal words: ``text`` folded with single spaces, ``shown`` as the author wrote them."""

    text: str
    shown: str


@frozen
class ParamSlot:
    """A bare parameter: its position among the action's parameters."""

    param: int


@frozen
class TextSlot:
    """Any other slot: it must match the text its expression has for the bound arguments.

    ``slot`` counts the slots of the phrase from 0, bare ones included (`Speaker.slot_texts`);
    ``params`` are the parameters it reads; ``names_object``: an article may stand before it.
    """

    slot: int
    params: tuple[int, ...]
    names_object: bool


Part = Words | ParamSlot | TextSlot


@frozen
class Phrase:
    """One phrase of an action; ``index`` is its position among the action's phrases.

    ``loose`` are the parameters that occur in no slot: they must be determined by the state.
    """

    action: str
    index: int
    parts: tuple[Part, ...]
    binders: tuple[m.Binder, ...]
    loose: tuple[int, ...]

    @property
    def verb(self) -> str:
        """The first literal word, ``""`` where the phrase begins with a slot."""
        first = self.parts[0]
        return first.text.split(" ", 1)[0] if isinstance(first, Words) else ""

    @property
    def shape(self) -> str:
        """The phrase for a player: ``unlock … with …``."""
        shown = (part.shown if isinstance(part, Words) else "…" for part in self.parts)
        return "".join(shown).strip()


class _Same:
    """A program as a cache key: compared by identity, since it holds mappings."""

    __slots__ = ("program",)

    def __init__(self, program: m.Program) -> None:
        self.program = program

    def __hash__(self) -> int:
        return id(self.program)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.program is self.program


def compiled(program: m.Program) -> tuple[Phrase, ...]:
    """All phrases: actions in order of declaration, the phrases of each in written order."""
    return _compiled(_Same(program))


@lru_cache(maxsize=8)
def _compiled(key: _Same) -> tuple[Phrase, ...]:
    return tuple(
        phrase
        for action in key.program.actions.values()
        for index, template in enumerate(action.phrases)
        if (phrase := _phrase(action, index, template)).parts
    )


@lru_cache(maxsize=8)
def _has_text_slots(key: _Same) -> bool:
    """Return whether a phrase has a slot whose text a rule works out."""
    return any(isinstance(part, TextSlot) for phrase in _compiled(key) for part in phrase.parts)


def _phrase(action: m.Action, index: int, template: m.Template) -> Phrase:
    positions = {binder.name: number for number, binder in enumerate(action.params)}
    parts = tuple(_trimmed(_parts(template, positions)))
    used = {
        param
        for part in parts
        if not isinstance(part, Words)
        for param in ((part.param,) if isinstance(part, ParamSlot) else part.params)
    }
    loose = tuple(number for number in range(len(action.params)) if number not in used)
    return Phrase(action.name, index, parts, action.params, loose)


def _parts(template: m.Template, positions: dict[str, int]) -> Iterator[Part]:
    slot = 0
    for part in template.parts:
        if isinstance(part, m.TextPart):
            yield _words(part.text)
        else:
            yield _slot(part, slot, positions)
            slot += 1


def _words(text: str) -> Words:
    return Words(_SPACES.sub(" ", fold(text)), _SPACES.sub(" ", text))


def _slot(part: m.Slot, slot: int, positions: dict[str, int]) -> Part:
    term = part.term
    if isinstance(term, m.Local) and term.name in positions and not part.listing:
        return ParamSlot(positions[term.name])
    names = (inner.name for inner in subterms(term) if isinstance(inner, m.Local))
    params = sorted({positions[name] for name in names if name in positions})
    return TextSlot(slot, tuple(params), isinstance(term.type, m.ObjectType) and not part.listing)


def _trimmed(parts: Iterator[Part]) -> list[Part]:
    """Neighbouring words joined, ends trimmed, the final full stop dropped."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, Words) and isinstance(last, Words):
            joined[-1] = _words(last.shown + part.shown)
        else:
            joined.append(part)
    if joined and isinstance(joined[0], Words):
        joined[0] = _words(joined[0].shown.lstrip())
    if joined and isinstance(joined[-1], Words):
        joined[-1] = _words(joined[-1].shown.rstrip().removesuffix(".").rstrip())
    return [part for part in joined if not isinstance(part, Words) or part.text]


# ---- What can be named in one state: objects by their words, enum members, numbers ---------------
# A `Lexicon` belongs to one state of the world. It asks the speaker only for what the matching
# needs and remembers the answers, so many texts of one state may share it.


_ENUMERATED: Final = 1000
"""The most values of a number parameter that are listed; typed ones are not limited."""

_KEPT: Final = 20_000
"""Texts and commands whose meanings are kept for a vocabulary."""

_PROSE = EnglishProse()
_Index = dict[str, tuple[Raw, ...]]
_Lengths = tuple[int, ...]
"""The lengths of the words of an index, the shortest first."""
Vocabulary = tuple[Hashable, ...]
"""Identifier, kind, scope and words of all objects, and the order of those that share a word."""


@dataclass(slots=True)
class Meanings:
    """Results of `matching` that depend on the vocabulary of a state alone.

    ``cuts``: by tidy text, the ways to read it along the phrases. ``texts``: the text to type for
    a command. ``shown``: how a caller shows it.
    """

    cuts: dict[str, Any] = field(default_factory=dict)
    texts: dict[Command, str] = field(default_factory=dict)
    shown: dict[Command, Any] = field(default_factory=dict)


def object_type(binder: m.Binder) -> str | None:
    """The object type a parameter ranges over, ``None`` for enums and numbers."""
    match binder.domain:
        case m.TypeRange(of=m.ObjectType(name=name)):
            return name
        case _:
            return None


class Lexicon:
    """The words of one state."""

    def __init__(self, speaker: Speaker) -> None:
        self.speaker = speaker
        self.program = speaker.instance.program
        self.live = tuple(speaker.candidates())
        self._ranks = {number: rank for rank, number in enumerate(self.live)}
        self._words: dict[int, tuple[str, ...]] = {}
        self._scope: dict[int, bool] = {}
        self._indexes: dict[str, tuple[_Index, _Lengths]] = {}
        self._texts: dict[tuple[Raw, ...], tuple[str, ...]] = {}
        self.meanings = Meanings()

    def told_by(self, speaker: Speaker) -> Lexicon:
        """The lexicon of another state with the same words, for the speaker of that state."""
        other = Lexicon.__new__(Lexicon)
        other.__dict__.update(self.__dict__)
        other.speaker, other._texts = speaker, {}
        other._use(self.meanings)
        return other

    def share(self, known: dict[Vocabulary, Meanings]) -> None:
        """Use the meanings of another state with the same vocabulary; ``known`` holds them all."""
        names = {number: (self.speaker.identifier(number), self.speaker.kind(number),
                          self.in_scope(number), self.words(number))
                 for number in self.live}  # fmt: skip
        uses = Counter(word for *_, words in names.values() for word in set(map(tidy, words)))
        shared = {word for word, count in uses.items() if count > 1}
        ordered = (
            number for number in self.live if not shared.isdisjoint(map(tidy, names[number][3]))
        )
        vocabulary = (tuple(sorted(names.items())), tuple(ordered))
        meanings = known.setdefault(vocabulary, Meanings())
        for kept in (meanings.cuts, meanings.texts, meanings.shown):
            if len(kept) >= _KEPT:
                kept.clear()
        self._use(meanings)

    def _use(self, meanings: Meanings) -> None:
        """Use shared meanings, but no texts of commands that depend on more of the state."""
        slots = _has_text_slots(_Same(self.program))
        self.meanings = Meanings(meanings.cuts) if slots else meanings

    # ---- objects ----------------------------------------------------------------------

    def is_live(self, number: int) -> bool:
        return number in self._ranks

    def is_a(self, number: int, type_name: str) -> bool:
        return self.program.is_subtype(self.speaker.kind(number), type_name)

    def of_type(self, type_name: str) -> tuple[int, ...]:
        """The live objects of a type, in candidate order."""
        return tuple(number for number in self.live if self.is_a(number, type_name))

    def in_scope(self, number: int) -> bool:
        if number not in self._scope:
            self._scope[number] = self.speaker.in_scope(number)
        return self._scope[number]

    def words(self, number: int) -> tuple[str, ...]:
        """The present name, then the other words, as they are printed."""
        if number not in self._words:
            words = self.speaker.words_for(number)
            self._words[number] = tuple(_PROSE.identifier(word) for word in words if word)
        return self._words[number]

    def name(self, number: int) -> str:
        """The present name; the identifier of an object without one."""
        words = self.words(number)
        return words[0] if words else self.speaker.identifier(number)

    def called(self, words: str, type_name: str = m.ROOT) -> tuple[int, ...]:
        """The live objects of a type that tidy words name, an article before them or not."""
        index, _ = self._index_of(type_name)
        bare = words[after_article(words) :]
        found = dict.fromkeys((*index.get(words, ()), *index.get(bare, ())))
        return tuple(number for number in self.live if number in found)

    def slot_texts(
        self, action: str, phrase: int, slot: TextSlot, args: Sequence[Raw]
    ) -> tuple[str, ...]:
        """The tidy texts that a slot may have; arguments that it does not read may be anything."""
        key = (action, phrase, slot.slot, *[args[param] for param in slot.params])
        if key not in self._texts:
            texts = self.speaker.slot_texts(action, phrase, slot.slot, args)
            self._texts[key] = tuple(map(tidy, texts))
        return self._texts[key]

    # ---- values of parameters -----------------------------------------------------------

    def allowed(self, binder: m.Binder, value: Raw) -> bool:
        """Return whether a value may be named: objects must be in scope, the rest always may."""
        return object_type(binder) is None or (isinstance(value, int) and self.in_scope(value))

    def candidates(self, binder: m.Binder) -> Sequence[Raw]:
        """The values a parameter may take when nothing of it was typed, in order."""
        name = object_type(binder)
        if name is not None:
            return tuple(number for number in self.of_type(name) if self.in_scope(number))
        if number_type(binder) is not None:
            return domain_range(binder)[:_ENUMERATED]
        index, _ = self._values(binder)
        return tuple(value for values in index.values() for value in values)

    def rank(self, binder: m.Binder, value: Raw) -> int:
        """The place of a value among the candidates of its parameter."""
        if not isinstance(value, int):
            return len(self.live)
        return self._ranks.get(value, len(self.live)) if object_type(binder) else int(value)

    def shown(self, binder: m.Binder, value: Raw) -> str:
        """A value as a player reads it."""
        kind = number_type(binder)
        if kind is not None and isinstance(value, int):
            return _PROSE.number(value, kind.decimals, kind.unit)
        match binder.domain:
            case m.TypeRange(of=m.EnumType(name=name)) if isinstance(value, int):
                return _PROSE.identifier(self.program.enums[name].members[value])
            case m.TypeRange(of=m.ObjectType()) if isinstance(value, int):
                return self.name(value)
            case _:
                return str(value).lower()

    def spans(self, binder: m.Binder, text: str, start: int) -> Iterator[tuple[int, Sequence[Raw]]]:
        """Every end of a stretch of tidy ``text`` from ``start`` that names a value.

        Objects come whether in scope or not; each stretch with all objects it may mean.
        """
        if number_type(binder) is not None:
            yield from number_ends(text, start, binder, self.program.units)
            return
        index, lengths = self._values(binder)
        for begin in dict.fromkeys((start, after_article(text, start))):
            for length in lengths:
                end = begin + length
                values = index.get(text[begin:end]) if end <= len(text) else None
                if values:
                    yield end, values

    def rest(self, binder: m.Binder, text: str, start: int) -> Iterator[tuple[int, Sequence[Raw]]]:
        """The one end that is left to the last slot of a phrase: that of the text."""
        if number_type(binder) is not None:
            ends = number_ends(text, start, binder, self.program.units)
            yield from (pair for pair in ends if pair[0] == len(text))
            return
        index, _ = self._values(binder)
        for begin in dict.fromkeys((start, after_article(text, start))):
            values = index.get(text[begin:]) if begin < len(text) else None
            if values:
                yield len(text), values

    def _values(self, binder: m.Binder) -> tuple[_Index, _Lengths]:
        match binder.domain:
            case m.TypeRange(of=m.ObjectType(name=name)):
                return self._index_of(name)
            case m.TypeRange(of=m.EnumType(name=name)):
                members = self.program.enums[name].members
                index: _Index = {tidy(member): (i,) for i, member in enumerate(members)}
            case m.TypeRange(of=m.BoolType()):
                index = {"false": (False,), "true": (True,)}
            case _:
                index = {}
        return index, _lengths(index)

    def _index_of(self, type_name: str) -> tuple[_Index, _Lengths]:
        if type_name not in self._indexes:
            found: dict[str, list[Raw]] = {}
            for number in self.of_type(type_name):
                for word in dict.fromkeys(map(tidy, self.words(number))):
                    found.setdefault(word, []).append(number)
            index: _Index = {word: tuple(numbers) for word, numbers in found.items()}
            self._indexes[type_name] = (index, _lengths(index))
        return self._indexes[type_name]


def _lengths(index: _Index) -> _Lengths:
    return tuple(sorted({len(word) for word in index if word}))
