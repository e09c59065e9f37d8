"""The state of the engine as a state of the reference evaluator.

So a check by the reference can begin in the middle of a run. The two share no code; that both give
the mirrored state the same hash is the proof that it was carried over whole.
"""

from __future__ import annotations

from tokenworld.engine import State
from tokenworld.engine.reference import Reference
from tokenworld.engine.reference import State as PlainState
from tokenworld.engine.reference.values import Long

__all__ = ["between_rounds", "mirrored"]


def between_rounds(state: State) -> bool:
    """Whether a state can be mirrored: no round of several actors is under way."""
    return state.turn == 0 and state.round is None and state.told is None


def mirrored(reference: Reference, state: State) -> PlainState:
    """The same state for the reference."""
    kinds = {number: kind for number, kind in enumerate(state.kinds) if kind is not None}
    plain = PlainState(kinds, dict(enumerate(state.names)))
    plain.next_id, plain.seed, plain.tick = state.next_id, state.seed, state.tick
    plain.outcomes, plain.awarded, plain.fired = state.latched, state.awarded, state.fired
    plain.long = {who: Long(one.command, one.done, one.total) for who, one in state.longs}
    plain.actors = state.actors
    for column in state.layout.columns:
        fluent, stored = column.fluent, state.cols[column.index]
        if column.tupled:
            keys = list(stored)
        elif column.single:
            keys = [0]
        else:
            owners = state.layout.owners[column.index]
            keys = [one for one, kind in kinds.items() if kind in owners]
        if fluent.ordered and column.by_object and state.kids[column.index] is not None:
            # a child is filed when it is put; those that point nowhere have no place to keep
            listed = [child for children in state.kids[column.index] for child in children]
            keys = [*(one for one in keys if stored[one] is None), *listed]
        for key in keys:
            reference.words.known.put(plain, fluent, column.args(key), stored[key])
    return plain
