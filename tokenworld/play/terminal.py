"""The terminal that a game is shown on: it is given back as it was, however the game ends."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
from contextlib import suppress
from threading import Thread, Timer
from types import FrameType
from typing import IO, Final

from textual.drivers.linux_driver import LinuxDriver

GRACE_SECONDS: Final = 4.0
"""Seconds that a game may take to end in order; then it is broken off, its terminal given back."""
_ENDING: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_RESTORED: Final = (
    b"\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"  # no mouse
    b"\x1b[?2004l\x1b[?2048l\x1b[?7h"  # no marked pastes, no reports of sizes; long lines wrap
    b"\x1b[<u\x1b[?1049l\x1b[?25h\x1b[?1004l"  # usual keys, screen and cursor; no reports of focus
)
"""The bytes that undo all that `LinuxDriver` asks of a terminal."""


class _Deaf:
    """A stream that accepts all output, also after its terminal was closed.

    Textual's writing thread would end with the first error, and the game wait for it forever.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._stream.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def fileno(self) -> int:
        return self._stream.fileno()


class TerminalDriver(LinuxDriver):
    """Ends the game at a signal, and if the terminal closes without one."""

    _begun = False

    def start_application_mode(self) -> None:
        """Begin to show the game, or continue after Ctrl+Z and `fg`."""
        if not self._begun:
            self._begun = True
            self._file = _Deaf(self._file)  # type: ignore[assignment, arg-type]
            for one in _ENDING:
                if signal.getsignal(one) is not signal.SIG_IGN:  # as under nohup
                    signal.signal(one, self._signalled)
            Thread(target=self._watch, name="terminal", daemon=True).start()
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        self._end(128 + number)

    def _watch(self) -> None:
        """Wait until the terminal is closed: then each read returns nothing."""
        waiting = select.poll()
        waiting.register(self.fileno, 0)
        waiting.poll()
        self._end(128 + signal.SIGHUP)

    def _end(self, code: int) -> None:
        """End in order; by force where that takes too long, as with the main thread at work."""
        timer = Timer(GRACE_SECONDS, self._break_off, [code])
        timer.daemon = True
        timer.start()
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(lambda: self._app.exit(return_code=code))

    def _break_off(self, code: int) -> None:
        with suppress(OSError, termios.error):
            os.write(sys.__stderr__.fileno(), _RESTORED)  # type: ignore[union-attr]
            if self.attrs_before is not None:
                termios.tcsetattr(self.fileno, termios.TCSANOW, self.attrs_before)
        os._exit(code)
