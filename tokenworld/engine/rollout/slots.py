"""A world as whole numbers: which slot holds what, and states to rows and back.

A row begins with what a run keeps (tick, seed, endings, long actions), then come the columns that
play may write, then those that it never writes. Objects are their numbers, enum members their
positions, exact numbers scaled, truths 0 and 1, reals their bits; `NONE` is none.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from tokenworld.engine.births import play_bodies
from tokenworld.engine.engine import Engine
from tokenworld.engine.layout import Column
from tokenworld.engine.rollout.expressible import Inexpressible
from tokenworld.engine.rollout.scratch import LIMIT, MOST_ARGS, NONE
from tokenworld.engine.state import LongAction, State
from tokenworld.ground import Command, Raw
from tokenworld.ground.influence import written
from tokenworld.model import (
    ROOT,
    BoolType,
    Destroy,
    EnumType,
    NumberType,
    ObjectType,
    RealType,
    ValueType,
    effects_in,
)

__all__ = ["Cell", "Plan", "bits_of", "real_of"]

MOST_SLOTS = 200_000
HEADER = 7
NAN_BITS = 0x7FF8000000000000


def bits_of(value: float) -> int:
    """The bits of a double as a whole number; one pattern for all that is no number."""
    return NAN_BITS if value != value else int(struct.unpack("<q", struct.pack("<d", value))[0])


def real_of(bits: int) -> float:
    """The double with these bits."""
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])


@dataclass(slots=True)
class Cell:
    """A column's place in the row: ``spans`` are lowest value and size of each argument."""

    column: Column
    spans: tuple[tuple[int, int], ...]
    base: int
    size: int
    chains: int = -1

    @property
    def real(self) -> bool:
        return isinstance(self.column.fluent.type, RealType)


