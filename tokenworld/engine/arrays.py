"""States as arrays, in and out, without JSON (extra `fast` or `gym`: numpy).

A column holds the raw values of one fluent: whole numbers (scaled by their decimals), the numbers
of objects, the places of members in their enums, 0 and 1 for truths, doubles for reals. `NONE`
stands for `none`, in columns of reals not-a-number. A fluent of one object has a value for each
object that lives and has it, in order of their numbers; one of several arguments an axis for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, product
from typing import Any, Final, NamedTuple, assert_never

import numpy as np
from numpy.typing import NDArray

from tokenworld import model as m
from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine.columns import Column, Layout
from tokenworld.engine.state import State, column_of
from tokenworld.ground import Raw, constant, domain_of, implicit_default

NONE: Final = int(np.iinfo(np.int64).min)
Array = NDArray[Any]


class Made(NamedTuple):
    """An object of a snapshot: its type, and raw values by the names of attributes."""

    of: str
    attributes: Mapping[str, Raw]
    name: str = ""


def columns_of(state: State, names: Iterable[str]) -> dict[str, Array]:
    """The columns of fluents by their ids (``Hen.at``, ``sky``); `Failure` (TW0006) for a fluent
    that there is not, or that has no finite axes."""
    return {name: _array(state, _known(state.layout, name)) for name in names}


def snapshot_of(
    base: State, columns: Mapping[str, Any], objects: Sequence[Made], tick: int | None
) -> State:
    """A state like another one, with more objects and these columns. `Failure` (TW0006) where they
    do not fit the program."""
    state = base.fork()
    _people(state, objects)
    for name, values in columns.items():
        column = _known(state.layout, name)
        _fill(state, column, _checked(state, column, np.asarray(values)))
    if tick is not None:
        state.tick = tick
    state.trail.moved = True
    return state


def _misfit(name: str, reason: str) -> Failure:
    hint = "`Engine.columns` gives the names, lengths and values that fit."
    return Failure(Diagnostic("TW0006", f"The column `{name}` does not fit: {reason}.", hint=hint))


def _known(layout: Layout, name: str) -> Column:
    column = layout.by_id.get(name)
    if column is None:
        raise _misfit(name, "the program has no fluent of this name")
    return column


def _owners(state: State, column: Column) -> list[int]:
    """The living objects that have a fluent of one object."""
    owners = state.layout.owners[column.index]
    return [number for number, of in enumerate(state.kinds) if of in owners]


def _axes(state: State, column: Column) -> list[Sequence[Raw]]:
    """The values of each argument of a fluent of several."""
    found: list[Sequence[Raw]] = []
    for param in column.fluent.params:
        of = param.type
        values: Sequence[Raw] | None
        if isinstance(of, m.ObjectType):
            values = state.live[of.name]
        else:
            values = domain_of(state.layout.instance, of)
        if values is None:
            raise _misfit(column.fluent.id, f"`{param.name}` has no finite set of values")
        found.append(values)
    return found


# ---- out ----------------------------------------------------------------------------------------


def _array(state: State, column: Column) -> Array:
    stored = state.cols[column.index]
    if column.single:
        return _encoded(column, [stored[0]])
    if column.by_object:
        held = list(stored)
        return _encoded(column, [held[number] for number in _owners(state, column)])
    axes = _axes(state, column)
    found = np.full([len(one) for one in axes], _code(column, column.default), _dtype(column))
    places = [{value: at for at, value in enumerate(axis)} for axis in axes]
    for args, value in stored.items():
        at = tuple(place.get(arg, -1) for place, arg in zip(places, args, strict=True))
        for cell in {at, at[::-1]} if column.fluent.symmetric else (at,):
            found[cell] = _code(column, value)
    return found


def _encoded(column: Column, values: list[Raw]) -> Array:
    if None in values:
        values = [_code(column, one) for one in values]
    return np.array(values, _dtype(column))


def _code(column: Column, value: Raw) -> Any:
    if value is not None:
        return value
    return None if _dtype(column) is object else np.nan if _dtype(column) is np.float64 else NONE


def _dtype(column: Column) -> Any:
    match column.fluent.type:
        case m.BoolType():
            return np.int8
        case m.EnumType() | m.ObjectType() | m.NumberType() | m.NoneType():
            return np.int64
        case m.RealType():
            return np.float64
        case m.TextType() | m.CollectionType():
            return object
        case _:
            assert_never(column.fluent.type)


# ---- in -----------------------------------------------------------------------------------------


def _checked(state: State, column: Column, values: Array) -> Array:
    """An array of the right shape, all of whose values are of the fluent's type."""
    if column.tupled:
        wanted = tuple(len(one) for one in _axes(state, column))
    else:
        wanted = (1,) if column.single else (len(_owners(state, column)),)
    if values.shape != wanted:
        what = f"it has the shape {list(values.shape)}, not {list(wanted)}"
        raise _misfit(column.fluent.id, what)
    return _typed(state, column, values)


