"""Ranges of numbers: what an amount can be, and whether two of them can compare.

A range is a pair ``(low, high)``, both included; minus and plus infinity stand for no bound.
"""

from __future__ import annotations

from math import inf, isnan

__all__ = ["Span", "added", "compares", "greater", "lesser", "multiplied", "subtracted", "within"]

Span = tuple[float, float]


def added(left: Span, right: Span) -> Span:
    return left[0] + right[0], left[1] + right[1]


def subtracted(left: Span, right: Span) -> Span:
    return left[0] - right[1], left[1] - right[0]


def multiplied(left: Span, right: Span) -> Span:
    ends = [0 if isnan(one := a * b) else one for a in left for b in right]
    return min(ends), max(ends)


def lesser(left: Span, right: Span) -> Span:
    return min(left[0], right[0]), min(left[1], right[1])


def greater(left: Span, right: Span) -> Span:
    return max(left[0], right[0]), max(left[1], right[1])


def within(span: Span, low: float | None, high: float | None, *, clamped: bool) -> Span | None:
    """What of a range a slot with these bounds can store; ``None`` for nothing."""
    bottom, top = -inf if low is None else low, inf if high is None else high
    if clamped:
        return min(max(span[0], bottom), top), max(min(span[1], top), bottom)
    kept = max(span[0], bottom), min(span[1], top)
    return kept if kept[0] <= kept[1] else None


def compares(op: str, left: Span, right: Span) -> bool:
    """Whether some number of the one compares so with some number of the other."""
    match op:
        case "<":
            return left[0] < right[1]
        case "<=":
            return left[0] <= right[1]
        case ">":
            return left[1] > right[0]
        case ">=":
            return left[1] >= right[0]
        case "==":
            return left[0] <= right[1] and right[0] <= left[1]
        case _:
            return not (left[0] == left[1] == right[0] == right[1])
