"""The interpreter as referee: a plan counts only if replaying it reaches the goal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command, LuckyDraw, Simulator, StateT, Successor, few_successors
from tokenworld.model import ObjectType
from tokenworld.planning.verdict import PlanStep, ShownStep

__all__ = ["Replay", "replay", "shown"]

_MOST_OUTCOMES = 1 << 14
"""Outcomes of a step of which one is looked for, where it is not the first that is tried."""


@frozen
class Replay(Generic[StateT]):
    """What came of a replay.

    ``states`` are the states passed, the start first. ``steps`` are the steps that were taken, each
    with all draws of its tick; a plan that goes on after the goal is cut there. ``failed`` is the
    number of the step (from 0) that went wrong, the number of steps if the goal was never reached,
    and ``None`` if all is well; ``reason`` is then a clause that says why.
    """

    steps: tuple[PlanStep, ...]
    states: tuple[StateT, ...]
    failed: int | None = None
    reason: str = ""

    @property
    def ok(self) -> bool:
        return self.failed is None

    def failure(self, steps: int) -> str:
        """Where it failed, of so many steps, counting from 1 as people do; a clause."""
        failed = self.failed or 0
        return self.reason if failed >= steps else f"step {failed + 1}: {self.reason}"


def replay(
    simulator: Simulator[StateT], state: StateT, plan: Sequence[PlanStep], goal: str | None
) -> Replay[StateT]:
    """Play ``plan`` from ``state``, forcing exactly its draws, until ``goal`` is reached."""
    states, steps = [state], list[PlanStep]()

    def result(failed: int | None, reason: str = "") -> Replay[StateT]:
        return Replay(tuple(steps), tuple(states), failed, reason)

    for number, step in enumerate(plan):
        if simulator.won(state, goal):
            return result(None)
        taken = _take(simulator, state, step)
        if isinstance(taken, str):
            return result(number, taken)
        state = taken.state
        states.append(state)
        steps.append(PlanStep(step.command, taken.draws))
    if simulator.won(state, goal):
        return result(None)
    return result(len(plan), "the goal is not reached at the end")


def _take(simulator: Simulator[StateT], state: StateT, step: PlanStep) -> Successor[StateT] | str:
    """The successor that the step counts on, or a clause that says why there is none."""
    if _unborn(simulator, state, step.command):
        return f"`{step.command.action}` names an object that was not created by then"
    shown = _told(simulator, state, step)
    if simulator.lost(state):
        return f"`{shown}` comes after the end of the world"
    leaning = simulator.leaning(state, step.command, step.draws)
    if leaning is not None and _fits(step.draws, leaning.draws):
        return leaning  # of all that fit, the first: and if one fits exactly, that one
    successors = few_successors(simulator, state, step.command, _MOST_OUTCOMES)
    if successors is None:
        return f"`{shown}` has more outcomes of chance than can be looked through"
    if not successors:
        return f"`{shown}` is refused or rolled back there"
    fitting = [one for one in successors if _fits(step.draws, one.draws)]
    exact = [one for one in fitting if one.draws == step.draws]
    if not fitting:
        return f"`{shown}` cannot have the outcome of chance that the plan counts on"
    return (exact or fitting)[0]


def _unborn(simulator: Simulator[StateT], state: StateT, command: Command) -> bool:
    """Whether a command speaks of an object that nothing has created yet."""
    action = simulator.instance.program.actions.get(command.action)
    if action is None:
        return False
    named = [
        arg
        for arg, param in zip(command.args, action.params, strict=True)
        if isinstance(param.type, ObjectType) and isinstance(arg, int)
    ]
    return bool(named) and max(named) >= len(simulator.instance_at(state).objects)


def _fits(counted_on: Sequence[LuckyDraw], drawn: Sequence[LuckyDraw]) -> bool:
    """Whether all draws that a plan counts on are among those drawn.

    An encoding may leave out draws that its goal does not depend on.
    """
    return all(draw in drawn for draw in counted_on)


def _told(simulator: Simulator[StateT], state: StateT, step: PlanStep) -> str:
    """The command of a step, and who gives it where several actors take turns."""
    mover, call = simulator.mover(state), simulator.show(state, step.command)
    return call if mover is None else f"{mover}: {call}"


def shown(
    simulator: Simulator[StateT], states: Sequence[StateT], steps: Sequence[PlanStep]
) -> tuple[ShownStep, ...]:
    """Steps as people read them; ``states`` are those the steps are taken in, and more."""
    return tuple(
        ShownStep(
            _told(simulator, state, step),
            simulator.cost(state, step.command),
            simulator.tick(state),
            step.draws,
        )
        for state, step in zip(states, steps, strict=False)
    )
