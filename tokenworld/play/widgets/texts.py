"""Panes, lists and frames of text, with key ids that a user can rebind.

A `Sheet` makes only the rows in view. A `Static` wraps and styles all of its text whenever it
changes, which for the thousand lines of a large world takes most of a second.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import ClassVar, Final, Generic, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual, VisualType
from textual.widget import Widget
from textual.widgets import Footer, OptionList

from tokenworld.diagnostics import visible
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


def _quiet(key: str, action: str, text: str, name: str) -> Binding:
    return Binding(key, action, text, show=False, id=name)


def select_key(does: str) -> Binding:
    """The key of a list that the row of keys names: what Enter does there.

    Without it the screen's own Enter is not named, as the hidden one of the list comes first.
    """
    return Binding("enter", "select", does, key_display="Enter", id="list.select")


class KeyedList(OptionList, inherit_bindings=False):
    """An option list with ids for its keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _quiet("down", "cursor_down", "Down", "list.down"),
        _quiet("up", "cursor_up", "Up", "list.up"),
        _quiet("home", "first", "To the first", "list.first"),
        _quiet("end", "last", "To the last", "list.last"),
        _quiet("pagedown", "page_down", "A page down", "list.page_down"),
        _quiet("pageup", "page_up", "A page up", "list.page_up"),
        _quiet("enter", "select", "Do or open the highlighted one", "list.select"),
    ]

    def __init__(self, *options: Option, id: str, classes: str | None = None) -> None:
        super().__init__(*options, id=id, classes=classes, markup=False)


class KeyedScroll(VerticalScroll, inherit_bindings=False):
    """A scrolling text with ids for its keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        _quiet("down", "scroll_down", "Down", "pane.down"),
        _quiet("up", "scroll_up", "Up", "pane.up"),
        _quiet("home", "scroll_home", "To the top", "pane.first"),
        _quiet("end", "scroll_end", "To the end", "pane.last"),
        _quiet("pagedown", "page_down", "A page down", "pane.page_down"),
        _quiet("pageup", "page_up", "A page up", "pane.page_up"),
    ]


TABS: Final = {"actions": "Actions F2", "details": "Details F4", "ticks": "Ticks F5"}
"""The panes at the side; a small screen shows one of them."""


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
        """The text without colours."""
        return plain_text(self.lines)


def _words(line: Line) -> str:
    return "".join(text for text, _ in line)


class Details(TextPane):
    """The pane that shows why a command is refused, the record of a tick, or a hint with its
    offer."""

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
    """Compose a whole screen, from its top."""
    yield TitleBar()
    yield from body
    yield key_row()


def key_row() -> Footer:
    """The keys that do something here."""
    return Footer(compact=True, show_command_palette=False)


class QualityStrip(Words, can_focus=True):
    """Shows a line for an operator; it never takes the focus by itself."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter", "open", "Open the dimensions of the quality", show=False, id="quality.open"
        ),
    ]

    class Opened(Message):
        """Somebody wants to see more."""

    def __init__(self) -> None:
        super().__init__(id="quality")
        self.display = False
        self.line: Line = ()

    def tell(self, line: Line) -> None:
        """Show another line."""
        self.line = line
        self.update(styled_line(line), layout=False)

    @property
    def plain(self) -> str:
        """The text without colours."""
        return plain_text((self.line,))

    def action_open(self) -> None:
        self.post_message(self.Opened())

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.action_open()


# ---- lines that are made for the rows in view only -----------------------------------------------


LineT = TypeVar("LineT")