@dataclass
class Plan:
    """The row of one world; made from the state that its runs begin with."""

    engine: Engine
    start: State
    cells: list[Cell] = field(default_factory=list)
    texts: dict[str, int] = field(default_factory=dict)
    fired: dict[str, tuple[int, tuple[tuple[int, int], ...]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        program, world = self.engine.instance.program, self.engine.instance.world
        self.program, self.world = program, world
        self.origin = self.start  # the state that the present run began with
        self.actions = tuple(program.actions.values())
        self.objects = len(self.start.kinds)
        self.kinds = {name: number for number, name in enumerate((*program.types, ROOT))}
        bodies = play_bodies(program)
        self.destroys = any(isinstance(e, Destroy) for b in bodies for e in effects_in(b))
        fluents = dict(program.fluents)
        self.changing = frozenset[str]().union(*(written(fluents, body) for body in bodies))
        self.has_long = any(one.takes is not None for one in self.actions)
        self._place()

    # ---- places -------------------------------------------------------------------------------

    def _place(self) -> None:
        self.seats = max(1, len(self.start.actors))
        self.long_size = 3 + MOST_ARGS
        self.latched = HEADER
        self.awarded = self.latched + len(self.world.endings)
        self.longs = self.awarded + len(self.world.awards)
        self.deeds = self.longs + self.seats * self.long_size
        self.next = self.deeds + self.seats * (1 + MOST_ARGS)
        self._place_fired()
        self.cells = [self._cell(column) for column in self.engine.layout.columns]
        if self.destroys:
            self.kinds_at = self._take(self.objects)
        for cell in self.cells:
            if cell.column.fluent.id in self.changing:
                self._put(cell)
        self.row = self.next
        if not self.destroys:
            self.kinds_at = self._take(self.objects)
        for cell in self.cells:
            if cell.column.fluent.id not in self.changing:
                self._put(cell)
        if self.next > MOST_SLOTS:
            raise Inexpressible(f"it would take {self.next} slots", self.world.span)

    def _take(self, size: int) -> int:
        self.next += size
        return self.next - size

    def _put(self, cell: Cell) -> None:
        cell.base = self._take(cell.size)
        if cell.column.has_children and cell.column.by_object:
            cell.chains = self._take(2 * self.objects)

    def _place_fired(self) -> None:
        for name, watch in self.program.watches.items():
            if watch.once:
                spans = tuple(self.span(one.type, watch.span) for one in watch.params)
                self.fired[name] = (self._take(_product(spans)), spans)

    def _cell(self, column: Column) -> Cell:
        if column.by_object:
            return Cell(column, ((0, self.objects),), 0, self.objects)
        fluent = column.fluent
        spans = tuple(self.span(param.type, fluent.span) for param in fluent.params)
        if fluent.symmetric:
            low = min(one[0] for one in spans)
            high = max(one[0] + one[1] for one in spans)
            spans = ((low, high - low),) * 2
        wide = len(spans) > 2 and any(isinstance(p.type, ObjectType) for p in fluent.params)
        if wide and self.destroys:
            raise Inexpressible("a fluent of three or more, where objects die", fluent.span)
        if _product(spans) > MOST_SLOTS:
            raise Inexpressible(f"`{fluent.name}` takes {_product(spans)} slots", fluent.span)
        return Cell(column, spans, 0, _product(spans))

    def span(self, kind: ValueType, place: Any) -> tuple[int, int]:
        """The lowest value of an argument's type and how many places it takes."""
        match kind:
            case ObjectType(name=name):
                members = self.start.live[name]
                return (members[0], members[-1] + 1 - members[0]) if members else (0, 0)
            case EnumType(name=name):
                return 0, len(self.program.enums[name].members)
            case NumberType(low=int() as low, high=int() as high):
                return low, high - low + 1
            case BoolType():
                return 0, 2
            case _:
                raise Inexpressible(f"an argument is of type {kind.kind}", place)

    def cell(self, fluent: str) -> Cell:
        return self.cells[self.engine.layout.by_id[fluent].index]

    # ---- values -------------------------------------------------------------------------------

    def text(self, value: str) -> int:
        """The number of a text."""
        return self.texts.setdefault(value, len(self.texts))

    def encoded(self, value: Raw) -> int:
        """A raw value as a whole number."""
        match value:
            case None:
                return NONE
            case bool():
                return int(value)
            case float():
                return bits_of(value)
            case str():
                return self.text(value)
            case _:
                return value

    def decoded(self, kind: ValueType, value: int) -> Raw:
        """The raw value of a slot."""
        match kind:
            case RealType():
                real = real_of(value)
                return None if real != real else real
            case _ if value == NONE:
                return None
            case BoolType():
                return bool(value)
            case _ if kind.kind == "text":
                return next(text for text, number in self.texts.items() if number == value)
            case _:
                return value

    # ---- states to rows -----------------------------------------------------------------------

    def encode(self, state: State) -> list[int]:
        """The row of a state between two ticks; `Inexpressible` where it does not fit."""
        if len(state.kinds) != self.objects or state.actors != self.start.actors:
            raise Inexpressible("the setup makes other objects by chance", self.world.span)
        if state.kinds != self.start.kinds or state.names != self.start.names:
            raise Inexpressible("the setup makes other objects by chance", self.world.span)
        row = [0] * self.next
        row[1], row[2], row[3], row[4] = state.tick, state.seed, state.turn, int(state.turn > 0)
        row[5], row[6] = len(state.latched), len(state.awarded)
        names = [line.name for line in self.world.endings]
        for order, name in enumerate(state.latched):
            row[self.latched + names.index(name)] = order + 1
        for order, index in enumerate(state.awarded):
            row[self.awarded + index] = order + 1
        for seat in range(self.seats):
            row[self.longs + seat * self.long_size] = -1
            for place in range(1 + MOST_ARGS):
                row[self.deeds + seat * (1 + MOST_ARGS) + place] = -1
        if state.longs or state.fired:
            raise Inexpressible("a run that begins amid a long action", self.world.span)
        for number, kind in enumerate(state.kinds):
            row[self.kinds_at + number] = -1 if kind is None else self.kinds[kind]
        for cell in self.cells:
            self._encode(state, cell, row)
        return row

    def _encode(self, state: State, cell: Cell, row: list[int]) -> None:
        column = cell.column
        stored: Any = state.cols[column.index]
        nothing = NAN_BITS if cell.real else NONE

        def one(value: Raw) -> int:
            if value is None:
                return nothing
            number = self.encoded(float(value) if cell.real else value)
            open_ = isinstance(column.fluent.type, NumberType) and column.fluent.type.low is None
            if open_ and abs(number) > LIMIT:
                raise Inexpressible("a number beyond all bounds", column.fluent.span)
            return number

        if not column.tupled:
            row[cell.base : cell.base + cell.size] = [one(value) for value in stored]
        else:
            row[cell.base : cell.base + cell.size] = [one(column.default)] * cell.size
            for key, value in stored.items():
                row[cell.base + self._offset(cell, key)] = one(value)
        if cell.chains >= 0:
            self._encode_chains(state.kids[column.index], cell, row)

    def _encode_chains(self, kids: Any, cell: Cell, row: list[int]) -> None:
        first, after = cell.chains, cell.chains + self.objects
        row[first : first + 2 * self.objects] = [-1] * (2 * self.objects)
        for holder, children in enumerate(kids):
            spot = first + holder
            for child in children:
                row[spot] = child
                spot = after + child

    def _offset(self, cell: Cell, key: Sequence[Raw]) -> int:
        offset = 0
        for value, (low, size) in zip(key, cell.spans, strict=True):
            assert isinstance(value, int)
            if not low <= value < low + size:
                raise Inexpressible("a fact outside its domains", cell.column.fluent.span)
            offset = offset * size + value - low
        return offset

    # ---- rows to states -----------------------------------------------------------------------

    def decode(self, row: Sequence[int]) -> State:
        """The interpreter's state of a row."""
        state = self.origin.fork()
        state.tick, state.seed, state.turn = int(row[1]), int(row[2]), int(row[3])
        endings = tuple(line.name for line in self.world.endings)
        state.latched = tuple(endings[i] for i in self._ordered(row, self.latched, len(endings)))
        state.awarded = tuple(self._ordered(row, self.awarded, len(self.world.awards)))
        state.fired = self._decode_fired(row)
        for cell in self.cells:
            if cell.column.fluent.id in self.changing:
                state.own(cell.column)
                state.cols[cell.column.index] = self._decode(cell, row)
                if cell.chains >= 0:
                    state.kids[cell.column.index] = self._decode_chains(cell, row)
        if self.destroys:
            for number in range(self.objects):
                if row[self.kinds_at + number] < 0 and state.alive(number):
                    state.bury(number)
        self._decode_longs(state, row)
        return state

    def _ordered(self, row: Sequence[int], base: int, size: int) -> list[int]:
        found = [(int(row[base + i]), i) for i in range(size) if row[base + i]]
        return [i for _, i in sorted(found)]

    def _decode(self, cell: Cell, row: Sequence[int]) -> Any:
        column, kind = cell.column, cell.column.fluent.type
        values = [self.decoded(kind, int(one)) for one in row[cell.base : cell.base + cell.size]]
        if not column.tupled:
            return values
        keys = product(*(range(low, low + size) for low, size in cell.spans))
        bools = [isinstance(param.type, BoolType) for param in column.fluent.params]
        found = {}
        for key, value in zip(keys, values, strict=True):
            if value != column.default or type(value) is not type(column.default):
                found[tuple(bool(k) if b else k for k, b in zip(key, bools, strict=True))] = value
        return found

    def _decode_chains(self, cell: Cell, row: Sequence[int]) -> list[list[int]]:
        found: list[list[int]] = []
        for holder in range(self.objects):
            children, child = list[int](), int(row[cell.chains + holder])
            while child >= 0:
                children.append(child)
                child = int(row[cell.chains + self.objects + child])
            found.append(children)
        return found

    def _decode_fired(self, row: Sequence[int]) -> frozenset[tuple[str, tuple[Raw, ...]]]:
        found = set()
        for name, (base, spans) in self.fired.items():
            for offset, key in enumerate(product(*(range(a, a + n) for a, n in spans))):
                if row[base + offset]:
                    found.add((name, key))
        return frozenset(found)

    def _decode_longs(self, state: State, row: Sequence[int]) -> None:
        state.longs = ()
        for seat in range(self.seats):
            spot = self.longs + seat * self.long_size
            if row[spot] < 0:
                continue
            action = self.actions[int(row[spot])]
            args = (int(row[spot + 3 + i]) for i in range(len(action.params)))
            command = Command(
                action.name,
                tuple(self.decoded(p.type, a) for p, a in zip(action.params, args, strict=True)),
            )
            long = LongAction(command, int(row[spot + 1]), int(row[spot + 2]))
            state.begin(state.actors[seat] if state.actors else None, long)


def _product(spans: Sequence[tuple[int, int]]) -> int:
    total = 1
    for _, size in spans:
        total *= size
    return total
