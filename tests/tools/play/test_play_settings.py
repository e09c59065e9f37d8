"""Keys, presets and themes of the user's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color

from tests.tools.play.piloting import enter, keys, until
from tokenworld.diagnostics import Failure
from tokenworld.play.screens.app import (
    BLUE_YELLOW,
    PRESETS,
    RED_GREEN,
    PlayApp,
    Settings,
    binding_ids,
    read_settings,
    settings_path,
    user_settings,
)
from tokenworld.play.screens.inspecting import InspectScreen
from tokenworld.play.screens.screen import PlayScreen
from tokenworld.play.screens.timeline import TimelineScreen
from tokenworld.play.widgets.actions import ActionList, CommandLine
from tokenworld.session import Session
from tokenworld.verbs.output import UNICODE

DOCS = Path(__file__).parents[3] / "docs" / "play.md"


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "play.toml"
    monkeypatch.setenv("TW_PLAY_SETTINGS", str(path))
    return path


def test_a_file_sets_preset_keys_and_theme(written: Path) -> None:
    assert user_settings() == Settings()
    written.write_text(
        'preset = "vim"\ntheme = "red-green-blind"\n[keys]\n"play.undo" = "f12"\n',
        encoding="utf-8",
    )
    found = user_settings()
    assert found.theme == "red-green-blind"
    assert found.keys == {**PRESETS["vim"], "play.undo": "f12"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("preset = ", "it cannot be read"),
        ("a = " + "[" * 100_000, "it cannot be read"),
        ("presett = 1", "there is no entry `presett`"),
        ('preset = "emacs"', "there is no preset `emacs`"),
        ('theme = "red-green"', "there is no theme `red-green`"),
        ("keys = 3", "`keys` is no table"),
        ('[keys]\n"play.undoo" = "u"', "there is no key id `play.undoo`"),
        ('[keys]\n"play.undo" = 3', "the keys of `play.undo` are no text"),
        ('[keys]\n"play.undo" = "u,"', "the keys of `play.undo` are no text"),
        ('[keys]\n"play.undo" = "contrl+z"', "`contrl+z` for `play.undo` is no key"),
        ('[keys]\n"play.undo" = "u, f99"', "`f99` for `play.undo` is no key"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(written: Path, text: str, told: str) -> None:
    written.write_text(text, encoding="utf-8")
    with pytest.raises(Failure, match="TW0006") as caught:
        user_settings()
    assert told in caught.value.diagnostics[0].message
    assert caught.value.diagnostics[0].hint


@pytest.mark.parametrize("key", ["ctrl+z,u", "shift+f5", "question_mark", "ctrl+slash", "?", "ü"])
def test_a_key_that_terminals_send_is_taken(written: Path, key: str) -> None:
    written.write_text(f'[keys]\n"play.undo" = "{key}"', encoding="utf-8")
    assert user_settings().keys == {"play.undo": key}


def test_the_file_lies_where_configuration_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TW_PLAY_SETTINGS", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert settings_path() == tmp_path / "tw" / "play.toml"
    assert read_settings(settings_path(), frozenset(), ()) == Settings()


def test_every_id_is_real_and_documented() -> None:
    ids = binding_ids()
    assert all(set(preset) <= ids for preset in PRESETS.values())
    text = DOCS.read_text(encoding="utf-8").partition("The ids are")[2].partition("\n\n")[0]
    for one in ids:
        group, _, name = one.partition(".")
        assert f"`{group}.`" in text or f"`{one}`" in text
        assert name in text


async def test_vim_keys_walk_lists_and_leave_the_command_line(attic: Session) -> None:
    app = PlayApp(attic, glyphs=UNICODE, settings=Settings(PRESETS["vim"]))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f2", "j")
        actions, command = app.screen.query_one(ActionList), app.screen.query_one(CommandLine)
        assert actions.highlighted == 1
        await pilot.press("G")
        assert actions.highlighted == 4
        await pilot.press("g")
        assert actions.highlighted == 0
        await pilot.press("enter")
        await pilot.pause()
        assert attic.tick == 1
        actions.focus()
        await pilot.press("u")
        await pilot.pause()
        assert attic.tick == 0
        await pilot.press("ctrl+r")
        await pilot.pause()
        assert attic.tick == 1
        actions.focus()
        await pilot.press("i")
        await pilot.pause()
        assert command.has_focus
        await pilot.press(*keys("jug"))
        assert command.value == "jug"
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(app.screen, TimelineScreen))
        await pilot.press("k", "enter")
        await pilot.pause()
        assert attic.tick == 0


async def test_a_key_of_ones_own_replaces_the_old_one(attic: Session) -> None:
    app = PlayApp(attic, glyphs=UNICODE, settings=Settings({"play.inspect": "f12"}))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+o")
        await pilot.pause()
        assert isinstance(app.screen, PlayScreen)
        await pilot.press("f12")
        await until(pilot, lambda: isinstance(app.screen, InspectScreen))


@pytest.mark.parametrize("theme", [RED_GREEN, BLUE_YELLOW])
async def test_the_themes_can_be_used(attic: Session, theme: object) -> None:
    name = getattr(theme, "name", "")
    app = PlayApp(attic, glyphs=UNICODE, settings=Settings(theme=name))
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "force trunk")
        assert app.current_theme.name == name
        assert name in app.available_themes


@pytest.mark.parametrize("theme", [RED_GREEN, BLUE_YELLOW])
def test_good_bad_and_ground_differ_in_brightness(theme: object) -> None:
    def brightness(name: str) -> float:
        return Color.parse(getattr(theme, name)).brightness

    for name in ("success", "error", "foreground"):
        assert brightness(name) - brightness("background") > 0.3
