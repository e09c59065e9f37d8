"""The greatest probability of winning as an exact fraction: policy iteration, group by group.

A group is solved when all that it leads to is. Within a group a policy is valued by solving its
linear equations over fractions, then improved wherever another option is strictly better, until
none is. Every policy of a quotient ends somewhere, so each system has one solution.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from fractions import Fraction

from tokenworld.planning.space.decisions import GOAL, PIT
from tokenworld.planning.space.quotient import Option, Quotient

__all__ = ["TooLong", "exact_values"]

_ZERO, _ONE = Fraction(0), Fraction(1)
_Row = dict[int, Fraction]
"""Factors of unknowns; the constant is kept under `PIT`."""


class TooLong(Exception):
    """The time for an exact answer is up."""


def exact_values(
    quotient: Quotient, deadline: float
) -> tuple[dict[int, Fraction], dict[int, Option]]:
    """The value of every state, and an option that has it.

    ``deadline`` is a time of `time.monotonic`. Raises `TooLong` where it passes.
    """
    values = {GOAL: _ONE, PIT: _ZERO}
    policy: dict[int, Option] = {}
    for group in quotient.order:
        _solve(quotient, group, values, policy, deadline)
    return values, policy


def _solve(
    quotient: Quotient,
    group: tuple[int, ...],
    values: dict[int, Fraction],
    policy: dict[int, Option],
    deadline: float,
) -> None:
    policy |= {state: options[0] for state in group if (options := quotient.options[state])}
    while True:
        rows = {s: _row(policy[s], group, values) if s in policy else {} for s in group}
        found = _linear(rows, deadline)
        values |= found
        if not _improve(quotient, group, values, policy):
            return


def _row(option: Option, group: tuple[int, ...], values: Mapping[int, Fraction]) -> _Row:
    """The equation of a state: unknowns of its own group, and the rest as a constant."""
    row: _Row = {PIT: _ZERO}
    inside = set(group)
    for target, chance in option.shares:
        if target in inside:
            row[target] = row.get(target, _ZERO) + chance
        else:
            row[PIT] += chance * values[target]
    return row


def _linear(rows: dict[int, _Row], deadline: float) -> dict[int, Fraction]:
    """Solve ``x = sum(factor * unknown) + constant`` for every x by elimination."""
    users: dict[int, set[int]] = {state: set() for state in rows}
    for state, row in rows.items():
        for other in row:
            if other != PIT:
                users[other].add(state)
    for state in rows:
        if time.monotonic() > deadline:
            raise TooLong
        _freed(rows[state], state)
        for user in users[state]:
            if user != state and state in rows[user]:
                _insert(rows[user], state, rows[state])
                for other in rows[state]:
                    if other != PIT:
                        users[other].add(user)
    return {state: row.get(PIT, _ZERO) for state, row in rows.items()}


def _freed(row: _Row, state: int) -> None:
    """Bring an equation into a form without its own unknown on the right."""
    own = row.pop(state, _ZERO)
    if own:
        for key in row:
            row[key] /= _ONE - own


def _insert(row: _Row, state: int, solved: _Row) -> None:
    """Replace an unknown by what it equals."""
    factor = row.pop(state)
    for key, value in solved.items():
        row[key] = row.get(key, _ZERO) + factor * value


def _improve(
    quotient: Quotient,
    group: tuple[int, ...],
    values: Mapping[int, Fraction],
    policy: dict[int, Option],
) -> bool:
    """Take strictly better options; whether there was one."""
    better = False
    for state in group:
        for option in quotient.options[state]:
            if _worth(option, values) > _worth(policy[state], values):
                policy[state], better = option, True
    return better


def _worth(option: Option, values: Mapping[int, Fraction]) -> Fraction:
    return sum((chance * values[target] for target, chance in option.shares), _ZERO)
