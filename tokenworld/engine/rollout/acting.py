"""Kernels: one intent's own doing (language.md §8, steps 3 to 6), as `tokenworld.engine.unit`.

``R`` holds the rows of one world: the state now and its copies.
"""

from __future__ import annotations

from tokenworld.engine.rollout.generated import (
    cancel,
    conserve,
    holds,
    invariants,
    run,
    ticks,
    until,
)
from tokenworld.engine.rollout.places import (
    ACTOR_COUNT,
    ACTORS,
    ARITY,
    DEEDED,
    DEEDS,
    ENDLESS,
    HAS_CONSERVES,
    HAS_LONG,
    KINDS,
    LATCHED_N,
    LONG_SIZE,
    LONGS,
    ME,
    ROW,
    TAKES,
    TURN,
)
from tokenworld.engine.rollout.reading import Row, stale
from tokenworld.engine.rollout.scratch import (
    ARGS,
    DOOMED,
    ERR,
    LOGGED,
    MOST_ARGS,
    PAID,
    PASS_ACT,
    REFUSABLE,
    SAVED,
    SEAT,
    STATUS_0,
    STATUS_1,
)
from tokenworld.engine.rollout.storing import apply

NOW, BEGAN, BEFORE, BETWEEN, KEPT, LATER, TRIED, ALONE, FIRST = range(9)
"""The rows: now; as the round began (where one actor plays, that is the next); before the intent;
after a cancelled action; before a body; after cancelling, for who looks ahead; for trying a body;
for what excepted rules leave; as the run began."""
ROWS = 9
EXECUTED, REFUSED, ROLLED_BACK, UNREAD, YIELDED, WAITING, INTERRUPTED, IN_ERROR, HALTED = range(9)


def copy(to: Row, of: Row) -> None:
    """Copy what may change of a row; its first slot says which row it is."""
    to[1:ROW] = of[1:ROW]


def clean(X: Row) -> None:
    """Nothing is asked for yet."""
    X[LOGGED] = 0
    X[DOOMED] = 0


def seat_of(S: Row) -> int:
    """The place in the round of whose turn it is."""
    for seat in range(S[TURN], ACTOR_COUNT):
        if S[KINDS + ACTORS[seat]] >= 0:
            return seat
    return S[TURN]  # type: ignore[no-any-return]


def acting(S: Row) -> int:
    return ACTORS[seat_of(S)] if ACTOR_COUNT > 1 else ME


def is_over(S: Row) -> bool:
    return S[LATCHED_N] > 0 and not ENDLESS


# ---- long actions ---------------------------------------------------------------------------


def long_at(X: Row) -> int:
    """Where the long action of whose turn it is stands: action (-1: none), done, total, args."""
    return LONGS + LONG_SIZE * X[SEAT]  # type: ignore[no-any-return]


def resume(S: Row, X: Row) -> int:
    """The long action under way, its arguments in place."""
    spot = long_at(X)
    for i in range(MOST_ARGS):
        X[ARGS + i] = S[spot + 3 + i]
    return S[spot]  # type: ignore[no-any-return]


def goes_on(S: Row, X: Row, act: int) -> bool:
    """Whether an action with the arguments in place continues the long action under way."""
    if not HAS_LONG or act < 0:
        return False
    spot = long_at(X)
    if S[spot] != act:
        return False
    for i in range(ARITY[act]):  # noqa: SIM110 - numba knows no generators
        if S[spot + 3 + i] != X[ARGS + i]:
            return False
    return True


def begin(S: Row, X: Row, act: int, done: int, total: int) -> None:
    spot = long_at(X)
    S[spot], S[spot + 1], S[spot + 2] = act, done, total
    for i in range(MOST_ARGS):
        S[spot + 3 + i] = X[ARGS + i]


def ended(S: Row, X: Row) -> None:
    spot = long_at(X)
    S[spot] = -1
    for i in range(1, LONG_SIZE):
        S[spot + i] = 0


def deed(S: Row, X: Row, act: int) -> None:
    """Note what an actor does, for ``did``."""
    if DEEDED:
        spot = DEEDS + (1 + MOST_ARGS) * X[SEAT]
        S[spot] = act
        for i in range(MOST_ARGS):
            S[spot + 1 + i] = X[ARGS + i]


def seat_named(who: int) -> int:
    """The seat of an object that may act, -1 of any other."""
    for seat in range(ACTOR_COUNT):
        if ACTORS[seat] == who:
            return seat
    return -1


def deeds_of(S: Row, who: int) -> int:
    """Where the deed of an actor in this tick stands."""
    seat = seat_named(who)
    return DEEDS + (1 + MOST_ARGS) * seat if DEEDED and seat >= 0 else -1


