"""The frame of a screen: the title above it, the row of its keys below."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Footer

from tokenworld.tools.play.widgets.texts import TitleBar

__all__ = ["framed", "key_row"]


def framed(*body: Widget) -> ComposeResult:
    """What a whole screen is composed of, from its top."""
    yield TitleBar()
    yield from body
    yield key_row()


def key_row() -> Footer:
    """The keys that do something here."""
    return Footer(compact=True, show_command_palette=False)
