"""The drawings of the morning report, as inline SVG: a line per dimension, a strip of statuses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from html import escape

from tokenworld.quality import Dimension, Fact

__all__ = ["legend", "series_chart", "status_strip"]

_WIDTH, _HEIGHT, _PAD = 160, 36, 4
_CELL, _TALL = 9, 22
_SIGNS = {
    "executed": "·", "refused": "x", "no_match": "?", "rolled_back": "r", "waiting": "…",
    "interrupted": "/", "yielded": "y", "error": "!", "halted": "h",
}  # fmt: skip


def series_chart(one: Dimension) -> str:
    """The series of a dimension as a line, from its least to its greatest value."""
    points = one.series
    if len(points) < 2:
        return ""
    values = [value for _, value in points]
    low, high = min(values), max(values)
    path = " ".join(
        f"{_place(index, len(points))},{_level(value, low, high)}"
        for index, value in enumerate(values)
    )
    told = ", ".join(f"tick {tick}: {_number(value)}" for tick, value in points)
    return (
        f'<svg class="series" role="img" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}"><title>{escape(one.title)}</title>'
        f"<desc>{escape(told)}</desc>"
        f'<polyline points="{path}" fill="none" stroke="currentColor" stroke-width="2"/></svg>'
    )


def _place(index: int, number: int) -> int:
    return _PAD + index * (_WIDTH - 2 * _PAD) // (number - 1)


def _level(value: Fraction, low: Fraction, high: Fraction) -> int:
    """Downwards, as SVG counts; a series that never changes lies in the middle."""
    if high == low:
        return _HEIGHT // 2
    return _HEIGHT - _PAD - int((value - low) / (high - low) * (_HEIGHT - 2 * _PAD))


def _number(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.3g}"


def status_strip(facts: Sequence[Fact]) -> str:
    """One cell per tick, with a sign beside the colour."""
    if not facts:
        return ""
    cells = "".join(_cell(index, fact) for index, fact in enumerate(facts))
    width = len(facts) * _CELL
    return (
        f'<svg class="strip" role="img" width="{width}" height="{_TALL}" '
        f'viewBox="0 0 {width} {_TALL}"><title>statuses, tick {facts[0].seq} to '
        f"{facts[-1].seq}</title>{cells}</svg>"
    )


def legend(facts: Sequence[Fact]) -> str:
    """What the signs of a strip mean, and how many there are of each."""
    if not facts:
        return ""
    counts = Counter[str](fact.status for fact in facts)
    told = ", ".join(
        f"{sign} {name} {counts[name]}" for name, sign in _SIGNS.items() if name in counts
    )
    ungrounded = sum(1 for fact in facts if fact.faults)
    also = f"; not grounded {ungrounded}" if ungrounded else ""
    return f'<p class="legend">{escape(told + also)}</p>'


def _cell(index: int, fact: Fact) -> str:
    x, sign = index * _CELL, _SIGNS[fact.status]
    kind = "ungrounded" if fact.faults else fact.status
    return (
        f'<g class="{kind}"><title>tick {fact.seq}: {fact.status}</title>'
        f'<rect x="{x}" y="0" width="{_CELL - 1}" height="{_TALL}"/>'
        f'<text x="{x + _CELL // 2}" y="{_TALL - 7}">{sign}</text></g>'
    )
