"""Run ``tw play --web`` as a program, and its page without a browser."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyte
from aiohttp import ClientWebSocketResponse, WSMsgType

__all__ = ["CELLAR", "ROOT", "Screen", "Served", "program", "until"]

ROOT = Path(__file__).parents[2]
CELLAR = ROOT / "domains" / "cellar" / "world.tw"
_MAIN = "from tokenworld.cli import main; main()"
_LEFT = ("NO_COLOR", "TW_ASCII", "TEXTUAL_THEME", "TEXTUAL_ANIMATIONS", "TEXTUAL_DRIVER")


def program(*arguments: object) -> list[str]:
    return [sys.executable, "-c", _MAIN, *map(str, arguments)]


def environment(folder: Path, **also: str) -> dict[str, str]:
    """Environment variables without the settings of the user who runs the tests."""
    kept = {name: value for name, value in os.environ.items() if name not in _LEFT}
    return {**kept, "PYTHONPATH": str(ROOT), "TW_PLAY_SETTINGS": str(folder / "play.toml"), **also}


def until(holds: Callable[[], bool], seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


class Served:
    """A server that was started, and all processes of its session."""

    def __init__(self, folder: Path, world: object, *options: object, **also: str) -> None:
        self.store = folder / "runs.sqlite"
        self.errors = folder / "stderr.txt"
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                program("play", world, "--web", "--port", 0, "--store", self.store, *options),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=folder,
                env=environment(folder, **also),
                text=True,
                encoding="utf-8",
                start_new_session=True,  # Ctrl-C reaches the server alone: the harder case
            )
        assert self.process.stdout is not None
        self.first = self.process.stdout.readline()
        self.url = self.first.rpartition(" ")[2].strip()

    @property
    def socket(self) -> str:
        return self.url.replace("http", "ws", 1) + "ws"

    def games(self) -> set[int]:
        """The processes beside the server's own that belong to it and are alive."""
        found = set()
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == self.process.pid and fields[0] != "Z":
                found.add(int(stat.parent.name))
        return found - {self.process.pid}

    def interrupt(self) -> int:
        """Send Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(20)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for game in self.games():
            os.kill(game, signal.SIGKILL)
        assert self.process.stdout is not None
        self.process.stdout.close()


class Screen:
    """The text that a page would show: the bytes of its socket on a terminal emulator."""

    def __init__(self, socket: ClientWebSocketResponse, columns: int = 80) -> None:
        self.socket = socket
        self.screen = pyte.Screen(columns, 24)
        self._stream = pyte.ByteStream(self.screen)

    @property
    def text(self) -> str:
        return "\n".join(self.screen.display)

    async def type(self, keys: str) -> None:
        await self.socket.send_json(["stdin", keys])

    async def begun(self) -> str:
        """Read until every row is drawn, so that keys go to the command line, as on a page."""
        await self.socket.send_json(["focus"])
        return await self.until("The Cellar · tick 0", "You can (", "Type a command,", "^Q Quit")

    async def until(self, *parts: str, seconds: float = 30.0) -> str:
        """Read until these texts are on the screen."""
        end = time.monotonic() + seconds
        while not all(part in self.text for part in parts):
            message = await self.socket.receive(timeout=max(0.1, end - time.monotonic()))
            told = f"{parts} did not come:\n{self.text}"
            assert message.type in (WSMsgType.BINARY, WSMsgType.TEXT), told
            assert time.monotonic() < end, told
            if message.type == WSMsgType.BINARY:
                self._stream.feed(message.data)
        return self.text
