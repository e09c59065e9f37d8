"""Panes, lists and frames of text, with key ids that a user can rebind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.message import Message
from textual.visual import VisualType
from textual.widget import Widget
from textual.widgets import Footer, OptionList

from tokenworld.play.widgets.sheet import Sheet
from tokenworld.play.widgets.shown import (
    Content,
    Option,
    Words,
    content,
    entitle,
    link,
    styled_line,
)
from tokenworld.verbs.output import Line, plain_text

__all__ = [
    "Details",
    "KeyedList",
    "KeyedScroll",
    "QualityStrip",
    "TABS",
    "TabStrip",
    "TextPane",
    "TitleBar",
    "framed",
    "key_row",
    "select_key",
]


def _quiet(key: str, action: str, name: str) -> Binding:
    return Binding(key, action, name, show=False, id=name)


def select_key(does: str) -> Binding:
    """The key of a list that the row of keys names: what Enter does there.

    Without it the screen's own Enter is not named, as the hidden one of the list comes first.
    """
    return Binding("enter", "select", does, key_display="Enter", id="list.select")


class KeyedList(OptionList, inherit_bindings=False):
    """An option list with ids for its keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _quiet("down", "cursor_down", "list.down"),
        _quiet("up", "cursor_up", "list.up"),
        _quiet("home", "first", "list.first"),
        _quiet("end", "last", "list.last"),
        _quiet("pagedown", "page_down", "list.page_down"),
        _quiet("pageup", "page_up", "list.page_up"),
        _quiet("enter", "select", "list.select"),
    ]

    def __init__(self, *options: Option, id: str, classes: str | None = None) -> None:
        super().__init__(*options, id=id, classes=classes, markup=False)


class KeyedScroll(VerticalScroll, inherit_bindings=False):
    """A scrolling text with ids for its keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _quiet("down", "scroll_down", "pane.down"),
        _quiet("up", "scroll_up", "pane.up"),
        _quiet("home", "scroll_home", "pane.first"),
        _quiet("end", "scroll_end", "pane.last"),
        _quiet("pagedown", "page_down", "pane.page_down"),
        _quiet("pageup", "page_up", "pane.page_up"),
    ]


TABS: Final = {"actions": "Actions F2", "details": "Details F4", "ticks": "Ticks F5"}
"""The panes of the side, of which a small screen shows one."""


class TitleBar(Words):
    """World, tick, score and outcome in one row."""

    def __init__(self) -> None:
        super().__init__(id="title")

    def update(self, content: VisualType = "", *, layout: bool = False) -> None:
        """Show another text; one row stays one row, so nothing is laid out anew."""
        super().update(content, layout=layout)


class TextPane(KeyedScroll):
    """A bordered text that scrolls; as high as its text, up to the limit of the stylesheet."""

    def __init__(self, pane: str, title: str) -> None:
        super().__init__(id=pane, classes="pane")
        entitle(self, title)
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
        entitle(self, title)
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
        self._offer = Words(classes="offer")

    def compose(self) -> ComposeResult:
        yield from super().compose()
        yield self._offer

    def tell(
        self, lines: Iterable[Line], title: str | None = None, offer: Content | None = None
    ) -> None:
        super().tell(lines, title)
        entitle(self, subtitle="")
        self._offer.update(offer or "")
        self._offer.display = offer is not None


class TabStrip(Words):
    """Names the side's panes where only one fits; a click brings one up."""

    class Picked(Message):
        """A tab was clicked."""

        def __init__(self, pane: str) -> None:
            super().__init__()
            self.pane = pane

    def __init__(self) -> None:
        super().__init__(id="tabs")
        self.show("actions")

    def show(self, pane: str) -> None:
        """Mark a pane as the one in front."""
        parts = [
            link(f"pick('{name}')", title).stylize("reverse" if name == pane else "")
            for name, title in TABS.items()
        ]
        self.update(content(" ").join(parts))

    def action_pick(self, pane: str) -> None:
        self.post_message(self.Picked(pane))


def framed(*body: Widget) -> ComposeResult:
    """What a whole screen is composed of, from its top."""
    yield TitleBar()
    yield from body
    yield key_row()


def key_row() -> Footer:
    """The keys that do something here."""
    return Footer(compact=True, show_command_palette=False)


class QualityStrip(Words, can_focus=True):
    """Shows a line; it never takes the focus by itself, and is hidden until it has something."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Quality", show=False, id="quality.open"),
    ]

    class Opened(Message):
        """Somebody wants to see more."""

    def __init__(self) -> None:
        super().__init__(id="quality")
        self.display = False
        self.line: Line = ()

    def tell(self, line: Line) -> None:
        """Show another line."""
        self.line, self.display = line, True
        self.update(styled_line(line), layout=False)

    @property
    def plain(self) -> str:
        """What a reader without colours sees."""
        return plain_text((self.line,))

    def action_open(self) -> None:
        self.post_message(self.Opened())

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.action_open()
