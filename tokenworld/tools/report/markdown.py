"""The morning report as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from tokenworld.quality import verdict_sentence
from tokenworld.quality.morning import Morning, RunReport
from tokenworld.tools.report.words import facts_of, summary, title

__all__ = ["markdown"]


def markdown(report: Morning) -> str:
    """The whole report; it ends in a newline."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Morning) -> Iterator[str]:
    yield f"# {title(report)}"
    yield ""
    yield summary(report)
    if report.runs:
        yield ""
        yield "| run | player | records | verdict | in |"
        yield "|---|---|---|---|---|"
        for one in report.runs:
            named = ", ".join(bad.title.lower() for bad in one.bad) or "–"
            run, player = _plain(one.run.slug), _plain(one.run.header.player)
            yield f"| {run} | {player} | {one.run.ticks} | {one.verdict} | {named} |"
    for one in report.runs:
        yield from _run(one)


def _run(one: RunReport) -> Iterator[str]:
    yield ""
    mark = " · reference" if one.run.reference is not None else ""
    yield f"## {_plain(one.run.slug)}: {one.verdict}{mark}"
    yield ""
    if one.card is not None:
        yield _plain(verdict_sentence(one.card))
        yield ""
    for name, sentence in facts_of(one):
        yield f"- **{name}:** {_plain(sentence)}"
    for bad in one.bad:
        yield ""
        yield f"### [{bad.status}] {bad.title}: {' '.join(_plain(bad.text).split())}"
        yield ""
        for example in one.examples.get(bad.id, ()):
            yield f"- tick {example.tick}: `{_code(example.asked)}` → {_plain(example.came_to)}"


def _plain(text: str) -> str:
    """Text of a world or a player as text: no markup, no line of its own."""
    flat = " ".join(text.split())
    for sign in "\\`*_[]<>|#":
        flat = flat.replace(sign, f"\\{sign}")
    return flat


def _code(text: str) -> str:
    return " ".join(text.replace("`", "'").split())
