"""A state as arrays of numbers: one array for each fluent that may change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokenworld.engine import State
from tokenworld.engine.layout import Column
from tokenworld.ground import Raw, changed_in_play
from tokenworld.gym.axes import Axes, Axis
from tokenworld.model import (
    ROOT,
    BoolType,
    EnumType,
    NumberType,
    ObjectType,
    RealType,
    is_optional,
)
from tokenworld.session import OpenWorld
from tokenworld.session.rollouts import draws_in_setup

__all__ = ["Field", "fields_of", "left_out"]

Array = NDArray[np.int8] | NDArray[np.int64] | NDArray[np.float64]
MOST_SLOTS = 65_536
"""A fluent with more slots is not shown: an array of it would cost more than it tells."""
LARGEST = 2**53
"""Whole numbers without bounds are shown up to here: as far as a double counts exactly."""


@dataclass(frozen=True, slots=True)
class Field:
    """One array of an observation: its name, shape and bounds, and how it is read from a state."""

    name: str
    shape: tuple[int, ...]
    low: float
    high: float
    dtype: type[np.int8] | type[np.int64] | type[np.float64]
    read: Callable[[State], Any]

    def array(self, state: State) -> Array:
        """The values in a state, in a new array."""
        array: Array = np.clip(self.read(state), self.low, self.high).astype(self.dtype)
        return array


def fields_of(world: OpenWorld, spare: int) -> tuple[Field, ...]:
    """The fields of a world: its fluents in written order, then what the run itself knows.

    Left out are fluents that play never changes (unless chance has a say in the start), what is
    secret, and what `left_out` names. The names of the fields of the run begin with ``@``.
    """
    axes = Axes(world, spare)
    found = [field for column in _shown(world) for field in _of_column(column, axes)]
    return (*found, *_of_run(world, axes))


def left_out(world: OpenWorld, spare: int) -> tuple[str, ...]:
    """The fluents without a field that may change: texts, and those with too many slots."""
    axes = Axes(world, spare)
    return tuple(one.fluent.id for one in _shown(world) if not _shape_and_kind(one, axes))


def _shown(world: OpenWorld) -> list[Column]:
    changing = changed_in_play(world.program)
    every = draws_in_setup(world)
    names = {id(one): name for name, one in world.program.fluents.items()}
    columns = world.engine.layout.columns
    public = (one for one in columns if not one.fluent.secret)
    return [one for one in public if every or names[id(one.fluent)] in changing]


# ---- fluents --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a value becomes a number: its bounds, and what stands where there is none."""

    low: float
    high: float
    dtype: type[np.int8] | type[np.int64] | type[np.float64]
    blank: float
    number: Callable[[Raw, State], float]


def _of_column(column: Column, axes: Axes) -> Iterator[Field]:
    found = _shape_and_kind(column, axes)
    if found is None or not prod(axis.size for axis in found[0]):
        return
    name, of = column.fluent.id, column.fluent.type
    yield _field(name, column, *found)
    if is_optional(of) and isinstance(of, NumberType | RealType):
        there = _Kind(0, 1, np.int8, 0, lambda value, state: float(value is not None))
        yield _field(f"{name}?", column, found[0], there)


def _shape_and_kind(column: Column, axes: Axes) -> tuple[list[Axis], _Kind] | None:
    """The axes of a fluent and how its values are shown; ``None`` where it is left out."""
    kind = _kind(column, axes)
    own = [axes.of(param.type) for param in column.fluent.params]
    known = [axis for axis in own if axis is not None]
    listed = len(known) == len(own) and prod(axis.size for axis in known) <= MOST_SLOTS
    return (known, kind) if kind is not None and listed else None


def _field(name: str, column: Column, axes: list[Axis], kind: _Kind) -> Field:
    shape = tuple(axis.size for axis in axes) or (1,)

    def read(state: State) -> NDArray[Any]:
        array = np.full(shape, kind.blank, np.float64)
        stored = state.cols[column.index]
        if column.single:
            array[0] = kind.number(stored[0], state)
        elif column.by_object:
            for value, place in axes[0].places(state).items():
                array[place] = kind.number(stored[value], state)
        else:
            _fill(array, column, stored, [axis.places(state) for axis in axes], kind, state)
        return array

    return Field(name, shape, kind.low, kind.high, kind.dtype, read)


