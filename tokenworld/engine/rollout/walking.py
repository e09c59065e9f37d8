"""Kernels: contents and closures, in the order that the language gives them."""

from __future__ import annotations

from tokenworld.engine.rollout.places import (
    C_BASE,
    C_KIDS,
    C_LEN0,
    C_LEN1,
    C_NESTED,
    C_OFF0,
    C_OFF1,
    C_ORDERED,
    C_SYMMETRIC,
    COLUMNS,
    KINDS,
    OBJECTS,
    SEEN,
    WALK,
)
from tokenworld.engine.rollout.reading import Row
from tokenworld.engine.rollout.scratch import NONE, STAMP

# The children of an object are a chain: `first` by holder, then `next` by child.


def first_kid(S: Row, column: int, holder: int) -> int:
    return S[C_KIDS[column] + holder] if holder >= 0 else -1


def refile(S: Row, column: int, child: int, old: int, new: int) -> None:
    """Move a child from one holder's chain to another's, to its end or to its place."""
    first, after = C_KIDS[column], C_KIDS[column] + OBJECTS
    if old >= 0:
        _unlink(S, first + old, after, child)
    if new < 0:
        return
    spot = first + new
    while S[spot] >= 0 and (C_ORDERED[column] == 1 or S[spot] < child):
        spot = after + S[spot]
    S[after + child] = S[spot]
    S[spot] = child


def _unlink(S: Row, spot: int, after: int, child: int) -> None:
    while S[spot] >= 0:
        if S[spot] == child:
            S[spot] = S[after + child]
            S[after + child] = -1
            return
        spot = after + S[spot]


def within(S: Row, base: int, x: int, y: int) -> bool:
    """Whether `x` is somewhere inside `y`."""
    if x < 0 or y < 0:
        return False
    step = S[base + x]
    for _ in range(OBJECTS):
        if step < 0:
            return False
        if step == y:
            return True
        step = S[base + step]
    return False


def inside(S: Row, X: Row, column: int, x: int, out: int) -> int:
    """Everything within, pre-order, from `out` on; how many there are."""
    if x < 0:
        return 0
    X[STAMP] += 1
    stamp, found, waiting = X[STAMP], 0, 0
    after = C_KIDS[column] + OBJECTS
    waiting = _push(S, X, S[C_KIDS[column] + x], after, stamp, waiting)
    while waiting > 0:
        waiting -= 1
        child = X[WALK + waiting]
        X[out + found] = child
        found += 1
        waiting = _push(S, X, S[C_KIDS[column] + child], after, stamp, waiting)
    return found


def _push(S: Row, X: Row, child: int, after: int, stamp: int, waiting: int) -> int:
    """Put the unseen of a chain on the stack, the first of them on top."""
    begin = waiting
    while child >= 0:
        if X[SEEN + child] != stamp:
            X[SEEN + child] = stamp
            X[WALK + waiting] = child
            waiting += 1
        child = S[after + child]
    _turn(X, begin, waiting - 1)
    return waiting


def _turn(X: Row, low: int, high: int) -> None:
    """Turn a part of the stack around: the first of it comes on top."""
    while low < high:
        kept = X[WALK + low]
        X[WALK + low] = X[WALK + high]
        X[WALK + high] = kept
        low += 1
        high -= 1


def linked(S: Row, column: int, a: int, b: int) -> bool:
    """Whether a stored pair of a relation leads from `a` to `b`."""
    i, j = a - C_OFF0[column], b - C_OFF1[column]
    if C_SYMMETRIC[column] == 1 and i > j:
        i, j = j, i
    if i < 0 or j < 0 or i >= C_LEN0[column] or j >= C_LEN1[column]:
        return False
    return S[C_BASE[column] + i * C_LEN1[column] + j] == 1  # type: ignore[no-any-return]


def reach(S: Row, X: Row, column: int, x: int, out: int) -> int:
    """What a relation's closure leads to from `x`, in order of number."""
    if x < 0:
        return 0
    X[STAMP] += 1
    stamp, waiting = X[STAMP], 1
    X[WALK] = x
    while waiting > 0:
        waiting -= 1
        waiting = _onward(S, X, column, X[WALK + waiting], stamp, waiting)
    found = 0
    for other in range(OBJECTS):
        if X[SEEN + other] == stamp:
            X[out + found] = other
            found += 1
    return found


def leads(S: Row, X: Row, column: int, x: int, y: int) -> bool:
    """Whether the closure leads from `x` to `y`."""
    if x < 0 or y < 0:
        return False
    X[STAMP] += 1
    stamp, waiting = X[STAMP], 1
    X[WALK] = x
    while waiting > 0:
        waiting -= 1
        node = X[WALK + waiting]
        if linked(S, column, node, y):
            return True
        waiting = _onward(S, X, column, node, stamp, waiting)
    return False


def _onward(S: Row, X: Row, column: int, node: int, stamp: int, waiting: int) -> int:
    """Put on the stack what a relation leads to from a node and was not met before."""
    for other in range(OBJECTS):
        if X[SEEN + other] != stamp and linked(S, column, node, other):
            X[SEEN + other] = stamp
            X[WALK + waiting] = other
            waiting += 1
    return waiting


# ---- sequential phases ----------------------------------------------------------------------


def roll(S: Row, X: Row, out: int) -> int:
    """All live objects by number; how many there are."""
    found = 0
    for x in range(OBJECTS):
        if S[KINDS + x] >= 0:
            X[out + found] = x
            found += 1
    return found


def preorder(S: Row, X: Row, out: int) -> int:
    """All live objects, containers before their contents."""
    X[STAMP] += 1
    stamp, found, waiting = X[STAMP], 0, 0
    for x in range(OBJECTS - 1, -1, -1):
        if S[KINDS + x] >= 0 and _is_root(S, x):
            X[WALK + waiting] = x
            waiting += 1
    while waiting > 0:
        waiting -= 1
        x = X[WALK + waiting]
        if X[SEEN + x] == stamp:
            continue
        X[SEEN + x] = stamp
        X[out + found] = x
        found += 1
        waiting = _pile(S, X, x, waiting)
    for x in range(OBJECTS):
        if S[KINDS + x] >= 0 and X[SEEN + x] != stamp:
            X[out + found] = x
            found += 1
    return found


def _is_root(S: Row, x: int) -> bool:
    for column in range(COLUMNS):
        if C_NESTED[column] == 1 and S[C_BASE[column] + x] != NONE:
            return False
    return True


def _pile(S: Row, X: Row, x: int, waiting: int) -> int:
    """Put what is in a container on the stack, the first of it on top."""
    begin = waiting
    for column in range(COLUMNS):
        if C_NESTED[column] == 1:
            child = _first_in(S, column, x)
            while child >= 0 and waiting < 4 * OBJECTS:
                X[WALK + waiting] = child
                waiting += 1
                child = _next_in(S, column, x, child)
    _turn(X, begin, waiting - 1)
    return waiting


def _first_in(S: Row, column: int, x: int) -> int:
    if C_KIDS[column] >= 0:
        return S[C_KIDS[column] + x]  # type: ignore[no-any-return]
    return _next_in(S, column, x, -1)


def _next_in(S: Row, column: int, x: int, child: int) -> int:
    """The next in a container: in kept order, or by number where none is kept."""
    if C_KIDS[column] >= 0:
        return S[C_KIDS[column] + OBJECTS + child]  # type: ignore[no-any-return]
    for other in range(child + 1, OBJECTS):
        if S[C_BASE[column] + other] == x:
            return other
    return -1
