"""Questions about luck on the compiled kernel (extra `fast`): the same answers, to the last bit.

*Sure* states come from a greatest fixpoint over the graph, not from numbers; bounds are rounded
outwards at every sum, as in the plain way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

from tokenworld.planning.explore.installed import available
from tokenworld.planning.space.decisions import GOAL, PIT, Choice, Problem, Share

if TYPE_CHECKING:
    from tokenworld.planning.space.quotient import Option, Quotient

__all__ = ["compiled_bounds", "compiled_sure", "worth_while"]

_LARGE = 50_000
"""So many shares make it worth the while to load what is compiled."""
_PATIENCE = 10_000_000
"""So many shares are looked at between two looks at the clock."""
Around = Callable[[Any], tuple[float, float]]


def worth_while(rows: Sequence[Sequence[Choice | Option]]) -> bool:
    """Whether there is so much to look at, and numba is installed."""
    return sum(map(len, rows)) * 2 >= _LARGE and available()


def compiled_sure(problem: Problem) -> tuple[dict[int, Choice], dict[int, int]]:
    """The choice in every sure state, and the round in which each other one was taken out."""
    from tokenworld.planning.space.kernel_luck import sure

    size = len(problem.choices)
    choices = list(chain.from_iterable(problem.choices))
    policy, rank = sure(*_rows(problem.choices), _targets(choices, size))
    named = {node: choices[one] for node, one in enumerate(policy.tolist()) if one >= 0}
    rounds = rank.tolist()
    rounds[size], rounds[size + 1] = -1, -1
    found = {node: one for node, one in enumerate(rounds) if one >= 0}
    return named, {PIT: int(rank[size + 1]), **found}


def compiled_bounds(
    quotient: Quotient, deadline: float, around: Around, near: float
) -> tuple[dict[int, float], dict[int, float], dict[int, Option]]:
    """Lower and upper bounds of all states, and options worth the lower ones.

    ``around`` rounds a probability down and up; bounds at most ``near`` each other are enough.
    """
    import numpy as np

    from tokenworld.planning.space.kernel_luck import raised

    size = len(quotient.options)
    options = list(chain.from_iterable(quotient.options))
    low = np.array([*(0.0 for _ in range(size)), 1.0, 0.0])
    high = np.array([*(1.0 if one else 0.0 for one in quotient.options), 1.0, 0.0])
    policy = np.full(size, -1, np.int64)
    known: dict[Any, tuple[float, float]] = {}
    pairs = []
    for _, chance in _shares(options):
        if chance not in known:
            known[chance] = around(chance)
        pairs.append(known[chance])
    least, most = np.array(pairs, np.float64).reshape(-1, 2).T.copy()
    groups = np.array([0, *accumulate(map(len, quotient.order))], np.int64)
    members = np.array(list(chain.from_iterable(quotient.order)), np.int64)
    rows = (*_rows(quotient.options), _targets(options, size), least, most, low, high, policy)
    group = 0
    while group < len(quotient.order):
        before = group
        group = raised(groups, members, *rows, group, near, _PATIENCE)
        if group < len(quotient.order) and time.monotonic() >= deadline:
            group = max(group, before + 1)
    return (
        _by_state(low, size),
        _by_state(high, size),
        {state: options[one] for state, one in enumerate(policy.tolist()) if one >= 0},
    )


def _by_state(values: Any, size: int) -> dict[int, float]:
    found = dict(enumerate(values[:size].tolist()))
    return {GOAL: float(values[size]), PIT: float(values[size + 1]), **found}


def _shares(choices: Sequence[Choice | Option]) -> list[Share]:
    return [share for one in choices for share in one.shares]


def _rows(rows: Sequence[Sequence[Choice | Option]]) -> tuple[Any, Any]:
    """Where the choices of each node end, and where the shares of each choice do."""
    import numpy as np

    every = chain.from_iterable(rows)
    ends = accumulate(len(one.shares) for one in every)
    return (
        np.array([0, *accumulate(map(len, rows))], np.int64),
        np.array([0, *ends], np.int64),
    )


def _targets(choices: Sequence[Choice | Option], size: int) -> Any:
    """Where each share leads: a node, ``size`` for the goal, ``size + 1`` for the pit."""
    import numpy as np

    places = {GOAL: size, PIT: size + 1}
    return np.array([places.get(target, target) for target, _ in _shares(choices)], np.int64)
