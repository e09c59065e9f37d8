"""Child processes with limits, each in a process group of its own, of which nothing is left."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

from tokenworld.diagnostics.frozen import frozen

__all__ = ["Ended", "answer_of", "kill", "limited", "run_child"]

_POLL = 0.02


@frozen
class Ended:
    """How a child ended: by itself with ``code``, or stopped. ``output`` is all that it wrote."""

    how: Literal["itself", "limit", "cancelled"]
    code: int
    output: str
    seconds: float

    def last_line(self) -> str:
        """What it said last, cut short."""
        said = [line.strip() for line in self.output.splitlines() if line.strip()]
        return said[-1][:160] if said else ""


def limited(command: Sequence[str], memory: int) -> list[str]:
    """The command under a limit of its address space, set before it starts.

    The shell sets the limit and becomes the program: code between fork and exec could deadlock
    where threads run, as they do behind a screen.
    """
    if os.name != "posix":
        return list(command)
    script = f'ulimit -v {memory >> 10} 2>/dev/null; exec "$@"'
    return ["/bin/sh", "-c", script, "sh", *command]


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with its group and wait for it."""
    if process.poll() is None:
        if os.name == "posix":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()


def answer_of(
    name: str, *arguments: str, seconds: float, given: str | None = None
) -> subprocess.CompletedProcess[str] | None:
    """What a small program on the path answers to ``given`` on its standard input.

    ``None`` where there is none, it does not start, or it takes longer than ``seconds``.
    """
    program = shutil.which(name)
    if program is None:
        return None
    command = [program, *arguments]
    try:
        return subprocess.run(
            command, input=given, capture_output=True, text=True, timeout=seconds, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def run_child(
    command: Sequence[str],
    folder: Path,
    *,
    seconds: float,
    stdin: Path | None = None,
    cancel: Callable[[], bool] = lambda: False,
) -> Ended:
    """Run a command in ``folder`` to its end, or stop it after ``seconds``.

    Raises `OSError` where it cannot be started.
    """
    log, began = folder / "child.log", time.monotonic()
    source = stdin if stdin is not None else Path(os.devnull)
    with source.open("rb") as given, log.open("wb") as written:
        process = subprocess.Popen(
            list(command),
            stdin=given,
            stdout=written,
            stderr=subprocess.STDOUT,
            cwd=folder,
            start_new_session=True,
        )
        try:
            how = _wait(process, began + seconds, cancel)
        finally:
            kill(process)
    output = log.read_text(encoding="utf-8", errors="replace")
    return Ended(how, process.returncode, output, time.monotonic() - began)


def _wait(
    process: subprocess.Popen[bytes], end: float, cancel: Callable[[], bool]
) -> Literal["itself", "limit", "cancelled"]:
    while process.poll() is None:
        if cancel():
            return "cancelled"
        if time.monotonic() >= end:
            return "limit"
        time.sleep(_POLL)
    return "itself"
