"""A world played to its goal in a real Chromium, by keyboard alone; a refusal is read there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("textual_serve", reason="the extra `web` is not installed")
pytest.importorskip("playwright", reason="the extra `browser` is not installed")
sys.path.insert(0, str(Path(__file__).parent))

from browsing import Tab
from playwright.sync_api import Browser
from served import CELLAR, ROOT, Served

from tokenworld.planning.verdict import PlanStep
from tokenworld.session import Session, plan_for_seed
from tokenworld.store.log import RunStore
from tokenworld.store.read import list_runs

pytestmark = pytest.mark.browser

WILLOWBROOK = ROOT / "domains" / "willowbrook" / "world.tw"
SEED = 7
WIDE = {"viewport": {"width": 1600, "height": 900}}
Serve = Callable[..., Served]


@dataclass(frozen=True)
class Way:
    """A way to a goal, as the interpreter of this process goes it."""

    steps: tuple[str, ...]
    ticks: tuple[int, ...]
    """After each step."""
    endings: str
    refused: str
    """A command of it that is refused at the start."""
    because: str


def way_of(world: Path) -> Way:
    session = Session.open(str(world), SEED)
    steps, verdict = plan_for_seed(session.engine, session.state, None, time_limit=60)
    assert verdict.answer == "winnable"
    refused, because = refusal_in(world, steps)
    told, ticks = [], []
    for step in steps:
        told.append(session.text_of(step.command))
        session.intend(step.command)
        ticks.append(session.tick)
    return Way(tuple(told), tuple(ticks), ", ".join(session.latched), refused, because)


def refusal_in(world: Path, steps: tuple[PlanStep, ...]) -> tuple[str, str]:
    """The first step that is refused, with a reason, before those that come before it."""
    session = Session.open(str(world), SEED)
    for step in steps:
        text = session.text_of(step.command)
        refusal = session.intend(text)[0].refusal
        if refusal is not None and refusal.text:
            return text, refusal.text
        session.undo()
    raise AssertionError("no step of the plan is refused at the start")


def begun(tab: Tab) -> None:
    tab.until("tick 0", "You can (", "Type a command,", "^Q Quit", seconds=90)


def test_the_cellar_is_played_to_its_goal_by_keyboard(serve: Serve, chromium: Browser) -> None:
    way = way_of(CELLAR)
    served = serve(CELLAR, "--seed", SEED)
    with Tab(chromium, served.url, **WIDE) as tab:
        begun(tab)
        assert tab.page.title() == "The Cellar"
        tab.give(way.refused)
        text = tab.until(f"✗ {way.because}", "require here(c)")
        assert "tick 0" in text
        for step, tick in zip(way.steps, way.ticks, strict=True):
            tab.give(step)
            tab.until(f"> {step}", f"tick {tick}")
        tab.until(f"won: {way.endings}")
        assert drawn(tab), "the terminal is drawn on the page, not only kept in its memory"
    kept_in(served, 1 + len(way.steps))


def test_willowbrook_is_played_to_its_goal_and_a_refusal_is_told(
    serve: Serve, chromium: Browser
) -> None:
    way = way_of(WILLOWBROOK)
    served = serve(WILLOWBROOK, "--seed", SEED, "--plan")
    with Tab(chromium, served.url, **WIDE) as tab:
        begun(tab)
        tab.give(way.refused)
        text = tab.until(f"✗ {way.because}", "refused in tick 0", "require ")
        assert "tick 0" in text
        tab.page.keyboard.press("Control+z")  # where actors take turns, a refusal costs one
        tab.page.keyboard.press("F6")
        tab.until("─ Plan ─", " 1 of ")
        tab.page.keyboard.press("F7")
        tab.until("won: ", seconds=90)


def kept_in(served: Served, records: int) -> None:
    """What was played on the page is in the run store."""
    with RunStore.open(served.store, writable=False) as store:
        (run,) = list_runs(store)
    assert run.ticks == records
    assert run.header.seed == SEED


def drawn(tab: Tab) -> bool:
    """Whether a picture of the page has more than its background: many colours, many places."""
    canvas = """() => {
      const layer = document.querySelector(".xterm-text-layer");
      const data = layer.getContext("2d").getImageData(0, 0, layer.width, layer.height).data;
      let inked = 0;
      for (let at = 3; at < data.length; at += 4) if (data[at]) inked++;
      return inked;
    }"""
    return int(tab.page.evaluate(canvas)) > 10_000


def test_a_page_that_is_left_and_opened_again(serve: Serve, chromium: Browser) -> None:
    served = serve(CELLAR, "--seed", SEED)
    with Tab(chromium, served.url, **WIDE) as tab:
        begun(tab)
        tab.give("quit")
        tab.page.get_by_role("button", name="Play again").wait_for()
        assert "run store" in tab.page.get_by_role("alertdialog").inner_text()
        tab.page.keyboard.press("Enter")  # the button has the focus
        begun(tab)
        tab.page.set_viewport_size({"width": 800, "height": 600})
        tab.give("take brass key")
        tab.until("tick 1")


def test_the_server_goes_and_the_page_says_so(serve: Serve, chromium: Browser) -> None:
    served = serve(CELLAR, "--seed", SEED)
    with Tab(chromium, served.url, **WIDE) as tab:
        begun(tab)
        assert served.interrupt() == 0
        tab.page.get_by_role("button", name="Play again").wait_for()
    assert not served.games()
