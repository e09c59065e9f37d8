"""Backwards over stored edges, compiled: from where the goal is still in reach, and how far it is.

This module needs numba. Edges are rows one after the other: those of node n stand at ``ends[n]`` up
to ``ends[n + 1]`` of ``targets``; nodes behind the last row have none.
"""

from __future__ import annotations

import numpy as np

from tokenworld.planning.explore.stepping import Words, compiled

__all__ = ["measured", "nearest", "turned_around"]


@compiled
def turned_around(ends: Words, targets: Words, size: int) -> Words:
    """The edges the other way round, for ``size`` nodes: where rows end, and where edges begin."""
    begins = np.zeros(size + 1, np.int64)
    last = ends[ends.shape[0] - 1]
    for edge in range(last):
        begins[targets[edge] + 1] += 1
    for node in range(size):
        begins[node + 1] += begins[node]
    free = begins[:size].copy()
    sources = np.empty(last, np.uint32)
    for node in range(ends.shape[0] - 1):
        for edge in range(ends[node], ends[node + 1]):
            target = targets[edge]
            sources[free[target]] = node
            free[target] += 1
    return begins, sources


@compiled
def nearest(begins: Words, sources: Words, wanted: Words) -> Words:
    """The least number of edges from each node to one that is wanted, -1 where there is no way."""
    size = wanted.shape[0]
    found = np.full(size, -1, np.int64)
    layer = np.empty(size, np.uint32)
    last = 0
    for node in range(size):
        if wanted[node] != 0:
            found[node] = 0
            layer[last] = node
            last += 1
    first = 0
    while first < last:
        node = layer[first]
        first += 1
        for edge in range(begins[node], begins[node + 1]):
            source = sources[edge]
            if found[source] < 0:
                found[source] = found[node] + 1
                layer[last] = source
                last += 1
    return found


@compiled
def measured(parents: Words, places: Words, ends: Words, steps: Words, free: Words) -> Words:
    """How many moves, and how many ticks, lead to each node by its parents; ``free`` moves take
    none."""
    size = parents.shape[0]
    depth, ticks = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for node in range(1, size):
        parent = parents[node]
        step = steps[ends[parent] + places[node]]
        depth[node] = depth[parent] + 1
        ticks[node] = ticks[parent] + (0 if free[step] else 1)
    return depth, ticks
