"""What can be named in one state: objects by their words, enum members, numbers.

A `Lexicon` belongs to one state of the world. It asks the speaker only for what the matching
needs and remembers the answers, so many texts of one state may share it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, Final

from tokenworld.ground import Raw, Speaker
from tokenworld.model import ROOT, Binder, BoolType, EnumType, ObjectType, TypeRange
from tokenworld.prose.names import EnglishProse
from tokenworld.prose.numbers import domain_range, number_ends, number_type
from tokenworld.prose.phrases import TextSlot
from tokenworld.prose.tokens import after_article, tidy

__all__ = ["Cuts", "Lexicon", "Vocabulary", "object_type"]

_ENUMERATED: Final = 1000
"""How many values of a number parameter are ever listed; typed ones are not limited."""

_PROSE = EnglishProse()
_Index = dict[str, tuple[Raw, ...]]
_Lengths = tuple[int, ...]
"""How long the words of an index are, the shortest first."""
Cuts = dict[str, Any]
"""By tidy text, what `matching` makes of it as far as that is a question of words alone."""
Vocabulary = tuple[Hashable, ...]
"""Kind, scope and words of all objects, and the order of those that share a word."""


def object_type(binder: Binder) -> str | None:
    """The object type a parameter ranges over, ``None`` for enums and numbers."""
    match binder.domain:
        case TypeRange(of=ObjectType(name=name)):
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
        self._texts: dict[tuple[Raw, ...], str] = {}
        self.cuts: Cuts = {}

    def share(self, known: dict[Vocabulary, Cuts]) -> None:
        """Use what texts meant in other states in which the same things have the same words."""
        names = {
            number: (self.speaker.kind(number), self.in_scope(number), self.words(number))
            for number in self.live
        }
        uses = Counter(word for _, _, words in names.values() for word in set(map(tidy, words)))
        shared = {word for word, count in uses.items() if count > 1}
        ordered = (
            number for number in self.live if not shared.isdisjoint(map(tidy, names[number][2]))
        )
        self.cuts = known.setdefault((tuple(sorted(names.items())), tuple(ordered)), {})

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

    def called(self, words: str, type_name: str = ROOT) -> tuple[int, ...]:
        """The live objects of a type that tidy words name, an article before them or not."""
        index, _ = self._index_of(type_name)
        bare = words[after_article(words) :]
        found = dict.fromkeys((*index.get(words, ()), *index.get(bare, ())))
        return tuple(number for number in self.live if number in found)

    def slot_text(self, action: str, phrase: int, slot: TextSlot, args: Sequence[Raw]) -> str:
        """The tidy text of a slot; arguments that it does not read may be anything."""
        key = (action, phrase, slot.slot, *[args[param] for param in slot.params])
        if key not in self._texts:
            self._texts[key] = tidy(self.speaker.slot_text(action, phrase, slot.slot, args))
        return self._texts[key]

    # ---- values of parameters -----------------------------------------------------------

    def allowed(self, binder: Binder, value: Raw) -> bool:
        """Whether a value may be named: objects must be in scope, the rest always may."""
        return object_type(binder) is None or (isinstance(value, int) and self.in_scope(value))

    def candidates(self, binder: Binder) -> Sequence[Raw]:
        """The values a parameter may take when nothing of it was typed, in order."""
        name = object_type(binder)
        if name is not None:
            return tuple(number for number in self.of_type(name) if self.in_scope(number))
        if number_type(binder) is not None:
            return domain_range(binder)[:_ENUMERATED]
        index, _ = self._values(binder)
        return tuple(value for values in index.values() for value in values)

    def rank(self, binder: Binder, value: Raw) -> int:
        """The place of a value among the candidates of its parameter."""
        if not isinstance(value, int):
            return len(self.live)
        return self._ranks.get(value, len(self.live)) if object_type(binder) else int(value)

    def shown(self, binder: Binder, value: Raw) -> str:
        """A value as a player reads it."""
        kind = number_type(binder)
        if kind is not None and isinstance(value, int):
            return _PROSE.number(value, kind.decimals, kind.unit)
        match binder.domain:
            case TypeRange(of=EnumType(name=name)) if isinstance(value, int):
                return _PROSE.identifier(self.program.enums[name].members[value])
            case TypeRange(of=ObjectType()) if isinstance(value, int):
                return self.name(value)
            case _:
                return str(value).lower()

    def spans(self, binder: Binder, text: str, start: int) -> Iterator[tuple[int, Sequence[Raw]]]:
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

    def rest(self, binder: Binder, text: str, start: int) -> Iterator[tuple[int, Sequence[Raw]]]:
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

    def _values(self, binder: Binder) -> tuple[_Index, _Lengths]:
        match binder.domain:
            case TypeRange(of=ObjectType(name=name)):
                return self._index_of(name)
            case TypeRange(of=EnumType(name=name)):
                members = self.program.enums[name].members
                index: _Index = {tidy(member): (i,) for i, member in enumerate(members)}
            case TypeRange(of=BoolType()):
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
