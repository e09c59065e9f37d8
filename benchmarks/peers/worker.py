"""One side of a measurement: a process that answers requests in JSON lines."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.peers.environments import Environment

__all__ = ["PeerError", "Worker", "cpu_seconds"]

_ADAPTERS = Path(__file__).parent / "adapters"


class PeerError(Exception):
    """A side crashed, answered with an error or took too long; the message says which."""


class Worker:
    """A running adapter. Use it as a context manager: the process ends with the block."""

    def __init__(self, environment: Environment, adapter: str, seconds: float) -> None:
        self._adapter, self._seconds = adapter, seconds
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the process)
        self._process = subprocess.Popen(
            [str(environment.python), str(_ADAPTERS / f"{adapter}.py")],
            env=environment.variables(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            with suppress(OSError):  # what was still to be written has no reader
                if pipe is not None:
                    pipe.close()

    @property
    def alive(self) -> bool:
        """Whether it can answer further requests."""
        return self._process.poll() is None

    def ask(self, op: str, **args: Any) -> dict[str, Any]:
        """The answer to one request. Raises `PeerError` if there is none."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps({"op": op, "args": args}) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise PeerError(self._ended()) from None
        self._wait_for_answer()
        line = self._process.stdout.readline()
        if not line:
            raise PeerError(self._ended())
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise PeerError(str(answer["error"]).splitlines()[0])
        return answer

    def _wait_for_answer(self) -> None:
        """The limit is in CPU seconds, so that load does not matter; and ten times as long by the
        clock, for a process that only waits."""
        began, clock = cpu_seconds(self._process.pid), time.monotonic()
        while not select.select([self._process.stdout], [], [], 0.2)[0]:
            spent, passed = cpu_seconds(self._process.pid), time.monotonic() - clock
            used = passed if spent is None or began is None else spent - began
            if used > self._seconds or passed > 10 * self._seconds:
                self._process.kill()
                self._process.wait()
                raise PeerError(f"no answer within {self._seconds:g} s of CPU time")

    def _ended(self) -> str:
        self._process.wait()
        self._log.seek(0)
        lines = self._log.read().decode(errors="replace").splitlines()
        return lines[-1] if lines else f"it ended with code {self._process.returncode}"


def cpu_seconds(process: int) -> float | None:
    """The CPU seconds of a process and its ended children; ``None`` if the system does not say."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return None
    ticks = text.rpartition(")")[2].split()[11:15]
    return sum(map(int, ticks)) / float(os.sysconf("SC_CLK_TCK"))
