"""The planning task all encodings are written from, and encoding E, its SAS+ text.

A *literal* is a variable with the positions of the values it may have. An operator is applicable
where all its preconditions hold; its effects are conditional, read the state before it, and never
give one variable two values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Literal as Kind

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command, LuckyDraw, Raw
from tokenworld.planning.verdict import PlanStep

Literal = tuple[int, tuple[int, ...]]
"""A variable and the positions (ascending) of the values it may have."""

VariableKind = Kind[
    "slot", "token", "long", "ring", "clock", "was", "coin", "did", "alive", "award", "group",
    "aux",
]  # fmt: skip


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

    ``command`` is its command (``None`` for a step of the tick that nobody chooses) and
    ``draws`` the outcomes of chance it counts on.
    """

    name: str
    precondition: tuple[Literal, ...]
    effects: tuple[Effect, ...]
    cost: int = 0
    command: Command | None = None
    draws: tuple[LuckyDraw, ...] = ()


def command_of(operator: Operator) -> Command:
    """The command of an operator that represents one."""
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
        """Return whether all literals hold in a state."""
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
    """The commands with the draws of their ticks; forced steps are left out.

    The end of a long action is before the command that ends it, and draws nothing.
    """
    steps: list[tuple[Command, list[LuckyDraw]]] = []
    for operator in operators:
        if operator.command is not None:
            steps.append((operator.command, list(operator.draws)))
        elif operator.draws:
            steps[-1][1].extend(operator.draws)
    return tuple(PlanStep(command, tuple(draws)) for command, draws in steps)


# ---- encoding E -----------------------------------------------------------------------------
# SAS+ text, version 3, with conditional effects and a metric. It knows only single values in
# conditions: for each set of values that a condition asks for there is one more variable, *in the
# set or not*, kept up by every effect on the variable it watches. That adds no states and spares
# one operator per value.

_MOST_EFFECTS = 2_000_000


class TooManyEffects(Exception):
    """Single-valued, the task has more effects than ``most``, with those of ``operator``."""

    def __init__(self, operator: Operator) -> None:
        super().__init__(operator)
        self.operator, self.most = operator, _MOST_EFFECTS


def single_valued(task: Task) -> Task:
    """The same task, where every literal names exactly one value; raises `TooManyEffects`."""
    watched, made, effects = _Watched(task), list[Operator](), 0
    if len(watched.variables) == len(task.variables):
        return task
    for operator in task.operators:
        made.append(watched.operator(operator, _MOST_EFFECTS - effects))
        effects += len(made[-1].effects)
    operators = tuple(made)
    return Task(tuple(watched.variables), operators, watched.literals(task.goal))


class _Watched:
    """The sets of values that conditions ask for, and the variables that watch them."""

    def __init__(self, task: Task) -> None:
        self.variables = list(task.variables)
        self._numbers: dict[Literal, int] = {}
        self._sets: dict[int, list[tuple[frozenset[int], int]]] = {}
        for literal in _literals(task):
            if len(literal[1]) > 1 and literal not in self._numbers:
                self._add(literal)

    def _add(self, literal: Literal) -> None:
        variable, positions = literal
        watched, members = self.variables[variable], frozenset(positions)
        if not members < set(range(len(watched.values))):
            raise ValueError(f"{watched.name}: a condition that always holds")
        name = f"{watched.name} in {{{_ranges(watched, positions)}}}"
        number = len(self.variables)
        self.variables.append(Variable(name, "aux", (False, True), int(watched.initial in members)))
        self._numbers[literal] = number
        self._sets.setdefault(variable, []).append((members, number))

    def literals(self, literals: Iterable[Literal]) -> tuple[Literal, ...]:
        """The literals with sets replaced by their watching variables."""
        return tuple(one if len(one[1]) == 1 else (self._numbers[one], (1,)) for one in literals)

    def operator(self, operator: Operator, most: int) -> Operator:
        """The operator, which also updates the variables that watch the changed ones.

        Raises `TooManyEffects` if these would be more than ``most`` effects.
        """
        known = dict(operator.precondition)
        effects = dict[Effect, None]()
        for effect in operator.effects:
            effects.update(dict.fromkeys(self._effects(effect, known)))
            if len(effects) > most:
                raise TooManyEffects(operator)
        return replace(
            operator,
            precondition=self.literals(operator.precondition),
            effects=tuple(effects),
        )

    def _effects(self, effect: Effect, known: dict[int, tuple[int, ...]]) -> Iterator[Effect]:
        conditions = self.literals(effect.conditions)
        yield replace(effect, conditions=conditions)
        before = dict(effect.conditions).get(effect.variable) or known.get(effect.variable)
        for members, number in self._sets.get(effect.variable, ()):
            inside = effect.value in members
            same = before is not None and all((one in members) == inside for one in before)
            if not same:
                yield Effect(conditions, number, int(inside))


def _ranges(variable: Variable, positions: tuple[int, ...]) -> str:
    """The values at these positions, runs of them as ``first..last``."""
    runs: list[list[int]] = []
    for position in positions:
        if runs and position == runs[-1][-1] + 1:
            runs[-1].append(position)
        else:
            runs.append([position])
    ends = (dict.fromkeys(variable.values[end] for end in (run[0], run[-1])) for run in runs)
    return ", ".join("..".join(str(end) for end in pair) for pair in ends)


def _literals(task: Task) -> Iterator[Literal]:
    for operator in task.operators:
        yield from operator.precondition
        for effect in operator.effects:
            yield from effect.conditions
    yield from task.goal


def sas_text(task: Task, *, costs: bool = True) -> str:
    """Return a single-valued task as SAS+ text; operators go by the first word of their name.

    Without ``costs`` planners count every operator as 1.
    """
    lines = ["begin_version", "3", "end_version", "begin_metric", str(int(costs)), "end_metric"]
    lines.append(str(len(task.variables)))
    for variable in task.variables:
        lines += _variable(variable)
    lines.append("0")  # no mutex groups
    lines += ["begin_state", *(str(position) for position in task.initial), "end_state"]
    lines += ["begin_goal", str(len(task.goal)), *_facts(task.goal), "end_goal"]
    lines.append(str(len(task.operators)))
    for operator in task.operators:
        lines += _operator(operator)
    lines.append("0")  # no axioms
    return "\n".join(lines) + "\n"


def _variable(variable: Variable) -> list[str]:
    """A variable; its name goes into the values, where planners show it."""
    name = " ".join(variable.name.split())
    values = (f"{name} = {value}" for value in variable.values)
    return [
        "begin_variable",
        name,
        "-1",
        str(len(variable.values)),
        *(" ".join(f"Atom {value}".split()) for value in values),
        "end_variable",
    ]


def _facts(literals: Iterable[Literal]) -> Iterator[str]:
    for variable, positions in literals:
        (position,) = positions
        yield f"{variable} {position}"


def _operator(operator: Operator) -> list[str]:
    return [
        "begin_operator",
        " ".join(operator.name.split()),
        str(len(operator.precondition)),
        *_facts(operator.precondition),
        str(len(operator.effects)),
        *(_effect(effect) for effect in operator.effects),
        str(operator.cost),
        "end_operator",
    ]


def _effect(effect: Effect) -> str:
    facts = list(_facts(effect.conditions))
    return " ".join((str(len(facts)), *facts, str(effect.variable), "-1", str(effect.value)))