class Rows(Generic[LineT]):
    """Lines as rows of a width. ``text`` gives the words of a line, ``draw`` the styled
    line; it is called for visible lines only."""

    def __init__(self, text: Callable[[LineT], str], draw: Callable[[LineT], Content]) -> None:
        self._text, self._draw = text, draw
        self._lines: Sequence[LineT] = ()
        self._ends: dict[int, list[int]] = {}

    def update(self, lines: Sequence[LineT]) -> None:
        """Other lines."""
        self._lines, self._ends = lines, {}

    def height(self, width: int) -> int:
        """Return the number of rows at a width."""
        ends = self._measured(width)
        return ends[-1] if ends else 0

    def _measured(self, width: int) -> list[int]:
        """The row after the last one of each line."""
        if width not in self._ends:
            rows = (_rows(visible(self._text(one)), width) for one in self._lines)
            self._ends[width] = list(accumulate(rows))
        return self._ends[width]

    def row_of(self, at: int, width: int) -> int:
        """Return the first row of a line at a width."""
        return self._measured(width)[at - 1] if at else 0

    def strip(self, widget: Widget, y: int, width: int) -> Strip:
        """One row as a widget shows it."""
        ends = self._measured(width)
        at = bisect_right(ends, y)
        if at >= len(self._lines):
            return Strip.blank(width, widget.visual_style.rich_style)
        row = y - (ends[at - 1] if at else 0)
        content = self._marked(widget, at)
        style = widget.visual_style
        strips = Visual.to_strips(widget, content, width, None, style, apply_selection=False)
        return _placed(strips[row], at)

    def _marked(self, widget: Widget, at: int) -> Content:
        """Return a line with the selection of the mouse."""
        content, selected = self._draw(self._lines[at]), widget.text_selection
        span = None if selected is None else selected.get_span(at)
        if span is None:
            return content
        style = Style.from_styles(widget.screen.get_component_styles("screen--selection"))
        return content.stylize(style, span[0], len(content) if span[1] < 0 else span[1])

    def selected(self, selection: Selection) -> tuple[str, str]:
        """Return the text selected with the mouse, to be copied."""
        return selection.extract(visible("\n".join(map(self._text, self._lines)))), "\n"


class Sheet(Widget, Generic[LineT]):
    """Lines wrapped to the width of their pane; as high as the text."""

    DEFAULT_CSS = """
    Sheet {
        width: 1fr;
        height: auto;
    }
    """

    def __init__(self, text: Callable[[LineT], str], draw: Callable[[LineT], Content]) -> None:
        super().__init__(markup=False)
        self._rows = Rows(text, draw)

    def update(self, lines: Sequence[LineT]) -> None:
        """Show other lines. The screen is laid out anew only where their number of rows differs."""
        width = self.size.width
        before = self._rows.height(width)
        self._rows.update(lines)
        self.refresh(layout=not width or self._rows.height(width) != before)

    def row_of(self, at: int) -> int:
        """Return the row in which a line begins."""
        return self._rows.row_of(at, self.size.width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._rows.height(width)

    def render_line(self, y: int) -> Strip:
        return self._rows.strip(self, y, self.size.width)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return self._rows.selected(selection)


class ScrolledSheet(ScrollView, Generic[LineT]):
    """The same with scrolling of its own: where lines are added, one layout is enough."""

    def __init__(
        self,
        text: Callable[[LineT], str],
        draw: Callable[[LineT], Content],
        *,
        id: str,
        classes: str,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._rows = Rows(text, draw)

    def update(self, lines: Sequence[LineT]) -> None:
        """Show other lines, from their end."""
        self._rows.update(lines)
        self._fit()
        self.scroll_end(animate=False)
        self.refresh()

    def _fit(self) -> None:
        width = self.scrollable_content_region.width
        self.virtual_size = Size(width, self._rows.height(width))

    def on_resize(self) -> None:
        """Wrap to the new width; who was at the end stays there."""
        at_end = self.scroll_offset.y >= self.max_scroll_y
        self._fit()
        if at_end:
            self.scroll_end(animate=False)

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        strip = self._rows.strip(self, y + self.scroll_offset.y, width)
        return strip.crop_extend(0, width, self.visual_style.rich_style)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return self._rows.selected(selection)


@lru_cache(maxsize=1 << 14)
def _rows(text: str, width: int) -> int:
    """Return the rows of a line at a width; cached, because most lines stay the same."""
    if not width or (len(text) <= width and text.isascii() and "\t" not in text):
        return 1
    return content(text).get_height({}, width)


def _placed(strip: Strip, line: int) -> Strip:
    """A row that knows its place in the text, which marking with the mouse asks for."""
    style = next((one.style for one in strip if one.style is not None), None)
    column, _ = (style.meta.get("offset") or (0, 0)) if style is not None else (0, 0)
    return strip.apply_offsets(column, line)
