"""Kernels: what terms call. Plain functions over whole numbers, run as they are or by numba.

Truths are 0, 1 or `NONE`; reals are doubles with NaN for `none` and lie in slots by their bits.
"""

from __future__ import annotations

import math
from typing import Any

from tokenworld.engine.rollout.places import ISA, KIND_COUNT, KINDS, MEMO, MEMO_SIZE
from tokenworld.engine.rollout.scratch import ERR, ERROR, ESCAPE, LIMIT, NONE

Row = Any
"""A list, or a row of an int64 array."""

NAN = math.nan


def fail(X: Row, code: int) -> int:
    """Note what went wrong first."""
    if X[ERR] == 0:
        X[ERR] = code
    return 0


def stale(X: Row) -> None:
    """Tables of recursive derives belong to a state that is no more."""
    for i in range(MEMO_SIZE):
        X[MEMO + i] = -1


# ---- slots ----------------------------------------------------------------------------------


def at(S: Row, base: int, x: int) -> int:
    """An attribute of something that may be `none`."""
    return S[base + x] if x >= 0 else NONE


def get(S: Row, cell: int, default: int) -> int:
    """A value with arguments: `none` of `none`, the default outside the domains."""
    if cell >= 0:
        return S[cell]  # type: ignore[no-any-return]
    return NONE if cell == -1 else default


def fact(S: Row, cell: int) -> int:
    """A truth that is false of `none` and wherever nothing is stored."""
    return S[cell] if cell >= 0 else 0


def own(base: int, x: int) -> int:
    """The cell of an attribute: -1 of `none`."""
    return base + x if x >= 0 else -1


def place(part: int, x: int, low: int, size: int) -> int:
    """One more argument of a cell: -1 of `none`, -2 outside the domain."""
    if part == -1 or x == NONE:
        return -1
    if part < 0 or x < low or x >= low + size:
        return -2
    return part * size + x - low


def based(base: int, part: int) -> int:
    return base + part if part >= 0 else part


def twofold(base: int, a: int, b: int, low: int, size: int) -> int:
    """The cell of a symmetric truth: one for both directions."""
    if a > b:
        return based(base, place(place(0, b, low, size), a, low, size))
    return based(base, place(place(0, a, low, size), b, low, size))


def isa(S: Row, x: int, of: int) -> bool:
    """Whether an object that may be `none` or destroyed is of a type."""
    if x < 0:
        return False
    kind = S[KINDS + x]
    return bool(kind >= 0 and ISA[of * KIND_COUNT + kind] == 1)


def same(a: int, b: int) -> bool:
    return a != NONE and a == b


def lt(a: int, b: int) -> bool:
    return a != NONE and b != NONE and a < b


def le(a: int, b: int) -> bool:
    return a != NONE and b != NONE and a <= b


# ---- whole numbers --------------------------------------------------------------------------


def plus(a: int, b: int) -> int:
    return NONE if a == NONE or b == NONE else a + b


def minus(a: int, b: int) -> int:
    return NONE if a == NONE or b == NONE else a - b


def times(a: int, b: int) -> int:
    return NONE if a == NONE or b == NONE else a * b


def floordiv(X: Row, a: int, b: int) -> int:
    if a == NONE or b == NONE:
        return NONE
    if b == 0:
        return fail(X, ERROR)
    return a // b


def modulo(X: Row, a: int, b: int) -> int:
    if a == NONE or b == NONE:
        return NONE
    if b == 0:
        return fail(X, ERROR)
    return a % b


def ladder(x: int, by: int, size: int) -> int:
    """`next` and `prev` stop at the ends."""
    if x == NONE:
        return NONE
    return min(max(x + by, 0), size - 1)


def lesser(a: int, b: int) -> int:
    """As `min`: the first of two that are equal; `none` of `none`."""
    if a == NONE or b == NONE:
        return NONE
    return b if b < a else a


def greater(a: int, b: int) -> int:
    if a == NONE or b == NONE:
        return NONE
    return b if b > a else a


