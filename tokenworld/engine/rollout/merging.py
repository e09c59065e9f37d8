"""Kernels: what a body asks for, put together by slot (language.md §5)."""

from __future__ import annotations

from tokenworld.engine.rollout.places import (
    C_BASE,
    C_CLAMPED,
    C_HIGH,
    C_KIND,
    C_LEN1,
    C_LOW,
    C_OFF0,
    C_OFF1,
    C_REFS,
    C_SHAPE,
    COL_OF,
    DOOM,
    EXEMPT,
    KINDS,
    LOG_OP,
    LOG_RULE,
    LOG_SIZE,
    LOG_SLOT,
    LOG_VALUE,
    MARK,
    RULES,
    SUM_BY,
    SUM_OPS,
    SUM_SET,
    SUM_SLOT,
)
from tokenworld.engine.rollout.reading import NAN, Row, fail
from tokenworld.engine.rollout.scratch import (
    DOOMED,
    ERROR,
    ESCAPE,
    LIMIT,
    LOGGED,
    NONE,
    PAID,
    REFUSABLE,
    RULE,
)

SET, STEP, ADD, REMOVE = 1, 2, 4, 8
CLASH = 16
BOOL, NUMBER, REAL = 1, 2, 3
SINGLE, BY_OBJECT, TUPLED = 0, 1, 2


def real_of(bits: int) -> float:
    """The double with these bits (bound by `link`)."""
    raise NotImplementedError


def bits_of(value: float) -> int:
    """The bits of a double, one pattern for all that is `none` (bound by `link`)."""
    raise NotImplementedError


def real_at(S: Row, base: int, x: int) -> float:
    """A real attribute of something that may be `none`."""
    return real_of(S[base + x]) if x >= 0 and S[base + x] != NONE else NAN


def real_get(S: Row, cell: int, default: int) -> float:
    if cell >= 0:
        return real_of(S[cell])
    return NAN if cell == -1 else real_of(default)


def isnan(value: float) -> bool:
    return value != value


def alike(a: float, b: float) -> bool:
    """Equality of reals that may be `none`, which equals itself."""
    return a == b or (a != a and b != b)


# ---- asking for changes ---------------------------------------------------------------------


def put(X: Row, slot: int, op: int, value: int) -> None:
    """Ask for a change; a slot of `none` is nobody's and is left alone."""
    if slot < 0:
        if slot == -2:
            fail(X, ESCAPE)
        return
    n = X[LOGGED]
    if n >= LOG_SIZE:
        fail(X, ESCAPE)
        return
    X[LOG_SLOT + n] = slot
    X[LOG_OP + n] = op
    X[LOG_VALUE + n] = value
    X[LOG_RULE + n] = X[RULE]
    X[LOGGED] = n + 1


def move(X: Row, amount: int, source: int, target: int) -> None:
    """``transfer``: the amount leaves one slot and reaches the other."""
    if amount == NONE:
        return
    if amount < 0:
        fail(X, REFUSABLE)
        return
    put(X, source, STEP, -amount)
    put(X, target, STEP, amount)


def doom(X: Row, number: int) -> None:
    """Ask that an object be destroyed."""
    if number < 0:
        return
    n = X[DOOMED]
    if n >= LOG_SIZE:
        fail(X, ESCAPE)
        return
    X[DOOM + 2 * n] = number
    X[DOOM + 2 * n + 1] = X[RULE]
    X[DOOMED] = n + 1


# ---- putting them together ------------------------------------------------------------------


def merge(S: Row, X: Row, without: int) -> int:
    """The writes by slot, in the order in which slots were first asked for; how many slots.

    ``without``: leave out what the rules may do that this conserved sum excepts.
    """
    slots = 0
    for i in range(X[LOGGED]):
        slot = X[LOG_SLOT + i]
        if without >= 0 and EXEMPT[without * RULES + X[LOG_RULE + i]] == 1:
            continue
        if nobodys(S, slot):
            continue
        j = X[MARK + slot]
        if j == 0:
            slots += 1
            j = slots
            X[MARK + slot] = j
            X[SUM_SLOT + j] = slot
            X[SUM_OPS + j] = 0
            X[SUM_BY + j] = 0
        _gather(X, j, C_KIND[COL_OF[slot]], X[LOG_OP + i], X[LOG_VALUE + i])
    for j in range(1, slots + 1):
        X[MARK + X[SUM_SLOT + j]] = 0
        X[SUM_SET + j] = settled(S, X, j)
    return slots


def _gather(X: Row, j: int, kind: int, op: int, value: int) -> None:
    if kind == BOOL and value == NONE:
        value = 0
    if op == SET:
        if X[SUM_OPS + j] & SET != 0 and not _equal(kind, X[SUM_SET + j], value):
            X[SUM_OPS + j] |= CLASH
        elif X[SUM_OPS + j] & SET == 0:
            X[SUM_SET + j] = value
    elif op == STEP:
        if kind == REAL:
            by = real_of(value)
            if by == by:
                X[SUM_BY + j] = bits_of(real_of(X[SUM_BY + j]) + by)
        elif value != NONE:
            X[SUM_BY + j] += value
    X[SUM_OPS + j] |= op


def _equal(kind: int, a: int, b: int) -> bool:
    return a == b or (kind == REAL and real_of(a) == real_of(b))


def settled(S: Row, X: Row, j: int) -> int:
    """The value a slot gets: all sets agree, increments add up, ``add`` beats ``remove``."""
    slot, ops = X[SUM_SLOT + j], X[SUM_OPS + j]
    column = COL_OF[slot]
    if ops & (ADD | REMOVE) != 0:
        return 1 if ops & ADD != 0 else 0
    if ops & SET != 0:
        if ops & (STEP | CLASH) != 0:
            return fail(X, ERROR)
        return bounded(X, column, X[SUM_SET + j])
    old = S[slot]
    if C_KIND[column] == REAL:
        before = real_of(old)
        return old if before != before else bits_of(before + real_of(X[SUM_BY + j]))
    return NONE if old == NONE else bounded(X, column, old + X[SUM_BY + j])


def bounded(X: Row, column: int, value: int) -> int:
    """What a slot keeps of a value: within its range, or the range is broken."""
    if C_KIND[column] != NUMBER or value == NONE:
        return value
    low, high = C_LOW[column], C_HIGH[column]
    if value < low:
        if low == -LIMIT:
            return fail(X, ESCAPE)
        return low if C_CLAMPED[column] == 1 else fail(X, REFUSABLE)
    if value > high:
        if high == LIMIT:
            return fail(X, ESCAPE)
        return high if C_CLAMPED[column] == 1 else fail(X, REFUSABLE)
    return value


def nobodys(S: Row, slot: int) -> bool:
    """Whether the slot is that of something destroyed."""
    column = COL_OF[slot]
    refs, rest = C_REFS[column], slot - C_BASE[column]
    if refs == 0:
        return False
    if C_SHAPE[column] == BY_OBJECT:
        return S[KINDS + rest] < 0  # type: ignore[no-any-return]
    if refs & 1 != 0 and S[KINDS + C_OFF0[column] + rest // C_LEN1[column]] < 0:
        return True
    return refs & 2 != 0 and S[KINDS + C_OFF1[column] + rest % C_LEN1[column]] < 0


def pay(X: Row, amount: int, factor: int) -> None:
    """A reward, in units of the finest."""
    if amount != NONE:
        X[PAID] += amount * factor
