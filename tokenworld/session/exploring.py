"""The state space of an open world: on the interpreter, or on packed states where it is large.

The interpreter is asked first, so that a small world is told about in every detail. What it did not
come to the end of goes on packed states, where a world has them (`planning.explore.whole`): these
take a hundredth of the time and a tenth of the memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.engine import EngineSimulator, State
from tokenworld.engine.layout import Column
from tokenworld.engine.state import LongAction
from tokenworld.ground import Raw
from tokenworld.model import ObjectType
from tokenworld.planning import Limits, SearchProgress
from tokenworld.planning.space.graph import Exploring, Graph
from tokenworld.planning.space.packed_graph import STATE_BYTES, Build, explore_packed
from tokenworld.session.meeting import meet
from tokenworld.session.rules_met import RulesMet

if TYPE_CHECKING:
    from tokenworld.planning.explore.packed import Packed
    from tokenworld.planning.lower.algebra import Obstacle

__all__ = ["builder", "explored", "explored_for_luck"]

Progress = Callable[[SearchProgress], None] | None
Cancel = Callable[[], bool] | None
Say = Callable[[str], None]
_MOST_BUILT = 1 << 13
"""States made from packed ones that are kept, for many questions are about the same ones."""
_SMALL = 256
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
    say: Say = lambda line: None,
) -> Graph[State]:
    """All states that play can reach, or as many as limits allow; ``met`` hears what happens.

    ``say`` hears how the states are held, and how many there is room for.

    `Failure` with TW0801 for ``past_goal`` where a world cannot be packed.
    """
    edges: int | None = None
    if not past_goal:
        first = replace(limits, states=_SMALL) if _large(limits) else limits
        exploring = Exploring(simulator, start, goal)
        graph = _interpreted(simulator, met, exploring, first, progress, cancel)
        if first is limits or graph.limit != "states":
            return graph
        edges = _edges(graph, limits)
    obstacles: list[Obstacle] = []
    world, slow = _packed(simulator, start, goal, obstacles, edges)
    if past_goal and (world is None or not world.plain):
        raise _no_way_past(simulator)
    say(_held(world, slow, obstacles, limits))
    if world is None:
        return _interpreted(simulator, met, exploring, limits, progress, cancel)
    build = builder(simulator, world, start, past_goal)
    found = explore_packed(
        world,
        build,
        simulator.successors,
        goal,
        limits,
        past_goal=past_goal,
        progress=progress,
        cancel=cancel,
    )
    meet(simulator, found, met)
    return found


def explored_for_luck(
    simulator: EngineSimulator,
    start: State,
    goal: str | None,
    limits: Limits,
    progress: Progress,
    cancel: Cancel,
) -> Graph[State]:
    """The same for questions about luck, in which every state keeps a name of its own.

    Where the order of contents tells states apart, packed states would not name them all: such a
    world is left to the interpreter.
    """
    first = replace(limits, states=_SMALL) if _large(limits) else limits
    exploring = Exploring(simulator, start, goal)
    graph = exploring.on(first, progress=progress, cancel=cancel)
    if first is limits or graph.limit != "states":
        return graph
    ordered = any(children is not None for children in start.kids)
    world = None if ordered else _packed(simulator, start, goal, [], _edges(graph, limits))[0]
    if world is None:
        return exploring.on(limits, progress=progress, cancel=cancel)
    build = builder(simulator, world, start)
    return explore_packed(
        world, build, simulator.successors, goal, limits, progress=progress, cancel=cancel
    )


def _edges(graph: Graph[State], limits: Limits) -> int | None:
    """How many edges it takes to see as many states as there may be, by what it took so far."""
    return None if limits.states is None else graph.edges * limits.states // len(graph)


def _packed(
    simulator: EngineSimulator,
    start: State,
    goal: str | None,
    obstacles: list[Obstacle],
    edges: int | None,
) -> tuple[Packed | None, bool]:
    """The world packed; whether it is not because that would take too long."""
    from tokenworld.planning.explore.whole import packed_in_time
    from tokenworld.planning.lower.diagram import Explosion

    try:
        return packed_in_time(simulator, start, goal, obstacles, edges), False
    except Explosion:
        return None, True


def _held(world: Packed | None, slow: bool, obstacles: list[Obstacle], limits: Limits) -> str:
    """How the states are held: the estimate before it begins."""
    if world is None:
        why = (
            ": it would take longer than it saves"
            if slow
            else "".join(
                f": {one.construct} ({one.span.file}:{one.span.line}), {one.reason}"
                for one in obstacles[:1]
            )
        )
        return f"state space: states cannot be packed{why}; the interpreter explores them"
    room = "" if limits.memory is None else f", room for some {limits.memory // STATE_BYTES:,}"
    ways = len(dict.fromkeys(world.commands))
    return f"state space: states of {world.packing.width} bits, {ways:,} commands{room}"


def _interpreted(
    simulator: EngineSimulator,
    met: RulesMet,
    exploring: Exploring[State],
    limits: Limits,
    progress: Progress,
    cancel: Cancel,
) -> Graph[State]:
    simulator.listener = met
    try:
        return exploring.on(limits, progress=progress, cancel=cancel)
    finally:
        simulator.listener = None


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


def builder(
    simulator: EngineSimulator, world: Packed, start: State, past_goal: bool = False
) -> Build[State]:
    """Makes states from what a packed state holds; everything else is as in ``start``."""
    engine = simulator.engine
    columns = engine.layout.by_id

    known: dict[tuple[int, int], State] = {}

    def build(key: int, ticks: int) -> State:
        state = known.get((key, ticks))
        if state is None:
            if len(known) >= _MOST_BUILT:
                known.clear()
            state = known[key, ticks] = built(key, ticks)
        return state

    def built(key: int, ticks: int) -> State:
        state = start.fork()
        for number in world.gone(key):
            _bury(state, number)
        for fluent, args, value in world.slots(key):
            column = columns[fluent]
            spot = column.key(args)
            if state.get(column, spot) != value:
                state.put(column, spot, value)
        if (long := world.running(key)) is not None:
            state.begin(state.me, LongAction(*long))
        state.tick += ticks
        if not past_goal:
            engine.stepper.endings.progress(state, state.me)
        return state

    return build


def _bury(state: State, number: int) -> None:
    """Take an object out with its slots; what others hold of it is told by their own slots."""
    for column in state.layout.columns:
        if column.by_object:
            state.put(column, number, None)
        elif column.tupled:
            for key in [one for one in state.cols[column.index] if _names(column, one, number)]:
                state.put(column, key, column.default)
    state.bury(number)


def _names(column: Column, key: tuple[Raw, ...], number: int) -> bool:
    params = column.fluent.params
    return any(
        value == number and isinstance(param.type, ObjectType)
        for value, param in zip(key, params, strict=True)
    )
