"""The planning task all encodings are written from: finite variables, operators, a goal.

A *literal* is a variable with the positions of the values it may have. An operator is applicable
where all its preconditions hold; its effects are conditional, read the state before it, and never
give one variable two values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Literal as Kind

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command, LuckyDraw, Raw

__all__ = ["Effect", "Literal", "Operator", "Task", "Variable", "VariableKind"]

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
