"""The order of variables in encoding E.

Planners break ties by the numbers of variables: with another order the same search may expand
thirty times as many states. `by_causes` puts the variables of a task into the order of its causal
graph (Helmert, "The Fast Downward planning system", JAIR 2006, section 5): a
variable comes before those that change depending on it, and goals come last.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import count

from tokenworld.planning.space.graph import strong_components
from tokenworld.planning.task import Effect, Literal, Operator, Task

Weights = Mapping[int, Mapping[int, int]]
"""For each variable those that are changed depending on it, and by how many effects."""


def by_causes(task: Task) -> Task:
    """Return the same task with its variables in the order of its causal graph."""
    weights = _weights(task)
    goals = {variable for variable, _ in task.goal}
    groups = strong_components(range(len(task.variables)), lambda one: sorted(weights[one]))
    order = [one for group in reversed(groups) for one in _by_weight(group, weights, goals)]
    return _renumbered(task, order)


def _weights(task: Task) -> Weights:
    """Return the causal graph: for each operator an edge from what it asks to what it changes."""
    found: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for one in task.operators:
        asked = {variable for variable, _ in one.precondition}
        for effect in one.effects:
            causes = asked | {variable for variable, _ in effect.conditions}
            for cause in causes - {effect.variable}:
                found[cause][effect.variable] += 1
    return found


def _by_weight(group: Sequence[int], weights: Weights, goals: set[int]) -> list[int]:
    """Order variables that depend on each other: next comes the one with the least incoming weight
    from the others, of equals the one that has waited longest; goals come last."""
    left, order, turns = set(group), list[int](), count()
    edges: Counter[int] = Counter()
    incoming: Counter[int] = Counter()
    for one in group:
        for target in left & weights[one].keys():
            edges[target] += target in goals
            incoming[target] += weights[one][target]

    def entry(one: int) -> tuple[int, int, int, int]:
        return edges[one], incoming[one], next(turns), one

    waiting = [entry(one) for one in group]
    heapify(waiting)
    while waiting:
        _, weight, _, one = heappop(waiting)
        if one not in left or weight != incoming[one]:
            continue
        left.discard(one)
        order.append(one)
        for target in sorted(left & weights[one].keys()):
            incoming[target] -= weights[one][target]
            heappush(waiting, entry(target))
    return order


def _renumbered(task: Task, order: Sequence[int]) -> Task:
    """Return the task with the variables in an order."""
    new = {old: number for number, old in enumerate(order)}

    def literals(of: Sequence[Literal]) -> tuple[Literal, ...]:
        return tuple(sorted([(new[variable], positions) for variable, positions in of]))

    def operator(one: Operator) -> Operator:
        effects = [Effect(literals(e.conditions), new[e.variable], e.value) for e in one.effects]
        return Operator(
            one.name, literals(one.precondition), tuple(effects), one.cost, one.command, one.draws
        )

    variables = tuple(task.variables[old] for old in order)
    return Task(variables, tuple(map(operator, task.operators)), literals(task.goal))
