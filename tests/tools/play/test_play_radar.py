"""The radar on the timeline, levels of hints, and going on with what takes long."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from tests.tools.play.piloting import details, enter, palette, screen_text, until
from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.planning.verdict import Verdict
from tokenworld.play.model.hints import since_sentence
from tokenworld.play.model.timeline import RadarAnswer, RadarPlanner
from tokenworld.play.screens import timeline as radar
from tokenworld.play.screens.app import PlayApp
from tokenworld.play.screens.dialogs import HelpDialog
from tokenworld.play.screens.screen import PlayScreen
from tokenworld.play.screens.timeline import TimelineScreen, answer_lines, legend
from tokenworld.session import Session
from tokenworld.session.session import LastChance
from tokenworld.verbs.output import ASCII, UNICODE, plain_text

LOST = ("take robot", "wind robot", "cry")


def rows(app: PlayApp) -> list[str]:
    moments = app.screen.query_one("#moments", OptionList)
    return [str(one.prompt) for one in moments.options]


def subtitle(app: PlayApp) -> str:
    return str(app.screen.query_one("#moments", OptionList).border_subtitle)


def timeline(app: PlayApp) -> TimelineScreen:
    assert isinstance(app.screen, TimelineScreen)
    return app.screen


async def opened(pilot: Pilot[None], app: PlayApp) -> None:
    app.game.operator = True
    await pilot.press("ctrl+t")
    await until(pilot, lambda: isinstance(app.screen, TimelineScreen))


async def quiet(pilot: Pilot[None], app: PlayApp) -> None:
    await until(pilot, lambda: not timeline(app).asking)


async def test_it_paints_what_is_in_reach_and_what_is_dead(app: PlayApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        for one in LOST:
            await enter(pilot, one)
        await opened(pilot, app)
        await quiet(pilot, app)
        assert [one[0] for one in rows(app)[1:]] == ["★", "★", "★", "†"]
        assert subtitle(app) == legend(UNICODE) == "★ in reach · † dead · ? unknown"
        assert "† No way leads to the goal from here" in details(app)
        assert "Unwinnable since tick 2: cry" in details(app)
        await pilot.press("up")
        await pilot.pause()
        assert "★ The goal can be reached from here" in details(app)


async def test_painting_moves_neither_highlight_nor_focus(
    app: PlayApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()

    def waits(self: RadarPlanner, moment: object, seconds: float, **_: object) -> Verdict:
        go.wait(10)
        return Verdict("unknown", None, None, "", "")

    monkeypatch.setattr(RadarPlanner, "ask", waits)
    async with app.run_test(size=(120, 40)) as pilot:
        for one in LOST:
            await enter(pilot, one)
        await opened(pilot, app)
        await pilot.press("up", "up")
        moments = app.screen.query_one("#moments", OptionList)
        at = moments.highlighted
        assert rows(app)[1][0] == "·"
        assert "radar: 0 of 4 known, tick 3" in subtitle(app)
        go.set()
        await quiet(pilot, app)
        assert moments.highlighted == at
        assert moments.has_focus
        assert [one[0] for one in rows(app)[1:]] == ["?"] * 4
        assert "No plan was found in time, and none was ruled out." in details(app)


async def test_d_stops_it_and_lets_it_go_on_with_more_time(
    app: PlayApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    patience: list[float] = []
    held = threading.Event()

    def waits(
        self: RadarPlanner,
        moment: object,
        seconds: float,
        *,
        cancel: Callable[[], bool],
        **_: object,
    ) -> Verdict:
        patience.append(seconds)
        while not held.is_set() and not cancel():
            held.wait(0.01)
        return Verdict("unknown", None, None, "", "")

    monkeypatch.setattr(RadarPlanner, "ask", waits)
    async with app.run_test(size=(120, 40)) as pilot:
        await enter(pilot, "take robot")
        await opened(pilot, app)
        assert timeline(app).asking
        await pilot.press("d")
        assert not timeline(app).asking
        assert "stopped; d goes on" in subtitle(app)
        assert rows(app)[1][0] == "·"  # what nobody answered is not unknown
        held.set()
        await pilot.press("d")
        await quiet(pilot, app)
        assert patience[0] == radar.SECONDS
        assert patience[1:] == [2 * radar.SECONDS] * 2
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))


async def test_it_rests_after_its_budget(app: PlayApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(radar, "BUDGET", 0.0)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        await until(pilot, lambda: "rests after 0 s; d goes on" in subtitle(app))
        assert rows(app)[1][0] == "·"


async def test_a_world_without_a_goal_is_not_asked_about(
    open_text_world: Callable[[str], Session],
) -> None:
    session = open_text_world("type A\nactor me: A\nworld w { object a: A }")
    app = PlayApp(session, glyphs=UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await opened(pilot, app)
        assert subtitle(app) == "radar: this world has no goal"


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Failure(Diagnostic("TW0812", "No planner.", hint="Install one.")), "TW0812: No planner."),
        (RuntimeError("gone"), "the planner stopped unexpectedly: gone"),
    ],
)
async def test_a_planner_that_fails_stops_the_radar_alone(
    app: PlayApp, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def broken(self: RadarPlanner, *_: object, **__: object) -> Verdict:
        raise error

    monkeypatch.setattr(RadarPlanner, "ask", broken)
    async with app.run_test(size=(120, 40)) as pilot:
        await opened(pilot, app)
        await until(pilot, lambda: told in subtitle(app))
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))
        assert "dead-end radar" in screen_text(app)


def test_every_answer_has_a_sign_and_words() -> None:
    told = {
        one: plain_text(answer_lines(RadarAnswer(one), None, ASCII))
        for one in ("winnable", "dead", "unknown", "pending")
    }
    assert all(text.isascii() for text in told.values())
    assert len({text[0] for text in told.values()}) == 4


# ---- hints --------------------------------------------------------------------------------------


COIN = """
type Me { coin: bool = true  ticket: bool = false }
actor me: Me
action buy() as "buy" { require me.coin else poor "No coin."  me.coin = false  me.ticket = true }
action lose() as "lose" { require me.coin else poor "No coin."  me.coin = false }
action wait() as "wait" { }
world w { object hero: Me { } goal ride: hero.ticket "You ride." }
"""


async def test_a_hint_says_since_when_there_is_no_way(
    open_text_world: Callable[[str], Session],
) -> None:
    app = PlayApp(open_text_world(COIN), glyphs=UNICODE)
    async with app.run_test(size=(120, 40)) as pilot:
        for one in ("wait", "lose", "wait"):
            await enter(pilot, one)
        await pilot.press("f3")
        await until(pilot, lambda: "Unwinnable from here" in details(app))
        assert "Unwinnable since tick 1: lose" in details(app)
        assert "Unwinnable since tick 1: lose. Undo to go back." in app.game.entries[-1].text
        app.game.timeline.sync()
        assert app.game.radar.answers()[3].prospect == "dead"  # the radar need not ask again


async def test_each_f3_tells_more_of_the_same_hint(cellar: PlayApp) -> None:
    async with cellar.run_test(size=(120, 40)) as pilot:
        await pilot.press("f3")
        await until(pilot, lambda: "Next: " in details(cellar))
        assert "The next hint tells the next three." in details(cellar)
        assert "   2: " not in details(cellar)
        request = play(cellar)._request
        await pilot.press("f3")
        await pilot.pause()
        assert "   3: " in details(cellar)
        assert "   4: " not in details(cellar)
        assert "The next hint tells all of them." in details(cellar)
        await pilot.press("f3")
        await pilot.pause()
        steps = cellar.game.track
        assert steps is not None
        assert f"{len(steps.steps):>4}: " in details(cellar)
        assert play(cellar)._request == request  # nobody was asked again
        await pilot.press("f6", "f3")
        await until(pilot, lambda: "Next: " in details(cellar) and play(cellar)._request > request)
        assert "   2: " not in details(cellar)


def play(app: PlayApp) -> PlayScreen:
    assert isinstance(app.screen, PlayScreen)
    return app.screen


async def test_the_palette_tells_the_whole_plan(cellar: PlayApp) -> None:
    async with cellar.run_test(size=(120, 40)) as pilot:
        await palette(pilot, "whole plan", "hint: whole plan")
        await pilot.press("down", "enter")
        await until(pilot, lambda: "   4: " in details(cellar))


def test_since_when_is_said_as_far_as_it_is_known() -> None:
    assert since_sentence(LastChance(2, 17, "cry", True)) == "Unwinnable since tick 17: cry"
    told = since_sentence(LastChance(2, 17, "cry", False))
    assert told == "It was last known to be in reach at tick 17."
    assert since_sentence(LastChance(None, None, "", True)) == "It was never in reach."
    assert since_sentence(LastChance(None, None, "", False)) == since_sentence(None) == ""


# ---- what takes long ----------------------------------------------------------------------------


async def test_it_goes_on_until_what_takes_long_is_done(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "go on")
        assert "Nothing that takes longer is under way." in app.game.entries[-1].text
        await enter(pilot, "sweep")
        assert "… sweep ▰▱▱ 1 of 3" in screen_text(app)
        await pilot.press("ctrl+g")
        await until(pilot, lambda: app.game.entries[-1].text.endswith("`sweep` is done."))
        assert "The floor shines." in app.game.entries[-2].text
        session = app.game.session
        assert session.tick == 3
        assert session.moments[-1].outcomes[-1].status == "executed"
        await pilot.pause(0.3)
        assert session.tick == 3


async def test_esc_stops_going_on(app: PlayApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenworld.play.screens.screen.STEP_SECONDS", 60.0)
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "sweep")
        await pilot.press("ctrl+g")
        assert play(app)._stepping is not None
        await pilot.press("escape")
        assert play(app)._stepping is None
        assert app.game.session.tick == 1
