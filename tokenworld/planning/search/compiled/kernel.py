"""Expansion of packed states, compiled: loops over 64-bit words that serve every world.

This module needs numba: `search` imports it, and only where numba is installed. A world is data
here: a decision tree of operators, the bits that each keeps and puts, the tests of its conditional
effects. States between the phases of a tick are on a small stack; only ends of ticks are listed.
States are expanded in batches: the successors of a batch are listed first and then looked up in the
hash table together, so that many memory accesses overlap. The hash table holds numbers of states,
the states lie apart: 8 bytes a word, and 13 to 21 for the table, the parent and the kind.

Compiled code is kept on disk where that is possible, so that a machine compiles it once. Functions
take plain arrays where they are called often: a tuple costs more than the call.
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

from tokenworld.planning.search.compiled.tables import BATCH, BLOCK
from tokenworld.planning.search.packed.searches import FAR

Words = Any
"""An array of 64-bit words or of indices, or one of its items."""
Function = TypeVar("Function", bound=Callable[..., Any])

_MIX_A, _MIX_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_A, _SHIFT_B = np.uint64(30), np.uint64(27)
_ZERO, _ONE, SEED = np.uint64(0), np.uint64(1), np.uint64(0x9E3779B97F4A7C15)
_EVERY, _NOTHING = np.uint64((1 << 64) - 1), (1 << 31) - 1
_CALLED = ("kernel.py", "tables.py", "../packed/searches.py")
"""The modules from which compiled functions are called, or whose constants are compiled in."""


def compiled(function: Function) -> Function:
    """The function, compiled when first called and cached on disk where that is possible."""
    made: Any
    try:
        made = njit(cache=True, boundscheck=False)(function)
        _stamp(made)
    except RuntimeError:  # no folder that can be written to
        made = njit(boundscheck=False)(function)
    return cast(Function, made)


def _stamp(made: Any) -> None:
    """Bind the cache on disk to the text of all modules that compiled functions call.

    Numba looks at the file of the function alone, and would use outdated code of the others.
    """
    with suppress(AttributeError, OSError):  # nothing is kept, or in another way
        kept = made._cache._cache_file
        kept._source_stamp = (kept._source_stamp, _sources())


@cache
def _sources() -> str:
    files = (Path(__file__).parent / one for one in _CALLED)
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _lowest(typing: Words, word: Words) -> Words:
    """Count trailing zeros, as one instruction of the processor."""

    def made(context: Words, builder: Words, signature: Words, args: Words) -> Words:
        return builder.cttz(args[0], context.get_constant(types.boolean, 1))

    return types.uint64(types.uint64), made


lowest = cast(Callable[[Words], Words], intrinsic(_lowest))
"""The index of the lowest set bit of a word that is not 0."""


@compiled
def mixed(found: Words, word: Words) -> Words:
    """A hash extended by one word (the finalizer of SplitMix64)."""
    found = (found ^ word) * _MIX_A
    found = (found ^ (found >> _SHIFT_A)) * _MIX_B
    return found ^ (found >> _SHIFT_B)


# ---- successors ---------------------------------------------------------------------------------


@compiled
def holds_one(s: Words, first: int, last: int, tests: Words, allow: Words, lay: Words) -> bool:
    """Return whether the tests from ``first`` on hold of a state of one word."""
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
    """Return whether the tests from ``first`` on hold of a row of ``rows`` (several words)."""
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
    """List the successors of states of one word, from number ``head`` on, up to a full batch.

    Returns the number of successors and the first state that was not expanded: ``head`` itself
    where its successors do not fit. Each successor has its command's operator (the lowest number:
    `search.Tables` puts those of phases last) and its parent; ``stops`` holds the end of the list
    for each expanded state. States of the ``skipped`` kinds, a bit for each, have no successors.
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
    """As `follow_one` for states of several words; the token is in the first word."""
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
    """The kind of a state: 0 where play goes on."""
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
    """Set the kinds of the first ``rest`` new states, as `kind_of` does."""
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


# ---- single states ------------------------------------------------------------------------------


@compiled
def hashed(rows: Words, row: int) -> Words:
    """The hash of a state."""
    found = SEED
    for w in range(rows.shape[1]):
        found = mixed(found, rows[row, w])
    return found


@compiled
def same(states: Words, number: int, rows: Words, row: int) -> bool:
    """Return whether this is the state of that number."""
    for w in range(rows.shape[1]):  # noqa: SIM110 (a generator cannot be compiled)
        if states[number, w] != rows[row, w]:
            return False
    return True


