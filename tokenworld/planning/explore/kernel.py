"""The compiled explorer: all states breadth first, and a table in which they are found again.

This module needs numba. States are expanded by the batch: what follows some of them is listed
first, then looked up in the table all together, so that the memory is asked for many places at
once. Numbers of states are kept in the table, the states themselves apart: 8 bytes a word, and 13
to 21 for the table, the parent and what a state is.
"""

from __future__ import annotations

import numpy as np

from tokenworld.planning.explore.stepping import (
    SEED,
    Words,
    compiled,
    follow_many,
    follow_one,
    hashed,
    judge,
    mixed,
    same,
)

__all__ = ["CROWDED", "FULL", "connect", "expand", "in_order", "look_up", "onward", "rehash"]

FULL, CROWDED = 1, 2
"""Why expanding stopped: no room for more states, or for what follows one of them."""
_GOAL, _LOST, _BROKEN = 1, 2, 4
_ENDS = 0b11110
"""All kinds of states at which play does not go on."""
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_NONE, _FIRST = np.uint32(0), np.uint32(1)


# ---- the table ----------------------------------------------------------------------------------


@compiled
def look_up(m: int, states: Words, table: Words, scratch: Words) -> None:
    """Find the first place of each listed state in the table, and its number if it is there.

    No look waits for the one before it: the memory answers many at once.
    """
    found, places, known = scratch[0], scratch[3], scratch[4]
    size = np.uint64(table.shape[0] - 1)
    if found.shape[1] == 1:
        for i in range(m):
            places[i] = mixed(SEED, found[i, 0]) & size
        for i in range(m):
            known[i] = table[places[i]]
        for i in range(m):  # no branch here: half of the guesses about it would be wrong
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
    """List those of the listed states that were not found at once, by their places in the list;
    how many there are."""
    known, spare, rest = scratch[4], scratch[9], 0
    for i in range(m):  # no branch here either
        spare[rest] = i
        rest += known[i] == 0
    return rest


@compiled
def onward(p: Words, states: Words, table: Words, rows: Words, row: int) -> Words:
    """Where a state is in the table, or would be, from place ``p`` on."""
    size = np.uint64(table.shape[0] - 1)
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
    size = np.uint64(table.shape[0] - 1)
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
            p = places[i]
            if width == 1:
                x = found[i, 0]
                while table[p] != 0 and states[table[p] - _FIRST, 0] != x:
                    p = (p + _ONE) & size
            else:
                p = onward(p, states, table, found, i)
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
    """File the first ``count`` states, no two of which are equal, in an empty table."""
    size = np.uint64(table.shape[0] - 1)
    for number in range(count):
        p = hashed(states, number) & size
        while table[p] != 0:
            p = (p + _ONE) & size
        table[p] = number + 1


# ---- with the edges -----------------------------------------------------------------------------


@compiled
def in_order(first: int, last: int, found: Words, numbers: Words) -> None:
    """Sort a part of the list by what was done, as the interpreter lists it."""
    for i in range(first + 1, last):
        j = i
        while j > first and numbers[j - 1] > numbers[j]:
            numbers[j - 1], numbers[j] = numbers[j], numbers[j - 1]
            for w in range(found.shape[1]):
                found[j - 1, w], found[j, w] = found[j, w], found[j - 1, w]
            j -= 1


@compiled
def ordered(m: int, heads: Words, numbers: Words) -> bool:
    """Whether the list is in this order already, as it is where one block has all operators."""
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
    """Expand states as `expand` does up to ``most`` states, and keep the edges.

    Those of state n stand at ``ends[n]`` up to ``ends[n + 1]``: what is done and where it leads, in
    the order in which the interpreter lists what can be done, so that states are numbered as it
    would number them.
    """
    n, head, room, width = count[0], count[1], states.shape[0], states.shape[1]
    found, numbers, heads, places, known, _, _, _, stops, spare, what = scratch
    size = np.uint64(table.shape[0] - 1)
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
            p = places[i]
            if width == 1:
                x = found[i, 0]
                while table[p] != 0 and states[table[p] - _FIRST, 0] != x:
                    p = (p + _ONE) & size
            else:
                p = onward(p, states, table, found, i)
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
