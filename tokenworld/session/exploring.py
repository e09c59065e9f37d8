"""The state space of an open world: on the interpreter, or on packed states where it is large.

The interpreter is asked first, so that a small world is told about in every detail. What it did not
come to the end of goes on packed states, where a world has them (`planning.space.whole`): these
take a hundredth of the time and a tenth of the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine import EngineSimulator, State
from tokenworld.ground import Raw
from tokenworld.planning import Limits, SearchProgress
from tokenworld.planning.space.graph import Graph, explore
from tokenworld.planning.space.packed_graph import Build, PackedGraph, explore_packed
from tokenworld.planning.space.whole import Packed, packed
from tokenworld.session.rules_met import RulesMet

__all__ = ["builder", "explored"]

Progress = Callable[[SearchProgress], None] | None
Cancel = Callable[[], bool] | None
_SMALL = 5_000
"""So many states the interpreter looks at before packed states take over."""


def explored(
    simulator: EngineSimulator,
    met: RulesMet,
    start: State,
    goal: str | None,
    limits: Limits,
    past_goal: bool,
    progress: Progress,
    cancel: Cancel,
) -> Graph[State]:
    """All states that play can reach, or as many as limits allow; ``met`` hears what happens.

    `Failure` with TW0801 for ``past_goal`` where a world cannot be packed.
    """
    world = packed(simulator, start, goal) if past_goal or _large(limits) else None
    if past_goal and world is None:
        raise _no_way_past(simulator)
    first = limits if world is None else replace(limits, states=_SMALL)
    simulator.observe = met.observe
    try:
        graph = explore(simulator, start, goal, first, progress=progress, cancel=cancel)
    finally:
        simulator.observe = None
    if world is None or (graph.limit != "states" and not past_goal):
        return graph
    build = builder(simulator, start, past_goal)
    found = explore_packed(
        world, build, goal, limits, past_goal=past_goal, progress=progress, cancel=cancel
    )
    _meet(simulator, world, found, met)
    return found


def _large(limits: Limits) -> bool:
    return limits.states is None or limits.states > _SMALL


def _no_way_past(simulator: EngineSimulator) -> Failure:
    world = simulator.instance.world
    return Failure(
        Diagnostic(
            "TW0801",
            f"What follows the goal of `{world.name}` cannot be counted.",
            world.span,
            "here a tick is more than a command, or play ends otherwise than at the goal",
            hint="Leave `--past-goal` out.",
        )
    )


def builder(simulator: EngineSimulator, start: State, past_goal: bool = False) -> Build[State]:
    """Makes states from what a packed state holds; everything else is as in ``start``."""
    engine = simulator.engine
    columns = engine.layout.by_id

    def build(slots: Sequence[tuple[str, tuple[Raw, ...], Raw]], given: int) -> State:
        state = start.fork()
        for fluent, args, value in slots:
            column = columns[fluent]
            key = column.key(args)
            if state.get(column, key) != value:
                state.put(column, key, value)
        state.tick += given
        if not past_goal:
            engine.stepper.endings.progress(state, state.me)
        return state

    return build


def _meet(
    simulator: EngineSimulator, world: Packed, graph: PackedGraph[State], met: RulesMet
) -> None:
    """What happened on the edges: actions were done, goals were reached."""
    endings = simulator.engine.stepper.endings
    met.actions |= graph.done()
    goals = set(endings.named("goal"))
    build = builder(simulator, simulator.start())
    for node in graph.nodes():
        if goals <= met.endings:
            return
        if graph.won[node]:
            state = build(world.slots(graph.keys[node]), graph.depth[node])
            met.endings |= set(endings.reached(state, state.me))