FULL, CROWDED = 1, 2
"""Why expansion stopped: no rows for more states, or for the successors of one state."""
_GOAL, _LOST, _BROKEN, _DONE = 1, 2, 4, 8
_ENDS = 0b11110
"""All kinds of states at which play has ended, as bits."""
_NONE, _FIRST = np.uint32(0), np.uint32(1)


# ---- the hash table -----------------------------------------------------------------------------


@compiled
def look_up(m: int, states: Words, table: Words, scratch: Words) -> None:
    """Find the first place of each listed state in the hash table, and its number if it is there.

    The look-ups are independent of each other, so that memory accesses overlap.
    """
    found, places, known = scratch[0], scratch[3], scratch[4]
    size = np.uint64(table.shape[0] - 1)
    if found.shape[1] == 1:
        for i in range(m):
            places[i] = mixed(SEED, found[i, 0]) & size
        for i in range(m):
            known[i] = table[places[i]]
        for i in range(m):  # without a branch: half of them would be mispredicted
            at = known[i]
            there = at - _FIRST if at > 0 else _NONE
            known[i] = at if (states[there, 0] == found[i, 0]) & (at > 0) else _NONE
        return
    for i in range(m):
        places[i] = hashed(found, i) & size
    for i in range(m):
        at = table[places[i]]
        known[i] = at if at != 0 and same(states, at - _FIRST, found, i) else _NONE


@compiled
def unknown(m: int, scratch: Words) -> int:
    """List the states that were not found at their first place; the number of them."""
    known, spare, rest = scratch[4], scratch[9], 0
    for i in range(m):  # without a branch
        spare[rest] = i
        rest += known[i] == 0
    return rest


@compiled
def onward(p: Words, states: Words, table: Words, rows: Words, row: int) -> Words:
    """The place of a state in the hash table, or the free place for it, from ``p`` on."""
    size = np.uint64(table.shape[0] - 1)
    if states.shape[1] == 1:
        word = rows[row, 0]
        while table[p] != 0 and states[table[p] - _FIRST, 0] != word:
            p = (p + _ONE) & size
        return p
    while table[p] != 0 and not same(states, table[p] - _FIRST, rows, row):
        p = (p + _ONE) & size
    return p


@compiled
def expand(
    states: Words,
    parents: Words,
    kinds: Words,
    table: Words,
    count: Words,
    until: int,
    scratch: Words,
    world: Words,
) -> int:
    """Expand states from number ``count[1]`` up to ``until`` or to a goal.

    ``count`` holds how many states there are, how many are expanded, how many were generated, the
    number of a won state (-1: none), and how many states are none because an invariant is broken.
    Returns `FULL` or `CROWDED` where room is short, else 0.
    """
    n, head, room, width = count[0], count[1], states.shape[0], states.shape[1]
    found, _, heads, places, _, _, _, _, stops, spare, what = scratch
    to_goal, ending = world[15][1] != _ZERO, world[13].shape[0] > 0
    while head < n and head < until and (count[3] < 0 or not to_goal):
        first, last = head, min(n, until)
        if width == 1:
            m, head = follow_one(states, kinds, head, last, _ENDS, scratch, world)
        else:
            m, head = follow_many(states, kinds, head, last, _ENDS, scratch, world)
        if head == first:
            return CROWDED
        if n + m > room:
            return FULL
        look_up(m, states, table, scratch)
        done, rest = m, unknown(m, scratch)
        if ending:
            judge(rest, scratch, world)
        for k in range(rest):
            i = spare[k]
            if i >= done:
                break
            p = onward(places[i], states, table, found, i)
            if table[p] != 0:
                continue
            for w in range(width):
                states[n, w] = found[i, w]
            parents[n] = heads[i]
            n += 1
            table[p] = n
            if ending:
                kind = kinds[n - 1] = what[i]
                if kind == _GOAL and count[3] < 0:
                    count[3] = n - 1
                    if to_goal:  # what follows the same state still counts, and no other
                        done, head = stops[heads[i] - first], heads[i] + 1
                count[4] += kind >= _BROKEN
        count[0], count[1] = n, head
        count[2] += done
    return 0


@compiled
def rehash(states: Words, count: int, table: Words) -> None:
    """Enter the first ``count`` states, all different, into an empty hash table."""
    size = np.uint64(table.shape[0] - 1)
    for number in range(count):
        p = hashed(states, number) & size
        while table[p] != 0:
            p = (p + _ONE) & size
        table[p] = number + 1


# ---- expansion with edges -----------------------------------------------------------------------


