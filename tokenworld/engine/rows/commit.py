"""Committing a log: all changes together, or none (language.md §5).

Writes are merged by slot and checked against ranges; then objects are created, slots written,
objects destroyed, and shapes (`unique`, `nested`, `acyclic`) checked. A `Breach` leaves the row
half written: the caller undoes it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tokenworld.engine.changes import LIFE, Breach, RawChange
from tokenworld.engine.rows.code.runtime import climbs
from tokenworld.engine.rows.code.terms import reached
from tokenworld.engine.rows.layout import FIRED, KINDS, NEXT, NOTHING, Slots, Store
from tokenworld.engine.rows.log import Born, Log, Row, bounded
from tokenworld.model import ObjectType, ValueType

Changes = list[RawChange] | None
"""The reported changes of a commit; ``None`` if nobody asks for them."""
Shaped = tuple[int, tuple[str, ...]]
"""A slot whose value must fit others, and the rules that wrote it."""


@dataclass(slots=True)
class _Merged:
    """The writes of one slot; ``place`` is that of the first among all writes."""

    slot: int
    place: int
    rules: list[str] = field(default_factory=list)
    sets: list[Any] = field(default_factory=list)
    steps: list[Any] = field(default_factory=list)
    add: bool = False
    remove: bool = False


Asked = tuple[int, str, Any, str]
"""A write: the slot, how it changes, the value, the rule that asks."""


def commit(row: Row, log: Log, without: frozenset[str] = frozenset()) -> None:
    """Write the changes of a log, without those of the rules in ``without``."""
    if not (log.births or log.doomed or without) and _apart(row, log):
        return
    births = [one for one in log.births if one.rule not in without]
    for born in births:
        _live(row, born)
    if log.changes is not None:
        for born in births:
            log.changes.extend(_life(row, born))
    merged = _merged(row, log.writes, without)
    values = [_value(row, one) for one in merged]
    waiting = births[::-1]
    for one, value in zip(merged, values, strict=True):
        while waiting and waiting[-1].after <= one.place:
            _arrive(row, waiting.pop())
        _change(row, one.slot, value, log.changes, one.rules[-1])
    while waiting:
        _arrive(row, waiting.pop())
    written = [*((one.slot, one.rules) for one in merged), *_fresh(births)]
    shaped = [(slot, tuple(rules)) for slot, rules in written if row.slots.shaped(slot)]
    cyclic = [one for one in shaped if _is_in_itself(row, one[0])]
    for number, rule in log.doomed:
        if rule not in without and row.S[KINDS][number] is not None:
            _destroy(row, number, log.changes, rule)
    _check(row, shaped, cyclic)


def _apart(row: Row, log: Log) -> bool:
    """Write the slots of a log whose writes are independent of each other, as in most rules.

    Return false, before anything is changed, if the log is not that simple.
    """
    writes, owner = log.writes, row.slots.owner
    if len(writes) > 1 and len({one[0] for one in writes}) < len(writes):
        return False
    values: list[tuple[int, Any, str]] = []
    for slot, op, value, rule in writes:
        store = owner[slot]
        assert store is not None
        if store.column.fluent.nested or store.column.fluent.acyclic:
            return False
        if _is_somebodys(row, store, slot):
            values.append((slot, _alone(row, store, slot, op, value, rule), rule))
    for slot, value, rule in values:
        _change(row, slot, value, log.changes, rule)
    for slot, _, rule in values:
        _check_unique(row, slot, (rule,))
    return True


def _alone(row: Row, store: Store, slot: int, op: str, value: Any, rule: str) -> Any:
    """The value that one write gives a slot."""
    if op == "=":
        return bounded(store.column, value, (rule,))
    if op != "+":
        return op == "add"
    old = row.S[slot]
    return None if old is None else bounded(store.column, old + value, (rule,))


def value_given(row: Row, slot: int, writes: Sequence[Asked]) -> Any:
    """The value that all writes of a slot give it; raises `Breach` where they disagree."""
    found = _merged(row, writes)
    return _value(row, found[0]) if found else row.S[slot]


def _merged(
    row: Row, writes: Sequence[Asked], without: frozenset[str] = frozenset()
) -> list[_Merged]:
    """Return the writes by slot, for slots of living objects."""
    found: dict[int, _Merged] = {}
    for place, (slot, op, value, rule) in enumerate(writes):
        if rule in without:
            continue
        one = found.get(slot)
        if one is None:
            one = found[slot] = _Merged(slot, place)
        if rule not in one.rules:
            one.rules.append(rule)
        if op == "=":
            one.sets.append(value)
        elif op == "+":
            one.steps.append(value)
        elif op == "add":
            one.add = True
        else:
            one.remove = True
    owner = row.slots.owner
    return [one for one in found.values() if _is_somebodys(row, owner[one.slot], one.slot)]


def _is_somebodys(row: Row, store: Store | None, slot: int) -> bool:
    """Return whether all objects of a slot live; changes of destroyed objects are ignored."""
    if not row.slots.moving or store is None:
        return True
    kinds, args = row.S[KINDS], row.slots.args[slot]
    if store.column.by_object:
        return kinds[args[0]] is not None
    return all(kinds[args[place]] is not None for place in store.column.named)


def _value(row: Row, one: _Merged) -> Any:
    """The value a slot gets: all sets agree, increments add up, `add` beats `remove`."""
    if one.add or one.remove:
        return one.add
    store = row.slots.owner[one.slot]
    assert store is not None
    if one.sets:
        sets = [value is True if store.column.truth else value for value in one.sets]
        if one.steps or any(value != sets[0] for value in sets):
            what = f"`{store.column.fluent.name}` is given two values at once."
            raise Breach("TW1003", "conflict", what, tuple(one.rules))
        return bounded(store.column, sets[0], tuple(one.rules))
    value = row.S[one.slot]
    if value is None:
        return None
    by: Any = 0
    for step in one.steps:
        by += step
    return bounded(store.column, value + by, tuple(one.rules))


# ---- slots and lists of children ----------------------------------------------------------------


def store_value(row: Row, slot: int, value: Any) -> None:
    """Write a slot, and update the lists of references. `ordered` appends the object anew."""
    S, store = row.S, row.slots.owner[slot]
    old = S[slot]
    assert store is not None
    ordered = store.column.fluent.ordered
    if old == value and not ordered:
        return
    row.set(slot, value)
    if store.kids is not None:
        child = row.slots.args[slot][0]
        if old is not None:
            _unfile(row, store, old, child)
        _file(row, store, value, child)


def _change(row: Row, slot: int, value: Any, reported: Changes, rule: str) -> None:
    """Write a slot and report it, if it changes."""
    old = row.S[slot]
    store_value(row, slot, value)
    if reported is not None and old != value:
        reported.append(change_of(row.slots, slot, old, value, rule))


def change_of(slots: Slots, slot: int, old: Any, new: Any, rule: str) -> RawChange:
    """The change of a slot by a rule, as it is reported."""
    store, args = slots.owner[slot], slots.args[slot]
    assert store is not None
    key = args if store.column.tupled else store.column.key(args)
    return store.column, key, old, new, rule


def _unfile(row: Row, store: Store, parent: int, child: Any) -> None:
    assert store.kids is not None
    place = store.kids[parent]
    row.set(place, tuple(one for one in row.S[place] if one != child))


def _file(row: Row, store: Store, parent: int | None, child: Any) -> None:
    if parent is None:
        return
    assert store.kids is not None
    place = store.kids[parent]
    if store.column.fluent.ordered:
        row.set(place, (*row.S[place], child))
    else:
        listed = list(row.S[place])
        insort(listed, child)
        row.set(place, tuple(listed))


# ---- births -------------------------------------------------------------------------------------


def _live(row: Row, born: Born) -> None:
    """Add a new object to the lists of its types, with the defaults of the fluents."""
    slots, S = row.slots, row.S
    for name in slots.ancestry[born.maker.of]:
        row.set(slots.live[name], (*S[slots.live[name]], born.number))
    for store in slots.stores:
        if _is_given(slots, store, born.maker.of):
            row.set(store.table[born.number], store.column.default)


def _is_given(slots: Slots, store: Store, of: str) -> bool:
    """Return whether each new object of a type has a slot of a fluent that is no attribute."""
    own = store.column.by_object and store.column.fluent.fluent_kind != "attribute"
    return own and store.live and slots.owns(store, of)


def _life(row: Row, born: Born) -> Iterator[RawChange]:
    """The changes that report a birth: its existence, and each of its initial values."""
    number, slots = born.number, row.slots
    yield LIFE, number, None, born.maker.of, born.rule
    others = (one for one in slots.stores if _is_given(slots, one, born.maker.of))
    for store in (*born.maker.stores, *others):
        value = row.S[store.table[number]]
        if value is not None:
            yield store.column, number, None, value, born.rule


def _arrive(row: Row, born: Born) -> None:
    """A new object is filed where its attributes point."""
    for store in born.maker.stores:
        if store.kids is not None and store.live:
            _file(row, store, row.S[store.table[born.number]], born.number)


def _fresh(births: list[Born]) -> Iterator[tuple[int, list[str]]]:
    """The slots that births fill, with the rule that asked for each."""
    for born in births:
        yield from ((store.table[born.number], [born.rule]) for store in born.maker.stores)


# ---- deaths -------------------------------------------------------------------------------------


def _destroy(row: Row, number: int, reported: Changes, rule: str) -> None:
    """Contents move to where the object was, references to it become `none`, its slots go."""
    slots, S = row.slots, row.S
    ancestry = slots.ancestry[S[KINDS][number]]
    for store in slots.stores:
        if store.live and _is_any(store.column.fluent.type, ancestry):
            nested = store.column.fluent.nested and store.column.by_object
            heir = S[store.table[number]] if nested else None
            for slot in _pointing(row, store, number):
                _change(row, slot, heir, reported, rule)
    remove_object(row, number, reported, rule)


def remove_object(row: Row, number: int, reported: Changes = None, rule: str = "") -> None:
    """Remove an object and its slots; the caller clears references to it."""
    slots, S, kinds = row.slots, row.S, row.S[KINDS]
    for store in slots.stores:
        if not store.live:
            continue
        if store.column.by_object and store.table[number] != NOTHING:
            _vacate(row, store, number, reported, rule)
        elif store.column.tupled and store.offset is None:
            for args, slot in list(store.rows.items()):
                if slot < len(S) and _about(store, args, number):
                    _change(row, slot, store.column.default, reported, rule)
    _forget(row, number)
    if reported is not None:
        reported.append((LIFE, number, kinds[number], None, rule))
    row.set(KINDS, (*kinds[:number], None, *kinds[number + 1 :]))
    for name in slots.ancestry[kinds[number]]:
        place = slots.live[name]
        at = bisect_left(S[place], number)
        row.set(place, (*S[place][:at], *S[place][at + 1 :]))


def _is_any(kind: ValueType, types: tuple[str, ...]) -> bool:
    """Return whether values are objects of one of these types."""
    return isinstance(kind, ObjectType) and kind.name in types


def _vacate(row: Row, store: Store, number: int, reported: Changes, rule: str) -> None:
    """Set the slot of a destroyed object to `none`, which removes it from all contents."""
    slot = store.table[number]
    old = row.S[slot]
    if old is not None:
        row.set(slot, None)
        if reported is not None:
            reported.append((store.column, number, old, None, rule))
        if store.kids is not None:
            _unfile(row, store, old, number)


def _pointing(row: Row, store: Store, number: int) -> list[int]:
    """The slots whose value is the object, contents in their order."""
    S = row.S
    if store.kids is not None:
        return [store.table[child] for child in S[store.kids[number]]]
    return [
        slot
        for _, slot in row.slots.places_of(store)
        if slot < len(S) and S[slot] == number
    ]  # fmt: skip


def _about(store: Store, args: tuple[Any, ...], number: int) -> bool:
    return any(args[place] == number for place in store.column.named)


def _forget(row: Row, number: int) -> None:
    """Delete the record that a watch fired for an object."""
    fired, watches = row.S[FIRED], row.slots.program.watches
    kept = frozenset(
        (name, args)
        for name, args in fired
        if not any(
            value == number and binder.type.kind == "object"
            for binder, value in zip(watches[name].params, args, strict=True)
        )
    )
    if kept != fired:
        row.set(FIRED, kept)


# ---- shapes -------------------------------------------------------------------------------------


def _check(row: Row, shaped: list[Shaped], cyclic: list[Shaped]) -> None:
    """Check `unique` of every slot that was written or created, then cycles.

    ``cyclic`` are slots that were part of a cycle before objects were destroyed.
    """
    for slot, rules in shaped:
        _check_unique(row, slot, rules)
    for slot, rules in (*cyclic, *(one for one in shaped if _is_on_cycle(row, one[0]))):
        store = row.slots.owner[slot]
        assert store is not None
        raise Breach("TW1005", "cycle", f"`{store.column.fluent.name}` would make a cycle.", rules)


def _check_unique(row: Row, slot: int, rules: tuple[str, ...]) -> None:
    store = row.slots.owner[slot]
    assert store is not None
    if store.column.fluent.unique and _repeats(row, store, row.S[slot]):
        what = f"`{store.column.fluent.name}` would repeat a value."
        raise Breach("TW1004", "unique", what, rules)


def _repeats(row: Row, store: Store, value: Any) -> bool:
    S = row.S
    if value is None:
        return False
    if store.kids is not None:
        return len(S[store.kids[value]]) > 1
    held = (S[slot] for _, slot in row.slots.places_of(store) if slot < len(S))
    return sum(1 for other in held if other == value) > 1


def _is_in_itself(row: Row, slot: int) -> bool:
    """Return whether a `nested` attribute leads from an object back to it."""
    store = row.slots.owner[slot]
    assert store is not None
    if not store.column.fluent.nested:
        return False
    own: Any = row.slots.args[slot][0]
    return climbs(row.S, store.table, own, own)


def _is_on_cycle(row: Row, slot: int) -> bool:
    """Return whether a tuple of an `acyclic` relation closes a cycle."""
    store, start = row.slots.owner[slot], row.slots.args[slot][0]
    assert store is not None
    made = store.column.fluent.acyclic and row.S[slot] is True
    return bool(made) and start in reached(row.slots, store, row.S, start)  # type: ignore[arg-type]


# ---- what prose sees ----------------------------------------------------------------------------


def recalled(row: Row, log: Log, mark: int) -> list[tuple[int, Any]]:
    """Make destroyed objects of a log readable as before, for the texts of the same body.

    Returns the slots to set back. Lists of living objects and of contents are not changed.
    """
    S, slots = row.S, row.slots
    kinds = S[KINDS]
    gone = {number for number, _ in log.doomed if kinds[number] is None}
    gone &= {born.number for born in log.births} | set(range(S[NEXT] - len(log.births)))
    if not gone:
        return []
    first: dict[int, Any] = {}
    for at in range(mark, len(row.J), 2):
        first.setdefault(row.J[at], row.J[at + 1])
    before = first.get(KINDS, kinds)
    seen = {slot: old for slot, old in first.items() if _is_of(row, slot, gone)}
    seen[KINDS] = tuple(before[at] if at in gone else one for at, one in enumerate(kinds))
    back = [(slot, S[slot]) for slot in seen]
    slots.epoch += 1
    for slot, value in seen.items():
        S[slot] = value
    return back


def _is_of(row: Row, slot: int, gone: set[int]) -> bool:
    store = row.slots.owner[slot]
    if store is None:
        return False
    args = row.slots.args[slot]
    if store.column.by_object:
        return args[0] in gone
    return any(args[place] in gone for place in store.column.named)
