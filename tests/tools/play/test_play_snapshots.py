"""Pictures of the screens, compared with the stored ones (`--snapshot-update` renews them)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol

from textual.pilot import Pilot

from tokenworld.tools.play.app import PlayApp
from tokenworld.tools.play.widgets.command_line import CommandLine


class Compare(Protocol):
    """The fixture of pytest-textual-snapshot."""

    def __call__(
        self,
        app: PlayApp,
        press: Iterable[str] = (),
        terminal_size: tuple[int, int] = (80, 24),
        run_before: Callable[[Pilot[None]], Awaitable[None]] | None = None,
    ) -> bool: ...


def typing(*commands: str, last: tuple[str, ...] = ()) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Gives commands with a cursor that does not blink, then presses the last keys."""

    async def run(pilot: Pilot[None]) -> None:
        await pilot.pause()
        command = pilot.app.screen.query_one(CommandLine)
        command.cursor_blink = False
        for text in commands:
            command.value = text
            await pilot.press("enter")
            await pilot.pause()
        await pilot.press(*last)
        await pilot.pause()

    return run


def test_the_first_screen(snap_compare: Compare, app: PlayApp) -> None:
    assert snap_compare(app, run_before=typing())


def test_a_refusal(snap_compare: Compare, app: PlayApp) -> None:
    assert snap_compare(app, run_before=typing("take robot", "force trunk"))


def test_a_wide_screen(snap_compare: Compare, app: PlayApp) -> None:
    run = typing("take robot", "fly", "wind robot", "force trunk")
    assert snap_compare(app, terminal_size=(120, 40), run_before=run)


def test_the_record_of_a_tick(snap_compare: Compare, app: PlayApp) -> None:
    assert snap_compare(app, run_before=typing("take robot", "wind robot", last=("f5", "enter")))


def test_the_help(snap_compare: Compare, app: PlayApp) -> None:
    assert snap_compare(app, run_before=typing(last=("f1",)))


def test_an_ending(snap_compare: Compare, app: PlayApp) -> None:
    assert snap_compare(app, run_before=typing("take robot", "wind robot", "wind robot"))
