"""How far states are from others, backwards over the edges of a graph.

Large graphs of packed states are turned around by the compiled explorer where numba is installed;
the plain way gives the same numbers.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

from tokenworld.ground import StateT
from tokenworld.planning.explore.installed import available, loaded
from tokenworld.planning.space.graph import Graph, Node
from tokenworld.planning.space.packed_graph import PackedGraph

__all__ = ["FAR", "backwards", "distances"]

FAR = -1
"""The distance of a state from which there is no way."""
_LARGE = 100_000
"""So many edges make it worth the while to turn arrays around, where what compiles is loaded."""
_WORTH_LOADING = 1_000_000
"""So many make it worth the while to load it: that takes as long as the plain way with these."""


def backwards(graph: Graph[StateT], ends: Sequence[Iterable[Node]]) -> list[array[int]]:
    """For each collection of nodes, the least number of edges from every node to one of them."""
    if isinstance(graph, PackedGraph) and _pays(graph.edges):
        return compiled_backwards(graph, ends)
    sources = graph.sources()
    return [distances(sources, one) for one in ends]


def _pays(edges: int) -> bool:
    return edges >= (_LARGE if loaded() else _WORTH_LOADING) and available()


def distances(sources: list[list[Node]], ends: Iterable[Node]) -> array[int]:
    """The least number of edges from each node to one of ``ends``, `FAR` if there is no way."""
    found = array("q", [FAR]) * len(sources)
    layer = list(ends)
    for node in layer:
        found[node] = 0
    far = 0
    while layer:
        far += 1
        layer = [s for node in layer for s in sources[node] if found[s] == FAR]
        layer = list(dict.fromkeys(layer))
        for node in layer:
            found[node] = far
    return found


def compiled_backwards(
    graph: PackedGraph[StateT], ends: Sequence[Iterable[Node]]
) -> list[array[int]]:
    """What `backwards` finds, compiled."""
    import numpy as np

    from tokenworld.planning.space.kernel_back import nearest, turned_around

    arrows, size = graph.arrows, len(graph)
    found: list[array[int]] = []
    begins, sources = turned_around(
        np.frombuffer(arrows.ends, np.uint64).astype(np.int64),
        _as_words(arrows.targets),
        size,
    )
    for one in ends:
        wanted = np.zeros(size, np.uint8)
        wanted[list(one)] = 1
        far = array("q")
        far.frombytes(nearest(begins, sources, wanted).astype(np.int64).tobytes())
        found.append(far)
    return found


def _as_words(numbers: array[int]) -> Any:
    """The numbers of an `array`, of 32 bits each."""
    import numpy as np

    return np.frombuffer(numbers, np.dtype(numbers.typecode)).astype(np.uint32)
