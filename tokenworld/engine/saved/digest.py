"""The state as ``tw-state/1`` JSON and its hash (language.md §9).

The hash of the facts is a multiset hash: the sum, modulo 2**256, of the BLAKE2b of each fact's
canonical JSON (AdHash, Bellare and Micciancio 1997), so a change costs as much as the facts it
touches. That an object lives is such a fact, with its number, name and type. The state hash is the
BLAKE2b of that sum with the header: tick, seed, endings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from itertools import count, product
from typing import Any

from tokenworld.engine.changes import shown_key
from tokenworld.engine.columns import Column, Key, Layout
from tokenworld.engine.state import State
from tokenworld.ground import Json, Raw, domain_of, show_value
from tokenworld.model import ObjectType, ValueType

SPAN = 1 << 256
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)
MOST_HASHES = 50_000
"""Hashes of facts that are kept, for facts come and go."""


def hashed(value: Json) -> int:
    """The hash of one fact."""
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
    known = _hashes(state)
    place = (column.index, key, value, value.__class__)
    found = known.get(place)
    if found is None:
        found = known[place] = _hashed_fact(state, column, key, value)
    return found


def _hashes(state: State) -> dict[tuple[Any, ...], int]:
    """The known hashes of facts, of objects with the names of a state."""
    names, known = state.layout.hashes
    if names is not state.names or len(known) >= MOST_HASHES:
        if names != state.names or len(known) >= MOST_HASHES:  # a number may have another name
            known = {}
        state.layout.hashes = (state.names, known)
    return known


def _hashed_fact(state: State, column: Column, key: Key, value: Raw) -> int:
    names = state.names
    program = state.layout.instance.program
    shown = show_value(program, names, column.fluent.type, value)
    return hashed([column.fluent.id, list(shown_key(program, names, column, key)), shown])


def _children(state: State, column: Column, parent: int) -> int:
    names = state.names
    listed = [names[child] for child in state.kids[column.index][parent]]
    return hashed(["contents", column.fluent.id, names[parent], listed]) if listed else 0


@lru_cache(maxsize=MOST_HASHES)
def life_hash(number: int, name: str, kind: str | None) -> int:
    """The hash of the fact that an object of a type lives; 0 if it does not."""
    return 0 if kind is None else hashed(["object", number, name, kind])


def facts_hash(state: State) -> int:
    """The multiset hash of all facts, from scratch."""
    total = sum(map(life_hash, count(), state.names, state.kinds))
    for column in state.layout.columns:
        stored, index, known = state.cols[column.index], column.index, _hashes(state)
        for key in _keys(state, column):
            value = stored[key]
            found = known.get((index, key, value, value.__class__))
            total += _weight(state, column, key, value) if found is None else found
        if column.fluent.ordered:
            total += sum(_children(state, column, x) for x in range(len(state.kinds)))
    return total % SPAN


def kept_facts_hash(state: State) -> int:
    """The same, computed once for a state."""
    if state.facts is None:
        state.facts = facts_hash(state)
    return state.facts


def _weight(state: State, column: Column, key: Key, value: Raw) -> int:
    if column.sparse and value == column.default:
        return 0
    return _fact(state, column, key, value)


# ---- JSON -------------------------------------------------------------------------------


def state_hash(state: State) -> str:
    """The hash of the whole state, 32 hexadecimal digits."""
    return framed_hash(header_frame(state), state.tick, kept_facts_hash(state))


Frame = tuple[str, str]
"""The texts before and after the number of the tick in the text that a state hash is taken of."""


def framed_hash(frame: Frame, tick: int, facts: int) -> str:
    """The state hash of a header with a tick, and of the hash of the facts."""
    body = f'{frame[0]}{tick}{frame[1]}"{facts}"]'
    return blake2b(body.encode(), digest_size=16).hexdigest()


def header_frame(state: State) -> Frame:
    """The canonical JSON of a header, around its tick, which changes most often."""
    header = header_json(state)
    before = {name: value for name, value in header.items() if name < "tick"}
    after = {name: value for name, value in header.items() if name > "tick"}
    return f'[{canonical(before)[:-1]},"tick":', f",{canonical(after)[1:]},"


def _object_json(state: State, number: int) -> dict[str, Json]:
    instance = state.layout.instance
    program, names = instance.program, state.names
    attrs: dict[str, Json] = {}
    contents: list[Json] = []
    orders: dict[str, Json] = {}
    for column in state.layout.columns:
        if not column.by_object:
            continue
        fluent = column.fluent
        owned = state.kinds[number] in state.layout.owners[column.index]
        if owned and fluent.fluent_kind == "attribute":
            value = state.cols[column.index][number]
            attrs[fluent.name] = show_value(program, names, fluent.type, value)
        if state.kids[column.index] is not None:
            children = [names[child] for child in state.kids[column.index][number]]
            if fluent.nested:
                contents += children
            if children and in_sequence(column, state.layout):
                orders[fluent.id] = children
    kind = state.kinds[number] or ""
    found: dict[str, Json] = {
        "id": number,
        "name": names[number],
        "type": kind,
        "attrs": attrs,
        "contents": contents,
    }
    return {**found, "orders": orders} if orders else found


def in_sequence(column: Column, layout: Layout) -> bool:
    """Return whether the children of a fluent have an order that `contents` does not show."""
    nests = [one for one in layout.columns if one.fluent.nested and one.has_children]
    return column.fluent.ordered and nests != [column]


def shown_keys(state: State, column: Column) -> Iterable[Key]:
    """The slots that are listed; every one of a truth that is true where nothing is stored."""
    if not (column.tupled and column.default is True):
        return _keys(state, column)
    domains = (_values(state, param.type) for param in column.fluent.params)
    return dict.fromkeys(column.key(args) for args in product(*domains))


def _values(state: State, kind: ValueType) -> Iterable[Raw]:
    if isinstance(kind, ObjectType):
        return state.live[kind.name]
    return domain_of(state.layout.instance, kind) or ()


def _rows(state: State, column: Column) -> list[Json]:
    instance = state.layout.instance
    program, names = instance.program, state.names
    rows: list[Json] = []
    for key in shown_keys(state, column):
        value = state.get(column, key)
        if column.fluent.scratch and value == column.default:
            continue
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
        rows = _rows(state, column)
        if rows or not column.fluent.scratch:
            target[column.fluent.name] = rows
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


# ---- the header ---------------------------------------------------------------------------------


def canonical(value: Json) -> str:
    """Canonical JSON: sorted keys, no spaces, UTF-8."""
    return _ENCODER.encode(value)


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


def _drawn(state: State) -> list[Json]:
    """The number of draws of each rule in this tick: rule, arguments, number."""
    found: list[Json] = [[rule, list(args), n] for (rule, args), n in state.drawn.items()]
    return sorted(found, key=canonical)


def header_json(state: State) -> dict[str, Json]:
    """Everything of a state but its facts."""
    instance = state.layout.instance
    names = state.names
    long: dict[str, Json] = {}
    for actor, running in state.longs:
        params = instance.program.actions[running.command.action].params
        args = {
            binder.name: show_value(instance.program, names, binder.type, value)
            for binder, value in zip(params, running.command.args, strict=True)
        }
        long["" if actor is None else names[actor]] = {
            "action": running.command.action,
            "args": args,
            "done": running.done,
            "total": running.total,
        }
    midway: dict[str, Json] = {"turn": state.turn} if state.turn else {}
    if state.drawn:
        midway["drawn"] = _drawn(state)
    return {
        **midway,
        "world": instance.world.name,
        "tick": state.tick,
        "seed": state.seed,
        "next_id": state.next_id,
        "outcomes": list(state.latched),
        "awarded": list(state.awarded),
        "fired": _fired(state),
        "long": long,
    }
