"""``tw learn propose --proposer`` and ``--journal``: laws of a program, and breaks."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import broken_after_each_part
from tokenworld.session import open_world
from tokenworld.session.replaying import row_in
from tokenworld.verbs.learn.exploring import Explorer
from tokenworld.verbs.learn.propose.given.extending import Rules
from tokenworld.verbs.learn.propose.outside import aspect_of, improved
from tokenworld.verbs.learn.propose.outside import program as program_of

pytest.importorskip("numpy")

Tw = Any
FIELD = """
type Field { wide: 0 to 99 clamped = 1  deep: 0 to 99 clamped = 1  area: 0 to 9999 clamped }
actor me: Field
action widen() as "widen" { me.wide += 1 }
action deepen() as "deepen" { me.deep += 1 }
action measure() as "measure" { me.area = me.wide * me.deep }
world w { endless object field: Field }
"""
RIGHT = 'action measure() as "measure" { me.area = me.wide * me.deep }'
WRONG = ("law grow { me.area = 5 }", "use other", "law grow(f: Field) { f.area = 5 }",
         "law grow(f: Field) { f.size = 5 }")  # fmt: skip
PROGRAM = """
import json, os, sys, time
for number, line in enumerate(sys.stdin):
    asked = json.loads(line)
    with open("asked.jsonl", "a") as file:
        file.write(line)
    if os.path.exists("hang"):
        time.sleep(600)
    BODY
    print(json.dumps({"laws": laws if asked["aspect"] == "area" else []}), flush=True)
