"""`tw test --coverage`: what scenarios reached."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tokenworld.session.loading import load_program, open_world
from tokenworld.session.scenarios import run_scenario
from tokenworld.verbs.coverage import Coverage
from tokenworld.verbs.output import Output
from tokenworld.verbs.test import test as run_tests

TEXT = """
type Hero { n: 0 to 9 clamped = 0 }
actor me: Hero
action work() {
  require me.n < 2 else tired "You are tired."
  me.n += 1
}
action idle() { if me.n > 5 { me.n = 0 } else { me.n = 1 } }
law luck(h: Hero) { chance 100% { h.n += 1 } or 0% { h.n = 0 } }
world w { object hero: Hero  goal g: hero.n > 8 }
scenario "some" in w { when work()  when work()  then refused }
"""


@pytest.fixture
def world(tmp_path: Path) -> Path:
    path = tmp_path / "w.tw"
    path.write_text(TEXT)
    return path


def places(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, bool]:
    run_tests((str(path),), Output(as_json=True), junit=None, time_limit=60, coverage=True)
    found = json.loads(capsys.readouterr().out)["coverage"][0]
    return {f"{one['rule']}, {one['what']}": one["covered"] for one in found["places"]}


def test_what_was_reached(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert places(world, capsys) == {
        "action work, executed": True,
        "action work, refused because tired": True,
        "action idle, executed": False,
        "action idle, if": False,
        "action idle, else": False,
        "law luck, fired": True,
        "law luck, chance, branch 1": True,
        "law luck, chance, branch 2": False,
    }


def test_what_was_not_reached_is_listed(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_tests((str(world),), Output(), junit=None, time_limit=60, coverage=True)
    text = capsys.readouterr().out
    assert "4 of 8 places reached" in text
    assert "w.tw:8:1: action idle, executed" in text


def test_measuring_changes_nothing(world: Path) -> None:
    plain = open_world(str(world))
    loaded = load_program(world)
    program = Coverage().instrument(loaded.program)
    assert plain.program != program
    for scenario in program.scenarios:
        watched = run_scenario(loaded, scenario)
        assert watched.ok
    marked = open_world(str(world)).engine
    assert marked.hash(marked.start(3)) == plain.engine.hash(plain.engine.start(3))
