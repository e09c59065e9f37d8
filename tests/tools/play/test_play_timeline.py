"""The timeline on the screen: redo, jump, branch, name, compare."""

from __future__ import annotations

from textual.pilot import Pilot
from textual.widgets import OptionList

from tests.tools.play.piloting import details, enter, keys, palette, screen_text, until
from tokenworld.play.screens.app import PlayApp
from tokenworld.play.screens.dialogs import AskDialog
from tokenworld.play.screens.screen import PlayScreen
from tokenworld.play.screens.timeline import TimelineScreen


async def opened(pilot: Pilot[None], app: PlayApp) -> None:
    await pilot.press("ctrl+t")
    await until(pilot, lambda: isinstance(app.screen, TimelineScreen))
    await pilot.pause()


async def test_redo_does_again_what_was_undone(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "take robot")
        await pilot.press("ctrl+z", "ctrl+y")
        await pilot.pause()
        assert app.game.session.tick == 1
        assert "↷ Redone: take robot" in screen_text(app)
        await pilot.press("ctrl+y")
        await pilot.pause()
        assert app.game.entries[-1].text == "There is nothing to redo."


async def test_a_jump_back_and_play_make_a_branch_that_can_be_named(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        for text in ("take robot", "wind robot", "force trunk"):
            await enter(pilot, text)
        await opened(pilot, app)
        shown = screen_text(app)
        for row in ("main", "start", "✓   0 executed take robot", "✗   2 refused  » force trunk"):
            assert row in shown
        assert "✗ weak" in details(app)
        await pilot.press("up", "up", "enter")
        await pilot.pause()
        assert app.game.session.tick == 1
        assert "0 executed » take robot" in screen_text(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
        assert "Now at tick 1 of main, after take robot." in " ".join(
            entry.text for entry in app.game.entries
        )
        await enter(pilot, "sweep")
        await opened(pilot, app)
        assert "branch 1  from tick 1 of main" in screen_text(app)
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, AskDialog))
        await pilot.press("ctrl+u", *keys("clean"), "enter")
        await until(pilot, lambda: isinstance(app.screen, TimelineScreen))
        await pilot.pause()
        assert "clean  from tick 1 of main" in screen_text(app)
        await pilot.press("n", "escape")
        await until(pilot, lambda: isinstance(app.screen, TimelineScreen))
        assert app.game.timeline.name_of(1) == "clean"


async def test_two_moments_are_compared(app: PlayApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await enter(pilot, "take robot")
        await enter(pilot, "wind robot")
        await opened(pilot, app)
        await pilot.press("m", "up")
        await pilot.pause()
        assert "tick 2 of main → tick 1 of main" in details(app)
        assert "One goes on from the other." in details(app)
        assert "robot.wound  1 → 0" in details(app)
        await pilot.press("up")
        await pilot.pause()
        assert "Here play began." not in details(app)
        await pilot.press("down", "down", "m", "up", "up")
        await pilot.pause()
        assert "Here play began." in details(app)


async def test_undo_and_redo_work_on_the_timeline(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "take robot")
        await opened(pilot, app)
        await pilot.press("u")
        await pilot.pause()
        assert app.game.session.tick == 0
        assert "tick 0" in screen_text(app).split("\n")[0]
        await pilot.press("r")
        await pilot.pause()
        assert app.game.session.tick == 1
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
        assert "robot" in screen_text(app)


async def test_f5_twice_and_a_typed_word_open_it(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f5", "f5")
        await until(pilot, lambda: isinstance(app.screen, TimelineScreen))
        assert app.screen.query_one("#moments", OptionList).has_focus
        await pilot.press("escape")
        await enter(pilot, "timeline")
        await until(pilot, lambda: isinstance(app.screen, TimelineScreen))


async def test_the_palette_goes_through_time(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await palette(pilot, "time timeline", "time: timeline")
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, TimelineScreen))
