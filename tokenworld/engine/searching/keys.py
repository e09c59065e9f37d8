"""The states of a search and their keys, and short keys for one search (language.md §19, state
keys).

A key has the fluents that play may change, the population, endings, long actions, the turn, and the
readings of the clock and of awards. A short key has numbers for the values of fluents: it is quick
to make and to compare.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any

from tokenworld import model as m
from tokenworld.core import lowered
from tokenworld.engine.clock import Clock, clock_of
from tokenworld.engine.columns import Layout
from tokenworld.engine.rows.layout import (
    AWARDED,
    DID,
    HEAD,
    KINDS,
    LATCHED,
    LONGS,
    REPORTED,
    ROUND,
    TICK,
    TURN,
    Slots,
    Store,
)
from tokenworld.engine.state import LongAction, State
from tokenworld.ground import Command, Raw
from tokenworld.model import looks_back


class Kept(State):
    """A state as a row ``S`` of ``of``; the attributes of `State` are computed when first read.

    ``parts`` and ``population`` are the numbers of its parts in the search ``by`` (see
    `Numbering`), from which ``short_key`` is made.
    """

    __slots__ = ("S", "by", "of", "parts", "population", "short_key")

    def __init__(self, of: Slots, S: list[Any]) -> None:
        self.of, self.S = of, S
        self.by: object = None
        self.parts: Sequence[int] = ()
        self.population: Any = None
        self.short_key: Any = None

    def __getattr__(self, name: str) -> Any:
        if name not in State.__slots__:
            raise AttributeError(name)
        slots, S = self.of, self.S
        slots.read_back(S, self)
        self.round = None if S[ROUND] is None else Kept(slots, S[ROUND])
        self.reported = None if S[REPORTED] is None else Kept(slots, S[REPORTED])
        return getattr(self, name)


# ---- The parts of keys ------------------------------------------------------------------------
# Two states with equal keys have equal futures: all that a rule, a goal, an ending or an award
# reads is in the key. So a search that has seen all keys has seen all that can happen, for any
# types.


class KeyShape:
    """The columns, clocks and moments in the keys of one world."""

    def __init__(self, layout: Layout) -> None:
        self._layout, self._instance = layout, layout.instance

    @cached_property
    def terms(self) -> Sequence[m.Term]:
        """The terms that affect later states."""
        return m.telling_terms(self._instance.program, self._instance.world)

    @cached_property
    def clock(self) -> Clock:
        """The part of the tick number that rules read."""
        return clock_of(self._instance, self.terms)

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """The columns that can differ: those that some rule may write."""
        changed = lowered(self._instance.program).changed_in_play
        return tuple(one.index for one in self._layout.columns if one.fluent.id in changed)

    @cached_property
    def looks_back(self) -> bool:
        """Return whether a rule reads earlier events of the tick: `was` or `did`."""
        return looks_back(self.terms) or m.calls(self.terms, "did")

    @cached_property
    def awards(self) -> bool:
        """Return whether a rule reads the score, and so the awards that were given."""
        return m.calls(self.terms, "score")

    @cached_property
    def numbers(self) -> bool:
        """Return whether a rule reads the number of an object that play may have created, or its
        name, which may depend on it: then the living are not counted on from those before the
        search."""
        made = lowered(self._instance.program).creates
        if not made:
            return False
        read, is_subtype = set(self._numbered()), self._instance.program.is_subtype
        return any(is_subtype(one, of) or is_subtype(of, one) for one in read for of in made)

    def _numbered(self) -> Iterator[str]:
        """The types of the objects whose numbers or names are read."""
        for part in (part for term in self.terms for part in m.subterms(term)):
            if isinstance(part, m.BuiltinCall) and part.name == "id":
                yield from m.objects_named(part.args)
            elif isinstance(part, m.TemplateTerm):
                yield from m.objects_named(m.slot_terms(part.template))


# ---- Created objects ----------------------------------------------------------------------------
# Objects that were made before the search keep their numbers. Of those created since, the dead are
# left out and the living are counted on from there, so that creating and destroying in turn leads
# back to where it began. Only where a rule reads such numbers they count as they are.

Ranks = Mapping[int, int]
"""The numbers that created objects count as; everything else counts as itself."""
Longs = tuple[tuple[int | None, LongAction], ...]


def ranks_of(made: Sequence[int], known: int, shape: KeyShape) -> dict[int, int]:
    """The numbers of living objects made since the search began, as keys count them."""
    return {number: number if shape.numbers else known + rank for rank, number in enumerate(made)}


def ranked(slots: Slots, store: Store, S: list[Any], known: int, ranks: Ranks) -> Hashable:
    """The values of a fluent, created objects by rank."""
    column = store.column
    value = _renamer(column.fluent.type, ranks)
    if column.tupled:
        params, default = column.fluent.params, column.default
        held = ((args, S[at]) for args, at in slots.places_of(store))
        return frozenset((_renamed(x, params, ranks), value(y)) for x, y in held if y != default)
    if column.single:
        assert store.offset is not None
        return (value(S[store.offset]),)
    numbers = (*range(known), *ranks)
    values = tuple([value(S[store.table[number]]) for number in numbers])
    if not (store.kids and column.fluent.ordered):
        return values
    listed = (S[store.kids[number]] for number in numbers)
    return values, tuple([tuple([ranks.get(x, x) for x in kids]) for kids in listed])


def _renamer(kind: object, ranks: Ranks) -> Callable[[Raw], Raw]:
    if not isinstance(kind, m.ObjectType):
        return lambda value: value
    return lambda value: ranks.get(value, value) if isinstance(value, int) else value


def _renamed(
    args: Sequence[Raw], params: Sequence[m.FluentParam | m.Binder], ranks: Ranks
) -> tuple[Raw, ...]:
    return tuple(
        _renamer(param.type, ranks)(value) for value, param in zip(args, params, strict=True)
    )


def longs_of(slots: Slots, S: list[Any], made: Sequence[int], known: int, ranks: Ranks) -> Longs:
    """Long actions by canonical numbers; an argument that died counts as none at all."""
    gone = {x: -1 for x in range(known, len(S[KINDS])) if x not in made}
    names, actions = {**ranks, **gone}, slots.program.actions
    return tuple(
        (
            actor if actor is None else names.get(actor, actor),
            LongAction(
                Command(
                    long.command.action,
                    _renamed(long.command.args, actions[long.command.action].params, names),
                ),
                long.done,
                long.total,
            ),
        )
        for actor, long in S[LONGS]
    )


# ---- The contents of fluents by number ----------------------------------------------------------
# Each fluent that play may change counts as one variable: the values of all its slots have one
# number. Most states differ from the one whose successors they are in a fluent or two, so only
# those are looked at anew.

Parts = Sequence[int]
"""The number of the values of each fluent."""
Change = tuple[tuple[int, int], ...]
"""Fluents that hold something else now: their places among the parts, and the new numbers."""


class Population:
    """The living objects. ``made`` are those created since the search began, ``number``
    distinguishes populations in keys. ``ranks``: set once some of those have died; they then count
    by order of creation, and states of populations with the same ``number`` may share the numbers
    of fluents that hold other objects. ``held`` has for each fluent its values by number."""

    __slots__ = ("held", "made", "number", "ranks")

    def __init__(
        self, made: tuple[int, ...], number: int, ranks: Ranks | None, held: list[dict[int, Any]]
    ) -> None:
        self.made, self.number, self.ranks, self.held = made, number, ranks, held


class _Block:
    """A fluent whose slots follow each other and are always the same ones."""

    def __init__(self, begin: int, end: int, until: int) -> None:
        self._key, self._all = slice(begin, end), slice(begin, until)

    def key(self, S: list[Any], living: Population) -> Hashable:
        return tuple(S[self._key])

    def content(self, S: list[Any]) -> Any:
        return S[self._all]

    def put(self, S: list[Any], content: Any) -> None:
        S[self._all] = content


class _Scattered:
    """A fluent whose slots come and go, or lie apart."""

    def __init__(self, slots: Slots, store: Store, known: int) -> None:
        self._slots, self._store, self._known = slots, store, known

    def key(self, S: list[Any], living: Population) -> Hashable:
        self._slots.fill(S)
        store = self._store
        if living.ranks is not None:
            return ranked(self._slots, store, S, self._known, living.ranks)
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
        self._populations: dict[Any, Population] = {}
        self._numbered: dict[Hashable, int] = {}
        self._population: tuple[Any, Population] | None = None
        self._places: list[int] = []

    def _laid(self, store: Store) -> _Block | _Scattered:
        """The reader of a fluent: one block of slots, lists of objects that point at something
        last, or scattered slots."""
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

    def population(self, S: list[Any]) -> Population:
        """The population of a row."""
        kinds = S[KINDS]
        if self._population is None or self._population[0] is not kinds:
            found = self._populations.get(kinds)
            if found is None:
                found = self._populations[kinds] = self._called(kinds)
            self._population = (kinds, found)
        return self._population[1]

    def _called(self, kinds: tuple[str | None, ...]) -> Population:
        known, shape = self._known, self._shape
        made = tuple([n for n in range(known, len(kinds)) if kinds[n] is not None])
        gaps = len(kinds) > known + len(made)
        ranks = ranks_of(made, known, shape) if gaps else None
        key = self.population_key(kinds, made)
        number = self._numbered.setdefault(key, len(self._numbered))
        held = self._held if ranks is None else [{} for _ in self._stores]
        return Population(made, number, ranks, held)

    def share(self, other: Numbering) -> None:
        """Give the numbers that another layout of the same rows has given."""
        self._numbers, self._numbered = other._numbers, other._numbered

    def population_key(self, kinds: tuple[str | None, ...], made: tuple[int, ...]) -> Hashable:
        """The key of a population: the types of objects created since, in order; with their numbers
        and the next one if rules read them."""
        alive = tuple([kind is not None for kind in kinds[: self._known]])
        living = tuple([kinds[n] for n in made])
        return (alive, living, made, len(kinds)) if self._shape.numbers else (alive, living)

    def number(self, state: Kept, before: Kept | None = None, written: Iterable[int] = ()) -> None:
        """Give a state its parts and population; ``before``: it differs from that in the slots
        ``written`` alone."""
        if state.by is self:
            return
        living = self.population(state.S)
        if before is None or before.by is not self or before.population is not living:
            parts: Parts = [self._of(place, state.S, living) for place in range(len(self._fluents))]
        else:
            parts = changed(before.parts, self.between(state.S, before.parts, written, living))
        self.call(state, parts, living)

    def call(self, state: Kept, parts: Parts, living: Population) -> None:
        """Note the parts and the population of a state."""
        state.by, state.parts, state.population, state.short_key = self, parts, living, None

    def keys(self, S: list[Any], living: Population) -> tuple[Hashable, ...]:
        """The values of each fluent in full."""
        return tuple([one.key(S, living) for one in self._fluents])

    def _of(self, place: int, S: list[Any], living: Population) -> int:
        """Return the number that identifies the values of a fluent in a row."""
        numbers, key = self._numbers[place], self._fluents[place].key(S, living)
        number = numbers.get(key)
        if number is None:
            number = numbers[key] = len(numbers)
        return number

    def between(
        self, S: list[Any], parts: Parts, written: Iterable[int], living: Population
    ) -> Change:
        """The changed fluents of a row after writes of these slots; stores their values."""
        found = []
        for place in sorted(self._touched(written)):
            number = self._of(place, S, living)
            if number != parts[place]:
                found.append((place, number))
                held = living.held[place]
                if number not in held:
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

    def put(self, S: list[Any], change: Change, living: Population) -> None:
        """Write a change into a row of a population."""
        for place, number in change:
            self._fluents[place].put(S, living.held[place][number])

    # ---- asking -------------------------------------------------------------------------------

    def places(self, fluents: Iterable[str]) -> tuple[int, ...]:
        """The places of those fluents that play may change."""
        return tuple(sorted(self.place[one] for one in fluents if one in self.place))

    def of_fluents(self, fluents: Collection[str]) -> Callable[[Any], Hashable]:
        """A getter of the numbers of some fluents, and of the population, from a short key."""
        return itemgetter(*self.places(fluents), len(self._fluents))


def changed(parts: Parts, change: Change) -> Parts:
    """The numbers of the fluents after a change."""
    if not change:
        return parts
    found = list(parts)
    for place, number in change:
        found[place] = number
    return found


# ---- Keys and short keys ------------------------------------------------------------------------


class Keys:
    """The keys and short keys of one search; ``known`` objects were made before it began.

    Two states have equal short keys if and only if they have equal keys.
    """

    def __init__(self, slots: Slots, shape: KeyShape, known: int) -> None:
        self.slots, self._shape, self._known = slots, shape, known
        self.numbering = Numbering(slots, shape, known)
        self._began: Kept | None = None

    def short_key(self, state: Kept) -> Hashable:
        """The short key of a state."""
        self.numbering.number(state)
        if state.short_key is None:
            S, living = state.S, state.population
            history = self.history(S[TICK], S[AWARDED])
            midway = () if not S[TURN] else self.midway(S[TURN], S[DID], S[ROUND])
            longs = self._longs(S, living) if S[LONGS] else ()
            state.short_key = (*state.parts, living.number, S[LATCHED], longs, history, *midway)
        short_key: Hashable = state.short_key
        return short_key

    def _longs(self, S: list[Any], living: Population) -> Longs:
        if living.ranks is None:
            return S[LONGS]  # type: ignore[no-any-return]
        return longs_of(self.slots, S, living.made, self._known, living.ranks)

    def key(self, state: Kept) -> Hashable:
        """The key of a state."""
        return self._key(state.S)

    def _key(self, S: list[Any], *, midway: bool = False) -> Hashable:
        """The same; ``midway``: for the row at the start of a round, whose clock is left out."""
        living = self.numbering.population(S)
        history = () if midway else self.history(S[TICK], S[AWARDED])
        key = self.numbering.population_key(S[KINDS], living.made)
        found = (*self.numbering.keys(S, living), key, S[LATCHED], self._longs(S, living), history)
        if not S[TURN]:
            return found
        if not self._shape.looks_back:
            return (*found, S[TURN])
        began = None if S[ROUND] is None else self._key(S[ROUND], midway=True)
        return (*found, S[TURN], S[DID], began)

    def clock(self, tick: int) -> tuple[int, ...]:
        """The part of a tick number that rules read."""
        return self._shape.clock.of(tick)

    def history(self, tick: int, awarded: tuple[int, ...]) -> tuple[Hashable, ...]:
        """The part of a tick number and of the given awards that rules read."""
        clock = self._shape.clock.of(tick)
        return (*clock, tuple(sorted(awarded))) if self._shape.awards else clock

    def midway(self, turn: int, executed: Any, began: list[Any] | None) -> tuple[Hashable, ...]:
        """Return the key between two actors of a round: the turn, and the rows still read."""
        if not self._shape.looks_back:
            return (turn,)
        return (turn, executed, None if began is None else self.short_key(self.began(began)))

    def began(self, S: list[Any]) -> Kept:
        """The row that a round began with, as a state with its numbers."""
        if self._began is None or self._began.S is not S:
            self._began = Kept(self.slots, S)
            self.numbering.number(self._began)
        return self._began
