"""Plans from the present state, and plans that win under the draws of a seed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from tokenworld.engine import EngineSimulator, SeededLuck, State
from tokenworld.planning import PlanStep, Verdict, plan

if TYPE_CHECKING:
    from tokenworld.session.session import Session

__all__ = ["plan_for_seed", "solve", "wins_under_seed"]

Say = Callable[[str], None]
Cancel = Callable[[], bool]


def solve(
    session: Session,
    goal: str | None,
    *,
    time_limit: float,
    within: int | None = None,
    say: Say | None = None,
    cancel: Cancel | None = None,
) -> Verdict:
    """Climb the ladder from the session's present state; the plan is tried under its seed."""
    verdict = plan(
        EngineSimulator(session.engine, session.state),
        session.state,
        goal,
        time_limit=time_limit,
        within=within,
        progress=say,
        cancel=cancel,
    )
    if verdict.answer != "winnable":
        return verdict
    wins = wins_under_seed(session, session.state, verdict.steps, goal) is None
    return verdict.with_seed(session.state.seed, wins)


def wins_under_seed(
    session: Session, state: State, steps: tuple[PlanStep, ...], goal: str | None
) -> int | None:
    """Play a plan with the seed's own draws: ``None`` if it wins, else the step that it is off at.

    A plan is off where a step is refused, or at its end if the goal is not reached.
    """
    simulator = EngineSimulator(session.engine, state)
    for index, step in enumerate(steps):
        state, outcomes = session.engine.play(state, step.command, SeededLuck())
        if simulator.won(state, goal):
            return None
        if outcomes[-1].status not in ("executed", "waiting") or simulator.lost(state):
            return index
    return None if simulator.won(state, goal) else len(steps)


def plan_for_seed(
    session: Session,
    goal: str | None,
    *,
    time_limit: float,
    say: Say | None = None,
    cancel: Cancel | None = None,
) -> tuple[tuple[PlanStep, ...], Verdict]:
    """Steps that reach the goal under the session's own seed, with the verdict they rest on.

    A *possible* plan may count on luck that this seed does not have. Then it is played to the
    first tick whose draws differ from what it counted on, and planned anew from there: what a
    patient player would do. The steps are empty unless the verdict is winnable.
    """
    begin = time.monotonic()
    state = session.state
    done: list[PlanStep] = []
    verdict: Verdict | None = None
    while True:
        left = time_limit - (time.monotonic() - begin)
        found = plan(
            EngineSimulator(session.engine, state), state, goal,
            time_limit=max(left, 0.1), progress=say, cancel=cancel,
        )  # fmt: skip
        verdict = verdict or found
        if found.answer != "winnable":
            return (), found
        off = wins_under_seed(session, state, found.steps, goal)
        if off is None:
            return (*done, *found.steps), verdict.with_seed(session.state.seed, True)
        kept = found.steps[: _unlucky(session, state, found.steps) or 1]
        for step in kept:
            state, _ = session.engine.play(state, step.command, SeededLuck())
            done.append(PlanStep(step.command))


def _unlucky(session: Session, state: State, steps: tuple[PlanStep, ...]) -> int:
    """How many steps go as planned, and the one whose luck differs."""
    for index, step in enumerate(steps):
        state, outcomes = session.engine.play(state, step.command, SeededLuck())
        drawn = {(one.rule, one.args, one.draw): one.choice for o in outcomes for one in o.draws}
        hoped = {(one.rule, one.args, one.draw): one.choice for one in step.draws}
        if any(drawn.get(key) != choice for key, choice in hoped.items()):
            return index + 1
    return len(steps)
