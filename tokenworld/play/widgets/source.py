"""The source pane: the text of the rule of a row, coloured, with the failed lines marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from textual.app import ComposeResult

from tokenworld.play.model.source import CodeLine
from tokenworld.play.widgets.shown import Content, Piece, content, entitle
from tokenworld.play.widgets.texts import KeyedScroll, Sheet
from tokenworld.verbs.grammars.colours import Kind, pieces
from tokenworld.verbs.output import Glyphs

_STYLES: Final[Mapping[Kind | None, str]] = {
    "doc": "italic $foreground-muted",
    "comment": "italic $foreground-muted",
    "string": "$text-secondary",
    "raw": "$text-secondary",
    "number": "$text-accent",
    "constant": "$text-accent",
    "declaration": "bold $text-primary",
    "keyword": "bold $text-primary",
    "primitive": "bold $text-primary",
    "fold": "bold $text-primary",
    "operator": "bold $text-primary",
    "type": "$text-accent",
}
_NONE: Final = "Walk to a command or to a tick: its rule is shown here."


class SourcePane(KeyedScroll):
    """Lines of rules, each with its number in the file."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="source", classes="pane")
        self._glyphs = glyphs
        self._sheet: Sheet[CodeLine] = Sheet(self._words, self._drawn)
        self.lines: tuple[CodeLine, ...] | None = None
        self.display = False

    def compose(self) -> ComposeResult:
        yield self._sheet

    def show(self, lines: Sequence[CodeLine], title: str) -> None:
        """Show other lines, the first that failed in view."""
        told = tuple(lines) or (CodeLine(0, _NONE),)
        if told == self.lines:
            return
        self.lines = told
        self._sheet.update(told)
        entitle(self, f"Source: {title}" if title else "Source")
        self.call_after_refresh(self._to_failed)

    def _to_failed(self) -> None:
        """Scroll to the first line that failed; else to the top."""
        failed = next((at for at, one in enumerate(self.lines or ()) if one.failed), 0)
        top = self._sheet.row_of(failed) - self.scrollable_content_region.height // 2
        self.scroll_to(y=max(top, 0), animate=False)

    def _words(self, one: CodeLine) -> str:
        return f"{self._gutter(one)}{one.text}"

    def _gutter(self, one: CodeLine) -> str:
        if not one.number:
            return ""
        return f"{self._glyphs.refused if one.failed else ' '}{one.number:>4} "

    def _drawn(self, one: CodeLine) -> Content:
        if not one.number:
            return content((one.text, "bold"))
        code: list[Piece] = [(text, _STYLES.get(kind, "")) for text, kind in pieces(one.text)]
        gutter = (self._gutter(one), "bold $text-error" if one.failed else "$foreground-muted")
        drawn = content(gutter, *code)
        return drawn.stylize("on $error 25%") if one.failed else drawn
