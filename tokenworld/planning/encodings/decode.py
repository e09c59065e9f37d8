"""From a planner's operators back to the steps of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tokenworld.ground import Command, LuckyDraw
from tokenworld.planning.encodings.ir import Operator, Task
from tokenworld.planning.verdict import PlanStep

__all__ = ["NotAPlan", "check_plan", "decoded", "operators_named"]


class NotAPlan(Exception):
    """A planner's answer that is no plan of the task; the text says why, in a clause."""


def operators_named(task: Task, names: Iterable[str]) -> tuple[Operator, ...]:
    """The operators a planner names by the first word of their names."""
    known = {operator.name.split()[0]: operator for operator in task.operators}
    found = []
    for name in names:
        word = name.split()[0] if name.split() else ""
        if word not in known:
            raise NotAPlan(f"it names an operator `{name}` that does not exist")
        found.append(known[word])
    return tuple(found)


def check_plan(task: Task, operators: Sequence[Operator]) -> None:
    """Raise `NotAPlan` unless the operators lead from the start state of the task to its goal."""
    state = task.initial
    for position, operator in enumerate(operators, start=1):
        if not task.holds(state, operator.precondition):
            raise NotAPlan(f"operator {position}, `{operator.name}`, is not applicable there")
        state = task.apply(state, operator)
    if not task.holds(state, task.goal):
        raise NotAPlan("it does not end in the goal")


def decoded(operators: Iterable[Operator]) -> tuple[PlanStep, ...]:
    """The commands with the draws of their ticks; steps that nobody chooses are left out.

    What breaks off a long action comes before the command that does so and draws nothing.
    """
    steps: list[tuple[Command, list[LuckyDraw]]] = []
    for operator in operators:
        if operator.command is not None:
            steps.append((operator.command, list(operator.draws)))
        elif operator.draws:
            steps[-1][1].extend(operator.draws)
    return tuple(PlanStep(command, tuple(draws)) for command, draws in steps)