@compiled
def in_order(first: int, last: int, found: Words, numbers: Words) -> None:
    """Sort a part of the list by operator, the order in which the interpreter lists successors."""
    for i in range(first + 1, last):
        j = i
        while j > first and numbers[j - 1] > numbers[j]:
            numbers[j - 1], numbers[j] = numbers[j], numbers[j - 1]
            for w in range(found.shape[1]):
                found[j - 1, w], found[j, w] = found[j, w], found[j - 1, w]
            j -= 1


@compiled
def ordered(m: int, heads: Words, numbers: Words) -> bool:
    """Return whether the list is in that order already."""
    wrong = 0
    for i in range(1, m):
        wrong += (heads[i] == heads[i - 1]) & (numbers[i] < numbers[i - 1])
    return wrong == 0


@compiled
def connect(
    states: Words,
    parents: Words,
    kinds: Words,
    table: Words,
    count: Words,
    until: int,
    most: int,
    past_goal: bool,
    ends: Words,
    steps: Words,
    targets: Words,
    scratch: Words,
    world: Words,
) -> int:
    """Expand up to ``most`` states as `expand` does, and keep the edges.

    Those of state n are ``ends[n]`` up to ``ends[n + 1]``: operator and target, in the order of the
    interpreter, so that both number the states alike.
    """
    n, head, room, width = count[0], count[1], states.shape[0], states.shape[1]
    found, numbers, heads, places, known, _, _, _, stops, spare, what = scratch
    skipped = 1 << _LOST if past_goal else 1 << _LOST | 1 << _GOAL
    while head < n and head < until and n < most:
        first, last, edge = head, min(n, until), count[2]
        if width == 1:
            m, head = follow_one(states, kinds, head, last, skipped, scratch, world)
        else:
            m, head = follow_many(states, kinds, head, last, skipped, scratch, world)
        if head == first:
            return CROWDED
        if n + m > room or edge + m > targets.shape[0]:
            return FULL
        for j in range(head - first):
            ends[first + j + 1] = edge + stops[j]
        if not ordered(m, heads, numbers):
            start = 0
            for j in range(head - first):
                in_order(start, stops[j], found, numbers)
                start = stops[j]
        look_up(m, states, table, scratch)
        done, rest = m, unknown(m, scratch)
        judge(rest, scratch, world)
        for k in range(rest):
            i = spare[k]
            if i >= done:
                break
            p = onward(places[i], states, table, found, i)
            if table[p] == 0:
                for w in range(width):
                    states[n, w] = found[i, w]
                node = parents[n] = heads[i]
                kinds[n] = what[i]
                n += 1
                table[p] = n
                if n == most:
                    done, head = stops[node - first], node + 1
            known[i] = table[p]
        for i in range(done):
            steps[edge + i], targets[edge + i] = numbers[i], known[i] - _FIRST
        count[0], count[1], count[2] = n, head, edge + done
    return 0


# ---- A* -----------------------------------------------------------------------------------------
# A heap, h-max and h-add, and the expansion loop. The results are those of `PackedAStar`.

_FAR = np.int64(FAR)


# ---- queues -------------------------------------------------------------------------------------


@compiled
def before(queue: Words, one: int, other: int) -> bool:
    """Return whether a row of a queue comes before another one."""
    for k in range(queue.shape[1]):
        if queue[one, k] != queue[other, k]:
            return bool(queue[one, k] < queue[other, k])
    return False


@compiled
def swap(queue: Words, one: int, other: int) -> None:
    for k in range(queue.shape[1]):
        queue[one, k], queue[other, k] = queue[other, k], queue[one, k]


@compiled
def risen(queue: Words, place: int) -> None:
    """Move the last row of a binary heap up from ``place`` to where it belongs."""
    while place > 0 and before(queue, place, (place - 1) >> 1):
        swap(queue, place, (place - 1) >> 1)
        place = (place - 1) >> 1


@compiled
def without_first(queue: Words, size: int) -> int:
    """Remove the first of ``size`` rows of a binary heap; the number of rows left."""
    size -= 1
    swap(queue, 0, size)
    place = 0
    while 2 * place + 1 < size:
        least = 2 * place + 1
        if least + 1 < size and before(queue, least + 1, least):
            least += 1
        if not before(queue, least, place):
            break
        swap(queue, place, least)
        place = least
    return size


# ---- heuristics ---------------------------------------------------------------------------------


