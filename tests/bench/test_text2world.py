"""`tw bench text2world`: round trips, predictions, behaviour on made problems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tokenworld.cli import _main
from tokenworld.diagnostics import Source
from tokenworld.verbs.bench.behaviour import behaviour, instances, types_of, without_types
from tokenworld.verbs.equiv import side_of

SHARED = Path(__file__).parents[3] / "shared" / "data"
GRIPPER = """
(define (domain gripper)
  (:requirements :strips :typing)
  (:types room ball gripper - object)
  (:predicates (robby ?r - room) (at ?b - ball ?r - room) (free ?g - gripper)
               (carry ?b - ball ?g - gripper))
  (:action move :parameters (?from ?to - room)
    :precondition (and (robby ?from) (not (= ?from ?to)))
    :effect (and (robby ?to) (not (robby ?from))))
  (:action pick :parameters (?b - ball ?r - room ?g - gripper)
    :precondition (and (at ?b ?r) (robby ?r) (free ?g))
    :effect (and (carry ?b ?g) (not (at ?b ?r)) (not (free ?g))))
  (:action drop :parameters (?b - ball ?r - room ?g - gripper)
    :precondition (and (carry ?b ?g) (robby ?r))
    :effect (and (at ?b ?r) (free ?g) (not (carry ?b ?g)))))
"""
PROBLEM = """
(define (problem p) (:domain gripper) (:objects a b - room x - ball l - gripper)
  (:init (robby a) (at x a) (free l)) (:goal (at x b)))
"""
UNBALANCED = "(define (domain broken) (:predicates (on))"


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, Any]]:
    code = _main(["bench", "text2world", *map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture
def golds(tmp_path: Path) -> Path:
    folder = tmp_path / "golds"
    (folder / "gripper").mkdir(parents=True)
    (folder / "gripper" / "domain.pddl").write_text(GRIPPER, encoding="utf-8")
    (folder / "gripper" / "p01.pddl").write_text(PROBLEM, encoding="utf-8")
    (folder / "broken.pddl").write_text(UNBALANCED, encoding="utf-8")
    return folder


def test_golds_come_back_and_the_unbalanced_one_is_told(
    golds: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = told(capsys, golds)
    assert code == 0
    broken, gripper = found["golds"]
    assert (broken["name"], broken["readable"]) == ("broken", False)
    assert "TW0101" in broken["fault"]
    assert (gripper["name"], gripper["strict"], gripper["problems"]) == ("gripper", 1.0, [1, 1])
    assert gripper["official"] == gripper["ceiling"]
    assert gripper["behaviour"]["same"]
    assert gripper["behaviour"]["possible_actions"] == gripper["behaviour"]["actions"] == 3


def test_predictions_are_scored_as_pddl_and_as_tw(
    golds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = tmp_path / "answers"
    answers.mkdir()
    (answers / "gripper.pddl").write_text(GRIPPER.replace("(free ?g))\n", "(robby ?r))\n"), "utf-8")
    code, found = told(
        capsys, golds, "--predictions", answers, "--model", "m-1", "--date", "2026-01-01"
    )
    assert code == 0
    assert found["author"] == {"model": "m-1", "date": "2026-01-01", "cost": None}
    broken, gripper = found["golds"]
    assert broken["fault"] == "no prediction"
    assert gripper["strict"] < 1
    assert gripper["official"]["predicates"] == 100.0 > gripper["official"]["preconditions"]
    assert gripper["behaviour"]["different"] > 0
    assert any("m-1, 2026-01-01" in row[0] for row in found["tables"][0]["rows"])
    (answers / "gripper.pddl").unlink()
    (answers / "gripper").mkdir()
    _main(["import", str(golds / "gripper" / "domain.pddl"), "-o", str(answers / "gripper")])
    capsys.readouterr()
    _, found = told(capsys, golds, "--predictions", answers)
    assert found["golds"][1]["strict"] == 1.0
    (answers / "gripper" / "world.tw").write_text("action (", encoding="utf-8")
    _, found = told(capsys, golds, "--predictions", answers)
    assert found["golds"][1]["fault"].startswith("not read: TW")


def test_a_published_list_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "list.json"
    entries = [{"id": "7", "file_name": "gripper.pddl", "pddl_domain": GRIPPER}]
    path.write_text(json.dumps(entries), encoding="utf-8")
    code, found = told(capsys, path, "--instances", 0)
    assert (code, found["golds"][0]["name"], found["golds"][0]["strict"]) == (0, "007-gripper", 1.0)
    page = tmp_path / "page.md"
    assert _main(["bench", "text2world", str(path), "--instances", "0", "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "engine, no model" in text
    assert "published" in text


@pytest.mark.parametrize("content", ["[1]", "{", "[]", '[{"id": 1}]'])
def test_another_list_is_one_diagnostic(
    content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "list.json"
    path.write_text(content, encoding="utf-8")
    assert _main(["bench", "text2world", str(path)]) == 2
    assert capsys.readouterr().err.count("TW0001") == 1


def test_a_folder_without_domains_is_one_diagnostic(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _main(["bench", "text2world", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("TW0001") == 1
    assert _main(["bench", "text2world", str(tmp_path / "absent.pddl")]) == 2


# ---- behaviour ----------------------------------------------------------------------------------


def test_made_problems_can_be_played_and_are_the_same_each_time() -> None:
    made = instances(GRIPPER, 2)
    assert made == instances(GRIPPER, 2) != instances(GRIPPER, 2, seed=1)
    for text in made:
        side = side_of(Source("d.pddl", None, GRIPPER), Source("p.pddl", None, text))
        assert side.results(side.start())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(not (= ?from ?to))", "(robby ?from)"),
        ("(not (free ?g))))", "(free ?g)))"),
        ("(and (at ?b ?r) (robby ?r) (free ?g))", "(and (at ?b ?r) (free ?g))"),
    ],
)
def test_another_behaviour_is_seen(old: str, new: str) -> None:
    assert GRIPPER.count(old) == 1
    assert behaviour(GRIPPER, GRIPPER, 2, 60).same
    found = behaviour(GRIPPER, GRIPPER.replace(old, new), 2, 60)
    assert found.different > 0
    assert not found.same


def test_types_are_left_out_where_one_side_has_none() -> None:
    bare = without_types(GRIPPER)
    assert types_of(bare) == frozenset()
    assert types_of(GRIPPER) == {"room", "ball", "gripper"}
    found = behaviour(GRIPPER, bare, 1, 60)
    assert (found.untyped, found.same) == (True, True)


def test_other_predicates_cannot_be_compared() -> None:
    found = behaviour(GRIPPER, GRIPPER.replace("robby", "robot"), 1, 60)
    assert (found.unusable, found.same) == (1, False)


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the published domains beside the project")
def test_the_published_golds_come_back(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = told(capsys, SHARED / "text2world" / "pddl", "--instances", 1, "--states", 30)
    assert code == 0
    golds = found["golds"]
    assert [one["readable"] for one in golds].count(False) == 1
    assert sum(one["strict"] == 1 and not one["fault"] for one in golds) == 49
    assert not any(one["behaviour"]["different"] for one in golds if one["behaviour"])
