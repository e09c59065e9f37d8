"""Trials on the screen: a slot set by hand, played on, compared, dropped."""

from __future__ import annotations

from pathlib import Path

from textual.pilot import Pilot

from tests.tools.play.conftest import WORLDS
from tests.tools.play.piloting import details, enter, keys, palette, screen_text, until
from tests.tools.play.test_play_snapshots import PICTURED, Compare, typing
from tokenworld.play.screens.app import PlayApp
from tokenworld.play.screens.dialogs import AskDialog
from tokenworld.play.screens.inspecting import InspectScreen
from tokenworld.play.screens.screen import PlayScreen
from tokenworld.play.widgets.texts import TextPane
from tokenworld.session import Session, open_world
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, list_runs
from tokenworld.verbs.output import UNICODE


async def set_by_hand(pilot: Pilot[None], app: PlayApp, text: str) -> None:
    """From the play screen to the inspector and back."""
    await pilot.press("ctrl+o")
    await until(pilot, lambda: isinstance(app.screen, InspectScreen))
    await pilot.press("e")
    await until(pilot, lambda: isinstance(app.screen, AskDialog))
    await pilot.press(*keys(text), "enter")
    await until(pilot, lambda: isinstance(app.screen, InspectScreen))
    await pilot.pause()


def trial(app: PlayApp) -> str:
    return app.screen.query_one("#scratch", TextPane).plain


async def test_a_slot_is_set_and_the_trial_is_marked(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "take robot")
        await set_by_hand(pilot, app, "robot.wound = 1")
        assert "● robot.wound" in app.screen.query_one("#slots", TextPane).plain
        assert "  robot.wound = 1" in trial(app)
        assert "Against tick 1 of main, where the trial began" in trial(app)
        assert "robot.wound  0 → 1" in trial(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
        assert "SCRATCH, not recorded" in screen_text(app).split("\n")[0]
        await enter(pilot, "wind robot")
        assert app.game.session.won()


async def test_nothing_of_it_is_recorded_and_dropping_goes_on_in_the_run(tmp_path: Path) -> None:
    with RunStore.open(tmp_path / "runs.sqlite") as store:
        session = Session(open_world(str(WORLDS / "attic.tw")), 7, store=store)
        app = PlayApp(session, glyphs=UNICODE)
        async with app.run_test(size=(80, 24)) as pilot:
            await enter(pilot, "take robot")
            await set_by_hand(pilot, app, "robot.wound = 1")
            await pilot.press("escape")
            await enter(pilot, "wind robot")
            assert find_run(store, None).ticks == 1
            await pilot.press("ctrl+t")
            await pilot.pause()
            assert "scratch 1" in screen_text(app)
            assert "set robot.wound = 1" in screen_text(app)
            await pilot.press("escape", "ctrl+o")
            await until(pilot, lambda: isinstance(app.screen, InspectScreen))
            await pilot.press("x", "escape")
            await until(pilot, lambda: isinstance(app.screen, PlayScreen))
            assert "SCRATCH" not in screen_text(app)
            await enter(pilot, "wind robot")
            assert session.state_json()["tick"] == 2
            await pilot.press("ctrl+t")
            await pilot.pause()
            assert "scratch 1" not in screen_text(app)
        assert [(one.slug, one.ticks) for one in list_runs(store)] == [("attic-1", 2)]


async def test_what_does_not_fit_is_told(app: PlayApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await set_by_hand(pilot, app, "robot.wound = 7")
        assert "outside its range" in app.game.entries[-1].text
        assert len(app.game.session.moments) == 1
        await set_by_hand_again(pilot, app, "trunk.inside = gold")
        assert "secret" in app.game.entries[-1].text
        await pilot.press("x")
        assert app.game.entries[-1].text == "There is no trial to drop."


async def set_by_hand_again(pilot: Pilot[None], app: PlayApp, text: str) -> None:
    await pilot.press("e")
    await until(pilot, lambda: isinstance(app.screen, AskDialog))
    await pilot.press(*keys(text), "enter")
    await until(pilot, lambda: isinstance(app.screen, InspectScreen))


async def test_undo_takes_an_edit_back(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await set_by_hand(pilot, app, "robot.wound = 2")
        assert app.game.session.won()
        await pilot.press("u")
        await pilot.pause()
        assert not app.game.session.won()
        assert len(app.game.session.moments) == 1


async def test_where_the_branch_stands_now_is_compared_too(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "take robot")
        await enter(pilot, "wind robot")
        await pilot.press("ctrl+z")
        await set_by_hand(pilot, app, "trunk.locked = false")
        assert "Against tick 2 of main, where that stands" in trial(app)
        assert "robot.wound  1 → 0" in trial(app)


async def test_the_palette_sets_and_drops(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await palette(pilot, "set by hand", "time: set by hand")
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, AskDialog))
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))


async def test_a_tick_from_before_the_edit_can_still_be_looked_at(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "force trunk")
        await set_by_hand(pilot, app, "child.energy = 9")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
        await pilot.press("f5", "enter")
        await pilot.pause()
        assert "weak: me.energy >= 9" in details(app)


@PICTURED
def test_a_trial(compare: Compare, app: PlayApp, size: tuple[int, int]) -> None:
    async def run(pilot: Pilot[None]) -> None:
        await typing("take robot")(pilot)
        app.game.edit("robot.wound = 1")
        await pilot.press("ctrl+o", "shift+tab", "right", "right")
        await pilot.pause()

    assert compare(app, terminal_size=size, run_before=run)
