"""``tw play`` on a screen. Textual is imported only in this package, and only when it starts."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from tokenworld.diagnostics import Diagnostic, Failure

if TYPE_CHECKING:
    from tokenworld.planning import PlanStep, Verdict
    from tokenworld.session import Session

__all__ = ["play"]


def play(
    session: Session,
    *,
    plan: tuple[PlanStep, ...] = (),
    plan_verdict: Verdict | None = None,
) -> int:
    """Play a session on the screen until the player quits; the exit code.

    ``plan`` can be stepped through from the first tick on; it must reach its goal under the
    session's own seed (`plan_for_seed`). ``plan_verdict`` is what it rests on.
    The recording is left open: whoever opened the session finishes it. Raises `Failure` TW0811
    where Textual is not installed, TW0006 where the user's settings do not fit.
    """
    if find_spec("textual") is None:
        hint = "Run `pip install 'token-world[tui]'`, or use `tw run`."
        raise Failure(Diagnostic("TW0811", "The screen needs Textual.", hint=hint))
    from tokenworld.tools.play.app import PlayApp, user_settings

    app = PlayApp(session, plan=plan, plan_verdict=plan_verdict, settings=user_settings())
    app.run()
    return app.return_code or 0
