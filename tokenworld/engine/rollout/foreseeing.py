"""Kernels: what would be executed, as `Engine.legal` says."""

from __future__ import annotations

from tokenworld.engine.rollout.acting import (
    BEGAN,
    LATER,
    NOW,
    TRIED,
    acting,
    clean,
    copy,
    effects,
    goes_on,
    interrupt,
    is_free,
    long_at,
    resume,
)
from tokenworld.engine.rollout.generated import holds, run, ticks, until
from tokenworld.engine.rollout.places import HAS_LONG, RISKY, TAKES, TURN
from tokenworld.engine.rollout.reading import Row, stale
from tokenworld.engine.rollout.scratch import ERR, ESCAPE, REFUSABLE
from tokenworld.engine.rollout.storing import breaks

# ---- looking ahead --------------------------------------------------------------------------


def look_ahead(R: Row, X: Row) -> bool:
    """Prepare to ask what is allowed; whether a long action must be cancelled for it."""
    S = R[NOW]
    if not HAS_LONG or S[long_at(X)] < 0:
        return False
    act = resume(S, X)
    copy(R[LATER], S)
    X[ERR] = 0
    interrupt(R[LATER], R[BEGAN] if S[TURN] > 0 else S, R, X, act, acting(S))
    if X[ERR] != 0:
        X[ERR] = ESCAPE  # it cannot be broken off
    stale(X)
    return True


def allowed(R: Row, X: Row, act: int, later: bool) -> bool:
    """Whether a command whose arguments are in place would be executed, as `Engine.legal` says."""
    S, me = R[NOW], acting(R[NOW])
    if goes_on(S, X, act):
        return True
    middle = S[TURN] > 0
    free = (later or middle) and is_free(R, X, act)
    now = R[LATER] if later and not free else S
    was = R[BEGAN] if middle and not free else now
    good = X[ERR] == 0 and holds(now, was, X, me, act)
    if X[ERR] != 0:
        good = False  # a number is undefined here: the command would be in error
    elif good and RISKY[act] > 0:
        good = not would_refuse(R, X, act, me, now, was)
    if X[ERR] != 0 and X[ERR] != ESCAPE:
        X[ERR] = 0
        stale(X)
    return good


def would_refuse(R: Row, X: Row, act: int, me: int, now: Row, was: Row) -> bool:
    """Whether the requires that the language adds would refuse it, with the draws to come."""
    wide = R[BEGAN] if now[TURN] > 0 else now
    if TAKES[act] and ticks(now, wide, X, me, act) > 1 and not until(now, wide, X, me, act):
        return False
    if RISKY[act] == 1:
        clean(X)
        run(now, was, X, me, act)
        return breaks(now, X)
    copy(R[TRIED], now)
    effects(R[TRIED], was, R, X, act, me, False)
    stale(X)
    return X[ERR] == REFUSABLE  # type: ignore[no-any-return]
