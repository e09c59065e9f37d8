"""The jump mode: a letter on each pane; the typed letter gives the focus to its pane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.screen import ModalScreen

from tokenworld.play.widgets.shown import Words

LETTERS: Final = {
    "w": ("world", "world"),
    "m": ("chart", "map"),
    "y": ("carried", "you carry"),
    "s": ("transcript", "story"),
    "a": ("actions", "actions"),
    "d": ("details", "details"),
    "t": ("ticks", "ticks"),
    "r": ("source", "rule"),
    "q": ("quality", "quality"),
    "c": ("command", "command"),
}
"""The letter of each pane of the play screen: its id, and its name."""


class JumpScreen(ModalScreen[str | None]):
    """Lies over the panes of a screen; its result is the id of the pane to go to."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,ctrl+f", "dismiss(None)", "Stay here", key_display="Esc", id="jump.close"),
    ]

    def __init__(self, places: Mapping[str, Region]) -> None:
        """``places`` are the panes that one can go to, by id; of hidden ones the place is empty."""
        super().__init__()
        self._places = {letter: (places[pane], pane, name)
                        for letter, (pane, name) in LETTERS.items() if pane in places}  # fmt: skip

    def compose(self) -> ComposeResult:
        for letter, (place, _, _) in self._places.items():
            if place:
                label = Words(f" {letter} ", classes="jump")
                label.styles.offset = (place.x + min(2, place.width - 3), place.y)
                yield label
        told = "  ".join(f"{letter} {name}" for letter, (_, _, name) in self._places.items())
        yield Words(f"Go to: {told}", id="jumps")

    def on_key(self, event: events.Key) -> None:
        """Go to the pane of a letter; other keys do nothing here."""
        if event.character in self._places:
            event.stop()
            self.dismiss(self._places[event.character][1])
