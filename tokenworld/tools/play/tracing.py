"""The law trace on a screen: one tick at a time, law by law, along the way that was played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from tokenworld.session.timeline import Node
from tokenworld.tools.play.game import Game
from tokenworld.tools.play.laws import trace_lines
from tokenworld.tools.play.title import title_text
from tokenworld.tools.play.widgets.frame import framed
from tokenworld.tools.play.widgets.texts import TextPane, TitleBar

__all__ = ["TraceScreen"]


class TraceScreen(Screen[None]):
    """The ticks of one way from the start; ``at`` is the one that is told first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,p", "go(-1)", "Earlier", key_display="←", id="laws.earlier"),
        Binding("right,n", "go(1)", "Later", key_display="→", id="laws.later"),
        Binding("f1", "help", "Help", key_display="F1", id="laws.help"),
        Binding("escape,q", "leave", "Back", key_display="Esc", id="laws.close"),
    ]

    def __init__(self, game: Game, way: Sequence[Node], at: int) -> None:
        super().__init__()
        self.game, self._way, self._at = game, tuple(way), at

    def compose(self) -> ComposeResult:
        return framed(TextPane("laws", "Laws"))

    def on_mount(self) -> None:
        self.query_one(TitleBar).update(title_text(self.game.session, self.game.glyphs))
        self.query_one("#laws").focus()
        self._tell()

    def _tell(self) -> None:
        before, node = self._way[self._at - 1], self._way[self._at]
        found = self.game.tracing.trace(before.moment.state, node.moment)
        title = f"Laws of tick {found.tick}: {self._at} of {len(self._way) - 1}"
        self.query_one("#laws", TextPane).tell(trace_lines(found, self.game.glyphs), title)

    def action_go(self, by: int) -> None:
        """The tick before or after, as far as there is one."""
        if 1 <= self._at + by < len(self._way):
            self._at += by
            self._tell()

    def action_help(self) -> None:
        from tokenworld.tools.play.dialogs import HelpDialog

        self.app.push_screen(HelpDialog("laws"))

    def action_leave(self) -> None:
        self.dismiss(None)
