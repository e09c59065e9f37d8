"""``tw play`` on a screen. Textual is imported only in this package, and only when it starts."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tokenworld.diagnostics import Diagnostic, Failure

if TYPE_CHECKING:
    from textual.driver import Driver

    from tokenworld.planning.verdict import PlanStep, Verdict
    from tokenworld.play.screens.app import PlayApp
    from tokenworld.session import Session
    from tokenworld.store.log import RunStore

__all__ = ["behind_a_page", "play", "watch"]


def behind_a_page() -> bool:
    """Return whether textual-serve runs this process and shows its screen on a page."""
    return os.environ.get("TEXTUAL_DRIVER") == "textual.drivers.web_driver:WebDriver"


def play(
    session: Session,
    *,
    plan: tuple[PlanStep, ...] = (),
    plan_verdict: Verdict | None = None,
    tour: bool | None = False,
) -> int:
    """Play a session on the screen until the player quits; the exit code.

    ``plan`` can be stepped through from the first tick on; it must reach its goal under the
    session's own seed (`plan_for_seed`). ``plan_verdict`` is the verdict that it belongs to.
    ``tour``: the game begins with the tour; ``None``: it does if the tour was never shown, and the
    user's settings do not say otherwise.
    The recording is left open: whoever opened the session finishes it. Raises `Failure` TW0811
    where Textual is not installed, TW0006 where the user's settings do not fit.
    """
    if find_spec("textual") is None:
        hint = "Run `pip install 'token-world[tui]'`, or use `tw run`."
        raise Failure(Diagnostic("TW0811", "The screen needs Textual.", hint=hint))
    from tokenworld.play.screens.app import PlayApp, remember_tour, settings_path, user_settings

    settings = user_settings()
    shown = settings.tour is not False if tour is None else tour
    if shown and settings.tour is None:
        remember_tour(settings_path())
    app = PlayApp(
        session,
        plan=plan,
        plan_verdict=plan_verdict,
        settings=settings,
        driver=_driver(),
        tour=shown,
    )
    app.run()
    return _left(app)


def watch(store: RunStore, reference: str | None) -> int:
    """Look at a stored run on the screen, and play on from it if the user branches off.

    Raises `Failure` as `open_playback` and `play` do; in a store that is only read no branch can
    be recorded.
    """
    if find_spec("textual") is None:
        hint = "Run `pip install 'token-world[tui]'`, or use `tw runs show`."
        raise Failure(Diagnostic("TW0811", "The screen needs Textual.", hint=hint))
    from tokenworld.play.model.playback import open_playback
    from tokenworld.play.screens.app import PlayApp, Watched, user_settings

    playback = open_playback(store.path, reference)
    watched = Watched(store, playback)
    settings = user_settings()
    app = PlayApp(playback.session, settings=settings, driver=_driver(), watched=watched)
    app.run()
    return _left(app)


def _left(app: PlayApp) -> int:
    """Close the runs that were begun meanwhile; the exit code."""
    for session in app.begun:
        session.finish("left")
    return app.return_code or 0


def _driver() -> type[Driver] | None:
    """Choose the driver that shows the screen: a page, or a terminal; Textual's own choice where
    there is neither."""
    if behind_a_page():
        from tokenworld.play.web.driver import PageDriver

        return PageDriver
    if os.environ.get("TEXTUAL_DRIVER") or find_spec("termios") is None:
        return None
    from tokenworld.play.terminal import TerminalDriver

    return TerminalDriver
