"""The quality of the run in one row: seven cells and the verdict. Enter or a click opens it."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Static

from tokenworld.tools.play.lines import Line, plain_text
from tokenworld.tools.play.styles import styled_line

__all__ = ["QualityStrip"]


class QualityStrip(Static, can_focus=True):
    """Shows a line; it never takes the focus by itself, and is hidden until it has something."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Quality", show=False, id="quality.open"),
    ]

    class Opened(Message):
        """Somebody wants to see more."""

    def __init__(self) -> None:
        super().__init__("", id="quality", markup=False)
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
