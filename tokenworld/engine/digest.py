"""The state as ``tw-state/1`` JSON and its hash (language.md §9).

The hash of the facts is a multiset hash: the sum, modulo 2**256, of the BLAKE2b of each fact's
canonical JSON (AdHash, Bellare and Micciancio 1997), so a change costs as much as the facts it
touches. The state hash is the BLAKE2b of that sum with the header: objects, tick, seed, endings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b

from tokenworld.engine.applying import shown_key
from tokenworld.engine.layout import Column, Key
from tokenworld.engine.state import State
from tokenworld.ground import Json, Raw, show_value

__all__ = ["canonical", "facts_hash", "settle", "state_hash", "state_json"]

SPAN = 1 << 256


def canonical(value: Json) -> str:
    """Canonical JSON: sorted keys, no spaces, UTF-8."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _hash(value: Json) -> int:
    digest = blake2b(canonical(value).encode(), digest_size=32).digest()
    return int.from_bytes(digest, "big")


# ---- facts ------------------------------------------------------------------------------


def _keys(state: State, column: Column) -> Iterator[Key]:
    stored = state.cols[column.index]
    if column.tupled:
        yield from stored
    elif column.single:
        yield 0
    else:
        yield from state.live[_owner(column)]


def _owner(column: Column) -> str:
    kind = column.fluent.params[0].type
    assert kind.kind == "object"
    return kind.name


def _fact(state: State, column: Column, key: Key, value: Raw) -> int:
    """The hash of one fact; slots of the dead and default rows of dicts are no facts."""
    names = state.names
    program = state.layout.instance.program
    shown = show_value(program, names, column.fluent.type, value)
    return _hash([column.fluent.id, list(shown_key(program, names, column, key)), shown])


def _children(state: State, column: Column, parent: int) -> int:
    names = state.names
    listed = [names[child] for child in state.kids[column.index][parent]]
    return _hash(["contents", column.fluent.id, names[parent], listed]) if listed else 0


def facts_hash(state: State) -> int:
    """The multiset hash of all facts, from scratch."""
    total = 0
    for column in state.layout.columns:
        stored = state.cols[column.index]
        for key in _keys(state, column):
            total += _fact(state, column, key, stored[key])
        if column.fluent.ordered:
            total += sum(_children(state, column, x) for x in range(len(state.kinds)))
    return total % SPAN


def settle(before: State, after: State) -> None:
    """Bring the fact hash of ``after`` up to date from that of an earlier state.

    Only columns that were copied in between are compared; the others are shared.
    """
    if before.facts is None or before.kinds is not after.kinds:
        after.facts = facts_hash(after)
        return
    total = before.facts
    for column in after.layout.columns:
        if after.cols[column.index] is not before.cols[column.index]:
            total += _difference(before, after, column)
    after.facts = total % SPAN


def _difference(before: State, after: State, column: Column) -> int:
    new, old = after.cols[column.index], before.cols[column.index]
    total = 0
    keys: Iterable[Key] = {**old, **new} if column.tupled else range(len(new))
    for key in keys:
        first, last = before.get(column, key), after.get(column, key)
        if first != last:
            total += _weight(after, column, key, last) - _weight(before, column, key, first)
    if column.fluent.ordered:
        for x, children in enumerate(after.kids[column.index]):
            if children != before.kids[column.index][x]:
                total += _children(after, column, x) - _children(before, column, x)
    return total


def _weight(state: State, column: Column, key: Key, value: Raw) -> int:
    if column.tupled and value == column.default:
        return 0
    return _fact(state, column, key, value)


# ---- JSON -------------------------------------------------------------------------------


def _fired(state: State) -> list[Json]:
    """The bindings of `watch … once` that have spoken, shown."""
    instance = state.layout.instance
    found: list[Json] = []
    for name, args in state.fired:
        params = instance.program.watches[name].params
        shown = [
            show_value(instance.program, state.names, binder.type, value)
            for binder, value in zip(params, args, strict=True)
        ]
        found.append([name, shown])
    return sorted(found, key=canonical)


def header_json(state: State) -> dict[str, Json]:
    """Everything of a state but its facts."""
    instance = state.layout.instance
    names = state.names
    long: dict[str, Json] = {}
    if state.long is not None:
        actor = "" if state.me is None else names[state.me]
        params = instance.program.actions[state.long.command.action].params
        args = {
            binder.name: show_value(instance.program, names, binder.type, value)
            for binder, value in zip(params, state.long.command.args, strict=True)
        }
        long[actor] = {
            "action": state.long.command.action,
            "args": args,
            "done": state.long.done,
            "total": state.long.total,
        }
    return {
        "world": instance.world.name,
        "tick": state.tick,
        "seed": state.seed,
        "next_id": state.next_id,
        "outcomes": list(state.latched),
        "awarded": list(state.awarded),
        "fired": _fired(state),
        "long": long,
    }


def state_hash(state: State) -> str:
    """The hash of the whole state, 32 hexadecimal digits."""
    if state.facts is None:
        state.facts = facts_hash(state)
    objects = [[x, state.names[x], kind] for x, kind in enumerate(state.kinds)]
    body: Json = [header_json(state), objects, str(state.facts)]
    return blake2b(canonical(body).encode(), digest_size=16).hexdigest()


def _object_json(state: State, number: int) -> dict[str, Json]:
    instance = state.layout.instance
    program, names = instance.program, state.names
    attrs: dict[str, Json] = {}
    contents: list[Json] = []
    for column in state.layout.columns:
        fluent = column.fluent
        if column.by_object and fluent.fluent_kind == "attribute":
            if number in state.live[_owner(column)]:
                value = state.cols[column.index][number]
                attrs[fluent.name] = show_value(program, names, fluent.type, value)
            if fluent.nested and state.kids[column.index] is not None:
                contents = [names[child] for child in state.kids[column.index][number]]
    kind = state.kinds[number] or ""
    return {
        "id": number,
        "name": names[number],
        "type": kind,
        "attrs": attrs,
        "contents": contents,
    }


def _rows(state: State, column: Column) -> list[Json]:
    instance = state.layout.instance
    program, names = instance.program, state.names
    rows: list[Json] = []
    for key in _keys(state, column):
        value = state.cols[column.index][key]
        args = list(shown_key(program, names, column, key))
        if column.fluent.type.kind == "bool":
            if value:
                rows.append(args)
        else:
            shown = show_value(program, names, column.fluent.type, value)
            rows.append([args, shown])
    return sorted(rows, key=canonical)


def state_json(state: State) -> dict[str, Json]:
    """The state as ``tw-state/1``."""
    functions: dict[str, Json] = {}
    relations: dict[str, Json] = {}
    for column in state.layout.columns:
        if column.fluent.fluent_kind == "attribute" or column.fluent.fluent_kind == "table":
            continue
        target = relations if column.fluent.type.kind == "bool" else functions
        target[column.fluent.name] = _rows(state, column)
    objects: list[Json] = [
        _object_json(state, number) for number in range(len(state.kinds)) if state.alive(number)
    ]
    facts: Mapping[str, Json] = {
        "format": "tw-state/1",
        "objects": objects,
        "functions": functions,
        "relations": relations,
    }
    return {**header_json(state), **facts}
