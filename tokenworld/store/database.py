"""Opening a run store, and the one way to read it and to change it.

Durability: the log is in WAL mode with ``synchronous = NORMAL``. A commit has left the process
when it returns, so `kill -9` loses nothing; a power cut may lose the latest commits, but always
leaves a gapless prefix. Finishing a run commits with ``FULL``, which waits for the disk.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from tokenworld.store.faults import failure_of, newer, nothing_recorded, unreadable, unwritable
from tokenworld.store.schema import APPLICATION_ID, DDL, SCHEMA_VERSION, UPGRADES

__all__ = ["DEFAULT_PATH", "Database", "default_path"]

DEFAULT_PATH = Path(".tw", "runs.sqlite")
_EARLIER_PATH = Path(".tokenworld", "runs.sqlite")
BUSY_SECONDS = 5.0
_RETRY_SECONDS = 0.02
_HEADER_BYTES = 100  # of an SQLite file
# What SQLite answers where a WAL database lies in a folder that is closed to us.
_NO_PLACE_FOR_A_LOG = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


def default_path() -> Path:
    """The one store of the project at hand: beside `domains`, here or in a folder above, else here.

    A store of an earlier version, which lies elsewhere, stays in use where there is no other.
    """
    here = Path.cwd()
    homes = (folder for folder in (here, *here.parents) if (folder / "domains").is_dir())
    home = next(homes, here)
    found = DEFAULT_PATH if home == here else home / DEFAULT_PATH
    earlier = _EARLIER_PATH.is_file() and not found.exists()
    return _EARLIER_PATH if earlier else found


class Database:
    """An open run store file. Use it in `with`, or call `close`."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self.connection = connection

    @classmethod
    def open(
        cls,
        path: Path | str | None = None,
        *,
        writable: bool = True,
        busy_seconds: float = BUSY_SECONDS,
    ) -> Self:
        """Open the store at `path` (`default_path` if None), making it where it is missing.

        With ``writable=False`` nothing is made or changed, and a store in a read-only folder can
        be read. Raises `Failure` with one diagnostic: TW1101 not a run store, or damaged; TW1102
        not writable, or held by another process for `busy_seconds`; TW1103 newer schema; TW1104
        nothing to read there.
        """
        path = default_path() if path is None else Path(path)
        _look_at(path, writable)
        connection = _connect(path, writable, busy_seconds)
        database = cls(path, connection)
        try:
            database._prepare(writable, busy_seconds)
        except BaseException:
            connection.close()
            raise
        return database

    def close(self) -> None:
        """Give the file back; what was committed stays whatever happens here."""
        with self._diagnosed(writing=True):
            self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, for queries; whatever goes wrong becomes a `Failure`."""
        with self._diagnosed(writing=False):
            yield self.connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All changes of the block, committed at its end, or none of them (Ctrl-C included)."""
        with self._diagnosed(writing=True):
            self._roll_back()
            try:
                # IMMEDIATE: wait for other writers here, so that no later statement can fail so.
                self.connection.execute("BEGIN IMMEDIATE")
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    @contextmanager
    def waiting_for_the_disk(self) -> Iterator[None]:
        """Commits inside return only when the disk has them."""
        with self._diagnosed(writing=True):
            self.connection.execute("PRAGMA synchronous = FULL")
            try:
                yield
            finally:
                self.connection.execute("PRAGMA synchronous = NORMAL")

    def _roll_back(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    @contextmanager
    def _diagnosed(self, *, writing: bool) -> Iterator[None]:
        try:
            yield
        except sqlite3.ProgrammingError:
            raise  # a closed store or a foreign thread: the caller's defect, not bad input
        except sqlite3.Error as error:
            raise failure_of(error, self.path, writing=writing) from error

    def _prepare(self, writable: bool, busy_seconds: float) -> None:
        """Check that the file is ours before anything in it is changed, then set it up."""
        with self._diagnosed(writing=False):
            self.connection.execute("PRAGMA foreign_keys = ON")
            version = self._version()
        if not writable:
            if version == 0:
                raise nothing_recorded(self.path)
            return
        with self._diagnosed(writing=True):
            self._log_ahead(busy_seconds)
            self.connection.execute("PRAGMA synchronous = NORMAL")
        with self.transaction() as connection:  # fails early where the file is read-only
            found = self._version()
            for statement in DDL if found == 0 else ():
                connection.execute(statement)
            if 0 < found < SCHEMA_VERSION:
                _upgrade(connection, found)

    def _version(self) -> int:
        """The schema number; 0 for an empty file. Fails for another program's database."""
        (version,) = self.connection.execute("PRAGMA user_version").fetchone()
        (application,) = self.connection.execute("PRAGMA application_id").fetchone()
        (tables,) = self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application == APPLICATION_ID and version > SCHEMA_VERSION:
            raise newer(self.path, version, SCHEMA_VERSION)
        if application != APPLICATION_ID and (tables or version or application):
            raise unreadable(self.path, "it is a database of another program")
        if application == APPLICATION_ID and not (tables and version):
            raise unreadable(self.path, "it has no tables")
        return int(version)

    def _log_ahead(self, busy_seconds: float) -> None:
        """Turn WAL on once. SQLite does not wait for other processes here, so this does."""
        if self.connection.execute("PRAGMA journal_mode").fetchone() == ("wal",):
            return
        for last in (*(False,) * int(busy_seconds / _RETRY_SECONDS), True):
            try:
                self.connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if last or error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    raise
            time.sleep(_RETRY_SECONDS)


def _look_at(path: Path, writable: bool) -> None:
    """Find what can be found without opening: folders, devices, missing files and folders."""
    try:
        exists = path.exists()
        if exists and not path.is_file():
            kind = "folder" if path.is_dir() else "device or pipe"
            raise unreadable(path, f"it is a {kind}", "Name a file with `--store FILE`.")
        if not writable and not exists:
            raise nothing_recorded(path)
        if exists and 0 < path.stat().st_size < _HEADER_BYTES:
            raise unreadable(path, "it is not a database")  # SQLite would take one byte for none
        if exists and not _may_read(path):
            raise unreadable(path, "permission denied", "Make the file readable.")
        if writable:
            path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise (unwritable if writable else unreadable)(path, why) from error


def _may_read(path: Path) -> bool:
    """Asked, not tried: closing a file would drop the locks that this process has on it."""
    effective = os.access in os.supports_effective_ids
    return os.access(path, os.R_OK, effective_ids=effective)


def _connect(path: Path, writable: bool, busy_seconds: float) -> sqlite3.Connection:
    try:
        if writable:
            return _opened(path, "mode=rwc", busy_seconds)
        try:
            return _opened(path, "mode=ro", busy_seconds)
        except sqlite3.OperationalError as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code not in _NO_PLACE_FOR_A_LOG or _has_open_log(path):
                raise
            return _opened(path, "mode=ro&immutable=1", busy_seconds)
    except sqlite3.Error as error:
        raise failure_of(error, path, writing=writable) from error


def _opened(path: Path, mode: str, busy_seconds: float) -> sqlite3.Connection:
    """A connection that has read the file's header (SQLite opens lazily)."""
    uri = f"{path.absolute().as_uri()}?{mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=busy_seconds, isolation_level=None)
    try:
        connection.execute("PRAGMA user_version").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _has_open_log(path: Path) -> bool:
    """Whether commits wait in the write-ahead log, so that the file alone is not the truth."""
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size > 0
    except OSError:
        return False


def _upgrade(connection: sqlite3.Connection, version: int) -> None:
    """Make the tables of an earlier schema those of this one; every connection reads them anew."""
    connection.execute("PRAGMA writable_schema = ON")
    try:
        for number in range(version, SCHEMA_VERSION):
            for statement in UPGRADES[number]:
                connection.execute(statement)
        (cookie,) = connection.execute("PRAGMA schema_version").fetchone()
        connection.execute(f"PRAGMA schema_version = {cookie + 1}")
    finally:
        connection.execute("PRAGMA writable_schema = OFF")
