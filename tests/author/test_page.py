"""The example of the page: a description becomes an accepted domain, and is replayed."""

from __future__ import annotations

import json
from pathlib import Path

from tests.author.conftest import Tw, marked
from tokenworld.cli import _main


def test_the_example_of_the_page(tw: Tw, tmp_path: Path) -> None:
    for name in ("tower.md", "tower.script"):
        (tmp_path / name).write_text(marked(f"sample: {name}"), encoding="utf-8")
    shown = marked("output: tower.md tower.script").split("$ tw author ")[1:]
    assert len(shown) == 2
    for part in shown:
        command, _, answer = part.partition("\n")
        ran = tw(*command.split())
        assert ran.out == answer
        assert ran.code == 0
    out = tmp_path / "out"
    assert {one.name for one in out.iterdir()} == {
        "world.tw", "specification.json", "contract.json", "transcript.jsonl", "report.html",
    }  # fmt: skip
    assert _main(["judge", str(out / "world.tw"), "--contract", str(out / "contract.json")]) == 0
    assert json.loads((out / "specification.json").read_text(encoding="utf-8"))["mechanics"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "red-scenario" in page
    assert "<ins>+  require soaped(w) else dry</ins>" in page
    assert "http" not in page.replace("http-equiv", "")
    pddl = ["export", f"{out / 'world.tw'}:tower", "--pddl", "--output", str(tmp_path / "pddl")]
    assert _main(pddl) == 0
