"""A damaged run store is one diagnostic in every verb that reads it, and stays as it is."""

from __future__ import annotations

import json
import random
import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

Tw = Any

SCRIPT = "add 2\nadd 9\ngo to atic\ndance\nadd 1\ngo to hall\ngo to attic\npass\n"
VERBS = (
    ("runs",),
    ("runs", "show", "2"),
    ("runs", "replay", "2", "--verify"),
    ("runs", "verify", "--all"),
    ("runs", "at", "2", "2"),
    ("runs", "diff", "1@2", "2@1"),
    ("runs", "trace", "2", "1"),
    ("runs", "why", "2", "hero.n"),
    ("runs", "branch", "2", "1"),
    ("runs", "resume", "3", "--script", "s.txt"),
    ("runs", "export", "2", "-o", "out.jsonl"),
    ("runs", "rows", "2", "-o", "out.rows"),
    ("runs", "import", "in.jsonl"),
    ("log", "2"),
    ("quality", "2"),
    ("quality", "1", "--reference"),
    ("report", "--time-limit", "0"),
)
NO_UTF_8 = "CAST(CAST({} AS BLOB) || x'ff' AS TEXT)"
WRITING = ("branch", "resume", "import", "--reference")


@pytest.fixture
def store(tw: Tw, world: Path, tmp_path: Path) -> Path:
    """A finished run that is a reference, a branch of it, and an open one; all with records."""
    (tmp_path / "s.txt").write_text(SCRIPT)
    assert tw("run", world, "--script", "s.txt", "--store", "good").code == 0
    assert tw("runs", "branch", "1", "3", "--script", "s.txt", "--store", "good").code == 0
    assert tw("runs", "branch", "1", "3", "--store", "good").code == 0
    with sqlite3.connect("good") as connection:
        connection.execute("INSERT INTO reference VALUES (1, 'HEALTHY', 50)")
    connection.close()
    assert tw("runs", "export", "1", "2", "-o", "in.jsonl", "--store", "good").code == 0
    return tmp_path / "good"


def damaged(good: Path, statement: str, *values: object) -> Path:
    """A copy of a store, changed as by a program that knows of no law."""
    path = good.with_name("bad.sqlite")
    for old in good.parent.glob("bad.sqlite*"):
        old.unlink()
    shutil.copy(good, path)
    connection = sqlite3.connect(path, isolation_level=None)
    triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    for (name,) in connection.execute(triggers).fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute(statement, values)
    connection.close()
    return path


def columns_of(path: Path) -> Iterator[tuple[str, str, str]]:
    """Table, column and declared type of all that a store has."""
    connection = sqlite3.connect(path)
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
    for (table,) in connection.execute(tables).fetchall():
        for row in connection.execute(f"PRAGMA table_info({table})"):
            yield table, row[1], row[2]
    connection.close()


def told(tw: Tw, verb: tuple[str, ...], path: Path, what: str) -> bool:
    """Whether a verb tells of damage; it never ends but with an answer or with one diagnostic."""
    for old in path.parent.glob("now.sqlite*"):
        old.unlink()
    now = Path(shutil.copy(path, path.with_name("now.sqlite")))
    ran = tw(*verb, "--store", now)
    if ran.code == 2:
        codes = re.findall(r"^error\[(TW\d{4})\]", ran.err, re.MULTILINE)
        assert len(codes) == 1, (what, verb, ran.err)
        assert not any(path.parent.glob("*.part"))
        if not set(verb) & set(WRITING):
            assert now.read_bytes() == path.read_bytes()
    else:
        assert ran.code in (0, 1, 3), (what, verb, ran.err)
    return bool(ran.code == 2)


def test_a_text_that_is_no_utf_8_is_told_by_every_verb_that_reads_it(tw: Tw, store: Path) -> None:
    for table, column, kind in columns_of(store):
        if kind != "TEXT":
            continue
        path = damaged(store, f"UPDATE {table} SET {column} = {NO_UTF_8.format(column)}")
        verbs = [verb for verb in VERBS if told(tw, verb, path, f"{table}.{column}")]
        if table in ("run", "source_set", "reference"):
            assert set(VERBS) - set(verbs) <= {("runs", "import", "in.jsonl")}, (table, column)
        if table == "tick":
            assert ("runs", "show", "2") in verbs
            assert ("quality", "2") in verbs
            assert ("log", "2") in verbs


@pytest.mark.parametrize("value", [None, 7, b"bytes", "", "{}", "[]"])
def test_a_column_of_another_type_is_no_defect(tw: Tw, store: Path, value: object) -> None:
    listed = list(columns_of(store))
    for table, column, _ in random.Random(str(value)).sample(listed, 3):
        try:
            path = damaged(store, f"UPDATE {table} SET {column} = ?", value)
        except sqlite3.IntegrityError:
            continue
        for verb in VERBS:
            told(tw, verb, path, f"{table}.{column} = {value!r}")


def _paths(value: Any, path: str = "$") -> Iterator[str]:
    if path != "$":
        yield path
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _paths(one, f'{path}."{key}"')
    elif isinstance(value, list):
        for number, one in enumerate(value[:1]):
            yield from _paths(one, f"{path}[{number}]")


def _wrong_json(good: Path) -> Iterator[tuple[str, str]]:
    """Every place of every stored JSON with every kind of value there, as a statement."""
    connection = sqlite3.connect(good)
    for table, column in (("tick", "outcome"), ("tick", "intent"), ("run", "header"),
                          ("source_set", "sources"), ("snapshot", "state")):  # fmt: skip
        rows = connection.execute(f"SELECT {column} FROM {table}").fetchall()
        paths = dict.fromkeys(path for (row,) in rows for path in _paths(json.loads(row)))
        for path in paths:
            for value in ("7", "null", '"x"', "[]", "{}", "true", "[[1]]", "1e999"):
                wrong = f"json_set({column}, '{path}', json('{value}'))"
                where = f"json_type({column}, '{path}') IS NOT NULL"
                yield (f"{table}.{column} {path} = {value}",
                       f"UPDATE {table} SET {column} = {wrong} WHERE {where}")  # fmt: skip
    connection.close()


def test_json_of_another_form_is_no_defect(tw: Tw, store: Path) -> None:
    for what, statement in random.Random(5).sample(list(_wrong_json(store)), 8):
        path = damaged(store, statement)
        for verb in VERBS:
            told(tw, verb, path, what)


@pytest.mark.slow
def test_json_of_any_other_form_is_no_defect(tw: Tw, store: Path) -> None:
    for what, statement in _wrong_json(store):
        path = damaged(store, statement)
        for verb in VERBS:
            told(tw, verb, path, what)


def test_rows_that_are_missing_and_a_cut_file(tw: Tw, store: Path) -> None:
    tables = dict.fromkeys(table for table, _, _ in columns_of(store))
    for table in tables:
        for statement in (f"DELETE FROM {table}", f"DROP TABLE {table}"):
            path = damaged(store, statement)
            for verb in VERBS[::3]:
                told(tw, verb, path, statement)
    whole = store.read_bytes()
    path = store.with_name("bad.sqlite")
    for content in (whole[: len(whole) // 2], whole[:4096], whole[:50], b"no database\n" * 99):
        path.write_bytes(content)
        for verb in VERBS:
            assert told(tw, verb, path, "a cut file")


def test_a_run_that_is_its_own_parent(tw: Tw, store: Path) -> None:
    path = damaged(store, "UPDATE run SET parent_run = id WHERE parent_run IS NOT NULL")
    for verb in VERBS:
        told(tw, verb, path, "its own parent")
    assert tw("runs", "show", "2", "--store", path).code == 2
