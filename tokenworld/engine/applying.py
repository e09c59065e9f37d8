"""Applying a delta: all changes together, or none (language.md §5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tokenworld.engine.delta import Breach, Delta, RawChange, Write
from tokenworld.engine.layout import Column, Key
from tokenworld.engine.state import State
from tokenworld.ground import Json, Raw, show_value
from tokenworld.model import NumberType, Program, RealType

__all__ = ["apply", "net", "prose_state", "shown_key"]


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


def _stored(write: Write) -> Raw:
    """What a slot keeps of a value: `none` counts as false in a truth."""
    truth = write.column.fluent.type.kind == "bool"
    return False if truth and write.value is None else write.value


def _slots(writes: Sequence[Write]) -> dict[tuple[int, Key], _Slot]:
    slots: dict[tuple[int, Key], _Slot] = {}
    for write in writes:
        place = (write.column.index, write.key)
        slot = slots.get(place)
        if slot is None:
            slot = slots[place] = _Slot(write.column, write.key)
        if write.rule.title not in slot.rules:
            slot.rules.append(write.rule.title)
        match write.op:
            case "=":
                slot.sets.append(_stored(write))
            case "+":
                slot.steps += 1
                slot.by += write.value if isinstance(write.value, (int, float)) else 0
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
        return _bounded(value, slot)
    old = state.get(slot.column, slot.key)
    if old is None or isinstance(old, str):
        return old
    return _bounded(old + slot.by, slot)


def _bounded(value: Raw, slot: _Slot) -> Raw:
    column = slot.column
    kind = column.fluent.type
    if not isinstance(kind, NumberType) or not isinstance(value, int):
        if isinstance(kind, RealType) and isinstance(value, int):
            return float(value)
        return value
    low, high = kind.low, kind.high
    if (low is None or value >= low) and (high is None or value <= high):
        return value
    if column.fluent.clamped:
        return low if low is not None and value < low else high
    what = f"`{column.fluent.name}` would leave its range."
    raise Breach("TW1004", "range", what, tuple(slot.rules))


def apply(state: State, delta: Delta) -> list[RawChange]:
    """Apply the changes of a delta to ``state``, which must be the caller's own fork.

    Returns what changed. Raises `Breach` on a conflict, a range, a cycle or a repeated value of a
    ``unique`` fluent; the fork is then of no use.
    """
    values = [(slot, _value(state, slot)) for slot in _slots(delta.writes).values()]
    changes: list[RawChange] = []
    for slot, value in values:
        old = state.get(slot.column, slot.key)
        if old != value or slot.column.fluent.ordered:
            state.put(slot.column, slot.key, value)
        if old != value:
            changes.append((slot.column, slot.key, old, value, slot.rule))
    for number, rule in delta.doomed:
        changes.extend(_destroy(state, number, rule.title))
    for slot, value in values:
        _check_shape(state, slot, value)
    return changes


def _check_shape(state: State, slot: _Slot, value: Raw) -> None:
    fluent = slot.column.fluent
    if fluent.nested and value is not None:
        step: Raw = value
        while step is not None:
            if step == slot.key:
                what = f"`{fluent.name}` would make a cycle."
                raise Breach("TW1005", "cycle", what, tuple(slot.rules))
            assert isinstance(step, int)
            step = state.cols[slot.column.index][step]
    if fluent.unique and value is not None:
        stored = state.cols[slot.column.index]
        values = stored.values() if isinstance(stored, dict) else stored
        if sum(1 for other in values if other == value) > 1:
            raise Breach(
                "TW1004", "unique", f"`{fluent.name}` would repeat a value.", tuple(slot.rules)
            )
    if fluent.acyclic and value is True:
        _check_acyclic(state, slot)


def _check_acyclic(state: State, slot: _Slot) -> None:
    stored = state.cols[slot.column.index]
    start, first = slot.column.args(slot.key)
    todo, seen = [first], {first}
    while todo:
        node = todo.pop()
        if node == start:
            what = f"`{slot.column.fluent.name}` would make a cycle."
            raise Breach("TW1005", "cycle", what, tuple(slot.rules))
        for left, right in stored:
            if left == node and right not in seen:
                seen.add(right)
                todo.append(right)


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
        stored = state.cols[column.index]
        nested = column.fluent.nested and column.by_object
        heir = stored[number] if nested else None
        items: Any = stored.items() if isinstance(stored, dict) else enumerate(stored)
        for key, value in list(items):
            if value == number:
                put(column, key, heir)
    for column in state.layout.columns:
        if column.by_object:
            put(column, number, None)
        elif column.tupled:
            for key in [key for key in state.cols[column.index] if _names(column, key, number)]:
                put(column, key, column.default)
    state.bury(number)
    return changes


def prose_state(before: State, after: State, delta: Delta) -> State:
    """The state that the prose of a body sees: the one after, but what it destroyed as it was."""
    if not delta.doomed:
        return after
    seen = after.fork()
    seen.kinds = list(after.kinds)
    for number, _ in delta.doomed:
        seen.kinds[number] = before.kinds[number]
        for column in before.layout.columns:
            stored = before.cols[column.index]
            if column.by_object:
                seen.recall(column, {number: stored[number]})
            elif column.tupled:
                rows = {key: stored[key] for key in stored if _names(column, key, number)}
                seen.recall(column, rows)
    return seen


def _names(column: Column, key: tuple[Raw, ...], number: int) -> bool:
    params = column.fluent.params
    return any(
        value == number and param.type.kind == "object"
        for value, param in zip(key, params, strict=True)
    )


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
