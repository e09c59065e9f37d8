"""`tw export`: names for every planner, and plans of the exported files played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

CELLAR = Path(__file__).parents[2] / "domains" / "cellar" / "world.tw"
STEPS = (
    ("take", "brass_key"), ("go", "arch"), ("unlock", "oak_chest", "brass_key"),
    ("open", "oak_chest"), ("take", "ruby"),
)  # fmt: skip
Tw = Any


def _plan(names: dict[str, str]) -> str:
    steps = ((action, *(names.get(word, word) for word in args)) for action, *args in STEPS)
    return "".join(f"({' '.join(one)})\n" for one in steps)


@pytest.mark.parametrize("options", [(), ("--sanitize",)])
def test_a_plan_of_the_exported_files_is_played(
    tw: Tw, tmp_path: Path, options: tuple[str, ...]
) -> None:
    listed = tw("export", CELLAR, "--pddl", *options, "--json").json["renamed"]
    names = {one["was"]: one["name"] for one in listed if one["kind"] == "object"}
    file = tmp_path / "plan"
    file.write_text(_plan(names), encoding="utf-8")
    ran = tw("export", CELLAR, "--pddl", *options, "--read-plan", file)
    assert ran.code == 0
    assert ran.out.startswith("winnable: goal `rich` in 5 ticks")
    file.write_text(_plan(names).split("\n", 1)[1], encoding="utf-8")
    ran = tw("export", CELLAR, "--pddl", *options, "--read-plan", file, "--json")
    assert (ran.code, ran.json["wins"]) == (1, False)


def test_sanitized_names_are_listed_in_the_files_and_in_json(tw: Tw, tmp_path: Path) -> None:
    ran = tw("export", CELLAR, "--pddl", "--sanitize", "-o", tmp_path, "--json")
    assert {"kind": "type", "name": "hero-type", "was": "hero"} in ran.json["renamed"]
    for name in ("domain.pddl", "problem.pddl"):
        assert ";   type hero-type = hero" in (tmp_path / name).read_text(encoding="utf-8")
    assert tw("export", CELLAR, "--pddl", "--json").json["renamed"] == []


def test_plans_that_cannot_be_read_are_diagnostics(tw: Tw, tmp_path: Path) -> None:
    file = tmp_path / "plan"
    ran = tw("export", CELLAR, "--pddl", "--read-plan", file)
    assert (ran.code, "TW0001" in ran.err) == (2, True)
    file.write_bytes(b"\xff")
    assert tw("export", CELLAR, "--pddl", "--read-plan", file).code == 2
    file.write_text("(fly away)", encoding="utf-8")
    assert "TW0812" in tw("export", CELLAR, "--pddl", "--read-plan", file).err


def test_ppddl_is_written_or_refused_by_line(tw: Tw, tmp_path: Path) -> None:
    lake, taxi = (CELLAR.parents[1] / name / "world.tw" for name in ("frozen_lake", "taxi"))
    assert tw("export", lake, "--ppddl", "--sanitize", "-o", tmp_path).code == 0
    text = (tmp_path / "domain.pddl").read_text(encoding="utf-8")
    assert ":probabilistic-effects" in text
    assert "(probabilistic" in text
    ran = tw("export", taxi, "--ppddl")
    assert (ran.code != 0, "TW0801" in ran.err) == (True, True)
    assert tw("export", lake, "--pddl", "--ppddl").code == 2
