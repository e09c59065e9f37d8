"""The analysis of ``tw audit``: dead ends, one-way doors, idle rules and unread facts of a world.

`planning.space` explores the states and sees worlds only as a `Simulator`; here the engine is asked
what happened on the way, why rules never happen, and what an example looks like.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import TypeVar

from tokenworld import model as m
from tokenworld.core import Rules, lowered
from tokenworld.diagnostics import Diagnostic, Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine import Engine, EngineSimulator, ForcedLuck, State, in_tick
from tokenworld.ground import Change, Instance, Json, LuckyDraw
from tokenworld.limits import attempt
from tokenworld.planning.honest.secrets import Guess, guesses, secrets_read
from tokenworld.planning.search.interpreted import Limits, SearchProgress, platform
from tokenworld.planning.search.packed.world import PLAYING
from tokenworld.planning.space.dead_ends import (
    Cruelty,
    DeadEnd,
    Partition,
    Underway,
    Unending,
    cruelty,
    dead_ends,
    partition,
    unending,
    unsorted,
)
from tokenworld.planning.space.graph import Door, Graph, Move, Node, components, doors
from tokenworld.planning.space.packed_graph import PackedGraph
from tokenworld.planning.verdict import Explaining, ShownStep, require_goal
from tokenworld.session.loading import OpenWorld
from tokenworld.session.solving import explored
from tokenworld.verbs.audit.rules import (
    Idle,
    Requires,
    RulesMet,
    Witnesses,
    idle_rules,
    meet,
    standing_requires,
)


@frozen
class Unread:
    """A fact that no rule reads; ``shown`` tells that words speak of it."""

    name: str
    shown: bool
    place: Span


def unread_facts(instance: Instance) -> tuple[Unread, ...]:
    """The stored facts of a world that no rule reads, in order of declaration.

    Tables, static facts and facts of types without objects are left out. What only derived facts
    read counts if something reads these in turn.
    """
    program, world = instance.program, instance.world
    decided = _decided(lowered(program), world.name)
    shown = m.fluents_read(_prose_terms(program, world), program.derives)
    return tuple(
        Unread(fluent.id, fluent.id in shown, fluent.span)
        for fluent in program.fluents.values()
        if fluent.id not in decided and not _for_records(fluent) and _here(instance, fluent)
    )


def _for_records(fluent: m.Fluent) -> bool:
    """Return whether a fact only describes a thing: no rule can change it."""
    return fluent.static or fluent.fluent_kind == "table"


def _here(instance: Instance, fluent: m.Fluent) -> bool:
    """Return whether the world has a slot of the fluent."""
    objects = (p.type.name for p in fluent.params if isinstance(p.type, m.ObjectType))
    return all(instance.members[name] for name in objects)


def _decided(rules: Rules, world: str) -> frozenset[str]:
    """The fluents that rules, endings, awards and the score read."""
    lines = rules.worlds[world]
    found = [one.footprint for one in rules.watches.values()]
    found += [one.footprint for one in rules.invariants.values()]
    found += [one.footprint for one in rules.conserves.values()]
    found += [one.footprint for one in lines.endings]
    found += [one.footprint for one in (*lines.awards, *lines.pays)]
    found.append(rules.footprint(() if lines.score is None else (lines.score,)))
    return frozenset[str]().union(*(one.read for one in (*rules.in_play, *found)))


def _prose_terms(program: m.Program, world: m.World) -> Iterator[m.Term]:
    """The terms that words show: texts, names, descriptions, and which objects can be named."""
    for action in program.actions.values():
        for template in action.phrases:
            yield from m.slot_terms(template)
        for require in action.requires:
            yield from () if require.text is None else m.slot_terms(require.text)
    spoken = [(*action.body, *action.cancelled) for action in program.actions.values()]
    spoken += [law.body for law in program.laws.values()]
    spoken += [watch.body for watch in program.watches.values()]
    for body in spoken:
        yield from _said(body)
    for describe in program.describes:
        yield from _said(describe.body)
        yield from m.body_terms(describe.body)
    for called in program.called:
        yield from (called.name, *called.aka)
    yield from (scope.condition for scope in program.scopes)
    for line in world.endings:
        yield from () if line.text is None else m.slot_terms(line.text)


def _said(body: m.Body) -> Iterator[m.Term]:
    for effect in m.effects_in(body):
        if isinstance(effect, m.Say):
            yield from m.slot_terms(effect.template)


T = TypeVar("T")
_FOR_GRAPH = 0.6
"""The share of the time that exploring may take."""


@frozen
class Example:
    """A shortest path to an edge, and the edge: its command, the place of its rule, its changes.

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
class NeverEnds:
    """A long action that can neither end nor be broken off in some ``states``, and a shortest way
    to the first of them."""

    action: str
    command: str
    states: int
    path: tuple[ShownStep, ...]
    place: Span


