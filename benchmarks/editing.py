"""Time a check of a large file, and a check after an edit of one item."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median

from benchmarks.large import large_file
from benchmarks.measure import WrongResultError, least
from tokenworld.check import check_source
from tokenworld.check.workspace import Workspace
from tokenworld.diagnostics import Source

__all__ = ["OF_ALL", "OF_ONE_ITEM", "editing"]

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


OF_ONE_ITEM: dict[str, Edit] = {
    "an action body": _body,
    "a law": _law,
    "a doc comment": _doc,
    "a scenario": _scenario,
}
OF_ALL: dict[str, Edit] = {"a type": _type}
"""Edits after which everything is checked again."""


def editing(
    times: int = TIMES, edits: int = EDITS, kinds: Mapping[str, Edit] = OF_ONE_ITEM
) -> dict[str, float]:
    """CPU seconds of checking a file of some 10,000 lines, then of checking it again after an edit
    of each kind, as `tw lsp` does: medians. The last result of each kind is compared with a check
    of the whole text."""
    text = large_file(times)
    source = Source("large.tw", None, text)
    check_source(Source("small.tw", None, large_file(1)))  # the tables are loaded once
    seconds, checked = least(lambda: check_source(source), 1)
    if not checked.ok:
        raise WrongResultError("the large file is not sound")
    workspace = Workspace()
    workspace.open(source)
    found = {name: _median(workspace, text, edit, edits) for name, edit in kinds.items()}
    return {"the whole text": seconds, **found}


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
