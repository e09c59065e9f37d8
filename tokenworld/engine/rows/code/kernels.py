"""The functions that compiled rules call, for numba (extra `fast`): `runtime` on integer rows.

``R`` is scratch: rewards (`PAID`), the state and number of the draws of the present rule
(`STREAM`, `NUMBER`), and the log (`LOGGED` entries of three from `LOG` on). ``J`` is the journal,
its length first; its last place is the number of the row in a batch. An exception leaves a tick
to the interpreter.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from tokenworld.engine.rows.code.runtime import RUNTIME
from tokenworld.ground import draws as drawing

NONE = -(1 << 62)
PAID, STREAM, NUMBER, LOGGED, LOG = 0, 1, 2, 3, 4
MOST_LOGGED = 4096
SCRATCH = LOG + 3 * MOST_LOGGED
JOURNAL = 1 << 16
SEED, TICK = 2, 1
REFUSED, CONFLICT = 2, 3
LIMIT = 1 << 31

njit: Any = numba.njit
int64 = np.int64
absorbed, nth, moment = (drawing.compiled()[name] for name in ("absorbed", "nth", "moment"))
plus, minus, times, neg, clamp, toward, sign, step = (
    njit(RUNTIME[one])
    for one in ("plus", "minus", "times", "neg", "clamp", "toward", "sign", "step")
)
M32 = 0xFFFFFFFF


# ---- reading ------------------------------------------------------------------------------------


@njit
def at(R, table, x):
    return NONE if x == NONE else R[table[x]]


@njit
def kids(R, table, x):
    found = np.empty(len(table), np.int64)
    n = 0
    if x != NONE:
        for i in range(len(table)):
            if table[i, 1] > 0 and R[table[i, 1]] == x:
                found[n] = table[i, 0]
                n += 1
    return found[:n]


@njit
def inside(R, table, x):
    found = np.empty(len(table), np.int64)
    todo = np.empty(len(table), np.int64)
    first = kids(R, table, x)
    n, left = 0, len(first)
    for i in range(left):
        todo[i] = first[left - 1 - i]
    while left and n < len(found):
        left -= 1
        one = todo[left]
        found[n] = one
        n += 1
        first = kids(R, table, one)
        for i in range(len(first) - 1, -1, -1):
            if left < len(todo):
                todo[left] = first[i]
                left += 1
    return found[:n]


@njit
def climbs(R, table, x, y):
    if x == NONE or y == NONE:
        return False
    step = R[table[x]]
    for _ in range(len(table)):
        if step == NONE:
            return False
        if step == y:
            return True
        step = R[table[step]]
    return False


@njit
def isa(table, x):
    return x >= 0 and table[x] == 1


@njit
def among(x, items):
    for one in items:  # noqa: SIM110 (numba has no `any` of a generator)
        if one == x:
            return True
    return False


@njit
def same(a, b):
    return a != NONE and a == b


@njit
def where(R, at, end, first, value):
    found = np.empty(end - at, np.int64)
    n = 0
    for i in range(at, end):
        if R[i] == value:
            found[n] = first + i - at
            n += 1
    return found[:n]


@njit
def place(table, x):
    return -1 if x == NONE or table[x] == 0 else table[x]


# ---- numbers ------------------------------------------------------------------------------------


@njit
def fits(x):
    if x != NONE and (x >= LIMIT or x <= -LIMIT):
        raise OverflowError("a number is too large to be compiled")
    return x


@njit
def lt(a, b):
    return a != NONE and b != NONE and a < b


@njit
def le(a, b):
    return a != NONE and b != NONE and a <= b


@njit
def floordiv(a, b):
    if b == 0:
        raise ZeroDivisionError("a number is divided by zero")
    return a // b


@njit
def modulo(a, b):
    if b == 0:
        raise ZeroDivisionError("a number is divided by zero")
    return a % b


@njit
def amount(value):
    if value < 0:
        raise ValueError("a negative amount cannot be transferred")
    return value


@njit
def total(function, *args):
    for one in args:
        if one == NONE:
            return NONE
    return function(*args)


@njit
def summed(values, nothing):
    for one in values:
        if one == NONE:
            return NONE
        nothing += one
    return nothing


@njit
def least(values):
    best = NONE
    for i in range(len(values)):
        if values[i] == NONE:
            return NONE
        best = values[i] if i == 0 else min(best, values[i])
    return best


@njit
def most(values):
    best = NONE
    for i in range(len(values)):
        if values[i] == NONE:
            return NONE
        best = values[i] if i == 0 else max(best, values[i])
    return best


# ---- writing ------------------------------------------------------------------------------------


@njit
def push(J, slot, old):
    n = J[0]
    if n + 4 > len(J):
        raise IndexError("the journal is full")
    J[n + 1] = slot
    J[n + 2] = old
    J[0] = n + 2


@njit
def undo(S, J):
    n = J[0]
    while n > 0:
        S[J[n - 1]] = J[n]
        n -= 2
    J[0] = 0


@njit
def pay(R, value, scale):
    if value != NONE:
        R[PAID] += value * scale


@njit
def begin(R):
    R[LOGGED] = 0


@njit
def note(R, slot, op, value, always):
    if slot < 0 or (value == NONE and op == 0 and always == 1):
        return
    n = R[LOGGED]
    if n >= MOST_LOGGED:
        raise IndexError("the log is full")
    here = LOG + 3 * n
    R[here] = slot
    R[here + 1] = op
    R[here + 2] = 0 if value == NONE and op == 1 else value
    R[LOGGED] = n + 1


@njit
def merged(S, R, J, low, high, clamped):
    """Write the log: 0, `REFUSED` where a range is left, `CONFLICT` for two values at once."""
    end = LOG + 3 * R[LOGGED]
    k = LOG
    while k < end:
        slot = R[k]
        if slot >= 0:
            op = R[k + 1]
            value = R[k + 2]
            q = k + 3
            while q < end:
                if R[q] == slot:
                    other = R[q + 1]
                    if op >= 2 or other >= 2:
                        op = 2 if op == 2 or other == 2 else 3
                    elif op == 0 or other == 0:
                        if op != other or value != R[q + 2]:
                            return CONFLICT
                    else:
                        value += R[q + 2]
                    R[q] = -1 - slot
                q += 3
            old = S[slot]
            if op >= 2:
                value = 1 if op == 2 else 0
            else:
                if op == 1:
                    value = NONE if old == NONE else old + value
                if value != NONE and (value < low[slot] or value > high[slot]):
                    if clamped[slot] == 0:
                        return REFUSED
                    value = low[slot] if value < low[slot] else high[slot]
            if old != value:
                push(J, slot, old)
                S[slot] = value
        k += 3
    return 0


@njit
def repeats(S, slot, first, last):
    """Return whether another slot of a `unique` fluent has the value of this one."""
    if S[slot] == NONE:
        return False
    for one in range(first, last):  # noqa: SIM110
        if one != slot and S[one] == S[slot]:
            return True
    return False


# ---- draws --------------------------------------------------------------------------------------


@njit
def draws(R, S, key):
    R[STREAM] = absorbed(moment(S[SEED], S[TICK]), key)
    R[NUMBER] = 0


@njit
def drawn(R):
    value = nth(R[STREAM], R[NUMBER])
    R[NUMBER] += 1
    return value


@njit
def below(value, part, whole):
    """Return whether a word is below a share of all words, rounded down; both below 2^31."""
    if part >= whole:
        return True
    high = (part << 32) // whole
    low = (((part << 32) % whole) << 32) // whole
    top = (value >> 32) & M32
    return top < high or (top == high and (value & M32) < low)


@njit
def scaled(value, size):
    """A word as a number below a size."""
    return (((value >> 32) & M32) * size + (((value & M32) * size) >> 32)) >> 32


@njit
def branch(R, whole, shares):
    rest = whole
    for one in shares:
        if one == NONE or one < 0:
            raise ValueError("a probability leaves the range 0 to 1")
        rest -= one
    if rest < 0:
        raise ValueError("the probabilities leave the range 0 to 1")
    value = drawn(R)
    reached = 0
    for i in range(len(shares)):
        reached += shares[i]
        if below(value, reached, whole):
            return i
    return len(shares)


@njit
def even(R, count):
    if count == 0:
        return -1
    value = drawn(R)
    for i in range(count):
        if below(value, i + 1, count):
            return i
    return count - 1


@njit
def pick(R, weights, kind):
    whole = 0
    for one in weights:
        if one == NONE:
            raise ValueError("what a candidate is chosen by is none")
        whole += one
    if len(weights) == 0:
        return -1
    if kind != 0:
        best = 0
        for i in range(len(weights)):
            if (weights[i] - weights[best]) * kind > 0:
                best = i
        return best
    for one in weights:
        if one < 0:
            raise ValueError("a weight is negative")
    if whole == 0:
        return -1
    if whole >= LIMIT:
        raise OverflowError("weights are too large to be compiled")
    value = drawn(R)
    reached = 0
    for i in range(len(weights)):
        reached += weights[i]
        if weights[i] > 0 and below(value, reached, whole):
            return i
    return -1


# ---- legal commands -----------------------------------------------------------------------------


@njit
def offer0(found, action):
    n = found[0, 0] + 1
    if n >= len(found):
        raise IndexError("very many commands are legal")
    found[n, 0] = action
    found[0, 0] = n


@njit
def offer(found, action, args):
    n = found[0, 0] + 1
    if n >= len(found):
        raise IndexError("very many commands are legal")
    found[n, 0] = action
    for i in range(len(args)):
        found[n, 1 + i] = args[i]
    found[0, 0] = n


@njit
def chosen(found, seed, turn, action_key, arguments_key):
    """The row of the command of the random player (`players.random_command`); 0 passes."""
    kinds = 0
    for i in range(1, found[0, 0] + 1):
        if i == 1 or found[i, 0] != found[i - 1, 0]:
            kinds += 1
    when = moment(seed, turn)
    k = scaled(nth(absorbed(when, action_key), 0), kinds + 1)
    if k == 0:
        return 0
    first = 0
    for i in range(1, found[0, 0] + 1):
        if i == 1 or found[i, 0] != found[i - 1, 0]:
            k -= 1
            if k == 0:
                first = i
                break
    count = 1
    while first + count <= found[0, 0] and found[first + count, 0] == found[first, 0]:
        count += 1
    return first + scaled(nth(absorbed(when, arguments_key), 0), count)
