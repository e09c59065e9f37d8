"""`tw import`, `tw plan` on PDDL and `tw equiv` at the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tokenworld.cli import _main

DOMAIN = """
(define (domain carrier)
  (:requirements :strips :typing)
  (:types room ball)
  (:predicates (here ?r - room) (in ?b - ball ?r - room) (held ?b - ball) (free))
  (:action move :parameters (?from ?to - room)
    :precondition (here ?from) :effect (and (not (here ?from)) (here ?to)))
  (:action pick-up :parameters (?b - ball ?r - room)
    :precondition (and (here ?r) (in ?b ?r) (free))
    :effect (and (held ?b) (not (in ?b ?r)) (not (free))))
  (:action drop :parameters (?b - ball ?r - room)
    :precondition (and (here ?r) (held ?b))
    :effect (and (in ?b ?r) (free) (not (held ?b)))))
"""
PROBLEM = """
(define (problem two) (:domain carrier)
  (:objects a b - room x y - ball)
  (:init (here a) (in x a) (in y a) (free))
  (:goal (and (in x b) (in y b))))
"""


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    domain, problem = tmp_path / "domain.pddl", tmp_path / "two.pddl"
    domain.write_text(DOMAIN)
    problem.write_text(PROBLEM)
    return str(domain), str(problem)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    return tmp_path / "other.pddl"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = _main(list(arguments))
    said = capsys.readouterr()
    return code, said.out, said.err


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code, out, _ = run(capsys, *arguments, "--json")
    return code, json.loads(out)


# ---- import -----------------------------------------------------------------------------------


def test_import_writes_a_sound_file(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new" / "carrier"
    code, out, _ = run(capsys, "import", *pair, "-o", str(folder))
    assert code == 0
    assert out == f"wrote {folder / 'world.tw'}: 3 actions, world `two`\n"
    assert run(capsys, "check", str(folder / "world.tw"))[0] == 0
    assert run(capsys, "fmt", "--check", str(folder / "world.tw"))[0] == 0
    assert [one.name for one in folder.iterdir()] == ["world.tw"]


def test_import_replaces_a_file_only_when_told(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "world.tw"
    mine.write_text("# mine\n")
    code, _, err = run(capsys, "import", *pair, "-o", str(tmp_path))
    assert (code, mine.read_text()) == (2, "# mine\n")
    assert "is there already" in err
    assert run(capsys, "import", *pair, "-o", str(tmp_path), "--force")[0] == 0
    assert mine.read_text().startswith("edition 1\n")


def test_import_without_a_folder_prints_the_text(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = answer(capsys, "import", *pair)
    assert (code, found["worlds"], found["actions"], found["file"]) == (0, ["two"], 3, None)
    assert "action `pick-up`(b: Ball, r: Room) {" in found["text"]


def test_what_is_imported_is_exported_again(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "import", pair[0], "-o", str(tmp_path))
    code, out, _ = run(capsys, "export", "--pddl", str(tmp_path / "world.tw"))
    assert code == 0
    assert "(:action pick-up\n    :parameters (?b - ball ?r - room)" in out


def test_a_bad_domain_is_told_at_its_place(
    pair: tuple[str, str], other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other.write_text(DOMAIN.replace("(held ?b))\n    :effect", "(hold ?b))\n    :effect"))
    code, found = answer(capsys, "import", str(other), pair[1])
    assert (code, found["ok"]) == (1, False)
    (one,) = found["diagnostics"]
    assert (one["code"], one["hint"]) == ("TW0201", "Did you mean `held`?")
    assert one["span"]["line"] == 12


# ---- plan -------------------------------------------------------------------------------------


def test_a_pair_is_planned_and_told_in_pddl(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = answer(capsys, "plan", *pair)
    assert (code, found["answer"]) == (0, "winnable")
    assert found["pddl_plan"][0] in ("(pick-up x a)", "(pick-up y a)")
    assert len(found["pddl_plan"]) == 7


def test_a_pair_without_a_plan_is_unwinnable(
    pair: tuple[str, str], other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other.write_text(PROBLEM.replace("(free))", ")"))
    code, found = answer(capsys, "plan", pair[0], str(other))
    assert (code, found["answer"], found["pddl_plan"]) == (1, "unwinnable", [])


def test_half_a_pair_is_usage(pair: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "plan", pair[0])
    assert code == 2
    assert "half of what is to be planned" in err


def test_a_pair_is_asked_what_luck_may_do(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "plan", *pair, "--luck", "certain")
    assert (code, out.startswith("winnable (certain)")) == (0, True)


# ---- equiv ------------------------------------------------------------------------------------


def test_a_domain_is_equivalent_to_its_import(
    pair: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(capsys, "import", *pair, "-o", str(tmp_path))
    world = str(tmp_path / "world.tw")
    code, out, _ = run(capsys, "equiv", pair[0], world, pair[1])
    assert code == 0
    assert out == f"{pair[1]}: equivalent (exhaustive: 16 states)\n"
    assert run(capsys, "equiv", world, world)[1] == "two: equivalent (exhaustive: 16 states)\n"


def test_the_order_of_conditions_and_effects_does_not_count(
    pair: tuple[str, str], other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other.write_text(
        DOMAIN.replace("(and (here ?r) (held ?b))", "(and (held ?b) (here ?r))").upper()
    )
    assert answer(capsys, "equiv", pair[0], str(other), pair[1])[1]["answer"] == "equivalent"


def test_a_lost_condition_is_shown_with_the_way_to_it(
    pair: tuple[str, str], other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other.write_text(DOMAIN.replace("(in ?b ?r) (free))", "(in ?b ?r))"))
    code, found = answer(capsys, "equiv", pair[0], str(other), pair[1])
    assert (code, found["answer"]) == (1, "different")
    shown = found["worlds"][0]["difference"]
    assert shown == {
        "path": ["(pick-up x a)"],
        "call": "(pick-up y a)",
        "left": None,
        "right": ["+ held(y), - in(y, a)"],
    }


def test_a_lost_effect_is_shown_in_words(
    pair: tuple[str, str], other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other.write_text(DOMAIN.replace("(in ?b ?r) (free) (not (held ?b))", "(in ?b ?r) (free)"))
    code, out, _ = run(capsys, "equiv", pair[0], str(other), pair[1])
    assert code == 1
    assert out.splitlines()[1:] == [
        "  state: after (pick-up x a)",
        "  action: (drop x a)",
        f"  {pair[0]}: + free(), + in(x, a), - held(x)",
        f"  {other}: + free(), + in(x, a)",
    ]


def test_behaviour_behind_the_goal_counts(
    pair: tuple[str, str], other: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In `done` the goal holds at once; what comes later still differs."""
    done = tmp_path / "done.pddl"
    done.write_text(PROBLEM.replace("(and (in x b) (in y b))", "(here a)"))
    other.write_text(DOMAIN.replace("(not (here ?from)) (here ?to)", "(here ?to)"))
    assert answer(capsys, "equiv", pair[0], str(other), str(done))[0] == 1


