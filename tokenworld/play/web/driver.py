"""The driver of the screen in a page: that of textual-serve, but it never outlives its server."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import Final

from textual import messages
from textual.drivers.web_driver import WebDriver

GRACE_SECONDS: Final = 4.0
"""Seconds that a game may take to end; a running planner is stopped at once."""


class PageDriver(WebDriver):
    """Quits if the server asks for it, and if the server has ended.

    The run store is whole at every instant, so a game that does not end in time is broken off.
    """

    def write(self, data: str) -> None:
        """Show something, if anybody is there to see it."""
        with suppress(BrokenPipeError):
            super().write(data)

    def write_meta(self, data: dict[str, object]) -> None:
        """Tell the server something, if it is there."""
        with suppress(BrokenPipeError):
            super().write_meta(data)

    def run_input_thread(self) -> None:
        """Read until the game ends or the server's end of the pipe is closed."""
        super().run_input_thread()
        if not self.exit_event.is_set():
            _end_in_time()
            self._app.post_message(messages.ExitApp())

    def on_meta(self, packet_type: str, payload: dict[str, object]) -> None:
        """Handle messages of the server other than keys: the size of the page, its close, the
        end."""
        if packet_type == "quit":
            _end_in_time()
        super().on_meta(packet_type, payload)


def _end_in_time() -> None:
    timer = threading.Timer(GRACE_SECONDS, os._exit, [1])
    timer.daemon = True
    timer.start()
