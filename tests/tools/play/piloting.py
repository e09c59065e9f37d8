"""Drive the screen in tests: typed commands, visible text, and waiting."""

from __future__ import annotations

from collections.abc import Callable

from textual.command import CommandPalette
from textual.pilot import Pilot
from textual.widgets import Input

from tokenworld.play.screens.app import PlayApp
from tokenworld.play.widgets.actions import CommandLine
from tokenworld.play.widgets.texts import Details

__all__ = ["details", "enter", "keys", "palette", "screen_text", "until"]


def keys(text: str) -> list[str]:
    return ["space" if one == " " else one for one in text]


async def enter(pilot: Pilot[None], text: str) -> None:
    """Give a command; the tests of the command line type it key by key."""
    pilot.app.screen.query_one(CommandLine).value = text
    pilot.app.screen.query_one(CommandLine).focus()
    await pilot.press("enter")
    await pilot.pause()


async def palette(pilot: Pilot[None], text: str, shown: str) -> None:
    """Search the palette for words; it shows an entry, which "down", "enter" then selects.

    One test types into it key by key, which is slow, because each key starts a search.
    """
    await pilot.press("ctrl+p")
    await until(pilot, lambda: isinstance(pilot.app.screen, CommandPalette))
    pilot.app.screen.query_one(Input).value = text
    await until(pilot, lambda: shown in screen_text(pilot.app))  # type: ignore[arg-type]


def screen_text(app: PlayApp) -> str:
    """The visible text."""
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(one.text for one in strip) for strip in strips)


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    """Wait for the effect of another thread or a timer."""
    for _ in range(400):
        if holds():
            return
        await pilot.pause(0.02)
    raise AssertionError("it did not come about")


def details(app: PlayApp) -> str:
    return app.screen.query_one(Details).plain