def test_a_part_of_the_states_proves_nothing(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("--limit", "3", "--walks", "2")
    code, out, _ = run(capsys, "equiv", pair[0], pair[0], pair[1], *few)
    assert code == 3
    assert "no difference found (" in out
    assert "partial" in out


def test_a_difference_beyond_the_limit_is_found_by_walking(
    pair: tuple[str, str], other: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other.write_text(DOMAIN.replace("(in ?b ?r) (free) (not (held ?b))", "(in ?b ?r) (free)"))
    few = ("--limit", "0", "--walks", "20")
    assert answer(capsys, "equiv", pair[0], str(other), pair[1], *few)[0] == 1


def test_worlds_without_common_objects_are_usage(
    pair: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "equiv", *(pair[0], pair[0]))
    assert code == 2
    assert "no worlds with the same objects" in err


RELATION = """
type Lamp
relation lit(l: Lamp)
function left(): 0 to 9 = 0
action light(l: Lamp) { require not lit(l)  add lit(l)  left() += 1 }
world hall { object a, b: Lamp  goal bright: lit(a) and lit(b) }
"""
ATTRIBUTE = """
type Lamp { lit: bool }
function left(): 0 to 9 = 0
action light(l: Lamp) { require not l.lit  l.lit = true  left() += 1 }
world hall { object a, b: Lamp  goal bright: a.lit and b.lit }
"""


@pytest.mark.parametrize(
    ("change", "answer_", "code"),
    [
        (("", ""), "equivalent", 0),
        (("left() += 1", "left() += 2"), "different", 1),
        (("a.lit and b.lit", "a.lit"), "different", 1),
    ],
)
def test_worlds_are_compared_by_what_is_true(
    change: tuple[str, str],
    answer_: str,
    code: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An attribute and a relation of one name say the same; a goal and a number count."""
    one, other = tmp_path / "one.tw", tmp_path / "two.tw"
    one.write_text(RELATION)
    other.write_text(ATTRIBUTE.replace(*change) if change[0] else ATTRIBUTE)
    found = answer(capsys, "equiv", str(one), str(other))
    assert (found[0], found[1]["answer"]) == (code, answer_)
