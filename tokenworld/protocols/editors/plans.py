"""Plans of worlds under edit, made by `tw plan` in a process of its own, one at a time.

Plans are made for the file on disk; an unsaved text gets none.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from tokenworld.diagnostics import Failure, counted, read_source
from tokenworld.protocols.editors.book import Snapshot

_PROGRAM: Final = "from tokenworld.cli import main; main()"
_MEGABYTES: Final = 2_000
_COMMAND_SECONDS: Final = 60.0


@dataclass(slots=True)
class Plans:
    """The answers by text and world, and the task that computes the next ones.

    ``seconds`` limit each world; 0 makes only the plans that are asked for.
    """

    seconds: float = 5.0
    _known: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)
    _tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _one: asyncio.Lock = field(default_factory=asyncio.Lock)

    def answers(self, uri: str) -> Mapping[str, str]:
        """Return the known answers for the worlds of a text, such as `winnable in 5 ticks`."""
        return self._known.get(uri, ("", {}))[1]

    def start(self, uri: str, found: Snapshot, then: Callable[[], None]) -> None:
        """Plan the worlds of a checked text again, if its rules have changed."""
        program = found.checked.program
        digest = "" if program is None else program.digest
        if digest == self._known.get(uri, ("", {}))[0]:
            return
        running = self._tasks.pop(uri, None)
        if running is not None:
            running.cancel()
        self._known[uri] = (digest, {})
        if program is None or self.seconds <= 0 or not _on_disk(found):
            self._known[uri] = ("", {})
            return
        worlds = [name for name, world in program.worlds.items() if world.goals]
        self._tasks[uri] = asyncio.create_task(self._plan(uri, found, worlds, then))

    def stop(self) -> None:
        """End every plan."""
        for task in self._tasks.values():
            task.cancel()

    async def _plan(
        self, uri: str, found: Snapshot, worlds: list[str], then: Callable[[], None]
    ) -> None:
        for world in worlds:
            said = await self._answer("plan", f"{found.source.path}:{world}", self.seconds)
            self._known[uri][1][world] = _planned(said)
            then()

    async def run(self, verb: str, target: str) -> str:
        """Run a verb on request, and return its answer as one line."""
        said = await self._answer(verb, target, _COMMAND_SECONDS)
        if verb == "plan":
            return f"{target}: {_planned(said)}"
        passed, failed = said.get("passed"), said.get("failed")
        return f"{target}: {passed} passed, {failed} failed"

    async def _answer(self, verb: str, target: str, seconds: float) -> dict[str, object]:
        """Return the JSON answer of a verb; empty if it gave none."""
        limits = ["--time-limit", str(seconds)]
        if verb == "plan":
            limits += ["--memory-limit", str(_MEGABYTES)]
        async with self._one:
            child = await asyncio.create_subprocess_exec(
                sys.executable, "-X", "utf8", "-c", _PROGRAM, verb, target, *limits, "--json",
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )  # fmt: skip
            try:
                said, _ = await child.communicate()
            finally:
                if child.returncode is None:
                    child.terminate()
        try:
            answer = json.loads(said)
        except ValueError:
            return {}
        return answer if isinstance(answer, dict) else {}


def _on_disk(found: Snapshot) -> bool:
    """Return whether every text of a check is that of its file."""
    for source in found.checked.sources:
        try:
            if source.path is None or read_source(source.path).text != source.text:
                return False
        except Failure:
            return False
    return True


def _planned(said: dict[str, object]) -> str:
    """Return the answer of `tw plan` in a few words."""
    answer, ticks = said.get("answer"), said.get("ticks")
    if answer == "winnable" and isinstance(ticks, int):
        return f"winnable in {counted(ticks, 'tick')}"
    return str(answer) if answer in ("winnable", "unwinnable", "unknown") else "no verdict"
