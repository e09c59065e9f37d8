"""Every way a run store can be bad, as one diagnostic each."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tokenworld.diagnostics import Diagnostic, Failure

__all__ = ["failure_of", "newer", "nothing_recorded", "unreadable", "unwritable"]

_ELSEWHERE = "Name another file with `--store FILE`."
_MOVE_AWAY = "Move the file away or restore a copy of it, or name another with `--store FILE`."
# The error code is the lower byte; the upper ones only refine it.
_PRIMARY = 0xFF
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_CLOSED_TO_US = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)


def unreadable(path: Path, why: str, hint: str = _MOVE_AWAY) -> Failure:
    """TW1101: the file is there and cannot be a run store, or is damaged."""
    message = f"The run store `{path}` cannot be read: {why}."
    return Failure(Diagnostic("TW1101", message, hint=hint))


def unwritable(path: Path, why: str, hint: str = _ELSEWHERE) -> Failure:
    """TW1102: nothing was stored, and what was stored before is unharmed."""
    message = f"The run store `{path}` cannot be written: {why}."
    return Failure(Diagnostic("TW1102", message, hint=hint))


def newer(path: Path, schema: int, known: int) -> Failure:
    """TW1103: a later version wrote the file; it is left as it is."""
    message = f"The run store `{path}` has schema {schema}; this version knows up to {known}."
    hint = "Update with `pip install --upgrade token-world`, or name another with `--store FILE`."
    return Failure(Diagnostic("TW1103", message, hint=hint))


def nothing_recorded(path: Path) -> Failure:
    """TW1104: there is no run at all, be it that the file is missing."""
    hint = "Record one with `tw run WORLD`, or name another store with `--store FILE`."
    return Failure(Diagnostic("TW1104", f"No run is recorded in `{path}`.", hint=hint))


def failure_of(error: sqlite3.Error, path: Path, *, writing: bool) -> Failure:
    """The one diagnostic of an error of the database layer."""
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & _PRIMARY
    if primary == sqlite3.SQLITE_NOTADB:
        return unreadable(path, "it is not a database")
    if primary == sqlite3.SQLITE_CORRUPT:
        return unreadable(path, f"it is damaged ({error})")
    if primary in _BUSY:
        hint = "Wait until the other process has finished, or name another with `--store FILE`."
        return unwritable(path, "another process is writing to it", hint)
    if primary == sqlite3.SQLITE_FULL:
        hint = "Free some space; everything before this record is stored."
        return unwritable(path, "the disk is full", hint)
    if primary in _CLOSED_TO_US:
        hint = "Make the file and its folder writable, or name another with `--store FILE`."
        return unwritable(path, "it is read-only", hint)
    if primary == sqlite3.SQLITE_CONSTRAINT:
        hint = "Report this as a defect: the record contradicts itself or the log."
        return unwritable(path, f"the record breaks a law of the log ({error})", hint)
    return unwritable(path, str(error)) if writing else unreadable(path, str(error))
