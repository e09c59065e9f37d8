"""The story so far: what was typed, what was said, what was refused."""

from __future__ import annotations

from collections.abc import Sequence

from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tokenworld.tools.play.game import Entry, EntryKind
from tokenworld.tools.play.glyphs import Glyphs
from tokenworld.tools.play.styles import ENTRY_STYLES

__all__ = ["Transcript"]

_KEPT = 300
"""Paragraphs that stay on the screen; the tick list and the run store keep all."""


class Transcript(VerticalScroll):
    """Paragraphs in order, the newest in view."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="transcript", classes="pane")
        self.border_title = "Story"
        self._told = 0
        self._signs: dict[EntryKind, str] = {
            "typed": "> ",
            "refused": f"{glyphs.refused} ",
            "puzzled": f"{glyphs.no_match} ",
            "fault": f"{glyphs.error} ",
        }

    def catch_up(self, entries: Sequence[Entry]) -> None:
        """Add the paragraphs that are not on the screen yet."""
        new = entries[self._told :][-_KEPT:]
        self._told = len(entries)
        self.mount_all([self._paragraph(one) for one in new])
        for old in list(self.children)[: max(0, len(self.children) - _KEPT)]:
            old.remove()
        self.scroll_end(animate=False)

    def _paragraph(self, entry: Entry) -> Static:
        text = f"{self._signs.get(entry.kind, '')}{entry.text}"
        content = Content.styled(text, ENTRY_STYLES[entry.kind])
        return Static(content, classes=f"entry -{entry.kind}", markup=False)
