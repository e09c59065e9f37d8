"""The tables of a run store, with the laws that SQL itself can hold.

Every record repeats its status and its hashes as columns, and a CHECK keeps each column equal to
the JSON beside it. Triggers forbid changing or deleting what was stored, and appending anything
but the next record. So even a program that writes to the file by hand has to break the schema
openly to make the log lie, and the hash chain shows that.
"""

from __future__ import annotations

from tokenworld.ground import STATUSES
from tokenworld.store.records import INTENT_SOURCES

__all__ = ["APPLICATION_ID", "DDL", "SCHEMA_VERSION", "UPGRADES"]

SCHEMA_VERSION = 4
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

# A store of schema 1 does not know that the turn of another actor moves a state too, one of
# schema 2 knows no references, one of schema 3 no runs that begin with a carried state.
UPGRADES: dict[int, tuple[str, ...]] = {
    1: (
        "UPDATE sqlite_master SET sql = replace(sql, "
        f"'{_sql_text(_STAYED)}', '{_sql_text(_STAYS)}') "
        "WHERE type = 'table' AND name = 'tick'",
        "PRAGMA user_version = 2",
    ),
    2: (*_REFERENCES, "PRAGMA user_version = 3"),
    3: ("PRAGMA user_version = 4",),
}
"""What makes a store of an earlier schema one of this: changes of the tables' own texts."""

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
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)
