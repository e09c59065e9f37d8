"""`tw check --stats`: the time of each pass."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tokenworld.check import PASSES

CELLAR = Path(__file__).parents[2] / "domains" / "cellar" / "world.tw"


def test_stats_tell_the_time_of_each_pass(tw: Any) -> None:
    found = tw("check", CELLAR, "--stats", "--json").json["files"][0]["stats"]
    assert set(found) == {"reading", *(one.name for one in PASSES), "starting", "all"}
    assert abs(sum(found.values()) - 2 * found["all"]) < 0.5 * found["all"]
    ran = tw("check", CELLAR, "--stats")
    assert (ran.code, "proofs" in ran.out, "no problems found" in ran.out) == (0, True, True)


def test_stats_of_a_broken_file(tw: Any, tmp_path: Path) -> None:
    path = tmp_path / "bad.tw"
    path.write_text("type room\n", encoding="utf-8")
    ran = tw("check", path, "--stats", "--json")
    assert ran.code == 1
    assert set(ran.json["files"][0]["stats"]) == {"reading", "all"}
