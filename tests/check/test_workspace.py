"""A workspace finds after an edit what a check of the whole text finds."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tokenworld.check import check_source, file_loader
from tokenworld.check.workspace import Rechecked, Workspace
from tokenworld.diagnostics import Source, read_source

sys.path.insert(0, str(Path(__file__).parent))

from edits import edited, generated

ROOT = Path(__file__).parents[2]
LOADER = file_loader((ROOT / "rules",))
WORLDS = sorted((ROOT / "domains").glob("*/world.tw"))
FIXTURES = sorted((ROOT / "tests" / "errors").glob("*.tw"))


def the_same(found: Rechecked, source: Source) -> None:
    """The findings, the texts and the program are those of a whole check."""
    whole = check_source(source, LOADER)
    assert found.diagnostics == whole.diagnostics
    assert found.ok == whole.ok
    assert found.program == whole.program
    assert {one.name for one in found.sources} == {one.name for one in whole.sources}


def texts_after_edits(text: str, seed: int, count: int) -> Iterator[str]:
    """Edited texts, each made of the one before or, now and then, of the first one again."""
    chance, now = random.Random(seed), text
    for _ in range(count):
        now = edited(text if chance.random() < 0.3 else now, chance)
        yield now


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_opening_a_fixture_is_a_check_of_it(path: Path) -> None:
    try:
        source = read_source(path)
    except Exception:  # a text that cannot be read is no business of the checker
        return
    the_same(Workspace(LOADER).open(source), source)


@pytest.mark.parametrize("path", WORLDS, ids=lambda path: path.parent.name)
def test_random_edits_of_a_world(path: Path) -> None:
    source = read_source(path)
    workspace = Workspace(LOADER)
    the_same(workspace.open(source), source)
    for text in texts_after_edits(source.text, 11, 12):
        now = Source(source.name, source.path, text)
        the_same(workspace.edit(now), now)


@pytest.mark.parametrize(("seed", "times", "edits"), [(1, 6, 14), (4, 6, 14), (3, 22, 10)])
def test_random_edits_of_a_generated_file(seed: int, times: int, edits: int) -> None:
    text = generated(times)
    workspace = Workspace(LOADER)
    workspace.open(Source("g.tw", None, text))
    parts = 0
    for edit in texts_after_edits(text, seed, edits):
        now = Source("g.tw", None, edit)
        found = workspace.edit(now)
        the_same(found, now)
        parts += not found.whole
    assert parts > 0


def opened(text: str) -> Workspace:
    workspace = Workspace(LOADER)
    workspace.open(Source("g.tw", None, text))
    return workspace


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  c.inside = none\n", "  c.inside = none\n  say \"Ready.\"\n"),
        ("law grow1(x: Thing1) when x.at != none", "law grow1(x: Thing1) when x.at == none"),
        ("law swell1(x: Thing1) when x.k < 9", "law swell1(x: Thing1) when x.k <= 9"),
        ("## Take what lies about.\naction take1", "## Take it.\n## Or not.\naction take1"),
        ("when take1(lamp1) then", "when take1(box1) then"),
        ("me.at1 = to", "me.at1 = too"),
        ("invariant one1(x: Thing1): not", "invariant one1(x: Thing1): true or not"),
    ],
)  # fmt: skip
def test_an_edit_of_one_rule_is_checked_alone(old: str, new: str) -> None:
    text = generated(4)
    assert old in text
    workspace = opened(text)
    for change in (text.replace(old, new, 1), text, text.replace(old, new, 1) + "\n# end\n"):
        now = Source("g.tw", None, change)
        found = workspace.edit(now)
        the_same(found, now)
        assert not found.whole


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("action take1(it: Thing1)", "action take1(it: Chest1)"),
        ("else fixed \"{The it}", "else heavy \"{The it}"),
        ("law grow1(", "law grow0("),
        ("type Room1 { lit: bool", "type Room1 { lit: int"),
        ("derive here1(x: Thing1) =", "derive here1(x: Thing1) = not"),
    ],
)  # fmt: skip
def test_an_edit_that_others_see_is_checked_in_full(old: str, new: str) -> None:
    text = generated(4)
    assert old in text
    now = Source("g.tw", None, text.replace(old, new, 1))
    found = opened(text).edit(now)
    the_same(found, now)
    assert found.whole


def test_earlier_results_stay_as_they_were() -> None:
    text = generated(3)
    workspace = Workspace(LOADER)
    first = workspace.open(Source("g.tw", None, text))
    before = (first.diagnostics, repr(first.program))
    workspace.edit(Source("g.tw", None, "# a line before\n" + text))
    assert (first.diagnostics, repr(first.program)) == before


def test_a_module_that_changed_is_read_again(tmp_path: Path) -> None:
    module, text = tmp_path / "kinds.tw", "use kinds\nworld w { object a: A { n = 2 } }\n"
    module.write_text("type A { n: 0 to 3 = 0 }\n")
    root = Source("r.tw", tmp_path / "r.tw", text)
    workspace = Workspace(LOADER)
    assert workspace.open(root).ok
    module.write_text("type A { n: 0 to 1 = 0 }\n")
    found = workspace.edit(root)
    assert not found.ok
    the_same(found, root)


@pytest.mark.parametrize("empty", ["", "\r\r", "# nothing\n"])
def test_a_text_may_lose_all_its_items_and_get_them_again(empty: str) -> None:
    workspace = opened(ROOM)
    for text in (empty, empty, ROOM):
        now = Source("g.tw", None, text)
        the_same(workspace.edit(now), now)


ROOM = "type Room\nworld home { object hall: Room }\n"
