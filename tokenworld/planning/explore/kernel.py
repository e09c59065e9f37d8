"""The compiled explorer: fixed loops over words of bits, which serve every packed world.

This module needs numba: `compiled` imports it, and only where numba is installed. A world is data
here: a decision tree of operators, the bits that each keeps and puts, the tests of its conditional
effects. States between the phases of a tick wait on a small stack; only ends of ticks are kept.
What was compiled is kept on disk where that is possible, so that a machine compiles it once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

__all__ = ["FULL", "expand_many", "expand_one", "rehash"]

FULL = 1
"""Why expanding stopped: the arrays have no room for another state."""
Words = Any
"""An array of 64-bit words or of indices, or one of its items."""
Function = TypeVar("Function", bound=Callable[..., Any])

_MIX_A, _MIX_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_A, _SHIFT_B = np.uint64(30), np.uint64(27)
_ZERO, _SEED = np.uint64(0), np.uint64(0x9E3779B97F4A7C15)
_DEEP = 4096
_GOAL = 1


def _compiled(function: Function) -> Function:
    """The function compiled when first called; where nothing can be kept on disk, each time."""
    made: Any
    try:
        made = njit(cache=True, boundscheck=False)(function)
    except RuntimeError:  # no folder that can be written to
        made = njit(boundscheck=False)(function)
    return cast(Function, made)


@_compiled
def mixed(found: Words, word: Words) -> Words:
    """A hash with one more word (the finalizer of SplitMix64)."""
    found = (found ^ word) * _MIX_A
    found = (found ^ (found >> _SHIFT_A)) * _MIX_B
    return found ^ (found >> _SHIFT_B)


# ---- states of one word -------------------------------------------------------------------------


@_compiled
def holds_one(s: Words, first: int, last: int, tests: Words, allow: Words, lay: Words) -> bool:
    """Whether the tests from ``first`` on hold of a state."""
    for i in range(first, last):
        variable = tests[i, 0]
        value = np.int64((s >> lay[variable, 1]) & lay[variable, 2])
        if allow[tests[i, 1] + value] == 0:
            return False
    return True


@_compiled
def expand_one(
    states: Words,
    parents: Words,
    kinds: Words,
    table: Words,
    count: Words,
    until: int,
    code: Words,
    tree: Words,
    ops: Words,
    bits: Words,
    effects: Words,
    changes: Words,
    tests: Words,
    allow: Words,
    lay: Words,
    ends: Words,
    token: Words,
) -> int:
    """Expand states of one word, from number ``count[1]`` up to ``until`` or to a goal.

    ``count`` holds how many states there are, how many are expanded, how many were generated, the
    number of a won state (-1: none), and how many states are none because an invariant is broken.
    Returns `FULL` where there is no more room, else 0.
    """
    n, head, made = count[0], count[1], count[2]
    size, room = np.int64(table.shape[0] - 1), states.shape[0]
    waiting, nodes = np.empty(_DEEP, np.uint64), np.empty(_DEEP, np.int64)
    while head < n and head < until and (count[3] < 0 or token[1] == _ZERO):
        high, begun = 0, made
        if kinds[head] == 0:
            waiting[0], high = states[head, 0], 1
        while high > 0:
            high -= 1
            s = waiting[high]
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
                        waiting[high] = x
                        high += 1
                        continue
                    made += 1
                    p = np.int64(mixed(_SEED, x)) & size
                    while table[p] != 0 and states[table[p] - 1, 0] != x:
                        p = (p + 1) & size
                    if table[p] == 0:
                        if n >= room:
                            count[0], count[1], count[2] = n, head, begun
                            return FULL
                        kind = 0
                        for k in range(ends.shape[0]):
                            if holds_one(x, ends[k, 1], ends[k, 2], tests, allow, lay):
                                kind = ends[k, 0]
                                break
                        states[n, 0], parents[n], kinds[n] = x, head, kind
                        n += 1
                        table[p] = n
                        if kind == _GOAL and count[3] < 0:
                            count[3] = n - 1
                        if kind > 3:
                            count[4] += 1
                for i in range(code[last]):
                    variable = code[last + 1 + 2 * i]
                    value = np.int64((s >> lay[variable, 1]) & lay[variable, 2])
                    to = tree[code[last + 2 + 2 * i] + value]
                    if to != 0:
                        nodes[deep] = to
                        deep += 1
        head += 1
    count[0], count[1], count[2] = n, head, made
    return 0


# ---- states of several words --------------------------------------------------------------------


@_compiled
def holds_many(s: Words, first: int, last: int, tests: Words, allow: Words, lay: Words) -> bool:
    """Whether the tests from ``first`` on hold of a state."""
    for i in range(first, last):
        variable = tests[i, 0]
        word = s[np.int64(lay[variable, 0])]
        value = np.int64((word >> lay[variable, 1]) & lay[variable, 2])
        if allow[tests[i, 1] + value] == 0:
            return False
    return True


@_compiled
def place_of(x: Words, states: Words, table: Words) -> Words:
    """Where a state is in the table, or would be."""
    width, size, found = states.shape[1], np.int64(table.shape[0] - 1), _SEED
    for w in range(width):
        found = mixed(found, x[w])
    p = np.int64(found) & size
    while table[p] != 0:
        same, number = True, table[p] - 1
        for w in range(width):
            if states[number, w] != x[w]:
                same = False
                break
        if same:
            return p
        p = (p + 1) & size
    return p


@_compiled
def expand_many(
    states: Words,
    parents: Words,
    kinds: Words,
    table: Words,
    count: Words,
    until: int,
    code: Words,
    tree: Words,
    ops: Words,
    bits: Words,
    effects: Words,
    changes: Words,
    tests: Words,
    allow: Words,
    lay: Words,
    ends: Words,
    token: Words,
) -> int:
    """What `expand_one` does, for states of several words; the token is in the first of them."""
    n, head, made = count[0], count[1], count[2]
    room, width = states.shape[0], states.shape[1]
    waiting, nodes = np.empty((_DEEP, width), np.uint64), np.empty(_DEEP, np.int64)
    s, x = np.empty(width, np.uint64), np.empty(width, np.uint64)
    while head < n and head < until and (count[3] < 0 or token[1] == _ZERO):
        high, begun = 0, made
        if kinds[head] == 0:
            waiting[0], high = states[head], 1
        while high > 0:
            high -= 1
            s[:] = waiting[high]
            nodes[0], deep = 1, 1
            while deep > 0:
                deep -= 1
                at = nodes[deep]
                last = at + 1 + code[at]
                for i in range(at + 1, last):
                    op = code[i]
                    for w in range(width):
                        x[w] = (s[w] & bits[op, 0, w]) | bits[op, 1, w]
                    for e in range(ops[op, 0], ops[op, 1]):
                        if holds_many(s, effects[e, 0], effects[e, 1], tests, allow, lay):
                            for w in range(width):
                                x[w] = (x[w] & changes[e, 0, w]) | changes[e, 1, w]
                    if x[0] & token[0] != _ZERO:
                        waiting[high] = x
                        high += 1
                        continue
                    made += 1
                    p = place_of(x, states, table)
                    if table[p] == 0:
                        if n >= room:
                            count[0], count[1], count[2] = n, head, begun
                            return FULL
                        kind = 0
                        for k in range(ends.shape[0]):
                            if holds_many(x, ends[k, 1], ends[k, 2], tests, allow, lay):
                                kind = ends[k, 0]
                                break
                        states[n], parents[n], kinds[n] = x, head, kind
                        n += 1
                        table[p] = n
                        if kind == _GOAL and count[3] < 0:
                            count[3] = n - 1
                        if kind > 3:
                            count[4] += 1
                for i in range(code[last]):
                    variable = code[last + 1 + 2 * i]
                    word = s[np.int64(lay[variable, 0])]
                    value = np.int64((word >> lay[variable, 1]) & lay[variable, 2])
                    to = tree[code[last + 2 + 2 * i] + value]
                    if to != 0:
                        nodes[deep] = to
                        deep += 1
        head += 1
    count[0], count[1], count[2] = n, head, made
    return 0


@_compiled
def rehash(states: Words, count: int, table: Words) -> None:
    """File the first ``count`` states in an empty table."""
    for number in range(count):
        table[place_of(states[number], states, table)] = number + 1
