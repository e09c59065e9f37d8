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


RULES = """edition 1
type Lamp { lit: bool }
action light(l: Lamp) { if l.lit { say "It is lit." } else { l.lit = true } }
action smash(l: Lamp) { destroy l }
world attic { object lamp: Lamp }
scenario "light" in attic { when light(lamp) }
"""
TWIN = """use rules
world cellar { object lamp: Lamp { lit = true } }
scenario "lit" in cellar { when light(lamp)  then says "It is lit." }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.tw").write_text(RULES)
    (tmp_path / "twin.tw").write_text(TWIN)
    return tmp_path


def shares(path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    run_tests((str(path),), Output(), junit=None, time_limit=60, coverage=True)
    lines = capsys.readouterr().out.splitlines()
    return [line.rpartition("/")[2] for line in lines if "places reached" in line]


def test_a_place_counts_in_the_file_that_it_is_written_in_whoever_reaches_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shares(folder / "rules.tw", capsys) == ["rules.tw: 2 of 4 places reached"]
    assert shares(folder, capsys) == ["rules.tw: 3 of 4 places reached"]


def test_imported_files_are_told_apart(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert shares(folder / "twin.tw", capsys) == ["rules.tw, imported: 2 of 4 places reached"]
    run_tests((str(folder),), Output(as_json=True), junit=None, time_limit=60, coverage=True)
    files = json.loads(capsys.readouterr().out)["coverage"]
    assert [(Path(one["file"]).name, one["imported"], one["total"]) for one in files] == [
        ("rules.tw", False, 4), ("twin.tw", False, 0),
    ]  # fmt: skip


def test_each_call_of_an_effect_with_a_name_is_a_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "w.tw"
    path.write_text(
        """edition 1
type Lamp { oil: 0 to 9 = 1 }
effect burn(l: Lamp) { if l.oil > 0 { l.oil -= 1 } }
action wait(l: Lamp) { burn(l) }
action hurry(l: Lamp) { burn(l) }
world attic { object lamp: Lamp }
scenario "burn" in attic { when wait(lamp) }
"""
    )
    assert shares(path, capsys) == ["w.tw: 2 of 4 places reached"]


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
