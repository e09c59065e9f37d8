"""Classify states as won, winnable, dead or undecided, and find the moves that lose the goal.

Distances to the goal are found backwards over the edges of a graph. An edge from a winnable state
to a dead one is a dead end's door; a player learns of it there or later.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, Literal

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command, StateT
from tokenworld.planning.search.compiled import available, loaded
from tokenworld.planning.space.graph import Graph, Node, StepTo
from tokenworld.planning.space.packed_graph import PackedGraph

# ---- Distances backwards over the edges ---------------------------------------------------------
# Large graphs of packed states are turned around by the compiled explorer where numba is
# installed; the plain way gives the same numbers.

FAR = -1
"""The distance of a state from which there is no way."""
_LARGE = 100_000
"""The number of edges from which the compiled code transposes arrays faster, once it is loaded."""
_WORTH_LOADING = 1_000_000
"""The number from which loading it pays: that takes as long as the plain way with these."""


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
    """The result of `backwards`, compiled."""
    import numpy as np

    from tokenworld.planning.space.kernels import nearest, turned_around

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


# ---- Won, winnable, dead, undecided -------------------------------------------------------------
# Chance is the planner's choice here: a state is winnable if some luck and some commands win. In a
# partial graph a state counts as dead only if nothing unexplored can be reached from it.

Place = Literal["won", "winnable", "dead", "undecided"]


@frozen
class Branching:
    """The number of commands with a successor in states where play has not ended."""

    states: int
    moves: int
    most: int

    @property
    def mean(self) -> Fraction:
        return Fraction(self.moves, self.states) if self.states else Fraction(0)


@frozen
class Partition(Generic[StateT]):
    """The classification of each state: won, winnable, dead or undecided.

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
        """The number of dead states that are announced: a `lose` line, or another end of play."""
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
        """The number of states by distance from the goal."""
        found: dict[int, int] = {}
        for far in self.distance:
            if far != FAR:
                found[far] = found.get(far, 0) + 1
        return dict(sorted(found.items()))


def partition(graph: Graph[StateT]) -> Partition[StateT]:
    """Sort the states of a graph into won, winnable, dead and undecided ones."""
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


def unsorted(graph: Graph[StateT]) -> Partition[StateT]:
    """The classification of a graph without its distances: which states are won, which are lost."""
    places: tuple[Place, ...] = tuple(
        "won" if won else "dead" if lost else "undecided"
        for won, lost in zip(graph.won, graph.lost, strict=True)
    )
    closed, distance = (False,) * len(places), array("q", [FAR]) * len(places)
    won = graph.won.find(1)
    if won > 0:  # every state can be reached from the start
        places, distance[0] = ("winnable", *places[1:]), graph.depth[won]
    return Partition(graph, distance, places, closed, 0, False, Branching(0, 0, 0))


def _unknown(graph: Graph[StateT], node: Node) -> bool:
    """Return whether a node may have successors that the graph does not contain."""
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
    """The number of shortest sequences of commands, with their luck, from the start to the goal."""
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


# ---- Dead ends and when they are learned of -----------------------------------------------------
# An edge crosses the line if it leads from a state that is winnable to one that is dead. Crossings
# of one action, with one cause, are one kind of dead end. How cruel a world is depends on what the
# player is informed after a crossing:
#
# * ``at once``: play ends (a `lose` line, or another end that is not the goal);
# * ``next``: it shows with the next step: after every command, play ends or nothing changes;
# * ``later``: every way of playing on leads to that sooner or later;
# * ``never``: play may go on for ever without any sign.

Told = Literal["at once", "next", "later", "never"]
Cruelty = Literal["merciful", "polite", "tough", "nasty", "cruel"]
CRUELTY: dict[Told, Cruelty] = {
    "at once": "polite",
    "next": "tough",
    "later": "nasty",
    "never": "cruel",
}
_ORDER: tuple[Told, ...] = ("at once", "next", "later", "never")


@frozen
class DeadEnd:
    """One kind of dead end: all crossings of one action with one cause.

    ``action`` is empty for `pass`. ``cause`` names the ending, or is empty if play goes on.
    ``lucky``: another outcome of the same command would have left the goal in reach. ``idle``:
    letting time pass instead might have crossed the line as well. ``edges``
    cross the line into ``states`` distinct states; ``told`` is the worst case of them all.
    ``node``, ``move`` and ``outcome`` are an example: no crossing of this kind is nearer the start.
    """

    action: str
    cause: str
    lucky: bool
    idle: bool
    edges: int
    states: int
    told: Told
    node: Node
    move: int
    outcome: int


@dataclass(slots=True)
class _Kind:
    node: Node
    move: int
    outcome: int
    edges: int
    entered: set[Node]


