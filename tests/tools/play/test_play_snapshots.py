"""Screens compared with stored pictures and texts (`--snapshot-update` renews both).

A picture (SVG) shows each screen once, with its colours. The other sizes are compared as text.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol

import pytest
from textual.pilot import Pilot

from tests.tools.play.piloting import until
from tokenworld.planning.hints import Hint
from tokenworld.planning.verdict import Verdict
from tokenworld.play.screens.app import PlayApp, Settings
from tokenworld.play.screens.timeline import TimelineScreen
from tokenworld.play.widgets.actions import CommandLine
from tokenworld.play.widgets.texts import Details
from tokenworld.session import Session
from tokenworld.verbs.output import UNICODE


class Compare(Protocol):
    """Compares a screen with the stored one: `snap_compare` as picture, `compare` as asked."""

    def __call__(
        self,
        app: PlayApp,
        press: Iterable[str] = (),
        terminal_size: tuple[int, int] = (80, 24),
        run_before: Callable[[Pilot[None]], Awaitable[None]] | None = None,
    ) -> bool: ...


def typing(*commands: str, last: tuple[str, ...] = ()) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Gives commands with a cursor that does not blink, then presses the last keys."""

    async def run(pilot: Pilot[None]) -> None:
        await pilot.pause()
        command = pilot.app.screen.query_one(CommandLine)
        command.cursor_blink = False
        pilot.app.animation_level = "none"
        for text in commands:
            command.value = text
            await pilot.press("enter")
            await pilot.pause()
        await pilot.press(*last)
        await pilot.pause()

    return run


def test_the_first_screen(snap_compare: Compare, app: PlayApp) -> None:
    assert snap_compare(app, run_before=typing())


def test_a_refusal(snap_compare: Compare, app: PlayApp) -> None:
    assert snap_compare(app, run_before=typing("take robot", "force trunk"))


def test_a_wide_screen(snap_compare: Compare, app: PlayApp) -> None:
    run = typing("take robot", "fly", "wind robot", "force trunk")
    assert snap_compare(app, terminal_size=(120, 40), run_before=run)


def test_the_record_of_a_tick(snap_compare: Compare, app: PlayApp) -> None:
    assert snap_compare(app, run_before=typing("take robot", "wind robot", last=("f5", "enter")))


def test_the_help(snap_compare: Compare, app: PlayApp) -> None:
    assert snap_compare(app, run_before=typing(last=("f1",)))


SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40)])
"""Both sizes, compared as text."""
PICTURED = pytest.mark.parametrize(
    ("compare", "size"), [("text", (80, 24)), ("svg", (120, 40))], indirect=["compare"]
)
"""The small size compared as text, the usual size as picture."""


def asking(key: str, *commands: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Gives commands, asks, and waits for the answer."""

    async def run(pilot: Pilot[None]) -> None:
        await typing(*commands, last=(key,))(pilot)
        details = pilot.app.screen.query_one(Details)
        for _ in range(1_000):
            if "Thinking" not in details.plain:
                return
            await pilot.pause(0.02)

    return run


@PICTURED
def test_the_way(compare: Compare, cellar: PlayApp, size: tuple[int, int]) -> None:
    assert compare(cellar, terminal_size=size, run_before=asking("f8"))


@SIZES
def test_the_way_is_lost(compare: Compare, app: PlayApp, size: tuple[int, int]) -> None:
    run = asking("f8", "take robot", "cry")
    assert compare(app, terminal_size=size, run_before=run)


@SIZES
def test_the_last_chance_is_now(compare: Compare, app: PlayApp, size: tuple[int, int]) -> None:
    assert compare(app, terminal_size=size, run_before=asking("f9", "take robot"))


@SIZES
def test_there_never_was_a_chance(
    compare: Compare, open_domain: Callable[[str], Session], size: tuple[int, int]
) -> None:
    app = PlayApp(open_domain("cellar/twin.tw"), glyphs=UNICODE)
    assert compare(app, terminal_size=size, run_before=asking("f8"))


@SIZES
def test_nothing_is_known(
    compare: Compare,
    app: PlayApp,
    size: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nothing = Hint(Verdict("unknown", None, None, "", ""), ())
    monkeypatch.setattr("tokenworld.play.model.hints.hint", lambda *_, **__: nothing)
    assert compare(app, terminal_size=size, run_before=asking("f8"))


def test_an_ending(snap_compare: Compare, app: PlayApp) -> None:
    assert snap_compare(app, run_before=typing("take robot", "wind robot", "wind robot"))


@SIZES
def test_what_cannot_be_done(compare: Compare, app: PlayApp, size: tuple[int, int]) -> None:
    run = typing("take robot", last=("f2", "f2"))
    assert compare(app, terminal_size=size, run_before=run)


@SIZES
def test_since_when_a_command_is_refused(
    compare: Compare, app: PlayApp, size: tuple[int, int]
) -> None:
    run = typing("take robot", "take robot")
    assert compare(app, terminal_size=size, run_before=run)


@SIZES
def test_a_way_to_what_was_refused(
    compare: Compare, cellar: PlayApp, size: tuple[int, int]
) -> None:
    assert compare(cellar, terminal_size=size, run_before=asking("f10", "open oak chest"))


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
def test_the_timeline(compare: Compare, app: PlayApp, size: tuple[int, int]) -> None:
    gone = ("take robot", "wind robot", "undo", "sweep", "take robot")

    async def run(pilot: Pilot[None]) -> None:
        await typing(*gone, last=("ctrl+t",))(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, TimelineScreen)
        await until(pilot, lambda: not screen.asking)
        await pilot.press("m", "up", "up")
        await pilot.pause()

    assert compare(app, terminal_size=size, run_before=run)


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
def test_the_state(compare: Compare, app: PlayApp, size: tuple[int, int]) -> None:
    run = typing("take robot", "wind robot", last=("ctrl+o",))
    assert compare(app, terminal_size=size, run_before=run)


@PICTURED
def test_a_map(
    compare: Compare, open_domain: Callable[[str], Session], size: tuple[int, int]
) -> None:
    app = PlayApp(open_domain("island/world.tw"), glyphs=UNICODE)
    run = typing(last=("ctrl+o", "shift+tab", "right", "right"))
    assert compare(app, terminal_size=size, run_before=run)


@SIZES
def test_saving(compare: Compare, app: PlayApp, size: tuple[int, int]) -> None:
    run = typing("take robot", last=("ctrl+s",))
    assert compare(app, terminal_size=size, run_before=run)


@pytest.mark.parametrize("theme", ["red-green-blind", "blue-yellow-blind"])
def test_a_theme(snap_compare: Compare, attic: Session, theme: str) -> None:
    app = PlayApp(attic, glyphs=UNICODE, settings=Settings(theme=theme))
    run = typing("take robot", "force trunk")
    assert snap_compare(app, terminal_size=(120, 40), run_before=run)
