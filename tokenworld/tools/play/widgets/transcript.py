"""The story so far: what was typed, what was said, what was refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from tokenworld.tools.play.game import Entry, EntryKind
from tokenworld.tools.play.glyphs import Glyphs
from tokenworld.tools.play.styles import ENTRY_STYLES
from tokenworld.tools.play.widgets.sheet import ScrolledSheet

__all__ = ["Transcript"]

_Row = tuple[str, EntryKind]


class Transcript(ScrolledSheet[_Row]):
    """Paragraphs in order, the newest in view; a blank row before each command."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(_words, _styled, id="transcript", classes="pane")
        self.border_title = "Story"
        self._told = 0
        self._story: list[_Row] = []
        self._signs: dict[EntryKind, str] = {
            "typed": "> ",
            "refused": f"{glyphs.refused} ",
            "puzzled": f"{glyphs.no_match} ",
            "fault": f"{glyphs.error} ",
        }

    def catch_up(self, entries: Sequence[Entry]) -> None:
        """Add the paragraphs that are not on the screen yet."""
        for entry in entries[self._told :]:
            self._story.extend(self._paragraph(entry))
        self._told = len(entries)
        self.update(self._story)

    def _paragraph(self, entry: Entry) -> Iterator[_Row]:
        if entry.kind == "typed":
            yield "", entry.kind
        text = f"{self._signs.get(entry.kind, '')}{entry.text}"
        yield from ((one, entry.kind) for one in text.split("\n"))


def _words(row: _Row) -> str:
    return row[0]


def _styled(row: _Row) -> Content:
    text, kind = row
    return Content.styled(text, ENTRY_STYLES[kind])