def _fill(
    array: NDArray[np.float64],
    column: Column,
    stored: Mapping[tuple[Raw, ...], Raw],
    places: list[Mapping[Raw, int]],
    kind: _Kind,
    state: State,
) -> None:
    """A fluent of several arguments: the default, then the tuples that differ from it."""
    array[np.ix_(*(list(one.values()) for one in places))] = kind.number(column.default, state)
    for key, value in stored.items():
        keys = [key, key[::-1]] if column.fluent.symmetric else [key]
        for one in keys:
            if all(arg in known for arg, known in zip(one, places, strict=True)):
                place = tuple(known[arg] for arg, known in zip(one, places, strict=True))
                array[place] = kind.number(value, state)


def _kind(column: Column, axes: Axes) -> _Kind | None:
    """How the values of a fluent are shown; ``None`` for texts."""
    match column.fluent.type:
        case BoolType():
            return _Kind(0, 1, np.int8, 0, lambda value, state: float(bool(value)))
        case EnumType() as of:
            members = axes.of(of)
            size = members.size if members is not None else 0
            return _Kind(-1, size - 1, np.int64, -1, _place_or_none)
        case ObjectType(name=name):
            axis = axes.of_objects(name)

            def where(value: Raw, state: State) -> float:
                return -1 if value is None else axis.places(state).get(value, -1)

            return _Kind(-1, max(0, axis.size - 1), np.int64, -1, where)
        case NumberType() as of:
            return _of_number(of)
        case RealType():
            return _Kind(-inf, inf, np.float64, 0, _real)
        case _:
            return None


def _place_or_none(value: Raw, state: State) -> float:
    return -1 if value is None or isinstance(value, str) else value


def _real(value: Raw, state: State) -> float:
    return 0.0 if value is None or isinstance(value, str) else float(value)


def _of_number(of: NumberType) -> _Kind:
    """A number in its own unit; a double where it has decimals."""
    unit = 10**of.decimals
    low = -LARGEST if of.low is None else max(of.low, -LARGEST) / unit
    high = LARGEST if of.high is None else min(of.high, LARGEST) / unit
    blank = min(max(0, low), high)

    def number(value: Raw, state: State) -> float:
        return blank if value is None or isinstance(value, str) else value / unit

    return _Kind(low, high, np.float64 if of.decimals else np.int64, blank, number)


# ---- the run --------------------------------------------------------------------------------


def _of_run(world: OpenWorld, axes: Axes) -> Iterator[Field]:
    """The tick, the endings reached; who lives, whose turn it is and what is under way, if it
    may differ."""
    endings = world.engine.stepper.endings
    names = [one.name for one in world.world.endings]
    yield Field("@tick", (1,), 0, LARGEST, np.int64, lambda state: [state.tick])
    if names:
        yield Field(
            "@endings", (len(names),), 0, 1, np.int8,
            lambda state: [name in endings.reached(state, state.me) for name in names],
        )  # fmt: skip
    every = axes.of_objects(ROOT)
    if axes.comes_and_goes and every.size:
        yield Field("@alive", (every.size,), 0, 1, np.int8, lambda state: _alive(every, state))
    if len(world.engine.start(0).actors) > 1:
        yield Field(
            "@acting", (1,), -1, every.size - 1, np.int64,
            lambda state: [every.places(state).get(state.acting, -1)],
        )  # fmt: skip
    if any(action.may_be_long for action in world.program.actions.values()):
        yield Field("@long", (2,), 0, LARGEST, np.int64, _under_way)


def _alive(every: Axis, state: State) -> NDArray[np.int8]:
    alive = np.zeros(every.size, np.int8)
    alive[list(every.places(state).values())] = 1
    return alive


def _under_way(state: State) -> list[int]:
    """The long action of whose turn it is: how many ticks are done, of how many."""
    long = state.long_of(state.acting)
    return [0, 0] if long is None else [long.done, long.total]
