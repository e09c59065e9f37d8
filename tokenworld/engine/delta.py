"""What a body asks for: its changes are collected, then applied together (language.md §5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tokenworld.engine.layout import Column, Key, Layout
from tokenworld.engine.luck import Luck
from tokenworld.engine.state import State
from tokenworld.ground import Json, Raw, show_value
from tokenworld.model import NumberType, Program, RealType

__all__ = [
    "Breach",
    "Delta",
    "RawChange",
    "Rule",
    "Write",
    "apply",
    "net",
    "prose_state",
    "shown_key",
]


@dataclass(frozen=True, slots=True)
class Rule:
    """Who asks: its kind and name (``law grow``) and its raw arguments."""

    title: str
    args: tuple[Raw, ...] = ()


@dataclass(frozen=True, slots=True)
class Write:
    """One requested change of a slot: ``=``, ``+`` (by), ``add`` or ``remove``."""

    op: str
    column: Column
    key: Key
    value: Raw
    rule: Rule


RawChange = tuple[Column, Key, Raw, Raw, str]
"""A committed change: column, key, old value, new value, title of the rule."""


class Breach(Exception):  # a rule of the world was broken; not a defect
    """A change that must not happen: conflict, range, cycle, uniqueness or undefined number."""

    def __init__(self, code: str, kind: str, message: str, rules: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.code, self.kind, self.message, self.rules = code, kind, message, rules


@dataclass(slots=True)
class Delta:
    """The changes and output of one evaluation, on one state, by one or several rules.

    Generated code calls the short methods; prose is kept as calls to be rendered on the state
    after the body.
    """

    layout: Layout
    luck: Luck
    seed: int
    tick: int
    writes: list[Write] = field(default_factory=list)
    doomed: list[tuple[int, Rule]] = field(default_factory=list)
    prose: list[tuple[Callable[..., str], tuple[Raw, ...]]] = field(default_factory=list)
    shown: list[tuple[int, ...]] = field(default_factory=list)
    events: list[tuple[str, tuple[Raw, ...]]] = field(default_factory=list)
    rewards: list[tuple[Raw, int]] = field(default_factory=list)
    rule: Rule = field(default_factory=lambda: Rule(""))
    count: int = 0
    keyed: tuple[Json, ...] = ()
    fired: list[Rule] = field(default_factory=list)
    guarded: list[str] = field(default_factory=list)

    def by(self, title: str, args: tuple[Raw, ...], keyed: tuple[Json, ...]) -> None:
        """The rule that speaks from now on; its draws are numbered from 0."""
        self.rule, self.count, self.keyed = Rule(title, args), 0, keyed
        self.fired.append(self.rule)

    # ---- called by generated code ---------------------------------------------------------

    def put(self, index: int, args: tuple[Raw, ...], op: str, value: Raw) -> None:
        """A change of a slot; a slot of `none` is nobody's and is left alone."""
        if None in args:
            return
        column = self.layout.columns[index]
        self.writes.append(Write(op, column, column.key(args), value, self.rule))

    def move(
        self, amount: Raw, source: tuple[int, tuple[Raw, ...]], target: tuple[int, tuple[Raw, ...]]
    ) -> None:
        """``transfer``: the amount leaves one slot and reaches the other."""
        if amount is None:
            return
        assert isinstance(amount, (int, float))
        if amount < 0:
            raise Breach("TW1004", "range", "A negative amount cannot be transferred.")
        self.put(*source, "+", -amount)
        self.put(*target, "+", amount)

    def destroy(self, number: Raw) -> None:
        if isinstance(number, int):
            self.doomed.append((number, self.rule))

    def emit(self, event: str, args: tuple[Raw, ...]) -> None:
        self.events.append((event, args))

    def say(self, words: Callable[..., str], args: tuple[Raw, ...]) -> None:
        self.prose.append((words, args))

    def reward(self, amount: Raw, decimals: int) -> None:
        self.rewards.append((amount, decimals))

    def choose(self, probabilities: Sequence[tuple[int, int] | float]) -> int:
        """The branch that happens; one past the last for none of them."""
        from fractions import Fraction

        shares = [Fraction(*p) if isinstance(p, tuple) else Fraction(p) for p in probabilities]
        rest = 1 - sum(shares)
        if rest < 0 or any(share < 0 for share in shares):
            raise Breach("TW1006", "probability", "The probabilities leave the range 0 to 1.")
        whole = 1
        for share in shares:
            whole = whole * share.denominator
        return self._choose([int(share * whole) for share in (*shares, rest)])

    def pick(self, weights: Sequence[int]) -> int:
        """The index of one of the candidates; -1 where none can be chosen."""
        if any(weight < 0 for weight in weights):
            raise Breach("TW1006", "probability", "A weight is negative.")
        return self._choose(weights) if any(weights) else -1

    def uniform(self, low: float, high: float) -> float:
        share = self.luck.uniform((self.rule.title, self.keyed, self.count), self.seed, self.tick)
        self.count += 1
        return low + (high - low) * share

    def _choose(self, weights: Sequence[int]) -> int:
        key = (self.rule.title, self.keyed, self.count)
        self.count += 1
        return self.luck.choose(key, self.seed, self.tick, weights)


# ---- applying ---------------------------------------------------------------------------


@dataclass(slots=True)
class _Slot:
    column: Column
    key: Key
    rule: str
    sets: list[tuple[Raw, str]] = field(default_factory=list)
    by: int | float = 0
    steps: int = 0
    add: bool = False
    remove: bool = False


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
            slot = slots[place] = _Slot(write.column, write.key, write.rule.title)
        match write.op:
            case "=":
                slot.sets.append((_stored(write), write.rule.title))
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
        value, rule = slot.sets[0]
        others = [title for other, title in slot.sets if other != value]
        if others or slot.steps:
            rules = tuple(dict.fromkeys((rule, *others, slot.rule)))
            what = f"`{slot.column.fluent.name}` is given two values at once."
            raise Breach("TW1003", "conflict", what, rules)
        return _bounded(value, slot.column)
    old = state.get(slot.column, slot.key)
    if old is None or isinstance(old, str):
        return old
    return _bounded(old + slot.by, slot.column)


def _bounded(value: Raw, column: Column) -> Raw:
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
    raise Breach("TW1004", "range", what)


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
                raise Breach("TW1005", "cycle", what, (slot.rule,))
            assert isinstance(step, int)
            step = state.cols[slot.column.index][step]
    if fluent.unique and value is not None:
        stored = state.cols[slot.column.index]
        values = stored.values() if isinstance(stored, dict) else stored
        if sum(1 for other in values if other == value) > 1:
            raise Breach("TW1004", "unique", f"`{fluent.name}` would repeat a value.", (slot.rule,))
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
            raise Breach("TW1005", "cycle", what, (slot.rule,))
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