def dead_ends(
    graph: Graph[StateT], parts: Partition[StateT], ending: Callable[[Node], str]
) -> tuple[DeadEnd, ...]:
    """All kinds of dead ends, in order of their first crossing.

    ``ending`` names the ending of a node, empty if play goes on there.
    """
    kinds: dict[tuple[str, str, bool, bool], _Kind] = {}
    for node in graph.nodes():
        if parts.places[node] != "winnable":
            continue
        if not any(parts.places[one] == "dead" for one in graph.targets(node)):
            continue
        waiting = (move for move in graph.moves[node] if move.command.is_pass)
        slips = any(parts.places[one] == "dead" for move in waiting for one in move.targets)
        for number, outcome, target in graph.outcomes(node):
            if parts.places[target] != "dead":
                continue
            move = graph.moves[node][number]
            lucky = any(parts.places[one] != "dead" for one in move.targets)
            idle = slips and not move.command.is_pass
            key = (move.command.action, ending(target), lucky, idle)
            kind = kinds.setdefault(key, _Kind(node, number, outcome, 0, set()))
            kind.edges += 1
            kind.entered.add(target)
    news = told(graph, parts, ending)
    return tuple(
        DeadEnd(
            *key, kind.edges, len(kind.entered), _worst(news, kind.entered),
            kind.node, kind.move, kind.outcome,
        )
        for key, kind in kinds.items()
    )  # fmt: skip


def _worst(news: dict[Node, Told], entered: set[Node]) -> Told:
    return max((news[node] for node in entered), key=_ORDER.index)


def told(
    graph: Graph[StateT], parts: Partition[StateT], ending: Callable[[Node], str]
) -> dict[Node, Told]:
    """For each dead state, when a player in it learns that the goal is lost."""
    dead = [node for node in graph.nodes() if parts.places[node] == "dead"]
    found: dict[Node, Told] = {node: "at once" for node in dead if ending(node)}
    over = frozenset(found)
    for node in dead:
        if node not in over and all(t in over or t == node for t in graph.targets(node)):
            found[node] = "next"
    _spread(graph, dead, found)
    return {node: found.get(node, "never") for node in dead}


def _spread(graph: Graph[StateT], dead: list[Node], found: dict[Node, Told]) -> None:
    """Add the states from which all ways lead, without a cycle, to those in ``found``."""
    sources: dict[Node, list[Node]] = {}
    missing: dict[Node, int] = {}
    for node in dead:
        if node in found:
            continue
        targets = graph.targets(node)
        missing[node] = len(targets)
        for target in targets:
            sources.setdefault(target, []).append(node)
    ready = deque(found)
    while ready:
        for node in sources.get(ready.popleft(), ()):
            missing[node] -= 1
            if missing[node] == 0:
                found[node] = "later"
                ready.append(node)


def cruelty(kinds: tuple[DeadEnd, ...]) -> Cruelty:
    """The class of a world with these dead ends: the worst of them."""
    if not kinds:
        return "merciful"
    return CRUELTY[max((kind.told for kind in kinds), key=_ORDER.index)]


# ---- Long actions that never end ----------------------------------------------------------------
# What would be rolled back is not done: where both the end of an action and its ``cancelled``
# block break a rule, it stays under way for good.

Underway = tuple[str | None, Command]
"""A long action with the name of its actor; no name if only one may act."""


@frozen
class Unending:
    """A long action that no command ends: the number of its ``states``, and the first, ``node``.
    ``actor`` is its actor, if several objects take turns."""

    actor: str | None
    command: Command
    states: int
    node: Node


def unending(
    graph: Graph[StateT],
    underway: Callable[[Node], Iterable[Underway]],
    ending: Callable[[Node], str],
) -> tuple[Unending, ...]:
    """All of them. Where play ends or is not followed any further, an action counts as ended."""
    nodes: dict[Underway, dict[Node, None]] = {}
    for node in graph.nodes():
        for one in underway(node):
            nodes.setdefault(one, {})[node] = None
    found = []
    for (actor, command), inside in nodes.items():
        kept = _kept(graph, inside, ending)
        if kept:
            found.append(Unending(actor, command, len(kept), kept[0]))
    return tuple(found)


def _kept(
    graph: Graph[StateT], inside: dict[Node, None], ending: Callable[[Node], str]
) -> list[Node]:
    """The nodes from which no way leads out of ``inside``."""
    sources: dict[Node, list[Node]] = {}
    out = list[Node]()
    for node in inside:
        targets = graph.targets(node)
        if graph.open(node) or ending(node) or any(one not in inside for one in targets):
            out.append(node)
        for target in targets:
            sources.setdefault(target, []).append(node)
    leaves = dict.fromkeys(out)
    while out:
        more = [one for one in sources.get(out.pop(), ()) if one not in leaves]
        leaves.update(dict.fromkeys(more))
        out += more
    return [node for node in inside if node not in leaves]
