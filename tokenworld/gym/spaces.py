"""Observations of a world: text, one array for each field, or all of them in one vector."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, get_args

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from tokenworld.diagnostics import usage
from tokenworld.engine.rows.layout import HEAD, KINDS, LATCHED, TICK, Store
from tokenworld.engine.rows.log import Row
from tokenworld.engine.rows.stepper import RowStepper
from tokenworld.gym.fields import LARGEST, Axes, Field, fields_of
from tokenworld.session import OpenWorld, Session
from tokenworld.session.remote import observation

Array = NDArray[Any]
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

    ``text`` is the text that a player sees. ``dict`` is one array for each field (see
    `fields`), ``symbolic`` the same in one vector of doubles, by the name of the field.
    """

    def __init__(self, world: OpenWorld, mode: Observe, spare: int) -> None:
        one_of("observe", mode, get_args(Observe))
        self.mode = mode
        self._world, self._spare = world, spare
        self._letters = frozenset(_letters(world) + "\n")
        self._start = world.engine.start(0)
        axes = self._axes()
        self.comes_and_goes = axes.comes_and_goes
        self.fields = () if mode == "text" else self._fields(axes)
        self.space = self._space()
        self._sight: Sight | None = None

    def _axes(self) -> Axes:
        return Axes(self._world, self._spare, self._start)

    def _fields(self, axes: Axes) -> tuple[Field, ...]:
        return tuple(sorted(fields_of(self._world, axes), key=lambda one: one.name))

    def _space(self) -> spaces.Space[Any]:
        match self.mode:
            case "text":
                return spaces.Text(LONGEST, min_length=0, charset="".join(sorted(self._letters)))
            case "dict":
                return spaces.Dict({one.name: one.box for one in self.fields})
            case "symbolic":
                low, high = self._bounds()
                return spaces.Box(low, high, dtype=np.float64)

    def _bounds(self) -> tuple[Any, Any]:
        sizes = [int(np.prod(one.shape)) for one in self.fields]
        low = np.repeat(np.array([one.kind.low for one in self.fields], np.float64), sizes)
        return low, np.repeat(np.array([one.kind.high for one in self.fields], np.float64), sizes)

    def sight(self, stepper: RowStepper) -> Sight:
        """An observer of the rows of a stepper."""
        axes = self._axes()
        return Sight(stepper, axes, self._fields(axes), vector=self.mode == "symbolic")

    def see(self, session: Session) -> Any:
        """The observation of the present state of a session, new on every call."""
        if self.mode == "text":
            return self.text(session)

        def seen(stepper: RowStepper, row: Any) -> Any:
            if self._sight is None or self._sight.stepper is not stepper:
                self._sight = self.sight(stepper)
            self._sight.look(row.S)
            return self._sight.seen()

        return session.engine.on_row(session.state, seen)

    def text(self, session: Session) -> str:
        """The text that a player sees, in the letters of the space."""
        text = observation(session)[:LONGEST]
        return "".join(one if one in self._letters else "?" for one in text)


_Place = tuple[Array, int, Callable[[Any], float]]
"""A flat array, the index in it, and how a value is shown there."""


