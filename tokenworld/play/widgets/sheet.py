"""A text of any length inside a scrolling pane: only the rows in view are made.

A `Static` wraps and styles all of its text whenever it changes, which for the thousand lines of a
large world takes most of a second.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Generic, TypeVar

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual
from textual.widget import Widget

from tokenworld.diagnostics import visible
from tokenworld.play.widgets.shown import Content, content

__all__ = ["ScrolledSheet", "Sheet"]


LineT = TypeVar("LineT")


class Rows(Generic[LineT]):
    """Lines as rows of a width. ``text`` gives the words of a line, ``draw`` the line as it looks:
    that is asked for what is in view alone."""

    def __init__(self, text: Callable[[LineT], str], draw: Callable[[LineT], Content]) -> None:
        self._text, self._draw = text, draw
        self._lines: Sequence[LineT] = ()
        self._ends: dict[int, list[int]] = {}

    def update(self, lines: Sequence[LineT]) -> None:
        """Other lines."""
        self._lines, self._ends = lines, {}

    def height(self, width: int) -> int:
        """How many rows there are at a width."""
        ends = self._measured(width)
        return ends[-1] if ends else 0

    def _measured(self, width: int) -> list[int]:
        """The row behind the last one of each line."""
        if width not in self._ends:
            rows = (_rows(visible(self._text(one)), width) for one in self._lines)
            self._ends[width] = list(accumulate(rows))
        return self._ends[width]

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
        """A line, with what the mouse marked of it."""
        content, selected = self._draw(self._lines[at]), widget.text_selection
        span = None if selected is None else selected.get_span(at)
        if span is None:
            return content
        style = Style.from_styles(widget.screen.get_component_styles("screen--selection"))
        return content.stylize(style, span[0], len(content) if span[1] < 0 else span[1])

    def selected(self, selection: Selection) -> tuple[str, str]:
        """What was marked with the mouse, to be copied."""
        return selection.extract(visible("\n".join(map(self._text, self._lines)))), "\n"


class Sheet(Widget, Generic[LineT]):
    """Lines wrapped to the width of the pane that it lies in; as high as its text."""

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
    """Rows of a line at a width; remembered, as most lines are the same a tick later."""
    if not width or (len(text) <= width and text.isascii() and "\t" not in text):
        return 1
    return content(text).get_height({}, width)


def _placed(strip: Strip, line: int) -> Strip:
    """A row that knows its place in the text, which marking with the mouse asks for."""
    style = next((one.style for one in strip if one.style is not None), None)
    column, _ = (style.meta.get("offset") or (0, 0)) if style is not None else (0, 0)
    return strip.apply_offsets(column, line)
