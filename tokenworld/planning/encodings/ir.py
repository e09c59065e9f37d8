"""The planning task all encodings are written from: finite variables, operators, a goal.

A *literal* is a variable with the positions of the values it may have. An operator is applicable
where all its preconditions hold; its effects are conditional, read the state before it, and never
give one variable two values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Literal as Kind

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command, LuckyDraw, Raw
from tokenworld.planning.verdict import PlanStep

__all__ = [
    "Effect",
    "Literal",
    "NotAPlan",
    "Operator",
    "Task",
    "Variable",
    "VariableKind",
    "check_plan",
    "command_of",
    "decoded",
    "operators_named",
]

Literal = tuple[int, tuple[int, ...]]
"""A variable and the positions (ascending) of the values it may have."""

VariableKind = Kind["slot", "token", "long", "ring", "was", "coin", "did", "alive", "aux"]


@frozen
class Variable:
    """A finite variable; ``initial`` is the position of its value in the start state.

    ``fluent`` and ``args`` name the stored slot it holds, where it holds one.
    """

    name: str
    kind: VariableKind
    values: tuple[Raw, ...]
    initial: int
    fluent: str | None = None
    args: tuple[Raw, ...] = ()


@frozen
class Effect:
    """``variable`` gets the value at a position where all conditions hold."""

    conditions: tuple[Literal, ...]
    variable: int
    value: int


@frozen
class Operator:
    """A step of a plan.

    ``command`` is what it stands for (``None`` for a step of the tick that nobody chooses) and
    ``draws`` the outcomes of chance it counts on.
    """

    name: str
    precondition: tuple[Literal, ...]
    effects: tuple[Effect, ...]
    cost: int = 0
    command: Command | None = None
    draws: tuple[LuckyDraw, ...] = ()


def command_of(operator: Operator) -> Command:
    """The command of an operator that stands for one."""
    assert operator.command is not None
    return operator.command


@dataclass(frozen=True)
class Task:
    """A whole planning task. Operator names are unique."""

    variables: tuple[Variable, ...]
    operators: tuple[Operator, ...]
    goal: tuple[Literal, ...]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the task, in hexadecimal: equal tasks have equal digests."""
        parts = (self.variables, self.operators, self.goal)
        return sha256(repr(parts).encode()).hexdigest()

    @property
    def initial(self) -> tuple[int, ...]:
        """The start state: the position of each variable's value."""
        return tuple(variable.initial for variable in self.variables)

    @staticmethod
    def holds(state: Sequence[int], literals: Sequence[Literal]) -> bool:
        """Whether all literals hold in a state."""
        return all(state[variable] in positions for variable, positions in literals)

    def apply(self, state: Sequence[int], operator: Operator) -> tuple[int, ...]:
        """The state after an operator that is applicable."""
        after = list(state)
        for effect in operator.effects:
            if self.holds(state, effect.conditions):
                after[effect.variable] = effect.value
        return tuple(after)


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
