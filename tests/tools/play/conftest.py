"""A small world to play, and screens that look the same everywhere."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from tests.tools.play.piloting import screen_text
from tokenworld.diagnostics import Source
from tokenworld.play.model.game import Game
from tokenworld.play.screens.app import PlayApp
from tokenworld.session import Session
from tokenworld.session.loading import open_text
from tokenworld.verbs.output import UNICODE

WORLDS = Path(__file__).parent / "worlds"
DOMAINS = Path(__file__).parents[3] / "domains"


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the terminal that runs the tests do not change what they see."""
    for name in ("NO_COLOR", "TW_ASCII", "TEXTUAL_THEME", "TEXTUAL_ANIMATIONS"):
        monkeypatch.delenv(name, raising=False)


async def _own_idle(min_sleep: float = 0.02, max_sleep: float = 1) -> None:
    """As Textual's ``wait_for_idle``, of the screen's own thread.

    Textual looks at the process: with a planner or a scorer at work beside the screen, it is never
    idle, and each key waits for a second or two. What a test expects of such work, it waits for
    with `until`.
    """
    begun = time.monotonic()
    while True:
        spent = time.thread_time()
        await asyncio.sleep(0.02)
        waited = time.monotonic() - begun
        idle = time.thread_time() - spent < 0.001
        if waited >= max_sleep or (idle and waited > min_sleep):
            return


@pytest.fixture(autouse=True)
def _idle_is_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pilot waits for the screen, not for what works beside it."""
    for module in ("app", "pilot"):
        monkeypatch.setattr(f"textual.{module}.wait_for_idle", _own_idle)


@pytest.fixture
def compare(request: pytest.FixtureRequest, snapshot: SnapshotAssertion) -> Callable[..., bool]:
    """Compares a screen with the stored one: as text, or as picture where the test asks "svg"."""
    if getattr(request, "param", "text") == "svg":
        pictured: Callable[..., bool] = request.getfixturevalue("snap_compare")
        return pictured

    async def drawn(
        app: PlayApp, size: tuple[int, int], run: Callable[[Pilot[None]], Awaitable[None]]
    ) -> str:
        async with app.run_test(size=size) as pilot:
            await run(pilot)
            return screen_text(app)

    def compared(
        app: PlayApp,
        *,
        terminal_size: tuple[int, int],
        run_before: Callable[[Pilot[None]], Awaitable[None]],
    ) -> bool:
        assert asyncio.run(drawn(app, terminal_size, run_before)) == snapshot
        return True

    return compared


@pytest.fixture
def attic() -> Session:
    """The attic at its start, with seed 7 and no run store."""
    return Session.open(str(WORLDS / "attic.tw"), 7)


@pytest.fixture
def open_domain() -> Callable[[str], Session]:
    """A session of ``world/file.tw`` under ``domains``."""
    return lambda name: Session.open(str(DOMAINS / name), 7)


@pytest.fixture
def game(attic: Session) -> Game:
    """The attic being played, without a screen."""
    return Game(attic, UNICODE)


@pytest.fixture
def app(attic: Session) -> PlayApp:
    """The attic on a screen with Unicode signs."""
    return PlayApp(attic, glyphs=UNICODE)


@pytest.fixture
def cellar(open_domain: Callable[[str], Session]) -> PlayApp:
    """The bundled cellar on a screen with Unicode signs."""
    return PlayApp(open_domain("cellar/world.tw"), glyphs=UNICODE)


@pytest.fixture
def open_text_world() -> Callable[[str], Session]:
    """A session of the world ``w`` of a program."""
    return lambda text: Session(open_text((Source("w.tw", None, text),), "w"), 7)
