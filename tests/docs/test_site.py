"""The site of `docs`: its navigation is whole, its links lead somewhere, `.tw` is coloured.

The site is built where the extra `docs` is installed (`.ci/run` installs it).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.docs.pages import ROOT

CONFIG = ROOT / "mkdocs.yml"


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a folder with `mkdocs.yml` and `docs`, as the README says."""
    pytest.importorskip("zensical", reason="the extra `docs` is not installed")
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


class Page(HTMLParser):
    """What a page links to, and the places in it that others may link to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.add(value)
            elif name in ("href", "src") and value is not None:
                self.links.append(value)


def lost(site: Path) -> dict[str, list[str]]:
    """By page, the links of a site that lead nowhere."""
    pages = {one: Page(one.read_text(encoding="utf-8")) for one in sorted(site.rglob("*.html"))}
    found: dict[str, list[str]] = defaultdict(list)
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            known = parts.fragment == "" or unquote(parts.fragment) in pages.get(target, page).ids
            if not target.is_file() or not known:
                found[path.relative_to(site).as_posix()].append(link)
    return found


def test_every_page_is_in_the_navigation() -> None:
    listed = re.findall(r"[\w/-]+\.md", CONFIG.read_text(encoding="utf-8"))
    docs = ROOT / "docs"
    pages = {one.relative_to(docs).as_posix() for one in docs.glob("*.md")}
    assert set(listed) == pages | {"errors/README.md", "adr/README.md"}
    assert len(listed) == len(set(listed))


def test_the_site_is_whole(tmp_path: Path) -> None:
    shutil.copy(CONFIG, tmp_path)
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    done = build(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path / "site"
    assert not lost(site)
    tutorial = (site / "tutorial" / "index.html").read_text(encoding="utf-8")
    assert '<span class="kd">type</span>' in tutorial
    assert "lighthouse-won.svg" in tutorial
    assert "TW0403" in (site / "errors" / "TW0403" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("link", ["none.md", "index.md#none"])
def test_a_broken_link_fails_the_build(link: str, tmp_path: Path) -> None:
    text = CONFIG.read_text(encoding="utf-8").partition("nav:")[0]
    (tmp_path / "mkdocs.yml").write_text(text, encoding="utf-8")
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "index.md"
    page.write_text("# Home\n\n[here](index.md#home)\n", encoding="utf-8")
    assert build(tmp_path).returncode == 0
    page.write_text(f"# Home\n\n[there]({link})\n", encoding="utf-8")
    assert build(tmp_path).returncode != 0
