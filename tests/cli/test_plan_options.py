"""`tw plan` with its options, and `tw hint`: exit codes, text and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tokenworld.planning.planners.doctor import SYMK, find_engine

CELLAR = Path(__file__).parents[2] / "domains" / "cellar"
Tw = Any


# ---- certificates -----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "code"), [("world", 0), ("twin", 1)])
def test_a_certificate_is_written_and_holds(tw: Tw, tmp_path: Path, name: str, code: int) -> None:
    file, world = tmp_path / "deep" / "c.json", CELLAR / f"{name}.tw"
    assert tw("plan", world, "--certificate", file).code == code
    ran = tw("plan", world, "--check", file)
    assert ran.code == 0
    assert ran.out.splitlines()[-1].startswith(f"{file} holds: ")
    assert tw("plan", world, "--check", file, "--json").json["holds"] is True


def test_a_certificate_of_another_world_does_not_hold(tw: Tw, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    tw("plan", CELLAR / "world.tw", "--certificate", file)
    ran = tw("plan", CELLAR / "twin.tw", "--check", file)
    assert ran.code == 1
    assert "the world is `twin` here and `cellar` in the certificate" in ran.out


def test_a_tampered_certificate_names_the_first_difference(tw: Tw, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    tw("plan", CELLAR / "world.tw", "--certificate", file)
    found = json.loads(file.read_text())
    found["steps"][2]["state"] = "0" * 32
    file.write_text(json.dumps(found))
    ran = tw("plan", CELLAR / "world.tw", "--check", file, "--json")
    assert ran.code == 1
    assert ran.json["difference"].startswith("the state hash after step 3 is ")


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"format": 1}', "\x00\xff", "[" * 5000])
def test_a_file_that_is_no_certificate_is_a_diagnostic(tw: Tw, tmp_path: Path, text: str) -> None:
    file = tmp_path / "c.json"
    file.write_text(text, encoding="latin-1")
    ran = tw("plan", CELLAR / "world.tw", "--check", file)
    assert ran.code == 2
    assert ("TW0003" if "\xff" in text else "TW0006") in ran.err


def test_a_file_that_is_not_there_is_a_diagnostic(tw: Tw, tmp_path: Path) -> None:
    ran = tw("plan", CELLAR / "world.tw", "--check", tmp_path / "nothing.json")
    assert ran.code == 2
    assert "TW0001" in ran.err
    ran = tw("plan", CELLAR / "world.tw", "--certificate", tmp_path)
    assert ran.code == 2
    assert "TW0001" in ran.err


# ---- reasons, engines, matrix -----------------------------------------------------------------


def test_the_reason_comes_by_itself_and_in_full_when_asked(tw: Tw) -> None:
    short = tw("plan", CELLAR / "twin.tw")
    assert short.code == 1
    assert "`unlock(oak_chest, iron_key)` would, and needs `c.opened_by == k`" in short.out
    assert "core" not in short.out
    full = tw("plan", CELLAR / "twin.tw", "--why")
    assert "core (minimal, by relaxed reachability)" in full.out
    (why,) = tw("plan", CELLAR / "twin.tw", "--why", "--json").json["why"]
    assert why["core"]["minimal"] is True
    assert why["repairs"][0]["ticks"] == 5


def test_one_engine_answers_alone(tw: Tw) -> None:
    ran = tw("plan", CELLAR / "world.tw", "--engine", "own", "--json")
    assert (ran.code, ran.json["engine"], ran.json["why"]) == (0, "own search", [])
    assert tw("plan", CELLAR / "world.tw", "--engine", "nobody").code == 2
    ran = tw("plan", CELLAR / "world.tw", "--optimal")
    assert "optimal: no plan is shorter" in ran.out


@pytest.mark.parametrize(
    "options",
    [
        ("--engine", "own", "--optimal"),
        ("--top", "2", "--all-optimal"),
        ("--explain", "--why"),
        ("--check", "c.json", "--certificate", "d.json"),
        ("--top", "0"),
        ("--luck", "certain", "--optimal"),
        ("--luck", "certain", "--honest"),
        ("--top", "2", "--honest"),
        ("--quality", "anytime", "--honest"),
        ("--quality", "anytime", "--optimal"),
        ("--quality", "satisficing", "--luck", "certain"),
        ("--quality", "best"),
    ],
)
def test_options_that_exclude_each_other_are_refused(tw: Tw, options: tuple[str, ...]) -> None:
    ran = tw("plan", CELLAR / "world.tw", *options)
    assert ran.code == 2
    assert "TW0006" in ran.err or "best" in options


@pytest.mark.parametrize("quality", ["satisficing", "anytime"])
def test_the_quality_of_a_plan_is_chosen(tw: Tw, quality: str) -> None:
    found = tw("plan", CELLAR / "world.tw", "--quality", quality, "--json").json
    assert (found["quality"], found["answer"], found["ticks"]) == (quality, "winnable", 5)
    assert [one["ticks"] for one in found["improvements"]] == [5]
    ran = tw("plan", CELLAR / "world.tw", "--quality", quality)
    assert "· plan 1: 5 ticks (cost 5), by own search" in ran.err
    assert tw("plan", CELLAR / "twin.tw", "--quality", quality).code == 1
    assert "quality" not in tw("plan", CELLAR / "world.tw", "--json").json


SAFE = """
type Safe { secret code: 0 to 2 = 1  open: bool }
object safe: Safe
action dial(n: 0 to 2) { if safe.code == n { safe.open = true } }
action force(n: 0 to 2) { require safe.code == n else wrong "Wrong."  safe.open = true }
world bank "Bank" { setup { pick n: 0 to 2 { safe.code = n } }  goal rich: safe.open }
"""


def test_an_honest_plan_wins_whatever_is_secret(tw: Tw, tmp_path: Path) -> None:
    file, certificate = tmp_path / "safe.tw", tmp_path / "c.json"
    file.write_text(SAFE, encoding="utf-8")
    assert tw("plan", file, "--json").json["honest"] is None
    ran = tw("plan", file, "--honest", "--certificate", certificate)
    assert (ran.code, "TW0808" in ran.err) == (0, False)
    assert "wins in all 3 ways in which the setup can fill `Safe.code`" in ran.out
    assert tw("plan", file, "--check", certificate).code == 0
    found = tw("plan", file, "--honest", "--optimal", "--json").json
    assert (found["ticks"], found["optimal"], found["honest"]["assignments"]) == (3, "ticks", 3)
    file.write_text(SAFE.replace("open = true", "open = false", 1), encoding="utf-8")
    ran = tw("plan", file, "--honest", "--certificate", certificate)
    assert (ran.code, tw("plan", file).code) == (1, 0)
    assert "no goal can be reached by an honest plan" in ran.out
    assert tw("plan", file, "--check", certificate).code == 0


@pytest.mark.planner
def test_several_plans_are_listed(tw: Tw) -> None:
    if not find_engine(SYMK).ready:
        assert "TW0811" in tw("plan", CELLAR / "world.tw", "--top", "2").err
        return
    ran = tw("plan", CELLAR / "world.tw", "--top", "2")
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "1 plan, and no other without loops"
    ran = tw("plan", CELLAR / "twin.tw", "--all-optimal", "--json")
    assert (ran.code, ran.json["plans"]) == (1, [])


def test_the_matrix_lists_every_declaration(tw: Tw) -> None:
    ran = tw("plan", CELLAR / "world.tw", "--explain")
    assert ran.code == 0
    assert ran.out.splitlines()[0].split() == [
        "construct",
        "place",
        "own",
        "search",
        "E",
        "lifted",
        "PDDL",
    ]
    assert tw("plan", CELLAR / "world.tw", "--explain", "--json").json["ways"][0] == "own search"


# ---- hints ------------------------------------------------------------------------------------


def test_a_hint_from_the_start_and_after_a_script(tw: Tw, tmp_path: Path) -> None:
    ran = tw("hint", CELLAR / "world.tw")
    assert ran.code == 0
    assert ran.out.splitlines()[:2] == [
        "next: take(brass_key)",
        "distance: 5 ticks (no plan is shorter)",
    ]
    script = tmp_path / "s.txt"
    script.write_text("take brass key\ngo through arch\n")
    found = tw("hint", CELLAR / "world.tw", "--script", script, "--json").json
    assert (found["tick"], found["hint"]["distance"]) == (2, 3)


def test_a_lost_goal_is_told(tw: Tw, tmp_path: Path) -> None:
    ran = tw("hint", CELLAR / "twin.tw", "--json")
    assert (ran.code, ran.json["answer"]) == (1, "unwinnable")
    assert ran.json["last_winnable"]["moment"] is None
    assert "it never could" in tw("hint", CELLAR / "twin.tw").out


def test_a_goal_that_is_reached_needs_no_hint(tw: Tw, tmp_path: Path) -> None:
    script = tmp_path / "s.txt"
    steps = ("take(brass_key)", "go(arch)", "unlock(oak_chest, brass_key)", "open(oak_chest)")
    script.write_text("\n".join((*steps, "take(ruby)")) + "\n")
    ran = tw("hint", CELLAR / "world.tw", "--script", script)
    assert (ran.code, ran.out) == (0, "the goal is reached\n")
    assert tw("hint", CELLAR / "world.tw", "--script", tmp_path / "none.txt").code == 2


def test_a_goal_of_the_start_state_is_told(tw: Tw, tmp_path: Path) -> None:
    path = tmp_path / "lit.tw"
    path.write_text(
        "type Lamp { lit: bool = true } action light(l: Lamp) { l.lit = true } "
        "world home { object lamp: Lamp  goal bright: lamp.lit }"
    )
    found = tw("plan", path)
    assert found.code == 0
    assert "the goal holds in the start state: nothing needs to be done" in found.out
    assert tw("plan", path, "--json").json["plan"] == []
    checked = tw("check", path)
    assert (checked.code, checked.err.count("TW0607")) == (0, 1)
    drawn = path.read_text().replace("object", "setup { chance 50% { add on() } } object")
    path.write_text(drawn.replace("goal bright: lamp.lit", "goal on: on()") + " relation on()")
    assert "TW0607" not in tw("check", path).err  # another seed has another start
