"""Kernels: the random player, and worlds played by it."""

from __future__ import annotations

from tokenworld.engine.rollout.acting import NOW, is_over, seat_of
from tokenworld.engine.rollout.drawing import player_draw
from tokenworld.engine.rollout.foreseeing import look_ahead
from tokenworld.engine.rollout.generated import legal
from tokenworld.engine.rollout.places import ACTIONS, ACTOR_COUNT, OFFERED, SEED
from tokenworld.engine.rollout.reading import Row, stale
from tokenworld.engine.rollout.scratch import (
    ENDED_AT,
    ERR,
    ESCAPE,
    FOUND,
    PASS_ACT,
    RECORDS,
    REWARDS,
    SEAT,
    STATUS_0,
    STATUS_1,
    TALLY,
    TURNS,
)
from tokenworld.engine.rollout.ticking import intend


def choose(R: Row, X: Row, turn: int) -> int:
    """What the random player does: a legal action, evenly, then its arguments, evenly."""
    S = R[NOW]
    X[SEAT] = seat_of(S) if ACTOR_COUNT > 1 else 0
    X[ERR] = 0
    stale(X)
    later = look_ahead(R, X)
    size = 1
    for act in range(ACTIONS):
        X[OFFERED + act] = legal(R, X, act, later, 0)
        size += X[OFFERED + act]
    pick = player_draw(X, S[SEED], turn, False, size)
    if pick == 0:
        player_draw(X, S[SEED], turn, True, 1)
        return PASS_ACT
    for act in range(ACTIONS):
        if X[OFFERED + act] > 0:
            pick -= 1
            if pick == 0:
                count = legal(R, X, act, later, -1)
                legal(R, X, act, later, player_draw(X, S[SEED], turn, True, count))
                return act
    return PASS_ACT


def play(R: Row, X: Row, most: int) -> bool:
    """Play on until the end, or for so many records; false where slots do not suffice."""
    while X[RECORDS] < most and not is_over(R[NOW]):
        act = choose(R, X, X[TURNS])
        if X[ERR] == ESCAPE:
            return False
        records = intend(R, X, act)
        if X[ERR] == ESCAPE:
            return False
        note(X, records)
    return True


def note(X: Row, records: int) -> None:
    """Count an intent and its records."""
    X[TURNS] += 1
    X[RECORDS] += records
    X[TALLY + X[STATUS_1]] += 1
    if records == 2:
        X[TALLY + X[STATUS_0]] += 1


def fresh(X: Row, ended: int) -> None:
    """The counts of a world that begins; ``ended``: it is over in tick 0 already (else -1)."""
    X[TURNS], X[RECORDS], X[REWARDS], X[FOUND], X[ENDED_AT] = 0, 0, 0, 0, ended
    for status in range(9):
        X[TALLY + status] = 0
