"""A tick is whole: Ctrl-C during one waits for its end, so what is told is what was stored.

Without this an interruption can fall between the record's commit in the run store and the session's
own count of it; the last line would then tell fewer records than the log holds.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["unbroken"]


@contextmanager
def unbroken() -> Iterator[None]:
    """Hold back the first Ctrl-C until the block has ended; the second one breaks it at once.

    Raises:
        KeyboardInterrupt: at the end of the block where one came, or inside it at the second.

    """
    usual = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(usual):
        yield  # signals reach the main thread only; one that is ignored stays ignored
        return
    held = 0

    def hold(number: int, frame: FrameType | None) -> None:
        nonlocal held
        held += 1
        if held > 1:
            usual(number, frame)

    signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if held:
        raise KeyboardInterrupt
