"""The graph of a packed world: a few bytes per edge, states and moves made when asked for.

It lists the same nodes, moves and edges in the same order as `graph.explore` would, so that whoever
works on a `Graph` need not know which one it is.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic, TypeVar, overload

from tokenworld.ground import Raw, StateT
from tokenworld.planning.search import Cancel, Limits, SearchProgress, Watch
from tokenworld.planning.space.graph import Graph, Move, Node
from tokenworld.planning.space.whole import Packed

__all__ = ["Build", "Lazy", "PackedGraph", "explore_packed"]

Build = Callable[[Sequence[tuple[str, tuple[Raw, ...], Raw]], int], StateT]
"""Makes a state from the values of its slots and the number of commands given so far."""
Item = TypeVar("Item")
_ONE = Fraction(1)
_SURE: tuple[tuple[Fraction, ...], tuple[tuple[()], ...]] = ((_ONE,), ((),))
_NODE_BYTES, _EDGE_BYTES = 260, 8
"""Bytes per node (number, table slot, flags, parent) and per edge, rounded up."""
_WATCHED = 256
"""Limits are looked at once per so many expanded nodes."""


class Lazy(Sequence[Item]):
    """A sequence whose items are made when they are asked for."""

    def __init__(self, make: Callable[[int], Item], size: Callable[[], int]) -> None:
        self._make, self._size = make, size

    def __len__(self) -> int:
        return self._size()

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | Sequence[Item]:
        if isinstance(place, slice):
            return [self._make(one) for one in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        return self._make(place % len(self))


@dataclass(slots=True)
class _Arrows:
    """All edges: those of node n stand at ``ends[n]`` up to ``ends[n + 1]``."""

    steps: array[int] = field(default_factory=lambda: array("H"))
    targets: array[int] = field(default_factory=lambda: array("I"))
    ends: array[int] = field(default_factory=lambda: array("Q", [0]))

    def of(self, node: Node) -> range:
        if node + 1 >= len(self.ends):
            return range(0)
        return range(self.ends[node], self.ends[node + 1])


class PackedGraph(Graph[StateT], Generic[StateT]):
    """A graph whose states are numbers: ``keys[n]`` is that of node n."""

    def __init__(self, goal: str | None, world: Packed, build: Build[StateT]) -> None:
        self.keys: list[int] = []
        self.arrows = _Arrows(array("H" if len(world.steps) < 1 << 16 else "L"))
        self.places = array("I")
        self._world, self._build = world, build
        size = self.keys.__len__
        super().__init__(
            goal, Lazy(self._state, size), Lazy(self._moves, size), Lazy(self._way, size)
        )

    def _state(self, node: Node) -> StateT:
        return self._build(self._world.slots(self.keys[node]), self.depth[node])

    def _moves(self, node: Node) -> tuple[Move, ...]:
        arrows, commands = self.arrows, self._world.commands
        return tuple(
            Move(commands[arrows.steps[one]], (arrows.targets[one],), *_SURE)
            for one in arrows.of(node)
        )

    def _way(self, node: Node) -> tuple[int, int]:
        return (self.places[node], 0)

    def choices(self, node: Node) -> int:
        return len(self.arrows.of(node))

    def targets(self, node: Node) -> tuple[Node, ...]:
        found = self.arrows.of(node)
        return tuple(dict.fromkeys(self.arrows.targets[found.start : found.stop]))

    def actions(self, node: Node) -> Iterator[tuple[int, int, Node, str]]:
        arrows, commands = self.arrows, self._world.commands
        for number, one in enumerate(arrows.of(node)):
            yield number, 0, arrows.targets[one], commands[arrows.steps[one]].action

    def outcomes(self, node: Node) -> Iterator[tuple[int, int, Node]]:
        for number, one in enumerate(self.arrows.of(node)):
            yield number, 0, self.arrows.targets[one]

    def done(self) -> frozenset[str]:
        """The actions that some edge stands for."""
        return frozenset(self._world.commands[one].action for one in set(self.arrows.steps))


def explore_packed(
    world: Packed,
    build: Build[StateT],
    goal: str | None,
    limits: Limits,
    *,
    past_goal: bool = False,
    progress: Callable[[SearchProgress], None] | None = None,
    cancel: Cancel | None = None,
) -> PackedGraph[StateT]:
    """What `graph.explore` finds, on packed states.

    ``past_goal``: the goal is a condition that states fulfil, and not the end of play.
    """
    graph = PackedGraph(goal, world, build)
    growing = _Growing(graph, world, past_goal)
    watch = Watch(limits, cancel)
    while graph.expanded < len(graph.keys):
        memory = len(graph.keys) * _NODE_BYTES + graph.edges * _EDGE_BYTES
        if (hit := watch.stop(len(graph.keys), memory)) is not None:
            graph.limit, graph.reason = hit
            return graph
        if progress is not None and watch.due():
            waiting = len(graph.keys) - graph.expanded
            depth = graph.depth[graph.expanded]
            progress(SearchProgress(len(graph.keys), graph.expanded, waiting, depth))
        growing.expand(min(graph.expanded + _WATCHED, len(graph.keys)), limits.states)
    return graph


class _Growing(Generic[StateT]):
    """A packed graph that is being explored."""

    def __init__(self, graph: PackedGraph[StateT], world: Packed, past_goal: bool) -> None:
        self._graph, self._world, self._past_goal = graph, world, past_goal
        self._nodes: dict[int, Node] = {}
        self._reach(world.start, -1, 0)

    def _reach(self, key: int, parent: Node, place: int) -> Node:
        """A node for a state that is news."""
        graph = self._graph
        node = self._nodes[key] = len(graph.keys)
        graph.keys.append(key)
        graph.won.append(self._world.won(key))
        graph.lost.append(False)
        graph.parents.append(parent)
        graph.places.append(place)
        graph.depth.append(0 if parent < 0 else graph.depth[parent] + 1)
        return node

    def expand(self, end: Node, most: int | None) -> None:
        """Follow every step of the nodes up to ``end``; stop early at ``most`` nodes."""
        graph, nodes, switch = self._graph, self._nodes, self._world.switch
        keys, arrows = graph.keys, graph.arrows
        mask, table, rest = switch.mask, switch.table, switch.rest
        for node in range(graph.expanded, end):
            if most is not None and len(keys) >= most:
                return
            key, place = keys[node], 0
            if self._past_goal or not graph.won[node]:
                for step in table.get(key & mask, rest):
                    test = step.test
                    if key & test.care != test.want or (test.sets and not test.holds(key)):
                        continue
                    after = step.after(key) if step.changes else key & step.keep | step.put
                    target = nodes.get(after)
                    if target is None:
                        target = self._reach(after, node, place)
                    arrows.steps.append(step.number)
                    arrows.targets.append(target)
                    place += 1
            arrows.ends.append(len(arrows.targets))
            graph.edges += place
            graph.expanded = node + 1
