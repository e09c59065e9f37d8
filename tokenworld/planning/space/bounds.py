"""Bounds of the greatest probability of winning where fractions would take too long.

Values are raised from 0 and lowered from 1 until they meet. Every sum is rounded outwards, so that
the bounds hold whenever the iteration stops.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from tokenworld.planning.space.compiled_luck import compiled_bounds, worth_while
from tokenworld.planning.space.decisions import GOAL, PIT
from tokenworld.planning.space.quotient import Option, Quotient

__all__ = ["Bounds", "bounded_values", "plain_bounded_values"]

_NEAR = 1e-9
"""The iteration of a group stops when its bounds are this near to each other."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """For every state of a quotient a lower and an upper bound, and an option worth the lower."""

    low: Mapping[int, float]
    high: Mapping[int, float]
    policy: Mapping[int, Option]


def bounded_values(quotient: Quotient, deadline: float) -> Bounds:
    """Bounds for all states; they are as near as the time until ``deadline`` allows.

    ``deadline`` is a time of `time.monotonic`.
    """
    if worth_while(quotient.options):
        return Bounds(*compiled_bounds(quotient, deadline, _around, _NEAR))
    return plain_bounded_values(quotient, deadline)


def plain_bounded_values(quotient: Quotient, deadline: float) -> Bounds:
    """The same in plain Python, to the last bit where there is time enough."""
    low, high = {GOAL: 1.0, PIT: 0.0}, {GOAL: 1.0, PIT: 0.0}
    policy: dict[int, Option] = {}
    for group in quotient.order:
        low |= dict.fromkeys(group, 0.0)
        high |= {state: 1.0 if quotient.options[state] else 0.0 for state in group}
        shares = {state: _rounded(quotient.options[state]) for state in group}
        while _round(group, shares, low, high, policy) and time.monotonic() < deadline:
            pass
    return Bounds(low, high, policy)


_Shares = list[tuple[Option, list[tuple[int, float, float]]]]


def _rounded(options: tuple[Option, ...]) -> _Shares:
    """Options with every probability as a lower and an upper double."""
    return [(one, [(t, *_around(chance)) for t, chance in one.shares]) for one in options]


def _around(chance: Fraction) -> tuple[float, float]:
    near = float(chance)
    if Fraction(near) == chance:
        return near, near
    return _down(near), _up(near)


def _round(
    group: tuple[int, ...],
    shares: Mapping[int, _Shares],
    low: dict[int, float],
    high: dict[int, float],
    policy: dict[int, Option],
) -> bool:
    """One round over a group; whether another one is worth while."""
    widest, moved = 0.0, False
    for state in group:
        raised, lowered = low[state], 0.0
        for option, targets in shares[state]:
            sum_low = sum_high = 0.0
            for target, least, most in targets:
                sum_low = _down(sum_low + _down(least * low[target]))
                sum_high = _up(sum_high + _up(most * high[target]))
            if sum_low > raised:
                raised, policy[state] = sum_low, option
            lowered = max(lowered, sum_high)
        lowered = min(lowered, high[state])
        moved = moved or raised > low[state] or lowered < high[state]
        low[state], high[state] = raised, lowered
        widest = max(widest, lowered - raised)
    return moved and widest > _NEAR


def _down(value: float) -> float:
    return max(math.nextafter(value, -math.inf), 0.0) if value else 0.0


def _up(value: float) -> float:
    return math.nextafter(value, math.inf) if value else 0.0
