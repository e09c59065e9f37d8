"""Plans and state spaces of an open world: verdicts, answers about luck, reasons of *unwinnable*.

The interpreter explores first, so that a small world is described in every detail. A larger state
space is explored on packed states where the world has them (`planning.search.packed.lowered`): a
hundredth of the time and a tenth of the memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from tokenworld.diagnostics import Diagnostic, Failure, did_you_mean
from tokenworld.engine import Engine, EngineSimulator, SeededLuck, State, in_tick
from tokenworld.engine.rows.commit import remove_object, store_value
from tokenworld.engine.rows.layout import TICK
from tokenworld.engine.rows.stepper import Tick
from tokenworld.engine.searching.ticks import Listener
from tokenworld.engine.state import LongAction
from tokenworld.ground import Instance, StateT, instantiate
from tokenworld.model import Body, Program
from tokenworld.planning.ladder import plan
from tokenworld.planning.proof.relaxed import out_of_reach
from tokenworld.planning.search.interpreted import Limits, SearchProgress
from tokenworld.planning.verdict import Explaining, PlanStep, Verdict, require_goal
from tokenworld.prose.wording import EnglishProse
from tokenworld.session.loading import OpenWorld

if TYPE_CHECKING:
    from tokenworld.planning.lower.algebra import Obstacle
    from tokenworld.planning.planners.answers import Classical
    from tokenworld.planning.proof.reasons import Explanation
    from tokenworld.planning.search.packed.world import Packed
    from tokenworld.planning.space.graph import Exploring, Graph
    from tokenworld.planning.space.luck import By, LuckVerdict
    from tokenworld.planning.space.observed_draws import Observed, ObservedSimulator
    from tokenworld.planning.space.packed_graph import Build

Progress = Callable[[SearchProgress], None] | None
Cancel = Callable[[], bool]
Say = Callable[[str], None]
_MOST_BUILT = 1 << 13
"""States made from packed ones that are kept, for many questions are about the same ones."""
_SMALL = 256
"""So many states the interpreter looks at before packed states take over."""


def explored(
    simulator: EngineSimulator,
    met: Listener,
    start: State,
    goal: str | None,
    limits: Limits,
    past_goal: bool,
    progress: Progress,
    say: Say = lambda line: None,
) -> Graph[State]:
    """All states that play can reach, or as many as limits allow.

    ``met`` observes the edges of the interpreter; for a `PackedGraph` use `meeting.meet`.

    ``say`` is called with the form in which states are held, and the number that fit into memory.

    Raises `Failure` (TW0801) for ``past_goal`` if a world cannot be packed.
    """
    from tokenworld.planning.space.graph import Exploring
    from tokenworld.planning.space.packed_graph import explore_packed

    edges: int | None = None
    if not past_goal:
        first = replace(limits, states=_SMALL) if _large(limits) else limits
        exploring = Exploring(simulator, start, goal)
        graph = _interpreted(simulator, met, exploring, first, progress)
        if first is limits or graph.limit != "states":
            return graph
        edges = _edges(graph, limits)
    obstacles: list[Obstacle] = []
    world, slow = _packed(simulator, start, goal, obstacles, edges)
    if past_goal and (world is None or not world.plain):
        raise _no_way_past(simulator)
    say(_held(world, slow, obstacles, limits))
    if world is None:
        return _interpreted(simulator, met, exploring, limits, progress)
    build = builder(simulator, world, start, past_goal)
    return explore_packed(
        world,
        build,
        simulator.successors,
        goal,
        limits,
        past_goal=past_goal,
        progress=progress,
    )


def explored_for_luck(
    simulator: EngineSimulator,
    tries: ObservedSimulator[State],
    start: Observed[State],
    goal: str | None,
    limits: Limits,
    progress: Progress,
) -> Graph[Observed[State]]:
    """The same for questions about luck, in which every state keeps a name of its own.

    If the order of contents distinguishes states, or luck may leave a command without effect,
    packed states would not name them all: such a world is left to the interpreter.
    """
    from tokenworld.planning.space.graph import Exploring
    from tokenworld.planning.space.observed_draws import Observed
    from tokenworld.planning.space.packed_graph import explore_packed

    first = replace(limits, states=_SMALL) if _large(limits) else limits
    exploring = Exploring(tries, start, goal)
    graph = exploring.on(first, progress=progress)
    if first is limits or graph.limit != "states":
        return graph
    ordered = any(children is not None for children in start.state.kids)
    world = None
    if not (ordered or tries.fails):
        world, _ = _packed(simulator, start.state, goal, [], _edges(graph, limits))
    if world is None or world.fails:
        return exploring.on(limits, progress=progress)
    build = builder(simulator, world, start.state)
    return explore_packed(
        world,
        lambda key, ticks: Observed(build(key, ticks)),
        tries.successors,
        goal,
        limits,
        progress=progress,
    )


def _edges(graph: Graph[StateT], limits: Limits) -> int | None:
    """The estimated number of edges to reach as many states as there may be."""
    return None if limits.states is None else graph.edges * limits.states // len(graph)


def _packed(
    simulator: EngineSimulator,
    start: State,
    goal: str | None,
    obstacles: list[Obstacle],
    edges: int | None,
) -> tuple[Packed | None, bool]:
    """The world packed; whether it is not because that would take too long."""
    from tokenworld.planning.lower.algebra import Explosion
    from tokenworld.planning.search.packed.lowered import packed_in_time

    try:
        return packed_in_time(simulator, start, goal, obstacles, edges), False
    except Explosion:
        return None, True


def _held(world: Packed | None, slow: bool, obstacles: list[Obstacle], limits: Limits) -> str:
    """The representation of the states: the estimate before the search begins."""
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
    from tokenworld.planning.space.packed_graph import STATE_BYTES

    room = "" if limits.memory is None else f", room for some {limits.memory // STATE_BYTES:,}"
    ways = len(dict.fromkeys(world.commands))
    return f"state space: states of {world.packing.width} bits, {ways:,} commands{room}"


def _interpreted(
    simulator: EngineSimulator,
    met: Listener,
    exploring: Exploring[State],
    limits: Limits,
    progress: Progress,
) -> Graph[State]:
    simulator.listener = met
    try:
        return exploring.on(limits, progress=progress)
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
    """Return a function that makes states of packed ones, with the other values of ``start``."""
    known: dict[tuple[int, int], State] = {}

    def build(key: int, ticks: int) -> State:
        state = known.get((key, ticks))
        if state is None:
            if len(known) >= _MOST_BUILT:
                known.clear()
            state = known[key, ticks] = built(key, ticks)
        return state

    def built(key: int, ticks: int) -> State:
        def change(tick: Tick) -> None:
            row, slots = tick.row, tick.slots
            for number in world.gone(key):
                remove_object(row, number)
            for fluent, args, value in world.slots(key):
                place = slots.slot(slots.by_id[fluent], args)
                slots.fill(row.S)
                if row.S[place] != value:
                    store_value(row, place, value)
            if (long := world.running(key)) is not None:
                tick.set_long(LongAction(*long))
            row.set(TICK, row.S[TICK] + ticks)
            if not past_goal:
                tick.progress()

        return simulator.made(start, change)

    return build


WhichLuck = Literal["possible", "least", "waits"]
"""The luck that a plan may count on (see `solve`)."""

_SOONER = 10.0
"""Seconds at most of the searches for a plan with less luck after a plan is found. Their limit of
states ends most of them before."""

_EXPLAINED = 2_000
"""The reason why there is no plan is looked for where so many states were enough to see that."""

_SIMPLE = 5.0
"""Seconds that this takes at most."""


def solve(
    engine: Engine,
    state: State,
    goal: str | None,
    *,
    time_limit: float,
    within: int | None = None,
    luck: WhichLuck = "possible",
    original: Classical | None = None,
    say: Say | None = None,
    cancel: Cancel | None = None,
) -> Verdict:
    """Climb the ladder from a state; a plan is also tried under the draws of its seed.

    ``original`` runs a planner on the PDDL that the state was imported from.

    If the plan needs luck, the search continues: for equally good plans with likelier draws
    (``luck`` is *possible*), for the plan that needs the *least* luck, or for the one with the
    shortest expected time if a player *waits* for its draws.
    """
    began = time.monotonic()
    verdict = plan(
        EngineSimulator(engine, state),
        state,
        goal,
        time_limit=time_limit,
        within=within,
        original=original,
        progress=say,
        cancel=cancel,
    )
    if verdict.answer != "winnable":
        return _explained(engine, state, verdict)
    left = max(time_limit - (time.monotonic() - began), 0.0)
    verdict = with_less_luck(engine, state, verdict, luck, seconds=left, cancel=cancel)
    steps, certain = verdict.steps, verdict.wins_with_seed is True  # it counts on no draw
    wins = certain or wins_under_seed(engine, state, steps, goal)
    return verdict.with_seed(state.seed, wins)


def with_less_luck(
    engine: Engine,
    state: State,
    verdict: Verdict,
    luck: WhichLuck,
    *,
    seconds: float,
    cancel: Cancel | None = None,
) -> Verdict:
    """The verdict with a plan that counts on less luck, where one is found (see `solve`)."""
    if verdict.counts_on_luck:
        from tokenworld.planning.space.luck import least_luck, likelier

        simulator = EngineSimulator(engine, state)
        if luck == "possible":
            short = min(seconds, _SOONER)
            return likelier(simulator, state, verdict, seconds=short, cancel=cancel)
        by: By = "chance" if luck == "least" else "ticks"
        bounded = seconds if luck == "least" else min(seconds, _SOONER)
        verdict = least_luck(simulator, state, verdict, by, seconds=bounded, cancel=cancel)
    return replace(verdict, luck="least") if luck == "least" else verdict


def was_explained(verdict: Verdict) -> bool:
    """Return whether a simple reason was looked for, also if the verdict has none (TW0803)."""
    proof = verdict.proof
    return not (
        proof is None or proof.within is not None or (proof.states or _EXPLAINED + 1) > _EXPLAINED
    )


def _explained(engine: Engine, state: State, verdict: Verdict) -> Verdict:
    """The verdict with the reason why a small world cannot be won, where it is a simple one."""
    if not was_explained(verdict):
        return verdict
    explaining = Explaining()
    reason = explaining(
        "a simple reason",
        lambda: out_of_reach(EngineSimulator(engine, state), state, verdict.goal),
        None,
        seconds=_SIMPLE,
    )
    found = () if reason is None else (reason,)
    return replace(verdict, notes=(*verdict.notes, *found, *explaining.notes))


def solve_luck(
    engine: Engine,
    state: State,
    goal: str | None,
    luck: Literal["certain", "probability"],
    *,
    states: int,
    time_limit: float,
    say: Say | None = None,
) -> LuckVerdict:
    """Return whether the goal is certain, or how likely it is, from a state; `Failure` as in
    `solve`."""
    from tokenworld.planning.space.luck import LuckLimits, certainty, probability

    simulator, limits = EngineSimulator(engine, state), LuckLimits(states, time_limit)
    require_goal(simulator, goal)
    question = certainty if luck == "certain" else probability
    explorer = partial(explored_for_luck, simulator)
    return question(simulator, state, goal, limits, say=say, explorer=explorer)


def wins_under_seed(
    engine: Engine, state: State, steps: tuple[PlanStep, ...], goal: str | None
) -> bool:
    """Return whether a plan reaches the goal with the seed's own draws, without a refusal."""
    simulator = EngineSimulator(engine, state)
    for step in steps:
        state, outcomes = engine.play(state, step.command, SeededLuck())
        if simulator.won(state, goal):
            return True
        if outcomes[-1].status not in ("executed", "waiting") or simulator.lost(state):
            return False
    return simulator.won(state, goal)


