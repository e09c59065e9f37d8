"""The main screens: text in three sizes, and one picture each with a theme for the colour-blind.

Some sizes are compared with the usual theme elsewhere; of those screens only the rest stands here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tools.play.conftest import WORLDS
from tests.tools.play.piloting import screen_text, until
from tests.tools.play.test_play_laws import pond
from tests.tools.play.test_play_oversight_snapshots import scored, sounded
from tests.tools.play.test_play_quality import BAD
from tests.tools.play.test_play_snapshots import Compare, typing
from tokenworld.play.screens.app import PlayApp, Settings
from tokenworld.session import Session
from tokenworld.store.log import RunStore
from tokenworld.verbs.output import UNICODE

Run = Callable[[Pilot[None]], Awaitable[None]]
SIZES: Final = ((80, 24), (120, 40), (200, 60))
ELSEWHERE: Final = {
    "game": ((80, 24),),
    "refusal": ((80, 24), (120, 40)),
    "timeline": SIZES,
    "state": ((80, 24), (200, 60)),
    "quality": ((80, 24), (120, 40)),
    "laws": ((80, 24), (120, 40)),
    "help": ((80, 24), (120, 40)),
    "save": ((80, 24), (120, 40)),
}
"""The sizes of a screen that other tests compare, with the usual theme."""


async def _still(pilot: Pilot[None]) -> None:
    """No cursor blinks in the picture."""
    for one in pilot.app.screen.query(Input):
        one.cursor_blink = False
    await pilot.pause()


def asked(key: str) -> Run:
    """Opens what asks for a line of text."""

    async def run(pilot: Pilot[None]) -> None:
        await sounded("take robot")(pilot)
        await pilot.press(key)
        await _still(pilot)

    return run


async def palette(pilot: Pilot[None]) -> None:
    await typing("take robot", last=("ctrl+p",))(pilot)
    await until(pilot, lambda: isinstance(pilot.app.screen, CommandPalette))
    pilot.app.screen.query_one(Input).value = "view"
    await until(pilot, lambda: "view: quality" in screen_text(pilot.app))  # type: ignore[arg-type]
    await _still(pilot)


RUNS: Final[dict[str, Run]] = {
    "game": typing("take robot", "wind robot"),
    "refusal": typing("take robot", "force trunk"),
    "timeline": sounded("take robot", "wind robot", "undo", "sweep", "cry"),
    "state": typing("take robot", "wind robot", last=("ctrl+o",)),
    "quality": scored(*BAD, "quality", last=("down",) * 4),
    "laws": typing("stir", last=("ctrl+l",)),
    "help": typing(last=("f1",)),
    "save": typing("take robot", last=("ctrl+s",)),
    "palette": palette,
    "quit": typing("take robot", last=("ctrl+q",)),
    "name": asked("n"),
}


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Callable[[str, str | None], PlayApp]]:
    """The application that a screen is shown in; only for quality the run is recorded."""
    with RunStore.open(tmp_path / "runs.sqlite") as store:

        def make(name: str, theme: str | None) -> PlayApp:
            recorded = store if name == "quality" else None
            attic = str(WORLDS / "attic.tw")
            session = pond() if name == "laws" else Session.open(attic, 7, store=recorded)
            return PlayApp(session, glyphs=UNICODE, settings=Settings(theme=theme))

        yield make


def _id(value: object) -> str:
    match value:
        case (columns, rows):
            return f"{columns}x{rows}"
        case _:
            return str(value)


@pytest.mark.parametrize(
    ("name", "size"),
    [(name, size) for name in RUNS for size in SIZES if size not in ELSEWHERE.get(name, ())],
    ids=_id,
)
def test_a_screen(
    compare: Compare,
    screen: Callable[[str, str | None], PlayApp],
    name: str,
    size: tuple[int, int],
) -> None:
    assert compare(screen(name, None), terminal_size=size, run_before=RUNS[name])


@pytest.mark.parametrize("name", RUNS)
def test_a_screen_for_the_colour_blind(
    snap_compare: Compare, screen: Callable[[str, str | None], PlayApp], name: str
) -> None:
    app = screen(name, "red-green-blind")
    assert snap_compare(app, terminal_size=(120, 40), run_before=RUNS[name])
