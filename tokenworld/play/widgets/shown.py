"""The only module that makes Textual content of texts; texts are never read as markup.

Titles, names, sayings, typed words and file names are texts of others. Textual would take `[/b]`
in them for a mistake and `[@click=app.quit]` for a link, and pass an escape sequence on to the
terminal. So no other module makes `Content`, options or titles (`tests/test_architecture.py`), and
what Textual's own widgets draw goes through `VisibleText`. Every role of a line has a sign or a
word besides its colour.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from rich.segment import Segment
from textual.color import Color
from textual.content import Content
from textual.filter import LineFilter
from textual.visual import VisualType
from textual.widget import Widget
from textual.widgets import Static
from textual.widgets.option_list import Option

from tokenworld.diagnostics import visible, without_invisible
from tokenworld.play.model.game import EntryKind
from tokenworld.verbs.output import Line, Role

__all__ = [
    "Content",
    "ENTRY_STYLES",
    "Option",
    "VisibleText",
    "Words",
    "content",
    "entitle",
    "link",
    "option",
    "styled_line",
]


Piece: TypeAlias = "str | Content | tuple[str, str]"
"""A text, a text with a style, or content made before."""


def content(*pieces: Piece) -> Content:
    """Return joined texts without markup; invisible characters are replaced by signs."""
    return Content.assemble(*map(_piece, pieces))


def _piece(piece: Piece) -> Piece:
    match piece:
        case str(text):
            return visible(text)
        case (text, style):
            return visible(text), style
        case _:
            return piece


def link(action: str, text: str) -> Content:
    """A text that does one of the screen's own actions where it is clicked."""
    return Content.from_markup(f"[@click={action}] $text [/]", text=visible(text))


def option(*pieces: Piece, disabled: bool = False) -> Option:
    """A line of a list."""
    return Option(content(*pieces), disabled=disabled)


def entitle(widget: Widget, title: str | None = None, subtitle: str | None = None) -> None:
    """Name a widget in its frame, above and below."""
    if title is not None:
        widget.border_title = content(title)
    if subtitle is not None:
        widget.border_subtitle = content(subtitle)


class Words(Static):
    """A text in place."""

    def __init__(
        self, text: str | Content = "", *, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(content(text), id=id, classes=classes, markup=False)

    def update(self, content_: VisualType = "", *, layout: bool = True) -> None:
        """Show another text."""
        shown = content(content_) if isinstance(content_, str) else content_
        super().update(shown, layout=layout)


class VisibleText(LineFilter):
    """Removes invisible characters from every row before it is drawn, also from rows of Textual.
    They take no cell, so that nothing moves."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [
            one if one.control else Segment(without_invisible(one.text), one.style)
            for one in segments
        ]


_STYLES: Final[dict[Role, str]] = {
    "plain": "",
    "head": "bold",
    "dim": "$foreground-muted",
    "good": "$text-success",
    "bad": "bold $text-error",
    "warn": "$text-warning",
    "typed": "bold $text-accent",
    "link": "bold underline",
}

ENTRY_STYLES: Final[dict[EntryKind, str]] = {
    "welcome": "italic",
    "typed": "bold $text-accent",
    "said": "",
    "refused": "$text-error",
    "puzzled": "$text-warning",
    "ending": "bold $text-success",
    "note": "italic $text-primary",
    "fault": "bold $text-error",
}


def styled_line(one: Line) -> Content:
    """A line as Textual shows it."""
    return content(*((text, _STYLES[role]) for text, role in one))
