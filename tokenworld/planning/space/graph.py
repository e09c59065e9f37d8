"""The reachable states as an explicit graph: breadth first, under caps, never silently partial.

A node is the number of a distinct state in order of discovery, so the nodes that were expanded are
the first ``expanded`` ones. States that are won or lost are not expanded, because play
ends there. Edges belong to moves: a move is one command with all its outcomes.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command, LuckyDraw, Simulator, StateT, Unfinished, Way
from tokenworld.planning.search.interpreted import (
    SHORT,
    CapKind,
    Limits,
    Progress,
    SearchProgress,
    Watch,
    gaps,
    size_of,
)
from tokenworld.planning.verdict import PlanStep

Node = int
_ONE = Fraction(1)
_SURE = ((_ONE,), ((),))
_NODE_BYTES, _MOVE_BYTES, _OUTCOME_BYTES = 1024, 160, 48
"""Memory per node, move and outcome in bytes, rounded up, with the caches of simulators."""
_SAMPLE = 1024
"""Every so many new states one is measured for the memory estimate."""


@frozen
class Move:
    """A command in a state with its outcomes: where each leads, its probability and its draws.

    Outcomes that are refused or rolled back are left out, so probabilities may sum to less than 1,
    unless the simulator returns the state after such a try (see `tried`).
    """

    command: Command
    targets: tuple[Node, ...]
    chances: tuple[Fraction, ...]
    draws: tuple[tuple[LuckyDraw, ...], ...]

    @property
    def missing(self) -> Fraction:
        """The probability that the command is refused or rolled back."""
        return _ONE - sum(self.chances)


@frozen
class StepTo:
    """One step of a path: the outcome of a move that leads to ``node``."""

    before: Node
    step: PlanStep
    node: Node


@dataclass(slots=True)
class Graph(Generic[StateT]):
    """The explored part of a state space. Node 0 is the start.

    ``moves[n]`` is empty for ends and for nodes that are not expanded yet. ``limit`` is ``None``
    where the graph is complete; ``reason`` is a clause that says why it is not.
    ``trusted``: the expanded nodes have exactly the moves that are listed. ``short_keys`` are what
    the simulator identified the states by, node by node, if they were requested.
    """

    goal: str | None
    states: Sequence[StateT]
    moves: Sequence[tuple[Move, ...]]
    ways: Sequence[tuple[int, int]]
    won: bytearray = field(default_factory=bytearray)
    lost: bytearray = field(default_factory=bytearray)
    depth: array[int] = field(default_factory=lambda: array("q"))
    parents: array[int] = field(default_factory=lambda: array("q"))
    expanded: int = 0
    edges: int = 0
    limit: CapKind | None = None
    reason: str = ""
    trusted: bool = True
    short_keys: Sequence[Hashable] = ()

    @property
    def complete(self) -> bool:
        """Return whether the graph has every reachable state with all its moves."""
        return self.limit is None

    def __len__(self) -> int:
        return len(self.states)

    def open(self, node: Node) -> bool:
        """Return whether the successors of a node are unknown."""
        return node >= self.expanded

    def nodes(self) -> range:
        return range(len(self.states))

    def odds(self, node: Node) -> tuple[Move, ...]:
        """The moves of a node for who does not ask which draws they are."""
        return self.moves[node]

    def choices(self, node: Node) -> int:
        """The number of commands with a successor in a node."""
        return len(self.moves[node])

    def targets(self, node: Node) -> tuple[Node, ...]:
        """The targets of the edges of a node, each once."""
        return tuple(dict.fromkeys(target for move in self.moves[node] for target in move.targets))

    def actions(self, node: Node) -> Iterator[tuple[int, int, Node, str]]:
        """Every edge as `outcomes` lists it, with the name of its action."""
        for number, move in enumerate(self.moves[node]):
            for outcome, target in enumerate(move.targets):
                yield number, outcome, target, move.command.action

    def outcomes(self, node: Node) -> Iterator[tuple[int, int, Node]]:
        """Every edge of a node: number of the move, number of the outcome, where it leads."""
        for number, move in enumerate(self.moves[node]):
            for outcome, target in enumerate(move.targets):
                yield number, outcome, target

    def step(self, node: Node, number: int, outcome: int) -> StepTo:
        """One edge as a step."""
        move = self.moves[node][number]
        return StepTo(node, PlanStep(move.command, move.draws[outcome]), move.targets[outcome])

    def path(self, node: Node) -> tuple[StepTo, ...]:
        """A shortest path from the start to a node."""
        found = []
        while (parent := self.parents[node]) >= 0:
            found.append(self.step(parent, *self.ways[node]))
            node = parent
        return tuple(reversed(found))

    def sources(self) -> list[list[Node]]:
        """For each node the nodes with an edge to it, each once."""
        found: list[list[Node]] = [[] for _ in self.nodes()]
        for node in self.nodes():
            for target in self.targets(node):
                found[target].append(node)
        return found


def explore(
    simulator: Simulator[StateT],
    start: StateT,
    goal: str | None,
    limits: Limits,
    *,
    progress: Progress = None,
) -> Graph[StateT]:
    """All states that play can reach from ``start`` up to the goal, or as many as limits allow.

    ``progress`` is called about every second. The graph names a limit that was hit.
    """
    return Exploring(simulator, start, goal).on(limits, progress=progress)


class Exploring(Generic[StateT]):
    """A graph under exploration; `on` resumes it where it stopped at a limit."""

    def __init__(self, simulator: Simulator[StateT], start: StateT, goal: str | None) -> None:
        self._simulator, self._goal = simulator, goal
        self._nodes: dict[Hashable, Node] = {}
        self._moves = 0
        self._sampled = 0
        self._states, self._ways = list[StateT](), list[tuple[int, int]]()
        self._followed = list[tuple[Move, ...]]()
        self.graph = Graph(goal, self._states, self._followed, self._ways)
        self._reach(simulator.short_key(start), start, -1, (0, 0))

    def on(
        self,
        limits: Limits,
        *,
        progress: Progress = None,
    ) -> Graph[StateT]:
        """The graph, explored as far as limits allow; see `explore`."""
        graph, watch = self.graph, Watch(limits)
        graph.limit = None
        self._simulator.bound(lambda count: watch.late(self.memory(), count, self._sampled))
        try:
            self._grow(watch, progress)
        finally:
            self._simulator.bound(None)
        doubt = self._doubt()
        graph.trusted = doubt[0] is None
        if graph.limit is None:
            graph.limit, graph.reason = doubt
        graph.short_keys = tuple(self._nodes)
        return graph

    def _grow(self, watch: Watch, progress: Progress) -> None:
        """Expand node after node, up to the end or a limit."""
        graph = self.graph
        while graph.limit is None and graph.expanded < len(graph):
            if (hit := watch.look(self, progress)) is not None:
                graph.limit, graph.reason = hit
                break
            node, seen, edges = graph.expanded, len(graph), graph.edges
            try:
                self._expand(node)
            except Unfinished:
                assert watch.hit is not None
                graph.limit, graph.reason = watch.hit
                self._forget(node, seen, edges)

    def _forget(self, node: Node, seen: int, edges: int) -> None:
        """Leave a node unexpanded if not all its successors could be computed."""
        graph = self.graph
        for short_key in tuple(self._nodes)[seen:]:
            del self._nodes[short_key]
        for rows in (self._states, self._followed, self._ways, graph.won, graph.lost, graph.depth,
                     graph.parents):  # fmt: skip
            del rows[seen:]
        graph.expanded, graph.edges = node, edges

    def _reach(
        self, short_key: Hashable, state: StateT, parent: Node, way: tuple[int, int]
    ) -> Node:
        """The node of a state that is news."""
        graph = self.graph
        node = self._nodes[short_key] = len(graph)
        self._states.append(state)
        self._followed.append(())
        graph.won.append(self._simulator.won(state, self._goal))
        graph.lost.append(not graph.won[node] and self._simulator.lost(state))
        graph.parents.append(parent)
        self._ways.append(way)
        graph.depth.append(0 if parent < 0 else graph.depth[parent] + 1)
        if node % _SAMPLE == 1:
            size = size_of(short_key) + size_of(state, beside=self._states[parent])
            self._sampled = max(self._sampled, size)
        return node

    def _expand(self, node: Node) -> None:
        """Follow every command of a node, unless play has ended there."""
        graph, simulator = self.graph, self._simulator
        graph.expanded = node + 1
        if graph.won[node] or graph.lost[node]:
            return
        moves = list[Move]()
        for command, ways in simulator.moves(graph.states[node]):
            if ways:
                moves.append(self._move(node, len(moves), command, ways))
        self._followed[node] = tuple(moves)
        self._moves += len(moves)

    def _move(self, node: Node, number: int, command: Command, ways: Sequence[Way[StateT]]) -> Move:
        nodes, graph = self._nodes, self.graph
        found = list[Node]()
        for outcome, way in enumerate(ways):
            target = nodes.get(way.short_key)
            if target is None:
                target = self._reach(way.short_key, way.state(), node, (number, outcome))
            found.append(target)
        targets = tuple(found)
        graph.edges += len(targets)
        if len(ways) == 1 and not ways[0].draws:
            return Move(command, targets, *_SURE)
        chances = tuple(way.probability for way in ways)
        return Move(command, targets, chances, tuple(way.draws for way in ways))

    @property
    def size(self) -> int:
        return len(self.graph)

    def so_far(self) -> SearchProgress:
        graph, waiting = self.graph, self.size - self.graph.expanded
        return SearchProgress(self.size, graph.expanded, waiting, graph.depth[graph.expanded])

    def memory(self) -> int:
        """The bytes held, estimated from samples."""
        nodes = len(self.graph) * (self._sampled + _NODE_BYTES)
        return nodes + self._moves * _MOVE_BYTES + self.graph.edges * _OUTCOME_BYTES

    def _doubt(self) -> tuple[CapKind | None, str]:
        """Why a graph without open nodes may still not be all there is, if so."""
        if left_out := gaps(self._simulator.instance, self._simulator.unlisted):
            return "gaps", f"{len(left_out)} of the rules cannot be followed"
        if short := self._simulator.short_of:
            needed = ", ".join(f"{count:,} spare `{of}`" for of, count in short.items())
            return "spare", f"states that need more than {needed} were left out"
        if self._simulator.overflowed:
            return "digits", f"only states were seen in which {SHORT}"
        return None, ""


# ---- Strongly connected components, and the one-way doors between them --------------------------
# States of one component can all be reached from each other: nothing done there is final. A move
# from one component to another cannot be undone.


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
