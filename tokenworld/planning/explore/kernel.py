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
    kind_of,
    mixed,
    same,
)

__all__ = ["CROWDED", "FULL", "connect", "expand", "in_order", "look_up", "onward", "rehash"]

FULL, CROWDED = 1, 2
"""Why expanding stopped: no room for more states, or for what follows one of them."""
_BATCH = 512
_GOAL, _LOST, _BROKEN = 1, 2, 4
_ZERO = np.uint64(0)


# ---- the table ----------------------------------------------------------------------------------


@compiled
def look_up(m: int, states: Words, table: Words, scratch: Words) -> None:
    """Find the first place of each listed state in the table, and its number if it is there.

    No look waits for the one before it: the memory answers many at once.
    """
    found, _, _, places, known, _, _, _ = scratch
    size = np.int64(table.shape[0] - 1)
    if found.shape[1] == 1:
        for i in range(m):
            places[i] = np.int64(mixed(SEED, found[i, 0])) & size
        for i in range(m):
            known[i] = table[places[i]]
        for i in range(m):  # no branch here: half of the guesses about it would be wrong
            at = known[i]
            there = at - 1 if at > 0 else 0
            known[i] = at if (states[there, 0] == found[i, 0]) & (at > 0) else 0
        return
    for i in range(m):
        places[i] = np.int64(hashed(found, i)) & size
    for i in range(m):
        at = table[places[i]]
        known[i] = at if at != 0 and same(states, at - 1, found, i) else 0


@compiled
def onward(p: Words, states: Words, table: Words, rows: Words, row: int) -> Words:
    """Where a state is in the table, or would be, from place ``p`` on."""
    size = np.int64(table.shape[0] - 1)
    while table[p] != 0 and not same(states, table[p] - 1, rows, row):
        p = (p + 1) & size
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
    found, _, heads, places, known, _, _, _ = scratch
    size = np.int64(table.shape[0] - 1)
    stops, ending = world[10][1] != _ZERO, world[9].shape[0] > 0
    while head < n and head < until and (count[3] < 0 or not stops):
        m, first = 0, head
        while head < n and head < until and m < _BATCH:
            if kinds[head] == 0:
                if width == 1:
                    more = follow_one(states[head, 0], m, scratch, world)
                else:
                    more = follow_many(states, head, m, scratch, world)
                if more < 0:
                    break
                for i in range(m, more):
                    heads[i] = head
                m = more
            head += 1
        if head == first:
            return CROWDED
        if n + m > room:
            return FULL
        look_up(m, states, table, scratch)
        done = m
        for i in range(m):
            if i >= done:
                break
            if known[i] != 0:
                continue
            p = places[i]
            if width == 1:
                x = found[i, 0]
                while table[p] != 0 and states[table[p] - 1, 0] != x:
                    p = (p + 1) & size
            else:
                p = onward(p, states, table, found, i)
            if table[p] != 0:
                continue
            for w in range(width):
                states[n, w] = found[i, w]
            kind = kind_of(found, i, world) if ending else 0
            parents[n], kinds[n] = heads[i], kind
            n += 1
            table[p] = n
            if kind == _GOAL and count[3] < 0:
                count[3] = n - 1
                if stops:  # what follows the same state still counts, what follows others does not
                    head, done = heads[i] + 1, i + 1
                    while done < m and heads[done] == heads[i]:
                        done += 1
            if kind >= _BROKEN:
                count[4] += 1
        count[0], count[1] = n, head
        count[2] += done
    return 0


@compiled
def rehash(states: Words, count: int, table: Words) -> None:
    """File the first ``count`` states, no two of which are equal, in an empty table."""
    size = np.int64(table.shape[0] - 1)
    for number in range(count):
        found = SEED
        for w in range(states.shape[1]):
            found = mixed(found, states[number, w])
        p = np.int64(found) & size
        while table[p] != 0:
            p = (p + 1) & size
        table[p] = number + 1


# ---- with the edges -----------------------------------------------------------------------------


@compiled
def in_order(first: int, last: int, ranks: Words, found: Words, numbers: Words) -> None:
    """Sort a part of the list by what was done, as the interpreter lists it."""
    for i in range(first, last):
        numbers[i] = ranks[numbers[i]]
    for i in range(first + 1, last):
        j = i
        while j > first and numbers[j - 1] > numbers[j]:
            numbers[j - 1], numbers[j] = numbers[j], numbers[j - 1]
            for w in range(found.shape[1]):
                found[j - 1, w], found[j, w] = found[j, w], found[j - 1, w]
            j -= 1


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
    ranks: Words,
    ends: Words,
    steps: Words,
    targets: Words,
    places: Words,
    scratch: Words,
    world: Words,
) -> int:
    """Expand states as `expand` does up to ``most`` states, and keep the edges.

    Those of state n stand at ``ends[n]`` up to ``ends[n + 1]``: what is done (its rank) and where
    it leads, in the order of ranks, so that states are numbered as the interpreter would number
    them. ``places`` tells which edge of its parent a state was found by.
    """
    n, head, room, width = count[0], count[1], states.shape[0], states.shape[1]
    found, numbers, heads, spots, known, _, _, _ = scratch
    while head < n and head < until and n < most:
        m, first = 0, head
        while head < n and head < until and m < _BATCH:
            if kinds[head] != _LOST and (past_goal or kinds[head] != _GOAL):
                if width == 1:
                    more = follow_one(states[head, 0], m, scratch, world)
                else:
                    more = follow_many(states, head, m, scratch, world)
                if more < 0:
                    break
                in_order(m, more, ranks, found, numbers)
                for i in range(m, more):
                    heads[i] = head
                m = more
            head += 1
        if head == first:
            return CROWDED
        if n + m > room or count[2] + m > targets.shape[0]:
            return FULL
        look_up(m, states, table, scratch)
        edge, node, i = count[2], first, 0
        while node < head and n < most:
            while i < m and heads[i] == node:
                at = known[i]
                if at == 0:
                    p = onward(spots[i], states, table, found, i)
                    at = table[p]
                    if at == 0:
                        for w in range(width):
                            states[n, w] = found[i, w]
                        parents[n], kinds[n] = node, kind_of(found, i, world)
                        places[n] = edge - ends[node]
                        n += 1
                        table[p] = at = n
                steps[edge], targets[edge] = numbers[i], at - 1
                edge, i = edge + 1, i + 1
            node += 1
            ends[node] = edge
        head = node
        count[0], count[1], count[2] = n, head, edge
    return 0
