"""Everything of a state but its facts, as canonical JSON: what `digest` hashes beside them."""

from __future__ import annotations

import json

from tokenworld.engine.state import State
from tokenworld.ground import Json, show_value

__all__ = ["canonical", "header_json", "header_text", "objects_text"]

_STRING = json.encoder.encode_basestring
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


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


def header_text(state: State) -> str:
    """The header as canonical JSON: written out for the many states in which little is going on."""
    if state.turn or state.fired or state.longs or state.latched or state.awarded:
        return canonical(header_json(state))
    world = _STRING(state.layout.instance.world.name)
    return (
        f'{{"awarded":[],"fired":[],"long":{{}},"next_id":{state.next_id},"outcomes":[],'
        f'"seed":{state.seed},"tick":{state.tick},"world":{world}}}'
    )


def objects_text(state: State) -> str:
    """Who there is, as canonical JSON; the same text as long as nobody comes or goes."""
    known, layout = state.layout.roll, state.layout
    if known is None or known[0] is not state.kinds or known[1] is not state.names:
        declared = len(layout.instance.objects)
        objects: list[Json] = [
            [x, state.names[x], kind]
            for x, kind in enumerate(state.kinds)
            if kind is not None or x < declared  # of the created ones only the living
        ]
        known = layout.roll = (state.kinds, state.names, canonical(objects))
    return known[2]
