"""``report.html``: the rounds with their findings, diffs of the source, plans and coverage."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, Final

from tokenworld.diagnostics import Failure, counted
from tokenworld.session.session import Session
from tokenworld.verbs.author.attempts import Attempt
from tokenworld.verbs.author.rounds import Result
from tokenworld.verbs.author.tools import opened
from tokenworld.verbs.pages import PAGE_END, TABLE_END, page_head, table_head, table_html, text_html

_PLAN_SECONDS: Final = 10.0
_STYLE: Final = """
pre { overflow-x: auto; padding: .5rem; background: #8881; }
.accepted, ins { color: var(--ok); } .refused, del { color: var(--fail); }
.unproven { color: var(--warn); } ins, del { text-decoration: none; }
"""


def report_html(result: Result, description: str) -> str:
    """Return the page of a run, self-contained."""
    return "\n".join(_page(result, description)) + "\n"


def _page(result: Result, description: str) -> Iterator[str]:
    title = result.spec.title if result.spec and result.spec.title else "A world from a description"
    yield from page_head(title, _STYLE)
    best = result.best
    status = best.status if best else "not judged" if result.draft else "no world"
    why = f" ({escape(result.why)})" if result.why else ""
    yield (
        f'<p><strong class="{status}">{status}</strong>, ended: {result.reason}{why}; '
        f"{counted(len(result.attempts), 'round')}, {counted(result.requests, 'request')}, "
        f"{result.usage.text}.</p>"
    )
    yield f"<h2>Description</h2><pre>{escape(description)}</pre>"
    yield from _specification(result)
    yield from _rounds(result.attempts)
    if best is not None:
        yield from _plans(best)
    text = best.text if best else result.draft
    if text:
        yield f"<h2>The world</h2><pre>{escape(text)}</pre>"
    yield PAGE_END


def _specification(result: Result) -> Iterator[str]:
    if result.spec is None:
        return
    rules = result.best.rules if result.best else {}
    yield "<h2>Mechanics</h2>"
    yield from table_html(
        ("id", "mechanic", "words of the description", "rules"),
        (
            (one.id, one.text, one.quote, ", ".join(rules.get(one.id, ())))
            for one in result.spec.all_mechanics
        ),
    )
    for question in result.spec.questions:
        yield f"<p>Open: {escape(question.text)} ({escape(question.impact)})</p>"


def _rounds(attempts: Sequence[Attempt]) -> Iterator[str]:
    before = ""
    for attempt in attempts:
        status = attempt.status
        yield f'<h2>Round {attempt.number}: <span class="{status}">{status}</span></h2>'
        yield from _findings(attempt)
        yield from _coverage(attempt.judgement.figures)
        for one in attempt.disputes:
            yield f"<p>Disputed: <em>{escape(one.title or 'a part')}</em></p>"
            yield f"<pre>{escape(one.why)}\n{escape(one.text)}</pre>"
        yield f"<details><summary>Changes of the world</summary>{_diff(before, attempt.text)}"
        yield "</details>"
        before = attempt.text


def _findings(attempt: Attempt) -> Iterator[str]:
    if not attempt.judgement.findings:
        yield "<p>The judge found nothing.</p>"
        return
    yield table_head(("tier", "code", "finding", "line", "evidence"))
    for one in attempt.judgement.findings:
        line = "" if one.found.span is None else str(one.found.span.line)
        evidence = "<br>".join(text_html(note) for note in one.found.notes)
        yield (
            f"<tr><td>{one.kind}</td><td>{escape(one.code)}</td>"
            f"<td>{text_html(one.found.message)}</td><td>{line}</td><td>{evidence}</td></tr>"
        )
    yield TABLE_END


def _coverage(figures: Any) -> Iterator[str]:
    cover, mutate, tests = (figures.get(one) for one in ("cover", "mutate", "tests"))
    told = []
    if tests:
        told.append(f"{tests['scenarios']} scenarios, {tests['failed']} failed")
    if cover:
        told.append(f"{cover['reached']} of {cover['total']} places reached")
    if mutate:
        told.append(f"{mutate['noticed']} of {mutate['judged']} changed rules noticed")
    if told:
        yield f"<p>{'; '.join(told)}.</p>"


def _diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=2)
    return f"<pre>{chr(10).join(map(_marked, list(lines)[2:])) or 'none'}</pre>"


def _marked(line: str) -> str:
    text = escape(line)
    if line.startswith("+"):
        return f"<ins>{text}</ins>"
    return f"<del>{text}</del>" if line.startswith("-") else text


def _plans(best: Attempt) -> Iterator[str]:
    """Yield a plan for each goal that has one."""
    goals: Any = best.judgement.figures.get("plan", {}).get("goals", [])
    if not goals:
        return
    yield "<h2>Plans</h2>"
    rows = []
    for one in goals:
        plan = _plan(best.text, one) if one["answer"] == "winnable" else ""
        rows.append((one["world"], one["goal"], one["answer"], plan))
    yield from table_html(("world", "goal", "answer", "plan"), rows)


def _plan(text: str, goal: Any) -> str:
    try:
        session = Session(opened(text, goal["world"]))
        found = session.plan(goal["goal"], time_limit=_PLAN_SECONDS)
    except Failure:
        return ""
    return ", ".join(session.text_of(step.command) for step in found.steps)
