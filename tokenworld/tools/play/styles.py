"""How the roles of lines look. Every meaning also has a sign or a word: colour is an extra."""

from __future__ import annotations

from typing import Final

from textual.content import Content

from tokenworld.tools.play.game import EntryKind
from tokenworld.tools.play.lines import Line, Role

__all__ = ["ENTRY_STYLES", "styled_line"]

_STYLES: Final[dict[Role, str]] = {
    "plain": "",
    "head": "bold",
    "dim": "$foreground-muted",
    "good": "$text-success",
    "bad": "bold $text-error",
    "warn": "$text-warning",
    "typed": "bold $text-accent",
    "link": "bold underline",
}

ENTRY_STYLES: Final[dict[EntryKind, str]] = {
    "welcome": "italic",
    "typed": "bold $text-accent",
    "said": "",
    "refused": "$text-error",
    "puzzled": "$text-warning",
    "ending": "bold $text-success",
    "note": "italic $text-primary",
    "fault": "bold $text-error",
}


def styled_line(one: Line) -> Content:
    """A line as Textual shows it."""
    return Content.assemble(*((text, _STYLES[role]) for text, role in one))
