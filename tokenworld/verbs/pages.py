"""Pages: the HTML, Markdown and charts of the verbs that write reports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from tokenworld.verbs.output import columns

_STYLE = """
:root { color-scheme: light dark; --ok: #1b6e3c; --warn: #8a5a00; --fail: #a3122a; }
@media (prefers-color-scheme: dark) { :root { --ok: #7bd39b; --warn: #f0bf5a; --fail: #ff8a94; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; vertical-align: top; }
tr { border-bottom: 1px solid #8886; }
svg { display: block; } .wide { overflow-x: auto; }
"""
_HEAD = (
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
)


def page_head(title: str, style: str = "") -> Iterator[str]:
    """The begin of a page without links, up to its heading; ``style`` adds to that of all pages."""
    head = escape(title)
    yield f'<!doctype html>\n<html lang="en"><head>{_HEAD}<title>{head}</title>'
    yield f"<style>{_STYLE}{style}</style></head><body><main><h1>{head}</h1>"


PAGE_END = "</main></body></html>"


def table_head(heads: Iterable[str]) -> str:
    """The head of a table, and the begin of its body."""
    columns = "".join(f'<th scope="col">{escape(one)}</th>' for one in heads)
    return f'<div class="wide"><table><thead><tr>{columns}</tr></thead><tbody>'


TABLE_END = "</tbody></table></div>"


def table_html(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    """The lines of a table of texts."""
    yield table_head(heads)
    for row in rows:
        yield f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
    yield TABLE_END


def plain_markdown(text: str) -> str:
    """Text of a world or a player as text: no markup, no line of its own."""
    flat = " ".join(text.split())
    for sign in "\\`*_[]<>|#":
        flat = flat.replace(sign, f"\\{sign}")
    return flat


def text_html(told: str) -> str:
    """The HTML of a message; text in backticks becomes code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(told))


# ---- Tables with introductions ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Section:
    """A table with its introduction and its chart."""

    title: str
    intro: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    chart: str = ""


def sections_text(sections: Sequence[Section]) -> str:
    """Return the titles and tables, for a terminal."""
    return "\n\n".join(_text(one) for one in sections)


def _text(section: Section) -> str:
    lines = columns((section.heads, *section.rows), range(len(section.heads)))
    return "\n".join((section.title, *lines))


def sections_markdown(title: str, sections: Sequence[Section]) -> str:
    """Return a page: the title, then each section with its introduction and its table."""
    lines = [f"# {title}"]
    for section in sections:
        lines += ["", *section_markdown(section)]
    return "\n".join(lines) + "\n"


def section_markdown(section: Section) -> Iterator[str]:
    """Yield the lines of one section."""
    yield from (f"## {plain_markdown(section.title)}", "", section.intro, "")
    yield f"| {' | '.join(section.heads)} |"
    yield f"|{'---|' * len(section.heads)}"
    yield from (f"| {' | '.join(map(plain_markdown, row))} |" for row in section.rows)


# ---- Charts -------------------------------------------------------------------------------------
# Charts of a page as SVG without links: bars with intervals, and stacked bars.


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
