"""The engine as typed commands see it: `ground.Speaker`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from tokenworld.engine.engine import Engine
from tokenworld.engine.knowledge import Knowledge
from tokenworld.engine.rows.questions.asking import is_refused
from tokenworld.engine.rows.questions.speech import (
    all_in_scope,
    in_scope,
    slot_text,
    words_of,
)
from tokenworld.engine.rows.stepper import Tick
from tokenworld.engine.state import State
from tokenworld.ground import Command, Instance, Raw
from tokenworld.model import ROOT

T = TypeVar("T")
_MOST = 100_000
"""Objects whose words are kept, at most."""


class EngineSpeaker:
    """The questions of the resolver of typed words about one state.

    Words refer only to objects that the player sees, since others could reveal a secret.
    ``known`` is the knowledge of the player.
    """

    def __init__(self, engine: Engine, state: State, known: Knowledge | None = None) -> None:
        self._engine, self._state = engine, state
        self._known = known or engine.known
        self._words: dict[int, tuple[str, ...]] = {}

    @property
    def instance(self) -> Instance:
        return self._engine.instance

    @property
    def numbers(self) -> Mapping[str, int]:
        return self._state.numbers

    def identifier(self, number: int) -> str:
        return self._state.names[number]

    def kind(self, number: int) -> str:
        return self._state.kinds[number] or ROOT

    def in_scope(self, number: int) -> bool:
        if not self._engine.has_scopes:
            return self._state.alive(number)
        if self._known.hides_words:
            found = self._known.every(self._state, lambda tick: in_scope(tick, number))
            return found is None or True in found
        return number in self._scope

    def says_as(self, other: EngineSpeaker) -> bool:
        """Return whether the words of another state of this engine are those of this one."""
        own, its = self._state, other._state
        if (own.names, own.kinds) != (its.names, its.kinds) or self._known.hides_words:
            return False
        if self._engine.words_last:
            return True
        if self._shares(own, its):
            self._ruled = other._ruled
        return self._ruled == other._ruled

    def _shares(self, own: State, its: State) -> bool:
        """Return whether two states share all facts that decide words."""
        columns = self._engine.word_columns
        return (
            columns is not None
            and own.acting == its.acting
            and all(own.cols[x] is its.cols[x] for x in columns)
            and all(own.kids[x] is its.kids[x] for x in columns)
        )

    @cached_property
    def _ruled(self) -> tuple[Hashable, ...]:
        """The vocabulary as rules decide it: objects in order, those in scope, computed words."""
        self._look_up(frozenset(self._unfixed()))
        scope = self._scope if self._engine.has_scopes else None
        return tuple(self.candidates()), scope, *sorted(self._words.items())

    @cached_property
    def _scope(self) -> frozenset[int]:
        """The objects that may be named, in a world with rules about that."""
        return self._engine.asked(self._state, all_in_scope)

    def words_for(self, number: int) -> tuple[str, ...]:
        """The words for an object now; words that no rule computes are cached."""
        known, key = self._engine.fixed_words, self._key(number)
        if key in known:
            return known[key]
        if self._known.hides_words:
            found = self._known.every(self._state, lambda tick: words_of(tick, number))
            return self._possible(number, found or frozenset())
        if number not in self._words:
            self._look_up(frozenset((number, *self._unfixed())))
        return self._words[number]

    def _key(self, number: int) -> tuple[int, str, str | None]:
        return number, self._state.names[number], self._state.kinds[number]

    def _possible(
        self, number: int, found: frozenset[tuple[tuple[str, ...], bool]]
    ) -> tuple[str, ...]:
        """The words that no secret decides; else those that always name the object, then those
        that may."""
        if len(found) == 1:
            return next(iter(found))[0]
        possible = sorted(word for words, _ in found for word in words)
        return tuple(dict.fromkeys((self._state.names[number], *possible)))

    def _unfixed(self) -> Iterator[int]:
        """The live objects whose words were not read yet."""
        known, kinds, read = self._engine.fixed_words, self._state.kinds, self._words
        living = (x for x, kind in enumerate(kinds) if kind)
        return (x for x in living if x not in read and self._key(x) not in known)

    def _look_up(self, numbers: frozenset[int]) -> None:
        """Read the words of many objects at once; cache those that no rule computes."""
        known = self._engine.fixed_words
        if not numbers:
            return
        found = self._engine.asked(
            self._state, lambda tick: {number: words_of(tick, number) for number in numbers}
        )
        if len(known) + len(found) > _MOST:
            known.clear()
        for number, (words, fixed) in found.items():
            self._words[number] = words
            if fixed:
                known[self._key(number)] = words

    def slot_texts(
        self, action: str, phrase: int, slot: int, args: Sequence[Raw]
    ) -> tuple[str, ...]:
        found = self._read(lambda tick: slot_text(tick, action, phrase, slot, args))
        return tuple(sorted(found or ()))

    def _read(self, read: Callable[[Tick], T]) -> frozenset[T] | None:
        """All possible results of a reading of words."""
        if self._known.hides_words:
            return self._known.every(self._state, read)
        return frozenset((self._engine.asked(self._state, read),))

    def holds_all(self, command: Command) -> bool:
        return self._known.some(self._state, lambda tick: not is_refused(tick, command))

    def candidates(self) -> Sequence[int]:
        state, layout = self._state, self._engine.layout
        alive = [number for number in range(len(state.kinds)) if state.alive(number)]
        nested = next((one for one in layout.columns if one.fluent.nested), None)
        if nested is None or state.kids[nested.index] is None:
            return alive
        if nested.fluent.secret and not self._known.is_whole:
            return alive
        parents, children = state.cols[nested.index], state.kids[nested.index]
        found: list[int] = []
        todo = [number for number in reversed(alive) if parents[number] is None]
        while todo:
            number = todo.pop()
            found.append(number)
            todo.extend(reversed(children[number]))
        return found
