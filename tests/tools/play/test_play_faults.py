"""What a terminal can do to the screen: paste a flood, close within a tick, stand still."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from textual import events

from tests.tools.play.conftest import WORLDS
from tests.tools.play.piloting import enter, palette, screen_text, until
from tokenworld.play.screens.app import PlayApp, Settings
from tokenworld.play.widgets.actions import CommandLine
from tokenworld.session.replaying import replay_run, resumed
from tokenworld.store.check import verify_chain
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, list_runs
from tokenworld.verbs.output import UNICODE


async def test_pasted_lines_are_given_one_by_one_with_a_count(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        command = app.screen.query_one(CommandLine)
        command.post_message(events.Paste("take robot\n\nwind robot\nlook\n"))
        await until(pilot, lambda: command.value == "take robot")
        await pilot.press("enter")
        await until(pilot, lambda: command.value == "wind robot")
        assert "+1> wind robot" in screen_text(app)
        await pilot.press("enter")
        await until(pilot, lambda: command.value == "look")
        assert [one.asked for one in app.game.session.moments[1:]] == ["take robot", "wind robot"]
        command.post_message(events.Paste("x\ny"))
        await until(pilot, lambda: bool(command.waiting))
        await pilot.press("escape")
        assert (command.value, command.waiting) == ("", [])


async def test_ten_thousand_pasted_lines_leave_one(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        command = app.screen.query_one(CommandLine)
        flood = "\n".join(["", "take robot", *["wind robot"] * 9_998])
        began = time.process_time()
        command.post_message(events.Paste(flood))
        await until(pilot, lambda: "10,000 pasted lines" in app.game.entries[-1].text)
        assert time.process_time() - began < 20
        assert command.value == "take robot"
        assert len(app.game.session.moments) == 1
        await pilot.press("enter")
        await pilot.pause()
        assert app.game.session.moments[-1].asked == "take robot"


async def test_a_pasted_line_without_an_end_is_cut(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        command = app.screen.query_one(CommandLine)
        command.post_message(events.Paste("x" * 5_000_000))
        await until(pilot, lambda: len(command.value) == 1000)
        command.post_message(events.Paste("y" * 10))
        await pilot.pause()
        assert command.value == "x" * 1000
        await pilot.press("enter")
        await pilot.pause()
        assert app.game.session.moments[-1].outcomes[-1].status == "no_match"


async def test_one_pasted_line_says_nothing(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        app.screen.query_one(CommandLine).post_message(events.Paste("take robot\n"))
        await pilot.pause()
        assert app.screen.query_one(CommandLine).value == "take robot"
        assert app.game.entries[-1].kind == "welcome"


async def test_nothing_moves_where_motion_is_reduced(app: PlayApp) -> None:
    session = app.game.session
    still = PlayApp(session, glyphs=UNICODE, settings=Settings(reduced_motion=True))
    async with still.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert still.animation_level == "none"
        assert not still.screen.query_one(CommandLine).cursor_blink
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert app.screen.query_one(CommandLine).cursor_blink


async def test_the_last_command_and_all_play_can_be_copied(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        for what, copied in (
            ("command", ""), ("take", ""), ("command", "take(robot)"), ("plan", "take(robot)"),
            ("test", "when take(robot)  then status executed"), ("script", "take robot"),
        ):  # fmt: skip
            if what == "take":
                await enter(pilot, "take robot")
                continue
            await palette(pilot, f"copy as {what}", f"export: copy as {what}")
            await pilot.press("down", "enter")
            await pilot.pause()
            assert copied in app.clipboard
        assert app.game.entries[-1].text.startswith("Copied as script")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a pseudo-terminal")
@pytest.mark.parametrize("after", [6, 12])
def test_a_terminal_that_closes_in_the_middle_leaves_a_sound_log(
    tmp_path: Path, after: int
) -> None:
    """The play goes on in a real terminal; it is closed while commands come in."""
    path = tmp_path / "runs.sqlite"
    master, slave = pty.openpty()
    program = "from tokenworld.cli import main; main()"
    world = str(WORLDS / "attic.tw")
    process = subprocess.Popen(
        [sys.executable, "-c", program, "play", world, "--store", str(path)],
        stdin=slave, stdout=slave, stderr=slave, cwd=tmp_path, start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", "LINES": "24"},
        preexec_fn=_terminal,
    )  # fmt: skip
    os.close(slave)
    try:
        _play_until(master, path, after)
        os.close(master)
        process.wait(20)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            process.wait(10)
    with RunStore.open(path) as store:
        (run,) = list_runs(store)
        assert run.ticks >= after
        assert verify_chain(store, run).ok
        assert replay_run(store, run, verify=True).ok
        if run.ending is None:
            session = resumed(store, run)
            session.intend("look")
            assert find_run(store, run.slug).ticks == run.ticks + 1


def _terminal() -> None:
    """Make the pseudo-terminal the one that the process belongs to."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may ignore it


def _play_until(master: int, path: Path, ticks: int) -> None:
    """Type without waiting for answers, as somebody in a hurry, until so much is stored."""
    import select

    end, shown, typed = time.monotonic() + 240, b"", 0.0
    while time.monotonic() < end:
        ready, _, _ = select.select([master], [], [], 0.05)
        if ready:
            shown = shown[-6_000:] + os.read(master, 65_536)
        if path.exists() and time.monotonic() - typed > 0.2:
            typed = time.monotonic()
            # no part of these words ends the game: a full terminal drops what is typed
            os.write(master, b"look\rwind x\r")
            if _stored(path) >= ticks:
                return
    raise AssertionError(f"the play did not come so far; on the screen: {shown!r}")


def _stored(path: Path) -> int:
    from tokenworld.diagnostics import Failure

    try:
        with RunStore.open(path, writable=False) as store:
            return sum(run.ticks for run in list_runs(store))
    except Failure:
        return 0
