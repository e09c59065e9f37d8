"""The functions that compiled rules call, for numba (extra `fast`): `runtime` on integer rows.

``R`` is scratch: rewards (`PAID`), the state and number of the draws of the present rule
(`STREAM`, `NUMBER`), and the log: `LOGGED` entries of three from `LOG` on, the places of `BORN` new
objects from `BIRTHS` on, those of `DOOMED` ones from `DEATHS` on, and whether a new object cannot
have its values (`FAILED`). `FULL` is set where room is lacking, also where no exception is seen.
``J`` is the journal, its length first; its last place is the number of
the row in a batch. An exception leaves a tick to the interpreter.

Objects that come and go are in places (`layout.Places`): ``keepers`` is the slot of each place that
holds the kind of its object, -1 where there is none.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

from tokenworld.engine.rows.code.runtime import RUNTIME
from tokenworld.ground import draws as drawing

NONE = -(1 << 62)
PAID, STREAM, NUMBER, LOGGED, FAILED, BORN, DOOMED, FULL, LOG = range(9)
MOST_LOGGED, MOST_BORN = 4096, 1024
BIRTHS = LOG + 3 * MOST_LOGGED
DEATHS = BIRTHS + MOST_BORN
SCRATCH = DEATHS + MOST_BORN
JOURNAL = 1 << 16
TICK, SEED, NEXT = 1, 2, 3
REFUSED, CONFLICT = 2, 3
LIMIT = 1 << 31

njit: Any = numba.njit
int64 = np.int64
absorbed, nth, moment, spelt, mixed = (
    drawing.compiled()[name] for name in ("absorbed", "nth", "moment", "spelt", "mixed")
)
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
def fixed_kids(firsts, items, x):
    """The same for a fluent that play never changes."""
    if x == NONE:
        return items[:0]
    return items[firsts[x] : firsts[x + 1]]


@njit
def living_kids(R, living, table, x):
    """The same where they come and go: those of a list of living objects."""
    n = R[living]
    found = np.empty(n, np.int64)
    count = 0
    if x != NONE:
        for i in range(living + 1, living + 1 + n):
            if R[table[R[i]]] == x:
                found[count] = R[i]
                count += 1
    return found[:count]


@njit
def inside(R, table, x):
    """The objects inside an object, directly or not, in pre-order."""
    return within(R, table[:, 0], table[:, 1], x)


@njit
def living_inside(R, living, table, x):
    owners = alive(R, living)
    return within(R, owners, table[owners], x)


@njit
def within(R, owners, slots, x):
    found = np.empty(len(owners), np.int64)
    todo = np.empty(len(owners) + 1, np.int64)
    todo[0] = x
    n, left = 0, 0 if x == NONE else 1
    while left:
        left -= 1
        one = todo[left]
        if one != x:
            found[n] = one
            n += 1
        for i in range(len(owners) - 1, -1, -1):
            if slots[i] > 0 and R[slots[i]] == one and left + n < len(owners):
                todo[left] = owners[i]
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
def isof(S, keepers, kinds, x):
    """Return whether an object lives and is of one of these kinds."""
    if x < 0:
        return False
    kind = S[keepers[x]]
    return kind >= 0 and kinds[kind] == 1


@njit
def alive(S, living):
    """The objects of a list."""
    return S[living + 1 : living + 1 + S[living]]


@njit
def word_of(S, slots, x, first, words):
    """The word of the name of an object: those of the first ones never change."""
    return words[x] if x < first else S[slots + x]


@njit
def ident(S, slots, x, first):
    """The number of an object."""
    return x if x < first else S[slots + x]


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
def finite(value):
    if not math.isfinite(value):
        raise ValueError("a result is outside the reals")
    return value


@njit
def to_real(value, scale):
    return float(value / scale)


@njit
def over(a, b):
    if b == 0:
        raise ZeroDivisionError("a number is divided by zero")
    return a / b


@njit
def real_mod(a, b):
    return a - b * math.floor(over(a, b))


@njit
def round_down(value):
    if abs(value) > LIMIT or not math.isfinite(value):
        raise OverflowError("a number is too large to be compiled")
    return int64(math.floor(value))


@njit
def power(base, exponent):
    if exponent < 0:
        raise ValueError("an exponent is negative")
    result = 1.0
    for _ in range(exponent):
        result *= base
    return result


@njit
def sqrt_(x):
    if x < 0:
        raise ValueError("a result is outside the reals")
    return math.sqrt(x)


@njit
def sin_(x):
    return math.sin(finite(x))


@njit
def cos_(x):
    return math.cos(finite(x))


@njit
def exp_(x):
    return finite(math.exp(x))


@njit
def log_(x):
    if x <= 0:
        raise ValueError("a result is outside the reals")
    return math.log(x)


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
def keep(S, J, slot, value):
    """Write a slot, if that changes it."""
    if S[slot] != value:
        push(J, slot, S[slot])
        S[slot] = value


@njit
def begin(R):
    R[LOGGED] = 0
    R[FAILED] = 0
    R[BORN] = 0
    R[DOOMED] = 0


@njit
def note(R, slot, op, value, always):
    if slot < 0 or (value == NONE and op == 0 and always == 1):
        return
    n = R[LOGGED]
    if n >= MOST_LOGGED:
        R[FULL] = 1
        raise IndexError("the log is full")
    here = LOG + 3 * n
    R[here] = slot
    R[here + 1] = op
    R[here + 2] = 0 if value == NONE and op == 1 else value
    R[LOGGED] = n + 1


@njit
def merged(S, R, J, low, high, clamped, owners):
    """Write the log: 0, `REFUSED` where a range is left, `CONFLICT` for two values at once. Nothing
    is written to the dead; ``owners`` are the keepers of the slots that may be theirs."""
    end = LOG + 3 * R[LOGGED]
    k = LOG
    while k < end:
        slot = R[k]
        if slot >= 0 and (owners[slot] == 0 or S[owners[slot]] >= 0):
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
def repeats(S, slot, slots, first, last):
    """Return whether another slot of a `unique` fluent has the value of this one."""
    if S[slot] == NONE:
        return False
    for i in range(first, last):  # noqa: SIM110
        if slots[i] != slot and S[slots[i]] == S[slot]:
            return True
    return False


# ---- objects that come and go -------------------------------------------------------------------


@njit
def arrive(S, R, J, keepers, first, ids, kind):
    """The place of a new object, with its number; it lives when the log is committed."""
    for x in range(first, len(keepers)):
        if S[keepers[x]] < 0 and S[ids + x] != -1 - S[TICK]:
            n = R[BORN]
            if n >= MOST_BORN:
                break
            keep(S, J, keepers[x], kind)
            keep(S, J, ids + x, S[NEXT])
            keep(S, J, NEXT, S[NEXT] + 1)
            R[BIRTHS + n] = x
            R[BORN] = n + 1
            return x
    R[FULL] = 1
    raise IndexError("no place is left for another object")


@njit
def numbered(state, number):
    """The word of a name that goes on with a number."""
    factor = 1
    while number // factor >= 10:
        factor *= 10
    while factor > 0:
        state = spelt(state, 48 + number // factor % 10)
        factor //= 10
    return mixed(state)


@njit
def doom(R, x):
    n = R[DOOMED]
    if n >= MOST_BORN:
        R[FULL] = 1
        raise IndexError("very many objects are destroyed")
    if x != NONE:
        R[DEATHS + n] = x
        R[DOOMED] = n + 1


@njit
def enlist(S, J, living, x):
    """Add an object to a list of living ones, of which it has the largest number."""
    keep(S, J, living, S[living] + 1)
    keep(S, J, living + S[living], x)


@njit
def delist(S, J, living, x):
    end = living + S[living]
    found = False
    for i in range(living + 1, end):
        found = found or S[i] == x
        if found:
            keep(S, J, i, S[i + 1])
    keep(S, J, living, S[living] - 1)


@njit
def inherit(S, J, slots, x, heir):
    """Let the objects that point at an object point at its heir."""
    for slot in slots:
        if S[slot] == x:
            keep(S, J, slot, heir)


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
