"""Plans from a state, plans that win under the draws of its seed, and answers about luck."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from tokenworld.engine import Engine, EngineSimulator, SeededLuck, State
from tokenworld.planning import PlanStep, Verdict, plan
from tokenworld.planning.ladder import require_goal
from tokenworld.planning.proof.relaxed import out_of_reach

if TYPE_CHECKING:
    from tokenworld.planning.space.verdicts import LuckVerdict
from tokenworld.session.exploring import explored_for_luck

__all__ = ["plan_for_seed", "solve", "solve_luck", "was_explained", "wins_under_seed"]

_EXPLAINED = 2_000
"""Where so many states were enough to see that there is no plan, the reason is looked for."""

Say = Callable[[str], None]
Cancel = Callable[[], bool]


def solve(
    engine: Engine,
    state: State,
    goal: str | None,
    *,
    time_limit: float,
    within: int | None = None,
    say: Say | None = None,
    cancel: Cancel | None = None,
) -> Verdict:
    """Climb the ladder from a state; a plan is also tried under the draws of its seed."""
    verdict = plan(
        EngineSimulator(engine, state),
        state,
        goal,
        time_limit=time_limit,
        within=within,
        progress=say,
        cancel=cancel,
    )
    if verdict.answer != "winnable":
        return _explained(engine, state, verdict)
    return verdict.with_seed(state.seed, wins_under_seed(engine, state, verdict.steps, goal))


def was_explained(verdict: Verdict) -> bool:
    """Whether a simple reason was looked for: in vain if the verdict has none (TW0803)."""
    proof = verdict.proof
    return not (
        proof is None or proof.within is not None or (proof.states or _EXPLAINED + 1) > _EXPLAINED
    )


def _explained(engine: Engine, state: State, verdict: Verdict) -> Verdict:
    """The verdict with the reason why a small world cannot be won, where it is a simple one."""
    if not was_explained(verdict):
        return verdict
    reason = out_of_reach(EngineSimulator(engine, state), state, verdict.goal)
    return verdict if reason is None else replace(verdict, notes=(*verdict.notes, reason))


def solve_luck(
    engine: Engine,
    state: State,
    goal: str | None,
    luck: Literal["certain", "probability"],
    *,
    states: int,
    time_limit: float,
    say: Say | None = None,
    cancel: Cancel | None = None,
) -> LuckVerdict:
    """Whether the goal is certain, or how likely it is, from a state; `Failure` as in `solve`."""
    from tokenworld.planning.space.luck import LuckLimits, certainty, probability

    simulator, limits = EngineSimulator(engine, state), LuckLimits(states, time_limit)
    require_goal(simulator, goal)
    question = certainty if luck == "certain" else probability
    explorer = partial(explored_for_luck, simulator)
    return question(simulator, state, goal, limits, say=say, cancel=cancel, explorer=explorer)


def wins_under_seed(
    engine: Engine, state: State, steps: tuple[PlanStep, ...], goal: str | None
) -> bool:
    """Whether a plan reaches the goal with the seed's own draws, without a refusal."""
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
    cancel: Cancel | None = None,
) -> tuple[tuple[PlanStep, ...], Verdict]:
    """Steps that reach the goal under the seed of ``state``, with the verdict they rest on.

    A *possible* plan may count on luck that this seed does not have. Then it is played to the
    first tick whose draws differ from what it counted on, and planned anew from there: what a
    patient player would do. The verdict stays that of the first plan (`Verdict.wins_with_seed`
    says whether it needed that). The steps are empty unless every verdict is winnable.
    """
    begin = time.monotonic()
    done: list[PlanStep] = []
    first: Verdict | None = None
    while True:
        left = max(time_limit - (time.monotonic() - begin), 0.1)
        found = solve(engine, state, goal, time_limit=left, say=say, cancel=cancel)
        first = first or found
        if found.answer != "winnable":
            return (), found
        if found.wins_with_seed:
            return (*done, *found.steps), first
        for step in found.steps[: _lucky_steps(engine, state, found.steps)]:
            state, _ = engine.play(state, step.command, SeededLuck())
            done.append(PlanStep(step.command))


def _lucky_steps(engine: Engine, state: State, steps: tuple[PlanStep, ...]) -> int:
    """How many steps to keep: up to and with the first whose luck is not as counted on."""
    for index, step in enumerate(steps):
        state, outcomes = engine.play(state, step.command, SeededLuck())
        drawn = {(one.rule, one.args, one.draw): one.choice for o in outcomes for one in o.draws}
        hoped = {(one.rule, one.args, one.draw): one.choice for one in step.draws}
        if any(drawn.get(key) != choice for key, choice in hoped.items()):
            return index + 1
    return len(steps)
