"""The standard rules: each is sound, tested, documented and proved; together they compose."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from tokenworld.diagnostics import Source
from tokenworld.session import Session, check_file, check_text, open_world
from tokenworld.session.loading import load_program
from tokenworld.session.players import random_player
from tokenworld.session.scenarios import run_scenario
from tokenworld.verbs.coverage import Coverage

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "rules"
MODULES = sorted(RULES.glob("*/*.tw"))
ONLY_WORDS = ("grid/cells.tw", "textgame/verdict.tw")
"""Modules without an action: nothing can be refused in them, or won."""
OWN_COMMANDS = ("circuits",)
"""Modules of text games with commands of their own in place of those of other modules."""
ACTIVE = [path for path in MODULES if not path.as_posix().endswith(ONLY_WORDS)]
TOGETHER = sorted(Path(__file__).parent.glob("*.tw"))
ITEM = re.compile(
    r"^(unit|enum|type|object|actor|relation|static function|function|table|derive|param|event"
    r"|phase|action|law|birth|watch|invariant|conserve|called|scope) ",
    re.MULTILINE,
)
SECONDS = 30.0


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules are found by the folder of the project, as for a user who works in it."""
    monkeypatch.chdir(ROOT)


def test_there_are_modules_of_both_kinds() -> None:
    assert {path.parent.name for path in MODULES} == {"std", "grid", "textgame"}


# ---- each module ------------------------------------------------------------------------


@pytest.mark.parametrize("path", [*MODULES, *TOGETHER], ids=named)
def test_it_is_sound_without_a_remark(path: Path) -> None:
    assert check_file(path).diagnostics == ()


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_every_item_has_a_doc_comment(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if not line.startswith("quirk ")]
    bare = [
        line for above, line in zip(["", *lines], lines, strict=False)
        if ITEM.match(line) and not above.startswith("##")
    ]  # fmt: skip
    assert bare == []


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_it_is_of_a_length_that_can_be_read(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# ")
    assert len(lines) <= 200
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_it_has_one_world(path: Path) -> None:
    assert len(load_program(path).program.worlds) == 1


@pytest.mark.parametrize("path", ACTIVE, ids=named)
def test_it_shows_a_refusal_and_has_a_goal(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "then refused because" in text
    assert "winnable within" in text
    (world,) = load_program(path).program.worlds.values()
    assert world.goals


@pytest.mark.slow
@pytest.mark.parametrize("path", [*MODULES, *TOGETHER], ids=named)
def test_its_scenarios_hold_and_take_every_way_of_its_own_rules(path: Path) -> None:
    coverage = Coverage()
    loaded = load_program(path.relative_to(ROOT))
    loaded = replace(loaded, program=coverage.instrument(loaded.program))
    for scenario in loaded.program.scenarios:
        result = run_scenario(loaded, scenario, plan_seconds=SECONDS, watch=coverage.watch)
        assert result.ok, [f"{one.span}: {one.wanted}: {one.found}" for one in result.failed]
    assert missed(path, coverage) == []


def missed(path: Path, coverage: Coverage) -> list[str]:
    """Bodies and branches in the module itself that no scenario of it takes."""
    return [
        f"{mark.span}: {mark.rule}, {mark.what}"
        for mark, covered in coverage.listed()
        if str(mark.span).startswith(named(path)) and not covered and mark.kind != "require"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", ACTIVE, ids=named)
def test_its_goal_is_proved(path: Path) -> None:
    verdict = Session(open_world(str(path)), 0).plan(None, time_limit=SECONDS)
    assert verdict.to_json()["answer"] == "winnable"


# ---- all together -----------------------------------------------------------------------


def test_one_world_uses_every_standard_module() -> None:
    assert used("everything.tw") == {path.stem for path in MODULES if path.parent.name == "std"}


def test_one_world_uses_every_grid_module() -> None:
    assert {path.stem for path in MODULES if path.parent.name == "grid"} <= used("on_a_grid.tw")


def used(name: str) -> set[str]:
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    return set(re.findall(r"^use \w+\.(\w+)$", text, re.MULTILINE))


@pytest.mark.slow
@pytest.mark.parametrize("path", TOGETHER, ids=named)
def test_nothing_breaks_in_a_long_random_run(path: Path) -> None:
    session = Session(open_world(str(path)), 3)
    seen = set()
    for intent in islice(random_player(session), 60):
        seen |= {outcome.status for outcome in session.intend(intent, source="random")}
    assert "executed" in seen
    assert seen <= {"executed", "waiting", "interrupted"}


def test_modules_are_found_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those whose commands have the same names in different files."""
    monkeypatch.chdir(tmp_path)
    games = [path for path in MODULES if path.parent.name == "textgame"]
    own = [path for path in games if path.stem in OWN_COMMANDS]
    files = [[path for path in MODULES if path not in games], *([path] for path in own)]
    for paths in (*files, [path for path in games if path not in own]):
        uses = "".join(f"use {path.parent.name}.{path.stem}\n" for path in paths)
        assert check_text(Source("mine.tw", None, uses)).diagnostics == ()


# ---- the pages --------------------------------------------------------------------------


@pytest.mark.parametrize("path", MODULES, ids=named)
def test_the_index_lists_it(path: Path) -> None:
    module = f"{path.parent.name}.{path.stem}"
    assert f"`{module}`" in (RULES / "README.md").read_text(encoding="utf-8")


def test_what_the_table_of_mechanics_names_exists() -> None:
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    named_there = set(re.findall(r"`((?:std|grid)\.\w+)`: ([^|;]*)", text))
    assert len(named_there) > 30
    for module, names in named_there:
        source = (RULES / Path(*module.split("."))).with_suffix(".tw").read_text(encoding="utf-8")
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"^(?:static )?\w+ {name}\b", source, re.MULTILINE), (module, name)
