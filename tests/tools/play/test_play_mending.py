"""Gaps and changed files on the screen: a rule is begun, written, read again, and tried."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tools.play.conftest import WORLDS
from tests.tools.play.piloting import details, enter, keys, palette, until
from tests.tools.play.test_play_snapshots import SIZES, Compare, typing
from tokenworld.play.screens.advised import FilesRead
from tokenworld.play.screens.app import PlayApp, Settings
from tokenworld.play.screens.screen import PlayScreen
from tokenworld.session import Session, check_file, open_world
from tokenworld.session.reloading import carried_again
from tokenworld.session.replaying import replay_run
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run
from tokenworld.verbs.output import UNICODE


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The attic, to be written to."""
    return Path(shutil.copy(WORLDS / "attic.tw", tmp_path / "attic.tw"))


@pytest.fixture
def own(file: Path) -> PlayApp:
    """The attic of that file, not recorded; nobody watches it."""
    return PlayApp(Session.open(str(file), 7), glyphs=UNICODE, settings=Settings(watch=False))


def rules(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


async def reloaded(pilot: Pilot[None], app: PlayApp, says: str) -> None:
    await pilot.press("ctrl+n")
    await until(pilot, lambda: says in details(app))


async def test_unknown_words_say_what_failed_and_what_comes_near(own: PlayApp) -> None:
    async with own.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "polish robot")
        text = details(own)
        assert "I do not know the verb `polish`" in text
        assert "What does not fit is the verb: no action begins with these words." in text
        assert "  take robot" in text
        await enter(pilot, "take trunk")
        assert "a thing: it is of another kind than the action needs" in details(own)
        await enter(pilot, "take moon")
        assert "a thing: nothing of that name is here" in details(own)
        await enter(pilot, "take")
        assert "the verb is known, but not in this form" in details(own)


async def test_a_click_says_the_near_command(own: PlayApp) -> None:
    async with own.run_test(size=(120, 40)) as pilot:
        await enter(pilot, "polish robot")
        screen = own.screen
        assert isinstance(screen, PlayScreen)
        await screen.run_action("near(0)")
        await pilot.pause()
        assert own.game.session.moments[-1].asked == "take robot"
        assert own.game.session.moments[-1].outcomes[-1].status == "executed"


async def test_a_rule_is_shown_then_written_and_the_words_are_tried_again(
    own: PlayApp, file: Path
) -> None:
    before = file.read_text(encoding="utf-8")
    async with own.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "take robot")
        await enter(pilot, "polish the robot")
        await pilot.press("f11")
        await until(pilot, lambda: 'action polish(t: Toy) as "polish {t}" {' in details(own))
        assert "This goes after the rules of `attic.tw`." in details(own)
        assert file.read_text(encoding="utf-8") == before
        await pilot.press("enter")
        await until(pilot, lambda: own.game.session.moments[-1].asked == "polish robot")
        await pilot.pause()
        outcome = own.game.session.moments[-1].outcomes[-1]
        assert outcome.status == "executed"
        assert outcome.said[0].startswith("TODO: say what this changes.")
        assert own.game.session.tick == 2
        assert "robot" in str(own.game.session.state_json())
    after = file.read_text(encoding="utf-8")
    assert after.startswith(before.rstrip())
    assert "action polish(t: Toy)" in after
    assert check_file(file).program is not None
    assert [one.name for one in file.parent.iterdir()] == ["attic.tw"]


async def test_a_rule_that_is_not_accepted_is_not_written(own: PlayApp, file: Path) -> None:
    before = file.read_bytes()
    async with own.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "polish robot")
        await pilot.press("f11")
        await until(pilot, lambda: "action polish" in details(own))
        await enter(pilot, "look")
        await pilot.press("enter")
        await pilot.pause()
        assert own.game.session.moments[-1].asked == "look"
    assert file.read_bytes() == before


async def test_a_file_that_changed_meanwhile_is_left_alone(own: PlayApp, file: Path) -> None:
    async with own.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "polish robot")
        await pilot.press("f11")
        await until(pilot, lambda: "action polish" in details(own))
        rules(file, "You are too weak", "You are weak")
        mine = file.read_bytes()
        await pilot.press("enter")
        await until(pilot, lambda: "was changed meanwhile" in details(own))
    assert file.read_bytes() == mine


async def test_a_folder_that_cannot_be_written_is_told(
    own: PlayApp, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_bytes()

    def fails(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", fails)
    async with own.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "polish robot")
        await pilot.press("f11")
        await until(pilot, lambda: "action polish" in details(own))
        await pilot.press("enter")
        await until(pilot, lambda: "cannot be written: Permission denied" in details(own))
    assert file.read_bytes() == before
    assert [one.name for one in file.parent.iterdir()] == ["attic.tw"]


async def test_f11_without_words_says_how(own: PlayApp) -> None:
    async with own.run_test(size=(80, 24)) as pilot:
        await pilot.press("f11")
        await pilot.pause()
        assert own.game.entries[-1].text.startswith("Type words that mean nothing yet")
        await pilot.press(*keys("???"), "f11")
        await until(pilot, lambda: "There are no words here" in details(own))


async def test_changed_rules_are_taken_over_and_told(file: Path, tmp_path: Path) -> None:
    with RunStore.open(tmp_path / "runs.sqlite") as store:
        session = Session(open_world(str(file)), 7, store=store)
        app = PlayApp(session, glyphs=UNICODE, settings=Settings(watch=False))
        async with app.run_test(size=(80, 24)) as pilot:
            await enter(pilot, "take robot")
            rules(file, "wound: 0 to 3 = 0 }", "wound: 0 to 3 = 0  shine: 0 to 9 = 4 }")
            await reloaded(pilot, app, "The changed rules are in force.")
            assert "`Toy.shine` is new: it has its declared value." in details(app)
            assert "Run attic-1 is closed here; the game goes on in attic-2." in details(app)
            assert "The rules were changed, 1 change to the state; play goes on." in [
                one.text.removeprefix(f"{UNICODE.hint} ") for one in app.game.entries
            ]
            await enter(pilot, "wind robot")
            await pilot.press("ctrl+t")
            await pilot.pause()
            await pilot.press("escape")
            app.game.undo()
        app.game.session.finish("left")
        for slug in ("attic-1", "attic-2"):
            assert replay_run(store, find_run(store, slug), verify=True).ok


async def test_rules_that_do_not_check_are_told_and_play_goes_on(own: PlayApp, file: Path) -> None:
    async with own.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "take robot")
        rules(file, "t.wound += 1", "t.wound += true")
        await reloaded(pilot, own, "TW0301")
        assert "attic.tw:" in details(own)
        assert "t.wound += true" in details(own)
        assert "Play goes on with the rules as they were." in details(own)
        await enter(pilot, "wind robot")
        assert own.game.session.moments[-1].outcomes[-1].status == "executed"


