"""What follows a packed state, compiled: fixed loops over words of bits that serve every world.

This module needs numba: `compiled` imports it, and only where numba is installed. A world is data
here: a decision tree of operators, the bits that each keeps and puts, the tests of its conditional
effects. States between the phases of a tick wait on a small stack; only ends of ticks are listed.
What was compiled is kept on disk where that is possible, so that a machine compiles it once.

Functions take plain arrays where they are called often: a tuple costs more than the call.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from tokenworld.planning.explore.room import BATCH
from tokenworld.planning.explore.sieve import BLOCK

__all__ = [
    "SEED",
    "Words",
    "compiled",
    "follow_many",
    "follow_one",
    "hashed",
    "judge",
    "kind_of",
    "mixed",
    "same",
]

Words = Any
"""An array of 64-bit words or of indices, or one of its items."""
Function = TypeVar("Function", bound=Callable[..., Any])

_MIX_A, _MIX_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_A, _SHIFT_B = np.uint64(30), np.uint64(27)
_ZERO, _ONE, SEED = np.uint64(0), np.uint64(1), np.uint64(0x9E3779B97F4A7C15)
_EVERY, _NOTHING = np.uint64((1 << 64) - 1), (1 << 31) - 1
_CALLED = ("heuristics", "kernel", "room", "sieve", "stepping")
"""The modules from which compiled functions are called, or whose constants are compiled in."""


def compiled(function: Function) -> Function:
    """The function compiled when first called; where nothing can be kept on disk, each time."""
    made: Any
    try:
        made = njit(cache=True, boundscheck=False)(function)
        _stamp(made)
    except RuntimeError:  # no folder that can be written to
        made = njit(boundscheck=False)(function)
    return cast(Function, made)


def _stamp(made: Any) -> None:
    """Let what is kept count only as long as nothing has changed that such functions call: numba
    looks at the file of the function alone, and would go on with what others were before."""
    with suppress(AttributeError, OSError):  # nothing is kept, or in another way
        kept = made._cache._cache_file
        kept._source_stamp = (kept._source_stamp, _sources())


@cache
def _sources() -> str:
    files = (Path(__file__).with_name(f"{one}.py") for one in _CALLED)
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _lowest(typing: Words, word: Words) -> Words:
    """One instruction of the processor."""

    def made(context: Words, builder: Words, signature: Words, args: Words) -> Words:
        return builder.cttz(args[0], context.get_constant(types.boolean, 1))

    return types.uint64(types.uint64), made


lowest = cast(Callable[[Words], Words], intrinsic(_lowest))
"""The place of the lowest bit of a word that is not 0."""


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
def follow_one(
    states: Words, kinds: Words, head: int, until: int, skipped: int, scratch: Words, world: Words
) -> tuple[int, int]:
    """List what follows states of one word, from number ``head`` on, until there is a batch of it.

    How much is listed, and the first state that was not followed: ``head`` itself where there is
    no room for all that follows it. Beside each state stand the command's operator (the first by
    number: `compiled.Tables` puts those of phases last) and the state it follows; ``stops`` tells
    where the list ends for each state that was followed.
    States of the ``skipped`` kinds, a bit for each, are followed by nothing.
    """
    found, numbers, heads, _, _, waiting, marks, nodes, stops, _, _ = scratch
    code, tree, blocks, looks, masks, listed = world[:6]
    ops, bits, effects, changes, tests, allow, lay, _, _, token = world[6:]
    room, m = found.shape[0], 0
    begin = head
    while head < until and m < BATCH and head - begin < BATCH:
        begun, high = m, 1 - ((skipped >> kinds[head]) & 1)
        waiting[0, 0], marks[0] = states[head, 0], _NOTHING
        while high > 0:
            high -= 1
            s, mark = waiting[high, 0], np.int64(marks[high])
            nodes[0], deep = 1, 1
            while deep > 0:
                deep -= 1
                at = nodes[deep]
                for block in range(code[at], code[at + 1]):
                    if m + BLOCK > room or high + BLOCK > marks.shape[0]:
                        return begun, head
                    left, first = _EVERY, np.uint64(block * BLOCK)
                    for k in range(blocks[block, 0], blocks[block, 1]):
                        left &= masks[((s >> looks[k, 1]) & looks[k, 2]) + looks[k, 3]]
                    while left != _ZERO:
                        op = listed[first + lowest(left)]
                        left &= left - _ONE
                        x = (s & bits[op, 0, 0]) | bits[op, 1, 0]
                        for e in range(ops[op, 0], ops[op, 1]):
                            if holds_one(s, effects[e, 0], effects[e, 1], tests, allow, lay):
                                x = (x & changes[e, 0, 0]) | changes[e, 1, 0]
                        if x & token[0] != _ZERO:
                            waiting[high, 0], marks[high] = x, min(mark, np.int64(op))
                            high += 1
                            continue
                        found[m, 0], numbers[m], heads[m] = x, min(mark, np.int64(op)), head
                        m += 1
                for i in range(at + 3, at + 3 + 2 * code[at + 2], 2):
                    variable = code[i]
                    value = np.int64((s >> lay[variable, 1]) & lay[variable, 2])
                    to = tree[code[i + 1] + value]
                    if to != 0:
                        nodes[deep] = to
                        deep += 1
        stops[head - begin] = m
        head += 1
    return m, head


@compiled
def follow_many(
    states: Words, kinds: Words, head: int, until: int, skipped: int, scratch: Words, world: Words
) -> tuple[int, int]:
    """The same for states of several words; the token is in the first of them."""
    found, numbers, heads, _, _, waiting, marks, nodes, stops, _, _ = scratch
    code, tree, blocks, looks, masks, listed = world[:6]
    ops, bits, effects, changes, tests, allow, lay, _, _, token = world[6:]
    room, width, m = found.shape[0], found.shape[1], 0
    here = marks.shape[0] - 1  # the row of the state that is looked at
    begin = head
    while head < until and m < BATCH and head - begin < BATCH:
        begun, high = m, 1 - ((skipped >> kinds[head]) & 1)
        marks[0] = _NOTHING
        for w in range(width):
            waiting[0, w] = states[head, w]
        while high > 0:
            high -= 1
            mark = np.int64(marks[high])
            for w in range(width):
                waiting[here, w] = waiting[high, w]
            nodes[0], deep = 1, 1
            while deep > 0:
                deep -= 1
                at = nodes[deep]
                for block in range(code[at], code[at + 1]):
                    if m + BLOCK > room or high + BLOCK > here:
                        return begun, head
                    left, first = _EVERY, np.uint64(block * BLOCK)
                    for k in range(blocks[block, 0], blocks[block, 1]):
                        word = waiting[here, looks[k, 0]]
                        left &= masks[((word >> looks[k, 1]) & looks[k, 2]) + looks[k, 3]]
                    while left != _ZERO:
                        op = listed[first + lowest(left)]
                        left &= left - _ONE
                        for w in range(width):
                            found[m, w] = (waiting[here, w] & bits[op, 0, w]) | bits[op, 1, w]
                        for e in range(ops[op, 0], ops[op, 1]):
                            tested = effects[e, 0], effects[e, 1]
                            if holds_many(waiting, here, *tested, tests, allow, lay):
                                for w in range(width):
                                    kept = found[m, w] & changes[e, 0, w]
                                    found[m, w] = kept | changes[e, 1, w]
                        numbers[m], heads[m] = min(mark, np.int64(op)), head
                        if found[m, 0] & token[0] == _ZERO:
                            m += 1
                        else:
                            marks[high] = numbers[m]
                            for w in range(width):
                                waiting[high, w] = found[m, w]
                            high += 1
                for i in range(at + 3, at + 3 + 2 * code[at + 2], 2):
                    variable = code[i]
                    word = waiting[here, np.int64(lay[variable, 0])]
                    value = np.int64((word >> lay[variable, 1]) & lay[variable, 2])
                    to = tree[code[i + 1] + value]
                    if to != 0:
                        nodes[deep] = to
                        deep += 1
        stops[head - begin] = m
        head += 1
    return m, head


@compiled
def kind_of(rows: Words, row: int, world: Words) -> int:
    """What a state is: 0 where play goes on."""
    tests, allow, lay, ends, aims = world[10:15]
    for e in range(ends.shape[0]):
        aimed = True
        for w in range(rows.shape[1]):
            aimed &= (rows[row, w] & aims[e, 0, w]) == aims[e, 1, w]
        if aimed and holds_many(rows, row, ends[e, 1], ends[e, 2], tests, allow, lay):
            return int(ends[e, 0])
    return 0


@compiled
def judge(rest: int, scratch: Words, world: Words) -> None:
    """What each of the first states of the list of unknown ones is, as `kind_of` tells."""
    found, spare, what = scratch[0], scratch[9], scratch[10]
    tests, allow, lay, ends, aims = world[10:15]
    for k in range(rest):
        row = spare[k]
        what[row] = 0
        for e in range(ends.shape[0]):
            if (found[row, 0] & aims[e, 0, 0]) != aims[e, 1, 0]:
                continue
            aimed = True
            for w in range(1, found.shape[1]):
                aimed &= (found[row, w] & aims[e, 0, w]) == aims[e, 1, w]
            if aimed and holds_many(found, row, ends[e, 1], ends[e, 2], tests, allow, lay):
                what[row] = ends[e, 0]
                break


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
