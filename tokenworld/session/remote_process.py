"""A player that is a child process: an observation on its standard input, a line on its output.

An observation ends with a line that holds ``>`` alone. What the player writes to its standard error
goes to ours. The process has a group of its own, of which nothing is left in the end.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress

from tokenworld.planning.planners.children import kill
from tokenworld.session.remote import LONGEST_REPLY, PlayerFailure

__all__ = ["ProcessChannel"]

_CHUNK = 65536
_LEAVING = 2.0
"""Seconds that a player has to end once it has closed its output."""
_HINT = "Try it by hand: it reads an observation up to a line `>`, and answers in one line."


class ProcessChannel:
    """The streams of a child process. ``seconds`` is how long one answer may take."""

    def __init__(self, command: Sequence[str], seconds: float) -> None:
        self._seconds, self._read = seconds, b""
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise PlayerFailure(f"`{command[0]}` does not start: {why.lower()}", _HINT) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)

    def ask(self, text: str) -> str | None:
        """Put a question and wait for a line; what came before it was asked is no answer."""
        deadline = time.monotonic() + self._seconds
        self._drop_unasked()
        if not self._write(f"{text}\n>\n".encode("utf-8", "backslashreplace"), deadline):
            self._gone()
            return None
        while b"\n" not in self._read:
            if len(self._read) > LONGEST_REPLY:
                raise self._flood()
            self._wait(self._from, selectors.EVENT_READ, deadline)
            chunk = self._take()
            if chunk == b"":
                self._gone()
                return None
        line, _, self._read = self._read.partition(b"\n")
        if len(line) > LONGEST_REPLY:
            raise self._flood()
        return line.decode("utf-8", "replace")

    def close(self) -> None:
        """Close its input, and end it with all that it started."""
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                assert stream is not None
                stream.close()
        kill(self._process)

    # ---- streams ----------------------------------------------------------------------------

    def _take(self) -> bytes | None:
        """What there is to read: ``None`` if nothing is, empty at the end of the stream."""
        try:
            chunk = os.read(self._from, _CHUNK)
        except BlockingIOError:
            return None
        self._read += chunk
        return chunk

    def _drop_unasked(self) -> None:
        while self._take():
            if len(self._read) > LONGEST_REPLY:
                raise self._flood()
        self._read = b""

    def _write(self, data: bytes, deadline: float) -> bool:
        """Send all of it; whether anybody was there to take it."""
        while data:
            try:
                sent = os.write(self._to, data)
            except BlockingIOError:
                self._wait(self._to, selectors.EVENT_WRITE, deadline)
                continue
            except BrokenPipeError:
                return False
            data = data[sent:]
        return True

    def _wait(self, stream: int, event: int, deadline: float) -> None:
        with selectors.DefaultSelector() as ready:
            ready.register(stream, event)
            if not ready.select(max(0.0, deadline - time.monotonic())):
                what = f"gave no answer within {self._seconds:g} seconds"
                raise PlayerFailure(what, "Give it more time with `--reply-timeout S`.")

    # ---- ends -------------------------------------------------------------------------------

    def _gone(self) -> None:
        """It left if it ended well; else it died."""
        try:
            code = self._process.wait(_LEAVING)
        except subprocess.TimeoutExpired:
            raise PlayerFailure("closed its output and went on running", _HINT) from None
        if code < 0:
            raise PlayerFailure(f"was killed by signal {-code}", _HINT)
        if code:
            raise PlayerFailure(f"ended with exit code {code}", _HINT)

    def _flood(self) -> PlayerFailure:
        return PlayerFailure(f"floods: more than {LONGEST_REPLY:,} bytes for one answer", _HINT)
