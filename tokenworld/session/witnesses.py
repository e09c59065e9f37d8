"""The states that have to be looked at to answer a question about all states of a graph.

Of packed states that agree in the bits which decide the question (`planning.explore.parts`) one is
enough; in a graph made by the interpreter, of those that agree in the columns which decide it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from tokenworld.engine import State
from tokenworld.ground import Raw
from tokenworld.model import Action, Binder, Term, binder_terms
from tokenworld.planning.space.graph import Graph, Node
from tokenworld.planning.space.packed_graph import PackedGraph

__all__ = ["Witnesses", "told_apart"]


Told = Callable[[Iterable[Term]], Callable[[Hashable], Hashable] | None]
"""What of a mark terms can tell apart; ``None`` where that is not known."""


class Witnesses:
    """The states of a graph, as far as questions need them.

    ``playing`` are the nodes in which play goes on and what follows is known; ``told`` knows what
    the marks of an interpreted graph are made of.
    """

    def __init__(self, graph: Graph[State], playing: Sequence[Node], told: Told) -> None:
        self._graph, self._playing, self.told = graph, playing, told
        self.total = len(playing)

    def of_condition(self, term: Term, params: tuple[Binder, ...]) -> Iterator[State]:
        """States for the question for which bindings a condition ever holds between two ticks."""
        graph = self._graph
        if isinstance(graph, PackedGraph):
            return self._packed(graph, graph.nodes(), graph.world.parts.condition(term, params))
        return self._interpreted((term, *binder_terms(params)))

    def any(self) -> Iterator[State]:
        """States for the question what ever exists."""
        graph = self._graph
        if isinstance(graph, PackedGraph):  # nothing is created in a packed world
            return self._packed(graph, graph.nodes(), 0)
        return self._interpreted(())

    def playing(self) -> Iterator[tuple[Hashable, State]]:
        """All states in which play goes on, with their marks, ``None`` in a packed graph."""
        graph = self._graph
        for node in self._playing:
            yield graph.marks[node] if graph.marks else None, graph.states[node]

    def of_requires(self, action: Action, args: tuple[Raw, ...]) -> Iterator[State] | None:
        """States for the question how the requires of a command ever stand; ``None``: all."""
        graph = self._graph
        if not isinstance(graph, PackedGraph):
            return None
        mask = graph.world.parts.requires(action, args)
        return None if mask is None else self._packed(graph, self._playing, mask)

    def _packed(
        self, graph: PackedGraph[State], nodes: Iterable[Node], mask: int | None
    ) -> Iterator[State]:
        chosen = nodes if mask is None else told_apart(graph, nodes, mask)
        return (graph.states[node] for node in chosen)

    def _interpreted(self, terms: tuple[Term, ...]) -> Iterator[State]:
        """One state of each kind that terms tell apart."""
        graph, told = self._graph, self.told(terms)
        seen = set[Hashable]()
        for node in graph.nodes():
            kind = node if told is None else told(graph.marks[node])
            if kind not in seen:
                seen.add(kind)
                yield graph.states[node]


def told_apart(graph: PackedGraph[State], nodes: Iterable[Node], mask: int) -> Iterator[Node]:
    """One node of each kind that differs in the bits of ``mask``, the first one."""
    seen: set[int] = set()
    keys = graph.keys
    for node in nodes:
        part = keys[node] & mask
        if part not in seen:
            seen.add(part)
            yield node
