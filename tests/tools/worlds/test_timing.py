"""``python -m benchmarks.conforming``: every part of a replay is measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.conforming import main


def test_every_part_is_measured(
    bench: Callable[..., Path], rows: list[dict[str, Any]], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert main([str(path), "--world", str(bench()), "--times", "1"]) == 0
    out = capsys.readouterr().out
    for part in (
        "reading the rows",
        "playing every tick",
        "writing every state",
        "all of it takes",
    ):
        assert part in out
    rows[1]["next_score_state"]["score"] = 7
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert main([str(path), "--world", str(bench()), "--times", "1"]) == 1
