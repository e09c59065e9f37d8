"""The part of the play screen that opens other screens over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tokenworld.session.transcripts import command, text_as
from tokenworld.tools.play.mending import MendingScreen
from tokenworld.tools.play.records import Describer

if TYPE_CHECKING:
    from tokenworld.tools.play.saving import Form

__all__ = ["Copied", "OpeningScreen"]

Copied = Literal["command", "plan", "script", "scenario"]
"""What play can be copied as."""


class OpeningScreen(MendingScreen):
    """Timeline, files, inspector and help. Whoever builds on it makes the describer."""

    _describer: Describer

    def action_timeline(self) -> None:
        """All that was played, and the way back to it."""
        from tokenworld.tools.play.timeline import TimelineScreen

        self._stop_waiting()
        screen = TimelineScreen(self.game, self._describer)
        self.app.push_screen(screen, lambda _: self.refresh_all())

    def action_save(self, form: Form | None = None) -> None:
        """Save the game, in this format or in one that is picked."""
        from tokenworld.tools.play.saving import SaveDialog

        self._stop_waiting()
        dialog = SaveDialog(self.game, self.app.export_screenshot())
        self.app.push_screen(dialog, lambda _: self.refresh_all())
        if form is not None:
            self.call_after_refresh(dialog.ask, form)

    def action_inspect(self) -> None:
        """Every slot before and after the last tick, who is in what, and maps."""
        from tokenworld.tools.play.inspecting import InspectScreen

        self._stop_waiting()
        self.app.push_screen(InspectScreen(self.game), lambda _: self.refresh_all())

    def action_runs(self) -> None:
        """The runs of the store that this game is recorded in: any of them can be looked at."""
        self._stop_waiting()
        self.app.action_runs()  # type: ignore[attr-defined]  # the one app that has this screen

    def action_copy(self, what: Copied) -> None:
        """Put the last command, or all that was played, on the clipboard of the terminal."""
        session = self.game.session
        text = command(session) if what == "command" else text_as(session, what, "saved game")
        if not text:
            self.game.note("Nothing was asked yet, so there is nothing to copy.")
        else:
            self.app.copy_to_clipboard(text)
            lines = len(text.splitlines())
            told = f"`{text}`" if what == "command" else f"{lines} lines"
            self.game.note(f"Copied as {'test' if what == 'scenario' else what}: {told}.")
        self.refresh_all()

    def action_edit(self) -> None:
        """Set a slot by hand: see the inspector, which shows them."""
        from tokenworld.tools.play.inspecting import InspectScreen

        self._stop_waiting()
        screen = InspectScreen(self.game)
        self.app.push_screen(screen, lambda _: self.refresh_all())
        self.call_after_refresh(screen.action_edit)

    def action_drop(self) -> None:
        """Forget the trial branch, and stand where it began."""
        self._stop_waiting()
        self.game.drop_scratch()
        self.refresh_all()

    def action_help(self) -> None:
        from tokenworld.tools.play.dialogs import HelpDialog

        focused = self.focused
        self.app.push_screen(HelpDialog("" if focused is None else focused.id or ""))
