"""A world as arrays: a field for each fluent that may change, and fields of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import inf, prod
from typing import Any, assert_never

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from tokenworld import model as m
from tokenworld.core import lowered
from tokenworld.engine.columns import Column
from tokenworld.engine.rows.layout import LONGS, TICK
from tokenworld.engine.rows.stepper import RowStepper
from tokenworld.engine.state import State
from tokenworld.ground import Instance, Raw, domain_of
from tokenworld.session import OpenWorld
from tokenworld.session.rollouts import draws_in_setup

S = list[Any]
"""A row of slots."""


class Axis:
    """The places of one type. Objects of the start keep theirs, also when they are destroyed.

    Objects created later take the ``spare`` places after them, the living ones in order; objects
    beyond the last place are not shown. ``places`` are those of the values that have one now.
    """

    def __init__(self, of: str | None, first: tuple[Raw, ...], spare: int) -> None:
        self.size = len(first) + spare
        self.of = of
        self._first = {value: place for place, value in enumerate(first)}
        self._living = first
        self.places: Mapping[Raw, int] = self._first

    def follow(self, living: tuple[int, ...]) -> None:
        """Give places to those who live now."""
        if living is self._living:
            return
        first, self._living = self._first, living
        placed: dict[Raw, int] = {one: first[one] for one in living if one in first}
        later = (one for one in living if one not in first)
        spare = range(len(first), self.size)
        self.places = placed | dict(zip(later, spare, strict=False))


class Axes:
    """The axes of a world, one a type; they are made from its ``start`` with seed 0."""

    def __init__(self, world: OpenWorld, spare: int, start: State) -> None:
        self._instance: Instance = world.instance
        self.start = start
        self._spare = spare
        self._born = _born(world)
        self._made: dict[str, Axis] = {}

    @property
    def comes_and_goes(self) -> bool:
        """Return whether there may be other objects than at the start."""
        return bool(self._born) or lowered(self._instance.program).destroys

    def of(self, value_type: m.ValueType) -> Axis | None:
        """The axis of a type; ``None`` where its values cannot be listed."""
        if isinstance(value_type, m.ObjectType):
            return self.of_objects(value_type.name)
        values = domain_of(self._instance, value_type)
        return None if values is None else Axis(None, values, 0)

    def of_objects(self, name: str) -> Axis:
        """The axis of the objects of a type, subtypes included."""
        if name not in self._made:
            grows = any(self._instance.program.is_subtype(one, name) for one in self._born)
            spare = self._spare if grows else 0
            self._made[name] = Axis(name, self.start.live[name], spare)
        return self._made[name]

    def follow(self, stepper: RowStepper, row: S) -> None:
        """Give places to the objects that live in a row."""
        live = stepper.slots.live
        for name, axis in self._made.items():
            axis.follow(row[live[name]])


def grows(world: OpenWorld) -> bool:
    """Return whether there may be objects that the start with seed 0 lacks."""
    return bool(_born(world))


def _born(world: OpenWorld) -> frozenset[str]:
    """The types of objects that may be there beside those of the start with seed 0."""
    rules = lowered(world.program)
    if not draws_in_setup(world):
        return rules.creates
    start = rules.starts[world.world.name]
    placed = (body for legend in start.legends for body in legend.values())
    return rules.creates | rules.footprint((), (*start.setups, *placed)).creates


Array = NDArray[Any]
MOST_SLOTS = 65_536
"""A fluent with more slots is not shown: its array would cost more than it informs."""
LARGEST = 2**53
"""Whole numbers without bounds are shown up to here: as far as a double counts exactly."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The conversion of a value to a number: its bounds, and the number for a missing value."""

    low: float
    high: float
    dtype: type[np.int8] | type[np.int64] | type[np.float64]
    blank: float
    number: Callable[[Any], float]
    scale: int | None = None
    """The divisor of a number, ``None`` for other values; the compiled batch divides by it."""


@dataclass(frozen=True, slots=True)
class Field:
    """One array of an observation: its name, its shape and the source of its values.

    ``column`` is the fluent, with ``axes`` for its arguments; without one the field shows the
    run, by ``read``.
    """

    name: str
    shape: tuple[int, ...]
    kind: Kind
    column: Column | None = None
    axes: tuple[Axis, ...] = ()
    read: Callable[[RowStepper, S], Any] | None = None

    @property
    def box(self) -> spaces.Box:
        """The space of its arrays."""
        return spaces.Box(self.kind.low, self.kind.high, self.shape, self.kind.dtype)


def fields_of(world: OpenWorld, axes: Axes) -> tuple[Field, ...]:
    """Return the fields of a world: its fluents in written order, then the values of the run.

    Fluents that play never changes (unless the start is drawn), secret fluents, and the names in
    `left_out` are left out. The names of the fields of the run begin with ``@``.
    """
    found = [field for column in _shown(world) for field in _of_column(column, axes)]
    return (*found, *_of_run(world, axes))


def left_out(world: OpenWorld, spare: int) -> tuple[str, ...]:
    """The fluents without a field that may change: texts, and those with too many slots."""
    axes = Axes(world, spare, world.engine.start(0))
    return tuple(one.fluent.id for one in _shown(world) if not _shape_and_kind(one, axes))


