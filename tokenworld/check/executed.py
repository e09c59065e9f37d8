"""The executed pass: constructs that the grammar knows and this version does not run.

Each is reported by its line (TW0105) and never ignored; when a construct becomes executable, its
case is removed here.
"""

from __future__ import annotations

from tokenworld.check.draft import Draft
from tokenworld.diagnostics import Span
from tokenworld.syntax import nodes as syn


def check_executed(draft: Draft) -> None:
    """Report every construct that is not executed yet. At present these are whole items."""
    for model, _ in draft.items(syn.ModelDecl):
        _tell(draft, "A model of beliefs", model.span)


def _tell(draft: Draft, what: str, span: Span) -> None:
    message = f"{what} cannot be executed by this version."
    hint = "Leave it out for now; `tw check` accepts it once it is executed."
    draft.tell("TW0105", message, span, "not executed yet", hint)
