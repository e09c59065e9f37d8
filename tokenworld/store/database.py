"""The database of a run store: its faults as diagnostics, its tables, opening and changing it."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.ground import STATUSES
from tokenworld.store.records import INTENT_SOURCES

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
    """Return TW1102: nothing was stored, and the records stored before are unchanged."""
    message = f"The run store `{path}` cannot be written: {why}."
    return Failure(Diagnostic("TW1102", message, hint=hint))


def newer(path: Path, schema: int, known: int) -> Failure:
    """TW1103: a later version wrote the file; it is left as it is."""
    message = f"The run store `{path}` has schema {schema}; this version knows up to {known}."
    hint = "Update with `pip install --upgrade token-world`, or name another with `--store FILE`."
    return Failure(Diagnostic("TW1103", message, hint=hint))


def nothing_recorded(path: Path) -> Failure:
    """Return TW1104: the store has no run, or the file is missing."""
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


# ---- The tables of a run store, with the laws that SQL itself can hold ---------------------------
# Every record repeats its status and its hashes as columns, and a CHECK keeps each column equal to
# the JSON beside it. Triggers forbid changing or deleting stored rows, and appending anything
# but the next record. So even a program that writes to the file by hand has to break the schema
# openly to make the log lie, and the hash chain shows that.


SCHEMA_VERSION = 6
APPLICATION_ID = 0x54576C67  # "TWlg" in the file's header: a run log of Token World


def _quoted(words: tuple[str, ...]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def _forbid(table: str, change: str) -> str:
    return (
        f"CREATE TRIGGER {table}_has_no_{change.lower()} BEFORE {change} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, 'a stored {table} is never changed'); END"
    )


# The program texts are shared by the runs that used the same ones.
_SOURCE_SET = """
CREATE TABLE source_set (
  hash TEXT NOT NULL PRIMARY KEY,
  sources TEXT NOT NULL CHECK (json_valid(sources))
)"""

# AUTOINCREMENT: an id is never given twice.
_RUN = """
CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  world TEXT NOT NULL,
  number INTEGER NOT NULL CHECK (number >= 1),
  slug TEXT NOT NULL UNIQUE CHECK (slug = world || '-' || number),
  source_set TEXT NOT NULL REFERENCES source_set (hash),
  parent_run INTEGER REFERENCES run (id) CHECK (parent_run < id),
  header TEXT NOT NULL CHECK (json_valid(header)),
  genesis TEXT NOT NULL CHECK (length(genesis) = 64),
  UNIQUE (world, number),
  CONSTRAINT world_is_that_of_the_header CHECK (json_extract(header, '$.world') IS world),
  CONSTRAINT sources_are_those_of_the_header
    CHECK (json_extract(header, '$.sources') IS source_set),
  CONSTRAINT a_parent_is_named_in_the_header
    CHECK (parent_run IS NULL OR json_type(header, '$.parent') IS 'object')
)"""

_STAYED = """
    status IN ('executed', 'interrupted', 'waiting')
    OR json_extract(outcome, '$.time_passed') IS 1
    OR hash_before = hash_after"""
_STAYS = f"""{_STAYED}
    OR json_type(outcome, '$.next') IS 'text' AND json_extract(outcome, '$.next') IS NOT actor"""


def _sql_text(text: str) -> str:
    """A text as it stands between the quotes of an SQL literal."""
    return text.replace("'", "''")


_TICK = f"""
CREATE TABLE tick (
  run INTEGER NOT NULL REFERENCES run (id),
  seq INTEGER NOT NULL CHECK (seq >= 1),
  actor TEXT,
  source TEXT NOT NULL CHECK (source IN ({_quoted(INTENT_SOURCES)})),
  text TEXT,
  intent TEXT NOT NULL CHECK (json_valid(intent)),
  outcome TEXT NOT NULL CHECK (json_valid(outcome)),
  status TEXT NOT NULL CHECK (status IN ({_quoted(STATUSES)})),
  hash_before TEXT NOT NULL,
  hash_after TEXT NOT NULL,
  previous TEXT NOT NULL CHECK (length(previous) = 64),
  chain TEXT NOT NULL CHECK (length(chain) = 64),
  PRIMARY KEY (run, seq),
  CONSTRAINT columns_are_those_of_the_outcome CHECK (
    json_extract(outcome, '$.status') IS status
    AND json_extract(outcome, '$.actor') IS actor
    AND json_extract(outcome, '$.hash_before') IS hash_before
    AND json_extract(outcome, '$.hash_after') IS hash_after),
  CONSTRAINT only_executed_and_interrupted_change CHECK (
    status IN ('executed', 'interrupted')
    OR json_array_length(outcome, '$.changes') IS 0),
  CONSTRAINT refused_and_only_refused_has_a_refusal CHECK (
    (status = 'refused') = (json_type(outcome, '$.refusal') IS 'object')),
  CONSTRAINT nothing_else_moves_the_state CHECK ({_STAYS})
)"""

# Finished runs that passed the gate: what later ones are held against. Never changed either.
_REFERENCE = """
CREATE TABLE reference (
  run INTEGER NOT NULL PRIMARY KEY REFERENCES ending (run),
  verdict TEXT NOT NULL CHECK (verdict IN ('HEALTHY', 'DEGRADED')),
  window INTEGER NOT NULL CHECK (window >= 1)
)"""
_REFERENCES = (_REFERENCE, *(_forbid("reference", change) for change in ("UPDATE", "DELETE")))

# The prose of a narrator stands outside the hash chain too: another time it may tell another tale.
_NARRATION = """
CREATE TABLE narration (
  run INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  prose TEXT NOT NULL,
  PRIMARY KEY (run, seq),
  FOREIGN KEY (run, seq) REFERENCES tick (run, seq)
)"""
_NARRATIONS = (_NARRATION, *(_forbid("narration", change) for change in ("UPDATE", "DELETE")))

# The tokens that a language model used for an answer, as it tells them: outside the hash chain.
_USAGE = """
CREATE TABLE usage (
  run INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  tokens_in INTEGER CHECK (tokens_in >= 0),
  tokens_out INTEGER CHECK (tokens_out >= 0),
  cost REAL CHECK (cost >= 0),
  PRIMARY KEY (run, seq),
  FOREIGN KEY (run, seq) REFERENCES tick (run, seq)
)"""
_USAGES = (_USAGE, *(_forbid("usage", change) for change in ("UPDATE", "DELETE")))

# A store of schema 1 does not know that the turn of another actor moves a state too, one of
# schema 2 knows no references, one of schema 3 no runs that begin with a carried state, one of
# schema 4 no narration, one of schema 5 no tokens.
UPGRADES: dict[int, tuple[str, ...]] = {
    1: (
        "UPDATE sqlite_master SET sql = replace(sql, "
        f"'{_sql_text(_STAYED)}', '{_sql_text(_STAYS)}') "
        "WHERE type = 'table' AND name = 'tick'",
        "PRAGMA user_version = 2",
    ),
    2: (*_REFERENCES, "PRAGMA user_version = 3"),
    3: ("PRAGMA user_version = 4",),
    4: (*_NARRATIONS, "PRAGMA user_version = 5"),
    5: (*_USAGES, "PRAGMA user_version = 6"),
}
"""The statements that make a store of an earlier schema one of this: changes of the tables' own
texts."""

# Whatever is appended follows the last record, or the header, in number, link and state.
_TICK_IN_ORDER = """
CREATE TRIGGER tick_in_order BEFORE INSERT ON tick
WHEN NEW.seq IS NOT 1 + (SELECT coalesce(max(seq), 0) FROM tick WHERE run = NEW.run)
  OR NEW.previous IS NOT coalesce(
    (SELECT chain FROM tick WHERE run = NEW.run AND seq = NEW.seq - 1),
    (SELECT genesis FROM run WHERE id = NEW.run))
  OR NEW.hash_before IS NOT coalesce(
    (SELECT hash_after FROM tick WHERE run = NEW.run AND seq = NEW.seq - 1),
    (SELECT json_extract(header, '$.start_hash') FROM run WHERE id = NEW.run))
