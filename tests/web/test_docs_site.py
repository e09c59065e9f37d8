"""The site of `docs` in a real Chromium: pages, navigation, search, colours, phones, axe-core."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="the extra `browser` is not installed")
sys.path.insert(0, str(Path(__file__).parent))

from browsing import Tab, prefers
from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[2]
PHONE, WIDE = 390, 1400
FAULTS = ("serious", "critical")
"""Impacts of axe-core that fail a page."""


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and prints nothing."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Build the site as the README says, serve it, and return its address."""
    pytest.importorskip("zensical", reason="the extra `docs` is not installed")
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    shutil.copytree(ROOT / "docs", folder / "docs")
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder / "site")))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def pages() -> list[str]:
    """The addresses of the pages of the navigation, below that of the site."""
    listed = re.findall(r"[\w/-]+(?=\.md)", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    return [re.sub(r"(^|/)(index|README)$", r"\1", one) for one in listed]


def test_every_page_loads_and_fits_a_phone(site: str, chromium: Browser) -> None:
    with Tab(chromium, site, **prefers("light", PHONE)) as tab:
        too_wide = {}
        for one in pages():
            answer = tab.page.goto(site + one)
            assert answer is not None
            assert answer.ok, one
            wide = tab.page.evaluate("() => document.documentElement.scrollWidth")
            if wide > PHONE:
                too_wide[one] = wide
        assert too_wide == {}


def test_the_navigation_leads_to_each_page_and_to_its_parts(site: str, chromium: Browser) -> None:
    with Tab(chromium, site, **prefers("light", WIDE)) as tab:
        page = tab.page
        links = page.get_by_role("navigation").get_by_role("link").all()
        shown = {one.evaluate("link => link.href") for one in links if one.is_visible()}
        assert {site + one + "/" * (one != "" and one[-1] != "/") for one in pages()} <= shown
        page.get_by_role("link", name="The language").first.click()
        page.wait_for_url("**/language/")
        page.get_by_role("link", name="Goals over time").first.click()
        page.wait_for_url("**/language/#goals-over-time")
        assert page.get_by_role("heading", name="Goals over time").is_visible()


def test_the_search_finds_a_part_of_a_page(site: str, chromium: Browser) -> None:
    with Tab(chromium, site, **prefers("light", WIDE)) as tab:
        page = tab.page
        page.get_by_role("button", name="Search").click()
        page.get_by_role("combobox", name="Search").fill("symmetric closure")
        page.locator("a", has_text="Facts and derived facts").first.click()
        page.wait_for_url("**/language/*#facts-and-derived-facts")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_programs_are_coloured(site: str, chromium: Browser, scheme: str) -> None:
    read = "words => words.map((one) => getComputedStyle(one).color)"
    with Tab(chromium, site, **prefers(scheme)) as tab:
        tab.page.goto(site + "language/")
        block = tab.page.locator(".language-tw code").first
        keyword, name, note = (
            tab.page.locator(f".language-tw code .{kind}").first.evaluate_all(read)[0]
            for kind in ("kd", "nc", "c1")
        )
        assert "type Lamp" in block.inner_text()
        assert len({keyword, name, note}) == 3


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_is_found_by_axe(
    site: str, chromium: Browser, axe: str, scheme: str
) -> None:
    with Tab(chromium, site, **prefers(scheme)) as tab:
        for one in ("", "language/", "tutorial/"):
            tab.page.goto(site + one)
            tab.page.evaluate(axe)
            found = tab.page.evaluate("() => axe.run().then((result) => result.violations)")
            bad = [fault for fault in found if fault["impact"] in FAULTS]
            assert not bad, f"{one}: {json.dumps(bad, indent=1)[:2000]}"
