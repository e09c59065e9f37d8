"""Files that a world names: recorded states and replays (language.md §9, §12, §15)."""

from __future__ import annotations

import json

from tokenworld.check.draft import Draft
from tokenworld.diagnostics import Failure, Source, Span
from tokenworld.model import StartFile
from tokenworld.syntax import nodes as syn

__all__ = ["read_data", "recorded_state"]

FORMAT = "tw-state/1"


def read_data(path: syn.Str, draft: Draft) -> Source:
    """The text of a file named in the root file, relative to it (TW0006 if it cannot be read)."""
    if path.value in draft.data:
        return draft.data[path.value]
    assert draft.root is not None
    try:
        found = draft.read(path.value, draft.root)
    except Failure as failure:
        (first, *_) = failure.diagnostics
        hint = "Put the file beside this one, or correct its name."
        draft.stop("TW0006", first.message, path.span, "cannot be read", hint)
    return draft.data.setdefault(path.value, found)


def recorded_state(path: syn.Str, span: Span, draft: Draft) -> StartFile:
    """``start "file.json"``: a state in the exchange format. The file is a source of the program,
    so that a recorded run knows what it began with."""
    source = read_data(path, draft)
    try:
        state = json.loads(source.text)
    except (ValueError, RecursionError) as error:
        what = f"`{path.value}` is not JSON: {str(error).partition(':')[0].lower()}."
        hint = "Record the state again, or correct the file."
        draft.stop("TW0006", what, path.span, "no recorded state", hint)
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        what = f"`{path.value}` is not a recorded state."
        hint = f'A recorded state is a JSON object with `"format": "{FORMAT}"`.'
        draft.stop("TW0006", what, path.span, "no recorded state", hint)
    draft.sources.setdefault(source.name, source)
    return StartFile(path.value, source.text, span)
