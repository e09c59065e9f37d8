"""Published worlds in a real Chromium: played, refused, linked, read by phones; equal hash by hash.

``python -m benchmarks.published`` makes the whole comparison: 10,000 commands in every world.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="the extra `browser` is not installed")
sys.path.insert(0, str(Path(__file__).parent))

from browsing import Tab, prefers
from playwright.sync_api import Browser, Page

from benchmarks.published import differing, walked
from tokenworld.diagnostics import Failure
from tokenworld.play.publish.runtime import runtime_files
from tokenworld.play.publish.verb import page_of, parts_of
from tokenworld.session import open_world
from tokenworld.verbs.output import Output

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
TICKS = 200
WORLDS = sorted(ROOT.glob("domains/[fgtw]*/world.tw"))
SECONDS = 240

Publish = Callable[[Path], str]


@pytest.fixture(scope="module")
def publish(tmp_path_factory: pytest.TempPathFactory) -> Publish:
    """Write the page of a world and return its address."""
    try:
        parts = parts_of(runtime_files(None, Output(False)))
    except Failure as failure:
        pytest.skip(str(failure.diagnostics[0].message))
    folder = tmp_path_factory.mktemp("pages")

    def written(world: Path) -> str:
        page = folder / f"{world.parent.name}.html"
        page.write_text(page_of(open_world(world), 7, parts), encoding="utf-8")
        return page.as_uri()

    return written


def ready(tab: Tab) -> Page:
    page: Page = tab.page
    page.wait_for_function("window.published !== undefined", timeout=SECONDS * 1000)
    return page


def give(page: Page, command: str) -> None:
    page.get_by_label("Command").fill(command)
    page.keyboard.press("Enter")
    page.locator("#story .typed", has_text=command).first.wait_for()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1100), ("dark", 390)])
def test_a_game_is_played_from_one_file(
    publish: Publish, chromium: Browser, scheme: str, width: int
) -> None:
    address = publish(ROOT / "domains" / "cellar" / "world.tw")
    with Tab(chromium, address, **prefers(scheme, width)) as tab:
        page = ready(tab)
        give(page, "take brass key")
        give(page, "open oak chest")
        assert "There is no oak chest here." in page.get_by_role("log").inner_text()
        assert "it.at = vault" in page.locator("#details").inner_text()
        page.get_by_role("button", name="Undo").click()
        page.locator("#story .note", has_text="Undone: take brass key").wait_for()
        page.get_by_role("button", name="go through arch").click()
        page.get_by_role("heading", name="vault").wait_for()
        page.get_by_role("button", name="Hint").click()
        page.locator("#details", has_text="Winnable").wait_for()
        page.get_by_role("button", name="Copy a link").click()
        page.wait_for_url("**play=*")
        sideways = "[document.documentElement.scrollWidth, window.innerWidth]"
        assert page.evaluate(f"() => {sideways}") == [width, width]
        linked = page.url
        requests = [one for one in tab.asked if not one.startswith(("data:", "blob:"))]
        assert requests == [address]
        tab.asked = []
    with Tab(chromium, linked) as tab:
        page = ready(tab)
        page.get_by_role("heading", name="vault").wait_for()
        tab.asked = []


def test_nothing_serious_is_found_by_axe(publish: Publish, chromium: Browser, axe: str) -> None:
    """The page as it is after a refusal."""
    with Tab(chromium, publish(ROOT / "domains" / "frozen_lake" / "world.tw")) as tab:
        page = ready(tab)
        give(page, "fly")
        page.locator("#rules").evaluate("rules => rules.closest('details').open = true")
        page.evaluate(axe)
        found = page.evaluate("() => axe.run().then((result) => result.violations)")
        bad = [one for one in found if one["impact"] in ("serious", "critical")]
        assert not bad, json.dumps(bad, indent=1)[:2000]
        tab.asked = []


@pytest.mark.parametrize("world", WORLDS, ids=lambda path: path.parent.name)
def test_the_page_plays_as_the_interpreter(
    publish: Publish, chromium: Browser, world: Path
) -> None:
    steps = list(walked(world, TICKS))
    with Tab(chromium, publish(world)) as tab:
        assert differing(ready(tab), steps) is None
        tab.asked = []


def test_a_wrong_hash_is_noticed(publish: Publish, chromium: Browser) -> None:
    first, second = walked(WORLDS[0], 1)
    with Tab(chromium, publish(WORLDS[0])) as tab:
        wrong = [first, replace(second, hash=first.hash)]
        assert differing(ready(tab), wrong) == second.told
        tab.asked = []
