"""Charts of a page as SVG without links: bars with intervals, and stacked bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Bar:
    """A share with its interval."""

    name: str
    share: float
    low: float
    high: float


_LABEL, _LENGTH, _ROW = 330, 400, 18
_COLOURS = ("#d55e00", "#0072b2", "#e69f00", "#999999", "#cc79a7")
"""Of Okabe and Ito, which colour-blind readers can distinguish."""


def bar_chart(title: str, bars: Sequence[Bar]) -> str:
    """Bars from 0 to 100 %, with a line from the low to the high end of each interval."""
    parts = []
    for place, bar in enumerate(bars):
        y = place * _ROW
        low, high = (_LABEL + _LENGTH * one for one in (bar.low, bar.high))
        parts.append(
            f"{_label(bar.name, y)}"
            f'<rect x="{_LABEL}" y="{y + 3}" width="{_LENGTH * bar.share:.1f}" height="{_ROW - 6}" '
            f'fill="#56b4e9"/>'
            f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y + _ROW / 2}" y2="{y + _ROW / 2}" '
            f'stroke="currentColor"/>'
            f'<text x="{_LABEL + _LENGTH + 6}" y="{y + 13}">{bar.share:.0%}</text>'
        )
    return _svg(title, len(bars), parts)


def stacked_chart(title: str, names: Sequence[str], counts: dict[str, tuple[int, ...]]) -> str:
    """A bar of several counts, at most five, for each name."""
    most = max((sum(held) for held in counts.values()), default=1)
    parts = []
    for place, (name, held) in enumerate(counts.items()):
        x, y = float(_LABEL), place * _ROW
        parts.append(_label(name, y))
        for what, number, colour in zip(names, held, _COLOURS, strict=False):
            width = _LENGTH * number / most
            if number:
                parts.append(
                    f'<rect x="{x:.1f}" y="{y + 3}" width="{width:.1f}" height="{_ROW - 6}" '
                    f'fill="{colour}"><title>{escape(what)}: {number}</title></rect>'
                )
            x += width
    y = len(counts) * _ROW
    for place, (what, colour) in enumerate(zip(names, _COLOURS, strict=False)):
        x = 4.0 + place * 150
        parts.append(f'<rect x="{x}" y="{y + 4}" width="10" height="10" fill="{colour}"/>'
                     f'<text x="{x + 15}" y="{y + 13}">{escape(what)}</text>')  # fmt: skip
    return _svg(title, len(counts) + 1, parts) if counts else ""


def _label(name: str, y: int) -> str:
    shown = name if len(name) < 48 else f"{name[:46]}…"
    return f'<text x="{_LABEL - 6}" y="{y + 13}" text-anchor="end">{escape(shown)}</text>'


def _svg(title: str, rows: int, parts: Sequence[str]) -> str:
    width, height = _LABEL + _LENGTH + 60, (rows + 1) * _ROW + 4
    return (
        f'<svg role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-size="12" fill="currentColor"><title>{escape(title)}</title>'
        f'<text x="{_LABEL}" y="13">{escape(title)}</text>'
        f'<g transform="translate(0 {_ROW})">{"".join(parts)}</g></svg>'
        if rows else ""
    )  # fmt: skip
