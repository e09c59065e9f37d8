"""`tw why`: why a command is refused, in words, and the exit code."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import DOMAINS, Tw

CELLAR = str(DOMAINS / "cellar" / "world.tw")


def test_a_refused_command(tw: Tw) -> None:
    ran = tw("why", CELLAR, "open oak chest")
    assert ran.code == 1
    head, verdict, _, first, *_ = ran.out.splitlines()
    assert head.startswith("open oak chest  action open at ")
    assert (verdict, first) == ("✗ It would be refused.", "✗ absent: here(c)")
    assert "  false from the start\n  » go through arch helps\n" in ran.out
    assert "`open oak chest` becomes possible by:\n  1. take brass key\n" in ran.out
    assert "Enter" not in ran.out
    assert ran.out.count("open oak chest") == 2  # the title and the way


def test_what_can_be_done_and_what_means_nothing(tw: Tw) -> None:
    ran = tw("why", CELLAR, "take brass key", "--json")
    assert (ran.code, ran.json["allowed"], ran.json["refusal"]) == (0, True, None)
    ran = tw("why", CELLAR, "take(brass_key)")
    assert (ran.code, "✓ It can be done now." in ran.out) == (0, True)
    ran = tw("why", CELLAR, "open oak chst", "--json")
    found = ran.json["refusal"]
    assert (ran.code, found["status"], found["requires"]) == (1, "no_match", [])
    assert "open oak chest" in found["suggestions"]
    assert tw("why", "nowhere.tw", "open").code == 2


def test_a_script_comes_before_it(tw: Tw) -> None:
    Path("s.txt").write_text("take brass key\n", encoding="utf-8")
    ran = tw("why", CELLAR, "take brass key", "--at", "s.txt", "--time-limit", "0")
    assert "  false since tick 0: take brass key\n    holder(brass_key) none → hero" in ran.out
    assert "Nothing makes" not in ran.out


def test_a_run_tells_the_same(tw: Tw) -> None:
    Path("s.txt").write_text("take brass key\ntake brass key\n", encoding="utf-8")
    out = tw("run", CELLAR, "--script", "s.txt").out
    why = tw("why", CELLAR, "take brass key", "--at", "s.txt", "--time-limit", "0").out
    told = [line.strip() for line in out.splitlines()]
    failing = why.split("\n\n")[1:3]
    assert all(line.strip() in told for part in failing for line in part.splitlines())
