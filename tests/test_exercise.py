"""The exercise of docs/exercise.md, done in a copy of the repository: eight files change."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import house

ROOT = Path(__file__).parents[1]
COPIED = (
    "tokenworld",
    "grammars",
    "rules",
    "docs",
    "tests/check",
    "tests/syntax",
    "tests/house.py",
)
MOST_FILES = 8
Hunk = tuple[str, str]

WORLD = """
type Cup { n: 0 to 9 }
action turn(a: Cup, b: Cup, c: Cup) {
  require a.n < 9 else full
  rotate a.n, b.n, c.n
}
world w {
  object x: Cup { n = 1 }  object y: Cup { n = 2 }  object z: Cup { n = 3 }
  goal turned: x.n == 3 and y.n == 1 and z.n == 2
}
"""
PLAY = f"""
TEXT = {WORLD!r}
from tokenworld.check import check_source
from tokenworld.diagnostics import Source
from tokenworld.prose.rulebook import rulebook
from tokenworld.session import Session
from tokenworld.session.loading import open_text
from tokenworld.session.pddl import export
from tokenworld.syntax.format import format_source
from tokenworld.verbs.fuzz.playing import first_difference

turn = {{"action": "turn", "args": {{"a": "x", "b": "y", "c": "z"}}}}
assert format_source(Source("t.tw", None, TEXT))[0] is not None
assert first_difference(TEXT, [turn, turn, turn], 0) is None
session = Session(open_text((Source("t.tw", None, TEXT),), "w"))
plan = session.plan()
assert (plan.answer, plan.ticks) == ("winnable", 1), plan
for wanted in ([2, 3, 1], [3, 1, 2]):
    session.intend("turn(x, y, z)")
    shown = [one["attrs"]["n"] for one in session.state_json()["objects"]]
    assert shown == wanted, shown
rules = rulebook(session.world.program).to_markdown()
assert "Let “first” be the cup a's n." in rules and "The cup c's n becomes “first”." in rules, rules
assert len(export(session.world, "turned").pair.domain.actions) == 6  # as many as orders
taken = TEXT.replace("rotate a.n", "a.n = 0  rotate a.n")
assert "TW0403" in [one.code for one in check_source(Source("t.tw", None, taken)).diagnostics]
"""


def hunks() -> Mapping[str, list[Hunk]]:
    """By file, the texts that stand in docs/exercise.md as old and new."""
    text = (ROOT / "docs/exercise.md").read_text(encoding="utf-8")
    found: dict[str, list[Hunk]] = {}
    for path, diff in re.findall(r"<!-- exercise: (\S+) -->\n```diff\n(.*?)```", text, re.S):
        for hunk in diff.split("@@\n"):
            lines = [line for line in hunk.splitlines(keepends=True) if line.strip()]
            old = "".join(line[1:] for line in lines if line[0] in " -")
            found.setdefault(path, []).append(
                (old, "".join(line[1:] for line in lines if line[0] in " +"))
            )
    return found


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository with the exercise done."""
    folder = tmp_path_factory.mktemp("exercise")
    for name in (*COPIED, "CHANGELOG.md"):
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            target.parent.mkdir(exist_ok=True)
            shutil.copy(source, target)
    for path, changes in hunks().items():
        text = (folder / path).read_text(encoding="utf-8")
        for old, new in changes:
            assert text.count(old) == 1, f"{path} has not exactly one place like this: {old}"
            text = text.replace(old, new)
        (folder / path).write_text(text, encoding="utf-8")
    run(folder, "-m", "tokenworld.syntax.grammar")
    return folder


def run(folder: Path, *words: str) -> str:
    """The output of Python in a folder, whose packages come before the installed ones."""
    command = [sys.executable, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_few_files_change() -> None:
    assert 0 < len(hunks()) <= MOST_FILES


def test_the_statement_is_checked_played_and_planned(copy: Path) -> None:
    run(copy, "-c", PLAY)


def test_the_tests_of_the_syntax_know_the_statement(copy: Path) -> None:
    """Each class of the tree occurs in `everything.tw`, each soft word in the grammar."""
    tests = (
        "test_nodes.py::test_every_class_of_the_tree_occurs",
        "test_grammar.py::test_vocabulary",
    )
    run(copy, "-m", "pytest", "-q", "-c", os.devnull, *(f"tests/syntax/{one}" for one in tests))


def test_no_other_module_mentions_a_class_more(copy: Path) -> None:
    asked = "import sys, json; sys.path.insert(0, 'tests'); import house"
    after = json.loads(run(copy, "-c", f"{asked}; print(json.dumps(house.mentions()))"))
    before = house.mentions()
    assert after.keys() == before.keys(), "a class of core or of the model is new"
    more = {one for name in after for one in set(after[name]) - set(before[name])}
    assert more <= {"tokenworld.check.typing.statements"}
