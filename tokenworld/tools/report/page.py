"""The morning report as one HTML file: nothing is fetched, nothing runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from tokenworld.quality import Dimension, verdict_sentence
from tokenworld.quality.morning import Morning, RunReport
from tokenworld.tools.report.charts import legend, series_chart, status_strip
from tokenworld.tools.report.words import facts_of, summary, title

__all__ = ["page"]

_STYLE = """
:root { color-scheme: light dark; --ok: #1b6e3c; --warn: #8a5a00; --fail: #a3122a; }
@media (prefers-color-scheme: dark) { :root { --ok: #7bd39b; --warn: #f0bf5a; --fail: #ff8a94; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .3rem .6rem; vertical-align: top; }
tr { border-bottom: 1px solid #8886; }
.OK, .HEALTHY { color: var(--ok); } .WARN, .DEGRADED { color: var(--warn); }
.FAIL, .FAILED, .UNREADABLE { color: var(--fail); font-weight: 600; }
article { margin: 2.5rem 0; } dt { font-weight: 600; } dd { margin: 0 0 .4rem 1rem; }
code, dd { overflow-wrap: anywhere; }
.runs { overflow-x: auto; }
.dimensions td:first-child { width: 4rem; } .dimensions th { width: 10rem; }
.dimensions td:last-child { width: 160px; }
svg { display: block; } .legend { margin: .3rem 0 1rem; font-size: .85rem; }
.strip { max-width: 100%; height: auto; }
.strip text { font: 9px monospace; text-anchor: middle; fill: #000; }
.strip rect { fill: #9fd8b4; } .strip .refused rect, .strip .no_match rect { fill: #f5c26b; }
.strip .rolled_back rect, .strip .error rect, .strip .ungrounded rect { fill: #f58e97; }
.strip .waiting rect, .strip .interrupted rect, .strip .yielded rect { fill: #b9c9ee; }
.strip .halted rect { fill: #c9c9c9; }
@media (max-width: 44rem) {
  .dimensions tr, .dimensions td, .dimensions th { display: block; width: auto !important; }
  .dimensions { overflow-wrap: anywhere; } .dimensions tbody { display: block; }
  .dimensions tr { padding: .4rem 0; } .dimensions td, .dimensions th { padding: .1rem 0; }
}
"""
_HEAD = (
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
)


def page(report: Morning) -> str:
    """The whole file."""
    return "\n".join(_parts(report)) + "\n"


def _parts(report: Morning) -> Iterator[str]:
    head = escape(title(report))
    yield f'<!doctype html>\n<html lang="en"><head>{_HEAD}<title>{head}</title>'
    yield f"<style>{_STYLE}</style></head><body>"
    yield f"<main><h1>{head}</h1><p>{escape(summary(report))}</p>"
    if report.runs:
        heads = ("run", "player", "records", "verdict", "in")
        columns = "".join(f'<th scope="col">{one}</th>' for one in heads)
        yield f'<div class="runs"><table><thead><tr>{columns}</tr></thead><tbody>'
        yield from map(_row, report.runs)
        yield "</tbody></table></div>"
    for one in report.runs:
        yield from _run(one)
    yield "</main></body></html>"


def _row(one: RunReport) -> str:
    slug, player = escape(one.run.slug), escape(one.run.header.player)
    named = ", ".join(bad.title.lower() for bad in one.bad) or "–"
    return (
        f'<tr><td><a href="#{slug}">{slug}</a></td><td>{player}</td><td>{one.run.ticks}</td>'
        f'<td class="{one.verdict}">{one.verdict}</td><td>{escape(named)}</td></tr>'
    )


def _run(one: RunReport) -> Iterator[str]:
    slug = escape(one.run.slug)
    mark = " · reference" if one.run.reference is not None else ""
    verdict = f'<span class="{one.verdict}">{one.verdict}</span>'
    yield f'<article id="{slug}"><h2>{slug}: {verdict}{mark}</h2>'
    if one.card is not None:
        sentence = verdict_sentence(one.card)
        if sentence != f"{one.verdict}.":  # the heading has said that
            yield f"<p>{escape(sentence)}</p>"
        yield status_strip(one.card.window.facts)
        yield legend(one.card.window.facts)
        yield '<table class="dimensions"><tbody>'
        for dimension in one.card.dimensions:
            yield from _dimension(one, dimension)
        yield "</tbody></table>"
    yield "<dl>"
    for name, sentence in facts_of(one):
        yield f"<dt>{escape(name)}</dt><dd>{_text(sentence)}</dd>"
    yield "</dl></article>"


def _dimension(one: RunReport, dimension: Dimension) -> Iterator[str]:
    yield f'<tr><td class="{_css(dimension.status)}">[{dimension.status}]</td>'
    yield f'<th scope="row">{escape(dimension.title)}</th><td>{escape(dimension.text)}'
    for example in one.examples.get(dimension.id, ()):
        asked, came_to = escape(example.asked), _text(example.came_to)
        yield f"<br>tick {example.tick}: <code>{asked}</code> → {came_to}"
    yield f"</td><td>{series_chart(dimension)}</td></tr>"


def _text(told: str) -> str:
    """What a message quotes as `code` is shown as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(told))


def _css(status: str) -> str:
    return status.replace("/", "")
