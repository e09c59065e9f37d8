"""Strongly connected components, and the one-way doors between them.

States of one component can all be reached from each other: nothing done there is final. A move
from one component to another cannot be undone.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import StateT
from tokenworld.planning.space.graph import Graph, Node


@frozen
class Door:
    """An action that leads, at least sometimes, to where there is no way back.

    ``crossings`` of its ``edges`` do so. ``node``, ``move`` and ``outcome`` are an example, one
    that comes as early as any; ``action`` is empty for `pass`.
    """

    action: str
    crossings: int
    edges: int
    node: Node
    move: int
    outcome: int


def components(graph: Graph[StateT]) -> tuple[array[int], int]:
    """The number of the component of each node, and how many there are.

    Numbers are a reverse topological order: an edge never leads to a higher number.
    """
    found = array("q", [-1]) * len(graph)
    count = 0
    for group in strong_components(graph.nodes(), graph.targets):
        for node in group:
            found[node] = count
        count += 1
    return found, count


def strong_components(
    nodes: Iterable[Node], targets: Callable[[Node], Sequence[Node]]
) -> list[list[Node]]:
    """Tarjan's algorithm without recursion: components, each after all that it leads to."""
    found = list[list[Node]]()
    walk = _Walk(targets, found)
    for node in nodes:
        walk.visit(node)
    return found


class _Walk:
    """One depth-first walk; ``low`` is the earliest node on the stack that is within reach."""

    def __init__(self, targets: Callable[[Node], Sequence[Node]], found: list[list[Node]]) -> None:
        self._targets, self._found = targets, found
        self._number: dict[Node, int] = {}
        self._low: dict[Node, int] = {}
        self._stack: list[Node] = []
        self._on_stack: set[Node] = set()

    def visit(self, root: Node) -> None:
        if root in self._number:
            return
        path = [(root, iter(self._enter(root)))]
        while path:
            node, rest = path[-1]
            for target in rest:
                if target not in self._number:
                    path.append((target, iter(self._enter(target))))
                    break
                if target in self._on_stack:
                    self._low[node] = min(self._low[node], self._number[target])
            else:
                path.pop()
                self._leave(node)
                if path:
                    above = path[-1][0]
                    self._low[above] = min(self._low[above], self._low[node])

    def _enter(self, node: Node) -> Sequence[Node]:
        self._number[node] = self._low[node] = len(self._number)
        self._stack.append(node)
        self._on_stack.add(node)
        return self._targets(node)

    def _leave(self, node: Node) -> None:
        if self._low[node] != self._number[node]:
            return
        group = []
        while True:
            member = self._stack.pop()
            self._on_stack.discard(member)
            group.append(member)
            if member == node:
                break
        self._found.append(group[::-1])


def doors(
    graph: Graph[StateT],
    component: Sequence[int],
    closed: Sequence[bool],
    ending: Callable[[Node], str],
) -> tuple[Door, ...]:
    """The one-way doors by action, in order of their first crossing.

    What ends play is no door, and neither is an edge to a state that is not ``closed``: something
    unexplored might lead back. ``ending`` names the ending of a node, empty if play goes on there.
    """
    edges: dict[str, int] = {}
    crossings: dict[str, int] = {}
    first: dict[str, tuple[Node, int, int]] = {}
    over = [bool(ending(node)) for node in graph.nodes()]
    for node in graph.nodes():
        for number, outcome, target, action in graph.actions(node):
            edges[action] = edges.get(action, 0) + 1
            if component[node] == component[target] or over[target] or not closed[target]:
                continue
            crossings[action] = crossings.get(action, 0) + 1
            first.setdefault(action, (node, number, outcome))
    return tuple(
        Door(action, crossings[action], edges[action], *example)
        for action, example in first.items()
    )
