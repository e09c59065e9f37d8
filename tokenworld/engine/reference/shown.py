"""The state as ``tw-state/1`` and its hash (language.md §9).

The hash adds up, modulo 2**256, a BLAKE2b number for every fact and every living object; that sum
is hashed with the rest of the state. The definition is the state format's own, written here a
second time on purpose.
"""

from __future__ import annotations

import json
from functools import lru_cache
from hashlib import blake2b
from itertools import product
from typing import Any

from tokenworld.engine.reference.values import Known, State
from tokenworld.ground import Json, Raw, show_value
from tokenworld.model import Fluent, ObjectType

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical(value: Any) -> str:
    """Canonical JSON: sorted keys, no spaces, UTF-8."""
    return _ENCODER.encode(value)


def object_names(state: State) -> list[str]:
    """Names by number, for `show_value`; gaps cannot be, since numbers are never reused."""
    last = max(state.names, default=-1)
    return [state.names.get(number, "") for number in range(last + 1)]


def _shown_args(
    known: Known, names: list[str], fluent: Fluent, args: tuple[Raw, ...]
) -> list[Json]:
    return [
        show_value(known.program, names, param.type, arg)
        for param, arg in zip(fluent.params, args, strict=True)
    ]


def _facts(known: Known, state: State, fluent: Fluent) -> list[tuple[tuple[Raw, ...], Raw]]:
    """The arguments and values that count as facts.

    Every slot of the living where a fluent has one object, the one slot where it has no argument,
    else only what differs from the default.
    """
    kinds = [param.type for param in fluent.params]
    if not kinds:
        every: list[tuple[Raw, ...]] = [()]
    elif len(kinds) == 1 and isinstance(kinds[0], ObjectType):
        every = [(one,) for one in known.living(state, kinds[0].name)]
    else:
        every = sorted(args for args, _ in known.rows(state, fluent))
    found = [(args, known.get(state, fluent, args)) for args in every]
    if fluent.scratch:
        return [(args, value) for args, value in found if value != known.defaults[fluent.id]]
    return found


# ---- the hash -----------------------------------------------------------------------------


def facts_hash(known: Known, state: State) -> int:
    """The sum of the hashes of all facts."""
    names = object_names(state)
    total = sum(_number(["object", one, names[one], kind]) for one, kind in state.kinds.items())
    for fluent in known.program.fluents.values():
        for args, value in _facts(known, state, fluent):
            shown = show_value(known.program, names, fluent.type, value)
            total += _number([fluent.id, _shown_args(known, names, fluent, args), shown])
        if fluent.ordered:
            for one in state.kinds:
                listed = [names[child] for child in known.pointing(state, fluent, one)]
                if listed:
                    total += _number(["contents", fluent.id, names[one], listed])
    return total % 2**256


def _number(fact: Json) -> int:
    return _hashed(canonical(fact))


@lru_cache(maxsize=65536)
def _hashed(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=32).digest(), "big")


def state_hash(known: Known, state: State) -> str:
    """The hash of the whole state, 32 hexadecimal digits."""
    if not state.hash:
        state.hash = _state_hash(known, state)
    return state.hash


def _state_hash(known: Known, state: State) -> str:
    whole = [_header(known, state), str(facts_hash(known, state))]
    return blake2b(canonical(whole).encode(), digest_size=16).hexdigest()


# ---- JSON ---------------------------------------------------------------------------------


def _header(known: Known, state: State) -> dict[str, Json]:
    """All of a state but its facts."""
    names = object_names(state)
    fired: list[Json] = []
    for watch, args in state.fired:
        params = known.program.watches[watch].params
        shown = [
            show_value(known.program, names, binder.type, arg)
            for binder, arg in zip(params, args, strict=True)
        ]
        fired.append([watch, shown])
    long: dict[str, Json] = {}
    for actor, one in state.long.items():
        params = known.program.actions[one.command.action].params
        long["" if actor is None else names[actor]] = {
            "action": one.command.action,
            "args": {
                binder.name: show_value(known.program, names, binder.type, arg)
                for binder, arg in zip(params, one.command.args, strict=True)
            },
            "done": one.done,
            "total": one.total,
        }
    header: dict[str, Json] = {
        "world": known.instance.world.name,
        "tick": state.tick,
        "seed": state.seed,
        "next_id": state.next_id,
        "outcomes": list(state.outcomes),
        "awarded": list(state.awarded),
        "fired": sorted(fired, key=canonical),
        "long": long,
    }
    if state.turn:
        header["turn"] = state.turn
    drawn: list[Json] = [[rule, list(args), n] for (rule, args), n in state.drawn.items()]
    return {**header, "drawn": sorted(drawn, key=canonical)} if drawn else header


def _listed(known: Known, state: State, fluent: Fluent) -> list[tuple[tuple[Raw, ...], Raw]]:
    """The facts that the JSON lists: all rows of a truth that is true by default."""
    if known.defaults[fluent.id] is not True or not fluent.params or fluent.scratch:
        return _facts(known, state, fluent)
    domains = [known.everything(state, param.type) for param in fluent.params]
    return [(args, known.get(state, fluent, args)) for args in product(*domains)]


def state_json(known: Known, state: State) -> dict[str, Json]:
    """The state as ``tw-state/1``."""
    functions: dict[str, Json] = {}
    relations: dict[str, Json] = {}
    names = object_names(state)
    for fluent in known.program.fluents.values():
        if fluent.fluent_kind in ("attribute", "table"):
            continue
        facts = [
            (_shown_args(known, names, fluent, args), value)
            for args, value in _listed(known, state, fluent)
        ]
        if fluent.scratch and not facts:
            continue
        if fluent.type.kind == "bool":
            relations[fluent.name] = sorted([args for args, value in facts if value], key=canonical)
        else:
            rows: list[Json] = [
                [args, show_value(known.program, names, fluent.type, value)]
                for args, value in facts
            ]
            functions[fluent.name] = sorted(rows, key=canonical)
    return {
        **_header(known, state),
        "format": "tw-state/1",
        "objects": [_object(known, state, names, one) for one in state.kinds],
        "functions": functions,
        "relations": relations,
    }


def _object(known: Known, state: State, names: list[str], one: int) -> dict[str, Json]:
    kind = state.kinds[one]
    attrs: dict[str, Json] = {}
    contents: list[Json] = []
    orders: dict[str, Json] = {}
    nests = [fluent for fluent in known.program.fluents.values() if _nests(fluent)]
    for fluent in known.program.fluents.values():
        if fluent.fluent_kind == "attribute" and _owns(known, fluent, kind):
            value = known.get(state, fluent, (one,))
            attrs[fluent.name] = show_value(known.program, names, fluent.type, value)
        children: list[Json] = []
        if isinstance(fluent.type, ObjectType) and len(fluent.params) == 1:
            children = [names[child] for child in known.pointing(state, fluent, one)]
        if _nests(fluent):
            contents += children
        if children and fluent.ordered and nests != [fluent] and (fluent.inverse or fluent.closure):
            orders[fluent.id] = children
    found: dict[str, Json] = {
        "id": one,
        "name": names[one],
        "type": kind,
        "attrs": attrs,
        "contents": contents,
    }
    return {**found, "orders": orders} if orders else found


def _nests(fluent: Fluent) -> bool:
    return fluent.nested and bool(fluent.inverse or fluent.closure)


def _owns(known: Known, fluent: Fluent, kind: str) -> bool:
    owner = fluent.params[0].type
    return isinstance(owner, ObjectType) and known.program.is_subtype(kind, owner.name)
