"""The 35 use cases: each world is sound and says what it shows; all its scenarios hold."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tokenworld.diagnostics import Source
from tokenworld.play.model.inspection import Inspection
from tokenworld.session import Loaded, Session, check_file, check_text, open_world, run_scenario
from tokenworld.session.loading import load_program

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "domains" / "usecases"
WORLDS = sorted(path.parent.name for path in FOLDER.glob("*/world.tw"))
PAGE = (ROOT / "docs" / "usecases.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([RSOVE]\d\d) .*\| (.*) \| `(\w+)` \|$", re.MULTILINE)
LISTED = {file: (case, refused) for case, refused, file in ROW.findall(PAGE)}
CASES = {"R": 7, "S": 7, "O": 8, "V": 7, "E": 6}
SECONDS = 30.0


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules are found by the folder of the project, as for a user who works in it."""
    monkeypatch.chdir(ROOT)


@cache
def loaded(name: str) -> Loaded:
    return load_program(FOLDER / name / "world.tw")


def played(name: str, *intents: str) -> Session:
    session = Session(open_world(str(FOLDER / name / "world.tw")), 0)
    for intent in intents:
        session.intend(intent)
    return session


# ---- each of them -----------------------------------------------------------------------


def test_every_use_case_has_its_world_and_its_row() -> None:
    wanted = {f"{kind}{n:02}" for kind, many in CASES.items() for n in range(1, many + 1)}
    assert {case for case, _ in LISTED.values()} == wanted
    assert sorted(LISTED) == WORLDS
    assert len(WORLDS) >= 34


@pytest.mark.parametrize("name", WORLDS)
def test_it_is_sound_without_a_remark(name: str) -> None:
    assert check_file(FOLDER / name / "world.tw").diagnostics == ()
    assert list(loaded(name).program.worlds) == [name]


@pytest.mark.parametrize("name", WORLDS)
def test_its_scenarios_hold(name: str) -> None:
    results = [
        run_scenario(loaded(name), one, plan_seconds=SECONDS)
        for one in loaded(name).program.scenarios
    ]
    assert len(results) >= 2
    assert [f"{one.span}: {one.found}" for result in results for one in result.failed] == []


@pytest.mark.parametrize("name", WORLDS)
def test_it_shows_the_refusals_of_its_row_and_proves_something(name: str) -> None:
    text = (FOLDER / name / "world.tw").read_text(encoding="utf-8")
    shown = set(re.findall(r"refused because (\w+)", text))
    _, row = LISTED[name]
    assert set(re.findall(r"`(\w+)`", row)) <= shown
    assert shown or row == "(no command)"
    assert "winnable within" in text


# ---- what a scenario cannot say ---------------------------------------------------------


def test_two_heave_in_the_same_round() -> None:
    session = played("cooperation", "heave boulder")
    assert (session.actor, session.state.tick) == ("bob", 0)
    session.intend("heave boulder")
    assert (session.latched, session.state.tick) == (("clear",), 1)


def test_two_reach_for_the_apple_in_the_same_round() -> None:
    session = played("concurrent_actors", "grab apple")
    (last,) = session.intend("grab apple")
    assert last.said[:2] == ("Alice has the apple.", "Bob grasps at air: Alice was quicker.")


def test_a_secret_plan_is_in_no_view() -> None:
    session = played("observation", "look at Bob")
    assert "duke" not in str(Inspection(session).rows)
    assert "slumped" in str(Inspection(session).rows)


def test_the_checker_refuses_money_from_nowhere() -> None:
    text = (FOLDER / "conservation_violation" / "world.tw").read_text(encoding="utf-8")
    cheat = text.replace("100 * n * luck()", "100 * n")
    assert cheat != text
    codes = [one.code for one in check_text(Source("cheat.tw", None, cheat)).diagnostics]
    assert "TW0506" in codes


@pytest.mark.parametrize(
    ("name", "nonsense"),
    [("nonsense_input", "gragh flibble xyzzy rutabaga"), ("nonexistent_target", "attack dragon")],
)
def test_nonsense_changes_nothing_at_all(name: str, nonsense: str) -> None:
    before = played(name)
    after = played(name, nonsense)
    assert after.engine.hash(after.state) == before.engine.hash(before.state)