def _shown(world: OpenWorld) -> list[Column]:
    changing = lowered(world.program).changed_in_play
    every = draws_in_setup(world)
    names = {id(one): name for name, one in world.program.fluents.items()}
    columns = world.engine.layout.columns
    public = (one for one in columns if not one.fluent.secret)
    return [one for one in public if every or names[id(one.fluent)] in changing]


# ---- fluents --------------------------------------------------------------------------------


def _of_column(column: Column, axes: Axes) -> Iterator[Field]:
    found = _shape_and_kind(column, axes)
    if found is None or not prod(axis.size for axis in found[0]):
        return
    own, kind = found
    shape = tuple(axis.size for axis in own) or (1,)
    name, of = column.fluent.id, column.fluent.type
    yield Field(name, shape, kind, column, own)
    if m.is_optional(of) and isinstance(of, m.NumberType | m.RealType):
        there = Kind(0, 1, np.int8, 0, lambda value: value is not None)
        yield Field(f"{name}?", shape, there, column, own)


def _shape_and_kind(column: Column, axes: Axes) -> tuple[tuple[Axis, ...], Kind] | None:
    """The axes of a fluent and how its values are shown; ``None`` where it is left out."""
    kind = _kind(column, axes)
    own = [axes.of(param.type) for param in column.fluent.params]
    known = tuple(axis for axis in own if axis is not None)
    listed = len(known) == len(own) and prod(axis.size for axis in known) <= MOST_SLOTS
    return (known, kind) if kind is not None and listed else None


def _kind(column: Column, axes: Axes) -> Kind | None:
    """The conversion of the values of a fluent; ``None`` for texts."""
    match column.fluent.type:
        case m.BoolType():
            return Kind(0, 1, np.int8, 0, bool)
        case m.EnumType() as of:
            members = axes.of(of)
            size = members.size if members is not None else 0
            return Kind(-1, size - 1, np.int64, -1, lambda value: -1 if value is None else value)
        case m.ObjectType(name=name):
            axis = axes.of_objects(name)
            return Kind(
                -1, max(0, axis.size - 1), np.int64, -1, lambda value: axis.places.get(value, -1)
            )
        case m.NumberType() as of:
            return _of_number(of)
        case m.RealType():
            return Kind(-inf, inf, np.float64, 0, lambda value: 0.0 if value is None else value)
        case m.TextType() | m.NoneType() | m.CollectionType():
            return None
        case _:
            assert_never(column.fluent.type)


def _of_number(of: m.NumberType) -> Kind:
    """A number in its own unit; a double where it has decimals."""
    unit = 10**of.decimals
    low = -LARGEST if of.low is None else max(of.low, -LARGEST) / unit
    high = LARGEST if of.high is None else min(of.high, LARGEST) / unit
    clips = any(one is None or abs(one) > LARGEST for one in (of.low, of.high))
    blank = min(max(0, low), high)

    def number(value: int | None) -> float:
        if value is None:
            return blank
        found = value / unit if of.decimals else value
        return min(max(found, low), high) if clips else found

    return Kind(low, high, np.float64 if of.decimals else np.int64, blank, number, unit)


# ---- the run --------------------------------------------------------------------------------


def _of_run(world: OpenWorld, axes: Axes) -> Iterator[Field]:
    """Yield the fields of the tick and the reached endings; of the living objects, the turn and the
    long actions if they can change."""
    counts = Kind(0, LARGEST, np.int64, 0, lambda value: min(value, LARGEST))
    truths = Kind(0, 1, np.int8, 0, bool)
    names = [one.name for one in world.world.endings]
    yield Field("@tick", (1,), counts, read=lambda stepper, S: min(S[TICK], LARGEST))
    if names:
        yield Field("@endings", (len(names),), truths, read=_reached)
    every = axes.of_objects(m.ROOT)
    if axes.comes_and_goes and every.size:
        yield Field("@alive", (every.size,), truths, read=lambda stepper, S: _alive(every))
    if len(axes.start.actors) > 1:
        who = Kind(-1, every.size - 1, np.int64, -1, lambda value: every.places.get(value, -1))
        yield Field(
            "@acting",
            (1,),
            who,
            read=lambda stepper, S: every.places.get(stepper.slots.acting(S), -1),
        )
    if any(action.may_be_long for action in world.program.actions.values()):
        yield Field("@long", (2,), counts, read=_under_way)


def _reached(stepper: RowStepper, S: S) -> list[bool]:
    """Of each ending whether it is reached."""
    reached = stepper.goals.reached(S)
    return [one.name in reached for one in stepper.instance.world.endings]


def _alive(every: Axis) -> NDArray[np.int8]:
    alive = np.zeros(every.size, np.int8)
    alive[list(every.places.values())] = 1
    return alive


def _under_way(stepper: RowStepper, S: S) -> list[int]:
    """The long action of whose turn it is: how many ticks are done, of how many."""
    acting = stepper.slots.acting(S) if S[LONGS] else None
    for who, long in S[LONGS]:
        if who == acting:
            return [min(long.done, LARGEST), min(long.total, LARGEST)]
    return [0, 0]
