"""Which states are won, winnable, dead or undecided, and how far each is from the goal.

Chance is the planner's choice here: a state is winnable if some luck and some commands win. In a
partial graph a state counts as dead only if nothing unexplored can be reached from it.
"""

from __future__ import annotations

from array import array
from fractions import Fraction
from typing import Generic, Literal

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import StateT
from tokenworld.planning.space.closure import FAR, backwards
from tokenworld.planning.space.graph import Graph, Node, StepTo

__all__ = ["FAR", "Branching", "Partition", "Place", "partition"]

Place = Literal["won", "winnable", "dead", "undecided"]


@frozen
class Branching:
    """How many commands lead on from a state; states where play has ended do not count."""

    states: int
    moves: int
    most: int

    @property
    def mean(self) -> Fraction:
        return Fraction(self.moves, self.states) if self.states else Fraction(0)


@frozen
class Partition(Generic[StateT]):
    """What can become of each state.

    ``distance[n]``: the least number of commands from node n to the goal, `FAR` if none is known.
    ``places[n]``: see `Place`. ``closed[n]``: nothing unexplored follows node n.
    ``settled``: whether the distance of the start is known to be the least, so that ``solutions``
    counts all shortest solutions.
    """

    graph: Graph[StateT]
    distance: array[int]
    places: tuple[Place, ...]
    closed: tuple[bool, ...]
    solutions: int
    settled: bool
    branching: Branching

    def count(self, place: Place) -> int:
        return self.places.count(place)

    @property
    def lost(self) -> int:
        """How many dead states are announced: a `lose` line, or another end of play."""
        return sum(self.graph.lost)

    @property
    def steps(self) -> int | None:
        """The length of a shortest solution, in commands."""
        return None if self.distance[0] == FAR else self.distance[0]

    def solution(self) -> tuple[StepTo, ...]:
        """A shortest solution: the one that was found first; empty if there is none."""
        won = self.graph.won.find(1)
        return self.graph.path(won) if won >= 0 else ()

    def histogram(self) -> dict[int, int]:
        """How many states are how far from the goal."""
        found: dict[int, int] = {}
        for far in self.distance:
            if far != FAR:
                found[far] = found.get(far, 0) + 1
        return dict(sorted(found.items()))


def partition(graph: Graph[StateT]) -> Partition[StateT]:
    """Sort all states of a graph by what can become of them."""
    won = [node for node in graph.nodes() if graph.won[node]]
    unknown = [node for node in graph.nodes() if _unknown(graph, node)]
    distance, maybe = backwards(graph, (won, unknown))
    places = tuple(_place(graph, node, distance[node], maybe[node]) for node in graph.nodes())
    far = distance[0]
    settled = graph.trusted and (graph.expanded == len(graph) or graph.depth[graph.expanded] >= far)
    solutions = _solutions(graph, distance) if far != FAR else 0
    closed = tuple(far == FAR for far in maybe)
    settled = settled and far != FAR
    return Partition(graph, distance, places, closed, solutions, settled, _branching(graph))


def _unknown(graph: Graph[StateT], node: Node) -> bool:
    """Whether something may follow a node that the graph does not show."""
    if graph.won[node] or graph.lost[node]:
        return False
    return graph.open(node) or not graph.trusted


def _place(graph: Graph[StateT], node: Node, far: int, maybe: int) -> Place:
    if graph.won[node]:
        return "won"
    if far != FAR:
        return "winnable"
    return "dead" if maybe == FAR else "undecided"


def _solutions(graph: Graph[StateT], distance: array[int]) -> int:
    """How many shortest sequences of commands, with their luck, lead from the start to the goal."""
    counts = {0: 1}
    for wanted in range(distance[0] - 1, -1, -1):
        nearer: dict[Node, int] = {}
        for node, ways in counts.items():
            for _, _, target in graph.outcomes(node):
                if distance[target] == wanted:
                    nearer[target] = nearer.get(target, 0) + ways
        counts = nearer
    return sum(counts.values())


def _branching(graph: Graph[StateT]) -> Branching:
    inner = [found for node in range(graph.expanded) if (found := graph.choices(node))]
    return Branching(len(inner), sum(inner), max(inner, default=0))
