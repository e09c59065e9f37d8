"""Checking a large file: at once, and again after an edit of one item."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from statistics import median

from benchmarks.large import large_file
from benchmarks.measure import Row, WrongResultError, least
from tokenworld.check import check_source
from tokenworld.check.workspace import Workspace
from tokenworld.diagnostics import Source

__all__ = ["editing"]

TIMES = 205
EDITS = 15

Edit = Callable[[str, int], str]


def _body(text: str, number: int) -> str:
    return text.replace('say "{The c} opens 80."', f'say "{{The c}} opens {number}."')


def _law(text: str, number: int) -> str:
    return text.replace("x.k + 80 < 80 + 10 {", f"x.k + 80 < 80 + {11 + number} {{")


def _doc(text: str, number: int) -> str:
    return text.replace("## Take what lies about, 80.", f"## Take it, {number}.")


def _scenario(text: str, number: int) -> str:
    return text.replace('scenario "taking 80"', f'scenario "taking once more, {number}"')


def _type(text: str, number: int) -> str:
    return text.replace("type Room80 { lit", f"type Room80 {{ dark{number}: bool  lit")


_EDITS: tuple[tuple[str, Edit, int], ...] = (
    ("an action body", _body, EDITS),
    ("a law", _law, EDITS),
    ("a doc comment", _doc, EDITS),
    ("a scenario", _scenario, EDITS),
    ("a type: all", _type, 3),
)


def editing() -> Iterator[Row]:
    """A file of some 10,000 lines; every kind of edit is held to a check of the whole text."""
    text = large_file(TIMES)
    source = Source("large.tw", None, text)
    check_source(Source("small.tw", None, large_file(1)))  # the tables are loaded once
    seconds, checked = least(lambda: check_source(source), 2)
    if not checked.ok:
        raise WrongResultError("the large file is not sound")
    lines = text.count("\n")
    yield Row(f"check {lines} lines", 1e3 * seconds, "ms", f"{1e6 * seconds / lines:.0f} µs a line")
    workspace = Workspace()
    workspace.open(source)
    for name, edit, count in _EDITS:
        yield Row(f"edit {name}", 1e3 * _median(workspace, text, edit, count), "ms", "median")


def _median(workspace: Workspace, text: str, edit: Edit, count: int) -> float:
    spent: list[float] = []
    for number in range(count):
        changed = edit(text, number)
        now = Source("large.tw", None, changed)
        began = time.process_time()
        found = workspace.edit(now)
        spent.append(time.process_time() - began)
    if changed == text or found.diagnostics != check_source(now).diagnostics:
        raise WrongResultError("an edit is not checked as a whole text is")
    return median(spent)
