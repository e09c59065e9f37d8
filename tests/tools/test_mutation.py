"""`tw mutate`: operators, and what notices a mutant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tokenworld.cli import _main
from tokenworld.model import Program
from tokenworld.session.loading import load_program
from tokenworld.verbs.mutate import Judge, Mutant, goal_plans, mutants, mutate
from tokenworld.verbs.output import Output

TEXT = """
enum Lock {{ shut, open }}
type Room
type Hero {{ at: Room  n: 0 to 9 = 0 }}
actor me: Hero
relation way(a: Room, b: Room)
action go(to: Room) {{
  require way(me.at, to) else far "Too far."
  me.at = to
}}
action count_up() {{
  require me.n < 3 and me.n != 7 else enough "Enough."
  me.n += 1
}}
law tick(h: Hero) when h.n == 9 {{ h.n -= 1 }}
{guard}
world w {{
  object hall: Room  object attic: Room  object hero: Hero {{ at = hall }}
  setup {{ add way(hall, attic) }}
  goal up: hero.at == attic
}}
{scenario}
"""
SCENARIO = 'scenario "s" in w { when count_up() times 4  then refused, hero.n == 3 }'


def program(tmp_path: Path, scenario: str = "", guard: str = "") -> Path:
    path = tmp_path / "w.tw"
    path.write_text(TEXT.format(scenario=scenario, guard=guard))
    return path


def judge_of(path: Path) -> Judge:
    loaded = load_program(path)
    return Judge(loaded, goal_plans(loaded.program, 5))


def found(path: Path) -> list[Mutant]:
    return list(mutants(load_program(path).program))


def one(path: Path, operator: str, rule: str) -> Program:
    before = load_program(path).program
    span = before.actions[rule].span
    return next(
        mutant.program
        for mutant in found(path)
        if mutant.operator == operator and span.start <= mutant.span.start < span.end
    )


def test_every_operator_is_tried(tmp_path: Path) -> None:
    operators = {mutant.operator for mutant in found(program(tmp_path))}
    assert {
        "drop require", "flip comparison", "and to or", "other number", "drop effect", "turn step",
        "swap arguments", "drop law",
    } <= operators  # fmt: skip


def test_every_mutant_differs_and_is_its_own(tmp_path: Path) -> None:
    path = program(tmp_path)
    original = load_program(path).program
    programs = [mutant.program for mutant in found(path)]
    assert original not in programs
    assert all(a != b for i, a in enumerate(programs) for b in programs[:i])


def test_a_scenario_notices(tmp_path: Path) -> None:
    path = program(tmp_path, SCENARIO)
    judge = judge_of(path)
    assert judge.judge(one(path, "turn step", "count_up")) == "scenario"


def test_a_goal_notices(tmp_path: Path) -> None:
    path = program(tmp_path)
    judge = judge_of(path)
    assert judge.judge(one(path, "swap arguments", "go")) == "goal"
    assert judge.judge(one(path, "drop effect", "go")) == "goal"


def test_an_invariant_notices(tmp_path: Path) -> None:
    path = program(tmp_path, guard="invariant few(h: Hero): h.n <= 3")
    judge = judge_of(path)
    assert judge.judge(one(path, "drop require", "count_up")) == "invariant"


def test_a_lost_narrowing_is_noticed(tmp_path: Path) -> None:
    """Without its require, a rule writes an attribute that the object does not have."""
    path = tmp_path / "w.tw"
    path.write_text("""
type Thing
type Pot : Thing { full: bool = false }
action fill(x: Thing) {
  require x is Pot else no_pot "It is no pot."
  x.full = true
}
world w { object stone: Thing  object pot: Pot  goal full: pot.full }
scenario "s" in w { when fill(stone) then refused because no_pot  when fill(pot) then won }
""")
    judge = judge_of(path)
    assert "checker" in {judge.judge(mutant.program) for mutant in found(path)}


def test_the_original_survives(tmp_path: Path) -> None:
    loaded = load_program(program(tmp_path, SCENARIO))
    plans = goal_plans(loaded.program, 5)
    assert Judge(loaded, plans).judge(loaded.program) == "survived"


def test_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = program(tmp_path, SCENARIO)
    options = {"sample": 8, "seed": 1, "least": 0.0}
    assert mutate(str(path), Output(as_json=True), **options) == 0  # type: ignore[arg-type]
    answer = json.loads(capsys.readouterr().out)
    assert answer["judged"] == 8
    assert answer["noticed"] + len(answer["survivors"]) == 8
    assert mutate(str(path), Output(), **{**options, "least": 100.0}) == 1  # type: ignore[arg-type]
    assert "mutants noticed" in capsys.readouterr().out


def test_red_scenarios_judge_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What fails on the rules as they are would notice every mutant."""
    red = SCENARIO.replace("hero.n == 3", "hero.n == 4")
    path = program(tmp_path, SCENARIO + "\n" + red.replace('"s"', '"red"'))
    for json_asked in (False, True):
        code = _main(["mutate", str(path), *(["--json"] if json_asked else [])])
        told = capsys.readouterr()
        assert code == 1
        assert "TW0703" in told.err
        assert "`red`" in told.err
        assert "`s`" not in told.err
        assert "noticed" not in told.out
        assert not json_asked or json.loads(told.out)["ok"] is False
