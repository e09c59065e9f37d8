"""Finished parts of a long run in a file, from which the same command continues when interrupted.

A journal is lines of JSON (``tw-learn/1``): first the command and its inputs, then each finished
part in order. Each line is written and synced whole; a torn last line, of a process that was
killed, is cut off. A run reads finished parts instead of computing them again, and has the same
result.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from tokenworld import __version__
from tokenworld.diagnostics import Diagnostic, Failure, counted
from tokenworld.verbs.output import Output

FORMAT: Final = "tw-learn/1"
_HINT: Final = "Name another `--journal`, or remove this one to begin anew."


class Journal:
    """The journal of a run. Without a path nothing is kept."""

    def __init__(self, path: Path | None = None, about: Mapping[str, Any] | None = None) -> None:
        """``about`` tells the inputs; a journal of other ones is no journal of this run.

        Raises `Failure` (TW0001, TW1211) where the file cannot be used.
        """
        self._path, self._at = path, 0
        self._kept: list[dict[str, Any]] = []
        if path is None:
            return
        header = {"format": FORMAT, **(about or {})}
        lines = self._lines(path)
        if not lines:
            self._append(header)
        elif lines[0] != header:
            what = f"`{path}` is no journal of this command and these rows."
            raise Failure(Diagnostic("TW1211", what, hint=_HINT))
        self._kept = lines[1:]

    @classmethod
    def of(
        cls, path: Path | None, about: Mapping[str, Any], rows: Iterable[Path], out: Output
    ) -> Journal:
        """Open the journal of a command about these rows by this version; print how many parts it
        has."""
        found = cls(path, {"version": __version__, "rows": digest_of(rows), **about})
        if found._kept:
            out.note(f"resuming after {counted(len(found._kept), 'part')} of `{path}`")
        return found

    @property
    def keeps(self) -> bool:
        """Return whether parts are kept in a file."""
        return self._path is not None

    def once(self, kind: str, work: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
        """Return the next stored part, or run ``work`` and store its result."""
        if self._at < len(self._kept):
            found = self._kept[self._at]
            self._at += 1
            if found.get("kind") != kind:
                what = f"Part {self._at} of `{self._path}` is no `{kind}`."
                raise Failure(Diagnostic("TW1211", what, hint=_HINT))
            return found
        made = work()
        if self._path is not None:
            self._append({"kind": kind, **made})
        return made

    def finished(self) -> None:
        """Remove the file: the result is written."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)

    def _lines(self, path: Path) -> list[dict[str, Any]]:
        """Return the whole lines of the file, and cut off a torn one; none where it is missing."""
        try:
            data = path.read_bytes() if path.exists() else b""
            whole = data[: data.rfind(b"\n") + 1]
            if len(whole) < len(data):
                os.truncate(path, len(whole))
        except OSError as error:
            raise self._unusable(error) from None
        try:
            found = [json.loads(line) for line in whole.decode("utf-8").splitlines()]
        except (ValueError, RecursionError):
            found = [None]
        if not all(isinstance(one, dict) for one in found):
            what = f"`{path}` has lines that are no parts of a journal."
            raise Failure(Diagnostic("TW1211", what, hint=_HINT))
        return found

    def _append(self, event: Mapping[str, Any]) -> None:
        assert self._path is not None
        try:
            with self._path.open("ab") as file:
                file.write(f"{json.dumps(event)}\n".encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise self._unusable(error) from None

    def _unusable(self, error: OSError) -> Failure:
        what = f"`{self._path}` cannot be used: {error.strerror or error}."
        return Failure(Diagnostic("TW0001", what, hint="Name a file that can be written."))


def digest_of(paths: Iterable[Path]) -> str:
    """Return a hash of the contents of files, in their order (SHA-256, hexadecimal)."""
    found = hashlib.sha256()
    for path in paths:
        try:
            found.update(hashlib.sha256(path.read_bytes()).digest())
        except OSError as error:
            what = f"`{path}` cannot be read: {error.strerror or error}."
            hint = "Name files of recorded rows: `.jsonl`, or `.jsonl.gz`."
            raise Failure(Diagnostic("TW0001", what, hint=hint)) from None
    return found.hexdigest()