def plan_for_seed(
    engine: Engine,
    state: State,
    goal: str | None,
    *,
    time_limit: float,
    say: Say | None = None,
) -> tuple[tuple[PlanStep, ...], Verdict]:
    """Steps that reach the goal under the seed of ``state``, with the verdict that they depend on.

    A *possible* plan may count on luck that this seed does not have. Then it is played to the first
    tick whose draws differ from those that it counted on, and planned again from there, as a
    patient player would; a step that luck leaves without effect is omitted, since its result stays
    the same until a tick passes. The verdict stays that of the first plan (`Verdict.wins_with_seed`
    says whether it needed that). The steps are empty unless every verdict is winnable.
    """
    from tokenworld.planning.space.observed_draws import NOTHING, Observed, planned_on

    begin, simulator, known = time.monotonic(), EngineSimulator(engine, state), NOTHING
    done: list[PlanStep] = []
    first: Verdict | None = None
    while True:
        left = max(time_limit - (time.monotonic() - begin), 0.1)
        if first is None or not known:
            found = solve(engine, state, goal, time_limit=left, luck="waits", say=say)
        else:
            steps = planned_on(simulator, Observed(state, known), goal, left)
            sure = wins_under_seed(engine, state, steps, goal)
            found = replace(first, answer="winnable" if steps else "unknown", steps=steps)
            found = found.with_seed(state.seed, sure)
        first = first or found
        if found.answer != "winnable":
            return (), found
        if found.wins_with_seed:
            return (*done, *found.steps), first
        for step in found.steps[: _lucky_steps(engine, state, found.steps)]:
            known = simulator.tried(state, step.command, known)
            state, outcomes = engine.play(state, step.command, SeededLuck())
            if not outcomes[-1].fruitless:
                done.append(PlanStep(step.command))


