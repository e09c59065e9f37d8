"""The graph of a packed world: a few bytes per edge, states and moves made when asked for.

It lists the same nodes, moves and edges in the same order as `graph.explore` would, so that the
users of a `Graph` need not know which one it is.

Worlds in which a command has one outcome are explored by the compiled kernel where numba is
installed (extra `fast`): the same graph, sooner. Python handles draws.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, TypeVar, overload

from tokenworld.ground import Command, StateT, Successor
from tokenworld.planning.search.compiled import available
from tokenworld.planning.search.compiled.search import StateRows, joined
from tokenworld.planning.search.compiled.tables import FIRST_TABLE, Tables, reserved_rows, zeros
from tokenworld.planning.search.interpreted import Limits, Progress, SearchProgress, Watch
from tokenworld.planning.search.packed.world import BROKEN, LOST, WON, Packed
from tokenworld.planning.space.graph import Graph, Move, Node

Build = Callable[[int, int], StateT]
"""Makes a state from its bits and the number of ticks since the start."""
Luck = Callable[[StateT, Command], Sequence[Successor[StateT]]]
"""All outcomes of a command in a state, with their draws."""
Item = TypeVar("Item")
_ONE = Fraction(1)
_SURE: tuple[tuple[Fraction, ...], tuple[tuple[()], ...]] = ((_ONE,), ((),))
_NODE_BYTES, _EDGE_BYTES = 260, 8
"""Bytes per node (number, table slot, flags, parent) and per edge, rounded up."""
STATE_BYTES = _NODE_BYTES + 6 * _EDGE_BYTES
"""Bytes per state of a graph, for an estimate."""
_WATCHED = 256
"""Limits are looked at once per so many expanded nodes."""
_LARGE = 200_000
"""The number of nodes from which restarting in compiled code pays, if there are only commands:
phases are looked up in tables, which is as fast."""


def bytes_held(nodes: int, edges: int) -> int:
    """The bytes of a graph."""
    return nodes * _NODE_BYTES + edges * _EDGE_BYTES


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
    """All edges: those of node n are ``ends[n]`` up to ``ends[n + 1]``."""

    steps: array[int] = field(default_factory=lambda: array("H"))
    targets: array[int] = field(default_factory=lambda: array("I"))
    ends: array[int] = field(default_factory=lambda: array("Q", [0]))

    def of(self, node: Node) -> range:
        if node + 1 >= len(self.ends):
            return range(0)
        return range(self.ends[node], self.ends[node + 1])


class PackedGraph(Graph[StateT], Generic[StateT]):
    """A graph whose states are numbers: ``keys[n]`` is that of node n."""

    def __init__(
        self,
        goal: str | None,
        world: Packed,
        build: Build[StateT],
        luck: Luck[StateT],
    ) -> None:
        self.keys: list[int] = []
        self.arrows = _Arrows(array("H" if len(world.commands) < 1 << 16 else "L"))
        self.places, self.lucks = array("I"), array("I")
        self.world, self._build, self._luck = world, build, luck
        size = self.keys.__len__
        super().__init__(
            goal, Lazy(self._state, size), Lazy(self._moves, size), Lazy(self._way, size)
        )
        self.ticks = array("q") if world.free else self.depth
        self._known: dict[Hashable, tuple[Fraction, ...]] = {}
        self._looked: dict[Command, int | None] = {}

    def _state(self, node: Node) -> StateT:
        return self._build(self.keys[node], self.ticks[node])

    def _moves(self, node: Node) -> tuple[Move, ...]:
        arrows, world = self.arrows, self.world
        found = []
        for group in self._groups(node):
            number = arrows.steps[group.start]
            targets = tuple(arrows.targets[group.start : group.stop])
            if number in world.lucky:
                found.append(self._drawn(node, number, targets))
            else:
                found.append(Move(world.commands[number], targets, *_SURE))
        return tuple(found)

    def _drawn(self, node: Node, number: int, targets: tuple[Node, ...]) -> Move:
        """A move with draws, which are computed with their probabilities on first use."""
        command = self.world.commands[number]
        successors = self._luck(self.states[node], command)
        if len(successors) != len(targets):
            raise ValueError(f"{command}: {len(successors)} outcomes, {len(targets)} were counted")
        chances = tuple(one.probability for one in successors)
        draws = tuple(one.draws for one in successors)
        return Move(command, targets, chances, draws)

    def odds(self, node: Node) -> tuple[Move, ...]:
        """The moves without their draws; the interpreter computes the probability of an outcome
        once for all states that agree in the slots which decide it."""
        arrows, world, found = self.arrows, self.world, list[Move]()
        for group in self._groups(node):
            number = arrows.steps[group.start]
            targets = tuple(arrows.targets[group.start : group.stop])
            command = world.commands[number]
            if number not in world.lucky:
                found.append(Move(command, targets, *_SURE))
                continue
            key = self._decided(node, command, arrows.steps[group.start : group.stop])
            chances = self._known.get(key) if key is not None else None
            if chances is None or len(chances) != len(targets):
                chances = self._drawn(node, number, targets).chances
                if key is not None and sum(chances) == _ONE:  # no outcome is left out
                    self._known[key] = chances
            found.append(Move(command, targets, chances, ((),) * len(targets)))
        return tuple(found)

    def _decided(self, node: Node, command: Command, numbers: Sequence[int]) -> Hashable | None:
        """The key of the odds of a command; ``None`` where it is not known:
        the parts of the state that its draws look at, and those that draws of laws do after it."""
        world, key = self.world, self.keys[node]
        if command not in self._looked:
            self._looked[command] = world.parts.draws(command)
        before, after = self._looked[command], self._laws
        if before is None or after is None:
            return None
        begun = () if after == 0 else world.begun(key)
        ways = tuple(state & after for number, state in begun if number in numbers)
        return command, key & before, ways

    @cached_property
    def _laws(self) -> int | None:
        return self.world.parts.draws_of_laws()

    def _groups(self, node: Node) -> Iterator[range]:
        """The edges of each move of a node."""
        found = self.arrows.of(node)
        if not self.world.lucky:
            yield from (range(one, one + 1) for one in found)
            return
        commands, steps, start = self.world.commands, self.arrows.steps, found.start
        for one in found:
            if one > start and commands[steps[one]] != commands[steps[start]]:
                yield range(start, one)
                start = one
        if found:
            yield range(start, found.stop)

    def _way(self, node: Node) -> tuple[int, int]:
        return (self.places[node], self.lucks[node] if self.world.lucky else 0)

    def choices(self, node: Node) -> int:
        if self.world.lucky:
            return sum(1 for _ in self._groups(node))
        return len(self.arrows.of(node))

    def targets(self, node: Node) -> tuple[Node, ...]:
        found = self.arrows.of(node)
        return tuple(dict.fromkeys(self.arrows.targets[found.start : found.stop]))

    def actions(self, node: Node) -> Iterator[tuple[int, int, Node, str]]:
        arrows, commands = self.arrows, self.world.commands
        for number, group in enumerate(self._groups(node)):
            for outcome, one in enumerate(group):
                yield number, outcome, arrows.targets[one], commands[arrows.steps[one]].action

    def outcomes(self, node: Node) -> Iterator[tuple[int, int, Node]]:
        for number, group in enumerate(self._groups(node)):
            for outcome, one in enumerate(group):
                yield number, outcome, self.arrows.targets[one]

    def numbers(self, node: Node) -> frozenset[int]:
        """The numbers of the operators that are applicable in a node."""
        found = self.arrows.of(node)
        return frozenset(self.arrows.steps[found.start : found.stop])

    def done(self) -> frozenset[str]:
        """The actions of all edges."""
        return frozenset(self.world.commands[one].action for one in set(self.arrows.steps))


def explore_packed(
    world: Packed,
    build: Build[StateT],
    luck: Luck[StateT],
    goal: str | None,
    limits: Limits,
    *,
    past_goal: bool = False,
    progress: Progress = None,
) -> PackedGraph[StateT]:
    """The graph that `graph.explore` finds, on packed states; compiled where there are many.

    ``past_goal``: the goal is a condition that states fulfil, and not the end of play.
    """
    graph = PackedGraph(goal, world, build, luck)
    growing = _Growing(graph, world, past_goal)
    watch, asked = Watch(limits), not world.plain
    while growing.expanded < growing.size:
        if (hit := watch.look(growing, progress)) is not None:
            graph.limit, graph.reason = hit
            break
        if growing.size >= _LARGE and not asked:
            asked, tables = True, compiled_tables(world)
            if tables is not None:
                return explore_compiled(
                    world, tables, build, luck, goal, watch.rest(),
                    past_goal=past_goal, progress=progress,
                )  # fmt: skip
        growing.expand(growing.expanded + _WATCHED, limits.states)
    return graph


class _Growing(Generic[StateT]):
    """A packed graph that is being explored."""

    def __init__(self, graph: PackedGraph[StateT], world: Packed, past_goal: bool) -> None:
        self._graph, self._world, self._past_goal = graph, world, past_goal
        self._nodes: dict[int, Node] = {}
        self._reach(world.start, -1, 0, 0)

    def _reach(self, key: int, parent: Node, place: int, number: int, outcome: int = 0) -> Node:
        """A node for a state that is news, -1 for one in which no tick can end."""
        graph, what = self._graph, self._world.ends(key)
        if what == BROKEN:
            self._nodes[key] = -1
            return -1
        node = self._nodes[key] = len(graph.keys)
        graph.keys.append(key)
        graph.won.append(what == WON)
        graph.lost.append(what == LOST)
        graph.parents.append(parent)
        graph.places.append(place)
        if self._world.lucky:
            graph.lucks.append(outcome)
        graph.depth.append(0 if parent < 0 else graph.depth[parent] + 1)
        if self._world.free:
            passed = parent >= 0 and number not in self._world.free
            graph.ticks.append(graph.ticks[parent] + passed if parent >= 0 else 0)
        return node

    @property
    def size(self) -> int:
        return len(self._graph.keys)

    @property
    def expanded(self) -> int:
        return self._graph.expanded

    def memory(self) -> int:
        return bytes_held(self.size, self._graph.edges)

    def so_far(self) -> SearchProgress:
        depth = self._graph.depth[self.expanded]
        return SearchProgress(self.size, self.expanded, self.size - self.expanded, depth)

    def expand(self, end: Node, most: int | None) -> None:
        """Follow everything that can be done in the nodes there are, up to ``end``; stop early at
        ``most`` nodes."""
        graph = self._graph
        for node in range(graph.expanded, min(end, self.size)):
            if most is not None and len(graph.keys) >= most:
                return
            place = 0
            if not graph.lost[node] and (self._past_goal or not graph.won[node]):
                place = self._moved(node, graph.keys[node])
            graph.arrows.ends.append(len(graph.arrows.targets))
            graph.edges += place
            graph.expanded = node + 1

    def _moved(self, node: Node, key: int) -> int:
        """Note the edges of a node; how many there are."""
        nodes, arrows, commands = self._nodes, self._graph.arrows, self._world.commands
        lucky, before, move, outcome, edges = bool(self._world.lucky), -1, -1, 0, 0
        for number, after in self._world.moves(key):
            again = lucky and before >= 0 and commands[number] == commands[before]
            place = (move, outcome + 1) if again else (move + 1, 0)
            target = nodes.get(after)
            if target is None:
                target = self._reach(after, node, place[0], number, place[1])
            if target >= 0:
                arrows.steps.append(number)
                arrows.targets.append(target)
                (move, outcome), before = place, number
                edges += 1
        return edges


# ---- The compiled explorer ----------------------------------------------------------------------
# It is for worlds in which a command has one outcome; Python handles luck.

_CHUNK = 1 << 14
"""So many nodes are expanded between two looks at the limits."""


def compiled_tables(world: Packed) -> Tables | None:
    """The tables of a world that can be explored here; ``None`` for any other."""
    broken = any(kind == BROKEN and ways for kind, ways in world.ways)
    if not available() or not world.simple or broken:
        return None
    return Tables.of(world, to_goal=True)


def explore_compiled(
    world: Packed,
    tables: Tables,
    build: Build[StateT],
    luck: Luck[StateT],
    goal: str | None,
    limits: Limits,
    *,
    past_goal: bool = False,
    progress: Progress = None,
) -> PackedGraph[StateT]:
    """The graph that `explore_packed` finds, compiled."""
    graph = PackedGraph(goal, world, build, luck)
    arrays = Connected(world, tables, past_goal)
    watch = Watch(limits)
    while arrays.expanded < arrays.size:
        if (hit := watch.look(arrays, progress)) is not None:
            graph.limit, graph.reason = hit
            break
        arrays.expand(arrays.expanded + _CHUNK, limits.states)
    arrays.fill(graph)
    return graph


class Connected(StateRows):
    """All states with their edges, as arrays that grow."""

    rows = ("states", "parents", "kinds", "ends")

    def __init__(self, world: Packed, tables: Tables, past_goal: bool) -> None:
        self._world, self._past_goal = world, past_goal
        room = reserved_rows(tables.width)
        step = "uint16" if len(world.commands) < 1 << 16 else "uint32"
        self.steps, self.targets = zeros(room, dtype=step), zeros(room, dtype="uint32")
        self.ends = zeros(room + 1, dtype="int64")
        super().__init__(tables, world.ends(world.start), (1, 0, 0, -1, 0), room, FIRST_TABLE)

    @property
    def edges(self) -> int:
        return int(self.count[2])

    def memory(self) -> int:
        return bytes_held(self.size, self.edges)

    def expand(self, until: int, most: int | None) -> None:
        """Expand nodes up to this number, none once there are ``most`` of them."""
        from tokenworld.planning.search.compiled.kernel import connect

        stopped = connect(
            *(*self._held, self.count, until),
            1 << 62 if most is None else most,
            self._past_goal,
            *(self.ends, self.steps, self.targets),
            self._listing.arrays,
            self._tables.arrays,
        )
        self._make_room(stopped)

    @property
    def _fit(self) -> int:
        return min(super()._fit, len(self.ends) - 1)  # one more is the end of the last edge

    def _grow(self) -> None:
        if self.edges + len(self._listing.arrays[1]) > min(len(self.steps), len(self.targets)):
            self._double("steps", "targets")
        else:
            super()._grow()

    def fill(self, graph: PackedGraph[StateT]) -> None:
        """Put everything into a graph that is empty."""
        from tokenworld.planning.space.kernels import measured

        size, expanded, edges, world = self.size, self.expanded, self.edges, self._world
        states, kinds = self.states[:size], self.kinds[:size]
        graph.keys += states[:, 0].tolist() if states.shape[1] == 1 else map(joined, states)
        graph.won += (kinds == WON).tobytes()
        graph.lost += (kinds == LOST).tobytes()
        free = zeros(len(world.commands) + 1, dtype="uint8")
        free[list(world.free)] = 1
        rows = self.ends[: expanded + 1], self.steps, self.targets
        places, depth, ticks = measured(size, *rows, free)
        graph.depth.frombytes(depth.tobytes())
        if world.free:
            graph.ticks.frombytes(ticks.tobytes())
        graph.parents.frombytes(self.parents[:size].astype("q").tobytes())
        _fill(graph.places, places)
        _fill(graph.arrows.steps, self.steps[:edges])
        _fill(graph.arrows.targets, self.targets[:edges])
        _fill(graph.arrows.ends, self.ends[1 : expanded + 1])
        graph.edges, graph.expanded = edges, expanded


def _fill(target: Any, numbers: Any) -> None:
    """Put numbers at the end of an `array`."""
    target.frombytes(numbers.astype(target.typecode).tobytes())
