"""The quality strip: the same scorecard as `tw quality`, beside the game, and never in its way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from tests.tools.play.conftest import WORLDS
from tests.tools.play.piloting import details, enter, palette, screen_text, until
from tokenworld.play.screens import screen as overseeing
from tokenworld.play.screens.app import PlayApp
from tokenworld.play.screens.dialogs import HelpDialog
from tokenworld.play.screens.quality import (
    QualityScreen,
    Scored,
    dimension_lines,
    job_of,
    outcome_of,
    strip_line,
)
from tokenworld.play.screens.screen import PlayScreen
from tokenworld.play.widgets.actions import TickList
from tokenworld.play.widgets.texts import QualityStrip
from tokenworld.session import Session
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run
from tokenworld.verbs.output import ASCII, UNICODE, plain_text
from tokenworld.verbs.quality.scorecard import score_run

BAD = ("take robot", "fly", "fly", "fly", "fly", "fly", "take robot", "wind robot", "look", "look")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with RunStore.open(tmp_path / "runs.sqlite") as opened:
        yield opened


@pytest.fixture
def recorded(store: RunStore) -> PlayApp:
    session = Session.open(str(WORLDS / "attic.tw"), 7, store=store)
    return PlayApp(session, glyphs=UNICODE)


def play_screen(app: PlayApp) -> PlayScreen:
    return next(one for one in app.screen_stack if isinstance(one, PlayScreen))


def strip(app: PlayApp) -> QualityStrip:
    return play_screen(app).query_one(QualityStrip)


async def score(pilot: Pilot[None], app: PlayApp) -> None:
    play_screen(app).rescore()
    await until(pilot, lambda: not play_screen(app).scoring)


async def test_the_strip_is_the_scorecard_of_the_store(recorded: PlayApp, store: RunStore) -> None:
    app = recorded
    async with app.run_test(size=(80, 24)) as pilot:
        assert not strip(app).display
        await pilot.press("f12")
        assert strip(app).display
        await until(pilot, lambda: not play_screen(app).scoring)
        for one in BAD:
            app.game.give(one)
        await score(pilot, app)
        card = score_run(store, find_run(store))
        assert strip(app).plain == plain_text((strip_line(card, UNICODE),))
        assert [one.status for one in card.dimensions][2:4] == ["FAIL", "FAIL"]
        assert strip(app).plain.startswith("Quality: » FAILED · ✗ commands that work · ✗ refusals")
        assert len(strip(app).plain) <= 78
        assert strip(app).plain in screen_text(app)


async def test_it_never_takes_the_focus_and_scores_only_what_is_new(recorded: PlayApp) -> None:
    app = recorded
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f5")
        focused = app.screen.focused
        app.game.give("take robot")
        await score(pilot, app)
        assert app.screen.focused is focused
        play_screen(app).rescore()
        assert not play_screen(app).scoring  # nothing came since
        app.game.give("wind robot")
        play_screen(app).rescore()
        assert play_screen(app).scoring
        await until(pilot, lambda: not play_screen(app).scoring)


async def test_it_is_scored_by_itself_at_most_so_often(
    recorded: PlayApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert overseeing.SECONDS == 10.0
    monkeypatch.setattr(overseeing, "FIRST_SECONDS", 0.01)
    monkeypatch.setattr(overseeing, "SECONDS", 0.05)
    app = recorded
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f12")
        await until(pilot, lambda: "TOO FEW TICKS" in strip(app).plain)
        for one in BAD:
            app.game.give(one)
        await until(pilot, lambda: "FAILED" in strip(app).plain)


async def test_enter_opens_the_dimensions_and_a_tick_leads_back(recorded: PlayApp) -> None:
    app = recorded
    async with app.run_test(size=(120, 40)) as pilot:
        for one in BAD:
            await enter(pilot, one)
        await score(pilot, app)
        await pilot.press("f12")
        strip(app).focus()
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, QualityScreen))
        assert "FAILED — commands that work and refusals in a row failed" in details(app)
        await pilot.press(*["down"] * 3)
        await pilot.pause()
        assert "✗ Commands that work  FAIL" in details(app)
        assert "record   10  6" in details(app)
        await pilot.press("enter")  # a dimension is no tick
        assert isinstance(app.screen, QualityScreen)
        await pilot.press("down")
        await pilot.pause()
        row = app.screen.query_one("#grades", OptionList)
        assert "2 no match fly" in str(row.get_option_at_index(row.highlighted or 0).prompt)
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))
        await pilot.press("escape", "enter")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
        ticks = app.screen.query_one(TickList)
        assert ticks.has_focus
        assert ticks.chosen is app.game.session.moments[2].outcomes[0]
        assert "no match" in details(app)


async def test_a_newer_scorecard_leaves_the_highlight_where_it_is(recorded: PlayApp) -> None:
    app = recorded
    async with app.run_test(size=(120, 40)) as pilot:
        for one in BAD:
            app.game.give(one)
        await score(pilot, app)
        await enter(pilot, "quality")
        await until(pilot, lambda: isinstance(app.screen, QualityScreen))
        await pilot.press(*["down"] * 5)
        row = app.screen.query_one("#grades", OptionList)
        before = str(row.get_option_at_index(row.highlighted or 0).prompt)
        app.game.give("fly")
        await score(pilot, app)
        assert str(row.get_option_at_index(row.highlighted or 0).prompt) == before
        assert row.has_focus
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))


async def test_asked_for_before_there_is_one_it_opens_when_there_is(recorded: PlayApp) -> None:
    app = recorded
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "quality")
        await until(pilot, lambda: isinstance(app.screen, QualityScreen))
        assert "INSUFFICIENT_DATA" in details(app)


async def test_without_a_recording_there_is_no_score(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        assert not strip(app).display
        assert job_of(app.game.session) is None
        await pilot.press("f12")
        assert "nothing is recorded" in strip(app).plain
        await enter(pilot, "quality")
        await pilot.pause()
        assert "no run to score" in app.game.entries[-1].text
        await palette(pilot, "view quality", "view: quality")


async def test_a_run_that_cannot_be_read_is_told_and_play_goes_on(
    recorded: PlayApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the disk is gone")

    monkeypatch.setattr("tokenworld.play.screens.quality.score_run", broken)
    app = recorded
    async with app.run_test(size=(80, 24)) as pilot:
        app.game.give("take robot")
        await score(pilot, app)
        assert "the disk is gone" in strip(app).plain
        await enter(pilot, "wind robot")
        assert app.game.session.tick == 2


def test_ticks_are_found_where_the_session_has_them(store: RunStore) -> None:
    session = Session.open(str(WORLDS / "attic.tw"), 7, store=store)
    for one in BAD:
        session.intend(one)
    moments = len(session.moments)
    scored = Scored(score_run(store, find_run(store)), len(BAD), moments)
    found = outcome_of(session, scored, 2)
    assert found is not None
    assert found[0] == "fly"
    assert outcome_of(session, scored, 99) is None
    # the session goes on with a stored run of five records
    later = Scored(scored.card, len(BAD) + 5, moments)
    assert outcome_of(session, later, 5) is None
    assert outcome_of(session, later, 6) == outcome_of(session, scored, 1)


def test_plain_signs_and_words_say_the_same(store: RunStore) -> None:
    session = Session.open(str(WORLDS / "attic.tw"), 7, store=store)
    for one in BAD:
        session.intend(one)
    card = score_run(store, find_run(store))
    text = plain_text((strip_line(card, ASCII),))
    assert text.isascii()
    assert "x commands that work" in text
    told = plain_text(dimension_lines(card.dimensions[2], ASCII))
    assert told.isascii()
