"""Servers that end with the test, and a Chromium if there is one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).parent))

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from served import Served

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Start ``tw play WORLD --web`` with further options, in a folder of its own."""
    pytest.importorskip("textual_serve", reason="the extra `web` is not installed")
    from served import Served

    started: list[Served] = []

    def start(world: object, *options: object, **also: str) -> Served:
        started.append(Served(tmp_path, world, *options, **also))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script of axe-core, of the npm registry, which finds faults of accessibility."""
    folder = tmp_path_factory.mktemp("axe")
    npm = shutil.which("npm")
    pack = [str(npm), "pack", "--silent", "axe-core@4"]
    if npm is None or subprocess.run(pack, cwd=folder, capture_output=True, check=False).returncode:
        pytest.skip("axe-core cannot be fetched from the npm registry")
    archive = next(folder.glob("*.tgz"))
    subprocess.run(["tar", "xzf", archive, "package/axe.min.js"], cwd=folder, check=True)
    return (folder / "package" / "axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """The Chromium of this machine, as `benchmarks.published` finds it."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="the extra `browser` is not installed"
    )
    from benchmarks.published import chromium as program

    found = program()
    if found is None:
        pytest.skip("no Chromium is installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=list(FLAGS))
        yield browser
        browser.close()