def absolute(a: int) -> int:
    return NONE if a == NONE else abs(a)


def counted(a: int) -> int:
    """A number of a score: what rests on something destroyed counts nothing."""
    return 0 if a == NONE else a


def toward(x: int, target: int, by: int) -> int:
    if x == NONE or target == NONE or by == NONE:
        return NONE
    return min(x + by, target) if x < target else max(x - by, target)


def sign(x: int) -> int:
    if x == NONE:
        return NONE
    return (1 if x > 0 else 0) - (1 if x < 0 else 0)


def round_half(x: int, unit: int) -> int:
    """`x / unit` to the nearest whole number, ties to even."""
    if x == NONE:
        return NONE
    low = x // unit
    rest = 2 * (x - low * unit)
    if rest > unit or (rest == unit and low % 2 == 1):
        return low + 1
    return low


# ---- reals ----------------------------------------------------------------------------------


def to_real(x: int, scale: int) -> float:
    return NAN if x == NONE else x / scale


def over(X: Row, a: float, b: float) -> float:
    if b == 0:
        fail(X, ERROR)
        return 0.0
    return a / b


def real_mod(X: Row, a: float, b: float) -> float:
    if b == 0:
        fail(X, ERROR)
        return 0.0
    quotient = a / b
    if not math.isfinite(quotient):
        fail(X, ESCAPE)
        return 0.0
    return a - b * math.floor(quotient)


def real_lesser(a: float, b: float) -> float:
    if a != a or b != b:
        return NAN
    return b if b < a else a


def real_greater(a: float, b: float) -> float:
    if a != a or b != b:
        return NAN
    return b if b > a else a


def real_toward(x: float, target: float, by: float) -> float:
    if x != x or target != target or by != by:
        return NAN
    return real_lesser(x + by, target) if x < target else real_greater(x - by, target)


def real_sign(x: float) -> int:
    if x != x:
        return NONE
    return (1 if x > 0 else 0) - (1 if x < 0 else 0)


def _unrounded(X: Row, x: float) -> bool:
    """Whether no whole number stands for a double: `none`, infinite or too large to hold."""
    if math.isinf(x):
        fail(X, ERROR)
    elif abs(x) >= LIMIT:
        fail(X, ESCAPE)
    return not abs(x) < LIMIT


def round_down(X: Row, x: float) -> int:
    """`floor` of a double."""
    if _unrounded(X, x):
        return NONE if x != x else 0
    return math.floor(x)


def round_real(X: Row, x: float, unit: int) -> int:
    """The whole number nearest to `x * unit`, exactly, ties to even; `unit` is at most 100."""
    if _unrounded(X, x):
        return NONE if x != x else 0
    part, exponent = math.frexp(x)
    whole = int(part * 9007199254740992.0) * unit  # 53 bits, exactly
    shift = 53 - exponent
    if shift <= 0:
        return whole << -shift
    if shift > 60:
        return 0
    return round_half(whole, 1 << shift)


def root(X: Row, x: float) -> float:
    if x < 0:
        fail(X, ERROR)
        return 0.0
    return math.sqrt(x)


def sine(X: Row, x: float) -> float:
    if math.isinf(x):
        fail(X, ERROR)
        return 0.0
    return math.sin(x)


def cosine(X: Row, x: float) -> float:
    if math.isinf(x):
        fail(X, ERROR)
        return 0.0
    return math.cos(x)


def exponential(X: Row, x: float) -> float:
    if x > 709.782712893384 and not math.isinf(x):
        fail(X, ERROR)
        return 0.0
    return math.exp(x)


def logarithm(X: Row, x: float) -> float:
    if x <= 0:
        fail(X, ERROR)
        return 0.0
    return math.log(x)


def power(X: Row, base: float, exponent: int) -> float:
    if exponent == NONE:
        return NAN
    if exponent < 0:
        fail(X, ERROR)
        return 0.0
    result = 1.0
    for _ in range(exponent):
        result *= base
    return result