@compiled
def price_of_goal(rows: Words, row: int, add: bool, lay: Words, relaxed: Words) -> Words:
    """The heuristic value of a state: `heuristics.Relaxed.value`, compiled."""
    firsts, ends, counts, weights, gives_at, gives, uses_at, uses, prices, left, sums, queue = (
        relaxed
    )
    always, goal = ends[0], ends[1]
    prices[:] = _FAR
    left[:] = counts
    sums[:] = 0
    size = 0
    for v in range(firsts.shape[0] + 1):
        fact = always
        if v < firsts.shape[0]:
            word = rows[row, np.int64(lay[v, 0])]
            fact = firsts[v] + np.int64((word >> lay[v, 1]) & lay[v, 2])
        prices[fact] = 0
        queue[size, 0], queue[size, 1] = 0, fact
        size += 1
    while size > 0:
        price, fact = queue[0, 0], queue[0, 1]
        size = without_first(queue, size)
        if price > prices[fact]:
            continue
        if fact == goal:
            return price
        for u in range(uses_at[fact], uses_at[fact + 1]):
            rule = uses[u]
            sums[rule] = min(sums[rule] + price, _FAR) if add else price
            left[rule] -= 1
            if left[rule] == 0:
                reached = min(sums[rule] + weights[rule], _FAR)
                for g in range(gives_at[rule], gives_at[rule + 1]):
                    given = gives[g]
                    if reached < prices[given]:
                        prices[given] = reached
                        queue[size, 0], queue[size, 1] = reached, given
                        risen(queue, size)
                        size += 1
    return _FAR


# ---- A* -----------------------------------------------------------------------------------------


@compiled
def enqueue(
    node: int, parent: int, total: Words, parents: Words, paid: Words, ahead: Words, queue: Words,
    count: Words,
) -> None:  # fmt: skip
    """Put a state on the heap that costs ``total`` by way of ``parent``."""
    parents[node], paid[node] = parent, total
    last = count[5]
    queue[last, 0], queue[last, 1], queue[last, 2] = total + ahead[node], ahead[node], node
    risen(queue, last)
    count[5] = last + 1


@compiled
def ahead_of(row: int, kind: int, mode: int, scratch: Words, world: Words, relaxed: Words) -> Words:
    """The heuristic value of a listed state; 0 where play has ended or without a heuristic."""
    if kind != 0 or mode == 0:
        return np.int64(0)
    return price_of_goal(scratch[0], row, mode == 2, world[12], relaxed)


@compiled
def advance(
    states: Words,
    parents: Words,
    kinds: Words,
    table: Words,
    paid: Words,
    ahead: Words,
    queue: Words,
    count: Words,
    times: int,
    mode: int,
    weights: Words,
    scratch: Words,
    world: Words,
    relaxed: Words,
) -> int:
    """Expand so many states, the most promising ones first, or stop at a goal.

    ``mode``: 0 without a heuristic, 1 h-max, 2 h-add. ``count`` holds what `kernel.expand` says
    and then how many states wait and how many are hopeless. Returns `FULL` or `CROWDED` where room
    is short, else 0.
    """
    found, numbers, _, places, known = scratch[:5]
    while times > 0 and count[5] > 0 and count[3] < 0:
        node = queue[0, 2]
        kind, m, n = kinds[node], 0, count[0]
        if kind >= _DONE:
            count[5] = without_first(queue, count[5])
            continue
        if kind == _GOAL:
            count[3] = node
            break
        if kind == 0:
            if states.shape[1] == 1:
                m, after = follow_one(states, kinds, node, node + 1, 0, scratch, world)
            else:
                m, after = follow_many(states, kinds, node, node + 1, 0, scratch, world)
            if after == node:
                return CROWDED
        if n + m > states.shape[0] or count[5] + m > queue.shape[0]:
            return FULL
        count[5] = without_first(queue, count[5])
        kinds[node], times = kind | _DONE, times - 1
        count[1] += kind != _LOST
        count[2] += m
        in_order(0, m, found, numbers)
        look_up(m, states, table, scratch)
        for i in range(m):
            total, p = paid[node] + weights[numbers[i]], places[i]
            if known[i] == 0:
                p = onward(p, states, table, found, i)
            at = known[i] if known[i] != 0 else table[p]
            if at != 0:
                if kinds[at - 1] < _DONE and total < paid[at - 1]:
                    enqueue(at - 1, node, total, parents, paid, ahead, queue, count)
                continue
            states[n] = found[i]
            kind = kind_of(found, i, world)
            far = ahead_of(i, kind, mode, scratch, world, relaxed)
            parents[n], paid[n], ahead[n], kinds[n] = node, total, far, kind
            if kind >= _BROKEN or far >= _FAR:
                kinds[n] = kind | _DONE
                count[4] += kind >= _BROKEN
                count[6] += far >= _FAR
            else:
                enqueue(n, node, total, parents, paid, ahead, queue, count)
            n += 1
            table[p] = n
        count[0] = n
    return 0
