"""Pictures of what an operator looks at: quality, laws, radar, levels of hints, help of panes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tools.play.conftest import WORLDS
from tests.tools.play.piloting import until
from tests.tools.play.test_play_laws import pond
from tests.tools.play.test_play_quality import BAD, play_screen
from tests.tools.play.test_play_snapshots import PICTURED, SIZES, Compare, asking, typing
from tokenworld.play.screens.app import PlayApp
from tokenworld.play.screens.timeline import TimelineScreen
from tokenworld.session import Session
from tokenworld.store.log import RunStore
from tokenworld.verbs.output import ASCII, UNICODE

Run = Callable[[Pilot[None]], Awaitable[None]]


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[Callable[..., PlayApp]]:
    """The attic on a screen, recorded."""
    with RunStore.open(tmp_path / "runs.sqlite") as store:

        def make(**options: object) -> PlayApp:
            session = Session.open(str(WORLDS / "attic.tw"), 7, store=store)
            return PlayApp(session, **{"glyphs": UNICODE, **options})  # type: ignore[arg-type]

        yield make


def scored(*commands: str, last: tuple[str, ...] = ()) -> Run:
    """Gives commands, has the run scored, then presses the last keys."""

    async def run(pilot: Pilot[None]) -> None:
        await typing(*commands)(pilot)
        screen = play_screen(pilot.app)  # type: ignore[arg-type]
        screen.action_operator()
        screen.rescore()
        await until(pilot, lambda: not screen.scoring)
        await pilot.press(*last)
        await pilot.pause()

    return run


def sounded(*commands: str) -> Run:
    """Gives commands, opens the timeline, and waits for the radar."""

    async def run(pilot: Pilot[None]) -> None:
        await typing(*commands)(pilot)
        pilot.app.game.operator = True  # type: ignore[attr-defined]
        await pilot.press("ctrl+t")
        await pilot.pause()
        screen = pilot.app.screen
        assert isinstance(screen, TimelineScreen)
        await until(pilot, lambda: not screen.asking)
        await pilot.pause()

    return run


@PICTURED
def test_the_strip(
    compare: Compare, recorded: Callable[..., PlayApp], size: tuple[int, int]
) -> None:
    assert compare(recorded(), terminal_size=size, run_before=scored(*BAD))


def test_the_strip_in_plain_signs(
    snap_compare: Compare, recorded: Callable[..., PlayApp], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(recorded(glyphs=ASCII), run_before=scored(*BAD))


@SIZES
def test_the_quality(
    compare: Compare, recorded: Callable[..., PlayApp], size: tuple[int, int]
) -> None:
    run = scored(*BAD, "quality", last=("down",) * 4)
    assert compare(recorded(), terminal_size=size, run_before=run)


@SIZES
def test_the_laws(compare: Compare, size: tuple[int, int]) -> None:
    app = PlayApp(pond(), glyphs=UNICODE)
    assert compare(app, terminal_size=size, run_before=typing("stir", last=("ctrl+l",)))


@SIZES
def test_laws_that_clash(compare: Compare, size: tuple[int, int]) -> None:
    app = PlayApp(pond(), glyphs=UNICODE)
    assert compare(app, terminal_size=size, run_before=typing("curse", last=("ctrl+l",)))


@PICTURED
def test_the_radar(compare: Compare, app: PlayApp, size: tuple[int, int]) -> None:
    run = sounded("take robot", "wind robot", "undo", "sweep", "cry")
    assert compare(app, terminal_size=size, run_before=run)


@PICTURED
def test_a_hint_with_three_steps(compare: Compare, cellar: PlayApp, size: tuple[int, int]) -> None:
    async def run(pilot: Pilot[None]) -> None:
        await asking("f3")(pilot)
        await pilot.press("f3")
        await pilot.pause()

    assert compare(cellar, terminal_size=size, run_before=run)


@SIZES
def test_help_for_a_pane(compare: Compare, app: PlayApp, size: tuple[int, int]) -> None:
    assert compare(app, terminal_size=size, run_before=typing(last=("f5", "f1")))


def test_what_takes_long(snap_compare: Compare, app: PlayApp) -> None:
    assert snap_compare(app, run_before=typing("sweep"))
