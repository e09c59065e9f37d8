"""``tw legal``: what can be done now, in all or with one object."""

from __future__ import annotations

from pathlib import Path
from typing import Any

Tw = Any


def calls(rows: list[dict[str, str]]) -> list[str]:
    return [row["call"] for row in rows]


def test_what_can_be_done_with_an_object(tw: Tw) -> None:
    ran = tw("legal", "cellar", "--with", "brass_key")
    assert ran.code == 0
    assert ran.out.splitlines()[0] == "✓ take(brass_key)  take brass key"
    assert "1 command can be given with brass_key (Key); 1 cannot" in ran.out
    found = tw("legal", "cellar", "--with", "brass key", "--json").json
    assert calls(found["legal"]) == ["take(brass_key)"]
    assert found["object"] == {"name": "brass_key", "type": "Key"}
    assert (found["not_possible"], found["unlisted"]) == (1, [])


def test_why_the_rest_cannot(tw: Tw) -> None:
    found = tw("legal", "cellar", "--with", "brass_key", "--all", "--json").json
    (row,) = found["reasons"]
    assert row["call"] == "unlock(oak_chest, brass_key)"
    assert (row["status"], row["label"]) == ("refused", "absent")
    assert row["reason"] == "There is no oak chest here."
    assert "world.tw:" in row["span"]


def test_after_a_script(tw: Tw, tmp_path: Path) -> None:
    script = tmp_path / "moves.txt"
    script.write_text("take brass key\n", encoding="utf-8")
    found = tw("legal", "cellar", "--with", "brass_key", "--at", script, "--json").json
    assert found["tick"] == 1
    assert "take(brass_key)" not in calls(found["legal"])


def test_all_that_can_be_done(tw: Tw, world: Path) -> None:
    found = tw("legal", world, "--json").json
    assert calls(found["legal"]) == ["go(attic)", "add(1)", "add(2)", "add(3)"]
    assert "tick 0: 4 commands can be given" in tw("legal", world).out


def test_nothing_can_be_done_with_it(tw: Tw, world: Path) -> None:
    ran = tw("legal", world, "--with", "hall", "--all")
    assert ran.code == 1
    assert "✗ go(hall)  here: You are in the hall." in ran.out
    assert tw("legal", world, "--with", "hero", "--json").json["legal"] == []


def test_the_end_is_told(tw: Tw, world: Path, tmp_path: Path) -> None:
    script = tmp_path / "moves.txt"
    script.write_text("add 3\ngo to attic\n", encoding="utf-8")
    ran = tw("legal", world, "--with", "attic", "--at", script, "--all")
    assert ran.code == 1
    assert "the world is over" in ran.out
    assert "✗ go(attic)  the world is over" in ran.out


def test_an_unknown_object_is_told_with_near_names(tw: Tw) -> None:
    ran = tw("legal", "cellar", "--with", "bras_key")
    assert ran.code == 2
    assert "TW0006" in ran.err
    assert "Did you mean `brass_key`" in ran.err
    assert tw("legal", "cellar", "--with", "bras_key", "--json").json["ok"] is False


def test_reasons_are_told_of_one_object(tw: Tw) -> None:
    ran = tw("legal", "cellar", "--all")
    assert ran.code == 2
    assert "Add `--with OBJECT`." in ran.err
