"""The lints pass: what is allowed and yet suspicious (TW09xx)."""

from __future__ import annotations

from collections.abc import Callable

from tokenworld.check.absence import check_absence
from tokenworld.check.applicability import check_applicability
from tokenworld.check.draft import Draft
from tokenworld.check.growth import check_growth
from tokenworld.check.refusals import check_refusals
from tokenworld.check.twins import check_twins
from tokenworld.check.usage import check_usage
from tokenworld.diagnostics import Diagnostic, Span

__all__ = ["LINTS", "check_lints"]

LINTS: tuple[Callable[[Draft], None], ...] = (
    check_refusals,
    check_applicability,
    check_usage,
    check_twins,
    check_growth,
)
"""What is looked for in every check; `--pedantic` adds equality of absent values."""


def check_lints(draft: Draft) -> None:
    """Run every lint on the root file. A `quirk` before an item silences those inside it.

    Modules are linted when they are checked themselves: who uses one cannot repair it.
    """
    before = len(draft.report)
    for lint in (*LINTS, *((check_absence,) if draft.pedantic else ())):
        lint(draft)
    if len(draft.report) == before:
        return
    quirks = [entry.item.span for entry in draft.entries if entry.quirk is not None]
    draft.report[before:] = [one for one in draft.report[before:] if _wanted(one, quirks, draft)]


def _wanted(found: Diagnostic, quirks: list[Span], draft: Draft) -> bool:
    span = found.span
    if span is None or (span.file not in draft.pieces and span.file != draft.root_name):
        return False
    return not any(
        quirk.file == span.file and quirk.start <= span.start and span.end <= quirk.end
        for quirk in quirks
    )
