"""Repairs that follow from a finding itself: what `tw check --fix` and editors offer."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from tokenworld.check.draft import Draft
from tokenworld.diagnostics import (
    Diagnostic,
    Edit,
    Fix,
    Span,
    closest,
    edit_distance,
    only_suggestion,
)

__all__ = ["with_repairs"]

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_NAME: Final = re.compile(r"`[^`\n]+`|[A-Za-z][A-Za-z0-9_]*")
_WORD_BEFORE: Final = re.compile(r"([A-Za-z][A-Za-z0-9_]*)\s*$")
# Among shorter names, any two are alike.
_LONG_ENOUGH: Final = 4


def with_repairs(found: Diagnostic, draft: Draft) -> Diagnostic:
    """The finding with its repair, where that is unique.

    A repair of the syntax is safe: a text that does not parse means nothing yet.
    """
    if found.span is None:
        return found
    if found.fix is not None:
        safe = found.fix.safe or found.code == "TW0101"
        return replace(found, fix=replace(found.fix, safe=safe))
    fix = _clamp(found) if found.code == "TW0503" else _respell(found, found.span, draft)
    return found if fix is None else replace(found, fix=fix)


def _respell(found: Diagnostic, span: Span, draft: Draft) -> Fix | None:
    """The one name that is meant. At one letter's distance nobody means another one.

    A misspelt keyword is noticed at the word behind it, so the word before may be meant too.
    """
    name = only_suggestion(found.hint)
    source = draft.source_of(span)
    if name is None or source is None:
        return None
    places = [span]
    if found.code == "TW0101" and (before := _WORD_BEFORE.search(source.text[: span.start])):
        places.append(source.span(*before.span(1)))
    for place in places:
        written = source.text[place.start : place.end]
        word = written.strip("`")
        if _NAME.fullmatch(written) and closest(word, [name]):
            raw = written.startswith("`") or not _PLAIN.fullmatch(name)
            near = len(word) >= _LONG_ENOUGH and edit_distance(word, name, 1) == 1
            edit = Edit(place, f"`{name}`" if raw else name)
            return Fix(f"write `{name}`", (edit,), safe=near)
    return None


def _clamp(found: Diagnostic) -> Fix | None:
    """`clamped` behind the declaration of a number that a law may take out of its range."""
    if not found.related:
        return None
    end = found.related[0].span
    place = Span(
        end.file, end.end, end.end, end.end_line, end.end_column, end.end_line, end.end_column
    )
    return Fix("let the number stop at the ends of its range", (Edit(place, " clamped"),))