BEGIN SELECT RAISE(ABORT, 'the tick does not follow the last one'); END"""

_TICK_BEFORE_ENDING = """
CREATE TRIGGER tick_before_ending BEFORE INSERT ON tick
WHEN EXISTS (SELECT 1 FROM ending WHERE run = NEW.run)
BEGIN SELECT RAISE(ABORT, 'the run is finished'); END"""

_ENDING = """
CREATE TABLE ending (
  run INTEGER NOT NULL PRIMARY KEY REFERENCES run (id),
  reason TEXT NOT NULL,
  ticks INTEGER NOT NULL CHECK (ticks >= 0),
  state_hash TEXT NOT NULL,
  chain TEXT NOT NULL CHECK (length(chain) = 64)
)"""

# Rows exploded from the deltas of `tick`, which stays the truth: for "who set this last?".
_EVENT = """
CREATE TABLE event (
  run INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  position INTEGER NOT NULL CHECK (position >= 0),
  part TEXT NOT NULL CHECK (part IN ('action', 'law')),
  fluent TEXT NOT NULL,
  args TEXT NOT NULL CHECK (json_valid(args)),
  old TEXT NOT NULL CHECK (json_valid(old)),
  new TEXT NOT NULL CHECK (json_valid(new)),
  rule TEXT NOT NULL,
  PRIMARY KEY (run, seq, position),
  FOREIGN KEY (run, seq) REFERENCES tick (run, seq)
)"""

# Whole states now and then, to reach a late tick without replaying from the start.
_SNAPSHOT = """
CREATE TABLE snapshot (
  run INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (json_valid(state)),
  state_hash TEXT NOT NULL,
  PRIMARY KEY (run, seq),
  FOREIGN KEY (run, seq) REFERENCES tick (run, seq)
)"""

# Outside the hash chain: two equal runs differ here alone. `seq` 0 is the run as a whole.
_TIMING = """
CREATE TABLE timing (
  run INTEGER NOT NULL REFERENCES run (id),
  seq INTEGER NOT NULL CHECK (seq >= 0),
  started TEXT NOT NULL,
  microseconds INTEGER NOT NULL CHECK (microseconds >= 0),
  PRIMARY KEY (run, seq)
)"""

DDL: tuple[str, ...] = (
    _SOURCE_SET,
    _RUN,
    _TICK,
    _ENDING,
    _EVENT,
    "CREATE INDEX event_by_slot ON event (run, fluent, args)",
    "CREATE INDEX run_by_parent ON run (parent_run)",
    "CREATE INDEX tick_by_chain ON tick (chain)",
    _SNAPSHOT,
    _TIMING,
    _TICK_IN_ORDER,
    _TICK_BEFORE_ENDING,
    *(
        _forbid(table, change)
        for table in ("source_set", "run", "tick", "ending")
        for change in ("UPDATE", "DELETE")
    ),
    *_REFERENCES,
    *_NARRATIONS,
    *_USAGES,
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)


# ---- Opening a run store, and the one way to read it and to change it ----------------------------
# Durability: the log is in WAL mode with ``synchronous = NORMAL``. A commit has left the process
# when it returns, so `kill -9` loses nothing; a power cut may lose the latest commits, but always
# leaves a gapless prefix. Finishing a run commits with ``FULL``, which waits for the disk.


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
        """Close the file; committed records stay also if this fails."""
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
        """The connection, for queries; all errors become a `Failure`."""
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
        except UnicodeDecodeError as error:  # also where SQLite quotes the file in its own words
            raise unreadable(self.path, "it is damaged (a text of it is not UTF-8)") from error

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
    """Check a path without opening the file: folders, devices, missing files."""
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
    """Return whether commits wait in the write-ahead log, so that the file alone is not the
    truth."""
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


# ---- a temporary file of rows --------------------------------------------------------------------


_TABLE = "CREATE TABLE moment (number INTEGER PRIMARY KEY, parent INTEGER, told BLOB, state BLOB)"


class MomentTable:
    """Rows by number, each with the number of its parent. Several threads may read it."""

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
        """Return the parent of a moment, its stored outcome, and its state if it is stored."""
        query = "SELECT parent, told, state FROM moment WHERE number = ?"
        with self._lock:
            found: tuple[int, bytes, bytes | None] = self._rows.execute(query, (number,)).fetchone()
        return found
