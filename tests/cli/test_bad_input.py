"""Bad input gives one diagnostic with a code and a next step, and leaves nothing half-written."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

Tw = Any
RANDOM = ("--player", "random", "--ticks", "3")


def told(ran: Any, code: str, exit_code: int) -> str:
    """The one diagnostic on stderr: its message and its next step."""
    assert ran.code == exit_code, ran.err
    codes = re.findall(r"^(?:error|warning)\[(TW\d{4})\]", ran.err, re.MULTILINE)
    assert codes == [code], ran.err
    assert "help: " in ran.err
    return str(ran.err)


def nothing_written(folder: Path) -> None:
    assert not (folder / ".tw").exists()
    assert not list(folder.glob("**/*.part"))


VERBS = (("run", RANDOM), ("play", ()), ("plan", ()), ("export", ("--pddl",)))


@pytest.mark.parametrize(("verb", "more"), VERBS)
def test_a_missing_file(tw: Tw, tmp_path: Path, verb: str, more: tuple[str, ...]) -> None:
    assert "`nowhere.tw`" in told(tw(verb, "nowhere.tw", *more), "TW0001", 2)
    ran = tw(verb, "nowhere.tw", *more, "--json")
    assert ran.json["diagnostics"][0]["code"] == "TW0001"
    nothing_written(tmp_path)


@pytest.mark.parametrize(("verb", "more"), VERBS)
def test_a_folder_and_a_binary_file(
    tw: Tw, tmp_path: Path, verb: str, more: tuple[str, ...]
) -> None:
    (tmp_path / "folder.tw").mkdir()
    (tmp_path / "binary.tw").write_bytes(bytes(range(256)) * 4)
    told(tw(verb, "folder.tw", *more), "TW0001", 2)
    told(tw(verb, "binary.tw", *more), "TW0003", 2)
    nothing_written(tmp_path)


@pytest.mark.parametrize(("verb", "more"), VERBS)
def test_an_empty_file_and_unknown_worlds(
    tw: Tw, tmp_path: Path, world: Path, verb: str, more: tuple[str, ...]
) -> None:
    (tmp_path / "empty.tw").write_text("")
    told(tw(verb, "empty.tw", *more), "TW0005", 2)
    assert "small" in told(tw(verb, f"{world}:smal", *more), "TW0005", 2)
    (tmp_path / "two.tw").write_text("world a { }\nworld b { }\n")
    assert "`two.tw:a`, `two.tw:b`" in told(tw(verb, "two.tw", *more), "TW0005", 2)
    nothing_written(tmp_path)


@pytest.mark.parametrize(("verb", "more"), VERBS)
def test_a_file_with_errors(tw: Tw, tmp_path: Path, verb: str, more: tuple[str, ...]) -> None:
    (tmp_path / "wrong.tw").write_text("type Door { near: Romo }\ntype Room\nworld w { }\n")
    assert "Did you mean `Room`?" in told(tw(verb, "wrong.tw", *more), "TW0202", 1)
    nothing_written(tmp_path)


def test_check_of_the_same_files(tw: Tw, tmp_path: Path) -> None:
    (tmp_path / "empty.tw").write_text("")
    (tmp_path / "binary.tw").write_bytes(b"\x00\x01\xff")
    told(tw("check", "nowhere.tw"), "TW0001", 2)
    told(tw("check", "binary.tw"), "TW0003", 2)
    told(tw("check", "empty.tw"), "TW0004", 0)
    found = tw("check", "empty.tw", "nowhere.tw", "--json").json
    assert found["ok"] is False
    assert [one["diagnostics"][0]["code"] for one in found["files"]] == ["TW0004", "TW0001"]


def test_test_of_the_same_files(tw: Tw, tmp_path: Path, world: Path) -> None:
    told(tw("test", "nowhere.tw"), "TW0001", 2)
    (tmp_path / "binary.tw").write_bytes(b"\x00\x01\xff")
    ran = tw("test", world, "binary.tw", "--json")
    told(ran, "TW0003", 2)
    assert (ran.json["ok"], ran.json["passed"]) == (False, 1)
    assert ran.json["diagnostics"][0]["code"] == "TW0003"
    (tmp_path / "none.tw").write_text("type T\n")
    ran = tw("test", "none.tw")
    assert ran.code == 1
    assert "scenario" in ran.err
    (tmp_path / "blank").mkdir()
    told(tw("test", "blank"), "TW0001", 2)
    told(tw("test", world, "--junit", "no/such/folder.xml"), "TW0001", 2)


# ---- commands and scripts ------------------------------------------------------------------


def test_an_unknown_object_in_a_command_is_a_record_that_suggests(
    tw: Tw, world: Path, tmp_path: Path
) -> None:
    (tmp_path / "s.txt").write_text("go to atic\ngo(atic)\ngo to\ndance\nadd 9\n")
    ran = tw("run", world, "--script", "s.txt")
    assert ran.code == 0
    shown = tw("runs", "show", "--json").json["ticks"]
    assert {one["status"] for one in shown} == {"no_match"}
    kinds = [one["no_match"]["kind"] for one in shown]
    assert kinds[:2] == ["no_such_object", "no_such_object"]
    assert any("attic" in text for text in shown[0]["no_match"]["suggestions"])
    assert kinds[3] == "unknown_verb"


def test_scripts_that_do_not_fit(tw: Tw, world: Path, tmp_path: Path) -> None:
    told(tw("run", world, "--script", "nowhere.txt"), "TW0001", 2)
    (tmp_path / "binary.txt").write_bytes(b"add 1\n\xff\xfe")
    told(tw("run", world, "--script", "binary.txt"), "TW0003", 2)
    (tmp_path / "odd.txt").write_text('add 1\n{"format": "tw-intent/9", "action": "add"}\n')
    assert "odd.txt:2:1" in told(tw("run", world, "--script", "odd.txt"), "TW0006", 2)
    (tmp_path / "torn.txt").write_text('{"format": "tw-intent/1", "act')
    told(tw("run", world, "--script", "torn.txt"), "TW0006", 2)
    nothing_written(tmp_path)


def test_an_empty_script_is_an_empty_run(tw: Tw, world: Path, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("# nothing\n\n")
    assert tw("run", world, "--script", "s.txt", "--json").json["records"] == 0


# ---- usage ---------------------------------------------------------------------------------


def test_options_that_do_not_go_together(tw: Tw, world: Path, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("add 1\n")
    told(tw("run", world), "TW0006", 2)
    told(tw("run", world, "--player", "random"), "TW0006", 2)
    told(tw("run", world, "--player", "random", "--script", "s.txt"), "TW0006", 2)
    told(tw("run", world, "--script", "s.txt", "--ticks", "-1"), "TW0006", 2)
    told(tw("export", world), "TW0006", 2)
    nothing_written(tmp_path)


@pytest.mark.parametrize("verb", ["plan", "play", "export"])
def test_an_unknown_goal_is_usage_and_no_verdict(
    tw: Tw, world: Path, tmp_path: Path, verb: str
) -> None:
    more = ("--pddl",) if verb == "export" else ()
    text = told(tw(verb, world, "--goal", "pu", *more), "TW0006", 2)
    assert "`up`" in text
    nothing_written(tmp_path)


@pytest.mark.parametrize(
    "arguments",
    [("nosuch",), ("run",), ("check",), ("run", "x.tw", "--ticks", "many"),
     ("run", "x.tw", "--odd"),
          ("run", "x.tw", "--player", "robot"), ("runs", "nosuch"), ("runs", "export")],
)  # fmt: skip
def test_wrong_usage_is_told_and_exits_2(tw: Tw, arguments: tuple[str, ...]) -> None:
    ran = tw(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.strip()
    found = tw(*arguments, "--json")
    assert found.code == 2
    assert found.json["ok"] is False
    assert found.json["usage"]


def test_an_unknown_code_is_explained_as_such(tw: Tw) -> None:
    assert tw("explain", "TW9999").code == 2
    assert "TW0403" in tw("explain", "TW0403").out


# ---- run stores ----------------------------------------------------------------------------


def test_no_store_no_run_no_record(tw: Tw, world: Path, tmp_path: Path) -> None:
    for arguments in (
        ("runs",),
        ("runs", "show"),
        ("runs", "replay"),
        ("runs", "export", "-o", "x"),
    ):
        told(tw(*arguments), "TW1104", 2)
    nothing_written(tmp_path)
    assert not (tmp_path / "x").exists()
    tw("run", world, *RANDOM)
    for name in ("nope", "99", "small-7"):
        told(tw("runs", "show", name), "TW1104", 2)
        told(tw("runs", "replay", name, "--verify"), "TW1104", 2)


def test_a_store_that_is_no_database(tw: Tw, world: Path, tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    path.write_text("this is no database, whatever its name says\n" * 9)
    before = path.read_bytes()
    for arguments in (
        ("run", world, *RANDOM), ("runs",), ("runs", "replay", "--verify"), ("play", world),
    ):  # fmt: skip
        told(tw(*arguments, "--store", path), "TW1101", 2)
    assert path.read_bytes() == before
    (tmp_path / "folder").mkdir()
    told(tw("run", world, *RANDOM, "--store", tmp_path / "folder"), "TW1101", 2)


def test_a_damaged_store(tw: Tw, world: Path, tmp_path: Path) -> None:
    tw("run", world, "--player", "random", "--ticks", "40")
    path = tmp_path / ".tw" / "runs.sqlite"
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(data)
    for arguments in (("runs",), ("runs", "replay", "--verify"), ("run", world, *RANDOM)):
        told(tw(*arguments), "TW1101", 2)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_store(tw: Tw, world: Path, tmp_path: Path) -> None:
    tw("run", world, *RANDOM)
    path = tmp_path / ".tw" / "runs.sqlite"
    before = path.read_bytes()
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        told(tw("run", world, *RANDOM), "TW1102", 2)
        assert path.read_bytes() == before
        assert tw("runs", "replay", "--verify").code == 0
    finally:
        path.parent.chmod(0o755)
        path.chmod(0o644)


def test_a_store_in_a_place_that_cannot_be_written(tw: Tw, world: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told(tw("run", world, *RANDOM, "--store", tmp_path / "file" / "runs.sqlite"), "TW1102", 2)
    told(tw("run", world, *RANDOM, "--store", "/proc/nowhere/runs.sqlite"), "TW1102", 2)


def test_a_store_of_a_newer_version(tw: Tw, world: Path, tmp_path: Path) -> None:
    import sqlite3

    tw("run", world, *RANDOM)
    path = tmp_path / ".tw" / "runs.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    told(tw("runs"), "TW1103", 2)
    told(tw("run", world, *RANDOM), "TW1103", 2)


def test_a_changed_record_fails_verification(tw: Tw, world: Path, tmp_path: Path) -> None:
    import sqlite3

    tw("run", world, "--player", "random", "--ticks", "6")
    path = tmp_path / ".tw" / "runs.sqlite"
    connection = sqlite3.connect(path)
    for (name,) in connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    ).fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("UPDATE tick SET outcome = replace(outcome, '\"reward\":0', '\"reward\":9')")
    connection.commit()
    connection.close()
    ran = tw("runs", "replay", "--verify", "--json")
    assert ran.code == 1
    assert ran.json["ok"] is False
    assert "TW1101" in ran.err


def test_imports_that_are_no_export(tw: Tw, tmp_path: Path) -> None:
    told(tw("runs", "import", "nowhere.jsonl"), "TW1106", 2)
    (tmp_path / "empty.jsonl").write_text("")
    told(tw("runs", "import", "empty.jsonl", "--json"), "TW1106", 2)
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n[2]\n')
    ran = tw("runs", "import", "other.jsonl", "--json")
    assert "TW1106" in ran.err
    assert ran.code == 2
    (tmp_path / "binary.jsonl").write_bytes(b"\xff\xfe\x00\x01")
    assert tw("runs", "import", "binary.jsonl", "--json").code == 2


def test_exports_that_cannot_be_written(tw: Tw, world: Path, tmp_path: Path) -> None:
    tw("run", world, *RANDOM)
    told(tw("runs", "export", "-o", tmp_path / "no" / "such" / "folder.jsonl"), "TW1102", 2)
    (tmp_path / "file").write_text("")
    told(tw("export", world, "--pddl", "-o", tmp_path / "file"), "TW0001", 2)
    told(tw("export", world, "--pddl", "-o", tmp_path / "file" / "deeper"), "TW0001", 2)


# ---- planners ------------------------------------------------------------------------------


def test_a_plan_without_time_is_unknown_and_never_a_verdict(tw: Tw, willowbrook: Path) -> None:
    ran = tw("plan", willowbrook, "--time-limit", "0.01", "--json")
    assert ran.code == 3
    assert ran.json["answer"] == "unknown"


def test_a_world_without_a_goal(tw: Tw, tmp_path: Path) -> None:
    (tmp_path / "aimless.tw").write_text(
        "type T\nactor me: T\naction a() { }\nworld w { object h: T }\n"
    )
    ran = tw("plan", "aimless.tw")
    assert ran.code in (1, 2)
    assert "goal" in ran.err


def test_start_states_that_cannot_be_made_are_told(tw: Tw, tmp_path: Path) -> None:
    bad = "type T { n: 0 to 9 = 0 }\nworld w { object h: T  setup { h.n = 4 div h.n } }\n"
    (tmp_path / "bad.tw").write_text(bad)
    told(tw("check", "bad.tw"), "TW1006", 1)
    told(tw("run", "bad.tw", *RANDOM), "TW1006", 1)
    (tmp_path / "bad.tw").write_text(bad.replace("4 div h.n", "h.n + 12").replace("= h", "= 3 + h"))
    assert tw("run", "bad.tw", *RANDOM).code == 1
    nothing_written(tmp_path)
