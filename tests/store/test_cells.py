"""Cells of sweeps in the store: kept once, never changed, told only for their own question."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.store.cells import cell_digest, keep_cell, stored_cells
from tokenworld.store.check import check_file
from tokenworld.store.database import SCHEMA_VERSION
from tokenworld.store.log import RunHandle, RunStore
from tokenworld.store.read import list_runs

QUESTION = {"world": "cellar", "seed": 3, "params": {"bite": 5}}
ANSWER = {"status": "done", "result": {"ticks": 4}, "diagnostics": []}


def test_an_answer_is_told_for_its_question(store: RunStore) -> None:
    digest = cell_digest(QUESTION)
    assert stored_cells(store, [digest]) == {}
    assert keep_cell(store, QUESTION, ANSWER) == ANSWER
    assert stored_cells(store, [digest, "0" * 64]) == {digest: ANSWER}
    assert stored_cells(store, [cell_digest({**QUESTION, "seed": 4})]) == {}


def test_many_digests_are_asked_for_at_once(store: RunStore) -> None:
    questions = [{**QUESTION, "seed": seed} for seed in range(1200)]
    with store.transaction():
        pass
    for question in questions[::7]:
        keep_cell(store, question, {**ANSWER, "result": {"seed": question["seed"]}})
    found = stored_cells(store, [cell_digest(one) for one in questions])
    assert len(found) == len(questions[::7])
    assert found[cell_digest(questions[7])]["result"] == {"seed": 7}


def test_what_is_kept_is_never_changed(store: RunStore) -> None:
    keep_cell(store, QUESTION, ANSWER)
    assert keep_cell(store, QUESTION, {**ANSWER, "status": "limit"}) == ANSWER
    for change in ("UPDATE cell SET answer = '{}'", "DELETE FROM cell"):
        with pytest.raises(sqlite3.IntegrityError, match="never changed"):
            store.connection.execute(change)


def test_runs_and_cells_lie_side_by_side(store: RunStore, run: RunHandle) -> None:
    """The table is no part of the schema: a store with it is one of the same version."""
    keep_cell(store, QUESTION, ANSWER)
    check_file(store)
    assert [one.slug for one in list_runs(store)] == [run.slug]
    assert store.connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    with RunStore.open(store.path, writable=False) as reader:
        assert stored_cells(reader, [cell_digest(QUESTION)])


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("UPDATE cell SET question = json_set(question, '$.seed', 9)", "answers another question"),
        ("UPDATE cell SET answer = '[]'", "holds no answer"),
    ],
)
def test_a_cell_that_was_tampered_with_is_not_believed(
    store: RunStore, change: str, why: str
) -> None:
    keep_cell(store, QUESTION, ANSWER)
    store.connection.execute("DROP TRIGGER cell_has_no_update")
    store.connection.execute(change)
    with pytest.raises(Failure, match=why) as caught:
        stored_cells(store, [cell_digest(QUESTION)])
    assert caught.value.diagnostics[0].code == "TW1101"


def test_a_value_that_json_cannot_hold_is_told(store: RunStore) -> None:
    with pytest.raises(Failure, match="has no JSON form"):
        keep_cell(store, QUESTION, {"status": "done", "result": {"score": float("nan")}})


def test_two_connections_keep_the_first_answer(store: RunStore, path: Path) -> None:
    with RunStore.open(path) as other:
        keep_cell(store, QUESTION, ANSWER)
        assert keep_cell(other, QUESTION, {**ANSWER, "status": "failed"}) == ANSWER
