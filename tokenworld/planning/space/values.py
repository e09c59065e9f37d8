"""How likely the goal is for a player who chooses best: exact, or between bounds."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from tokenworld.ground import StateT
from tokenworld.planning.space.bounds import bounded_values
from tokenworld.planning.space.decisions import GOAL, PIT, Choice, Problem, problem_of
from tokenworld.planning.space.exact import exact_values
from tokenworld.planning.space.graph import Graph
from tokenworld.planning.space.linear import TooLong
from tokenworld.planning.space.quotient import Option, Quotient, quotient_of

__all__ = ["Value", "value_of"]

Number = Fraction | float
_FOR_BOUNDS = 0.5
"""The share of the time that bounds may take; an exact answer is sought in the rest."""


@dataclass(frozen=True, slots=True)
class Value:
    """The greatest probability of reaching the goal from the start: between ``low`` and ``high``.

    Both are fractions where they are exact; equal fractions are the exact value. ``moves`` is a
    policy worth at least ``low``: the number of the move by node.
    """

    low: Number
    high: Number
    moves: Mapping[int, int]

    @property
    def exact(self) -> Fraction | None:
        """The exact value where it is known."""
        known = isinstance(self.low, Fraction) and self.low == self.high
        return self.low if known and isinstance(self.low, Fraction) else None


def value_of(graph: Graph[StateT], deadline: float) -> Value:
    """Solve a graph; ``deadline`` is a time of `time.monotonic`."""
    cautious = problem_of(graph, cautious=True)
    quotient = quotient_of(cautious)
    solved = _solved(quotient, cautious.start, deadline)
    moves = _moves(cautious, quotient, solved.policy)
    if cautious.exact or solved.low == 1:
        return Value(solved.low, solved.high, moves)
    bold = problem_of(graph, cautious=False)
    upper = _solved(quotient_of(bold), bold.start, deadline)
    return Value(solved.low, upper.high, moves)


@dataclass(frozen=True, slots=True)
class _Solved:
    low: Number
    high: Number
    policy: Mapping[int, Option]


def _solved(quotient: Quotient, start: int, deadline: float) -> _Solved:
    state = quotient.state_of[start]
    now = time.monotonic()
    bounds = bounded_values(quotient, now + (deadline - now) * _FOR_BOUNDS)
    try:
        values, policy = exact_values(quotient, bounds.policy, deadline)
        return _Solved(values[state], values[state], policy)
    except TooLong:
        if state in (GOAL, PIT):
            sure = Fraction(1 if state == GOAL else 0)
            return _Solved(sure, sure, bounds.policy)
        return _Solved(bounds.low[state], bounds.high[state], bounds.policy)


def _moves(problem: Problem, quotient: Quotient, policy: Mapping[int, Option]) -> dict[int, int]:
    """What to do in each node: the choice of its state, or a way within it to where that is."""
    found = {node: choice.move for node, choice in quotient.sure.policy.items()}
    for state, option in policy.items():
        members = quotient.members[state]
        found |= {n: c.move for n, c in _ways(problem, members, option).items()}
    return found


def _ways(problem: Problem, members: tuple[int, ...], option: Option) -> dict[int, Choice]:
    """Steps of the members of an end component to the node of an option, and then that."""
    inside, found = set(members), {option.node: option.choice}
    layer = [option.node]
    while layer:
        reached = list[int]()
        for node in members:
            for choice in problem.choices[node]:
                targets = {target for target, _ in choice.shares}
                if node not in found and targets <= inside and targets & set(layer):
                    found[node] = choice
                    reached.append(node)
        layer = reached
    return found
