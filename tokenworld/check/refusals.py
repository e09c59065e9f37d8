"""Refusals that explain nothing (TW0901) or that are kept in the state (TW0902)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tokenworld.check.draft import Draft
from tokenworld.diagnostics import Edit, Fix, Related, Span
from tokenworld.model import (
    Action,
    Assign,
    Body,
    BoolType,
    EnumType,
    Fluent,
    If,
    Require,
    TextType,
    bodies,
)

__all__ = ["check_refusals"]

_REFUSED: Final = frozenset({"refused", "refusal", "refusals", "rejected", "rejection", "denied"})
_FAILED: Final = frozenset({"error", "failed", "failure"})


def check_refusals(draft: Draft) -> None:
    """Requires without a reason, and writes that remember a refusal."""
    actions = tuple(draft.actions.values())
    draft.each("refusals", actions, lambda action: _action(action, draft))


def _action(action: Action, draft: Draft) -> None:
    _reasons(action, draft)
    _stored(action, draft)


def _reasons(action: Action, draft: Draft) -> None:
    """A require without label and text refuses without a reason (an import has none to give)."""
    if draft.pddl:
        return
    for require in action.requires:
        if not require.label and require.text is None:
            what = "This `require` refuses without a reason of its own."
            hint = 'Add `else label "text"`.'
            fix = _reason(action, require)
            draft.tell("TW0901", what, require.span, "no label, no text", hint, fix=fix)


def _reason(action: Action, require: Require) -> Fix:
    words = re.sub(r"[^A-Za-z0-9]+", " ", action.name).strip() or "that"
    label = "cannot_" + words.lower().replace(" ", "_")
    edit = Edit(_behind(require.span), f' else {label} "You cannot {words} now."')
    return Fix("give it a label and a text", (edit,))


def _behind(span: Span) -> Span:
    """The empty place just behind a span."""
    line, column = span.end_line, span.end_column
    return Span(span.file, span.end, span.end, line, column, line, column)


# ---- refusals in the state --------------------------------------------------------------


def _stored(action: Action, draft: Draft) -> None:
    """A fact named after refusing, or one named after failing that a branch sets."""
    for assign, in_branch in _assigned(action.body):
        fluent = draft.fluents[assign.target.fluent]
        if not _remembers(fluent, in_branch):
            continue
        what = f"`{action.name}` keeps a refusal in the state, as `{fluent.name}`."
        hint = 'Write `require … else label "text"`: a refusal is an answer and changes nothing.'
        related = (Related(fluent.span, f"`{fluent.name}` is declared here"),)
        draft.tell("TW0902", what, assign.span, "a stored refusal", hint, related)
        return


def _assigned(body: Body, in_branch: bool = False) -> Iterator[tuple[Assign, bool]]:
    for effect in body:
        if isinstance(effect, Assign):
            yield effect, in_branch
        for inner in bodies(effect):
            yield from _assigned(inner, in_branch or isinstance(effect, If))


def _remembers(fluent: Fluent, in_branch: bool) -> bool:
    words = set(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", fluent.name).lower().split("_"))
    told = isinstance(fluent.type, (BoolType, EnumType, TextType))
    return bool(words & _REFUSED) or (told and in_branch and bool(words & _FAILED))
