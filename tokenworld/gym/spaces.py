"""Observations as arrays: one array for each fluent that may change, one vector, or text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import inf, prod
from typing import Any, Literal, get_args

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from tokenworld.core import lowered
from tokenworld.diagnostics import usage
from tokenworld.engine import State
from tokenworld.engine.layout import Column
from tokenworld.ground import Instance, Raw, domain_of
from tokenworld.model import (
    ROOT,
    BoolType,
    EnumType,
    NumberType,
    ObjectType,
    RealType,
    ValueType,
    is_optional,
)
from tokenworld.session import OpenWorld, Session
from tokenworld.session.remote import observation
from tokenworld.session.rollouts import draws_in_setup

__all__ = [
    "Axes",
    "Axis",
    "Field",
    "Observe",
    "Observer",
    "Typed",
    "fields_of",
    "grows",
    "left_out",
    "one_of",
]


class Axis:
    """The places of one type. Objects of the start keep theirs, also when they are destroyed.

    Objects that came later take the ``spare`` places behind them, the living ones in order; those
    that find none are not seen.
    """

    def __init__(self, of: str | None, first: tuple[Raw, ...], spare: int) -> None:
        self.size = len(first) + spare
        self._of = of
        self._first = {value: place for place, value in enumerate(first)}
        self._known: tuple[tuple[int, ...], Mapping[Raw, int]] | None = None

    def places(self, state: State) -> Mapping[Raw, int]:
        """The place of every value that has one now."""
        if self._of is None:
            return self._first
        living = state.live[self._of]
        if self._known is None or self._known[0] is not living:
            self._known = (living, self._placed(living))
        return self._known[1]

    def _placed(self, living: tuple[int, ...]) -> Mapping[Raw, int]:
        first = self._first
        placed: dict[Raw, int] = {one: first[one] for one in living if one in first}
        later = (one for one in living if one not in first)
        spare = range(len(first), self.size)
        return placed | dict(zip(later, spare, strict=False))


class Axes:
    """The axes of a world, one a type; they are made from its start with seed 0."""

    def __init__(self, world: OpenWorld, spare: int) -> None:
        self._instance: Instance = world.instance
        self._start = world.engine.start(0)
        self._spare = spare
        self._born = _born(world)
        self._made: dict[str, Axis] = {}

    @property
    def comes_and_goes(self) -> bool:
        """Whether there may be other objects than at the start."""
        return bool(self._born) or lowered(self._instance.program).destroys

    def of(self, value_type: ValueType) -> Axis | None:
        """The axis of a type; ``None`` where its values cannot be listed."""
        if isinstance(value_type, ObjectType):
            return self.of_objects(value_type.name)
        values = domain_of(self._instance, value_type)
        return None if values is None else Axis(None, values, 0)

    def of_objects(self, name: str) -> Axis:
        """The axis of the objects of a type, subtypes included."""
        if name not in self._made:
            grows = any(self._instance.program.is_subtype(one, name) for one in self._born)
            spare = self._spare if grows else 0
            self._made[name] = Axis(name, self._start.live[name], spare)
        return self._made[name]


def grows(world: OpenWorld) -> bool:
    """Whether there may be objects that the start with seed 0 lacks."""
    return bool(_born(world))


def _born(world: OpenWorld) -> frozenset[str]:
    """The types of objects that may be there beside those of the start with seed 0."""
    rules = lowered(world.program)
    if not draws_in_setup(world):
        return rules.creates
    start = rules.starts[world.world.name]
    placed = (body for legend in start.legends for body in legend.values())
    return rules.creates | rules.footprint((), (*start.setups, *placed)).creates


Array = NDArray[np.int8] | NDArray[np.int64] | NDArray[np.float64]
MOST_SLOTS = 65_536
"""A fluent with more slots is not shown: an array of it would cost more than it tells."""
LARGEST = 2**53
"""Whole numbers without bounds are shown up to here: as far as a double counts exactly."""


@dataclass(frozen=True, slots=True)
class Field:
    """One array of an observation: its name, shape and bounds, and how it is read from a state.

    ``clips``: what is read may lie beyond the bounds.
    """

    name: str
    shape: tuple[int, ...]
    low: float
    high: float
    dtype: type[np.int8] | type[np.int64] | type[np.float64]
    read: Callable[[State], Any]
    clips: bool = False

    def array(self, state: State) -> Array:
        """The values in a state, in a new array."""
        found = self.read(state)
        if self.clips:
            found = np.clip(found, self.low, self.high)
        array: Array = found.astype(self.dtype)
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
    changing = lowered(world.program).changed_in_play
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
    clips: bool = False


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

    return Field(name, shape, kind.low, kind.high, kind.dtype, read, clips=kind.clips)


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
    clips = any(one is None or abs(one) > LARGEST for one in (of.low, of.high))
    blank = min(max(0, low), high)

    def number(value: Raw, state: State) -> float:
        return blank if value is None or isinstance(value, str) else value / unit

    return _Kind(low, high, np.float64 if of.decimals else np.int64, blank, number, clips)


# ---- the run --------------------------------------------------------------------------------


def _of_run(world: OpenWorld, axes: Axes) -> Iterator[Field]:
    """The tick, the endings reached; who lives, whose turn it is and what is under way, if it
    may differ."""
    endings = world.engine.stepper.endings
    names = [one.name for one in world.world.endings]
    yield Field("@tick", (1,), 0, LARGEST, np.int64, lambda state: [state.tick], clips=True)
    if names:
        yield Field(
            "@endings", (len(names),), 0, 1, np.int8,
            lambda state: np.isin(names, endings.reached(state, state.me)),
        )  # fmt: skip
    every = axes.of_objects(ROOT)
    if axes.comes_and_goes and every.size:
        yield Field("@alive", (every.size,), 0, 1, np.int8, lambda state: _alive(every, state))
    if len(world.engine.start(0).actors) > 1:
        yield Field(
            "@acting", (1,), -1, every.size - 1, np.int64,
            lambda state: np.array([every.places(state).get(state.acting, -1)]),
        )  # fmt: skip
    if any(action.may_be_long for action in world.program.actions.values()):
        yield Field("@long", (2,), 0, LARGEST, np.int64, _under_way, clips=True)


def _alive(every: Axis, state: State) -> NDArray[np.int8]:
    alive = np.zeros(every.size, np.int8)
    alive[list(every.places(state).values())] = 1
    return alive


def _under_way(state: State) -> list[int]:
    """The long action of whose turn it is: how many ticks are done, of how many."""
    long = state.long_of(state.acting)
    return [0, 0] if long is None else [long.done, long.total]


Observe = Literal["text", "symbolic", "dict"]
LONGEST = 20_000
"""So many characters of a text are shown; the rest is cut off."""
LONGEST_TYPED = 200
"""So many characters may be typed."""
_PROSE = "–—…‘’“”·×°"


def one_of(what: str, given: str, choices: tuple[str, ...]) -> None:
    """Raises `Failure` (TW0006) for a mode that there is not."""
    if given not in choices:
        listed = ", ".join(f"`{one}`" for one in choices)
        raise usage(f"`{what}` cannot be `{given}`.", f"Give one of {listed}.")


def _letters(world: OpenWorld) -> str:
    """The characters that a world may say: those of its sources in either case, and plain ones."""
    found = {chr(code) for code in range(32, 127)} | set(_PROSE)
    for source in world.loaded.sources:
        found |= set(source.text + source.text.upper() + source.text.lower())
    return "".join(sorted(one for one in found if one.isprintable()))


class Typed(spaces.Text):
    """Commands as words: one line of the characters of a world."""

    def __init__(self, world: OpenWorld) -> None:
        super().__init__(LONGEST_TYPED, min_length=0, charset=_letters(world))


class Observer:
    """The observations of a world in one mode. ``space`` is where they all lie.

    ``text`` is what a player is told, one string. ``dict`` is one array for each field (see
    `fields`), ``symbolic`` the same in one vector of doubles, by the name of the field.
    """

    def __init__(self, world: OpenWorld, mode: Observe, spare: int) -> None:
        one_of("observe", mode, get_args(Observe))
        self._mode = mode
        self._letters = frozenset(_letters(world) + "\n")
        fields = () if mode == "text" else fields_of(world, spare)
        self._fields = sorted(fields, key=lambda one: one.name)
        self._dict = spaces.Dict(
            {one.name: spaces.Box(one.low, one.high, one.shape, one.dtype) for one in self._fields}
        )
        self.space = self._space()

    def _space(self) -> spaces.Space[Any]:
        match self._mode:
            case "text":
                return spaces.Text(LONGEST, min_length=0, charset="".join(sorted(self._letters)))
            case "dict":
                return self._dict
            case "symbolic":
                low, high = self._bounds()
                return spaces.Box(low, high, dtype=np.float64)

    def _bounds(self) -> tuple[Any, Any]:
        fields = self._fields
        sizes = [int(np.prod(one.shape)) for one in fields]
        low = np.repeat(np.array([one.low for one in fields], np.float64), sizes)
        return low, np.repeat(np.array([one.high for one in fields], np.float64), sizes)

    def see(self, session: Session) -> Any:
        """The observation of the present state of a session, new on every call."""
        if self._mode == "text":
            return self.text(session)
        state = session.state
        if self._mode == "dict":
            return {one.name: one.array(state) for one in self._fields}
        arrays = [one.array(state).ravel() for one in self._fields]
        return np.concatenate(arrays, dtype=np.float64)

    def text(self, session: Session) -> str:
        """What a player is told, in the letters of the space."""
        told = observation(session)[:LONGEST]
        return "".join(one if one in self._letters else "?" for one in told)
