"""What follows a packed state, compiled: fixed loops over words of bits that serve every world.

This module needs numba: `compiled` imports it, and only where numba is installed. A world is data
here: a decision tree of operators, the bits that each keeps and puts, the tests of its conditional
effects. States between the phases of a tick wait on a small stack; only ends of ticks are listed.
What was compiled is kept on disk where that is possible, so that a machine compiles it once.

Functions take plain arrays where they are called often: a tuple costs more than the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

__all__ = [
    "SEED",
    "Words",
    "compiled",
    "follow_many",
    "follow_one",
    "hashed",
    "kind_of",
    "mixed",
    "same",
]

Words = Any
"""An array of 64-bit words or of indices, or one of its items."""
Function = TypeVar("Function", bound=Callable[..., Any])

_MIX_A, _MIX_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_A, _SHIFT_B = np.uint64(30), np.uint64(27)
_ZERO, SEED = np.uint64(0), np.uint64(0x9E3779B97F4A7C15)


def compiled(function: Function) -> Function:
    """The function compiled when first called; where nothing can be kept on disk, each time."""
    made: Any
    try:
        made = njit(cache=True, boundscheck=False)(function)
    except RuntimeError:  # no folder that can be written to
        made = njit(boundscheck=False)(function)
    return cast(Function, made)


@compiled
def mixed(found: Words, word: Words) -> Words:
    """A hash with one more word (the finalizer of SplitMix64)."""
    found = (found ^ word) * _MIX_A
    found = (found ^ (found >> _SHIFT_A)) * _MIX_B
    return found ^ (found >> _SHIFT_B)


# ---- what follows a state -----------------------------------------------------------------------


@compiled
def holds_one(s: Words, first: int, last: int, tests: Words, allow: Words, lay: Words) -> bool:
    """Whether the tests from ``first`` on hold of a state of one word."""
    for i in range(first, last):
        variable = tests[i, 0]
        value = np.int64((s >> lay[variable, 1]) & lay[variable, 2])
        if allow[tests[i, 1] + value] == 0:
            return False
    return True


@compiled
def holds_many(
    rows: Words, row: int, first: int, last: int, tests: Words, allow: Words, lay: Words
) -> bool:
    """Whether the tests from ``first`` on hold of a state of several words: a row of ``rows``."""
    for i in range(first, last):
        variable = tests[i, 0]
        word = rows[row, np.int64(lay[variable, 0])]
        value = np.int64((word >> lay[variable, 1]) & lay[variable, 2])
        if allow[tests[i, 1] + value] == 0:
            return False
    return True


@compiled
def follow_one(start: Words, m: int, scratch: Words, world: Words) -> int:
    """List what follows a state of one word, from place ``m`` of the list on; the place after it.

    -1 where there is no room. Beside each state stands the operator that began the tick.
    """
    found, numbers, _, _, _, waiting, marks, nodes = scratch
    code, tree, ops, bits, effects, changes, tests, allow, lay, _, token = world
    room, high = found.shape[0], 1
    waiting[0, 0], marks[0] = start, -1
    while high > 0:
        high -= 1
        s, mark = waiting[high, 0], marks[high]
        nodes[0], deep = 1, 1
        while deep > 0:
            deep -= 1
            at = nodes[deep]
            last = at + 1 + code[at]
            for i in range(at + 1, last):
                op = code[i]
                x = (s & bits[op, 0, 0]) | bits[op, 1, 0]
                for e in range(ops[op, 0], ops[op, 1]):
                    if holds_one(s, effects[e, 0], effects[e, 1], tests, allow, lay):
                        x = (x & changes[e, 0, 0]) | changes[e, 1, 0]
                if x & token[0] != _ZERO:
                    if high == marks.shape[0]:
                        return -1
                    waiting[high, 0], marks[high] = x, op if mark < 0 else mark
                    high += 1
                    continue
                if m == room:
                    return -1
                found[m, 0], numbers[m] = x, op if mark < 0 else mark
                m += 1
            for i in range(code[last]):
                variable = code[last + 1 + 2 * i]
                value = np.int64((s >> lay[variable, 1]) & lay[variable, 2])
                to = tree[code[last + 2 + 2 * i] + value]
                if to != 0:
                    nodes[deep] = to
                    deep += 1
    return m


@compiled
def follow_many(states: Words, row: int, m: int, scratch: Words, world: Words) -> int:
    """The same for states of several words; the token is in the first of them."""
    found, numbers, _, _, _, waiting, marks, nodes = scratch
    code, tree, ops, bits, effects, changes, tests, allow, lay, _, token = world
    room, high, width = found.shape[0], 1, found.shape[1]
    here = marks.shape[0] - 1  # the row of the state that is looked at
    for w in range(width):
        waiting[0, w] = states[row, w]
    marks[0] = -1
    while high > 0:
        high -= 1
        mark = marks[high]
        for w in range(width):
            waiting[here, w] = waiting[high, w]
        nodes[0], deep = 1, 1
        while deep > 0:
            deep -= 1
            at = nodes[deep]
            last = at + 1 + code[at]
            for i in range(at + 1, last):
                op = code[i]
                if m == room or high == here:
                    return -1
                for w in range(width):
                    found[m, w] = (waiting[here, w] & bits[op, 0, w]) | bits[op, 1, w]
                for e in range(ops[op, 0], ops[op, 1]):
                    if holds_many(waiting, here, effects[e, 0], effects[e, 1], tests, allow, lay):
                        for w in range(width):
                            found[m, w] = (found[m, w] & changes[e, 0, w]) | changes[e, 1, w]
                if found[m, 0] & token[0] != _ZERO:
                    for w in range(width):
                        waiting[high, w] = found[m, w]
                    marks[high] = op if mark < 0 else mark
                    high += 1
                    continue
                numbers[m] = op if mark < 0 else mark
                m += 1
            for i in range(code[last]):
                variable = code[last + 1 + 2 * i]
                word = waiting[here, np.int64(lay[variable, 0])]
                value = np.int64((word >> lay[variable, 1]) & lay[variable, 2])
                to = tree[code[last + 2 + 2 * i] + value]
                if to != 0:
                    nodes[deep] = to
                    deep += 1
    return m


@compiled
def kind_of(rows: Words, row: int, world: Words) -> int:
    """What a state is: 0 where play goes on."""
    tests, allow, lay, ends = world[6], world[7], world[8], world[9]
    for k in range(ends.shape[0]):
        if holds_many(rows, row, ends[k, 1], ends[k, 2], tests, allow, lay):
            return int(ends[k, 0])
    return 0


# ---- states by themselves -----------------------------------------------------------------------


@compiled
def hashed(rows: Words, row: int) -> Words:
    """The hash of a state."""
    found = SEED
    for w in range(rows.shape[1]):
        found = mixed(found, rows[row, w])
    return found


@compiled
def same(states: Words, number: int, rows: Words, row: int) -> bool:
    """Whether this is the state of that number."""
    for w in range(rows.shape[1]):  # noqa: SIM110 (a generator cannot be compiled)
        if states[number, w] != rows[row, w]:
            return False
    return True
