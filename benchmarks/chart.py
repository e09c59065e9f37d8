"""A line chart with two logarithmic axes, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

__all__ = ["Line", "chart"]

_WIDTH, _HEIGHT = 760, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 190, 50, 60
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""The colours of Okabe and Ito, which colour-blind readers can distinguish."""
_DASHES = ("", "7 4", "2 3", "10 3 2 3", "4 2", "1 4")


@dataclass(frozen=True, slots=True)
class Line:
    """One series: points with both values above 0."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class _Scale:
    """The decades of an axis, between two pixel positions."""

    low: int
    high: int
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = (log10(value) - self.low) / max(self.high - self.low, 1)
        return self.start + share * (self.end - self.start)


def chart(title: str, x_name: str, y_name: str, lines: Sequence[Line]) -> str:
    """The SVG text; the name of each line is at its end."""
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points]
    across = _Scale(*_decades(xs), _LEFT, _WIDTH - _RIGHT)
    up = _Scale(*_decades(ys), _HEIGHT - _BOTTOM, _TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="24" font-size="16">{escape(title)}</text>',
        *_axes(across, up),
        f'<text x="{(_LEFT + _WIDTH - _RIGHT) / 2:.0f}" y="{_HEIGHT - 14}" '
        f'text-anchor="middle">{escape(x_name)}</text>',
        f'<text transform="translate(20 {_HEIGHT / 2:.0f}) rotate(-90)" '
        f'text-anchor="middle">{escape(y_name)}</text>',
        *_series(lines, across, up),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _decades(values: Sequence[float]) -> tuple[int, int]:
    return floor(log10(min(values))), ceil(log10(max(values)))


def _axes(across: _Scale, up: _Scale) -> list[str]:
    parts = []
    for power in range(across.low, across.high + 1):
        x = across(10.0**power)
        parts.append(_grid(x, up.start, x, up.end))
        parts.append(
            f'<text x="{x:.1f}" y="{up.start + 18:.1f}" text-anchor="middle">'
            f"{_number(power)}</text>"
        )
    for power in range(up.low, up.high + 1):
        y = up(10.0**power)
        parts.append(_grid(across.start, y, across.end, y))
        parts.append(
            f'<text x="{across.start - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">'
            f"{_number(power)}</text>"
        )
    return parts


def _grid(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#ddd"/>'


def _number(power: int) -> str:
    return f"{10**power:,}" if power >= 0 else f"{10.0**power:.{-power}f}"


def _series(lines: Sequence[Line], across: _Scale, up: _Scale) -> list[str]:
    parts: list[str] = []
    taken: list[float] = []
    for index, line in enumerate(lines):
        colour = _COLOURS[index % len(_COLOURS)]
        dash = _DASHES[index % len(_DASHES)]
        places = [(across(x), up(y)) for x, y in line.points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dash}"/>'
        )
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        x, y = places[-1]
        y = _free(y, taken)
        taken.append(y)
        parts.append(
            f'<text x="{x + 10:.1f}" y="{y + 4:.1f}" fill="{colour}">{escape(line.name)}</text>'
        )
    return parts


def _free(y: float, taken: Sequence[float]) -> float:
    """The nearest height below ``y`` at which no name is placed."""
    while any(abs(y - other) < 15 for other in taken):
        y += 3
    return y