"""


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> str:
    true = tmp_path_factory.mktemp("true") / "true.tw"
    true.write_text(FIELD, encoding="utf-8")
    rows = Explorer(open_world(str(true)), "random", 1).rows(120, 120)
    return "".join(f"{json.dumps(one)}\n" for one in rows)


@pytest.fixture
def rows(walked: str, tmp_path: Path) -> Path:
    (tmp_path / "rows.jsonl").write_text(walked, encoding="utf-8")
    given = FIELD.replace(f"{RIGHT}\n", "")
    (tmp_path / "given.tw").write_text(given, encoding="utf-8")
    return tmp_path


def program(folder: Path, body: str) -> str:
    (folder / "model.py").write_text(PROGRAM.replace("BODY", body), encoding="utf-8")
    return shlex.join([sys.executable, "model.py"])


def options(command: str, *more: str) -> tuple[str, ...]:
    return ("learn", "propose", "rows.jsonl", "--world", "given.tw", "-o", "out.tw", "--json",
            "--proposer", command, *more)  # fmt: skip


def test_laws_of_a_program_pass_the_same_checks(tw: Tw, rows: Path) -> None:
    ran = tw(*options(program(rows, f"laws = {[*WRONG, RIGHT]!r}")))
    assert ran.code == 0, ran.err
    found = ran.json
    assert found["proposer"]["kept"] == [RIGHT]
    assert found["judged"]["all"]["step"]["share"] == 1
    assert (rows / "out.tw").read_text(encoding="utf-8") == found["text"]
    assert found["text"].count("action measure") == 1  # the learned one was replaced
    left_out = [one["message"] for one in found["diagnostics"] if one["code"] == "TW1207"]
    assert len(left_out) == len(WRONG) == found["proposer"]["left_out"]
    for text in ("It is no law, action or derive", "less than it is long", "size"):
        assert any(text in one for one in left_out), text
    question = json.loads((rows / "asked.jsonl").read_text("utf-8").splitlines()[0])
    assert (question["format"], question["aspect"]) == ("tw-proposer/1", "area")
    (slot,) = question["difference"]
    assert slot["slot"] == "field.area"
    assert slot["observed"] != slot["by_the_rules"]
    assert question["command"]["action"] == "measure"
    assert question["state"]["objects"]
    assert question["after"]["objects"]
    assert "action widen" in question["rules"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("sys.exit(3)", "exit code 3"), ("print('law x', flush=True); continue", "is no"),
        ("time.sleep(60)", "no answer within 0.4 s"),
        ("print('{\"laws\": [7]}', flush=True); continue", "is no"),
        ("print('x' * 3_000_000, flush=True); continue", "floods"),
    ],
)  # fmt: skip
def test_a_program_that_fails_is_asked_no_more(
    rows: Path, monkeypatch: pytest.MonkeyPatch, body: str, why: str
) -> None:
    monkeypatch.chdir(rows)
    ask, close = program_of(program(rows, body), 0.4 if "sleep" in body else 30)
    few = (rows / "rows.jsonl").read_text(encoding="utf-8").splitlines()[:40]
    given = Rules(open_world("given.tw"))
    asked = improved(given.text, given, [row_in(one, "row") for one in few], ask, print)
    close()
    assert asked.text == given.text
    assert asked.failure is not None
    assert why in asked.failure.what
    assert asked.questions == 0


def test_a_failure_is_told_once_and_the_rest_is_written(tw: Tw, rows: Path) -> None:
    ran = tw(*options(program(rows, "sys.exit(3)")))
    assert (ran.code, ran.err.count("TW1009")) == (1, 1)
    assert "exit code 3" in ran.json["proposer"]["failed"]
    assert "action measure" in (rows / "out.tw").read_text(encoding="utf-8")


def test_a_program_that_does_not_start_ends_it_before_anything_is_learned(
    tw: Tw, rows: Path
) -> None:
    for command in ("no-such-program", "'unclosed", ""):
        ran = tw(*options(command))
        assert ran.code != 0
        assert ran.err.count("error[") == 1
    assert tw(*options("true", "--reply-timeout", "0")).code == 2
    assert not (rows / "out.tw").exists()


def test_slots_are_asked_by_their_fluents() -> None:
    assert [aspect_of(one) for one in ("cup.full", "gap(a, b)", "pot")] == ["full", "gap", "pot"]


# ---- going on -----------------------------------------------------------------------------------


def test_a_killed_run_goes_on_and_comes_to_the_same_result(tw: Tw, rows: Path) -> None:
    """The program is killed while it waits for an answer: all rules are in the journal then."""
    asked = options(program(rows, f"laws = {[RIGHT]!r}"), "--journal", "run.journal")
    (rows / "hang").touch()
    start = "from tokenworld.cli import main; main()"
    child = subprocess.Popen([sys.executable, "-c", start, *asked], cwd=rows,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    while not (rows / "asked.jsonl").exists():
        assert child.poll() is None
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert not (rows / "out.tw").exists()
    kept = (rows / "run.journal").read_bytes()
    assert kept.count(b"\n") > 1
    (rows / "run.journal").write_bytes(kept + b'{"kind": "answ')  # a line that was being written
    (rows / "hang").unlink()
    again = tw(*asked)
    assert again.code == 0, again.err
    assert "resuming after" in again.err
    assert not (rows / "run.journal").exists()
    (rows / "out.tw").unlink()
    whole = tw(*asked)
    assert whole.out == again.out
    assert "going on" not in whole.err


@pytest.mark.slow
def test_every_part_may_be_the_last_one(
    tw: Tw, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drawn samples are the same after a break: the state of the generator is kept."""
    monkeypatch.setattr("tokenworld.verbs.learn.propose.stages._SAME", 20)
    monkeypatch.setattr("tokenworld.verbs.learn.propose.stages._CHANGED", 9)
    asked = ("learn", "propose", "rows.jsonl", "--json", "--journal", "run.journal")
    whole = tw(*asked)
    ran, breaks = broken_after_each_part(tw, monkeypatch, *asked)
    assert breaks > 3
    assert ran.out == whole.out


def test_a_journal_of_another_run_is_told(tw: Tw, rows: Path) -> None:
    asked = ("learn", "propose", "rows.jsonl", "--journal", "run.journal", "-o", "out.tw")
    for text in ('{"format": "tw-learn/1", "command": "propose"}\n', "[]\n", "nothing\n"):
        (rows / "run.journal").write_text(text, encoding="utf-8")
        ran = tw(*asked)
        assert (ran.code, ran.err.count("TW1211")) == (2, 1)
        assert (rows / "run.journal").read_text(encoding="utf-8") == text
    assert not (rows / "out.tw").exists()
    (rows / "run.journal").unlink()
    (rows / "run.journal").mkdir()
    assert "TW0001" in tw(*asked).err
