"""From the steps of some planner to a verdict: only what the interpreter replays is believed."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from tokenworld.ground import Command, Simulator, StateT, few_successors
from tokenworld.planning.polish import needed_luck, without_idle_steps
from tokenworld.planning.replay import Replay, replay, shown
from tokenworld.planning.verdict import PlanStep, Verdict

__all__ = ["fitted", "refereed", "winnable"]

_MOST_SIDE_BY_SIDE = 512
_MOST_OUTCOMES = 4096
"""States kept side by side, and outcomes of a command that are looked through, at most."""


def refereed(
    simulator: Simulator[StateT],
    state: StateT,
    steps: Sequence[PlanStep],
    goal: str | None,
    engine: str,
    encoding: str,
    *,
    polish: bool = True,
) -> Verdict | str:
    """The verdict *winnable* of a plan, or a clause that says why it is none.

    ``polish`` takes out steps that it does not need.
    """
    replayed = replay(simulator, state, steps, goal)
    if not replayed.ok:
        return replayed.failure(len(steps))
    if polish:
        replayed = without_idle_steps(simulator, replayed, goal)
    return winnable(simulator, replayed, goal, engine, encoding)


def winnable(
    simulator: Simulator[StateT],
    replayed: Replay[StateT],
    goal: str | None,
    engine: str,
    encoding: str,
) -> Verdict:
    """The verdict of a plan that was replayed to the goal."""
    first, last = replayed.states[0], replayed.states[-1]
    kept = needed_luck(simulator, replayed, goal)
    names = (line.name for line in simulator.instance.world.goals)
    return Verdict(
        "winnable",
        goal,
        "found",
        engine,
        encoding,
        plan=shown(simulator, replayed.states, kept),
        steps=kept,
        ticks=simulator.tick(last) - simulator.tick(first),
        reached=tuple(name for name in names if simulator.won(last, name)),
        wins_with_seed=None if any(step.draws for step in kept) else True,
    )


def fitted(
    simulator: Simulator[StateT], state: StateT, commands: Sequence[Command], goal: str | None
) -> tuple[PlanStep, ...] | None:
    """The commands with outcomes of chance under which they reach the goal, if there are such.

    Plans in PDDL name actions and not always draws; all outcomes are followed side by side.
    """
    branches: list[tuple[StateT, tuple[PlanStep, ...]]] = [(state, ())]
    for command in commands:
        after: dict[Hashable, tuple[StateT, tuple[PlanStep, ...]]] = {}
        for now, steps in branches:
            if simulator.won(now, goal):
                return steps
            for one in few_successors(simulator, now, command, _MOST_OUTCOMES) or ():
                if len(after) < _MOST_SIDE_BY_SIDE and not simulator.lost(one.state):
                    taken = (*steps, PlanStep(command, one.draws))
                    after.setdefault(simulator.key(one.state), (one.state, taken))
        branches = list(after.values())
    return next((steps for now, steps in branches if simulator.won(now, goal)), None)
