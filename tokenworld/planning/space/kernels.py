"""Compiled walks backwards over stored edges: from which states the goal is in reach, and how far.

This module needs numba (extra `fast`).

Edges are rows one after the other: those of node n are ``ends[n]`` up to ``ends[n + 1]`` of
``targets``; nodes after the last row have none.
"""

from __future__ import annotations

import numpy as np

from tokenworld.planning.search.compiled.kernel import Words, compiled

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
    """Sort the edges by their targets: count those of each, compute the end of its row, then fill
    from the last edge to the first, so that each row is in order."""
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