@frozen
class Audit:
    """The findings of an audit; partial where ``graph.complete`` is false.

    ``cut`` names the parts that a limit of time or memory ended; the audit has no result for them.

    ``looked_at`` is the number of states in which requires were examined, of ``playing``.
    ``platform`` is added to a proof about reals. ``notes`` list questions without an answer.
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
    never_ends: tuple[NeverEnds, ...]
    looked_at: int
    playing: int
    unread: tuple[Unread, ...]
    secrets: tuple[Diagnostic, ...]
    guesses: tuple[Guess, ...]
    seconds: float
    platform: str
    notes: tuple[Diagnostic, ...]
    cut: tuple[str, ...] = ()


def audit(
    world: OpenWorld,
    goal: str | None,
    *,
    states: int,
    seconds: float,
    past_goal: bool = False,
    seed: int = 0,
    say: Callable[[str], None] | None = None,
) -> Audit:
    """Explore what play can reach from the start (with the luck of ``seed`` in setups).

    ``past_goal`` counts what follows the goal as well, as planners count. `Failure` with TW0201
    where the world has no such goal, or none at all; with TW0801 where play cannot go on past it.
    """
    began = time.monotonic()
    engine, start = world.engine, world.engine.start(seed)
    simulator = EngineSimulator(engine, start)
    met = RulesMet(simulator)
    require_goal(simulator, goal)
    met.begin(start)
    caps = Limits(states, seconds * _FOR_GRAPH)
    graph = explored(simulator, met, start, goal, caps, past_goal, _progress(say), say or _silent)
    return _audited(world, simulator, graph, met, began, seconds, past_goal)


def audit_counts(
    world: OpenWorld, goal: str | None, states: int, seconds: float, seed: int
) -> tuple[bool, dict[str, Json]]:
    """Return whether an audit saw all states, and its counts, for `tw sweep`."""
    found = audit(world, goal, states=states, seconds=seconds, seed=seed)
    graph, parts = found.graph, found.parts
    won = parts.places[0] in ("won", "winnable")
    return graph.complete and not found.cut, {
        "start": parts.places[0],
        "states": len(graph),
        "edges": graph.edges,
        "won": parts.count("won"),
        "winnable": parts.count("winnable"),
        "dead": parts.count("dead"),
        "undecided": parts.count("undecided"),
        "commands": parts.steps,
        "ticks": found.solution_ticks if won else None,
        "optimal": parts.settled,
        "cruelty": found.cruelty,
        "dead_ends": len(found.dead_ends),
        "one_way_doors": len(found.doors),
    }


def _silent(line: str) -> None:
    """Nobody wants to hear."""


def _progress(say: Callable[[str], None] | None) -> Callable[[SearchProgress], None] | None:
    if say is None:
        return None
    return lambda now: say(
        f"state space: {now.states:,} states seen, {now.waiting:,} waiting, depth {now.depth}"
    )


Kinds = tuple[tuple[DeadEnd, Example], ...]
Ways = tuple[Sequence[int], int, tuple[tuple[Door, Example], ...]]


@dataclass(slots=True)
class _Phases:
    """The phases of an audit; those that a limit cuts off are left out, and named."""

    cut: list[str] = field(default_factory=list)

    def do(self, name: str, work: Callable[[], T]) -> T | None:
        """The result of one phase; ``None`` where a limit cuts it off."""
        return attempt(f"looking at {name}", work, lambda: self.cut.append(name))


def _audited(
    world: OpenWorld,
    simulator: EngineSimulator,
    graph: Graph[State],
    met: RulesMet,
    began: float,
    seconds: float,
    past_goal: bool,
) -> Audit:
    engine, phases, explaining = world.engine, _Phases(), Explaining()
    teller = _Teller(engine, simulator, graph, past_goal, explaining)
    if isinstance(graph, PackedGraph):
        phases.do("what happens", lambda: meet(simulator, graph, met))
    parts = phases.do("what can become of each state", lambda: partition(graph)) or unsorted(graph)
    path = parts.solution()
    solution = teller.path(path[-1].node) if path else ()
    kinds = phases.do("dead ends", lambda: _dead_ends(graph, parts, teller))
    apart = phases.do("one-way doors", lambda: _doors(graph, parts, teller))
    component, count, ways = apart or ((), 0, ())
    nodes = [node for node in range(graph.expanded) if not teller.ending(node)]
    looking = Witnesses(graph, nodes, simulator.told_by)
    stand = phases.do(
        "requires",
        lambda: explaining(
            "which requires refuse",
            lambda: standing_requires(
                simulator, looking, began + seconds, met.actions, complete=graph.complete
            ),
            None,
        ),
    )
    requires, looked_at = stand or ({}, 0)
    sources = {source.name: source for source in world.loaded.sources}
    idle = phases.do(
        "what never happens",
        lambda: (
            explaining(
                "what never happens",
                lambda: idle_rules(met, requires, looking, sources, complete=graph.complete),
                None,
            )
            if graph.expanded and not phases.cut
            else ()
        ),  # there is no result for unexamined requires
    )
    endless = phases.do("what never ends", teller.never_ends)
    commands = [one.step.command for one in path]
    ticks = simulator.tick(graph.states[path[-1].node]) if path else 0
    return Audit(
        world=world.world.name,
        graph=graph,
        parts=parts,
        dead_ends=kinds or (),
        cruelty=cruelty(tuple(one for one, _ in kinds))
        if kinds is not None and parts.places[0] in ("won", "winnable")
        else None,
        doors=ways,
        components=count,
        component=tuple(component),
        solution=solution,
        solution_ticks=ticks - simulator.tick(graph.states[0]) if path else 0,
        idle=idle or (),
        never_refuses=_never_refuses(requires, graph.complete and looked_at == len(nodes)),
        never_ends=endless or (),
        looked_at=looked_at,
        playing=len(nodes),
        unread=explaining("what is never read", lambda: unread_facts(engine.instance), ()),
        secrets=secrets_read(world.program, commands),
        guesses=explaining("what can be guessed", lambda: guesses(engine.instance), ()),
        seconds=time.monotonic() - began,
        platform=platform(engine.instance),
        notes=tuple(explaining.notes),
        cut=tuple(phases.cut),
    )


def _dead_ends(graph: Graph[State], parts: Partition[State], teller: _Teller) -> Kinds:
    return tuple((one, teller.example(one)) for one in dead_ends(graph, parts, teller.ending))


def _doors(graph: Graph[State], parts: Partition[State], teller: _Teller) -> Ways:
    """The component of each state, how many there are, and the doors between them."""
    component, count = components(graph)
    found = doors(graph, component, parts.closed, teller.ending)
    return component, count, tuple((one, teller.example(one)) for one in found)


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
    """Describes nodes and edges: the commands as written, their changes and their texts."""

    def __init__(
        self,
        engine: Engine,
        simulator: EngineSimulator,
        graph: Graph[State],
        past_goal: bool,
        explaining: Explaining,
    ) -> None:
        self._engine, self._simulator, self._graph = engine, simulator, graph
        self._past_goal, self._explaining = past_goal, explaining
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
        state = graph.states[node]
        ended = simulator.won(state, graph.goal) or simulator.lost(state)
        if not (ended or simulator.asked(state, lambda tick: tick.of.goals.over(tick.row.S))):
            return ""
        reached = simulator.reached(state)
        lines = simulator.instance.world.endings
        losses = [one.name for one in lines if one.ending == "lose"]
        return next((name for name in reached if name in losses), reached[0] if reached else "")

    def shown(self, node: Node, move: Move, draws: tuple[LuckyDraw, ...]) -> ShownStep:
        """A step as people read it."""
        state, simulator = self._graph.states[node], self._simulator
        mover, call = simulator.mover(state), simulator.show(state, move.command)
        told = call if mover is None else f"{mover}: {call}"
        return ShownStep(told, simulator.cost(state, move.command), simulator.tick(state), draws)

    def never_ends(self) -> tuple[NeverEnds, ...]:
        """The long actions that can neither end nor be broken off."""
        actions = self._simulator.instance.program.actions.values()
        if not any(one.may_be_long for one in actions):
            return ()
        found = unending(self._graph, self._underway, self.ending)
        return tuple(map(self._never_ends, found))

    def _underway(self, node: Node) -> Iterable[Underway]:
        graph = self._graph
        if isinstance(graph, PackedGraph):
            running = graph.world.running(graph.keys[node])
            return () if running is None else ((None, running[0]),)
        state = graph.states[node]
        several = len(state.actors) > 1
        return [
            (state.names[actor] if several and actor is not None else None, long.command)
            for actor, long in state.longs
        ]

    def _never_ends(self, one: Unending) -> NeverEnds:
        shown = self._simulator.show(self._graph.states[one.node], one.command)
        told = shown if one.actor is None else f"{one.actor}: {shown}"
        span = self._engine.instance.program.actions[one.command.action].span
        return NeverEnds(one.command.action, told, one.states, self.path(one.node), span)

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
        """Return an edge with a path to it, played in the interpreter for its changes and texts."""
        move = self._graph.moves[edge.node][edge.move]
        bare = ShownStep(move.command.action or "pass", 0, 0)
        alone = Example((), bare, self._place(move), (), ())
        return self._explaining(f"the way to `{bare.command}`", lambda: self._example(edge), alone)

    def _example(self, edge: DeadEnd | Door) -> Example:
        node, move = edge.node, self._graph.moves[edge.node][edge.move]
        draws = move.draws[edge.outcome]
        state = self._played(node)
        luck = ForcedLuck(in_tick(state.drawn, draws))
        _, records = self._engine.play(state, move.command, luck)
        changes = (change for one in records for change in (*one.changes, *one.law_changes))
        said = tuple(line for one in records for line in one.said)
        step = self.shown(node, move, draws)
        return Example(self.path(node), step, self._place(move), tuple(changes), said)

    def _played(self, node: Node) -> State:
        """A node's state with the commands and texts of the path to it."""
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
