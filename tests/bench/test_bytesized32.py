"""`tw bench bytesized32`: worlds that are games, and worlds that only look so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tokenworld.cli import _main

HEAD = """
type Lamp { lit: bool = false  oil: 0 to 3 clamped = 0 }
type Can { full: bool = true }
type Hero
actor me: Hero
action pour(c: Can, l: Lamp) as "pour {c} into {l}" {
  require c.full else empty "{The c} is empty."
  c.full = false
  l.oil = 3
}
action light(l: Lamp) as "light {l}" {
  require l.oil > 0 else dry "There is no oil."
  l.lit = true
}
world cave {
  object ada: Hero
  object lamp: Lamp
  object can: Can
"""
GOALS = {
    "good": "goal bright: lamp.lit }",
    "trivial": "goal bright: not lamp.lit }",
    "hopeless": "goal dark: lamp.lit and lamp.oil == 0 and can.full }",
    "waiting": "goal late: tick() >= 3 }",
    "endless": "}",
    "broken": "goal bright: lamp.shines }",
}


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, Any]]:
    code = _main(["bench", "bytesized32", *map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture
def games(tmp_path: Path) -> Path:
    for name, goal in GOALS.items():
        (tmp_path / f"{name}.tw").write_text(HEAD + goal, encoding="utf-8")
    return tmp_path


def test_each_check_is_failed_by_its_own_world(
    games: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = told(capsys, games)
    assert code == 1
    each = {one["name"]: one for one in found["games"]}
    good = each["good"]
    assert (good["ticks"], good["needed"]) == (2, "can")
    assert all(good[one] for one in ("starts", "actions", "runs", "winnable", "not_trivially"))
    assert good["needs_its_objects"]
    assert each["trivial"]["winnable"]
    assert not each["trivial"]["not_trivially"]
    assert not each["hopeless"]["winnable"]
    assert "unwinnable" in each["hopeless"]["note"]
    assert not each["waiting"]["not_trivially"]
    assert not each["waiting"]["needs_its_objects"]
    assert each["endless"]["note"] == "it has no goal"
    assert each["broken"]["note"].startswith("TW")
    assert not each["broken"]["starts"]


def test_predictions_are_told_with_their_model(
    games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    arguments = ["--predictions", str(games), "--model", "m-1", "--date", "2026-01-01"]
    assert _main(["bench", "bytesized32", *arguments, "-o", str(page)]) == 0
    assert "m-1, 2026-01-01" in page.read_text(encoding="utf-8")
    capsys.readouterr()


def test_a_world_of_the_package_passes(capsys: pytest.CaptureFixture[str]) -> None:
    game = Path(__file__).parents[2] / "domains" / "textgames" / "mix-paint"
    code, found = told(capsys, game, "--seconds", 10)
    assert (code, found["games"][0]["ticks"], found["games"][0]["needed"]) == (0, 3, "every Paint")


def test_a_folder_without_worlds_is_one_diagnostic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    assert _main(["bench", "bytesized32", str(tmp_path / "empty")]) == 2
    assert capsys.readouterr().err.count("TW0001") == 1
