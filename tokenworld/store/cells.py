"""Cells of sweeps: the result of one question about one world, kept under the question's digest.

They lie beside the runs in a table of their own, which the first sweep makes: a store without it
is as good as before, and an earlier version reads a store that has it. Like a run, a cell is never
changed; each is committed by itself, so whatever ends a sweep leaves whole cells.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence

from tokenworld.ground import Json
from tokenworld.store.database import Database, unreadable, unwritable
from tokenworld.store.records import canonical, digest_of

_DDL = (
    """
CREATE TABLE IF NOT EXISTS cell (
  digest TEXT NOT NULL PRIMARY KEY CHECK (length(digest) = 64),
  world TEXT NOT NULL CHECK (json_extract(question, '$.world') IS world),
  question TEXT NOT NULL CHECK (json_valid(question)),
  answer TEXT NOT NULL CHECK (json_valid(answer))
)""",
    *(
        f"CREATE TRIGGER IF NOT EXISTS cell_has_no_{change.lower()} BEFORE {change} ON cell "
        "BEGIN SELECT RAISE(ABORT, 'a stored cell is never changed'); END"
        for change in ("UPDATE", "DELETE")
    ),
)
_AT_ONCE = 500
"""So many digests are asked for in one query."""


def cell_digest(question: Mapping[str, Json]) -> str:
    """The SHA-256 of a question in canonical JSON: the key of its answer."""
    return digest_of(question)


def keep_cell(
    store: Database, question: Mapping[str, Json], answer: Mapping[str, Json]
) -> Mapping[str, Json]:
    """Store an answer, committed when this returns; `stored_cells` returns it from now on.

    ``question`` has a ``world``. An existing answer is kept. Raises `Failure` TW1102 if the store
    cannot be written, or JSON cannot hold a value.
    """
    digest = cell_digest(question)
    try:
        row = (digest, question["world"], canonical(question), canonical(answer))
    except (ValueError, RecursionError) as error:
        raise unwritable(store.path, f"a value has no JSON form ({error})") from error
    with store.transaction() as connection:
        for statement in () if _there(connection) else _DDL:
            connection.execute(statement)
        connection.execute(
            "INSERT INTO cell (digest, world, question, answer) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (digest) DO NOTHING",
            row,
        )
    return stored_cells(store, (digest,))[digest]


def stored_cells(store: Database, digests: Sequence[str]) -> dict[str, Mapping[str, Json]]:
    """The answers that are there, by digest; `Failure` TW1101 where one is damaged."""
    found: dict[str, Mapping[str, Json]] = {}
    with store.reading() as connection:
        if not _there(connection):
            return found
        for first in range(0, len(digests), _AT_ONCE):
            part = digests[first : first + _AT_ONCE]
            marks = ", ".join("?" * len(part))
            query = f"SELECT digest, question, answer FROM cell WHERE digest IN ({marks})"
            for digest, question, answer in connection.execute(query, part):
                found[digest] = _read(store, digest, question, answer)
    return found


def _there(connection: sqlite3.Connection) -> bool:
    query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'cell'"
    return connection.execute(query).fetchone() is not None


def _read(store: Database, digest: str, question: str, answer: str) -> Mapping[str, Json]:
    """The answer of a row whose question is the one that its digest names."""
    try:  # our own rows: the digest of the question is their name
        if cell_digest(json.loads(question)) != digest:
            raise unreadable(store.path, f"cell {digest[:12]} answers another question")
        found = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise unreadable(store.path, f"a cell is damaged ({error})") from error
    if not isinstance(found, dict):
        raise unreadable(store.path, f"cell {digest[:12]} holds no answer")
    return found
