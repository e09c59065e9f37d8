"""`tw check --group`: the first finding of each code, and the places of the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WORLD = """\
type Room
type Hero { at: Room  gold: 0 to 9 = 0 }
derive a(h: Hero) = h.one
derive b(h: Hero) = h.two
derive c(h: Hero) = h.three == h.gold
param rate: 0 to 9 = 12
"""


def test_equal_codes_are_one_finding(tw: Any, tmp_path: Path) -> None:
    path = tmp_path / "bad.tw"
    path.write_text(WORLD, encoding="utf-8")
    every = tw("check", path, "--json").json["files"][0]["diagnostics"]
    ran = tw("check", path, "--group", "--json")
    first, other = ran.json["files"][0]["diagnostics"]
    assert (ran.code, len(every)) == (1, 4)
    assert (first["code"], first["count"], other["count"]) == ("TW0201", 3, 1)
    assert [one["line"] for one in first["places"]] == [4, 5]
    assert other["places"] == []
    shown = tw("check", path, "--group").err
    assert shown.count("error[") == 2
    assert "2 more of TW0201: 4:23, 5:23" in shown


def test_without_it_each_finding_is_shown(tw: Any, tmp_path: Path) -> None:
    path = tmp_path / "bad.tw"
    path.write_text(WORLD, encoding="utf-8")
    assert tw("check", path).err.count("error[") == 4
