"""The state of a world between two moments, shared until it is written (copy on write)."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.columns import Column, Key, Layout
from tokenworld.engine.luck import NO_DRAWS, Counts
from tokenworld.ground import Command, Raw
from tokenworld.model import ROOT

# ---- Long columns --------------------------------------------------------------------------------
# A long column in chunks, so that a copy shares all chunks but the written ones.
#
# A list of 100,000 slots takes some 100 µs to copy, and a tick writes three of them. In chunks of
# 256 a copy is a list of 400 chunks, and the first write to a chunk copies that chunk alone.


LONG = 2048
"""The length from which a list is kept in chunks."""
SHIFT = 8
SIZE = 1 << SHIFT
MASK = SIZE - 1


class Wide:
    """As much of a list as columns need. ``copy`` shares the chunks; neither copy owns one then."""

    __slots__ = ("_chunks", "_mine", "_size")

    def __init__(self, values: Iterable[Any]) -> None:
        listed = list(values)
        self._chunks = [listed[at : at + SIZE] for at in range(0, len(listed), SIZE)]
        self._size = len(listed)
        self._mine = set(range(len(self._chunks)))

    def copy(self) -> Wide:
        new = Wide.__new__(Wide)
        new._chunks, new._size, new._mine = self._chunks.copy(), self._size, set()
        self._mine = set()
        return new

    def __getitem__(self, index: int) -> Any:
        return self._chunks[index >> SHIFT][index & MASK]

    def __setitem__(self, index: int, value: Any) -> None:
        self._own(index >> SHIFT)[index & MASK] = value

    def _own(self, number: int) -> list[Any]:
        if number not in self._mine:
            self._mine.add(number)
            self._chunks[number] = self._chunks[number].copy()
        return self._chunks[number]

    def append(self, value: Any) -> None:
        if self._size & MASK:
            self._own(self._size >> SHIFT).append(value)
        else:
            self._mine.add(len(self._chunks))
            self._chunks.append([value])
        self._size += 1

    def extend(self, values: Iterable[Any]) -> None:
        for value in values:
            self.append(value)

    def __delitem__(self, tail: slice) -> None:
        """Cut off the end: ``del values[start:]`` is all that columns need."""
        size = tail.start
        chunks = (size + MASK) >> SHIFT
        del self._chunks[chunks:]
        if size & MASK:
            del self._own(chunks - 1)[size & MASK :]
        self._mine = {number for number in self._mine if number < chunks}
        self._size = size

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return chain.from_iterable(self._chunks)

    def __contains__(self, value: object) -> bool:
        return any(value in chunk for chunk in self._chunks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (Wide, list)) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def column_of(values: list[Any]) -> Any:
    """A column of these values: a long one in chunks."""
    return Wide(values) if len(values) >= LONG else values


def copied(stored: Any) -> Any:
    """A copy of a column that can be written without touching the first: of a long list in chunks,
    of any other at once."""
    return Wide(stored) if isinstance(stored, list) and len(stored) >= LONG else stored.copy()


# ---- Written slots -------------------------------------------------------------------------------
# The slots written between two states.
#
# Every state has a node whose parent is the node of the state that it was forked from. A caller
# that computed something on one state (its legal actions, its hash) asks for the slots that may
# differ in another, and looks at those alone. A node keeps a few hundred ancestors, so that a long
# run does not hold its whole past; for older states the answer is "anything".


Slot = tuple[int, Any]
"""A column's index and a key in it; the key `ALL` is the whole column."""

ALL = None
REACH = 64
"""Nodes between two anchors; the links after the last anchor but one are let go."""


class Trail:
    """The ``slots`` written in one state since it was forked. ``moved``: its population changed."""

    __slots__ = ("anchor", "depth", "moved", "parent", "slots")

    def __init__(self, parent: Trail | None = None) -> None:
        self.parent = parent
        self.slots: list[Slot] = []
        self.moved = False
        self.anchor: Trail | None = None  # an anchor names none: it would hold itself
        if parent is None:
            self.depth = 0
            return
        self.depth, anchor = parent.depth + 1, parent.anchor or parent
        if self.depth % REACH == 0:
            anchor.parent = None
        else:
            self.anchor = anchor


