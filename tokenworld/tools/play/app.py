"""The application: one screen over one session, its palette, and how it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.theme import BUILTIN_THEMES

from tokenworld.diagnostics import Failure
from tokenworld.planning import PlanStep, Verdict
from tokenworld.session import Session
from tokenworld.session.playback import Playback, branch_from, open_playback
from tokenworld.store import RunStore
from tokenworld.tools.play.game import Game, fault_text
from tokenworld.tools.play.glyphs import ASCII, Glyphs, fitting_glyphs
from tokenworld.tools.play.screen import PlayScreen
from tokenworld.tools.play.settings import Settings, read_settings, settings_path
from tokenworld.tools.play.themes import THEMES

__all__ = ["PlayApp", "Watched", "binding_ids", "key_bindings", "user_settings"]


def _palette() -> type:
    from tokenworld.tools.play.palette import PlayCommands

    return PlayCommands


@dataclass(frozen=True, slots=True)
class Watched:
    """A stored run to look at in place of a game, and the store that it is in."""

    store: RunStore
    playback: Playback


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
        driver: type[Driver] | None = None,
        watched: Watched | None = None,
    ) -> None:
        super().__init__(driver)
        self._settings = settings or Settings()
        self._watched = watched
        self.begun: list[Session] = []
        for theme in THEMES:
            self.register_theme(theme)
        self.title = session.world.world.title
        self.game = Game(session, glyphs or fitting_glyphs(), plan, plan_verdict)

    def on_mount(self) -> None:
        self.set_keymap(dict(self._settings.keys))
        if self._settings.theme is not None:
            self.theme = self._settings.theme
        if self._settings.reduced_motion:
            self.animation_level = "none"
        self.set_class(self.game.glyphs is ASCII, "-ascii")
        if self._watched is None:
            self._show_game()
        else:
            self._look_at(self._watched.playback)

    def _show_game(self) -> None:
        settings = self._settings
        blinks = not settings.reduced_motion
        self.push_screen(PlayScreen(self.game, watch=settings.watch, blinks=blinks))

    # ---- stored runs ----------------------------------------------------------------------------

    @property
    def _store(self) -> RunStore | None:
        """Where runs are looked for and branches are recorded."""
        if self._watched is not None:
            return self._watched.store
        recording = self.game.session.recording
        return None if recording is None else recording.store

    def action_runs(self) -> None:
        """Pick a stored run and look at it."""
        from tokenworld.tools.play.watching import RunsScreen

        store = self._store
        if store is None:
            self.notify("Nothing is recorded here, so there are no runs.")
        else:
            self.push_screen(RunsScreen(store.path), self.open_run)

    def open_run(self, reference: str | None) -> None:
        """Look at a run of the store; its rules are read beside the screen."""
        if reference is not None and self._store is not None:
            self._open_run(self._store.path, reference)

    @work(thread=True, exclusive=True, group="runs")
    def _open_run(self, path: Path, reference: str) -> None:
        try:
            playback = open_playback(path, reference)
        except Failure as failure:
            self.call_from_thread(self.notify, fault_text(failure), severity="error", markup=False)
            return
        self.call_from_thread(self._look_at, playback)

    def _look_at(self, playback: Playback) -> None:
        from tokenworld.tools.play.watching import WatchScreen

        def left(place: int | None) -> None:
            if place is not None:
                self._branch(playback)
            elif not isinstance(self.screen, PlayScreen):
                self.exit()

        self.push_screen(WatchScreen(playback, self.game.glyphs), left)

    def _branch(self, playback: Playback) -> None:
        """Play on from where a run stands, in a run of one's own."""
        run, place = playback.run.slug, playback.place
        try:
            assert self._store is not None
            session = branch_from(self._store, playback)
        except Failure as failure:
            self.notify(fault_text(failure), severity="error", markup=False)
            self._look_at(playback)
            return
        assert session.recording is not None
        self.begun.append(session)
        self.game = Game(session, self.game.glyphs)
        self.game.note(f"{session.recording.slug} leaves {run} after record {place}.")
        while isinstance(self.screen, PlayScreen):
            self.pop_screen()
        self._show_game()

    async def action_quit(self) -> None:
        """Quit; ask first only where something would be lost. Asked for again, it is sure."""
        if not self.game.would_lose():
            self.exit()
            return
        from tokenworld.tools.play.dialogs import QuitDialog

        if isinstance(self.screen, QuitDialog):
            self.exit()
            return
        self.push_screen(QuitDialog(), lambda sure: self.exit() if sure else None)


def key_bindings() -> tuple[Binding, ...]:
    """The keys of every screen and list."""
    from tokenworld.tools.play.dialogs import AskDialog, HelpDialog, QuitDialog
    from tokenworld.tools.play.inspecting import InspectScreen
    from tokenworld.tools.play.mending import MendingScreen
    from tokenworld.tools.play.overseeing import OverseeingScreen
    from tokenworld.tools.play.quality import QualityScreen
    from tokenworld.tools.play.saving import SaveDialog
    from tokenworld.tools.play.timeline import TimelineScreen
    from tokenworld.tools.play.tracing import TraceScreen
    from tokenworld.tools.play.watching import RunsScreen, WatchScreen
    from tokenworld.tools.play.widgets.command_line import CommandLine
    from tokenworld.tools.play.widgets.lists import KeyedList, KeyedScroll
    from tokenworld.tools.play.widgets.quality_strip import QualityStrip

    owners = (PlayApp, PlayScreen, MendingScreen, TimelineScreen, InspectScreen, SaveDialog,
              AskDialog, HelpDialog, QuitDialog, CommandLine, KeyedList, KeyedScroll,
              OverseeingScreen, QualityScreen, QualityStrip, TraceScreen, RunsScreen,
              WatchScreen)  # fmt: skip
    return tuple(one for owner in owners for one in owner.BINDINGS if isinstance(one, Binding))


def binding_ids() -> frozenset[str]:
    """The id of every key: what a user may give other keys."""
    return frozenset(one.id for one in key_bindings() if one.id is not None)


def user_settings() -> Settings:
    """The settings of the user's file, if there is one; `Failure` TW0006 where it does not fit."""
    path = settings_path()
    if not path.exists():
        return Settings()
    themes = (*BUILTIN_THEMES, *(one.name for one in THEMES))
    return read_settings(path, binding_ids(), themes)
