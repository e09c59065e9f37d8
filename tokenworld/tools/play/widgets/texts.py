"""Panes of text: the title, the world, what is carried, the details, and the strip of tabs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.visual import VisualType
from textual.widgets import Static

from tokenworld.tools.play.lines import Line, plain_text
from tokenworld.tools.play.styles import styled_line
from tokenworld.tools.play.widgets.lists import KeyedScroll
from tokenworld.tools.play.widgets.sheet import Sheet

__all__ = ["TABS", "Details", "TabStrip", "TextPane", "TitleBar"]

TABS: Final = {"actions": "Actions F2", "details": "Details F4", "ticks": "Ticks F5"}
"""The panes of the side, of which a small screen shows one."""


class TitleBar(Static):
    """World, tick, score and outcome in one row."""

    def __init__(self) -> None:
        super().__init__("", id="title", markup=False)

    def update(self, content: VisualType = "", *, layout: bool = False) -> None:
        """Show another text; one row stays one row, so nothing is laid out anew."""
        super().update(content, layout=layout)


class TextPane(KeyedScroll):
    """A bordered text that scrolls; as high as its text, up to the limit of the stylesheet."""

    def __init__(self, pane: str, title: str) -> None:
        super().__init__(id=pane, classes="pane")
        self.border_title = title
        self._text: Sheet[Line] = Sheet(_words, styled_line)
        self.lines: tuple[Line, ...] = ()

    def compose(self) -> ComposeResult:
        yield self._text

    def tell(self, lines: Iterable[Line], title: str | None = None) -> None:
        """Show other lines, from their top."""
        told = tuple(lines)
        if told != self.lines:
            self.lines = told
            self._text.update(told)
        if title is not None:
            self.border_title = title
        self.scroll_home(animate=False)

    @property
    def plain(self) -> str:
        """What a reader without colours sees."""
        return plain_text(self.lines)


def _words(line: Line) -> str:
    return "".join(text for text, _ in line)


class Details(TextPane):
    """Why a command is refused, the record of a tick, or a hint with its offer."""

    def __init__(self) -> None:
        super().__init__("details", "Details")
        self._offer = Static("", classes="offer")

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._offer

    def tell(
        self, lines: Iterable[Line], title: str | None = None, offer: Content | None = None
    ) -> None:
        super().tell(lines, title)
        self.border_subtitle = ""
        self._offer.update(offer or "")
        self._offer.display = offer is not None


class TabStrip(Static):
    """Names the side's panes where only one fits; a click brings one up."""

    class Picked(Message):
        """A tab was clicked."""

        def __init__(self, pane: str) -> None:
            super().__init__()
            self.pane = pane

    def __init__(self) -> None:
        super().__init__("", id="tabs")
        self.show("actions")

    def show(self, pane: str) -> None:
        """Mark a pane as the one in front."""
        parts = [
            f"[@click=pick('{name}')][reverse] {title} [/reverse][/]"
            if name == pane
            else f"[@click=pick('{name}')] {title} [/]"
            for name, title in TABS.items()
        ]
        self.update(Content.from_markup(" ".join(parts)))

    def action_pick(self, pane: str) -> None:
        self.post_message(self.Picked(pane))
