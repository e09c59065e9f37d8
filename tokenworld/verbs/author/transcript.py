"""The transcript of a run, `tw-author/1`: one JSON object a line, written and synced one by one.

`tw author --replay` runs the loop again on the recorded answers and
compares every line. Events that come from outside (`response`, `search`) are taken from it, all
others are computed again and must be equal. An ``end`` with an external cause (Ctrl-C, a provider,
time) is repeated at the same place.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tokenworld.diagnostics import Diagnostic, Failure, decode_source, read_source
from tokenworld.verbs.output import unbroken

FORMAT: Final = "tw-author/1"
NAME: Final = "transcript.jsonl"
OUTSIDE: Final = ("cancelled", "provider_error", "time")
"""Ends whose cause is not in the transcript."""

Event = dict[str, Any]


class Outside(Exception):
    """Raised when an external cause ends the run; ``event`` is the recorded end, if any."""

    def __init__(self, event: Event) -> None:
        super().__init__(str(event.get("reason")))
        self.event = event


def unusable(message: str, hint: str) -> Failure:
    """Return TW1302: the failure for a transcript that cannot be used."""
    return Failure(Diagnostic("TW1302", message, hint=hint))


class Transcript:
    """Writes events after the ``recorded`` ones, with which it begins.

    New events go to ``path``; without it the run is a replay, which ends with the recorded
    events.
    """

    def __init__(self, path: Path | None, recorded: Sequence[str] = ()) -> None:
        self._path, self._recorded, self._at = path, tuple(recorded), 0
        self._ended = False
        self.last = ""
        """The kind of the last event."""

    @property
    def compared(self) -> int:
        """The number of events so far."""
        return self._at

    @property
    def exhausted(self) -> bool:
        """Return whether every recorded event was matched, so that new ones can follow."""
        return self._at >= len(self._recorded)

    def write(self, event: str, /, **fields: object) -> None:
        """Record an event, or compare it with the recorded one."""
        line = line_of({"event": event, **fields})
        if self._at < len(self._recorded):
            self._compare(event, line)
        elif self._path is None:
            raise Outside({"event": "end", "reason": "cut"})
        else:
            self._append(line, event)

    def fetch(
        self, event: str, live: Callable[[], Mapping[str, object]], fits: Callable[[Event], bool], /
    ) -> Event:
        """Return an external event: the recorded one if it ``fits``, else that of ``live``."""
        if self._at < len(self._recorded):
            found = read_line(self._recorded[self._at])
            if found.get("event") == event:
                if not fits(found):
                    message = f"Event {self._at + 1} of the transcript is no `{event}`."
                    raise unusable(message, "Name an unchanged transcript.")
                self._at, self.last = self._at + 1, event
                return found
            self._compare(event, line_of({"event": event}))
        if self._path is None:
            raise Outside({"event": "end", "reason": "cut"})
        made: Event = {"event": event, **live()}
        self._append(line_of(made), event)
        return made

    def _compare(self, event: str, line: str) -> None:
        wanted = self._recorded[self._at]
        if wanted != line:
            found = read_line(wanted)
            if not self._ended and found.get("event") == "end" and found.get("reason") in OUTSIDE:
                self._ended = True
                raise Outside(found)
            raise unusable(
                f"Event {self._at + 1} of the transcript is `{_short(wanted)}`; the replay comes "
                f"to `{_short(line)}`.",
                "Replay it with the version that recorded it; a changed transcript proves nothing.",
            )
        self._at, self.last = self._at + 1, event

    def _append(self, line: str, event: str) -> None:
        assert self._path is not None
        with unbroken():
            try:
                with self._path.open("ab") as file:
                    file.write(f"{line}\n".encode("utf-8", "backslashreplace"))
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                message = f"`{self._path}` cannot be written: {error.strerror or error}."
                hint = "Name a folder that can be written with `-o`."
                raise Failure(Diagnostic("TW0001", message, hint=hint)) from None
            self._at, self.last = self._at + 1, event


def _short(line: str) -> str:
    return line if len(line) <= 120 else f"{line[:119]}…"


def line_of(event: Mapping[str, object]) -> str:
    """Return the line of an event."""
    return json.dumps(event, ensure_ascii=False, sort_keys=True)


def read_line(line: str) -> Event:
    """Return the event of a line; raises `Failure` (TW1302) if there is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise unusable(f"`{_short(line)}` is no event of a transcript.", "Name an unchanged one.")
    return found


def recorded_lines(run: Path) -> list[str]:
    """Return the events of a transcript, or of a folder with one; a torn last line is left out.

    Raises `Failure` (TW0001, TW1302) if there is none, or one of another version.
    """
    path = run / NAME if run.is_dir() else run
    try:
        data = path.read_bytes()
    except (OSError, ValueError):
        data = read_source(path).text.encode()  # it says why there is none
    lines = decode_source(data[: data.rfind(b"\n") + 1], str(path)).text.split("\n")[:-1]
    header = read_line(lines[0]) if lines else {}
    if header.get("format") != FORMAT:
        found = header.get("format")
        what = f"is a transcript `{found}`" if found else "has no header of a transcript"
        raise unusable(f"`{path}` {what}, and `{FORMAT}` can be read.", "Name another run.")
    return lines


def without_end(lines: Sequence[str]) -> list[str]:
    """Return the lines without an end by an external cause, after which a run can continue.

    Raises `Failure` (TW0006) if the run ended by itself.
    """
    last = read_line(lines[-1])
    if last.get("event") != "end":
        return list(lines)
    if last.get("reason") in OUTSIDE:
        return list(lines[:-1])
    message = f"The run has ended ({last.get('reason')}): there is nothing to go on with."
    raise Failure(Diagnostic("TW0006", message, hint="Begin a new run in another folder."))
