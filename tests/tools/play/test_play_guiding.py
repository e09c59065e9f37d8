"""The tour, the jump mode, and the source pane that follows the cursor."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot

from tests.tools.play.piloting import enter, screen_text
from tests.tools.play.test_play_snapshots import Compare, typing
from tokenworld.diagnostics import Failure
from tokenworld.play import play
from tokenworld.play.model.source import code_lines, rules_of_record
from tokenworld.play.model.tour import STEPS, Tour
from tokenworld.play.screens.app import PlayApp, Settings, settings_path, user_settings
from tokenworld.play.screens.jump import LETTERS, JumpScreen
from tokenworld.play.screens.screen import PlayScreen
from tokenworld.play.widgets.actions import ActionList, CommandLine, TickList
from tokenworld.play.widgets.source import SourcePane
from tokenworld.session import Session
from tokenworld.verbs.output import UNICODE


def failed(app: PlayApp) -> list[int]:
    """The numbers of the lines that the source pane marks."""
    lines = app.screen.query_one(SourcePane).lines or ()
    return [one.number for one in lines if one.failed]


def title(app: PlayApp) -> str:
    return str(app.screen.query_one(SourcePane).border_title)


# ---- the tour -----------------------------------------------------------------------------------


def tour(app: PlayApp) -> str:
    """The title of the box of the tour; empty where none is shown."""
    box = app.screen.query_one("#tour")
    return str(box.border_title) if box.display else ""


def on_tour(session: Session, settings: Settings | None = None) -> PlayApp:
    return PlayApp(session, glyphs=UNICODE, settings=settings, tour=True)


async def test_each_step_of_the_tour_is_done_by_doing_it(
    attic: Session, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
) -> None:
    monkeypatch.setattr(PlayScreen, "_begin", lambda *_: None)  # no planner need answer here
    app = on_tour(attic)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert tour(app) == "Tour: 1 of 6"
        assert "such as `take robot`, and press Enter" in screen_text(app)
        assert app.screen.query_one(CommandLine).has_class("-pointed")
        await enter(pilot, "take robot")
        assert tour(app) == "Tour: 2 of 6"
        assert app.screen.query_one(ActionList).has_class("-pointed")
        for key, then in zip(("f2", "f4", "ctrl+z", "f3"), (3, 4, 5, 6), strict=True):
            await pilot.press(key)
            await pilot.pause()
            assert tour(app) == f"Tour: {then} of 6", key
        assert screen_text(app) == snapshot
        await pilot.press("f1", "escape")
        await pilot.pause()
        assert tour(app) == ""
        assert not app.screen.query(".-pointed")


async def test_steps_can_be_passed_over_and_the_tour_left(attic: Session) -> None:
    app = on_tour(attic, Settings({"play.hint": "alt+h", "tour.next": "alt+n"}))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("alt+n", "alt+n", "alt+n", "alt+n")
        await pilot.pause()
        assert tour(app) == "Tour: 5 of 6"
        assert "Alt+H asks for the next step" in screen_text(app)
        assert "Next Alt+N" in screen_text(app)
        await pilot.press("f2", "escape")
        await pilot.pause()
        assert tour(app) == ""
        await enter(pilot, "tour")
        assert tour(app) == "Tour: 1 of 6"
        await pilot.click("#tour", offset=(8, 3))
        await pilot.pause()
        assert tour(app) == "Tour: 2 of 6"
        assert attic.tick == 0


def test_another_deed_is_no_step() -> None:
    found = Tour()
    assert not found.did("help")
    assert [found.did(one.deed) for one in STEPS] == [True] * 6
    assert found.step is None


@pytest.mark.parametrize(
    ("before", "shown", "after"),
    [
        (None, [True, False], "tour = false"),
        ('theme = "nord"\n[keys]\n"play.undo" = "u"\n', [True, False], "tour = false"),
        ("tour = true\n", [True, True], "tour = true\n"),
        ("tour = false\n", [False, False], "tour = false\n"),
    ],
)
def test_the_tour_is_shown_once(
    attic: Session,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    before: str | None,
    shown: list[bool],
    after: str,
) -> None:
    """It is remembered in the settings, which else stay as they are."""
    monkeypatch.setenv("TW_PLAY_SETTINGS", str(tmp_path / "new" / "play.toml"))
    begun: list[bool] = []
    monkeypatch.setattr(PlayApp, "run", lambda app: begun.append(app._tour))
    if before is not None:
        settings_path().parent.mkdir()
        settings_path().write_text(before, encoding="utf-8")
    keys = user_settings().keys
    play(attic, tour=None)
    play(attic, tour=None)
    assert begun == shown
    text = settings_path().read_text(encoding="utf-8")
    assert text.startswith(after)
    assert text.endswith(before or "again.\n")
    assert user_settings().keys == keys
    play(attic, tour=True)
    assert begun[-1]


def test_a_tour_that_cannot_be_remembered_is_shown(
    attic: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("TW_PLAY_SETTINGS", str(tmp_path / "file" / "play.toml"))
    begun: list[bool] = []
    monkeypatch.setattr(PlayApp, "run", lambda app: begun.append(app._tour))
    play(attic, tour=None)
    assert begun == [True]


def test_the_setting_is_a_truth_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TW_PLAY_SETTINGS", str(tmp_path / "play.toml"))
    settings_path().write_text('tour = "no"\n', encoding="utf-8")
    with pytest.raises(Failure, match="`tour` is no truth value"):
        user_settings()


# ---- the jump mode ------------------------------------------------------------------------------


async def test_a_letter_goes_to_its_pane(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        for letter, pane in (("t", "ticks"), ("s", "transcript"), ("c", "command")):
            await pilot.press("ctrl+f", letter)
            await pilot.pause()
            assert app.focused is not None
            assert app.focused.id == pane == LETTERS[letter][0]
            assert app.focused.display
        await pilot.press("ctrl+f", "r")  # the source is not shown
        await pilot.pause()
        assert isinstance(app.screen, JumpScreen)


# ---- the source pane ----------------------------------------------------------------------------


async def test_the_source_follows_the_cursor(cellar: PlayApp, snapshot: SnapshotAssertion) -> None:
    async with cellar.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "open oak chest")
        pane = cellar.screen.query_one(SourcePane)
        assert not pane.display
        await pilot.press("ctrl+r")
        await pilot.pause()
        assert title(cellar) == "Source: action open, world.tw:31"
        assert failed(cellar) == [32, 33, 34]
        assert screen_text(cellar) == snapshot
        await pilot.press("f2")
        await pilot.pause()
        assert title(cellar) == "Source: action take, world.tw:14"
        assert failed(cellar) == []
        await pilot.press("down", "down")
        await pilot.pause()
        assert title(cellar) == "Source: action go, world.tw:40"
        await enter(pilot, "take iron key")
        assert title(cellar) == "Source: action take, world.tw:14"
        await pilot.press("f5", "home")
        await pilot.pause()
        assert cellar.screen.query_one(TickList).has_focus
        assert title(cellar) == "Source: action open, world.tw:31"
        assert failed(cellar) == [32, 33, 34]
        pane.focus()
        await pilot.pause()
        assert title(cellar) == "Source: action open, world.tw:31"
        await pilot.press("ctrl+r")
        await pilot.pause()
        assert not pane.display
        assert cellar.screen.query_one(CommandLine).has_focus


RULES = """
type Lamp { level: 0 to 2  oil: 0 to 2 = 1 }
object lamp: Lamp
action raise_it(l: Lamp) as "raise {l}" { l.level += 1 }
action pour(l: Lamp) as "pour {l}" { l.level = 2 }
action flood(l: Lamp) as "flood {l}" {
  l.oil += 2
}
law drain(l: Lamp) when l.level > 0 {
  l.level -= 1
}
invariant low(): lamp.level < 1
world w { goal dark: lamp.level == 0 and tick() > 0 }
"""


def test_the_rules_of_a_record(open_text_world: Callable[[str], Session]) -> None:
    """Of its action, the laws that fired, what was broken, and the endings."""
    session = open_text_world(RULES)
    world = session.world
    sources = {one.name: one for one in world.loaded.sources}

    def found(asked: str) -> tuple[list[str], list[int]]:
        (outcome,) = session.intend(asked)
        passages = rules_of_record(world.program, world.world, outcome)
        marked = [one.number for one in code_lines(passages, sources) if one.failed]
        return [one.title for one in passages], marked

    assert found("flood lamp") == (["action flood, w.tw:6"], [6])  # out of its range
    assert found("pour lamp") == (["action pour, w.tw:5", "broken, w.tw:12"], [12])
    rules = ["action raise_it, w.tw:4", "law drain, w.tw:9", "goal dark, w.tw:13"]
    assert found("raise lamp") == (rules, [])


# ---- pictures -----------------------------------------------------------------------------------


def test_the_source_on_a_large_screen(compare: Compare, cellar: PlayApp) -> None:
    run = typing("open oak chest", last=("ctrl+r",))
    assert compare(cellar, terminal_size=(140, 40), run_before=run)


@pytest.mark.parametrize("compare", ["svg"], indirect=True)
def test_the_letters(compare: Compare, cellar: PlayApp) -> None:
    async def run(pilot: Pilot[None]) -> None:
        await typing("open oak chest", last=("ctrl+r", "ctrl+f"))(pilot)

    assert compare(cellar, terminal_size=(100, 30), run_before=run)
