"""Whose turn it is: how the state of a round moves from actor to actor (language.md §8).

A tick is one round. Each actor's intent is worked out on what the ones before him did, checked
and kept; the last one closes the round with time, phases, endings and watches. In a world with one
actor every intent closes its round, and nothing of this file shows in a state.
"""

from __future__ import annotations

from collections.abc import Sequence

from tokenworld.engine.delta import Breach
from tokenworld.engine.result import Result
from tokenworld.engine.state import State
from tokenworld.engine.unit import ActionUnit
from tokenworld.ground import Command

__all__ = ["closed", "handed_on", "is_free", "is_last", "own_round", "took_time"]


def took_time(results: Sequence[Result]) -> bool:
    """Whether an intent counts as something that somebody did with his time."""
    return any(one.status in ("executed", "waiting", "interrupted") for one in results)


def is_free(unit: ActionUnit, state: State, command: Command | None) -> bool:
    """Whether an intent is a round of its own, after which the same actor is asked again."""
    try:
        return command is not None and unit.free(state, command)
    except Breach:
        return False  # how long it takes has no value: the intent is in error


def is_last(state: State, after: State) -> bool:
    """Whether nobody is left in the round behind the actor whose turn it is in ``state``."""
    if len(state.actors) < 2:
        return True
    return not any(after.alive(actor) for actor in state.actors[state.seat + 1 :])


def handed_on(state: State, after: State, *, acted: bool) -> State:
    """What the actor whose turn it is in ``state`` leaves to the next one."""
    new = after.fork()
    new.turn = state.seat + 1
    new.round = state.round or state
    new.acted = state.acted or acted
    return new


def own_round(state: State, after: State) -> State:
    """The state after a free action: the round of ``state``, if one is under way, goes on."""
    new = after.fork()
    new.deeds = state.deeds
    if state.round is not None:
        new.told = after
    return new


def closed(after: State, *, own: bool = False) -> State:
    """The state at the end of a round; its tick number is the caller's business. ``own``: nobody
    else keeps ``after``, so that it may become that state itself."""
    new = after if own else after.fork()
    new.memo = {}
    new.deeds, new.acted = (), False
    new.turn, new.round, new.told = 0, None, None
    if len(new.actors) > 1:
        new.longs = tuple(pair for pair in new.longs if pair[0] is None or new.alive(pair[0]))
    return new
