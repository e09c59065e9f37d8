"""`replay`: recorded rows against the world, and a run written as rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure, Source
from tokenworld.session.loading import load_program, open_world
from tokenworld.session.replaying import Row, compare_row, read_rows, row_of
from tokenworld.session.scenarios import run_scenario
from tokenworld.session.session import Session
from tokenworld.store.log import RunStore
from tokenworld.verbs.output import Output
from tokenworld.verbs.runs.listing import write_rows

TEXT = """
type Hero { n: 0 to 9 clamped = 0 }
actor me: Hero
action work() { require me.n < 3 else tired "Tired."  me.n += 2 }
law rest(h: Hero) when h.n > 0 { h.n -= 1 }
world w { object hero: Hero  time passes always  score = hero.n  goal g: hero.n == 3 }
scenario "as recorded" in w { replay "rows.jsonl" }
"""
WORK = {"format": "tw-intent/1", "action": "work", "args": {}}


@pytest.fixture
def world(tmp_path: Path) -> Path:
    path = tmp_path / "w.tw"
    path.write_text(TEXT)
    (tmp_path / "rows.jsonl").write_text("")
    return path


def rows(path: Path, ticks: int = 4) -> list[dict[str, object]]:
    session = Session(open_world(str(path)))
    found = []
    for _ in range(ticks):
        found.append(row_of(session.world, session.state, WORK))
        session.intend("work()")
    return found  # type: ignore[return-value]


def replayed(path: Path, found: list[dict[str, object]]) -> tuple[bool, str]:
    lines = "".join(f"{json.dumps(row)}\n" for row in found)
    (path.parent / "rows.jsonl").write_text(lines)
    loaded = load_program(path)
    (check,) = run_scenario(loaded, loaded.program.scenarios[0]).checks
    return check.ok, check.found


def test_rows_that_agree(world: Path) -> None:
    assert replayed(world, rows(world)) == (True, "")


def test_a_row_tells_the_state_after_the_action_and_after_the_tick(world: Path) -> None:
    row = rows(world)[0]
    n = [row[key]["objects"][0]["attrs"]["n"] for key in ("state", "action", "tick")]  # type: ignore[index]
    assert n == [0, 2, 1]
    assert row["progress"] == {"status": "executed", "score": 1, "reward": 0, "latched": []}


@pytest.mark.parametrize(
    ("key", "path"),
    [("action", "action.objects[0].attrs.n"), ("tick", "tick.objects[0].attrs.n")],
)
def test_the_first_difference_is_told(world: Path, key: str, path: str) -> None:
    found = rows(world)
    found[2][key]["objects"][0]["attrs"]["n"] = 7  # type: ignore[index]
    ok, told = replayed(world, found)
    assert not ok
    assert told.startswith(f"{world.parent / 'rows.jsonl'}:3: `{path}` should be 7, and is ")


def test_what_a_row_does_not_say_is_not_compared(world: Path) -> None:
    row = rows(world)[0]
    row["tick"] = {"tick": 1}
    del row["action"]
    row["progress"] = {"status": "executed"}
    assert replayed(world, [row]) == (True, "")


def test_an_empty_file_is_no_test(world: Path) -> None:
    assert replayed(world, []) == (False, "the file has no row")


@pytest.mark.parametrize(
    "line",
    ["{", "[]", '{"state": {}}', '{"state": {}, "intent": {}}', '{"format": "tw-row/9"}'],
)
def test_lines_that_are_no_rows(line: str) -> None:
    with pytest.raises(Failure) as failure:
        read_rows(Source("rows.jsonl", None, f"\n{line}\n"))
    (found,) = failure.value.diagnostics
    assert found.code == "TW0006"
    assert found.span is not None
    assert found.span.line == 2


def test_a_state_that_does_not_fit(world: Path) -> None:
    row = Row("rows.jsonl:1", {"objects": [{"id": 0}]}, WORK, {"progress": {}})
    with pytest.raises(Failure) as failure:
        compare_row(open_world(str(world)), row, 0)
    assert failure.value.diagnostics[0].code == "TW0006"


def test_a_run_is_written_as_rows(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = world.parent / "runs.sqlite"
    with RunStore.open(place) as store:
        session = Session(open_world(str(world)), 3, store=store)
        for text in ("work", "work()", "nonsense", "pass", "work()"):
            session.intend(text)
    assert write_rows(None, Output(), output=world.parent / "rows.jsonl", store=place) == 0
    assert "wrote 5 rows" in capsys.readouterr().out
    loaded = load_program(world)
    assert run_scenario(loaded, loaded.program.scenarios[0]).ok
