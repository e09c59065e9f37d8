"""What fluents hold, by number, so that states are quick to tell apart and to put together.

Each fluent that play may change counts as one variable: whatever its slots hold together has a
number. Most states differ from the one whose successors they are in a fluent or two, so only those
are looked at anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from operator import itemgetter
from typing import Any

from tokenworld.engine.rows.layout import HEAD, KINDS, Slots, Store
from tokenworld.engine.searching.kept import Kept
from tokenworld.engine.searching.key_shape import KeyShape
from tokenworld.engine.searching.renaming import Ranks, ranked, ranks_of

Parts = Sequence[int]
"""The number of what each fluent holds."""
Change = tuple[tuple[int, int], ...]
"""Fluents that hold something else now: their places among the parts, and the new numbers."""


class Roll:
    """Who lives. ``made`` are the living objects made since the search began, ``number`` tells
    rolls apart. ``ranks``: what those made count as where some of them live no more, so that they
    are told by their order; such states have parts that others may share by chance."""

    __slots__ = ("made", "number", "ranks")

    def __init__(self, made: tuple[int, ...], number: int, ranks: Ranks | None) -> None:
        self.made, self.number, self.ranks = made, number, ranks


class _Block:
    """A fluent whose slots follow each other and are always the same ones."""

    def __init__(self, begin: int, end: int, until: int) -> None:
        self._key, self._all = slice(begin, end), slice(begin, until)

    def key(self, S: list[Any], roll: Roll) -> Hashable:
        return tuple(S[self._key])

    def content(self, S: list[Any]) -> Any:
        return S[self._all]

    def put(self, S: list[Any], content: Any) -> None:
        S[self._all] = content


class _Scattered:
    """A fluent whose slots come and go, or lie apart."""

    def __init__(self, slots: Slots, store: Store, known: int) -> None:
        self._slots, self._store, self._known = slots, store, known

    def key(self, S: list[Any], roll: Roll) -> Hashable:
        self._slots.fill(S)
        store = self._store
        if roll.ranks is not None:
            return ranked(self._slots, store, S, self._known, roll.ranks)
        if store.column.tupled:
            return frozenset(self._tuples(S).items())
        values = tuple([S[at] for at in store.table[: len(S[KINDS])]])
        if not (store.kids and store.column.fluent.ordered):
            return values
        return values, tuple([S[at] for at in store.kids[: len(S[KINDS])]])

    def _tuples(self, S: list[Any]) -> dict[Any, Any]:
        default = self._store.column.default
        found = ((args, S[at]) for args, at in self._slots.places_of(self._store))
        return {args: value for args, value in found if value != default}

    def content(self, S: list[Any]) -> Any:
        if self._store.column.tupled:
            return self._tuples(S)
        store, size = self._store, len(S[KINDS])
        places = (*store.table[:size], *(store.kids or ())[:size])
        return [(at, S[at]) for at in places]

    def put(self, S: list[Any], content: Any) -> None:
        self._slots.fill(S)
        if not self._store.column.tupled:
            for at, value in content:
                S[at] = value
            return
        default = self._store.column.default
        for args, at in self._slots.places_of(self._store):
            S[at] = content.get(args, default)


class Numbering:
    """The numbers of one search; ``known`` objects were made before it began."""

    def __init__(self, slots: Slots, shape: KeyShape, known: int) -> None:
        self._slots, self._shape, self._known = slots, shape, known
        stores = [slots.stores[index] for index in shape.kept]
        self._stores = [one for one in stores if one.live]
        self._fluents = [self._laid(one) for one in self._stores]
        self.place = {one.column.fluent.id: at for at, one in enumerate(self._stores)}
        self._numbers: list[dict[Hashable, int]] = [{} for _ in self._stores]
        self._held: list[dict[int, Any]] = [{} for _ in self._stores]
        self._rolls: dict[Any, Roll] = {}
        self._told: dict[Hashable, int] = {}
        self._roll: tuple[Any, Roll] | None = None
        self._places: list[int] = []

    def _laid(self, store: Store) -> _Block | _Scattered:
        """How a fluent is read: its slots as one block, those that list what points where behind
        the others."""
        slots = [at for _, at in self._slots.places_of(store) if at >= HEAD]
        every = [*slots, *(store.kids or ())]
        first = every[0] if every else 0
        apart = every != list(range(first, first + len(every)))
        grows = store.column.by_object and bool(self._slots.creates)
        if apart or grows or (store.column.tupled and store.offset is None):
            return _Scattered(self._slots, store, self._known)
        key = every if store.column.fluent.ordered else slots
        return _Block(first, first + len(key), first + len(every))

    # ---- numbers ------------------------------------------------------------------------------

    def roll(self, S: list[Any]) -> Roll:
        """Who lives in a row."""
        kinds = S[KINDS]
        if self._roll is None or self._roll[0] is not kinds:
            found = self._rolls.get(kinds)
            if found is None:
                found = self._rolls[kinds] = self._called(kinds)
            self._roll = (kinds, found)
        return self._roll[1]

    def _called(self, kinds: tuple[str | None, ...]) -> Roll:
        known, shape = self._known, self._shape
        made = tuple([n for n in range(known, len(kinds)) if kinds[n] is not None])
        gaps = len(kinds) > known + len(made)
        ranks = ranks_of(made, known, shape) if gaps else None
        told = self.told(kinds, made)
        return Roll(made, self._told.setdefault(told, len(self._told)), ranks)

    def share(self, other: Numbering) -> None:
        """Give the numbers that another layout of the same rows has given."""
        self._numbers, self._told = other._numbers, other._told

    def told(self, kinds: tuple[str | None, ...], made: tuple[int, ...]) -> Hashable:
        """What tells who lives: of those made since their types in order; with their numbers and
        the next one where rules read them."""
        alive = tuple([kind is not None for kind in kinds[: self._known]])
        living = tuple([kinds[n] for n in made])
        return (alive, living, made, len(kinds)) if self._shape.numbers else (alive, living)

    def number(self, state: Kept, before: Kept | None = None, written: Iterable[int] = ()) -> None:
        """Give a state its parts and roll; ``before``: it differs from that in the slots
        ``written`` alone."""
        if state.by is self:
            return
        roll = self.roll(state.S)
        if before is None or before.by is not self or before.roll is not roll:
            parts: Parts = [self._of(place, state.S, roll) for place in range(len(self._fluents))]
        else:
            parts = changed(before.parts, self.between(state.S, before.parts, written, roll))
        self.call(state, parts, roll)

    def call(self, state: Kept, parts: Parts, roll: Roll) -> None:
        """Note the parts and the roll of a state."""
        state.by, state.parts, state.roll, state.mark = self, parts, roll, None

    def keys(self, S: list[Any], roll: Roll) -> tuple[Hashable, ...]:
        """What each fluent holds, spelled out."""
        return tuple([one.key(S, roll) for one in self._fluents])

    def _of(self, place: int, S: list[Any], roll: Roll) -> int:
        """The number of what a fluent holds."""
        numbers, key = self._numbers[place], self._fluents[place].key(S, roll)
        number = numbers.get(key)
        if number is None:
            number = numbers[key] = len(numbers)
        return number

    def between(self, S: list[Any], parts: Parts, written: Iterable[int], roll: Roll) -> Change:
        """What differs in a row from one with these parts, of which these slots were written. What
        the fluents hold is kept."""
        found = []
        for place in sorted(self._touched(written)):
            number = self._of(place, S, roll)
            if number != parts[place]:
                found.append((place, number))
                held = self._held[place]
                if number not in held and roll.ranks is None:
                    held[number] = self._fluents[place].content(S)
        return tuple(found)

    def _touched(self, written: Iterable[int]) -> set[int]:
        """The places of the fluents of these slots."""
        places = self._places
        if len(places) < len(self._slots.blank):
            for slot in range(len(places), len(self._slots.blank)):
                store = self._slots.owner[slot]
                if store is None and slot in self._slots.lists:
                    store = self._slots.lists[slot][0]
                found = -1 if store is None else self.place.get(store.column.fluent.id, -1)
                places.append(found)
        touched = {places[slot] for slot in written}
        touched.discard(-1)
        return touched

    def put(self, S: list[Any], change: Change) -> None:
        """Write into a row what a change tells of."""
        for place, number in change:
            self._fluents[place].put(S, self._held[place][number])

    # ---- asking -------------------------------------------------------------------------------

    def places(self, fluents: Iterable[str]) -> tuple[int, ...]:
        """The places of those fluents that play may change."""
        return tuple(sorted(self.place[one] for one in fluents if one in self.place))

    def of_fluents(self, fluents: Collection[str]) -> Callable[[Any], Hashable]:
        """What takes the numbers of some fluents from a mark, and that of who lives."""
        return itemgetter(*self.places(fluents), len(self._fluents))


def changed(parts: Parts, change: Change) -> Parts:
    """The numbers of the fluents after a change."""
    if not change:
        return parts
    found = list(parts)
    for place, number in change:
        found[place] = number
    return found
