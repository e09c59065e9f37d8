"""Tables with their introductions, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tokenworld.verbs.pages.frame import plain_markdown


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
    table = (section.heads, *section.rows)
    widths = [max(len(row[place]) for row in table) for place in range(len(section.heads))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]
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