def between(one: Trail, other: Trail) -> set[Slot] | None:
    """The slots that may differ between two states; ``None`` for anything."""
    found: set[Slot] = set()
    while one is not other:
        if one.depth < other.depth:
            one, other = other, one
        if one.moved or one.parent is None:
            return None
        found.update(one.slots)
        one = one.parent
    return found


# ---- The state -----------------------------------------------------------------------------------


_WORKED_OUT = frozenset(("mine", "trail"))
"""The attributes that a state loses when it is pickled; they are made again."""


@frozen
class LongAction:
    """A long action under way: ``done`` of ``total`` ticks."""

    command: Command
    done: int
    total: int


class State:
    """All fluents, the population, and the bookkeeping of the run.

    ``cols`` holds one column per fluent (see `Layout`), ``kids`` the children lists of fluents
    with an inverse. `fork` shares every column; a column is copied when first written to, so an
    earlier state never changes, and is among ``mine`` then. ``trail`` has the writes since
    a state before. ``facts`` is the multiset hash (see `digest`), where it is known. ``names`` and
    ``numbers`` know every object that ever was, ``kinds`` the type of each (``None``: destroyed).
    ``actors`` are those that take turns. ``executed`` are the intents executed or
    continued in this tick, for ``did``; ``longs`` the long actions under way, by actor. ``drawn``
    counts the draws that each rule has taken in this tick, by rule and arguments. Between the
    actors of a round ``turn`` says whose turn it is (0 between ticks), ``round`` is the state the
    round began with, ``reported`` the state that watches reported last.
    """

    __slots__ = (
        "actors",
        "awarded",
        "cols",
        "drawn",
        "executed",
        "facts",
        "fired",
        "kids",
        "kinds",
        "latched",
        "layout",
        "live",
        "longs",
        "mine",
        "names",
        "next_id",
        "numbers",
        "reported",
        "round",
        "seed",
        "tick",
        "trail",
        "turn",
    )

    def __init__(self, layout: Layout) -> None:
        instance = layout.instance
        self.layout = layout
        self.kinds: list[str | None] = [one.of for one in instance.decls]
        self.live: dict[str, tuple[int, ...]] = dict(instance.members)
        self.names: tuple[str, ...] = instance.names
        self.numbers: dict[str, int] = dict(instance.numbers)
        self.actors: tuple[int, ...] = instance.actors
        size = len(self.kinds)
        self.cols: list[Any] = [_empty(column, size) for column in layout.columns]
        self.kids: list[Any] = [
            column_of([[] for _ in range(size)]) if column.has_children else None
            for column in layout.columns
        ]
        self.tick = 0
        self.seed = 0
        self.next_id = size
        self.latched: tuple[str, ...] = ()
        self.awarded: tuple[int, ...] = ()
        self.fired: frozenset[tuple[str, tuple[Raw, ...]]] = frozenset()
        self.longs: tuple[tuple[int | None, LongAction], ...] = ()
        self.executed: tuple[tuple[int | None, Command], ...] = ()
        self.drawn: Counts = NO_DRAWS
        self.turn = 0
        self.round: State | None = None
        self.reported: State | None = None
        self.facts: int | None = None
        self.mine: set[int] = set(range(len(layout.columns)))
        self.trail = Trail()

    def fork(self) -> State:
        """A state equal to this one that can be written without touching it."""
        new = State.__new__(State)
        new.layout, new.kinds, new.live = self.layout, self.kinds, self.live
        new.names, new.numbers, new.actors = self.names, self.numbers, self.actors
        new.cols, new.kids = list(self.cols), list(self.kids)
        new.tick, new.seed, new.next_id = self.tick, self.seed, self.next_id
        new.latched, new.awarded, new.fired = self.latched, self.awarded, self.fired
        new.longs, new.facts, new.executed = self.longs, None, self.executed
        new.turn, new.round, new.reported = self.turn, self.round, self.reported
        new.drawn, new.mine = self.drawn, set()
        new.trail = Trail(self.trail)
        return new

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in State.__slots__ if name not in _WORKED_OUT}

    def __setstate__(self, found: Mapping[str, Any]) -> None:
        for name, value in found.items():
            setattr(self, name, value)
        self.mine, self.trail = set(), Trail()

    # ---- reading ------------------------------------------------------------------------

    @property
    def me(self) -> int | None:
        """The value of `me` if nobody acts: the first of `turns`, else the first of the actors."""
        return self.actors[0] if self.actors else None

    @property
    def seat(self) -> int:
        """The place in the round of whose turn it is: the first from ``turn`` on who lives."""
        actors, turn = self.actors, self.turn
        if len(actors) < 2 or (turn < len(actors) and self.alive(actors[turn])):
            return turn
        return next((seat for seat in range(turn, len(actors)) if self.alive(actors[seat])), turn)

    @property
    def acting(self) -> int | None:
        """The actor whose intent comes next."""
        if len(self.actors) > 1:
            return self.actors[self.seat]
        return self.actors[0] if self.actors else None

    def long_of(self, actor: int | None) -> LongAction | None:
        """The long action of an actor, if one is under way."""
        return next((long for who, long in self.longs if who == actor), None)

    def get(self, column: Column, key: Key) -> Raw:
        """The value of a slot."""
        stored = self.cols[column.index]
        if not column.tupled:
            return stored[key]  # type: ignore[no-any-return]
        return stored.get(key, column.default)  # type: ignore[no-any-return]

    def alive(self, number: int) -> bool:
        """Return whether the object has not been destroyed."""
        return self.kinds[number] is not None

    # ---- writing ------------------------------------------------------------------------

    def put(self, column: Column, key: Key, value: Raw) -> None:
        """Store a value; children lists follow. ``ordered`` re-files the object at the end."""
        self.trail.slots.append((column.index, key))
        stored = self.to_write(column)
        if column.tupled and value == column.default:
            stored.pop(key, None)
            return
        if column.has_children and column.by_object:
            old = stored[key]
            if old != value or column.fluent.ordered:
                self._refile(column, key, old, value)
        stored[key] = value

    def add(self, of: str, names: Sequence[str]) -> range:
        """New objects of a type, without attributes: their numbers."""
        numbers = range(len(self.kinds), len(self.kinds) + len(names))
        self.kinds = [*self.kinds, *(of for _ in names)]
        self.numbers = {**self.numbers, **dict(zip(names, numbers, strict=True))}
        self.names, self.next_id = (*self.names, *names), numbers.stop
        lineage = {*self.layout.instance.program.types[of].ancestors, ROOT}
        self.live = {x: (*y, *numbers) if x in lineage else y for x, y in self.live.items()}
        self.lengthen()
        for column in self.layout.columns:
            owned = column.by_object and of in self.layout.owners[column.index]
            if owned and column.fluent.fluent_kind != "attribute":
                for number in numbers:
                    self.put(column, number, column.default)
        return numbers

    def lengthen(self) -> None:
        """Let the columns have a place for each object that there is."""
        self.trail.moved = True
        size = len(self.kinds)
        for column in self.layout.columns:
            if column.by_object or column.has_children:
                stored, children = self.to_write(column), self.kids[column.index]
                if column.by_object:
                    stored.extend([None for _ in range(size - len(stored))])
                if children is not None:
                    children.extend([[] for _ in range(size - len(children))])

    def own(self, column: Column) -> Any:
        """This state's own copy of a column, to write to any slot of it."""
        self.trail.slots.append((column.index, ALL))
        return self.to_write(column)

    def to_write(self, column: Column) -> Any:
        """This state's own copy of a column, for a caller who notes its writes."""
        index, cols = column.index, self.cols
        if index not in self.mine:
            self.mine.add(index)
            cols[index] = copied(cols[index])
            if self.kids[index] is not None:
                self.kids[index] = copied(self.kids[index])  # the lists in it stay shared
        return cols[index]

    def _refile(self, column: Column, child: Key, old: Raw, new: Raw) -> None:
        children = self.kids[column.index]
        if old is not None:
            left = children[old] = children[old].copy()
            left.remove(child)
        if new is None:
            return
        if column.fluent.ordered:
            children[new] = [*children[new], child]
        else:
            filed = children[new] = children[new].copy()
            insort(filed, child)

    def begin(self, actor: int | None, long: LongAction | None) -> None:
        """Note the long action of an actor; ``None``: he is free again."""
        others = tuple(pair for pair in self.longs if pair[0] != actor)
        now = () if long is None else ((actor, long),)
        self.longs = tuple(sorted((*others, *now), key=lambda pair: pair[0] or 0))


def _empty(column: Column, size: int) -> Any:
    if column.single:
        return [column.default]
    if column.by_object:
        return column_of([None] * size)
    return {}
