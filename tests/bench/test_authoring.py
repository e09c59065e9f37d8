"""`tw bench text2world --author`: a model, here a script, writes a domain from its description."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.author.conftest import marked
from tokenworld.cli import _main

TOWER = """
(define (domain tower)
  (:requirements :strips :typing)
  (:types floor window)
  (:predicates (above ?a ?b - floor) (cradle_at ?f - floor) (on_floor ?w - window ?f - floor)
               (soaped ?w - window) (clean ?w - window))
  (:action raise :parameters (?a ?b - floor)
    :precondition (and (cradle_at ?a) (above ?b ?a))
    :effect (and (not (cradle_at ?a)) (cradle_at ?b)))
  (:action lower :parameters (?a ?b - floor)
    :precondition (and (cradle_at ?a) (above ?a ?b))
    :effect (and (not (cradle_at ?a)) (cradle_at ?b)))
  (:action soap :parameters (?w - window ?f - floor)
    :precondition (and (cradle_at ?f) (on_floor ?w ?f)) :effect (soaped ?w))
  (:action wipe :parameters (?w - window ?f - floor)
    :precondition (and (cradle_at ?f) (on_floor ?w ?f) (soaped ?w))
    :effect (and (not (soaped ?w)) (clean ?w))))
"""
NAME = "007-tower"
ASKED = ("--author", "script:tower.script", "--runs", "runs", "--without", "player",
         "--instances", "0")  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tower.script").write_text(marked("sample: tower.script"), encoding="utf-8")
    entry = {"id": 7, "file_name": "tower.pddl", "pddl_domain": TOWER,
             "corrected_description": marked("sample: tower.md")}  # fmt: skip
    (tmp_path / "list.json").write_text(json.dumps([entry]), encoding="utf-8")
    (tmp_path / "golds").mkdir()
    (tmp_path / "golds" / f"{NAME}.pddl").write_text(TOWER, encoding="utf-8")
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = _main(["bench", "text2world", *arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_domain_is_written_and_scored(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found = told(capsys, "list.json", *ASKED, "--model", "m-1", "--date", "2026-01-01")
    (gold,) = found["golds"]
    assert (code, gold["name"], gold["fair"]) == (0, NAME, 1.0)
    assert (folder / "runs" / NAME / "transcript.jsonl").is_file()
    _, rounds, _ = found["tables"]
    assert rounds["rows"] == [
        ["1", "1", "98.8 ± 0.0", "red-scenario 1"], ["2", "1", "100.0 ± 0.0", "none"],
    ]  # fmt: skip
    who = found["tables"][0]["rows"][1]
    assert who[0] == "m-1, 2026-01-01"
    assert who[-1] == "tokens not told by the model"


def test_a_run_that_has_ended_is_not_made_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = told(capsys, "list.json", *ASKED)
    (folder / "tower.script").unlink()
    assert told(capsys, "list.json", *ASKED) == first


def test_descriptions_of_a_folder_and_a_run_that_goes_on(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A provider that breaks off ends the benchmark; the next call goes on from there."""
    (folder / "told").mkdir()
    text = json.dumps({"description": marked("sample: tower.md")})
    (folder / "told" / f"{NAME}.json").write_text(text, encoding="utf-8")
    script = marked("sample: tower.script")
    (folder / "tower.script").write_text(script.partition("=== developer")[0], encoding="utf-8")
    asked = ("golds", *ASKED, "--descriptions", "told")
    assert _main(["bench", "text2world", *asked]) == 2
    assert capsys.readouterr().err.count("TW1301") == 1
    (folder / "tower.script").write_text(f"=== developer{script.partition('=== developer')[2]}",
                                         encoding="utf-8")  # fmt: skip
    code, found = told(capsys, *asked)
    assert (code, found["golds"][0]["fair"]) == (0, 1.0)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("list.json --author script:tower.script", "TW0006"),
        ("golds --author script:tower.script --runs runs", "TW0006"),
        ("golds --author script:tower.script --runs runs --descriptions golds", "TW0006"),
        ("list.json --author gpt --runs runs", "TW0006"),
        ("list.json --author http --runs runs", "TW0006"),
        ("list.json --author script:tower.script --runs runs --predictions golds", "TW0006"),
        ("list.json --author script:none --runs runs", "TW0001"),
        ("list.json --author script:tower.script --runs list.json", "TW0001"),
    ],
)
def test_bad_input_is_one_diagnostic(
    arguments: str, code: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _main(["bench", "text2world", *arguments.split()]) == 2
    err = capsys.readouterr().err
    assert (err.count("TW"), err.count(code)) == (1, 1), err
