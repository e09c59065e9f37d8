"""The state inspector on the screen."""

from __future__ import annotations

from collections.abc import Callable

from textual.pilot import Pilot
from textual.widgets import TabbedContent

from tests.tools.play.piloting import enter, palette, screen_text, until
from tokenworld.play.screens.app import PlayApp
from tokenworld.play.screens.inspecting import InspectScreen
from tokenworld.play.screens.screen import PlayScreen
from tokenworld.play.widgets.texts import TextPane
from tokenworld.session import Session
from tokenworld.verbs.output import UNICODE


async def opened(pilot: Pilot[None], app: PlayApp) -> None:
    await pilot.press("ctrl+o")
    await until(pilot, lambda: isinstance(app.screen, InspectScreen))
    await pilot.pause()


def slots(app: PlayApp) -> str:
    return app.screen.query_one("#slots", TextPane).plain


async def test_changed_slots_are_marked_and_the_rest_can_be_hidden(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "take robot")
        await opened(pilot, app)
        assert "● robot.at" in slots(app)
        assert "attic → child  action take" in slots(app)
        assert "  trunk.locked" in slots(app)
        assert "State: 1 of" in screen_text(app)
        await pilot.press("c")
        await pilot.pause()
        assert "trunk.locked" not in slots(app)
        await pilot.press("u")
        await pilot.pause()
        assert slots(app) == "The last tick changed nothing."
        await pilot.press("r", "c", "escape")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
        assert app.game.session.tick == 1


async def test_the_world_and_its_map_have_tabs(open_domain: Callable[[str], Session]) -> None:
    app = PlayApp(open_domain("frozen_lake/world.tw"), glyphs=UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, app)
        tabs = app.screen.query_one(TabbedContent)
        await pilot.press("shift+tab", "right")
        await until(pilot, lambda: tabs.active == "tab-tree")
        assert "  skater (Skater)" in app.screen.query_one("#tree", TextPane).plain
        await pilot.press("right")
        await until(pilot, lambda: tabs.active == "tab-map")
        await pilot.pause()
        assert "│ o..G" in screen_text(app)
        assert "@ skater" in screen_text(app)


async def test_without_a_layout_there_is_no_map(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "inspect")
        await until(pilot, lambda: isinstance(app.screen, InspectScreen))
        assert not app.screen.query("#map")


async def test_the_palette_opens_it(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await palette(pilot, "view inspect", "view: inspect")
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, InspectScreen))
