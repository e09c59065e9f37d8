"""The application: one screen over one session, its palette, and how it ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType

from tokenworld.planning import PlanStep, Verdict
from tokenworld.session import Session
from tokenworld.tools.play.game import Game
from tokenworld.tools.play.glyphs import ASCII, Glyphs, fitting_glyphs
from tokenworld.tools.play.screen import PlayScreen

__all__ = ["PlayApp"]


def _palette() -> type:
    from tokenworld.tools.play.palette import PlayCommands

    return PlayCommands


class PlayApp(App[None]):
    """Plays a session. All state is in its `Game`; the screen only shows it."""

    CSS_PATH = Path(__file__).parent / "play.tcss"
    COMMANDS: ClassVar[set[type | Callable[[], type]]] = App.COMMANDS | {_palette}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", key_display="^Q", priority=True, id="play.quit"),
    ]

    def __init__(
        self,
        session: Session,
        *,
        plan: tuple[PlanStep, ...] = (),
        plan_verdict: Verdict | None = None,
        glyphs: Glyphs | None = None,
    ) -> None:
        super().__init__()
        self.title = session.world.world.title
        self.game = Game(session, glyphs or fitting_glyphs(), plan, plan_verdict)

    def on_mount(self) -> None:
        self.set_class(self.game.glyphs is ASCII, "-ascii")
        self.push_screen(PlayScreen(self.game))

    async def action_quit(self) -> None:
        """Quit; ask first only where something would be lost."""
        if not self.game.would_lose():
            self.exit()
            return
        from tokenworld.tools.play.dialogs import QuitDialog

        self.push_screen(QuitDialog(), lambda sure: self.exit() if sure else None)
