"""The laws of a tick on the screen: lines, and the keys that lead there."""

from __future__ import annotations

from pathlib import Path

from tests.tools.play.piloting import enter, palette, screen_text, until
from tokenworld.diagnostics import Source
from tokenworld.play.screens.app import PlayApp
from tokenworld.play.screens.dialogs import HelpDialog
from tokenworld.play.screens.screen import PlayScreen
from tokenworld.play.screens.timeline import TimelineScreen, TraceScreen
from tokenworld.play.widgets.texts import TextPane
from tokenworld.session import Session
from tokenworld.session.loading import open_text
from tokenworld.verbs.output import ASCII, UNICODE, plain_text
from tokenworld.verbs.runs.trace import trace_lines

POND = (Path(__file__).parent / "worlds" / "pond.tw").read_text(encoding="utf-8")


def pond() -> Session:
    return Session(open_text((Source("pond.tw", None, POND),), "pond"), 3)


def laws(app: PlayApp) -> str:
    return app.screen.query_one("#laws", TextPane).plain


def told(session: Session, glyphs=UNICODE) -> str:  # type: ignore[no-untyped-def]
    from tokenworld.verbs.runs.trace import Tracing

    found = Tracing(session).trace(session.moments[-2].state, session.moments[-1])
    return plain_text(trace_lines(found, glyphs))


def test_laws_are_told_in_order_with_what_they_share() -> None:
    session = pond()
    session.intend("stir")
    assert told(session).split("\n") == [
        "✓ executed in tick 0  stir",
        "",
        "action stir()",
        "      pond.stirred false → true",
        "",
        "phase weather  all laws at once",
        "  1 law rain  p = pond",
        "      pond.level + 2  shared",
        "  2 law leak  p = pond",
        "      pond.level - 1  shared",
        "  · pond.level 5 → 6  added up (1: + 2, 2: - 1)",
        "  did not fire: frost, green, black",
        "",
        "phase life  one object after another",
        "  3 law swim  f = carp",
        "      carp.moved 0 → 1",
        "  4 law swim  f = pike",
        "      pike.moved 0 → 1",
    ]


def test_a_clash_is_told_with_what_each_law_asked_for() -> None:
    session = pond()
    session.intend("curse")
    text = told(session, ASCII)
    assert "x pond.colour stays  they clash (3: = green, 4: = black)" in text
    assert "TW1003" in text
    assert "It broke off here. Nothing of the tick was kept." in text
    assert text.isascii()


def test_a_refusal_runs_no_law() -> None:
    session = pond()
    session.intend("catch carp")
    assert told(session).endswith("No time passed, so no law ran.")


async def test_ctrl_l_tells_the_last_tick_and_arrows_walk() -> None:
    app = PlayApp(pond(), glyphs=UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "stir")
        await enter(pilot, "pass")
        await pilot.press("ctrl+l")
        await until(pilot, lambda: isinstance(app.screen, TraceScreen))
        assert "Laws of tick 1: 2 of 2" in screen_text(app)
        await pilot.press("right")
        await pilot.pause()
        assert "in tick 1" in laws(app)
        await pilot.press("left")
        await pilot.pause()
        assert "pond.stirred false → true" in laws(app)
        await pilot.press("p")
        await pilot.pause()
        assert "in tick 0" in laws(app)  # there is none before it
        await pilot.press("n", "f1")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))
        assert "law by law" in screen_text(app)
        await pilot.press("escape", "escape")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))


async def test_a_tick_that_is_picked_is_the_one_told() -> None:
    app = PlayApp(pond(), glyphs=UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        for one in ("stir", "pass", "pass"):
            await enter(pilot, one)
        await pilot.press("f5", "up", "up", "ctrl+l")
        await until(pilot, lambda: isinstance(app.screen, TraceScreen))
        assert "in tick 0" in laws(app)
        await pilot.press("q")
        await enter(pilot, "timeline")
        await until(pilot, lambda: isinstance(app.screen, TimelineScreen))
        await pilot.press("up", "l")
        await until(pilot, lambda: isinstance(app.screen, TraceScreen))
        assert "in tick 1" in laws(app)


async def test_at_the_start_there_is_no_law_to_tell() -> None:
    app = PlayApp(pond(), glyphs=UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "laws")
        assert isinstance(app.screen, PlayScreen)
        assert "Nothing was played yet" in app.game.entries[-1].text
        await enter(pilot, "timeline")
        await pilot.press("l")
        await pilot.pause()
        assert isinstance(app.screen, TimelineScreen)


async def test_the_palette_tells_the_laws() -> None:
    app = PlayApp(pond(), glyphs=UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "stir")
        await palette(pilot, "view laws", "view: laws")
        await pilot.press("down", "enter")
        await until(pilot, lambda: isinstance(app.screen, TraceScreen))
