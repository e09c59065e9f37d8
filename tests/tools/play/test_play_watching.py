"""Stored runs on the screen: picked, stepped, played at speed, searched, branched off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.tools.play.conftest import WORLDS
from tests.tools.play.piloting import details, enter, palette, screen_text, until
from tests.tools.play.test_play_snapshots import PICTURED, Compare
from tokenworld.play.model.playback import open_playback
from tokenworld.play.screens.app import PlayApp, Watched
from tokenworld.play.screens.screen import PlayScreen
from tokenworld.play.screens.watching import RunsScreen, WatchScreen
from tokenworld.session import Session, open_world
from tokenworld.session.replaying import replay_run
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, list_runs
from tokenworld.verbs.output import UNICODE

GAME = ("take robot", "take trunk", "wind robot", "force trunk", "look")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """A store with a run of an agent."""
    with RunStore.open(tmp_path / "runs.sqlite") as opened:
        session = Session(open_world(str(WORLDS / "attic.tw")), 7, store=opened, player="llm")
        for command in GAME:
            session.intend(command, source="llm")
        session.finish("done")
        yield opened


@pytest.fixture
def watched(store: RunStore) -> PlayApp:
    """The run of the agent on the screen."""
    playback = open_playback(store.path, "attic-1")
    return PlayApp(playback.session, glyphs=UNICODE, watched=Watched(store, playback))


def notices(app: PlayApp) -> str:
    return " ".join(one.message for one in app._notifications)


async def at(pilot: Pilot[None], app: PlayApp, place: int) -> None:
    def stands() -> bool:
        screen = app.screen
        return isinstance(screen, WatchScreen) and screen.playback.place == place

    await until(pilot, stands)
    await pilot.pause()


async def test_one_goes_on_and_back_record_by_record(watched: PlayApp) -> None:
    async with watched.run_test(size=(80, 24)) as pilot:
        await at(pilot, watched, 0)
        assert "attic-1 by llm, read only" in screen_text(watched)
        assert "Here the run begins." in details(watched)
        await pilot.press("right")
        await at(pilot, watched, 1)
        assert "Record 1: take robot" in screen_text(watched)
        assert "at(robot) attic → child" in details(watched)
        await pilot.press("down")
        await at(pilot, watched, 2)
        assert "needs a toy there, and `trunk` is a box" in details(watched)
        await pilot.press("left", "left")
        await at(pilot, watched, 0)
        await pilot.press("end")
        await at(pilot, watched, len(GAME))
        assert "Records (5 of 5)" in screen_text(watched)


async def test_what_a_narrator_told_is_shown(tmp_path: Path) -> None:
    with RunStore.open(tmp_path / "told.sqlite") as store:
        session = Session(open_world(str(WORLDS / "attic.tw")), 7, store=store, player="llm")
        session.intend("take robot", source="llm")
        assert session.recording is not None
        session.recording.narrate("The child has the robot.\nIt is cold.")
        playback = open_playback(store.path, "attic-1")
        app = PlayApp(playback.session, glyphs=UNICODE, watched=Watched(store, playback))
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.press("right")
            await at(pilot, app, 1)
            assert "» The child has the robot." in details(app)
            assert "» It is cold." in details(app)
            await pilot.press("left")
            await at(pilot, app, 0)
            assert "»" not in details(app)


async def test_refusals_are_jumped_to(watched: PlayApp) -> None:
    async with watched.run_test(size=(80, 24)) as pilot:
        await pilot.press("n")
        await at(pilot, watched, 2)
        await pilot.press("n")
        await at(pilot, watched, 4)
        assert "✗ weak: me.energy >= 9" in details(watched)
        await pilot.press("p")
        await at(pilot, watched, 2)


async def test_it_plays_by_itself_and_stops_at_the_end(watched: PlayApp) -> None:
    async with watched.run_test(size=(80, 24)) as pilot:
        await pilot.press("plus", "plus", "plus", "plus", "space")
        await at(pilot, watched, len(GAME))
        await until(pilot, lambda: "a second" not in screen_text(watched))
        await pilot.press("home")
        await at(pilot, watched, 0)
        await pilot.press("minus", "minus", "minus", "minus", "space")
        await until(pilot, lambda: "1 a second" in screen_text(watched))
        await pilot.press("space")
        await until(pilot, lambda: "a second" not in screen_text(watched))


async def test_nothing_is_written_by_looking(watched: PlayApp, store: RunStore) -> None:
    before = list_runs(store)
    async with watched.run_test(size=(80, 24)) as pilot:
        await pilot.press("end")
        await at(pilot, watched, len(GAME))
        await pilot.press("escape")
        await pilot.pause()
    assert list_runs(store) == before
    assert watched.return_code in (0, None)


async def test_a_branch_is_a_run_of_ones_own(watched: PlayApp, store: RunStore) -> None:
    async with watched.run_test(size=(80, 24)) as pilot:
        await pilot.press("right", "right")
        await at(pilot, watched, 2)
        await pilot.press("b")
        await until(pilot, lambda: isinstance(watched.screen, PlayScreen))
        assert watched.game.entries[-1].text == "attic-2 leaves attic-1 after record 2."
        await enter(pilot, "wind robot")
        assert watched.game.session.tick == 2
    for session in watched.begun:
        session.finish("left")
    branch = find_run(store, "attic-2")
    assert (branch.header.player, branch.ticks) == ("human", 1)
    assert replay_run(store, branch, verify=True).ok
    assert find_run(store, "attic-1").ticks == len(GAME)


async def test_runs_are_picked_from_within_a_game(store: RunStore) -> None:
    session = Session(open_world(str(WORLDS / "attic.tw")), 7, store=store)
    app = PlayApp(session, glyphs=UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "take robot")
        await palette(pilot, "open run", "time: open run")
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await pilot.pause()
        assert "attic-1" in screen_text(app)
        assert "by llm, seed 7" in screen_text(app)
        await pilot.press("down", "enter")
        await at(pilot, app, 0)
        await pilot.press("f1")
        await until(pilot, lambda: "This pane: records" in screen_text(app))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
        assert app.game.session is session
        await enter(pilot, "wind robot")
        assert session.tick == 2


async def test_without_a_store_there_are_no_runs(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "runs")
        await until(pilot, lambda: "there are no runs" in notices(app))


async def test_a_store_that_is_only_read_takes_no_branch(store: RunStore) -> None:
    with RunStore.open(store.path, writable=False) as opened:
        playback = open_playback(opened.path, "attic-1")
        app = PlayApp(playback.session, glyphs=UNICODE, watched=Watched(opened, playback))
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.press("right")
            await at(pilot, app, 1)
            await pilot.press("b")
            await until(pilot, lambda: "TW1102" in notices(app))
            assert isinstance(app.screen, WatchScreen)
    assert len(list_runs(store)) == 1


@PICTURED
def test_a_stored_run(compare: Compare, watched: PlayApp, size: tuple[int, int]) -> None:
    async def run(pilot: Pilot[None]) -> None:
        watched.animation_level = "none"
        await pilot.press("n", "n")
        await at(pilot, watched, 4)

    assert compare(watched, terminal_size=size, run_before=run)
