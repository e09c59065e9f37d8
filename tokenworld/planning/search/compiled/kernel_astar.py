"""A* over packed states, compiled: a heap, h-max and h-add, and the expansion loop.

The results are those of `packed.astar.PackedAStar`. This module needs numba.
"""

from __future__ import annotations

import numpy as np

from tokenworld.planning.search.compiled.kernel import (
    CROWDED,
    FULL,
    Words,
    compiled,
    follow_many,
    follow_one,
    in_order,
    kind_of,
    look_up,
    onward,
)
from tokenworld.planning.search.packed.heuristics import FAR

_FAR = np.int64(FAR)
_GOAL, _LOST, _BROKEN, _DONE = 1, 2, 4, 8


# ---- queues -------------------------------------------------------------------------------------


@compiled
def before(queue: Words, one: int, other: int) -> bool:
    """Whether a row of a queue comes before another one."""
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
    """Sift the last row of a binary heap up from ``place``."""
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
