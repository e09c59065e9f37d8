"""References: noted once, for finished runs alone, and carried along."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.store.check import verify_chain
from tokenworld.store.database import DDL, SCHEMA_VERSION
from tokenworld.store.exchange import import_file, write_export
from tokenworld.store.log import RunHandle, RunStore
from tokenworld.store.read import find_run
from tokenworld.store.records import Reference, Tick

GOOD = Reference("HEALTHY", 50)


@pytest.fixture
def kept(
    store: RunStore, run: RunHandle, play: Callable[[RunHandle, int], list[Tick]]
) -> RunHandle:
    play(run, 12)
    run.finish("done")
    store.keep_as_reference(run.run(), GOOD)
    return run


def test_a_reference_is_told_with_its_run(store: RunStore, kept: RunHandle) -> None:
    assert find_run(store).reference == GOOD
    assert verify_chain(store, kept.run()).ok
    store.keep_as_reference(kept.run(), GOOD)  # the same again is no change


def test_what_was_recorded_is_not_changed(store: RunStore, kept: RunHandle) -> None:
    with pytest.raises(Failure, match="is a reference already"):
        store.keep_as_reference(kept.run(), Reference("DEGRADED", 50))
    for change in ("UPDATE reference SET window = 1", "DELETE FROM reference"):
        with pytest.raises(sqlite3.IntegrityError):
            store.connection.execute(change)


def test_a_run_that_goes_on_is_no_reference(store: RunStore, run: RunHandle) -> None:
    with pytest.raises(Failure, match="is not finished"):
        store.keep_as_reference(run.run(), GOOD)
    with pytest.raises(sqlite3.IntegrityError):
        store.connection.execute(f"INSERT INTO reference VALUES ({run.id}, 'HEALTHY', 50)")


def test_a_failed_verdict_is_no_reference(store: RunStore, kept: RunHandle, tmp_path: Path) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        store.connection.execute("INSERT INTO reference VALUES (99, 'FAILED', 50)")
    path = tmp_path / "run.jsonl"
    write_export(store, [kept.run()], path)
    (again,) = import_file(store, path).runs
    assert again.reference == GOOD
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[-2] = json.dumps({**json.loads(lines[-2]), "verdict": "FAILED"})
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(Failure, match="has no proper `verdict`"):
        import_file(store, path)


def test_a_store_of_schema_2_learns_of_references(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    old = sqlite3.connect(path)
    for statement in DDL:
        if not re.search("reference|narration|usage|user_version", statement):
            old.execute(statement)
    old.execute("PRAGMA user_version = 2")
    old.commit()
    old.close()
    with RunStore.open(path, writable=False) as store:  # read as it is
        assert store.connection.execute("PRAGMA user_version").fetchone() == (2,)
    with RunStore.open(path) as store:
        assert store.connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
        assert store.connection.execute("SELECT count(*) FROM reference").fetchone() == (0,)
        assert store.connection.execute("SELECT count(*) FROM narration").fetchone() == (0,)
