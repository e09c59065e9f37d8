"""What a player sees at three sizes of the terminal, and operator mode, compared as text."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.tools.play.conftest import DOMAINS
from tests.tools.play.test_play_snapshots import Compare, typing
from tokenworld.play.screens.app import PlayApp
from tokenworld.session import Session
from tokenworld.verbs.output import UNICODE

FINDINGS: Final = Path(__file__).parents[2] / "findings" / "play"
GAMES: Final = {
    "cellar": (DOMAINS / "cellar" / "world.tw", ("take brass key", "open oak chest")),
    "rover": (FINDINGS / "rover.tw", ("drive south",)),
    "bakery": (FINDINGS / "bakery.tw", ("buy flour", "bake bread")),
}
THREE = pytest.mark.parametrize("size", [(80, 24), (100, 30), (140, 40)])


def started(name: str) -> PlayApp:
    return PlayApp(Session.open(str(GAMES[name][0]), 0), glyphs=UNICODE)


@THREE
@pytest.mark.parametrize("name", GAMES)
def test_the_screen(compare: Compare, name: str, size: tuple[int, int]) -> None:
    assert compare(started(name), terminal_size=size, run_before=typing(*GAMES[name][1]))


@THREE
def test_operator_mode(compare: Compare, size: tuple[int, int]) -> None:
    assert compare(started("cellar"), terminal_size=size, run_before=typing(last=("f12",)))


@pytest.mark.parametrize("compare", ["svg"], indirect=True)
def test_a_map_in_colour(compare: Compare) -> None:
    assert compare(started("rover"), terminal_size=(80, 24), run_before=typing("drive south"))
