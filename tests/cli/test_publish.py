"""Published worlds without a browser: the game behind the page, its links, what is in a file."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from tokenworld.play.publish.browser import Published, packed, unpacked
from tokenworld.play.publish.runtime import ARCHIVE, zipped
from tokenworld.play.publish.verb import bundle_of, page_of
from tokenworld.session import Session, open_world

CELLAR = Path(__file__).parents[2] / "domains" / "cellar" / "world.tw"
Ask = Callable[..., dict[str, Any]]
Tw = Any


@pytest.fixture
def ask() -> Ask:
    """The cellar as a page asks it."""
    game = Published(json.dumps(bundle_of(open_world(CELLAR), 7)))

    def asked(todo: str, text: str = "") -> dict[str, Any]:
        found: dict[str, Any] = json.loads(game.ask(json.dumps({"do": todo, "text": text})))
        return found

    return asked


@pytest.fixture(scope="module")
def archive() -> bytes:
    """The modules of a page."""
    return zipped()


def words(lines: list[list[list[str]]]) -> str:
    return "\n".join("".join(text for text, _ in one) for one in lines)


def test_a_game_is_played_refused_and_taken_back(ask: Ask) -> None:
    before = ask("hash")["hash"]
    taken = ask("give", "take brass key")
    assert (taken["carried"], taken["place"]) == (["brass key"], "stairs")
    assert [one["kind"] for one in taken["entries"]] == ["typed", "said"]
    refused = ask("give", "open oak chest")
    assert "There is no oak chest here." in words(refused["details"])
    assert "it.at = vault" in words(refused["details"])
    assert "go through arch" in refused["legal"]
    assert ask("undo")["done"]
    assert ask("hash")["hash"] == before
    assert ask("redo")["done"]
    assert ask("view")["carried"] == ["brass key"]


def test_a_hint_gives_away_more_each_time(ask: Ask) -> None:
    first = words(ask("hint", "0")["details"])
    assert "Goal `rich` in 5 more steps." in first
    assert "Next: take brass key" in first
    assert "unlock oak chest with brass key" not in first
    assert "unlock oak chest with brass key" in words(ask("hint", "1")["details"])


def test_why_not_gives_nothing(ask: Ask) -> None:
    assert "would be refused" in words(ask("why", "open oak chest")["details"])
    assert ask("view")["status"].endswith("tick 0 · score 0 · playing")


def test_a_link_holds_the_game(ask: Ask) -> None:
    for one in ("take brass key", "fly", "go through arch"):
        ask("give", one)
    reached, link = ask("hash")["hash"], ask("link")["link"]
    assert ask("restart")["status"].endswith("tick 0 · score 0 · playing")
    opened = ask("open", link)
    assert [one["text"] for one in opened["entries"] if one["kind"] == "typed"] == [
        "take brass key", "fly", "go through arch",
    ]  # fmt: skip
    assert ask("hash")["hash"] == reached


@pytest.mark.parametrize("link", ["seed=7&play=eJw", "seed=7&play=", "play=!!", "seed=x&play=eJw"])
def test_a_damaged_link_is_told_and_the_game_goes_on(ask: Ask, link: str) -> None:
    ask("give", "take brass key")
    assert ask("open", link)["error"].startswith("TW0006: The game in the link cannot be read")
    assert ask("view")["carried"] == ["brass key"]


def test_links_are_words_again() -> None:
    commands = ["take brass key", "say “ö”", ""]
    assert unpacked(packed(commands)) == commands[:2]


def test_a_script_is_what_tw_run_plays(ask: Ask) -> None:
    ask("give", "take brass key")
    assert ask("script")["script"] == "# cellar, seed 7\ntake brass key\n"


def test_a_script_is_followed_apart_from_the_game_that_is_shown(ask: Ask) -> None:
    session = Session.open(CELLAR, 7)
    hashes, script = [session.engine.hash(session.state)], [7]
    for one in session.legal()[:1]:
        session.intend(one.command)
        script.append([one.command.action, one.command.args])
        hashes.append(session.engine.hash(session.state))
    before = ask("hash")["hash"]
    assert ask("follow", json.dumps(script))["hashes"] == hashes
    assert ask("hash")["hash"] == before != hashes[-1]


def test_the_modules_of_a_page_are_all_that_its_game_loads_and_need_no_library(
    tmp_path: Path, archive: bytes
) -> None:
    """Unpacked alone, they play without SQLite, which Pyodide lacks, and without any package."""
    file = tmp_path / "tokenworld.zip"
    file.write_bytes(archive)
    bundle = json.dumps(bundle_of(open_world(CELLAR), 7))
    code = f"""
import sys, zipfile
zipfile.ZipFile({str(file)!r}).extractall({str(tmp_path)!r})
sys.path[:] = [{str(tmp_path)!r}, *(one for one in sys.path if "site-packages" not in one)]
sys.modules["sqlite3"] = None
from tokenworld.play.publish.browser import Published
game = Published({bundle!r})
for number in range(600):
    game.ask('{{"do": "give", "text": "go through arch"}}')
print(game.ask('{{"do": "undo"}}')[:40], game.ask('{{"do": "hint"}}').count("Winnable"))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().endswith("1")


def test_the_file_is_the_same_each_time_and_has_no_screen_in_it(archive: bytes) -> None:
    world = open_world(CELLAR)
    assert page_of(world, 7, "") == page_of(open_world(CELLAR), 7, "")
    names = ZipFile(BytesIO(archive)).namelist()
    assert names == sorted(names)
    assert "tokenworld/play/publish/browser.py" in names
    assert not [name for name in names if "screens" in name or "verbs/plan" in name]


def test_titles_are_text(tmp_path: Path) -> None:
    source = CELLAR.read_text(encoding="utf-8").replace('"The Cellar"', '"<b>$x</b>"')
    (tmp_path / "w.tw").write_text(source, encoding="utf-8")
    page = page_of(open_world(tmp_path / "w.tw"), 0, "")
    assert "<title>&lt;b&gt;$x&lt;/b&gt;</title>" in page
    assert "<b>" not in page


def test_bad_input_is_one_diagnostic(tw: Tw, tmp_path: Path) -> None:
    other = tmp_path / ARCHIVE
    other.write_bytes(b"not an archive")
    for code, arguments in (
        ("TW0811", ("cellar", "--runtime", other)),
        ("TW0001", ("cellar", "--runtime", tmp_path / "none.tgz")),
        ("ends in `.html`", ("cellar", "-o", "x.txt")),
        ("TW0001", ("nowhere.tw",)),
    ):
        ran = tw("publish", *arguments)
        assert (ran.code, code in ran.err) == (2, True), ran.err
    assert not list(tmp_path.glob("*.html"))
