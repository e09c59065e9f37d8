"""Applying a delta: all changes together, or none (language.md §5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tokenworld.engine.births import LIFE, Newborn
from tokenworld.engine.delta import Breach, Delta, RawChange, Write, bounded
from tokenworld.engine.growing import file, grow, life
from tokenworld.engine.layout import Column, Key
from tokenworld.engine.shapes import check_acyclic, check_unique, cycle, in_itself
from tokenworld.engine.state import State
from tokenworld.ground import Json, Raw, show_value
from tokenworld.model import Program

__all__ = ["apart", "apply", "net", "shown_key"]


@dataclass(slots=True)
class _Slot:
    column: Column
    key: Key
    rules: list[str] = field(default_factory=list)
    sets: list[Raw] = field(default_factory=list)
    by: int | float = 0
    steps: int = 0
    add: bool = False
    remove: bool = False

    @property
    def rule(self) -> str:
        """The last rule that asked: the one a change is told of."""
        return self.rules[-1]


def _slots(writes: Sequence[Write]) -> dict[tuple[int, Key], _Slot]:
    slots: dict[tuple[int, Key], _Slot] = {}
    for op, column, key, value, title in writes:
        place = (column.index, key)
        slot = slots.get(place)
        if slot is None:
            slot = slots[place] = _Slot(column, key)
        if title not in slot.rules:
            slot.rules.append(title)
        match op:
            case "=":
                slot.sets.append(False if value is None and column.truth else value)
            case "+":
                slot.steps += 1
                slot.by += value if isinstance(value, (int, float)) else 0
            case "add":
                slot.add = True
            case _:
                slot.remove = True
    return slots


def _value(state: State, slot: _Slot) -> Raw:
    """The value a slot gets: all sets agree, increments add up, ``add`` beats ``remove``."""
    if slot.add or slot.remove:
        return slot.add
    if slot.sets:
        value = slot.sets[0]
        if slot.steps or any(other != value for other in slot.sets):
            what = f"`{slot.column.fluent.name}` is given two values at once."
            raise Breach("TW1003", "conflict", what, tuple(slot.rules))
        return bounded(slot.column, value, tuple(slot.rules))
    old = state.get(slot.column, slot.key)
    if old is None or isinstance(old, str):
        return old
    return bounded(slot.column, old + slot.by, tuple(slot.rules))


def _is_nobodys(state: State, column: Column, key: Key) -> bool:
    """Whether the slot is that of something destroyed: a change of it is left alone."""
    if column.by_object:
        return state.kinds[key] is None  # type: ignore[index]
    kinds = state.kinds
    return None in [kinds[key[place]] for place in column.named]  # type: ignore[index]


def apply(state: State, delta: Delta) -> list[RawChange]:
    """Apply the changes of a delta to ``state``, which must be the caller's own fork.

    Returns what changed. Raises `Breach` on a conflict, a range, a cycle or a repeated value of a
    ``unique`` fluent; the fork is then of no use.
    """
    if not (delta.newborns or delta.doomed):
        found = apart(state, delta.writes)
        if found is not None:
            return found
    return _together(state, delta)


def apart(state: State, writes: Sequence[Write]) -> list[RawChange] | None:
    """Apply writes of as many slots, none of which must fit others: all that most rules ask for.
    ``None``, before anything is changed: they are not that simple."""
    if len(writes) > 1 and len({(one[1].index, one[2]) for one in writes}) < len(writes):
        return None
    values: list[RawChange] = []
    kinds, cols = state.kinds, state.cols
    for op, column, key, value, title in writes:
        if column.shaped:
            return None
        stored, old = cols[column.index], column.default
        if column.tupled:
            if column.named and _is_nobodys(state, column, key):
                continue
            old = stored.get(key, old)
        elif column.by_object and kinds[key] is None:  # type: ignore[index]
            continue
        else:
            old = stored[key]
        if op == "=":
            new = bounded(column, value, (title,)) if column.bounded or value is None else value
        elif op == "+":
            new = _raised(column, old, value, title)
        else:
            new = op == "add"
        if old != new or column.fluent.ordered:
            values.append((column, key, old, new, title))
    changes: list[RawChange] = []
    for change in values:
        state.put(change[0], change[1], change[3])
        if change[2] != change[3]:
            changes.append(change)
    return changes


def _raised(column: Column, old: Raw, by: Raw, title: str) -> Raw:
    if old is None or isinstance(old, str):
        return old
    return bounded(column, old + (by if isinstance(by, (int, float)) else 0), (title,))


def _together(state: State, delta: Delta) -> list[RawChange]:
    changes: list[RawChange] = []
    if delta.newborns:
        grow(state, delta.newborns)
        for one in delta.newborns:
            changes += life(state, one)
        if not (delta.writes or delta.doomed):
            return _settled(state, delta.newborns, changes)
    slots = [
        slot
        for slot in _slots(delta.writes).values()
        if not _is_nobodys(state, slot.column, slot.key)
    ]
    values = [(slot, _value(state, slot)) for slot in slots]
    arrivals = _Arrivals(state, delta) if delta.newborns else None
    for slot, value in values:
        if arrivals is not None:
            arrivals.before(slot)
        _store(state, slot, value, changes)
    if arrivals is not None:
        arrivals.rest()
    nested = [slot for slot, _ in values if slot.column.fluent.nested]
    cyclic = [slot for slot in nested if in_itself(state, slot.column, slot.key)]
    for number, rule in delta.doomed:
        changes += _destroy(state, number, rule.title)
    for slot, value in values:
        if slot.column.fluent.unique:
            check_unique(state, slot.column, value, tuple(slot.rules))
    _check_newborns(state, delta.newborns)
    for slot in cyclic:
        raise cycle(slot.column, tuple(slot.rules))
    for slot, value in values:
        if slot.column.fluent.acyclic and value is True:
            check_acyclic(state, slot.column, slot.key, tuple(slot.rules))
    return changes


def _settled(
    state: State, newborns: Sequence[Newborn], changes: list[RawChange]
) -> list[RawChange]:
    """Newborns in their places, where nothing else changes."""
    for one in newborns:
        file(state, one)
    _check_newborns(state, newborns)
    return changes


def _check_newborns(state: State, newborns: Sequence[Newborn]) -> None:
    for one in newborns:
        for column, _ in one.values:
            if column.shaped and column.fluent.unique:
                check_unique(state, column, state.cols[column.index][one.number], (one.rule,))


class _Arrivals:
    """The newborns of a delta, to be filed among the other changes where they were asked for."""

    def __init__(self, state: State, delta: Delta) -> None:
        self._state, self._newborns, self._next = state, delta.newborns, 0
        self._first: dict[tuple[int, Key], int] = {}
        for index, write in enumerate(delta.writes):
            self._first.setdefault((write[1].index, write[2]), index)

    def before(self, slot: _Slot) -> None:
        """File those who were asked for before the slot was first written to."""
        self._until(self._first[slot.column.index, slot.key])

    def rest(self) -> None:
        """File those who still wait."""
        self._until(None)

    def _until(self, write: int | None) -> None:
        while self._next < len(self._newborns):
            one = self._newborns[self._next]
            if write is not None and one.after > write:
                return
            file(self._state, one)
            self._next += 1


def _store(state: State, slot: _Slot, value: Raw, changes: list[RawChange]) -> None:
    old = state.get(slot.column, slot.key)
    if old != value or slot.column.fluent.ordered:
        state.put(slot.column, slot.key, value)
    if old != value:
        changes.append((slot.column, slot.key, old, value, slot.rule))


def _destroy(state: State, number: int, rule: str) -> list[RawChange]:
    """Take an object out: contents move to where it was, references to it become none."""
    if not state.alive(number):
        return []
    changes: list[RawChange] = []

    def put(column: Column, key: Key, value: Raw) -> None:
        old = state.get(column, key)
        if old != value:
            state.put(column, key, value)
            changes.append((column, key, old, value, rule))

    for column in state.layout.pointing:
        nested = column.fluent.nested and column.by_object
        heir = state.cols[column.index][number] if nested else None
        for key in _pointing_at(state, column, number):
            put(column, key, heir)
    for column in state.layout.columns:
        if column.by_object:
            put(column, number, None)
        elif column.tupled:
            for key in [key for key in state.cols[column.index] if _names(column, key, number)]:
                put(column, key, column.default)
    changes.append((LIFE, number, state.kinds[number], None, rule))
    state.bury(number)
    _forget(state, number)
    return changes


def _pointing_at(state: State, column: Column, number: int) -> list[Key]:
    """The slots whose value is the object, contents in the order they have."""
    stored = state.cols[column.index]
    if column.fluent.ordered and column.by_object:
        return list(state.kids[column.index][number])
    items: Any = stored.items() if isinstance(stored, dict) else enumerate(stored)
    return [key for key, value in items if value == number]


def _forget(state: State, number: int) -> None:
    """What was told of an object once need not be kept: its number never comes again."""
    if state.fired:
        watches = state.layout.instance.program.watches
        state.fired = frozenset(
            (name, args)
            for name, args in state.fired
            if not any(
                value == number and binder.type.kind == "object"
                for binder, value in zip(watches[name].params, args, strict=True)
            )
        )


def _names(column: Column, key: tuple[Raw, ...], number: int) -> bool:
    return any(key[place] == number for place in column.named)


def net(changes: Sequence[RawChange]) -> list[RawChange]:
    """Changes merged per slot, those that cancel out left out; the last rule is named."""
    merged: dict[tuple[int, Key], RawChange] = {}
    for column, key, old, new, rule in changes:
        place = (column.index, key)
        first = merged[place][2] if place in merged else old
        merged[place] = (column, key, first, new, rule)
    return [change for change in merged.values() if change[2] != change[3]]


def shown_key(program: Program, names: Sequence[str], column: Column, key: Key) -> tuple[Json, ...]:
    """The arguments of a slot in exchange form."""
    return tuple(
        show_value(program, names, param.type, value)
        for param, value in zip(column.fluent.params, column.args(key), strict=True)
    )
