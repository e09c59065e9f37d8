"""Rows are read whatever their spacing, and what is no row is told with its place."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.verbs.records.rows import BadRow, RowReader, TextRow, read_text_rows

Row = dict[str, Any]
OBJECT: Row = {"name": "a", "uuid": 0, "type": "A", "properties": {"p": 1}, "contains": []}


def state(*objects: Row) -> Row:
    return {
        "observation": 'He says: "objects": [{"x": 1}], "max_UUID": 3',
        "taskDesc": "Win.", "lastAction": "look",
        "objects": copy.deepcopy(list(objects)), "max_UUID": 1,
    }  # fmt: skip


def row() -> Row:
    score = {"score": 0, "gameOver": False, "gameWon": False}
    other = {**OBJECT, "properties": {"p": 2, "said": '}], "max_UUID": 7', "objects": [{"q": 1}]}}
    return {
        "game": "toy", "state_id": 4, "current_state": state(OBJECT), "action_state": state(OBJECT),
        "tick_state": state(other), "current_score_state": score, "next_score_state": score,
    }  # fmt: skip


def read(path: Path) -> list[TextRow | BadRow]:
    return list(read_text_rows(path))


def test_a_row_is_read_as_it_is(tmp_path: Path) -> None:
    whole = row()
    for spaces in ((", ", ": "), (",", ":"), (" , ", " : ")):
        (tmp_path / "rows.jsonl").write_text(json.dumps(whole, separators=spaces) + "\n\n")
        (found,) = read(tmp_path / "rows.jsonl")
        assert isinstance(found, TextRow)
        assert (found.game, found.number, found.action, found.task) == ("toy", 4, "look", "Win.")
        assert found.before.objects == whole["current_state"]["objects"]
        assert found.ticked.objects == whole["tick_state"]["objects"]
        assert found.ticked.next_id == 1
        assert found.place == f"{tmp_path / 'rows.jsonl'}:1"


def test_keys_may_stand_in_any_order() -> None:
    whole = row()
    turned = dict(reversed(whole.items()))
    turned["tick_state"] = {**turned["tick_state"], "later": [{"name": "x"}]}
    found = RowReader().row("here:1", json.dumps(turned))
    assert isinstance(found, TextRow)
    assert found.before.objects == whole["current_state"]["objects"]
    assert found.ticked.objects == whole["tick_state"]["objects"]


def test_equal_lists_are_read_once() -> None:
    reader, whole = RowReader(), row()
    whole["tick_state"] = state({**OBJECT, "properties": {"p": 2}})
    one, other = (reader.row("here:1", json.dumps(whole)) for _ in range(2))
    assert isinstance(one, TextRow)
    assert isinstance(other, TextRow)
    assert one.before.objects is one.acted.objects is other.before.objects
    assert one.ticked.objects is not one.before.objects


def test_packed_files_of_several_parts(tmp_path: Path) -> None:
    line = json.dumps(row()).encode() + b"\n"
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(line * 3) + gzip.compress(line))
    assert [type(one) for one in read(path)] == [TextRow] * 4
    path.write_bytes(gzip.compress(line * 400)[:-12])
    *whole, last = read(path)
    assert all(isinstance(one, TextRow) for one in whole)
    assert isinstance(last, BadRow)
    assert "is torn here" in last.why
    path.write_bytes(b"not packed at all")
    (only,) = read(path)
    assert isinstance(only, BadRow)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Failure, match="cannot be read") as raised:
        read(tmp_path / "none.jsonl")
    assert raised.value.diagnostics[0].code == "TW0001"


def test_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_bytes(b'{"a": "\xff"}\n')
    (found,) = read(tmp_path / "rows.jsonl")
    assert isinstance(found, BadRow)
    assert "is not UTF-8 text" in found.why


def at(*path: str | int) -> Callable[[Row, Any], None]:
    def put(whole: Row, value: Any) -> None:
        held: Any = whole
        for step in path[:-1]:
            held = held[step]
        if value is None:
            del held[path[-1]]
        else:
            held[path[-1]] = value

    return put


@pytest.mark.parametrize(
    ("put", "value", "words"),
    [
        (at("current_state"), None, "`current_state` is no JSON object"),
        (at("tick_state"), [], "`tick_state` is no JSON object"),
        (at("game"), 3, "`game`"),
        (at("action_state", "lastAction"), None, "`action_state.lastAction`"),
        (at("current_state", "max_UUID"), "7", "`current_state.max_UUID` is no whole number"),
        (at("tick_state", "max_UUID"), 10**12, "from 0 to 1000000"),
        (at("tick_state", "objects", 0, "uuid"), 10**12, "below 0 or beyond 1000000"),
        (at("tick_state", "objects"), {}, "`tick_state.objects` is no list"),
        (at("tick_state", "objects"), [3], "`tick_state.objects[0]` is no JSON object"),
        (
            at("action_state", "objects", 0, "uuid"),
            None,
            "`action_state.objects[0].uuid` is missing",
        ),
        (at("action_state", "objects", 0, "uuid"), -1, "is below 0 or beyond"),
        (at("action_state", "objects"), [OBJECT, OBJECT], "objects[1].uuid` stands there twice"),
        (at("current_state", "objects", 0, "contains"), [1], "is no list of names"),
        (at("next_score_state", "score"), True, "has no `score`"),
        (at("next_score_state"), None, "`next_score_state` is no JSON object"),
    ],
)
def test_what_is_wrong_with_a_row(
    put: Callable[[Row, Any], None], value: object, words: str
) -> None:
    whole = copy.deepcopy(row())
    put(whole, value)
    found = RowReader().row("rows.jsonl:7", json.dumps(whole))
    assert isinstance(found, BadRow)
    assert found.place == "rows.jsonl:7"
    assert words in found.why


@pytest.mark.parametrize("line", ['{"game": ', "[1, 2]", "null", "[" * 100_000])
def test_what_is_no_json_object(line: str) -> None:
    assert isinstance(RowReader().row("rows.jsonl:1", line), BadRow)
