"""`tw audit`: what can become of a world, told in the words of its rules.

The state space is explored by `planning.space`, which sees worlds only as a `Simulator`; here the
engine is asked what happened on the way, why things never happen, and what an example looks like.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import reduce
from operator import or_

from tokenworld.diagnostics import Diagnostic, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine import Engine, EngineSimulator, ForcedLuck, State
from tokenworld.ground import Change, LuckyDraw
from tokenworld.planning import Limits, SearchProgress, ShownStep
from tokenworld.planning.asked import require_goal
from tokenworld.planning.explore.packed import PLAYING
from tokenworld.planning.secrets import Guess, guesses, secrets_read
from tokenworld.planning.space.components import Door, components, doors
from tokenworld.planning.space.deadends import Cruelty, DeadEnd, cruelty, dead_ends
from tokenworld.planning.space.graph import Graph, Move, Node
from tokenworld.planning.space.packed_graph import PackedGraph
from tokenworld.planning.space.partition import Partition, partition
from tokenworld.session.exploring import explored
from tokenworld.session.loading import OpenWorld
from tokenworld.session.rules_met import Idle, RulesMet, idle_rules
from tokenworld.session.standing import Requires, standing_requires
from tokenworld.session.unread import Unread, unread_facts
from tokenworld.session.witnesses import Witnesses

__all__ = ["Audit", "Example", "NeverRefuses", "audit"]

Say = Callable[[str], None]
_FOR_GRAPH = 0.7
"""The share of the time that exploring may take."""


@frozen
class Example:
    """A shortest way to an edge, and the edge: what is done, where that is written, what happens.

    ``path`` leads from the start to the state in which ``step`` is given.
    """

    path: tuple[ShownStep, ...]
    step: ShownStep
    place: Span
    changes: tuple[Change, ...]
    said: tuple[str, ...]


@frozen
class NeverRefuses:
    """A require that was never the first to fail."""

    action: str
    condition: str
    place: Span


@frozen
class Audit:
    """All that was found. Without ``graph.complete`` it is what was found so far.

    ``looked_at`` is the number of states in which requires were examined, of ``playing``.
    """

    world: str
    graph: Graph[State]
    parts: Partition[State]
    dead_ends: tuple[tuple[DeadEnd, Example], ...]
    cruelty: Cruelty | None
    doors: tuple[tuple[Door, Example], ...]
    components: int
    component: tuple[int, ...]
    solution: tuple[ShownStep, ...]
    solution_ticks: int
    idle: tuple[Idle, ...]
    never_refuses: tuple[NeverRefuses, ...]
    looked_at: int
    playing: int
    unread: tuple[Unread, ...]
    secrets: tuple[Diagnostic, ...]
    guesses: tuple[Guess, ...]
    seconds: float


def audit(
    world: OpenWorld,
    goal: str | None,
    *,
    states: int,
    seconds: float,
    past_goal: bool = False,
    seed: int = 0,
    say: Say | None = None,
    cancel: Callable[[], bool] | None = None,
) -> Audit:
    """Explore what play can reach from the start (with the luck of ``seed`` in setups).

    ``past_goal`` counts what follows the goal as well, as planners count. `Failure` with TW0201
    where the world has no such goal, or none at all; with TW0801 where play cannot go on past it.
    """
    began = time.monotonic()
    engine, start = world.engine, world.engine.start(seed)
    simulator, met = EngineSimulator(engine, start), RulesMet(engine)
    require_goal(simulator, goal)
    met.begin(start)
    caps = Limits(states, seconds * _FOR_GRAPH)
    graph = explored(
        simulator, met, start, goal, caps, past_goal, _progress(say), cancel, say or _silent
    )
    parts = partition(graph)
    return _audited(world, simulator, graph, parts, met, began, seconds, past_goal)


def _silent(line: str) -> None:
    """Nobody wants to hear."""


def _progress(say: Say | None) -> Callable[[SearchProgress], None] | None:
    if say is None:
        return None
    return lambda now: say(
        f"state space: {now.states:,} states seen, {now.waiting:,} waiting, depth {now.depth}"
    )


def _audited(
    world: OpenWorld,
    simulator: EngineSimulator,
    graph: Graph[State],
    parts: Partition[State],
    met: RulesMet,
    began: float,
    seconds: float,
    past_goal: bool,
) -> Audit:
    engine = world.engine
    teller = _Teller(engine, simulator, graph, past_goal)
    kinds = dead_ends(graph, parts, teller.ending)
    component, count = components(graph)
    nodes = [node for node in range(graph.expanded) if not teller.ending(node)]
    looking = Witnesses(graph, nodes, simulator.told_by)
    requires, looked_at = standing_requires(
        engine, looking, began + seconds, met.actions, complete=graph.complete
    )
    sources = {source.name: source for source in world.loaded.sources}
    path = parts.solution()
    commands = [one.step.command for one in path]
    ticks = simulator.tick(graph.states[path[-1].node]) if path else 0
    return Audit(
        world=world.world.name,
        graph=graph,
        parts=parts,
        dead_ends=tuple((one, teller.example(one)) for one in kinds),
        cruelty=cruelty(kinds) if parts.places[0] in ("won", "winnable") else None,
        doors=tuple(
            (one, teller.example(one))
            for one in doors(graph, component, parts.closed, teller.ending)
        ),
        components=count,
        component=tuple(component),
        solution=teller.path(path[-1].node) if path else (),
        solution_ticks=ticks - simulator.tick(graph.states[0]) if path else 0,
        idle=idle_rules(met, requires, looking, sources, complete=graph.complete)
        if graph.expanded
        else (),  # of what was not looked at nothing is said
        never_refuses=_never_refuses(requires, graph.complete and looked_at == len(nodes)),
        looked_at=looked_at,
        playing=len(nodes),
        unread=unread_facts(engine.instance),
        secrets=secrets_read(world.program, commands),
        guesses=guesses(engine.instance),
        seconds=time.monotonic() - began,
    )


def _never_refuses(requires: dict[str, Requires], complete: bool) -> tuple[NeverRefuses, ...]:
    """Requires that could be left out without a difference; nothing is said of a part."""
    if not complete:
        return ()
    return tuple(
        NeverRefuses(name, require.source, require.span)
        for name, one in requires.items()
        if one.allowed
        for index, require in enumerate(one.action.requires)
        if index not in one.refused
    )


class _Teller:
    """Makes nodes and edges readable: the commands as written, what they change and say."""

    def __init__(
        self, engine: Engine, simulator: EngineSimulator, graph: Graph[State], past_goal: bool
    ) -> None:
        self._engine, self._simulator, self._graph = engine, simulator, graph
        self._past_goal = past_goal
        self._names: dict[int, str] = {}
        self._mask: int | None = None

    def ending(self, node: Node) -> str:
        """The ending that closed play in a node, empty if play goes on."""
        graph = self._graph
        if isinstance(graph, PackedGraph):
            if self._past_goal or graph.world.ends(graph.keys[node]) == PLAYING:
                return ""
            return self._named(graph, node)
        return self._ended(node)

    def _named(self, graph: PackedGraph[State], node: Node) -> str:
        """The same for a packed state in which play has ended, once for all that agree in what
        endings look at."""
        part = graph.keys[node] & self._ends_at(graph)
        if part not in self._names:
            self._names[part] = self._ended(node)
        return self._names[part]

    def _ends_at(self, graph: PackedGraph[State]) -> int:
        """The bits that endings look at."""
        if self._mask is None:
            masks = [
                graph.world.parts.condition(line.condition, ())
                for line in self._engine.instance.world.endings
            ]
            self._mask = -1 if None in masks else reduce(or_, (one or 0 for one in masks), 0)
        return self._mask

    def _ended(self, node: Node) -> str:
        graph, simulator = self._graph, self._simulator
        endings, state = self._engine.stepper.endings, graph.states[node]
        ended = simulator.won(state, graph.goal) or simulator.lost(state)
        if not (ended or endings.over(state)):
            return ""
        reached = endings.reached(state, state.me)
        losses = endings.named("lose")
        return next((name for name in reached if name in losses), reached[0] if reached else "")

    def shown(self, node: Node, move: Move, draws: tuple[LuckyDraw, ...]) -> ShownStep:
        """A step as people read it."""
        state, simulator = self._graph.states[node], self._simulator
        mover, call = simulator.mover(state), simulator.show(state, move.command)
        told = call if mover is None else f"{mover}: {call}"
        return ShownStep(told, simulator.cost(state, move.command), simulator.tick(state), draws)

    def path(self, node: Node) -> tuple[ShownStep, ...]:
        """A shortest way from the start to a node."""
        steps = []
        while (parent := self._graph.parents[node]) >= 0:
            number, outcome = self._graph.ways[node]
            move = self._graph.moves[parent][number]
            steps.append(self.shown(parent, move, move.draws[outcome]))
            node = parent
        return tuple(reversed(steps))

    def example(self, edge: DeadEnd | Door) -> Example:
        """An edge with the way to it, played in the interpreter for what it changes and says."""
        node, move = edge.node, self._graph.moves[edge.node][edge.move]
        draws = move.draws[edge.outcome]
        _, records = self._engine.play(self._played(node), move.command, ForcedLuck(draws))
        changes = (change for one in records for change in (*one.changes, *one.law_changes))
        said = tuple(line for one in records for line in one.said)
        step = self.shown(node, move, draws)
        return Example(self.path(node), step, self._place(move), tuple(changes), said)

    def _played(self, node: Node) -> State:
        """A node's state with all that was given and told on the way to it."""
        graph = self._graph
        if not isinstance(graph, PackedGraph) or self._past_goal:
            return graph.states[node]
        state: State = graph.states[0]
        for one in graph.path(node):
            after = self._simulator.leaning(state, one.step.command, one.step.draws)
            assert after is not None, "it was on the way to the node"
            state = after.state
        return state

    def _place(self, move: Move) -> Span:
        program, world = self._engine.instance.program, self._engine.instance.world
        action = program.actions.get(move.command.action)
        return world.span if action is None else action.span
