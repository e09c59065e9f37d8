"""The places of each fluent's slots in a row.

A row is one list. Its first slots hold the header (tick, endings, long actions, population), then
come the slots of every fluent that play can change. Fluents that play never changes are in a row
of their own, ``static``, which all states share. A slot's place is found in one of three ways:

- ``table[x]``, a list by object number, for fluents of one object; where the numbers of the owners
  follow each other this is ``offset + x``;
- strides, for several arguments over few values that neither come nor go;
- ``rows[args]``, a dict that gains a slot when a tuple is first written, for all others.

Slots are only ever added, at the end: a row that is shorter than the layout is filled up from
``blank``. `NOTHING` is the slot of arguments without a slot: it always holds `none`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, Final, assert_never

from tokenworld import model as m
from tokenworld.core import Rules
from tokenworld.core.nodes import Body, Destroy
from tokenworld.core.rules import Footprint
from tokenworld.core.walk import statements_in
from tokenworld.engine.columns import Column, Layout
from tokenworld.engine.saved.digest import Frame, framed_hash, header_frame
from tokenworld.engine.state import State, Trail, column_of
from tokenworld.ground import Instance, Raw, domain_of

NOTHING: Final = 0
TICK: Final = 1
SEED: Final = 2
NEXT: Final = 3
"""The number of the next object."""
KINDS: Final = 4
"""The type of each object by number, ``None`` for destroyed objects."""
NAMES: Final = 5
LATCHED: Final = 6
AWARDED: Final = 7
FIRED: Final = 8
LONGS: Final = 9
DID: Final = 10
DRAWN: Final = 11
TURN: Final = 12
ROUND: Final = 13
"""Between the actors of a round: a copy of the row that the round began with."""
REPORTED: Final = 14
"""In a round: a copy of the row that watches compare with."""
FACTS: Final = 15
"""The sum of the hashes of all facts (`digest.Digest`); ``None`` where nobody asks for it."""
HEAD: Final = 16

MOST_DENSE = 10_000
"""Slots up to which a fluent of several arguments has one for each tuple."""


MOST_STATIC = 1 << 20
"""The same for fluents that play never changes, in rows of numbers."""


@dataclass(slots=True)
class Store:
    """The places of the slots of one fluent. ``live``: play may change it. ``offset`` is set if
    places are computed, with ``spans`` (lowest value, number of values) for each argument;
    ``kids[x]`` is the slot with the list of objects that point at x."""

    column: Column
    live: bool
    offset: int | None = None
    spans: tuple[tuple[int, int], ...] = ()
    table: list[int] = field(default_factory=list)
    kids: list[int] | None = None
    rows: dict[tuple[Raw, ...], int] = field(default_factory=dict)

    @property
    def strided(self) -> bool:
        """Return whether every tuple of arguments has a slot from the start."""
        return self.column.tupled and self.offset is not None

    def find(self, args: tuple[Raw, ...]) -> int | None:
        """Return the slot of arguments that are not `none`; ``None`` if it does not exist yet."""
        if self.column.single:
            return self.offset
        if self.column.by_object:
            return self.table[args[0]]  # type: ignore[index]
        if self.column.fluent.symmetric and args[0] > args[1]:  # type: ignore[operator]
            args = (args[1], args[0])
        if self.offset is None:
            return self.rows.get(args)
        place = 0
        for value, (low, size) in zip(args, self.spans, strict=True):
            at: int = value - low  # type: ignore[operator,assignment]
            if not 0 <= at < size:
                return None
            place = place * size + at
        return self.offset + place


class Slots:
    """The layout of all rows that have the population and the unchanging facts of ``base``.

    ``blank`` holds the initial value of each slot; ``owner`` and ``args`` the fluent and arguments
    of each slot (``None`` for the header and for lists of children). ``live`` are the header slots
    that list the living objects, by type; ``lists`` maps each list of children to the store and the
    parent. ``epoch`` counts changes of any row: a result cached for a row is valid for one epoch.
    ``fixed``: fluents that play never writes are equal in all states. ``outside`` are bodies that
    may run too. ``dense``: as `MOST_DENSE`, for fluents that play never changes.
    """

    def __init__(
        self, layout: Layout, rules: Rules, base: State, *, fixed: bool = True,
        outside: tuple[Body, ...] = (), dense: int = MOST_DENSE,
    ) -> None:  # fmt: skip
        self.columns_layout, self.rules = layout, rules
        self.instance: Instance = layout.instance
        self.program = self.instance.program
        self.base = base
        self._given, self._dense = (fixed, outside), dense
        self.epoch = 0
        self.creates = rules.creates | rules.footprint((), outside).creates
        self.mortal = _mortal_types(rules, outside)
        self.blank: list[Any] = [None] * HEAD
        self.static: list[Any] = [None]
        self.owner: list[Store | None] = [None] * HEAD
        self.args: list[tuple[Raw, ...]] = [()] * HEAD
        self.lists: dict[int, tuple[Store, int]] = {}
        self._population: tuple[Any, ...] | None = None
        self._frame: tuple[tuple[Any, ...], Frame] | None = None
        self._shared = base.cols
        self._last: tuple[State, list[Any]] | None = None
        """The state that was converted last, with its row: the successor that one transition tells
        is where the next one begins."""
        self.named = {name: number for number, name in enumerate(base.names)}
        """The numbers of the first objects by name."""
        self.live = {name: self._add((), None) for name in (m.ROOT, *self.program.types)}
        self.moving = frozenset(
            name
            for name in (m.ROOT, *self.program.types)
            if name in self.mortal or self.grows(name) or (name == m.ROOT and self.mortal)
        )
        self.ancestry = {
            name: tuple(dict.fromkeys((*kind.ancestors, m.ROOT)))
            for name, kind in self.program.types.items()
        }
        changed = frozenset[str]().union(*(one.writes for one in rules.in_play))
        changed |= frozenset(() if fixed else self.program.fluents)
        self.stores = tuple(self._store(column, changed) for column in layout.columns)
        self.by_id = {one.column.fluent.id: one for one in self.stores}
        self.numbered = len(base.kinds)
        self.static = self._filled(base, False)

    def first(self, dense: int = MOST_DENSE) -> Slots:
        """The layout as it was made, before play added slots to it, or with another ``dense``."""
        fixed, outside = self._given
        return Slots(
            self.columns_layout, self.rules, self.base, fixed=fixed, outside=outside, dense=dense
        )

    # ---- making places -----------------------------------------------------------------------

    def grows(self, name: str) -> bool:
        """Return whether objects of a type may be created in play."""
        return any(name == m.ROOT or self.program.is_subtype(one, name) for one in self.creates)

    def _moves(self, kind: m.ValueType) -> bool:
        return isinstance(kind, m.ObjectType) and kind.name in self.moving

    def _add(self, value: Any, store: Store | None, args: tuple[Raw, ...] = ()) -> int:
        """A new slot at the end of the live row."""
        return self._places(store, True, value, [args])

    def _places(
        self, store: Store | None, live: bool, value: Any, args: Sequence[tuple[Raw, ...]]
    ) -> int:
        """New slots of a fluent, one for each of these arguments, at the end of the row that it
        belongs to; the first of them."""
        row = self.blank if live else self.static
        first = len(row)
        row += [value] * len(args)
        if live:
            self.owner += [store] * len(args)
            self.args += args
        return first

    def _store(self, column: Column, changed: frozenset[str]) -> Store:
        fluent = column.fluent
        kinds = [fluent.type, *(one.type for one in fluent.params)]
        store = Store(column, fluent.id in changed or any(map(self._moves, kinds)))
        if column.single:
            store.offset = self._places(store, store.live, column.default, [()])
        elif column.by_object:
            self._by_object(store)
        else:
            self._by_tuple(store)
        return store

    def _by_object(self, store: Store) -> None:
        """A slot for each owner, and the list of children of each object they may point at."""
        column, kinds = store.column, self.base.kinds
        owned = [number for number, kind in enumerate(kinds) if self.owns(store, kind)]
        first = self._places(store, store.live, None, [(number,) for number in owned])
        store.table = [NOTHING] * len(kinds)
        for at, number in enumerate(owned, first):
            store.table[number] = at
        if owned and owned == list(range(owned[0], owned[-1] + 1)) and not self._growing(store):
            store.offset, store.spans = store.table[owned[0]], ((owned[0], len(owned)),)
        if column.has_children:
            first = self._places(None, store.live, (), [()] * len(kinds))
            store.kids = list(range(first, first + len(kinds)))
            if store.live:
                self.lists |= {at: (store, number) for number, at in enumerate(store.kids)}

    def _growing(self, store: Store) -> bool:
        kind = store.column.fluent.params[0].type
        return isinstance(kind, m.ObjectType) and self.grows(kind.name)

    def owns(self, store: Store, kind: str | None) -> bool:
        """Return whether an object of a type, or a destroyed one (``None``), has a slot."""
        return kind is None or kind in self.columns_layout.owners[store.column.index]

    def _by_tuple(self, store: Store) -> None:
        fluent = store.column.fluent
        spans = [self._span(one.type) for one in fluent.params]
        known = [one for one in spans if one is not None]
        most = MOST_DENSE if store.live else self._dense
        if len(known) < len(spans) or prod(size for _, size in known) > most:
            return
        store.spans = tuple(known)
        args = list(product(*(range(low, low + size) for low, size in known)))
        first = self._places(store, store.live, store.column.default, args)
        store.offset = first if args else NOTHING

    def _span(self, kind: m.ValueType) -> tuple[int, int] | None:
        """The lowest value of an argument and how many there are; ``None`` if that is not fixed."""
        match kind:
            case m.EnumType(name=name, optional=False):
                return 0, len(self.program.enums[name].members)
            case m.NumberType(low=int() as low, high=int() as high, optional=False):
                return low, high - low + 1
            case m.BoolType():
                return 0, 2
            case m.ObjectType(name=name, optional=False) if name not in self.moving:
                numbers = self.base.live[name]
                whole = numbers and numbers == tuple(range(numbers[0], numbers[-1] + 1))
                return (numbers[0], len(numbers)) if whole else None
            case (
                m.EnumType() | m.NumberType() | m.ObjectType() | m.RealType() | m.TextType()
                | m.NoneType() | m.CollectionType()
            ):  # fmt: skip
                return None
            case _:
                assert_never(kind)

    def slot(self, store: Store, args: tuple[Raw, ...]) -> int:
        """The slot of arguments, made where there is none yet."""
        found = store.find(args)
        if found is None:
            if store.column.fluent.symmetric:
                args = tuple(sorted(args))  # type: ignore[type-var]
            found = self._places(store, store.live, store.column.default, [args])
            store.rows[args] = found
        return found

    def number(self, number: int) -> None:
        """Make the slots that an object of this number may need, for any type."""
        while self.numbered <= number:
            for store in self.stores:
                if not store.column.by_object:
                    continue
                grows = store.live and self._growing(store)
                place = self._add(None, store, (self.numbered,)) if grows else NOTHING
                store.table.append(place)
                if store.kids is not None:
                    place = self._add((), None) if store.live else NOTHING
                    store.kids.append(place)
                    if store.live:
                        self.lists[place] = (store, self.numbered)
            self.numbered += 1

    def decisive(self, rule: Footprint) -> Iterator[int]:
        """The slots of a row that decide the result of a rule that does not look back."""
        yield KINDS
        yield from (self.live[name] for name in rule.types)
        for fluent in rule.reads:
            store = self.by_id[fluent]
            if store.live:
                yield from (at for _, at in self.places_of(store))
                if store.column.fluent.ordered:
                    yield from store.kids or ()

    def shaped(self, slot: int) -> bool:
        """Return whether the value of a slot must fit those of others: unique, nested, acyclic."""
        store = self.owner[slot]
        return store is not None and store.column.shaped

    def first_values(self, domain: Any) -> Sequence[Raw]:
        """The values of a parameter with this domain at the start, objects by number."""
        match domain:
            case m.TypeRange(of=m.ObjectType(name=name)):
                return self.base.live[name]
            case m.TypeRange(of=of):
                return domain_of(self.instance, of) or ()
            case m.IntervalRange(low=low, high=high):
                return range(low, high + 1)
            case _:
                raise TypeError("a parameter ranges over a type or an interval")

    def seat(self, S: list[Any]) -> int:
        """The place in the round of the next actor who lives."""
        turn, actors, kinds = S[TURN], self.base.actors, S[KINDS]
        if len(actors) < 2 or (turn < len(actors) and kinds[actors[turn]] is not None):
            return int(turn)
        living = (at for at in range(turn, len(actors)) if kinds[actors[at]] is not None)
        return next(living, turn)

    def acting(self, S: list[Any]) -> int | None:
        """The actor whose intent comes next."""
        actors = self.base.actors
        return actors[self.seat(S)] if len(actors) > 1 else self.base.me

    def fill(self, row: list[Any]) -> None:
        """Give a row the slots that it lacks."""
        if len(row) < len(self.blank):
            row.extend(self.blank[len(row) :])

    # ---- from and to states ------------------------------------------------------------------

    def fits(self, state: State) -> bool:
        """Return whether a state has the unchanging facts and the population of this layout."""
        return self.peopled(state) and (self._shares(state) or self._equals(state))

    def _equals(self, state: State) -> bool:
        """Return whether the columns that play never changes are equal; note that."""
        same = self._filled(state, False) == self.static
        if same:
            self._shared = state.cols
        return same

    def peopled(self, state: State) -> bool:
        """Return whether a state has the population of this layout."""
        known = len(self.base.kinds)
        return (
            state.names[:known] == self.base.names
            and all(old is None or new is None or old == new
                    for old, new in zip(self.base.kinds, state.kinds, strict=False))
            and self.creates.issuperset(one for one in state.kinds[known:] if one is not None)
            and all(state.live[name] == members for name, members in self.base.live.items()
                    if name not in self.moving)
            and state.actors == self.base.actors
        )  # fmt: skip

    def _shares(self, state: State) -> bool:
        """Return whether a state shares the column objects that play never changes: those of the
        base, or of a state that was found equal."""
        now = state.cols
        return any(
            all(x.live or now[x.column.index] is known[x.column.index] for x in self.stores)
            for known in (self.base.cols, self._shared)
        )

    def encode(self, state: State) -> list[Any]:
        """The row of a state."""
        self.number(len(state.kinds) - 1)
        if self._last is not None and self._last[0] is state:
            row = list(self._last[1])
        else:
            row = self._filled(state, True)
            self._last = state, list(row)
        self.take_header(state, row)
        return row

    def forget(self) -> None:
        """Forget the row of the last state."""
        self._last = None

    def take_header(self, state: State, row: list[Any]) -> None:
        """Let a row have the header of a state."""
        row[TICK], row[SEED], row[NEXT] = state.tick, state.seed, state.next_id
        row[KINDS], row[NAMES] = tuple(state.kinds), state.names
        self._population = (row[KINDS], state.names, state.kinds, state.live, state.numbers)
        row[LATCHED], row[AWARDED], row[FIRED] = state.latched, state.awarded, state.fired
        row[LONGS], row[DID], row[DRAWN] = state.longs, state.executed, state.drawn
        row[TURN], row[FACTS] = state.turn, state.facts
        for name, slot in self.live.items():
            row[slot] = state.live[name]
        for slot, past in ((ROUND, state.round), (REPORTED, state.reported)):
            row[slot] = None if past is None else self.past(past, row)

    def past(self, past: State, row: list[Any]) -> list[Any]:
        """The row that a round looks back at; objects created since read as they are now."""
        found = self.encode(past)
        began = len(past.kinds)
        if began < len(row[KINDS]):
            found[KINDS], found[NAMES] = (*found[KINDS], *row[KINDS][began:]), row[NAMES]
            for store in self.stores if len(found) == len(row) else ():
                if store.column.by_object and store.live:
                    for place in store.table[began : len(row[KINDS])]:
                        found[place] = row[place]
        return found

    def _filled(self, state: State, live: bool) -> list[Any]:
        """The facts of a state as a row, without its header."""
        for store in self.stores:
            if store.column.tupled and store.live == live:
                for args in state.cols[store.column.index]:
                    self.slot(store, args)
        row = list(self.blank) if live else list(self.static)
        for store in self.stores:
            if store.live == live:
                self._fill(store, state, row)
        row[NOTHING] = None
        return row

    def _fill(self, store: Store, state: State, row: list[Any]) -> None:
        """Set the slots of a fluent to their values in a state."""
        if store.column.by_object and store.offset is not None:
            ((low, size),) = store.spans
            held = list(state.cols[store.column.index])[low : low + size]
            row[store.offset : store.offset + size] = held
        else:
            for args, place in self._keys(store, len(state.kinds)):
                row[place] = state.get(store.column, args)
        if store.kids is not None:
            for place, listed in zip(store.kids, state.kids[store.column.index], strict=False):
                row[place] = tuple(listed)

    def _keys(self, store: Store, numbers: int) -> Iterator[tuple[Any, int]]:
        """The keys of a column that have a slot, with it."""
        if store.column.single:
            assert store.offset is not None
            yield 0, store.offset
        elif store.column.by_object:
            yield from ((x, at) for x, at in enumerate(store.table[:numbers]) if at != NOTHING)
        elif store.offset is None:
            yield from list(store.rows.items())
        else:
            ranges = (range(low, low + size) for low, size in store.spans)
            yield from ((args, store.offset + at) for at, args in enumerate(product(*ranges)))

    def places_of(self, store: Store) -> Iterator[tuple[Any, int]]:
        """All keys of a fluent that have a slot, with it."""
        return self._keys(store, self.numbered)

    def decode(self, row: list[Any]) -> State:
        """Convert a row to a state."""
        state = State.__new__(State)
        self.read_back(row, state)
        state.round = None if row[ROUND] is None else self.decode(row[ROUND])
        state.reported = None if row[REPORTED] is None else self.decode(row[REPORTED])
        return state

    def read_back(self, row: list[Any], state: State) -> None:
        """Copy a row into a state, except the rows that it looks back at."""
        self.fill(row)
        self.put_header(row, state)
        state.layout = self.columns_layout
        state.mine, state.trail = set(), Trail()
        state.cols, state.kids = list(self.base.cols), list(self.base.kids)
        grown = len(state.kinds) > len(self.base.kinds)
        for store in self.stores:
            if store.live or grown:
                self._read_back(store, row if store.live else self.static, state)

    def read(self, row: list[Any], fluent: str, args: tuple[Raw, ...]) -> Raw:
        """The value of a slot."""
        store = self.by_id[fluent]
        place, holder = store.find(args), row if store.live else self.static
        if place is None or place >= len(holder):
            return store.column.default
        value: Raw = holder[place]
        return value

    def stored(self, row: list[Any], fluent: str) -> list[tuple[tuple[Raw, ...], Raw]]:
        """The slots of a fluent with their values; of tuples only those that differ from what
        nothing sets."""
        store, size = self.by_id[fluent], len(row[KINDS])
        holder, column = row if store.live else self.static, store.column
        self.fill(row)
        if column.tupled:
            held = ((args, holder[at]) for args, at in self._keys(store, size))
            return [(args, value) for args, value in held if value != column.default]
        if column.single:
            return [((), holder[store.offset or NOTHING])]
        owners = self.columns_layout.owners.get(column.index, frozenset())
        return [((x,), holder[store.table[x]]) for x, of in enumerate(row[KINDS]) if of in owners]

    def hash(self, row: list[Any]) -> str:
        """The state hash of a row whose facts are settled."""
        decided = (
            row[NAMES], row[SEED], row[NEXT], row[LATCHED], row[AWARDED], row[FIRED], row[LONGS],
            row[TURN], row[DRAWN],
        )  # fmt: skip
        if self._frame is None or self._frame[0] != decided:
            state = State.__new__(State)
            state.layout = self.columns_layout
            self.put_header(row, state)
            self._frame = decided, header_frame(state)
        return framed_hash(self._frame[1], row[TICK], row[FACTS])

    def put_header(self, row: list[Any], state: State) -> None:
        """Copy the header of a row into a state, except the rows that it looks back at."""
        known = self._population
        if known is None or known[0] is not row[KINDS] or known[1] is not row[NAMES]:
            live = {name: row[slot] for name, slot in self.live.items()}
            first = len(self.base.names)
            later = {name: number for number, name in enumerate(row[NAMES][first:], first)}
            numbers = self.named | later
            known = self._population = (row[KINDS], row[NAMES], list(row[KINDS]), live, numbers)
        _, state.names, state.kinds, state.live, state.numbers = known
        state.actors = self.base.actors
        state.tick, state.seed, state.next_id = row[TICK], row[SEED], row[NEXT]
        state.latched, state.awarded, state.fired = row[LATCHED], row[AWARDED], row[FIRED]
        state.longs, state.executed, state.drawn = row[LONGS], row[DID], row[DRAWN]
        state.turn, state.facts = row[TURN], row[FACTS]

    def _column(self, store: Store, row: list[Any], size: int) -> list[Any]:
        """The values of a fluent of one object by the number of the object."""
        if store.offset is None:
            return [row[at] for at in store.table[:size]]
        ((low, many),) = store.spans
        held = row[store.offset : store.offset + many]
        return [None] * low + held + [None] * (size - low - many)

    def _read_back(self, store: Store, row: list[Any], state: State) -> None:
        column, size = store.column, len(state.kinds)
        if column.single:
            state.cols[column.index] = [row[store.offset or NOTHING]]
        elif column.by_object:
            state.cols[column.index] = column_of(self._column(store, row, size))
        else:
            held = ((args, row[at]) for args, at in self._keys(store, size))
            state.cols[column.index] = {
                column.key(args): value for args, value in held if value != column.default
            }
        if column.has_children:
            listed = [list(row[at] or ()) for at in (store.kids or ())[:size]]
            state.kids[column.index] = column_of(listed or [[] for _ in range(size)])


class Places:
    """Rows of numbers in which objects come and go.

    An object of the base has its number as its place. One that is created takes a free place of
    ``spare`` ones and gives it back when it is destroyed, for use in later ticks; slots hold its
    number, the word of its name in keys of draws, and what made it (`made`). ``keepers`` is the
    slot of each place that holds the kind of its object, by the number of the kind, -1 where there
    is none; objects that cannot be destroyed share one by kind.
    """

    def __init__(self, slots: Slots, spare: int) -> None:
        self.moving = slots.moving
        self.slots = slots.first(dense=MOST_STATIC)
        self.first = len(slots.base.kinds)
        self.count = self.first + (spare if slots.creates else 0)
        self.slots.number(self.count - 1)
        self.kinds = tuple(slots.program.types)
        self.made: list[tuple[str, str]] = []
        """Names without number, and the types, of what rules create."""
        self.lists: dict[str, int] = {}
        """The slots at which the lists of living objects begin, with their length, by type."""
        self.size = len(self.slots.blank)
        self.ids, self.words, self.makers = (
            self._room(self.count - self.first) - self.first for _ in range(3)
        )
        """Slot ``ids + x`` is that of place x."""
        self.keepers = tuple(self._keepers())

    def _room(self, count: int) -> int:
        """New slots at the end of the row; the first of them."""
        self.size += count
        return self.size - count

    def _keepers(self) -> Iterator[int]:
        shared = dict[str | None, int]()
        for kind in self.slots.base.kinds:
            if kind in self.slots.mortal:
                yield self._room(1)
            else:
                shared[kind] = shared.get(kind) or self._room(1)
                yield shared[kind]
        for _ in range(self.first, self.count):
            yield self._room(1)

    def list_of(self, kind: str) -> int:
        """The slot at which the list of the living objects of a type begins."""
        if kind not in self.lists:
            longest = len(self.slots.base.live[kind]) + self.count - self.first
            self.lists[kind] = self._room(1 + longest)
        return self.lists[kind]

    def kind_number(self, kind: str | None) -> int:
        """The number of a type; -1 for none."""
        return -1 if kind is None else self.kinds.index(kind)

    def below(self, kind: str) -> list[int]:
        """For each kind, by number, 1 if its objects are of a type."""
        program = self.slots.program
        return [int(kind == m.ROOT or program.is_subtype(one, kind)) for one in self.kinds]

    def maker(self, name: str, of: str) -> int:
        """The number of the `create` that makes objects of a type with a name."""
        if (name, of) not in self.made:
            self.made.append((name, of))
        return self.made.index((name, of))


def _mortal_types(rules: Rules, outside: tuple[Body, ...]) -> frozenset[str]:
    """The types whose variables may hold a destroyed object: those that share a subtype with one
    that `destroy` names. The checker proves that a variable is never `none`, but does not look
    at destruction: a destroyed object reads as `none` (language.md §4), so that the code for terms
    about these types tests for it."""
    program = rules.program
    bodies = (*rules.bodies, *rules.given_bodies, *outside)
    targets = (
        one.target.type
        for body in bodies
        for one in statements_in(body)
        if isinstance(one, Destroy)
    )
    doomed = {one.name for one in targets if isinstance(one, m.ObjectType)}
    if not doomed:
        return frozenset()

    def below(name: str) -> frozenset[str]:
        return frozenset(one for one in program.types if program.is_subtype(one, name)) | {name}

    known = {name: below(name) for name in (*program.types, *doomed)}
    return frozenset(name for name, own in known.items() if any(own & known[x] for x in doomed))
