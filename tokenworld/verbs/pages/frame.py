"""The parts that all pages share: head, tables, and texts of others as HTML and Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape

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


def plain_markdown(text: str) -> str:
    """Text of a world or a player as text: no markup, no line of its own."""
    flat = " ".join(text.split())
    for sign in "\\`*_[]<>|#":
        flat = flat.replace(sign, f"\\{sign}")
    return flat


def text_html(told: str) -> str:
    """The HTML of a message; text in backticks becomes code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(told))
