"""The morning report in a real Chromium: light and dark, wide and narrow, from a file alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("playwright", reason="the extra `browser` is not installed")
pytest.importorskip("textual_serve", reason="the extra `web` is not installed")
sys.path.insert(0, str(Path(__file__).parent))

from browsing import Tab, prefers
from playwright.sync_api import Browser
from served import CELLAR, ROOT, environment, program

pytestmark = pytest.mark.browser

COTTAGE = ROOT / "domains" / "cottage" / "world.tw"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a night with a good run and a bad one."""
    folder = tmp_path_factory.mktemp("night")
    store = folder / "runs.sqlite"

    def tw(*arguments: object) -> None:
        done = subprocess.run(
            program(*arguments, "--store", store), capture_output=True, text=True, cwd=folder,
            env=environment(folder), timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode in (0, 1), done.stderr

    tw("run", CELLAR, "--player", "planner")
    tw("run", CELLAR, "--player", "random", "--ticks", 60, "--seed", 7, "--halt-refusals", 0)
    tw("run", CELLAR, "--player", "adversarial", "--ticks", 60, "--halt-refusals", 0)
    tw("report", "--output", folder, "--time-limit", 5)
    return folder / "report.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1100, 390])
def test_it_is_drawn_from_one_file(
    report: Path, chromium: Browser, scheme: str, width: int
) -> None:
    with Tab(chromium, report.as_uri(), **prefers(scheme, width)) as tab:
        page = tab.page
        assert page.get_by_role("heading", level=1).inner_text() == "Morning report"
        for drawing in page.locator("svg").all():
            box = drawing.bounding_box()
            assert box is not None
            assert box["width"] > 20
            assert box["height"] > 3
        assert page.locator("svg.strip rect").count() > 60
        assert page.locator("svg.series polyline").count() > 3
        inked = page.locator("svg.strip .refused rect").first
        assert inked.evaluate("rect => getComputedStyle(rect).fill") == "rgb(245, 194, 107)"
        sideways = "[document.documentElement.scrollWidth, window.innerWidth]"
        assert page.evaluate(f"() => {sideways}") == [width, width]
        assert tab.asked == [report.as_uri()]


def contrast(text: tuple[float, ...], ground: tuple[float, ...]) -> float:
    """The contrast ratio of WCAG 2, of two colours with parts of 0 to 255."""

    def luminance(colour: tuple[float, ...]) -> float:
        parts = [one / 255 for one in colour]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(text), luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_what_wcag_says() -> None:
    assert contrast((0, 0, 0), (255, 255, 255)) == pytest.approx(21)
    assert contrast((118, 118, 118), (255, 255, 255)) == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_verdict_can_be_read(report: Path, chromium: Browser, scheme: str) -> None:
    with Tab(chromium, report.as_uri(), **prefers(scheme)) as tab:
        probe = """() => {
          const rgb = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map(Number);
          const canvas = document.createElement("i");
          canvas.style.color = "Canvas";
          document.body.append(canvas);
          const ground = rgb(getComputedStyle(canvas).color);
          canvas.remove();
          const kinds = document.querySelectorAll(
            ".OK, .WARN, .FAIL, .FAILED, .HEALTHY, h1, dd, a");
          return [...kinds].map((one) => [rgb(getComputedStyle(one).color), ground]);
        }"""
        pairs = tab.page.evaluate(probe)
        assert len(pairs) > 10
        assert min(contrast(tuple(text), tuple(ground)) for text, ground in pairs) >= 4.5
