"""The greatest probability of winning as an exact fraction: policy iteration, group by group.

A group is solved when all that it leads to is. It begins with the options that look best to an
iteration in doubles; their linear equations are solved over fractions, and wherever another option
is strictly better, it is taken, until none is. Every policy of a quotient ends somewhere, so each
system has one solution.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from tokenworld.planning.space.decisions import GOAL, PIT
from tokenworld.planning.space.linear import CONSTANT, Row, solved
from tokenworld.planning.space.quotient import Option, Quotient

__all__ = ["exact_values"]

_ZERO, _ONE = Fraction(0), Fraction(1)


def exact_values(
    quotient: Quotient, guess: Mapping[int, Option], deadline: float
) -> tuple[dict[int, Fraction], dict[int, Option]]:
    """The value of every state, and an option that has it.

    ``guess`` are options to begin with; where there is none the first one is taken. ``deadline`` is
    a time of `time.monotonic`. Raises `linear.TooLong` where it passes.
    """
    values = {GOAL: _ONE, PIT: _ZERO}
    policy: dict[int, Option] = {}
    for group in quotient.order:
        for state in group:
            if quotient.options[state]:
                policy[state] = guess.get(state, quotient.options[state][0])
        _solve(quotient, group, values, policy, deadline)
    return values, policy


def _solve(
    quotient: Quotient,
    group: tuple[int, ...],
    values: dict[int, Fraction],
    policy: dict[int, Option],
    deadline: float,
) -> None:
    inside = frozenset(group)
    while True:
        rows = {s: _row(policy[s], inside, values) if s in policy else {} for s in group}
        values |= solved(rows, deadline)
        if not _improve(quotient, group, values, policy):
            return


def _row(option: Option, inside: frozenset[int], values: Mapping[int, Fraction]) -> Row:
    """The equation of a state: unknowns of its own group, and the rest as a constant."""
    row = {CONSTANT: _ZERO}
    for target, chance in option.shares:
        if target in inside:
            row[target] = row.get(target, _ZERO) + chance
        else:
            row[CONSTANT] += chance * values[target]
    return row


def _improve(
    quotient: Quotient,
    group: tuple[int, ...],
    values: Mapping[int, Fraction],
    policy: dict[int, Option],
) -> bool:
    """Take strictly better options; whether there was one."""
    better = False
    for state in group:
        best = values[state]
        for option in quotient.options[state]:
            if (worth := _worth(option, values)) > best:
                policy[state], best, better = option, worth, True
    return better


def _worth(option: Option, values: Mapping[int, Fraction]) -> Fraction:
    return sum((chance * values[target] for target, chance in option.shares), _ZERO)
