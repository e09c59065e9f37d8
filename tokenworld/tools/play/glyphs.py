"""The few signs of the screen, in Unicode and in plain ASCII for terminals without it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, fields

from tokenworld.ground import Status

__all__ = ["ASCII", "UNICODE", "Glyphs", "fitting_glyphs"]


@dataclass(frozen=True, slots=True)
class Glyphs:
    """One sign per meaning; every sign stands beside a word, never alone for it."""

    executed: str = "✓"
    refused: str = "✗"
    rolled_back: str = "↺"
    no_match: str = "?"
    yielded: str = "⇢"
    waiting: str = "…"
    interrupted: str = "~"
    error: str = "!"
    halted: str = "■"
    unevaluated: str = "–"
    won: str = "★"
    lost: str = "†"
    becomes: str = "→"
    dot: str = "·"
    hint: str = "»"
    undone: str = "↶"
    redone: str = "↷"
    changed: str = "●"
    ellipsis: str = "…"
    done: str = "▰"
    left: str = "▱"
    sparks: str = "▁▂▃▄▅▆▇█"

    def of(self, status: Status) -> str:
        """The sign of a status."""
        return str(getattr(self, status))

    def holds(self, value: bool | None) -> str:
        """The sign of a require: holds, fails, or not evaluated."""
        if value is None:
            return self.unevaluated
        return self.executed if value else self.refused


UNICODE = Glyphs()
ASCII = Glyphs(
    executed="+",
    refused="x",
    rolled_back="<",
    yielded=">",
    waiting="&",
    halted="#",
    unevaluated="-",
    won="*",
    lost="X",
    becomes="->",
    dot="|",
    hint=">>",
    undone="<<",
    redone=">>",
    changed="*",
    ellipsis="...",
    done="=",
    left=".",
    sparks="_.-~=+*#",
)


def fitting_glyphs() -> Glyphs:
    """The signs that standard output can show; ``TW_ASCII=1`` asks for the plain ones."""
    if os.environ.get("TW_ASCII", "0") not in ("", "0"):
        return ASCII
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    every = "".join(getattr(UNICODE, field.name) for field in fields(Glyphs))
    try:
        every.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE
