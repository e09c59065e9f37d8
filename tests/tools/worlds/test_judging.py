"""`tw judge` by recorded rows: equal ones, a wrong world, rows of another game."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Put = Callable[..., Path]
Tw = Callable[..., tuple[int, str, str]]
Row = dict[str, Any]


def judged(tw: Tw, world: Path, rows: list[Row], tmp_path: Path) -> tuple[int, Any]:
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    code, out, err = tw("judge", world, "--contract", f"rows:{file}", "--json")
    assert code in (0, 1), err
    return code, json.loads(out)


def test_equal_rows_are_accepted(tw: Tw, bench: Put, rows: list[Row], tmp_path: Path) -> None:
    code, found = judged(tw, bench(), rows, tmp_path)
    assert (code, found["status"]) == (0, "accepted")
    assert found["tiers"]["conform"] == {"rows": len(rows), "wrong": 0, "bad": 0}


def test_a_wrong_rule_is_named(tw: Tw, bench: Put, rows: list[Row], tmp_path: Path) -> None:
    text = bench().read_text(encoding="utf-8").replace("c.heat -= 7.5", "c.heat -= 5.0")
    code, found = judged(tw, bench(text), rows, tmp_path)
    wrong = [one for one in found["findings"] if one["code"] == "wrong-row"]
    assert (code, found["status"]) == (1, "refused")
    assert any("law cool" in line for line in wrong[0]["evidence"])


def test_rows_of_another_world_are_one_finding(
    tw: Tw, bench: Put, rows: list[Row], tmp_path: Path
) -> None:
    others = [{**row, "game": "other"} for row in rows]
    code, found = judged(tw, bench(), others, tmp_path)
    (one,) = [one for one in found["findings"] if one["severity"] == "error"]
    assert (code, one["code"]) == (1, "bad-row")
    assert "it is a row of `other`" in one["evidence"][0]
