"""Kernels: the tick (language.md §8), as `tokenworld.engine.step` plays it."""

from __future__ import annotations

from tokenworld.engine.rollout.acting import (
    BEFORE,
    BEGAN,
    HALTED,
    IN_ERROR,
    NOW,
    REFUSED,
    ROLLED_BACK,
    UNREAD,
    copy,
    forget,
    goes_on,
    is_free,
    is_over,
    long_at,
    seat_of,
    unit,
)
from tokenworld.engine.rollout.generated import award, ending, invariants, pays, phases, watches
from tokenworld.engine.rollout.places import (
    ACTED,
    ACTOR_COUNT,
    ACTORS,
    AWARDED,
    AWARDED_N,
    AWARDS,
    COLUMNS,
    DEEDED,
    DEEDS,
    ENDINGS,
    HAS_LONG,
    KINDS,
    LATCHED,
    LATCHED_N,
    LIVE,
    LONG_SIZE,
    LONGS,
    ME,
    TICK,
    TIME_ALWAYS,
    TOUCHED,
    TURN,
)
from tokenworld.engine.rollout.reading import Row, stale
from tokenworld.engine.rollout.scratch import (
    ENDED_AT,
    ERR,
    ERROR,
    ESCAPE,
    MOST_ARGS,
    NO_MATCH,
    PAID,
    PASS_ACT,
    PASSED,
    REWARDS,
    SEAT,
    STATUS_0,
    STATUS_1,
)

# ---- the tick -------------------------------------------------------------------------------


def intend(R: Row, X: Row, act: int) -> int:
    """An intent of whose turn it is: the number of its records; their statuses are noted."""
    S = R[NOW]
    X[ERR], X[PASSED], X[PAID] = 0, 0, 0
    if is_over(S):
        X[STATUS_1] = HALTED
        return 1
    X[SEAT] = seat_of(S) if ACTOR_COUNT > 1 else 0
    copy(R[BEFORE], S)
    if ACTOR_COUNT > 1 and S[TURN] == 0:
        copy(R[BEGAN], S)
    stale(X)
    for column in range(COLUMNS + 1):
        X[TOUCHED + column] = 0
    records, free = 1, False
    if act <= NO_MATCH:
        X[STATUS_1] = UNREAD
    else:
        if goes_on(S, X, act):
            act = PASS_ACT
        free = is_free(R, X, act) and X[ERR] == 0
        if X[ERR] == 0:
            records = unit(R, X, act, free)
        if X[ERR] != 0:
            undo(R, X)
            return 1
    status = X[STATUS_1]
    if status not in (REFUSED, UNREAD):
        return close(R, X, records, True, free)
    copy(S, R[BEFORE])
    stale(X)
    X[PAID] = 0
    if free or not TIME_ALWAYS:
        return 1
    return time_passes(R, X, status)


def time_passes(R: Row, X: Row, status: int) -> int:
    """What is fruitless lets time pass: a long action goes on, in a record of its own."""
    going = HAS_LONG and R[NOW][long_at(X)] >= 0
    if going:
        unit(R, X, PASS_ACT, False)
        if X[ERR] != 0:
            undo(R, X)
    if X[ERR] == 0:
        close(R, X, 1, True, False)
    if going or X[STATUS_1] != status:  # else the one record tells what time brought
        X[STATUS_0] = status
        return 2
    return 1


def undo(R: Row, X: Row) -> None:
    """Discard what an intent did, and say why."""
    copy(R[NOW], R[BEFORE])
    X[STATUS_1] = IN_ERROR if X[ERR] == ERROR else ROLLED_BACK
    X[PAID] = 0
    stale(X)


def earn(X: Row) -> None:
    X[REWARDS] += X[PAID]
    X[PAID] = 0


def is_last(S: Row, X: Row) -> bool:
    """Whether nobody is left in the round."""
    if ACTOR_COUNT < 2:
        return True
    for seat in range(X[SEAT] + 1, ACTOR_COUNT):  # noqa: SIM110 - numba knows no generators
        if S[KINDS + ACTORS[seat]] >= 0:
            return False
    return True


def hand_on(S: Row, X: Row, took: bool) -> None:
    S[TURN] = X[SEAT] + 1
    if took:
        S[ACTED] = 1


def close(R: Row, X: Row, records: int, took: bool, free: bool) -> int:
    """Time, phases, invariants, commit, progress: steps 7 to 12."""
    S = R[NOW]
    start = R[BEFORE] if free else R[BEGAN]
    stale(X)
    if not free and (S[ACTED] == 1 or took or TIME_ALWAYS):
        X[PASSED] = 1
        phases(S, R[BEGAN], R, X)
    if X[ERR] == 0:
        invariants(S, start, X, ME)
    if X[ERR] == 0:
        commit(R, X, free)
    if X[ERR] == 0:
        earn(X)
        return records
    return discard(R, X, free)


def commit(R: Row, X: Row, free: bool) -> None:
    S = R[NOW]
    if free:
        if DEEDED:
            for i in range((1 + MOST_ARGS) * ACTOR_COUNT):
                S[DEEDS + i] = R[BEFORE][DEEDS + i]
    else:
        closed(S)
    if X[PASSED] == 1:
        S[TICK] += 1
    stale(X)
    progress(S, X)
    if X[PASSED] == 1 and X[ERR] == 0:
        X[PAID] += pays(S, R[BEGAN], X, ME)
    if X[ERR] == 0:
        watches(S, R[BEFORE] if free else R[BEGAN], X, ME)
    stale(X)


def closed(S: Row) -> None:
    """The end of a round; of the dead no long action is kept."""
    forget(S)
    if ACTOR_COUNT > 1:
        S[ACTED], S[TURN] = 0, 0
        for seat in range(ACTOR_COUNT):
            if S[KINDS + ACTORS[seat]] < 0:
                S[LONGS + LONG_SIZE * seat] = -1
                for i in range(1, LONG_SIZE):
                    S[LONGS + LONG_SIZE * seat + i] = 0


def discard(R: Row, X: Row, free: bool) -> int:
    """What a breach at the end of a round leaves: what its earlier actors did."""
    S = R[NOW]
    undo(R, X)
    X[PASSED] = 0
    if X[ERR] == ESCAPE or ACTOR_COUNT < 2 or free:
        return 1
    if S[TURN] > 0 and is_last(S, X):
        X[ERR] = 0
        commit(R, X, False)
        if X[ERR] == 0:
            return 1
        copy(S, R[BEFORE])
    if is_last(S, X):
        closed(S)
    else:
        hand_on(S, X, False)
    return 1


def progress(S: Row, X: Row) -> None:
    """Give awards and latch endings (step 11)."""
    for i in range(AWARDS):
        if S[AWARDED + i] == 0 and award(S, S, X, ME, i):
            S[AWARDED_N] += 1
            S[AWARDED + i] = S[AWARDED_N]
    if LIVE:
        return
    for i in range(ENDINGS):
        if S[LATCHED + i] == 0 and not is_over(S) and ending(S, S, X, ME, i):
            S[LATCHED_N] += 1
            S[LATCHED + i] = S[LATCHED_N]
            if X[ENDED_AT] < 0:
                X[ENDED_AT] = S[TICK]
