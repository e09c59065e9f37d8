"""Follow the tutorials and the page on testing: their files, commands, and pictures of the screen.

`--snapshot-update` renews the pictures in `docs/pictures`.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, agree, changed, follow
from tests.tools.play.conftest import _idle_is_the_screen, _plain_terminal  # noqa: F401
from tests.tools.play.piloting import enter
from tokenworld.play.screens.app import PlayApp
from tokenworld.play.widgets.actions import CommandLine
from tokenworld.session import Session
from tokenworld.verbs.output import UNICODE

DOCS = ROOT / "docs"
SIZE = (80, 24)


def drawn(world: Path, commands: list[str]) -> str:
    """The screen of `tw play` after some commands, as a picture."""

    async def played() -> str:
        app = PlayApp(Session.open(str(world)), glyphs=UNICODE)
        async with app.run_test(size=SIZE) as pilot:
            app.animation_level = "none"
            app.screen.query_one(CommandLine).cursor_blink = False
            for one in commands:
                await enter(pilot, one)
            await pilot.pause()
            return app.export_screenshot(title=f"tw play {world.name}")

    return asyncio.run(played())


@pytest.mark.parametrize(
    ("page", "commands"),
    [("tutorial", 13), ("tutorial-pddl", 13), ("testing", 1), ("rollouts", 1)],
)
def test_a_page_can_be_followed(
    page: str,
    commands: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    def keep(file: Path, picture: str) -> None:
        if request.config.option.update_snapshots:
            file.write_text(picture, encoding="utf-8")
        assert picture == file.read_text(encoding="utf-8"), file.name

    (tmp_path / "domains").symlink_to(DOCS.parent / "domains")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    assert follow(DOCS / f"{page}.md", tmp_path, drawn, keep) == commands


def test_another_output_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "<!-- sample: a.tw -->\n```tw\n```\n\n```console\n$ tw check a.tw\n"
    page = tmp_path / "page.md"
    page.write_text(f"{text}…\na.tw: 1 warning\n```\n", encoding="utf-8")
    assert follow(page, tmp_path) == 1
    page.write_text(f"{text}a.tw: no problems found\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="warning"):
        follow(page, tmp_path)


def test_lines_left_out_and_changed_lines() -> None:
    assert agree("a\n…\nd\n", "a\nb\nc\nd\n")
    assert agree("state …\n", "state 12\n")
    assert not agree("a\n…\nd\n", "a\nb\nc\n")
    assert changed("a\nb\nc\n", " a\n-b\n+x\n@@\n-c\n+y\n") == "a\nx\ny\n"
    with pytest.raises(AssertionError, match="not exactly one place"):
        changed("a\na\n", "-a\n+b\n")
