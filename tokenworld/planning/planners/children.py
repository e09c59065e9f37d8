"""Child processes with limits, each in a process group of its own, which is killed as a whole.

The end of the parent, by whatever signal, ends the group: a small shell in it waits for the end of
a pipe that the parent holds, and then kills the group. `PddlTexts` runs a planner on the two texts
of a PDDL task in a folder of its own.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Literal

from tokenworld.diagnostics.frozen import frozen
from tokenworld.limits import count_child, forget_child, room

_POLL = 0.02


_POSIX = os.name == "posix"


_GUARD = "( (read line </dev/fd/{} || kill -KILL 0) </dev/null >/dev/null 2>&1 & );"
"""Waits for the end of a pipe and kills its own group then; it is no child of the program."""


@frozen
class Ended:
    """The end of a child: by itself with ``code``, or stopped. ``output`` is all that it wrote."""

    how: Literal["itself", "limit", "cancelled"]
    code: int
    output: str
    seconds: float

    def last_line(self) -> str:
        """The last line of its output, cut short."""
        said = [line.strip() for line in self.output.splitlines() if line.strip()]
        return said[-1][:160] if said else ""


class Child:
    """A process in a group of its own, which ends with us at the latest.

    ``memory`` bounds its address space in bytes; ``streams`` are its standard streams, as
    `subprocess.Popen` takes them. Raises `OSError` where it cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        memory: int | None = None,
        folder: Path | None = None,
        **streams: IO[bytes] | int,
    ) -> None:
        watched, held = os.pipe()
        self._held = os.fdopen(held, "wb")  # closed when this object is lost, too
        try:
            self.process: subprocess.Popen[bytes] = subprocess.Popen(
                _guarded(command, watched, memory),
                cwd=folder,
                start_new_session=True,
                pass_fds=(watched,) if _POSIX else (),
                **streams,  # type: ignore[call-overload]  # only streams are among them
            )
        finally:
            os.close(watched)
        count_child(self.process.pid)

    def kill(self) -> None:
        """Kill it with its group, wait for it, and close its pipes."""
        process = self.process
        if _POSIX:  # the guard is in the group, so that its number is no other's yet
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
        for stream in (self._held, process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with suppress(OSError):  # the rest of the output has no reader
                    stream.close()
        forget_child(process.pid)


def require_program(name: str) -> None:
    """Raise `OSError` if there is no such program; the shell that starts it would not report
    that."""
    if shutil.which(name) is None:
        number = errno.EACCES if Path(name).exists() else errno.ENOENT
        raise OSError(number, os.strerror(number), name)


def _guarded(command: Sequence[str], watched: int, memory: int | None) -> list[str]:
    """The command under its limit and with its guard, both there before it starts.

    The shell sets both and then executes the program: Python code between fork and exec could
    deadlock if other threads run, as they do in `tw play`.
    """
    if not _POSIX:
        return list(command)
    limit = "" if memory is None else f"ulimit -v {room(memory) >> 10} 2>/dev/null; "
    script = f'{_GUARD.format(watched)} {limit}exec "$@"'
    return ["/bin/sh", "-c", script, "sh", *command]


def answer_of(name: str, *arguments: str, seconds: float, given: str | None = None) -> Ended | None:
    """The output of a small program on the path for ``given`` on its standard input.

    ``None`` where there is none, it does not start, or it takes longer than ``seconds``.
    """
    try:
        require_program(name)
        child = Child(
            [name, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
    except OSError:
        return None
    try:
        said, complained = child.process.communicate((given or "").encode(), timeout=seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        child.kill()
    output = (said or complained).decode("utf-8", "replace")
    return Ended("itself", child.process.returncode, output, 0.0)


def run_child(
    command: Sequence[str],
    folder: Path,
    *,
    seconds: float,
    memory: int | None = None,
    stdin: Path | None = None,
    cancel: Callable[[], bool] = lambda: False,
) -> Ended:
    """Run a command in ``folder`` to its end, or stop it after ``seconds``.

    Raises `OSError` where it cannot be started.
    """
    log, began = folder / "child.log", time.monotonic()
    source = stdin if stdin is not None else Path(os.devnull)
    with source.open("rb") as given, log.open("wb") as written:
        child = Child(
            command, memory=memory, folder=folder, stdin=given, stdout=written,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            how = _wait(child.process, began + seconds, cancel)
        finally:
            child.kill()
    output = log.read_text(encoding="utf-8", errors="replace")
    return Ended(how, child.process.returncode, output, time.monotonic() - began)


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


@dataclass(frozen=True)
class PddlTexts:
    """A domain and a problem as a planner gets them: ``domain.pddl`` and ``problem.pddl``."""

    domain: str
    problem: str

    @property
    def digest(self) -> str:
        """SHA-256 of both texts, in hexadecimal."""
        return sha256(f"{self.domain}\n{self.problem}".encode()).hexdigest()

    def run(
        self,
        command: Sequence[str],
        written: str,
        *,
        seconds: float,
        memory: int | None = None,
        cancel: Callable[[], bool] = lambda: False,
    ) -> tuple[Ended, str | None]:
        """Run a command beside the two files; returns its end and the text of ``written``.

        ``None`` where it was stopped or wrote no such file. Raises `OSError` where it cannot be
        started.
        """
        with tempfile.TemporaryDirectory(prefix="tokenworld-") as name:
            folder = Path(name)
            (folder / "domain.pddl").write_text(self.domain, encoding="utf-8")
            (folder / "problem.pddl").write_text(self.problem, encoding="utf-8")
            ended = run_child(command, folder, seconds=seconds, memory=memory, cancel=cancel)
            file = folder / written
            if ended.how != "itself" or not file.is_file():
                return ended, None
            return ended, file.read_text(encoding="utf-8", errors="replace")
