"""Kernels: changes stored all together, or not at all (language.md §5)."""

from __future__ import annotations

from tokenworld.engine.rollout.merging import BY_OBJECT, REAL, TUPLED, _equal, merge
from tokenworld.engine.rollout.places import (
    C_ACYCLIC,
    C_BASE,
    C_DEFAULT,
    C_KIDS,
    C_KIND,
    C_LEN1,
    C_NESTED,
    C_OFF0,
    C_OFF1,
    C_ORDERED,
    C_REFS,
    C_SHAPE,
    C_SIZE,
    C_UNIQUE,
    COL_OF,
    COLUMNS,
    DOOM,
    EXEMPT,
    KINDS,
    LOG_RULE,
    OBJECTS,
    RULES,
    SHAPED,
    SUM_SET,
    SUM_SLOT,
    TOUCHED,
)
from tokenworld.engine.rollout.reading import Row, fail, stale
from tokenworld.engine.rollout.scratch import DOOMED, ERR, LOGGED, NONE, REFUSABLE
from tokenworld.engine.rollout.walking import first_kid, leads, refile, within

# ---- applying -------------------------------------------------------------------------------


def apply(S: Row, X: Row, without: int) -> None:
    """Apply what was asked for to ``S``; where something fails ``S`` is of no use."""
    if X[ERR] != 0:
        return
    slots = merge(S, X, without)
    if X[ERR] != 0:
        return
    for j in range(1, slots + 1):
        store(S, X, X[SUM_SLOT + j], X[SUM_SET + j])
    cyclic = SHAPED and _leads_back(S, X, slots)  # before the destroyed leave
    for i in range(X[DOOMED]):
        if without < 0 or EXEMPT[without * RULES + X[DOOM + 2 * i + 1]] == 0:
            destroy(S, X, X[DOOM + 2 * i])
    if SHAPED:
        if cyclic:
            fail(X, REFUSABLE)
        for j in range(1, slots + 1):
            _check_unique(S, X, X[SUM_SLOT + j], X[SUM_SET + j])
        for j in range(1, slots + 1):
            _check_acyclic(S, X, X[SUM_SLOT + j], X[SUM_SET + j])
    stale(X)


def spared(X: Row, conserved: int) -> bool:
    """Whether a rule that a conserved sum excepts asked for anything."""
    for i in range(X[LOGGED]):
        if EXEMPT[conserved * RULES + X[LOG_RULE + i]] == 1:
            return True
    for i in range(X[DOOMED]):  # noqa: SIM110 - numba knows no generators
        if EXEMPT[conserved * RULES + X[DOOM + 2 * i + 1]] == 1:
            return True
    return False


def breaks(S: Row, X: Row) -> bool:
    """Whether the changes asked for break a range, where nothing else of them can be refused."""
    if X[ERR] == 0:
        merge(S, X, -1)
    return X[ERR] == REFUSABLE  # type: ignore[no-any-return]


def store(S: Row, X: Row, slot: int, value: int) -> None:
    """Put one value; contents follow. ``ordered`` files the object anew in any case."""
    old, column = S[slot], COL_OF[slot]
    if old == value and C_ORDERED[column] == 0:
        return
    if C_KIND[column] == REAL and _equal(REAL, old, value):
        return
    if C_KIDS[column] >= 0:
        refile(S, column, slot - C_BASE[column], old, value)
    S[slot] = value
    if old != value:
        X[TOUCHED + column] = 1


def destroy(S: Row, X: Row, number: int) -> None:
    """Take an object out: contents move to where it was, references to it become `none`."""
    if S[KINDS + number] < 0:
        return
    for column in range(COLUMNS):
        if C_REFS[column] & 4 != 0:
            heir = NONE
            if C_NESTED[column] == 1 and C_SHAPE[column] == BY_OBJECT:
                heir = S[C_BASE[column] + number]
            _unpoint(S, X, column, number, heir)
    for column in range(COLUMNS):
        _clear(S, X, column, number)
    S[KINDS + number] = -1
    X[TOUCHED + COLUMNS] = 1


def _unpoint(S: Row, X: Row, column: int, number: int, heir: int) -> None:
    """Slots whose value is the object, contents in the order they have."""
    if C_ORDERED[column] == 1 and C_KIDS[column] >= 0:
        child = first_kid(S, column, number)
        while child >= 0:
            following = S[C_KIDS[column] + OBJECTS + child]
            store(S, X, C_BASE[column] + child, heir)
            child = following
        return
    for slot in range(C_BASE[column], C_BASE[column] + C_SIZE[column]):
        if S[slot] == number:
            store(S, X, slot, heir)


def _clear(S: Row, X: Row, column: int, number: int) -> None:
    """The object's own slots."""
    if C_SHAPE[column] == BY_OBJECT:
        slot = C_BASE[column] + number
        if S[slot] != NONE:
            store(S, X, slot, NONE)
    elif C_SHAPE[column] == TUPLED and C_REFS[column] & 3 != 0:
        for rest in range(C_SIZE[column]):
            one = C_REFS[column] & 1 != 0 and C_OFF0[column] + rest // C_LEN1[column] == number
            two = C_REFS[column] & 2 != 0 and C_OFF1[column] + rest % C_LEN1[column] == number
            if one or two:
                store(S, X, C_BASE[column] + rest, C_DEFAULT[column])


# ---- what must hold of the values together --------------------------------------------------


def _check_unique(S: Row, X: Row, slot: int, value: int) -> None:
    column = COL_OF[slot]
    if C_UNIQUE[column] == 0 or value == NONE:
        return
    if C_SHAPE[column] == TUPLED and value == C_DEFAULT[column]:
        return
    found = 0
    for other in range(C_BASE[column], C_BASE[column] + C_SIZE[column]):
        if S[other] == value:
            found += 1
    if found > 1:
        fail(X, REFUSABLE)


def _leads_back(S: Row, X: Row, slots: int) -> bool:
    """Whether a nested slot that was written leads back to its object."""
    for j in range(1, slots + 1):
        column = COL_OF[X[SUM_SLOT + j]]
        rest = X[SUM_SLOT + j] - C_BASE[column]
        if C_NESTED[column] == 1 and within(S, C_BASE[column], rest, rest):
            return True
    return False


def _check_acyclic(S: Row, X: Row, slot: int, value: int) -> None:
    column = COL_OF[slot]
    rest = slot - C_BASE[column]
    if C_ACYCLIC[column] == 1 and value == 1:
        one = C_OFF0[column] + rest // C_LEN1[column]
        two = C_OFF1[column] + rest % C_LEN1[column]
        if one == two or leads(S, X, column, two, one):
            fail(X, REFUSABLE)