async def test_a_change_that_is_read_twice_is_taken_over_once(own: PlayApp, file: Path) -> None:
    """The key and the watch of the files may both read it, before either is answered."""
    session = own.game.session
    async with own.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "take robot")
        rules(file, '"The floor shines."', '"The floor gleams."')
        found = carried_again(session.world, session.state)
        for _ in range(2):
            own.screen.post_message(FilesRead(found, session.world))
        await until(pilot, lambda: "have the text that is played" in own.game.entries[-1].text)
        told = [one.text for one in own.game.entries if "rules were changed" in one.text]
        assert len(told) == 1


@pytest.mark.parametrize("operator", [True, False])
async def test_a_new_action_is_judged_unless_that_would_tell_secrets(
    file: Path, *, operator: bool
) -> None:
    session = Session.open(str(file), 7, operator=operator)
    own = PlayApp(session, glyphs=UNICODE, settings=Settings(watch=False))
    async with own.run_test(size=(80, 24)) as pilot:
        whole = file.read_text(encoding="utf-8")
        file.write_text(f'{whole}\naction nap() as "nap" {{ me.energy = 0 }}\n', encoding="utf-8")
        await reloaded(pilot, own, "The changed rules are in force.")
        assert ("Dead ends: " in details(own)) is operator
        assert ("`nap` can lead into a dead end." in details(own)) is operator
        rules(file, '"The floor shines."', '"The floor gleams."')
        await pilot.press("ctrl+n")
        await until(pilot, lambda: session.world.loaded.sources[0].text.count("gleams") == 1)
        assert "Dead ends: " not in details(own)


async def test_what_the_key_told_the_watch_does_not_tell_again(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokenworld.play.screens.advised.WATCH_SECONDS", 3600.0)
    own = PlayApp(Session.open(str(file), 7), glyphs=UNICODE)
    async with own.run_test(size=(80, 24)) as pilot:
        screen = own.screen
        assert isinstance(screen, PlayScreen)
        rules(file, "t.wound += 1", "t.wound += true")
        await reloaded(pilot, own, "TW0301")
        told = len(own.game.entries)
        screen._look()
        await pilot.pause(0.3)
        assert len(own.game.entries) == told
        rules(file, "t.wound += true", "t.wound += 2")
        screen._look()
        await until(pilot, lambda: "The changed rules are in force." in details(own))


async def test_without_a_change_nothing_happens(own: PlayApp) -> None:
    async with own.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "reload")
        await until(pilot, lambda: "have the text that is played" in own.game.entries[-1].text)
        assert len(own.game.session.moments) == 1


async def test_a_written_file_is_noticed(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenworld.play.screens.advised.WATCH_SECONDS", 0.05)
    own = PlayApp(Session.open(str(file), 7), glyphs=UNICODE)
    async with own.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "take robot")
        rules(file, '"The floor shines."', '"The floor gleams."')
        await until(pilot, lambda: "The changed rules are in force." in details(own))
        assert own.game.session.tick == 1


async def test_the_watch_can_be_turned_off(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenworld.play.screens.advised.WATCH_SECONDS", 0.02)
    session = Session.open(str(file), 7)
    app = PlayApp(session, glyphs=UNICODE, settings=Settings(watch=False))
    async with app.run_test(size=(80, 24)) as pilot:
        world = session.world
        rules(file, '"The floor shines."', '"The floor gleams."')
        await pilot.pause(0.2)
        assert session.world is world


async def test_the_palette_has_both(own: PlayApp) -> None:
    async with own.run_test(size=(80, 24)) as pilot:
        await palette(pilot, "view reload", "view: reload")


@SIZES
@pytest.mark.parametrize("stage", ["gap", "rule", "wrong", "reload"])
def test_mending(
    compare: Compare, own: PlayApp, file: Path, size: tuple[int, int], stage: str
) -> None:
    async def run(pilot: Pilot[None]) -> None:
        await typing("take robot", "polish robot")(pilot)
        if stage == "rule":
            await pilot.press("f11")
            await until(pilot, lambda: "action polish" in details(own))
        elif stage == "wrong":
            rules(file, "t.wound += 1", "t.wound += true")
            await reloaded(pilot, own, "TW0301")
        elif stage == "reload":
            rules(file, "wound: 0 to 3 = 0 }", "wound: 0 to 3 = 0  shine: 0 to 9 = 4 }")
            await reloaded(pilot, own, "The changed rules are in force.")
        await pilot.pause()

    assert compare(own, terminal_size=size, run_before=run)