def busy(S: Row, who: int, act: int) -> bool:
    """Whether a long action (that one, if given) is under way."""
    seat = seat_named(who)
    if who < 0 or seat < 0:
        return False
    running = S[LONGS + LONG_SIZE * seat]
    return running >= 0 and (act < 0 or running == act)


def forget(S: Row) -> None:
    if DEEDED:
        for i in range((1 + MOST_ARGS) * ACTOR_COUNT):
            S[DEEDS + i] = -1


# ---- an actor's own doing -------------------------------------------------------------------


def effects(S: Row, W: Row, R: Row, X: Row, act: int, me: int, cancels: bool) -> None:
    """Evaluate a body on ``S`` and apply it there."""
    if HAS_CONSERVES:
        copy(R[KEPT], S)
    clean(X)
    if cancels:
        cancel(S, W, X, me, act)
    else:
        run(S, W, X, me, act)
    apply(S, X, -1)
    if HAS_CONSERVES and X[ERR] == 0:
        conserved(R, X, S)


def conserved(R: Row, X: Row, S: Row) -> None:
    """Whether no conserved sum was changed by a rule that may not."""
    conserve(S, R[KEPT], R[ALONE], X, ME)
    stale(X)


def interrupt(S: Row, W: Row, R: Row, X: Row, act: int, me: int) -> None:
    effects(S, W, R, X, act, me, True)
    ended(S, X)


def finish(S: Row, W: Row, R: Row, X: Row, act: int, me: int, back: Row) -> int:
    """Check the requires and apply the effects, or refuse and leave the state as in ``back``."""
    if not holds(S, W, X, me, act):
        return REFUSED
    effects(S, W, R, X, act, me, False)
    if X[ERR] == REFUSABLE:
        X[ERR] = 0
        X[PAID] = 0
        copy(S, back)
        stale(X)
        return REFUSED
    deed(S, X, act)
    return EXECUTED


def proceed(S: Row, W: Row, R: Row, X: Row, me: int, back: Row) -> int:
    """One more tick of a long action: it waits, completes, or its requires fail."""
    act = resume(S, X)
    spot = long_at(X)
    done, total = S[spot + 1] + 1, S[spot + 2]
    if done < total and not until(S, W, X, me, act):
        S[spot + 1] = done
        deed(S, X, act)
        return WAITING
    ended(S, X)
    status = finish(S, W, R, X, act, me, back)
    if status == REFUSED and X[ERR] == 0:
        copy(S, back)
        stale(X)
        interrupt(S, W, R, X, act, me)
        return INTERRUPTED
    return status


def do(S: Row, W: Row, V: Row, R: Row, X: Row, act: int, me: int, back: Row) -> int:
    """The action unit of an intent: executed, refused or waiting."""
    if act == PASS_ACT:
        if S[long_at(X)] < 0:
            return EXECUTED
        return proceed(S, V, R, X, me, back)
    total = 1
    if TAKES[act]:
        total = ticks(S, V, X, me, act)
    if total <= 1 or until(S, V, X, me, act):
        return finish(S, W, R, X, act, me, back)
    if not holds(S, W, X, me, act):
        return REFUSED
    begin(S, X, act, 1, total)
    deed(S, X, act)
    return WAITING


def unit(R: Row, X: Row, act: int, free: bool) -> int:
    """Steps 3 to 6 of the tick; the number of records."""
    S, me, records, back = R[NOW], acting(R[NOW]), 1, R[BEFORE]
    middle = S[TURN] > 0
    paid = 0
    spot = long_at(X)
    if act >= 0 and not free and S[spot] >= 0:
        for i in range(MOST_ARGS):
            X[SAVED + i] = X[ARGS + i]
        interrupt(S, R[BEGAN] if middle else R[BEFORE], R, X, resume(S, X), me)
        for i in range(MOST_ARGS):
            X[ARGS + i] = X[SAVED + i]
        copy(R[BETWEEN], S)
        back, records, paid = R[BETWEEN], 2, X[PAID]
        X[STATUS_0] = INTERRUPTED
        stale(X)
        X[PAID] = 0
    if X[ERR] == 0:
        wide = R[BEGAN] if middle else back
        X[STATUS_1] = do(S, back if free else wide, wide, R, X, act, me, back)
        if X[ERR] == 0 and ACTOR_COUNT > 1:
            invariants(S, back if free else wide, X, ME)
    X[PAID] += paid
    return records


def is_free(R: Row, X: Row, act: int) -> bool:
    """Whether an intent is a round of its own, after which the same actor is asked again."""
    if act < 0 or not TAKES[act]:
        return False
    S = R[NOW]
    if goes_on(S, X, act):
        return False
    return ticks(S, R[BEGAN] if S[TURN] > 0 else S, X, acting(S), act) == 0
