"""The true program in a pseudo-terminal of 80 by 24: what a new user sees."""

from __future__ import annotations

import os
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pyte
import pytest

pytestmark = pytest.mark.terminal

CELLAR = Path(__file__).parents[2] / "domains" / "cellar" / "world.tw"
ROOT = Path(__file__).parents[2]
PROGRAM = """
from tokenworld.session import Session
from tokenworld.play import play
raise SystemExit(play(Session.open({world!r}, 7)))
"""


class Terminal:
    """A program behind a terminal emulator."""

    def __init__(
        self, program: str, log: BytesIO | None = None, width: int = 80, height: int = 24
    ) -> None:
        size = {"COLUMNS": str(width), "LINES": str(height)}  # they may be set for another one
        environment = {**os.environ, **size, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
        self.child = pexpect.spawn(
            sys.executable, ["-c", program], dimensions=(height, width), env=environment, timeout=20
        )
        self.child.logfile_read = log
        self._screen = pyte.Screen(width, height)
        self._stream = pyte.ByteStream(self._screen)

    @property
    def lines(self) -> list[str]:
        return list(self._screen.display)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def until(self, holds: Callable[[str], bool], seconds: float = 20.0) -> str:
        """Read until the screen is as wanted."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                self._stream.feed(self.child.read_nonblocking(65536, 0.1))
            except pexpect.TIMEOUT:
                pass
            except pexpect.EOF:
                break
            if holds(self.text):
                return self.text
        raise AssertionError(f"the screen did not become as wanted:\n{self.text}")


def first_frame(text: str) -> bool:
    """Whether every row is drawn: the title, all panes, the command line and the keys."""
    return all(part in text for part in ("playing", "You can (", "You carry", "^Q Quit"))


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    started = Terminal(PROGRAM.format(world=str(CELLAR)))
    yield started
    started.child.close(force=True)


def test_a_wrong_and_a_right_command_in_a_real_terminal(terminal: Terminal) -> None:
    prompt = "Type a command, or press F2"
    terminal.until(lambda text: first_frame(text) and prompt in text.split("\n")[22])
    assert terminal.lines[0].startswith(" The Cellar · tick 0 · score 0 · playing")

    terminal.child.send("open oak chest\r")
    told = ("✗ There is no oak chest here.", "✗ absent: here(c)", "world.tw:", "require")
    terminal.until(lambda text: all(part in text for part in told))
    assert "tick 0" in terminal.lines[0]

    terminal.child.send("take brass key\r")
    terminal.until(lambda text: "tick 1" in text.split("\n")[0] and "> take brass key" in text)

    terminal.child.send("\x11")
    text = terminal.until(lambda text: "Quit?" in text)
    assert "Traceback" not in text
    terminal.child.send("y")
    terminal.child.expect(pexpect.EOF)
    terminal.child.close()
    assert terminal.child.exitstatus == 0


def test_the_way_and_the_last_chance_in_a_real_terminal(terminal: Terminal) -> None:
    terminal.until(first_frame)
    terminal.child.send("\x1b[19~")  # F8
    told = ("The goal is 5 ticks away.", "No plan is shorter.", " 1. hero.at == vault")
    text = terminal.until(lambda text: all(part in text for part in told))
    terminal.child.send("\x1b[20~")  # F9
    text = terminal.until(lambda text: "The goal is still in reach." in text)
    assert "Traceback" not in text
    terminal.child.send("take brass key\r")  # keys go to the command line as before
    terminal.until(lambda text: "tick 1" in text.split("\n")[0])
    terminal.child.send("\x1b[19~")
    terminal.until(lambda text: "The goal is 4 ticks away." in text)


@pytest.mark.parametrize(("width", "height"), [(100, 30), (140, 40)])
def test_larger_terminals_are_filled_and_ctrl_f_goes_to_a_pane(width: int, height: int) -> None:
    terminal = Terminal(PROGRAM.format(world=str(CELLAR)), width=width, height=height)
    try:
        terminal.until(lambda text: first_frame(text) and "^Q Quit" in text.split("\n")[-1])
        terminal.child.send("\x06")
        terminal.until(lambda text: "Go to: w world" in text)
        terminal.child.send("a")  # the list of actions: Enter gives its first one
        terminal.until(lambda text: "Go to:" not in text)
        terminal.child.send("\r")
        terminal.until(lambda text: "tick 1" in text.split("\n")[0])
    finally:
        terminal.child.close(force=True)


# ---- how it ends --------------------------------------------------------------------------------

BUSY = """
import time
from tokenworld.play.model.game import Game
Game.undo = lambda game: time.sleep(600)
"""
NO_HANGUPS = "import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n"


def ended(terminal: Terminal, seconds: float = 15.0) -> int:
    """Read to the end of the program; its exit code, as a shell gives it."""
    with suppress(AssertionError):
        terminal.until(lambda _: not terminal.child.isalive(), seconds)
    assert not terminal.child.isalive(), "it goes on"
    number = terminal.child.signalstatus
    return int(terminal.child.exitstatus) if number is None else -int(number)


def shown_again(sent: bytes) -> bool:
    """Whether the last word on each mode of the terminal is the usual one."""
    off = (b"?1049", b"?1000", b"?1003", b"?1006", b"?2004", b"?1004")
    return sent.rfind(b"\x1b[?25h") > sent.rfind(b"\x1b[?25l") and all(
        sent.rfind(b"\x1b[%bl" % mode) > sent.rfind(b"\x1b[%bh" % mode) for mode in off
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("busy", [False, True])
def test_a_signal_gives_the_terminal_back(number: signal.Signals, busy: bool) -> None:
    log = BytesIO()
    started = Terminal((BUSY if busy else "") + PROGRAM.format(world=str(CELLAR)), log)
    before = termios.tcgetattr(started.child.child_fd)
    started.until(first_frame)
    assert termios.tcgetattr(started.child.child_fd) != before
    assert not shown_again(log.getvalue())
    if busy:
        started.child.send("\x1a")  # ^Z: undo, which never comes back
        time.sleep(0.5)
    started.child.kill(number)
    assert ended(started) == 128 + number
    assert shown_again(log.getvalue())
    assert b"Traceback" not in log.getvalue()
    assert termios.tcgetattr(started.child.child_fd) == before
    started.child.close()


@pytest.mark.parametrize("ignored", [False, True])
def test_a_game_ends_with_its_terminal(ignored: bool) -> None:
    started = Terminal((NO_HANGUPS if ignored else "") + PROGRAM.format(world=str(CELLAR)))
    started.until(first_frame)
    os.close(started.child.child_fd)
    end = time.monotonic() + 15
    while time.monotonic() < end:
        found, _ = os.waitpid(started.child.pid, os.WNOHANG)
        if found:
            return
        time.sleep(0.1)
    os.kill(started.child.pid, signal.SIGKILL)
    raise AssertionError("it goes on")
