"""Lists and texts whose keys have ids, so that a user can give them other keys."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import OptionList

__all__ = ["KeyedList", "KeyedScroll", "select_key"]


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
