"""Plans as the actions of an exported pair, in the format of the planning competitions.

`tw plan --plan-file` writes them, for validators such as VAL. In a lifted pair a command is one
action, and each phase of its tick another. A grounded pair has the operators of a finite task; the
task is played to see which of them are the steps of a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from tokenworld.core.program import lowered
from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.ground import Command, Instance, LuckyDraw, Raw
from tokenworld.model import EnumType, ValueType
from tokenworld.planning.pddl.domain import takes_time
from tokenworld.planning.pddl.export import PddlExport
from tokenworld.planning.pddl.tree import PddlAction, flat
from tokenworld.planning.pddl.words import Fixed, StepOrigin, made, metric_of, shown_metric
from tokenworld.planning.task import Operator, Task
from tokenworld.planning.verdict import PlanStep


def plan_text(
    lines: Sequence[str], cost: int | Fraction | None, makespan: Fraction | None = None
) -> str:
    """Return the text of a plan file: an action a line, and their cost.

    ``cost`` is ``None`` where the problem has no metric of costs: each action is then worth 1. A
    plan with times has its ``makespan`` instead.
    """
    paid, kind = (str(len(lines)), "unit")
    if cost is not None:
        paid, kind = shown_metric(Fraction(cost)), "general"
    last = f"; cost = {paid} ({kind} cost)"
    if makespan is not None:
        last = f"; makespan = {shown_metric(makespan)}"
    return "".join(f"{line}\n" for line in (*lines, last))


Held = Callable[[int, str, tuple[Raw, ...]], Raw]
"""The value of a slot before a step, by the number of the step from 0."""


def plan_lines(
    export: PddlExport, instance: Instance, steps: Sequence[PlanStep], cost: int, held: Held
) -> tuple[tuple[str, ...], int | Fraction | None]:
    """The actions of the exported pair that are the steps of a plan, and their `total-cost`.

    ``held`` returns values of slots in the states of the plan. ``cost`` is the cost of the plan by
    the rules; the result has ``None`` in its place if the pair has no metric. Raises `Failure`
    (TW0812) for a step that no action of the pair is.
    """
    if export.task is not None:
        operators = _operators(export.task, steps)
        pairs = zip(export.task.operators, export.pair.domain.actions, strict=True)
        words = {operator.name: flat((action.name,)) for operator, action in pairs}
        found = tuple(words[one.name] for one in operators)
        paid = sum(one.cost for one in operators)
    else:
        found, paid = tuple(_Lifted(export, instance, held).lines(steps)), cost
    if export.pair.problem.metric is None:
        return found, None
    metric = metric_of(instance.program, paid)
    return found, paid if metric is None else metric


# ---- the lifted form ----------------------------------------------------------------------------


class _Lifted:
    """Finds the lifted action of each step."""

    def __init__(self, export: PddlExport, instance: Instance, held: Held) -> None:
        self._instance, self._names, self._held = instance, export.names, held
        self._rules = lowered(instance.program).actions
        origins = export.names.steps
        named = [(one, origins[one.name.lower()]) for one in export.pair.domain.actions]
        self._phases = [flat((one.name,)) for one, origin in named if origin.action is None]
        self._ways: dict[str, list[tuple[PddlAction, StepOrigin]]] = {}
        for action, origin in named:
            if origin.action is not None:
                self._ways.setdefault(origin.action, []).append((action, origin))

    def lines(self, steps: Sequence[PlanStep]) -> Iterator[str]:
        """The actions of all steps, each followed by the phases of its tick."""
        hidden = made(self._instance.program) - self._ways.keys()
        for number, step in enumerate(steps, 1):
            if step.command.action in hidden:
                continue
            yield self._line(number, step)
            if step.command.is_pass or takes_time(self._rules[step.command.action]):
                yield from self._phases

    def _line(self, number: int, step: PlanStep) -> str:
        name = "" if step.command.is_pass else step.command.action
        for action, origin in self._ways.get(name, ()):
            if _same_luck(origin, step.draws):
                words = self._arguments(number - 1, step.command, origin)
                if words is not None and len(words) == len(action.params):
                    return flat((action.name, *words))
        raise _no_action(number, step)

    def _arguments(self, number: int, command: Command, origin: StepOrigin) -> list[str] | None:
        """The arguments of the action; ``None`` where it has others built in."""
        found: dict[int, str] = {}
        params = () if command.is_pass else self._instance.program.actions[command.action].params
        for place, value, param in zip(origin.args, command.args, params, strict=True):
            if isinstance(place, Fixed):
                if place.value != value:
                    return None
            else:
                found[place] = self._word(param.type, value)
        words = [found[place] for place in sorted(found)]
        own = dict(zip(origin.args, command.args, strict=True))
        for key, places in origin.held:
            args = tuple(one.value if isinstance(one, Fixed) else own[one] for one in places)
            value = self._held(number, key, args)
            own[len(words)] = value
            words.append(self._word(self._instance.program.fluents[key].type, value))
        return words

    def _word(self, of: ValueType, value: Raw) -> str:
        return self._names.words[of.name if isinstance(of, EnumType) else "", value]


def _same_luck(origin: StepOrigin, draws: Sequence[LuckyDraw]) -> bool:
    """Return whether an action takes the branches that a plan counts on."""
    return all((one.site, one.choice) in origin.branches for one in draws)


# ---- the grounded form --------------------------------------------------------------------------

_Node = tuple[tuple[int, ...], int]
"""A state of the task, and how many steps of the plan were taken."""


def _operators(task: Task, steps: Sequence[PlanStep]) -> tuple[Operator, ...]:
    """The operators of the steps of a plan and of the forced steps between them.

    It is a depth-first search over states with the number of steps taken: a later step may show
    which outcome of chance is meant.
    """
    chosen: dict[Command | None, list[Operator]] = {}
    for operator in task.operators:
        chosen.setdefault(operator.command, []).append(operator)

    def following(state: tuple[int, ...], taken: int) -> Iterator[tuple[Operator, int]]:
        command = steps[taken].command if taken < len(steps) else None
        commands = () if command is None else chosen.get(command, ())
        for operator in (*chosen.get(None, ()), *commands):
            counted = taken + (operator.command is not None)
            if task.holds(state, operator.precondition) and (
                counted == 0 or _agrees(operator.draws, steps[counted - 1].draws)
            ):
                yield operator, counted

    start, furthest = (task.initial, 0), 0
    came: dict[_Node, tuple[Operator, _Node] | None] = {start: None}
    waiting = [start]
    while waiting:
        node = waiting.pop()
        state, taken = node
        furthest = max(furthest, taken)
        if taken == len(steps) and task.holds(state, task.goal):
            return _way(came, node)
        for operator, counted in following(state, taken):
            after = task.apply(state, operator), counted
            if after not in came:
                came[after] = operator, node
                waiting.append(after)
    raise _no_action(furthest + 1, steps[min(furthest, len(steps) - 1)])


def _way(came: dict[_Node, tuple[Operator, _Node] | None], node: _Node) -> tuple[Operator, ...]:
    """The operators that led to a node, in order."""
    found: list[Operator] = []
    while (edge := came[node]) is not None:
        operator, node = edge
        found.append(operator)
    return tuple(reversed(found))


def _agrees(drawn: Sequence[LuckyDraw], counted_on: Sequence[LuckyDraw]) -> bool:
    """Return whether no draw falls otherwise than a plan counts on."""
    wanted = {(one.rule, one.args, one.draw): one.choice for one in counted_on}
    return all(
        wanted.get((one.rule, one.args, one.draw), one.choice) == one.choice for one in drawn
    )


def _no_action(number: int, step: PlanStep) -> Failure:
    shown = "pass" if step.command.is_pass else step.command.action
    message = f"Step {number} of the plan, `{shown}`, is no action of the exported PDDL."
    hint = "Leave `--plan-file` out: the steps and draws of the plan are in `--json`."
    return Failure(Diagnostic("TW0812", message, hint=hint))
