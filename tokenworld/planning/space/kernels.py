"""Compiled walks over stored edges and choices (extra `fast`).

Backwards over edges: from where the goal is still in reach, and how far it is. Over choices: which
states are sure, and bounds of what states are worth.
"""

from __future__ import annotations

import numpy as np

from tokenworld.planning.search.compiled.kernel import Words, compiled

__all__ = ["measured", "nearest", "raised", "sure", "turned_around"]

# ---- Backwards over edges -----------------------------------------------------------------------
# This module needs numba. Edges are rows one after the other: those of node n stand at ``ends[n]``
# up to ``ends[n + 1]`` of ``targets``; nodes behind the last row have none.

_BATCH, _NEXT = 256, np.uint32(1)
_FEW, _MANY = 4, 64
"""So many sources are copied at once, whether there are as many or not; and so many at most."""


def turned_around(ends: Words, targets: Words, size: int) -> Words:
    """The edges the other way round, for ``size`` nodes: where rows begin, and where edges do (a
    few places more than there are edges)."""
    last = int(ends[-1])
    begins = np.zeros(size + 1, np.uint32 if last < 1 << 32 else np.int64)
    sources = np.zeros(last + _FEW, np.uint32)
    turn(ends, targets, begins, sources)
    return begins, sources


@compiled
def turn(ends: Words, targets: Words, begins: Words, sources: Words) -> None:
    """Sort the edges by their targets: how many each has, where its row ends, then from the last
    edge to the first, so that each row comes to begin where it does and to be in order."""
    nodes, total = ends.shape[0] - 1, 0
    for edge in range(ends[nodes]):
        begins[targets[edge]] += 1
    for node in range(begins.shape[0]):
        total += begins[node]
        begins[node] = total
    for node in range(nodes - 1, -1, -1):
        for edge in range(ends[node + 1] - 1, ends[node] - 1, -1):
            target = targets[edge]
            place = begins[target] - 1
            begins[target] = place
            sources[place] = node


@compiled
def noted(node: int, seen: Words, layer: Words, last: int) -> Words:
    """Add a node to the last one of the layers if it is news; how many there are then."""
    news = seen[node] == 0  # a branch would be guessed wrong too often
    seen[node] = 1
    layer[last] = node
    return last + news


def nearest(begins: Words, sources: Words, wanted: Words) -> Words:
    """The least number of edges from each node to one that is wanted, -1 where there is no way."""
    size = len(wanted)
    found, layer = np.full(size, -1, np.int32), np.empty(size + 1, np.uint32)
    reach(begins, sources, wanted, np.zeros(size, np.uint8), layer, found)
    return found


@compiled
def reach(
    begins: Words, sources: Words, wanted: Words, seen: Words, layer: Words, found: Words
) -> None:
    """Go backwards by layers from the nodes that are wanted.

    Nodes are taken by the batch, and no branch has to be guessed for one with few sources: the
    memory is asked for many places at once.
    """
    last, listed = 0, np.empty(_BATCH * _MANY + _FEW, np.uint32)
    for node in range(wanted.shape[0]):
        if wanted[node]:
            last = noted(node, seen, layer, last)
    first, far, end = 0, 0, last
    while first < last:
        if first == end:  # the nodes that are one edge further come next
            far, end = far + 1, last
        until, m = min(end, first + _BATCH), 0
        for k in range(first, until):
            node = layer[k]
            found[node] = far
            begin: Words = np.int64(begins[node])
            many: Words = np.int64(begins[node + _NEXT]) - begin
            if many > _MANY:
                for edge in range(begin, begin + many):
                    last = noted(sources[edge], seen, layer, last)
                continue
            for place in range(_FEW):
                listed[m + place] = sources[begin + place]
            for place in range(_FEW, many):
                listed[m + place] = sources[begin + place]
            m += many
        for i in range(m):
            last = noted(listed[i], seen, layer, last)
        first = until


@compiled
def measured(size: int, ends: Words, steps: Words, targets: Words, free: Words) -> Words:
    """By which edge of its parent each of ``size`` nodes was found, how many moves, and how many
    ticks, lead to it that way; ``free`` moves take none. Nodes are numbered in the order of the
    edges by which they were found."""
    places = np.zeros(size, np.uint32)
    depth, ticks = np.zeros(size, np.int64), np.zeros(size, np.int64)
    node = 1
    for parent in range(ends.shape[0] - 1):
        for edge in range(ends[parent], ends[parent + 1]):
            if node < size and targets[edge] == node:
                places[node] = edge - ends[parent]
                depth[node] = depth[parent] + 1
                ticks[node] = ticks[parent] + (0 if free[steps[edge]] else 1)
                node += 1
    return places, depth, ticks