class Sight:
    """The arrays of one row: `look` reads the whole row, `follow` only the slots that were written.

    With ``vector`` they are parts of one vector of doubles. ``seen`` gives copies.
    """

    def __init__(
        self, stepper: RowStepper, axes: Axes, fields: Sequence[Field], *, vector: bool
    ) -> None:
        self.stepper, self._axes, self.fields = stepper, axes, fields
        self.vector: Array | None = None
        self.arrays: dict[str, Array] = {}
        if vector:
            self.vector = np.zeros(sum(int(np.prod(one.shape)) for one in fields), np.float64)
            self.arrays = dict(_parts(self.vector, fields))
        else:
            self.arrays = {one.name: np.zeros(one.shape, one.kind.dtype) for one in fields}
        self._places: dict[int, tuple[_Place, ...]] = {}
        self._shown: dict[str, list[Field]] = {}
        for one in fields:
            if one.column is not None:
                self._shown.setdefault(one.column.fluent.id, []).append(one)
        self._tick = self.arrays["@tick"]
        self._latched: Any = None
        self._kinds: Any = None
        self._moves = bool(stepper.slots.moving)
        self._home: dict[str, Array] | None = None
        live = stepper.instance.world.outcomes == "live"
        each = ("@acting", "@long", *(("@endings",) if live else ()))
        self._each = [one for one in fields if one.name in each]
        self._endings = () if live else stepper.instance.world.endings

    def begin(self, row: list[Any], *, again: bool) -> None:
        """See the first row of an episode; ``again``: they all are alike."""
        home = self._home if again and row[KINDS] is self._kinds else None
        if home is None:
            self.look(row)
            self._home = {name: array.copy() for name, array in self.arrays.items()}
            return
        for name, array in self.arrays.items():
            array[...] = home[name]
        self._latched = row[LATCHED]

    def seen(self) -> Any:
        """The observation, in new arrays."""
        if self.vector is not None:
            return self.vector.copy()
        seen = {}
        for name, array in self.arrays.items():
            seen[name] = array.copy()
        return seen

    # ---- the whole row ------------------------------------------------------------------------

    def look(self, row: list[Any]) -> None:
        """See a row."""
        self.stepper.slots.fill(row)
        self._axes.follow(self.stepper, row)
        self._places.clear()
        for one in self.fields:
            self._fill(one, row)
        self._latched, self._kinds = row[LATCHED], row[KINDS]

    def _fill(self, field: Field, row: list[Any]) -> None:
        array = self.arrays[field.name]
        if field.column is None:
            assert field.read is not None
            array[...] = field.read(self.stepper, row)
            return
        kind, slots = field.kind, self.stepper.slots
        store = slots.by_id[field.column.fluent.id]
        held = row if store.live else slots.static
        array[...] = kind.blank
        if store.column.single:
            array[0] = kind.number(held[store.offset or 0])
        elif store.column.by_object:
            for value, place in field.axes[0].places.items():
                assert isinstance(value, int)
                array[place] = kind.number(held[store.table[value]])
        else:
            self._fill_tuples(field, store, array, held)

    def _fill_tuples(self, field: Field, store: Store, array: Array, held: list[Any]) -> None:
        """A fluent of several arguments: the default, then the tuples that differ from it."""
        default, number = store.column.default, field.kind.number
        array[np.ix_(*(list(one.places.values()) for one in field.axes))] = number(default)
        for args, slot in self.stepper.slots.places_of(store):
            if slot < len(held) and held[slot] != default:
                for place in _places(field, args, store):
                    array[place] = number(held[slot])

    # ---- written slots ------------------------------------------------------------------------

    def follow(self, changed: Row) -> None:
        """Update the arrays for the slots in the journal of the row that was read last."""
        row, written, places = changed.S, changed.J[::2], self._places
        if self._moves and KINDS in written:
            self.look(row)
            return
        for slot in written:
            found = places.get(slot)
            if found is None:
                found = places[slot] = tuple(self.targets(slot))
            for array, at, number in found:
                array[at] = number(row[slot])
        tick = row[TICK]
        self._tick[0] = tick if tick < LARGEST else LARGEST
        for field in self._each:
            self._fill(field, row)
        if row[LATCHED] is not self._latched:
            self._latched = row[LATCHED]
            for at, one in enumerate(self._endings):
                self.arrays["@endings"][at] = one.name in self._latched

    def targets(self, slot: int) -> Iterator[_Place]:
        """The places of a slot in the arrays, with the conversion of its values."""
        slots = self.stepper.slots
        store = slots.owner[slot]
        if slot < HEAD or store is None:
            return
        for field in self._shown.get(store.column.fluent.id, ()):
            array = self.arrays[field.name]
            for place in _places(field, slots.args[slot], store):
                at = int(np.ravel_multi_index(place, array.shape))
                yield array.reshape(-1), at, field.kind.number


def _parts(vector: Array, fields: Sequence[Field]) -> Iterator[tuple[str, Array]]:
    """The part of a vector that each field takes."""
    start = 0
    for one in fields:
        end = start + int(np.prod(one.shape))
        yield one.name, vector[start:end].reshape(one.shape)
        start = end


def _places(field: Field, args: tuple[Any, ...], store: Store) -> Iterator[tuple[int, ...]]:
    """The indices at which a tuple of arguments is shown."""
    if store.column.single:
        yield (0,)
        return
    keys = {args, args[::-1]} if store.column.fluent.symmetric else (args,)
    for key in keys:
        found = [axis.places.get(arg) for axis, arg in zip(field.axes, key, strict=True)]
        if None not in found:
            yield tuple(one for one in found if one is not None)
