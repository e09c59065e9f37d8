"""A temporary file of rows: where a session puts its past away. It is gone with the process."""

from __future__ import annotations

import sqlite3
import threading

__all__ = ["Shelf"]

_TABLE = "CREATE TABLE moment (number INTEGER PRIMARY KEY, parent INTEGER, told BLOB, state BLOB)"


class Shelf:
    """Rows by number, each with that of the row it came of. Several threads may read it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._rows.execute("PRAGMA journal_mode = MEMORY")
        self._rows.execute(_TABLE)

    def put(self, number: int, parent: int, told: bytes, state: bytes | None) -> bool:
        """Keep a row; false where the disk is full."""
        row = (number, parent, told, state)
        with self._lock:
            try:
                self._rows.execute("INSERT INTO moment VALUES (?, ?, ?, ?)", row)
            except sqlite3.Error:
                return False
        return True

    def get(self, number: int) -> tuple[int, bytes, bytes | None]:
        """Parent, what was told, and the state, if it is kept."""
        query = "SELECT parent, told, state FROM moment WHERE number = ?"
        with self._lock:
            found: tuple[int, bytes, bytes | None] = self._rows.execute(query, (number,)).fetchone()
        return found