def _lucky_steps(engine: Engine, state: State, steps: tuple[PlanStep, ...]) -> int:
    """Return how many steps to keep: up to and with the first whose luck is not as counted on."""
    for index, step in enumerate(steps):
        before = state.drawn
        state, outcomes = engine.play(state, step.command, SeededLuck())
        drawn = {(one.rule, one.args, one.draw): one.choice for o in outcomes for one in o.draws}
        hoped = {(one.rule, one.args, one.draw): one.choice for one in in_tick(before, step.draws)}
        if any(drawn.get(key) != choice for key, choice in hoped.items()):
            return index + 1
    return len(steps)


def explain_unwinnable(
    world: OpenWorld, state: State, verdict: Verdict, *, seconds: float, full: bool
) -> tuple[Explanation, ...]:
    """Explain each goal line that an *unwinnable* verdict is about, in written order.

    ``seconds`` are shared by all of them. Repairs are tried from the start state of ``state``'s
    seed. Empty for any other verdict.
    """
    if verdict.answer != "unwinnable":
        return ()
    from tokenworld.planning.proof.reasons import explain
    from tokenworld.planning.proof.unsolvable_core import Variants

    asked = [
        line.name for line in world.world.goals if verdict.goal is None or line.name == verdict.goal
    ]
    simulator = EngineSimulator(world.engine, state)

    def remake(program: Program) -> Instance:
        return instantiate(program, program.worlds[world.world.name], world.instance.params)

    def rebuild(program: Program, body: Body) -> tuple[EngineSimulator, State]:
        engine = Engine(remake(program), EnglishProse())
        start = engine.start(state.seed)
        if body:
            start = engine.edit(start, body)
        return EngineSimulator(engine, start), start

    quote = {source.name: source.text for source in world.loaded.sources}
    states = None if verdict.proof is None else verdict.proof.states
    relaxed = full or len(asked) > 1 or not was_explained(verdict) or _is_hopeless(verdict)
    variants = Variants(quote, remake, rebuild, states, relaxed)
    return tuple(
        explain(
            simulator,
            state,
            name,
            variants,
            seconds=seconds / len(asked),
            full=full,
        )
        for name in asked
    )


def _is_hopeless(verdict: Verdict) -> bool:
    """Return whether it was found that the goal is out of reach even if nothing were ever
    undone."""
    return any(note.code == "TW0803" for note in verdict.notes)


def check_goal(opened: OpenWorld, goal: str | None) -> None:
    """Usage, not a verdict: `Failure` (TW0006) for a goal that the world does not have."""
    world = opened.world
    names = [line.name for line in world.goals]
    if goal is None or goal in names:
        return
    known = ", ".join(f"`{name}`" for name in names)
    hint = did_you_mean(goal, names) or (f"Its goals are {known}." if names else "It has none.")
    what = f"The world `{world.name}` has no goal `{goal}`."
    raise Failure(Diagnostic("TW0006", what, world.span, "this world", hint=hint))
