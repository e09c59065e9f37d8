"""What can be named in one state: objects by their words, enum members, numbers.

A `Lexicon` belongs to one state of the world. It asks the speaker only for what the matching
needs and remembers the answers, so many texts of one state may share it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from tokenworld.ground import Raw, Speaker
from tokenworld.model import ROOT, Binder, BoolType, EnumType, ObjectType, TypeRange
from tokenworld.prose.names import EnglishProse
from tokenworld.prose.numbers import domain_range, number_ends, number_type
from tokenworld.prose.tokens import after_article, tidy

__all__ = ["Lexicon", "object_type"]

_ENUMERATED: Final = 1000
"""How many values of a number parameter are ever listed; typed ones are not limited."""

_PROSE = EnglishProse()
_Index = dict[str, tuple[Raw, ...]]


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
        self._indexes: dict[str, tuple[_Index, int]] = {}

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
        index, longest = self._values(binder)
        for begin in dict.fromkeys((start, after_article(text, start))):
            for end in range(begin + 1, min(begin + longest, len(text)) + 1):
                values = index.get(text[begin:end])
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

    def _values(self, binder: Binder) -> tuple[_Index, int]:
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
        return index, max(map(len, index), default=0)

    def _index_of(self, type_name: str) -> tuple[_Index, int]:
        if type_name not in self._indexes:
            found: dict[str, list[Raw]] = {}
            for number in self.of_type(type_name):
                for word in dict.fromkeys(map(tidy, self.words(number))):
                    found.setdefault(word, []).append(number)
            index: _Index = {word: tuple(numbers) for word, numbers in found.items()}
            self._indexes[type_name] = (index, max(map(len, index), default=0))
        return self._indexes[type_name]
