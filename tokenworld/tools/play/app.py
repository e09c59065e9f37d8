"""The application: one screen over one session, its palette, and how it ends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.theme import BUILTIN_THEMES

from tokenworld.planning import PlanStep, Verdict
from tokenworld.session import Session
from tokenworld.tools.play.game import Game
from tokenworld.tools.play.glyphs import ASCII, Glyphs, fitting_glyphs
from tokenworld.tools.play.screen import PlayScreen
from tokenworld.tools.play.settings import Settings, read_settings, settings_path
from tokenworld.tools.play.themes import THEMES

__all__ = ["PlayApp", "binding_ids", "user_settings"]


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
        settings: Settings | None = None,
    ) -> None:
        super().__init__()
        self._settings = settings or Settings()
        for theme in THEMES:
            self.register_theme(theme)
        self.title = session.world.world.title
        self.game = Game(session, glyphs or fitting_glyphs(), plan, plan_verdict)

    def on_mount(self) -> None:
        self.set_keymap(dict(self._settings.keys))
        if self._settings.theme is not None:
            self.theme = self._settings.theme
        self.set_class(self.game.glyphs is ASCII, "-ascii")
        self.push_screen(PlayScreen(self.game))

    async def action_quit(self) -> None:
        """Quit; ask first only where something would be lost."""
        if not self.game.would_lose():
            self.exit()
            return
        from tokenworld.tools.play.dialogs import QuitDialog

        self.push_screen(QuitDialog(), lambda sure: self.exit() if sure else None)


def binding_ids() -> frozenset[str]:
    """The id of every key of every screen: what a user may give other keys."""
    from tokenworld.tools.play.dialogs import AskDialog, HelpDialog, QuitDialog
    from tokenworld.tools.play.inspecting import InspectScreen
    from tokenworld.tools.play.saving import SaveDialog
    from tokenworld.tools.play.timeline import TimelineScreen
    from tokenworld.tools.play.widgets.command_line import CommandLine
    from tokenworld.tools.play.widgets.lists import KeyedList, KeyedScroll

    owners = (PlayApp, PlayScreen, TimelineScreen, InspectScreen, SaveDialog, AskDialog, HelpDialog,
              QuitDialog, CommandLine, KeyedList, KeyedScroll)  # fmt: skip
    return frozenset(
        one.id
        for owner in owners
        for one in owner.BINDINGS
        if isinstance(one, Binding) and one.id is not None
    )


def user_settings() -> Settings:
    """The settings of the user's file, if there is one; `Failure` TW0006 where it does not fit."""
    path = settings_path()
    if not path.exists():
        return Settings()
    themes = (*BUILTIN_THEMES, *(one.name for one in THEMES))
    return read_settings(path, binding_ids(), themes)