def _typed(state: State, column: Column, values: Array) -> Array:
    """An array all of whose values are of the fluent's type."""
    name, kind = column.fluent.id, column.fluent.type
    if values.dtype == object and _dtype(column) is not object:
        values = np.array([_code(column, one) for one in values.ravel()]).reshape(values.shape)
    if _dtype(column) is object:
        return values
    if not np.issubdtype(values.dtype, np.number) and values.dtype != bool:
        raise _misfit(name, "its values are no numbers")
    if isinstance(kind, m.RealType):
        return values.astype(np.float64)
    found = values.astype(np.int64)
    if not np.array_equal(found, values):
        raise _misfit(name, "its values are no whole numbers")
    there = found[found != NONE]
    if there.size < found.size and not (m.is_optional(kind) or isinstance(kind, m.ObjectType)):
        raise _misfit(name, "it has no value somewhere, and the type has no `none`")
    wrong = there[~_fitting(state, kind, there)]
    if wrong.size:
        raise _misfit(name, f"{wrong[0]} is no value of its type")
    return found


def _fitting(state: State, kind: m.ValueType, values: Array) -> Array:
    """Of each whole number whether it is a value of a type."""
    match kind:
        case m.BoolType():
            low: int | None = 0
            high: int | None = 1
        case m.EnumType(name=name):
            low, high = 0, len(state.layout.instance.program.enums[name].members) - 1
        case m.NumberType():
            low, high = kind.low, kind.high
        case m.ObjectType(name=name):
            return np.isin(values, np.array(state.live[name], np.int64))
        case m.RealType() | m.TextType() | m.NoneType() | m.CollectionType():
            low = high = None
        case _:
            assert_never(kind)
    fits = np.ones(values.shape, bool)
    return (
        fits
        & (values >= (NONE if low is None else low))
        & (values <= (-(NONE + 1) if high is None else high))
    )


def _fill(state: State, column: Column, values: Array) -> None:
    """Give a fluent these values; the lists of references are updated."""
    listed = _decoded(column, values)
    if column.tupled:
        _fill_tuples(state, column, listed)
        return
    if column.single:
        state.own(column)[0] = listed[0]
        return
    owners = _owners(state, column)
    held: list[Raw] = list(state.cols[column.index])
    if owners and owners[-1] - owners[0] + 1 == len(owners):
        held[owners[0] : owners[-1] + 1] = listed
    else:
        for number, value in zip(owners, listed, strict=True):
            held[number] = value
    state.own(column)
    state.cols[column.index] = column_of(held)
    if column.has_children:
        children: list[list[int]] = [[] for _ in held]
        for number, parent in enumerate(held):
            if isinstance(parent, int) and state.kinds[number] is not None:
                children[parent].append(number)
        state.kids[column.index] = column_of(children)


def _decoded(column: Column, values: Array) -> list[Any]:
    """Raw values in order."""
    flat: list[Any] = values.ravel().tolist()
    if isinstance(column.fluent.type, m.BoolType):
        return [one == 1 for one in flat]
    if isinstance(column.fluent.type, m.RealType):
        return [None if one != one and m.is_optional(column.fluent.type) else one for one in flat]
    return [None if one == NONE else one for one in flat] if NONE in flat else flat


def _fill_tuples(state: State, column: Column, listed: list[Any]) -> None:
    keys = product(*_axes(state, column))
    filled = {
        column.key(args): value
        for args, value in zip(keys, listed, strict=True)
        if value != column.default
    }
    state.own(column)
    state.cols[column.index] = filled


# ---- objects ------------------------------------------------------------------------------------


def _people(state: State, objects: Sequence[Made]) -> None:
    """More objects, after those that there are."""
    program, first = state.layout.instance.program, len(state.kinds)
    names = [one.name or f"{one.of.lower()}_{at}" for at, one in enumerate(objects, first)]
    if len({*names, *state.names}) < len(names) + first:
        raise _misfit("objects", "two objects have one name")
    for of, group in groupby(zip(objects, names, strict=True), lambda one: one[0].of):
        if of not in program.types:
            raise _misfit(of, "the program has no type of this name")
        state.add(of, [name for _, name in group])
    for number, one in enumerate(objects, first):
        _give(state, number, one)


def _give(state: State, number: int, one: Made) -> None:
    """The attributes of an object, defaults where none are given."""
    layout = state.layout
    kind, given = layout.instance.program.types[one.of], dict(one.attributes)
    defaults = {field.fluent: field.value for field in kind.defaults}
    for key in kind.attributes:
        column = layout.by_id[key]
        name = column.fluent.name
        if name in given:
            value = _decoded(column, _typed(state, column, np.asarray([given.pop(name)])))[0]
        elif key in defaults:
            value = constant(defaults[key], state.numbers, layout.instance.params)
        else:
            value = implicit_default(column.fluent.type)
        state.put(column, number, value)
    for name in given:
        raise _misfit(name, f"`{one.of}` has no such attribute")