# ---- Luck over choices --------------------------------------------------------------------------
# This module needs numba. The choices of node n stand at ``choices[n]`` up to ``choices[n + 1]``,
# where choice c leads at ``ends[c]`` up to ``ends[c + 1]`` of ``targets``. With ``size`` nodes,
# ``size`` is the goal and ``size + 1`` the pit.

_NEVER = -1


@compiled
def turned(choices: Words, ends: Words, targets: Words) -> Words:
    """Whose each choice is; for each target the choices that may lead there, in their order."""
    size, count = choices.shape[0] - 1, ends.shape[0] - 1
    owner = np.empty(count, np.int64)
    for node in range(size):
        for choice in range(choices[node], choices[node + 1]):
            owner[choice] = node
    begins = np.zeros(size + 3, np.int64)
    for edge in range(ends[count]):
        begins[targets[edge] + 1] += 1
    for target in range(size + 2):
        begins[target + 1] += begins[target]
    free, found = begins[: size + 2].copy(), np.empty(ends[count], np.int64)
    for choice in range(count):
        for edge in range(ends[choice], ends[choice + 1]):
            found[free[targets[edge]]] = choice
            free[targets[edge]] += 1
    return owner, begins, found


@compiled
def sure(choices: Words, ends: Words, targets: Words) -> Words:
    """What to do in each sure state (-1: it is none), and in which round others were taken out."""
    size = choices.shape[0] - 1
    owner, begins, sources = turned(choices, ends, targets)
    rank, stays = np.full(size + 2, _NEVER, np.int64), np.empty(ends.shape[0] - 1, np.bool_)
    policy, layer = np.empty(size + 2, np.int64), np.empty(size + 1, np.int64)
    round_ = 0
    while True:
        for choice in range(stays.shape[0]):
            stays[choice] = rank[owner[choice]] == _NEVER
            for edge in range(ends[choice], ends[choice + 1]):
                stays[choice] = stays[choice] and rank[targets[edge]] == _NEVER
        policy[:] = _NEVER
        layer[0], first, last = size, 0, 1
        while first < last:
            target = layer[first]
            first += 1
            for place in range(begins[target], begins[target + 1]):
                choice = sources[place]
                node = owner[choice]
                if stays[choice] and policy[node] == _NEVER:
                    policy[node] = choice
                    layer[last] = node
                    last += 1
        gone = 0
        for node in range(size + 2):
            if node != size and rank[node] == _NEVER and policy[node] == _NEVER:
                rank[node] = round_
                gone += 1
        if gone == 0:
            return policy, rank
        round_ += 1


@compiled
def down(value: Words) -> Words:
    return max(np.nextafter(value, -np.inf), 0.0) if value != 0.0 else 0.0


@compiled
def up(value: Words) -> Words:
    return np.nextafter(value, np.inf) if value != 0.0 else 0.0


@compiled
def raised(
    groups: Words,
    members: Words,
    choices: Words,
    ends: Words,
    targets: Words,
    least: Words,
    most: Words,
    low: Words,
    high: Words,
    policy: Words,
    group: int,
    near: float,
    patience: int,
) -> int:
    """Raise lower bounds and lower upper ones, one group after the other from ``group`` on, until
    they are ``near`` each other or do not move any more.

    Every sum is rounded outwards. ``patience`` is how many shares may be looked at; the group that
    is next is returned.
    """
    while group < groups.shape[0] - 1 and patience > 0:
        widest, moved = 0.0, False
        for place in range(groups[group], groups[group + 1]):
            state = members[place]
            best, lowered = low[state], 0.0
            for choice in range(choices[state], choices[state + 1]):
                sum_low = sum_high = 0.0
                for edge in range(ends[choice], ends[choice + 1]):
                    target = targets[edge]
                    sum_low = down(sum_low + down(least[edge] * low[target]))
                    sum_high = up(sum_high + up(most[edge] * high[target]))
                patience -= ends[choice + 1] - ends[choice]
                if sum_low > best:
                    best, policy[state] = sum_low, choice
                lowered = max(lowered, sum_high)
            lowered = min(lowered, high[state])
            moved = moved or best > low[state] or lowered < high[state]
            low[state], high[state] = best, lowered
            widest = max(widest, lowered - best)
            patience -= 1
        if not (moved and widest > near):
            group += 1
    return group
