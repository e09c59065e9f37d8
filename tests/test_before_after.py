"""The comparison with an earlier program: what contradicts what, and no time without an answer."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.before_after import Asked, contradiction, report, worlds
from benchmarks.measure import WrongResultError

FOUND = {"answer": "winnable", "optimal": "ticks", "ticks": 5, "cost": 5}
WHOLE = {"complete": True, "states": {"seen": 5}, "cruelty": None, "branching": 2}


@dataclass
class Program:
    """A side that answers as it is told; each answer takes as long."""

    seconds: float
    answer: Mapping[str, object] | None
    asked: list[str] = field(default_factory=list)

    def ask(self, asked: Asked, world: str) -> tuple[float, Mapping[str, object] | None]:
        self.asked.append(world)
        return self.seconds, self.answer


@pytest.mark.parametrize(
    ("verb", "before", "after", "wrong"),
    [
        ("plan", FOUND, FOUND, ""),
        ("plan", FOUND, {**FOUND, "ticks": 6}, "ticks: 5 and 6"),
        ("plan", {**FOUND, "optimal": None}, {**FOUND, "ticks": 6}, ""),
        ("plan", FOUND, {**FOUND, "answer": "unwinnable"}, "answer: winnable and unwinnable"),
        ("plan", {**FOUND, "answer": "unknown"}, FOUND, ""),
        ("plan", {"diagnostics": []}, FOUND, "one of them cannot read the world"),
        ("audit", WHOLE, WHOLE, ""),
        ("audit", WHOLE, {**WHOLE, "cruelty": "cruel"}, "cruelty: None and cruel"),
        ("audit", WHOLE, {**WHOLE, "complete": False, "states": {"seen": 4}}, ""),
    ],
)
def test_contradictions(
    verb: str, before: Mapping[str, object], after: Mapping[str, object], wrong: str
) -> None:
    assert contradiction(verb, before, after) == wrong


def test_the_table_sums_what_both_answer() -> None:
    old, new = Program(3.0, FOUND), Program(1.0, FOUND)
    lines = list(report(old, new, Asked("plan", ()), [("a", "A"), ("b", "B")], 2))
    assert lines[2:4] == ["| a | 3.00 | 1.00 | 3.0 |", "| b | 3.00 | 1.00 | 3.0 |"]
    assert lines[4] == "| **all 2** | 6.0 | 2.0 | **3.0** |"
    assert old.asked == new.asked == ["A", "A", "B", "B"]


def test_a_world_that_the_old_program_cannot_read_is_named() -> None:
    lines = list(report(Program(1, None), Program(1, FOUND), Asked("plan", ()), [("a", "A")], 1))
    assert lines[2:] == ["\nNot in both: a"]


def test_no_time_of_wrong_answers() -> None:
    gone = report(Program(1, FOUND), Program(1, None), Asked("plan", ()), [("a", "A")], 1)
    with pytest.raises(WrongResultError, match="there is none now"):
        list(gone)
    lost = {**FOUND, "answer": "unwinnable"}
    other = report(Program(1, FOUND), Program(1, lost), Asked("plan", ()), [("a", "A")], 1)
    with pytest.raises(WrongResultError, match="a: answer: winnable and unwinnable"):
        list(other)


def test_worlds_by_file_and_name(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "two.tw").write_text('world a "A" {\n}\nworld b {\n}\n', "utf-8")
    assert [name for name, _ in worlds(tmp_path)] == ["deep/two.tw:a", "deep/two.tw:b"]
