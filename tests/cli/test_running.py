"""`tw run`, `tw runs`, `tw test`, `tw check` on sound input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

DOMAINS = Path(__file__).parents[2] / "domains"
Tw = Any


def script(folder: Path, *lines: str) -> Path:
    path = folder / "script.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def records(tw: Tw, run: str | None = None) -> Any:
    arguments = ("runs", "show", *([] if run is None else [run]), "--json")
    return tw(*arguments).json["ticks"]


# ---- the words of a run -----------------------------------------------------------------------

PLAYED = Path(__file__).parents[1] / "findings" / "play"


def test_a_long_action_is_told_when_it_is_done(tw: Tw, tmp_path: Path) -> None:
    lines = script(tmp_path, "buy flour", "buy flour", "buy yeast", "bake bread", "pass")
    told = tw("run", PLAYED / "bakery.tw", "--script", lines).out
    assert "   3 … bake bread  [waiting 1 of 2]\n" in told
    assert "   4 ✓ pass  [executed]\n       `bake bread` is done.\n" in told
    assert told.count("is done") == 1


def test_of_many_cases_the_nearest_is_shown(tw: Tw, tmp_path: Path) -> None:
    told = tw("run", PLAYED / "lighthouse.tw", "--script", script(tmp_path, "go to stair")).out
    shown = told.split("shut: ")[1].split("gloom: ")[0]
    assert shown.count("✗ d = ") == 1
    assert "and 4 more, none of which holds" in shown


def test_what_fails_for_want_of_a_value_is_folded(tw: Tw, tmp_path: Path) -> None:
    rover = PLAYED / "rover.tw"
    told = tw("run", rover, "--script", script(tmp_path, "drive west")).out
    assert "edge: there != none" in told
    assert "? not judged for want of a value: flat\n" in told
    assert "costs nothing" not in told
    told = tw("run", rover, "--script", script(tmp_path, *["drive south", "drive north"] * 8)).out
    assert "       me.battery = 0wh\n" in told


# ---- the acceptance of the issue -----------------------------------------------------------


def test_a_random_run_twice_gives_the_same_hash_and_replays(tw: Tw, willowbrook: Path) -> None:
    command = ("run", willowbrook, "--player", "random", "--ticks", "60", "--seed", "7", "--json")
    one, two = tw(*command), tw(*command)
    assert (one.code, two.code) == (0, 0)
    assert one.json["state_hash"] == two.json["state_hash"]
    assert (one.json["records"], one.json["run"], two.json["run"]) == (
        60, "willowbrook-1", "willowbrook-2",
    )  # fmt: skip
    other = tw(*command[:-2], "8", "--json")
    assert other.json["state_hash"] != one.json["state_hash"]
    replayed = tw("runs", "replay", "willowbrook-2", "--verify", "--json")
    assert replayed.code == 0
    assert replayed.json["ok"] is True
    assert replayed.json["records"] == 60
    assert replayed.json["state_hash"] == one.json["state_hash"]


def test_a_locked_chest_is_stored_as_refused(tw: Tw, cottage: Path, tmp_path: Path) -> None:
    assert tw("run", cottage, "--script", script(tmp_path, "open old chest")).code == 0
    (record,) = records(tw)
    assert (record["status"], record["action"]) == ("refused", "lift")
    assert record["refusal"]["label"] == "locked"
    assert record["refusal"]["text"] == "The old chest is locked."
    (locked, opened) = record["refusal"]["failed"]
    assert (locked["values"], opened["label"]) == ({"c.state": "locked"}, "opened")
    assert record["hash_before"] == record["hash_after"]
    assert record["changes"] == []
    text = tw("runs", "show").out
    assert "The old chest is locked." in text
    assert "c.state = locked" in text


def test_sharpen_force_and_lift_are_executed_where_the_lock_gives(
    tw: Tw, cottage: Path, tmp_path: Path
) -> None:
    lines = script(
        tmp_path, "go through cottage door", "sharpen dull knife on whetstone",
        "go through cottage door", "force old chest with keen knife", "lift the lid of old chest",
    )  # fmt: skip
    found = {}
    for seed in range(8):
        assert tw("run", cottage, "--script", lines, "--seed", seed).code == 0
        *_, force, lift = records(tw)
        assert force["status"] == "executed"
        gave = "The lock gives." in force["said"]
        assert lift["status"] == ("executed" if gave else "refused")
        found[gave] = seed
    assert set(found) == {True, False}
    for seed in found.values():
        assert tw("runs", "replay", f"cottage-{seed + 1}", "--verify").code == 0


@pytest.mark.parametrize("name", ["blocks", "cellar", "kitchen", "cottage"])
def test_the_worlds_are_sound(tw: Tw, name: str) -> None:
    ran = tw("check", DOMAINS / name / "world.tw", "--json")
    assert (ran.code, ran.json["ok"]) == (0, True)
    assert ran.json["files"][0]["diagnostics"] == []


# ---- run -----------------------------------------------------------------------------------


def test_run_tells_each_record_and_ends_with_the_hash(tw: Tw, world: Path, tmp_path: Path) -> None:
    lines = script(tmp_path, "# up we go", "add 2", "", "go to hall", "fly", "go to attic", "add 1")
    ran = tw("run", world, "--script", lines)
    assert ran.code == 0
    assert "[executed]" in ran.out
    assert "You are in the hall." in ran.out
    assert "r != me.at" in ran.out
    assert "Up." in ran.out
    last = ran.out.strip().splitlines()[-1]
    assert last.startswith("run small-1: 5 records, tick 2, endings up, state ")
    shown = records(tw)
    assert [one["status"] for one in shown] == [
        "executed", "refused", "no_match", "executed", "halted",
    ]  # fmt: skip
    assert last.endswith(shown[-1]["hash_after"])
    assert [one["source"] for one in shown] == ["script"] * 5


def test_run_as_json_is_one_object(tw: Tw, world: Path, tmp_path: Path) -> None:
    lines = script(
        tmp_path, "add 2", '{"format": "tw-intent/1", "action": "go", "args": {"r": "attic"}}'
    )
    found = tw("run", world, "--script", lines, "--seed", "3", "--json").json
    assert found.pop("state_hash") == records(tw)[-1]["hash_after"]
    assert found.pop("link") == tw("runs", "show", "--json").json["link"]
    assert found == {
        "schema_version": 1, "run": "small-1", "reason": "done", "records": 2, "tick": 2,
        "seed": 3, "score": 0, "endings": ["up"], "statuses": {"executed": 2},
        "refusal": None,
    }  # fmt: skip


def test_ticks_count_records(tw: Tw, world: Path, tmp_path: Path) -> None:
    lines = script(tmp_path, "fly", "add 1", "add 1", "add 1")
    assert tw("run", world, "--script", lines, "--ticks", "2", "--json").json["records"] == 2
    assert tw("run", world, "--player", "random", "--ticks", "0", "--json").json["records"] == 0


def test_a_bundled_world_is_found_by_its_name(tw: Tw) -> None:
    assert tw("run", "cellar", "--player", "random", "--ticks", "3", "--json").code == 0


def test_the_store_may_lie_elsewhere(tw: Tw, world: Path, tmp_path: Path) -> None:
    place = tmp_path / "deep" / "er" / "runs.db"
    assert tw("run", world, "--player", "random", "--ticks", "3", "--store", place).code == 0
    assert place.is_file()
    assert not (tmp_path / ".tw").exists()
    assert tw("runs", "--store", place, "--json").json["runs"][0]["records"] == 3
    assert tw("runs").code == 2


# ---- runs ----------------------------------------------------------------------------------


def test_runs_are_listed_and_named(tw: Tw, world: Path, willowbrook: Path) -> None:
    for target in (world, willowbrook, world):
        tw("run", target, "--player", "random", "--ticks", "4")
    found = tw("runs", "--json").json["runs"]
    assert [one["run"] for one in found] == ["small-1", "willowbrook-1", "small-2"]
    assert {one["ended"] for one in found} == {"done"}
    only = tw("runs", "--world", "small", "--json").json["runs"]
    assert [one["run"] for one in only] == ["small-1", "small-2"]
    assert "small-2" in tw("runs").out
    for reference, run in (
        ("2", "willowbrook-1"), ("small-1", "small-1"), ("small", "small-2"),
    ):  # fmt: skip
        assert tw("runs", "show", reference, "--json").json["run"] == run
    assert tw("runs", "replay", "--json").json["run"] == "small-2"
    assert "replays exactly" in tw("runs", "replay", "willowbrook", "--verify").out


def test_a_run_replays_from_its_own_sources_when_the_file_has_changed(tw: Tw, world: Path) -> None:
    tw("run", world, "--player", "random", "--ticks", "5")
    world.write_text("type Other\n", encoding="utf-8")
    assert tw("runs", "replay", "--verify").code == 0
    world.unlink()
    assert tw("runs", "replay", "--verify").code == 0


def test_export_and_import_carry_runs_whole(tw: Tw, world: Path, tmp_path: Path) -> None:
    for seed in (1, 2):
        tw("run", world, "--player", "random", "--ticks", "6", "--seed", seed)
    ran = tw("runs", "export", "small-1", "small-2", "-o", "out.jsonl", "--json")
    assert (ran.code, ran.json["runs"]) == (0, ["small-1", "small-2"])
    ran = tw("runs", "import", "out.jsonl", "--store", "other.sqlite", "--json")
    assert (ran.code, ran.json["findings"]) == (0, 0)
    for name in ran.json["runs"]:
        one = tw("runs", "show", name, "--json").json
        other = tw("runs", "show", name, "--store", "other.sqlite", "--json").json
        assert one["ticks"] == other["ticks"]
        assert tw("runs", "replay", name, "--verify", "--store", "other.sqlite").code == 0
    tw("runs", "export", "small-2", "-o", "again.jsonl", "--store", "other.sqlite")
    tw("runs", "export", "small-2", "-o", "first.jsonl")
    assert (tmp_path / "again.jsonl").read_text() == (tmp_path / "first.jsonl").read_text()


def test_a_torn_last_line_is_reported_and_skipped(tw: Tw, world: Path, tmp_path: Path) -> None:
    tw("run", world, "--script", script(tmp_path, *["add 1"] * 6))
    tw("runs", "export", "-o", "out.jsonl")
    *lines, end, closing = (tmp_path / "out.jsonl").read_text().splitlines()
    assert "tw-outcome/1" not in end
    assert "tw-export/1" in closing
    (tmp_path / "torn.jsonl").write_text("\n".join(lines)[:-40])
    ran = tw("runs", "import", "torn.jsonl", "--store", "other.sqlite", "--json")
    assert ran.json["findings"] == 1
    assert "TW1106" in ran.err
    kept = tw("runs", "--store", "other.sqlite", "--json").json["runs"][0]["records"]
    assert kept == 5
    assert tw("runs", "replay", "--verify", "--store", "other.sqlite").code == 0


# ---- test ----------------------------------------------------------------------------------


def test_scenarios_pass_and_fail_with_their_places(tw: Tw, world: Path) -> None:
    assert tw("test", world).code == 0
    with world.open("a", encoding="utf-8") as more:
        more.write('scenario "wrong" in small { when add(2) then hero.n == 3, won }\n')
    ran = tw("test", world)
    assert ran.code == 1
    assert "1 passed, 1 failed" in ran.out
    assert f"{world}:12:46: hero.n == 3" in ran.out
    found = tw("test", world, "--json").json
    assert (found["ok"], found["passed"], found["failed"]) == (False, 1, 1)
    assert [one["ok"] for one in found["scenarios"]] == [True, False]


def test_junit_output(tw: Tw, world: Path, tmp_path: Path) -> None:
    with world.open("a", encoding="utf-8") as more:
        more.write('scenario "<wrong> & \\"so\\"" in small { when add(2) then hero.n == 3 }\n')
    assert tw("test", world, "--junit", "report.xml").code == 1
    root = ElementTree.parse(tmp_path / "report.xml").getroot()
    assert root.tag == "testsuites"
    (suite,) = root
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == (str(world), "2", "1")
    good, bad = suite.findall("testcase")
    assert (good.get("name"), good.get("classname")) == ("going", "small")
    failure = bad.find("failure")
    assert good.find("failure") is None
    assert failure is not None
    assert "hero.n == 3" in str(failure.get("message"))


def test_folders_are_searched_for_programs(tw: Tw, world: Path, tmp_path: Path) -> None:
    (tmp_path / "domains" / "deep").mkdir(parents=True)
    (tmp_path / "rules").mkdir()
    world.rename(tmp_path / "domains" / "deep" / "small.tw")
    assert tw("test", "--json").json["passed"] == 1
    assert tw("test", "domains", "--json").json["passed"] == 1


# ---- other verbs ---------------------------------------------------------------------------


def test_check_lists_every_file(tw: Tw, world: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.tw"
    bad.write_text("type room\ntype Door { near: Romo }\n", encoding="utf-8")
    ran = tw("check", world, bad)
    assert ran.code == 1
    assert f"{world}: no problems found" in ran.out
    assert "TW0101" in ran.err
    found = tw("check", world, bad, "--json").json
    assert [len(one["diagnostics"]) > 0 for one in found["files"]] == [False, True]


def test_warnings_alone_are_no_error(tw: Tw, tmp_path: Path) -> None:
    path = tmp_path / "warned.tw"
    path.write_text("type T { n: 0 to 9 = 0 }\nlaw l(t: T) { t.n += 1 }\n", encoding="utf-8")
    ran = tw("check", path)
    assert (ran.code, "TW0503" in ran.err) == (0, True)
    assert "1 warning" in ran.out


def test_version_and_help(tw: Tw) -> None:
    assert tw("--help").code == 0
    for verb in ("check", "run", "play", "plan", "test", "export", "doctor", "explain", "runs"):
        assert tw(verb, "--help").code == 0, verb


def test_json_of_a_run_survives_names_outside_ascii(tw: Tw, tmp_path: Path) -> None:
    path = tmp_path / "ünï.tw"
    path.write_text(
        'type T { n: 0 to 9 = 0 }\nactor me: T\naction `größer`() as "größer" { me.n += 1 }\n'
        'world `wält` "Wält" { object `hëld`: T }\n',
        encoding="utf-8",
    )
    lines = script(tmp_path, "größer", "GRÖSSER", "groß")
    found = tw("run", path, "--script", lines, "--json").json
    assert found["run"] == "wält-1"
    assert records(tw)[0]["actor"] == "hëld"
    assert json.loads(json.dumps(records(tw)))
    assert tw("runs", "replay", "--verify").code == 0
