"""Run a verb in a child process, report its progress, and end it when the call is cancelled."""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Any, Final

import anyio
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

from tokenworld.diagnostics import in_seconds
from tokenworld.protocols.agents.working import Work

_GRACE: Final = 5.0
"""Seconds that a child may take beyond its limit, to start and to print its partial result."""
_LONGEST: Final = 2_000
"""Characters of the end of stderr that are kept, for a child that ends without an answer."""

Progress = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Answer:
    """The exit code of a verb, its text for readers, and its JSON.

    ``failed``: the input could not be used; the text then is its diagnostics.
    """

    code: int
    text: str
    found: dict[str, Any]
    failed: bool = False


async def ask(work: Work, folder: Path, progress: Progress) -> Answer:
    """Return the answer of a verb that runs in ``folder``; cancelling the waiting task ends it."""
    process = await anyio.open_process(
        [sys.executable, "-P", "-m", "tokenworld.protocols.agents.working"],
        stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=folder, start_new_session=True,
    )  # fmt: skip
    try:
        with anyio.move_on_after(work.seconds + _GRACE):
            return await _answered(process, work, progress)
        return _failed(f"There was no answer within {in_seconds(work.seconds)}.")
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)


async def _answered(process: Process, work: Work, progress: Progress) -> Answer:
    """Send the work to the child, report its progress, and read its answer."""
    told: list[str] = []
    assert process.stdin is not None
    assert process.stdout is not None
    stdout = process.stdout
    chunks: list[bytes] = []

    async def read() -> None:
        async for chunk in stdout:
            chunks.append(chunk)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_listen, process, progress, told)
        tasks.start_soon(read)
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.send(pickle.dumps(work))
        await process.stdin.aclose()
    await process.wait()
    return _answer(b"".join(chunks), "".join(told))


def _answer(data: bytes, told: str) -> Answer:
    try:
        return Answer(**json.loads(data))
    except ValueError:
        last = told.strip().rpartition("\n")[2]
        return _failed(f"The verb ended without an answer: {last or 'it was stopped'}.")


def _failed(text: str) -> Answer:
    return Answer(3, text, {}, failed=True)


async def _listen(process: Process, progress: Progress, told: list[str]) -> None:
    """Pass progress lines to ``progress``; keep the last characters of stderr in ``told``."""
    assert process.stderr is not None
    rest = ""
    async for chunk in TextReceiveStream(process.stderr, errors="replace"):
        *lines, rest = (rest + chunk).split("\n")
        for line in lines:
            if line.startswith("· "):
                await progress(line.removeprefix("· "))
        told[:] = ["".join((*told, chunk))[-_LONGEST:]]


async def _end(process: Process) -> None:
    """End the child and all processes that it started; ask it to end first."""
    if process.returncode is None:
        _signal(process, signal.SIGTERM)
        with anyio.move_on_after(1):
            await process.wait()
    _signal(process, getattr(signal, "SIGKILL", signal.SIGTERM))
    await process.wait()
    await process.aclose()


def _signal(process: Process, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, number)
        else:
            process.send_signal(signal.Signals(number))
