"""Saving a game from the screen: formats, files, the clipboard, tests."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from tests.tools.play.piloting import enter, keys, palette, screen_text, until
from tokenworld.diagnostics import Failure
from tokenworld.play.screens.app import PlayApp
from tokenworld.play.screens.dialogs import AskDialog, SaveDialog, save, suggested
from tokenworld.play.screens.screen import PlayScreen
from tokenworld.session import Session
from tokenworld.verbs.output import UNICODE

ATTIC = Path(__file__).parent / "worlds" / "attic.tw"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of one's own, with a copy of the attic, as the current one."""
    shutil.copy(ATTIC, tmp_path / "attic.tw")
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def opened(pilot: Pilot[None], app: PlayApp) -> None:
    await pilot.press("ctrl+s")
    await until(pilot, lambda: isinstance(app.screen, SaveDialog))
    await pilot.pause()


async def named(pilot: Pilot[None], app: PlayApp) -> str:
    await until(pilot, lambda: isinstance(app.screen, AskDialog))
    return app.screen.query_one(Input).value


async def test_a_game_is_saved_as_a_story(app: PlayApp, here: Path) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "take robot")
        await opened(pilot, app)
        assert "Save the game as" in screen_text(app)
        await pilot.press("enter")
        assert await named(pilot, app) == "attic.md"
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
        assert "**> take robot**" in (here / "attic.md").read_text(encoding="utf-8")
        assert app.game.entries[-1].text == "Saved as `attic.md`."


async def test_nothing_is_overwritten(app: PlayApp, here: Path) -> None:
    (here / "attic.md").write_text("mine", encoding="utf-8")
    assert suggested(app.game.session, "markdown") == "attic-2.md"
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, app)
        await pilot.press("enter")
        await named(pilot, app)
        await pilot.press("ctrl+u", *keys("attic"), "full_stop", *keys("md"), "enter")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
        assert app.game.entries[-1].kind == "fault"
        assert "`attic.md` exists." in app.game.entries[-1].text
    assert (here / "attic.md").read_text(encoding="utf-8") == "mine"


async def test_the_text_is_copied(app: PlayApp, here: Path) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "take robot")
        await opened(pilot, app)
        await pilot.press("down", "down", "c")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
        assert app.clipboard == "# attic, seed 7\ntake(robot)\n"
        assert app.game.entries[-1].text == "Copied: plan, 2 lines."


async def test_a_picture_of_the_game_is_saved_and_esc_saves_nothing(
    app: PlayApp, here: Path
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, app)
        await pilot.press("end", "enter")
        assert await named(pilot, app) == "attic.svg"
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SaveDialog))
        assert not (here / "attic.svg").exists()
        await pilot.press("end", "enter")
        await named(pilot, app)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
    picture = (here / "attic.svg").read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert "Save" not in picture


async def test_save_this_as_a_test_from_the_palette(here: Path) -> None:
    app = PlayApp(Session.open("attic.tw", 7), glyphs=UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "force trunk")
        await palette(pilot, "save this", "export: save this as a test")
        await pilot.press("down", "enter")
        assert (await named(pilot, app)).endswith("attic.tw")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
        # The watched file may have been read anew by now: the note of that comes last.
        assert any('Saved as scenario "saved game 1"' in entry.text for entry in app.game.entries)
    text = (here / "attic.tw").read_text(encoding="utf-8")
    assert text.startswith(ATTIC.read_text(encoding="utf-8").rstrip())
    assert text.endswith("  when force(trunk)  then refused because weak\n}\n")


def test_a_second_test_has_another_title_and_a_foreign_file_is_left_alone(here: Path) -> None:
    session = Session.open("attic.tw", 7)
    save(session, "scenario", Path("attic.tw"), "")
    assert "saved game 2" in save(session, "scenario", Path("attic.tw"), "")
    (here / "other.tw").write_text("type A\n", encoding="utf-8")
    with pytest.raises(Failure):
        save(session, "scenario", Path("other.tw"), "")
    assert (here / "other.tw").read_text(encoding="utf-8") == "type A\n"
    with pytest.raises(Failure, match="TW0001"):
        save(session, "scenario", Path("nowhere.tw"), "")
    with pytest.raises(Failure, match="TW0001"):
        save(session, "script", Path("no/such/folder/x.txt"), "")
