"""Luck over stored choices, compiled: which states are sure, and bounds of what states are worth.

This module needs numba. The choices of node n stand at ``choices[n]`` up to ``choices[n + 1]``,
where choice c leads at ``ends[c]`` up to ``ends[c + 1]`` of ``targets``. With ``size`` nodes,
``size`` is the goal and ``size + 1`` the pit.
"""

from __future__ import annotations

import numpy as np

from tokenworld.planning.explore.stepping import Words, compiled

__all__ = ["raised", "sure"]

_NEVER = -1


@compiled
def turned(choices: Words, ends: Words, targets: Words) -> Words:
    """Whose each choice is; for each target the choices that may lead there, in their order."""
    size, count = choices.shape[0] - 1, ends.shape[0] - 1
    owner = np.empty(count, np.int64)
    for node in range(size):
        for choice in range(choices[node], choices[node + 1]):
            owner[choice] = node
    begins = np.zeros(size + 3, np.int64)
    for edge in range(ends[count]):
        begins[targets[edge] + 1] += 1
    for target in range(size + 2):
        begins[target + 1] += begins[target]
    free, found = begins[: size + 2].copy(), np.empty(ends[count], np.int64)
    for choice in range(count):
        for edge in range(ends[choice], ends[choice + 1]):
            found[free[targets[edge]]] = choice
            free[targets[edge]] += 1
    return owner, begins, found


@compiled
def sure(choices: Words, ends: Words, targets: Words) -> Words:
    """What to do in each sure state (-1: it is none), and in which round others were taken out."""
    size = choices.shape[0] - 1
    owner, begins, sources = turned(choices, ends, targets)
    rank, stays = np.full(size + 2, _NEVER, np.int64), np.empty(ends.shape[0] - 1, np.bool_)
    policy, layer = np.empty(size + 2, np.int64), np.empty(size + 1, np.int64)
    round_ = 0
    while True:
        for choice in range(stays.shape[0]):
            stays[choice] = rank[owner[choice]] == _NEVER
            for edge in range(ends[choice], ends[choice + 1]):
                stays[choice] = stays[choice] and rank[targets[edge]] == _NEVER
        policy[:] = _NEVER
        layer[0], first, last = size, 0, 1
        while first < last:
            target = layer[first]
            first += 1
            for place in range(begins[target], begins[target + 1]):
                choice = sources[place]
                node = owner[choice]
                if stays[choice] and policy[node] == _NEVER:
                    policy[node] = choice
                    layer[last] = node
                    last += 1
        gone = 0
        for node in range(size + 2):
            if node != size and rank[node] == _NEVER and policy[node] == _NEVER:
                rank[node] = round_
                gone += 1
        if gone == 0:
            return policy, rank
        round_ += 1


@compiled
def down(value: Words) -> Words:
    return max(np.nextafter(value, -np.inf), 0.0) if value != 0.0 else 0.0


@compiled
def up(value: Words) -> Words:
    return np.nextafter(value, np.inf) if value != 0.0 else 0.0


@compiled
def raised(
    groups: Words,
    members: Words,
    choices: Words,
    ends: Words,
    targets: Words,
    least: Words,
    most: Words,
    low: Words,
    high: Words,
    policy: Words,
    group: int,
    near: float,
    patience: int,
) -> int:
    """Raise lower bounds and lower upper ones, one group after the other from ``group`` on, until
    they are ``near`` each other or do not move any more.

    Every sum is rounded outwards. ``patience`` is how many shares may be looked at; the group that
    is next is returned.
    """
    while group < groups.shape[0] - 1 and patience > 0:
        widest, moved = 0.0, False
        for place in range(groups[group], groups[group + 1]):
            state = members[place]
            best, lowered = low[state], 0.0
            for choice in range(choices[state], choices[state + 1]):
                sum_low = sum_high = 0.0
                for edge in range(ends[choice], ends[choice + 1]):
                    target = targets[edge]
                    sum_low = down(sum_low + down(least[edge] * low[target]))
                    sum_high = up(sum_high + up(most[edge] * high[target]))
                patience -= ends[choice + 1] - ends[choice]
                if sum_low > best:
                    best, policy[state] = sum_low, choice
                lowered = max(lowered, sum_high)
            lowered = min(lowered, high[state])
            moved = moved or best > low[state] or lowered < high[state]
            low[state], high[state] = best, lowered
            widest = max(widest, lowered - best)
            patience -= 1
        if not (moved and widest > near):
            group += 1
    return group
