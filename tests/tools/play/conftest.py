"""A small world to play, and screens that look the same everywhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tokenworld.session import Session
from tokenworld.tools.play.app import PlayApp
from tokenworld.tools.play.game import Game
from tokenworld.tools.play.glyphs import UNICODE

WORLDS = Path(__file__).parent / "worlds"
DOMAINS = Path(__file__).parents[3] / "domains"


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the terminal that runs the tests do not change what they see."""
    for name in ("NO_COLOR", "TW_ASCII", "TEXTUAL_THEME", "TEXTUAL_ANIMATIONS"):
        monkeypatch.delenv(name, raising=False)


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
