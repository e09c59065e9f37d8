"""Kernels: worlds that are given their intents, a whole list at once."""

from __future__ import annotations

from tokenworld.engine.rollout.acting import FIRST, NOW, copy, is_over
from tokenworld.engine.rollout.choosing import fresh, note
from tokenworld.engine.rollout.places import SEED
from tokenworld.engine.rollout.reading import Row
from tokenworld.engine.rollout.scratch import ARGS, ERR, ESCAPE, INTENT, MOST_ARGS
from tokenworld.engine.rollout.ticking import intend


def restart(R: Row, X: Row, seed: int, ended: int) -> None:
    """The run that began last from its beginning, with another seed."""
    R[FIRST][SEED] = seed
    copy(R[NOW], R[FIRST])
    fresh(X, ended)
    X[ERR] = 0


def follow(R: Row, X: Row, script: Row, count: int, most: int, again: bool) -> int:
    """Give ``count`` intents, one after another; how many were given.

    ``script`` has `INTENT` numbers an intent: the action, then its arguments. It stops at the end
    of the world, unless that is to begin ``again``, behind ``most`` records, and with the error
    `ESCAPE` where slots do not suffice.
    """
    records = 0
    for turn in range(count):
        if records >= most:
            return turn
        if is_over(R[NOW]):
            if not again:
                return turn
            copy(R[NOW], R[FIRST])
        spot = INTENT * turn
        for place in range(MOST_ARGS):
            X[ARGS + place] = script[spot + 1 + place]
        made = intend(R, X, script[spot])
        if X[ERR] == ESCAPE:
            return turn
        note(X, made)
        records += made
    return count
