"""Compiled walks backwards over stored edges: from which states the goal is in reach, and how far.

This module needs numba (extra `fast`).

Edges are rows one after the other: those of node n are ``ends[n]`` up to ``ends[n + 1]`` of
``targets``; nodes after the last row have none.
"""

from __future__ import annotations

import numpy as np

from tokenworld.planning.search.compiled.kernel import Words, compiled, lowest

_NONE, _ONE = np.uint64(0), np.uint64(1)
_WORD, _PLACE, _WORDS, _BLOCK = np.uint64(6), np.uint64(63), np.uint64(4), np.uint64(10)
"""A set of nodes has 64 of them in a word, and 16 words in a block."""


def turned_around(ends: Words, targets: Words, size: int) -> Words:
    """The edges the other way round, for ``size`` nodes: where rows begin, and where edges do."""
    last = int(ends[-1])
    begins = np.zeros(size + 1, np.uint32 if last < 1 << 32 else np.int64)
    sources = np.zeros(last, np.uint32)
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
        last, first = np.uint64(ends[node + 1]), np.uint64(ends[node])
        for back in range(last - first):  # unsigned: no index is tested for being negative
            target = targets[last - _ONE - back]
            begins[target] -= np.uint32(1)
            sources[begins[target]] = node


def nearest(begins: Words, sources: Words, wanted: Words) -> Words:
    """The least number of edges from each node to one that is wanted, -1 where there is no way."""
    found = np.full(len(wanted), -1, np.int32)
    reach(begins, sources, wanted, found)
    return found


@compiled
def reach(begins: Words, sources: Words, wanted: Words, found: Words) -> None:
    """Go backwards by layers from the nodes that are wanted.

    A layer is a bit for each node and a list of the blocks that have some: nodes are taken near
    each other in memory, and the nodes that are written out of order fit in the cache.
    """
    last, far = (wanted.shape[0] >> 10) + 1, -1
    layer, later, done = np.zeros((3, last << 4), np.uint64)
    blocks, news = np.arange(last).astype(np.uint64), np.empty(last, np.uint64)
    seen = np.full(last, -1, np.int32)  # the layer in which a block was listed last
    for one in range(wanted.shape[0]):
        if wanted[one]:
            layer[one >> 6] |= _ONE << (np.uint64(one) & _PLACE)
    while last > 0:
        many, last, far = last, 0, far + 1
        for i in range(many):
            for word in range(blocks[i] << _WORDS, (blocks[i] + _ONE) << _WORDS):
                left = layer[word] & ~done[word]
                layer[word] = _NONE
                done[word] |= left
                while left != _NONE:
                    node = word << _WORD | lowest(left)
                    left &= left - _ONE
                    found[node] = far
                    for edge in range(np.uint64(begins[node]), np.uint64(begins[node + _ONE])):
                        source = np.uint64(sources[edge])
                        later[source >> _WORD] |= _ONE << (source & _PLACE)
                        if seen[source >> _BLOCK] != far:
                            seen[source >> _BLOCK] = far
                            news[last] = source >> _BLOCK
                            last += 1
        layer, later, blocks, news = later, layer, news, blocks


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
