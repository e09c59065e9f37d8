"""The states that have to be looked at to answer a question about all states of a graph.

Of packed states that agree in the bits which decide the question (`planning.explore.parts`) one is
enough; of a graph made by the interpreter every state is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tokenworld.engine import State
from tokenworld.ground import Raw
from tokenworld.model import Action, Binder, Term
from tokenworld.planning.space.graph import Graph, Node
from tokenworld.planning.space.packed_graph import PackedGraph

__all__ = ["Witnesses", "told_apart"]


class Witnesses:
    """The states of a graph, as far as questions need them.

    ``playing`` are the nodes in which play goes on and what follows is known.
    """

    def __init__(self, graph: Graph[State], playing: Sequence[Node]) -> None:
        self._graph, self._playing = graph, playing
        self.total = len(playing)

    def of_condition(self, term: Term, params: tuple[Binder, ...]) -> Iterator[State]:
        """States for the question for which bindings a condition ever holds between two ticks."""
        graph = self._graph
        mask = graph.world.parts.condition(term, params) if isinstance(graph, PackedGraph) else None
        return self._states(graph.nodes(), mask)

    def any(self) -> Iterator[State]:
        """States for the question what ever exists."""
        packed = isinstance(self._graph, PackedGraph)  # nothing is created in a packed world
        return self._states(self._graph.nodes(), 0 if packed else None)

    def playing(self) -> Iterator[State]:
        """All states in which play goes on."""
        return self._states(self._playing, None)

    def of_requires(self, action: Action, args: tuple[Raw, ...]) -> Iterator[State] | None:
        """States for the question how the requires of a command ever stand; ``None``: all."""
        graph = self._graph
        if not isinstance(graph, PackedGraph):
            return None
        mask = graph.world.parts.requires(action, args)
        return None if mask is None else self._states(self._playing, mask)

    def _states(self, nodes: Iterable[Node], mask: int | None) -> Iterator[State]:
        graph = self._graph
        if mask is None or not isinstance(graph, PackedGraph):
            return (graph.states[node] for node in nodes)
        return (graph.states[node] for node in told_apart(graph, nodes, mask))


def told_apart(graph: PackedGraph[State], nodes: Iterable[Node], mask: int) -> Iterator[Node]:
    """One node of each kind that differs in the bits of ``mask``, the first one."""
    seen: set[int] = set()
    keys = graph.keys
    for node in nodes:
        part = keys[node] & mask
        if part not in seen:
            seen.add(part)
            yield node
