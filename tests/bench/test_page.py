"""The tables of docs/bench.md, and the command that writes them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import bench_page

PAGE = Path(__file__).parents[2] / "docs" / "bench.md"


def part(text: str, name: str) -> str:
    return text.partition(f"<!-- {name}: begin -->")[2].partition(f"<!-- {name}: end -->")[0]


@pytest.mark.parametrize("name", bench_page.NAMES)
def test_each_benchmark_has_its_table(name: str) -> None:
    table = part(PAGE.read_text(encoding="utf-8"), name)
    assert "engine, no model" in table
    assert "published" in table


def test_kept_answers_are_written_into_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "bench.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(bench_page, "PAGE", page)
    for name in bench_page.NAMES:
        rows = [["a|b", name]]
        answer = {"tables": [{"title": "T", "heads": ["who", "x"], "rows": rows}],
                  "cpu_seconds": 61.5}  # fmt: skip
        (tmp_path / f"{name}.json").write_text(json.dumps(answer), encoding="utf-8")
    assert bench_page.main([str(tmp_path)]) == 0
    text = page.read_text(encoding="utf-8")
    assert part(text, "cwmb").strip() == (
        "| who | x |\n|---|---|\n| a\\|b | cwmb |\n\nMade in 62 CPU seconds."
    )
    assert text.partition("<!-- text2world")[0] == PAGE.read_text(encoding="utf-8").partition(
        "<!-- text2world"
    )[0]  # fmt: skip
    assert bench_page.main([]) == 2
