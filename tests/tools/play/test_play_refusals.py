"""Refusals on the screen: since when and why, a way to what was refused, and what is forbidden."""

from __future__ import annotations

import threading

import pytest

from tests.tools.play.piloting import details, enter, palette, screen_text, until
from tokenworld.play.model.game import Game
from tokenworld.play.screens.app import PlayApp
from tokenworld.play.widgets.actions import ActionList, CommandLine, offer
from tokenworld.session import Session
from tokenworld.session.refusals.ways import Satisfaction
from tokenworld.verbs.output import UNICODE, plain_text
from tokenworld.verbs.refusals.lines import satisfaction_lines


async def test_a_refusal_says_since_when_and_by_which_rule(app: PlayApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await enter(pilot, "take robot")
        await enter(pilot, "take robot")
        text = details(app)
        assert "false since tick 0: take robot" in text
        assert "at(robot) attic → child action take" in text
        await enter(pilot, "force trunk")
        assert "false from the start" in details(app)
        await pilot.press("f5", "up")
        await pilot.pause()
        assert "false since tick 0: take robot" in details(app)


async def test_a_refusal_names_a_command_that_helps(
    cellar: PlayApp,
) -> None:
    async with cellar.run_test(size=(120, 40)) as pilot:
        await enter(pilot, "open oak chest")
        assert "» go through arch helps" in details(cellar)


async def test_a_way_is_shown_accepted_with_enter_and_played(
    cellar: PlayApp,
) -> None:
    async with cellar.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "open oak chest")
        assert "F10 makes it possible" in screen_text(cellar)
        before = len(cellar.game.session.moments)
        await pilot.press("f10")
        await until(pilot, lambda: "becomes possible by:" in details(cellar))
        assert "  1. take brass key" in details(cellar)
        assert len(cellar.game.session.moments) == before
        await pilot.press("enter")
        await until(pilot, lambda: cellar.game.session.why_not("open oak chest").allowed)
        command = cellar.screen.query_one(CommandLine)
        assert command.value == "open oak chest"
        await pilot.press("enter")
        await until(pilot, lambda: cellar.game.session.moments[-1].asked == "open oak chest")
        assert cellar.game.session.moments[-1].outcomes[-1].status == "executed"


async def test_a_way_may_be_typed_and_clicked(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "satisfy wind robot")
        await until(pilot, lambda: "`wind robot` becomes possible by:" in details(app))
        await pilot.pause()
        rows = screen_text(app).split("\n")
        y = next(n for n, row in enumerate(rows) if "Play these steps Enter" in row)
        await pilot.click(offset=(rows[y].index("Play these") + 2, y))
        await until(pilot, lambda: app.game.session.why_not("wind robot").allowed)
        assert app.game.session.moments[-1].asked == "take robot"


async def test_a_way_that_no_longer_starts_here_is_not_played(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "satisfy wind robot")
        await until(pilot, lambda: "becomes possible" in details(app))
        await enter(pilot, "sweep")
        moments = len(app.game.session.moments)
        await pilot.press("enter")
        await pilot.pause()
        assert len(app.game.session.moments) == moments


async def test_what_nothing_makes_possible_is_said(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "take robot")
        await enter(pilot, "satisfy take robot")
        await until(pilot, lambda: "Nothing makes `take robot` possible." in details(app))
        await enter(pilot, "satisfy cry")
        assert "✓ It can be done now." in details(app)
        await enter(pilot, "satisfy fly")
        assert "I do not know the verb" in details(app)


async def test_f10_without_a_command_says_what_to_do(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f10")
        await pilot.pause()
        assert app.game.entries[-1].text.endswith("press F10.")


async def test_a_search_for_a_way_never_blocks_and_can_be_stopped(
    app: PlayApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = threading.Event()

    def seek_for_ever(session: Session, command: object, **named: object) -> Satisfaction:
        cancel = named["cancel"]
        assert callable(cancel)
        while not cancel():
            stopped.wait(0.01)
        stopped.set()
        raise AssertionError("nobody waits for this")

    monkeypatch.setattr("tokenworld.play.screens.advised.satisfy", seek_for_ever)
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "satisfy wind robot")
        await until(pilot, lambda: "Thinking" in details(app))
        await pilot.press("escape")
        await until(pilot, stopped.is_set)
        await pilot.pause()
        assert details(app) == "The hint was stopped."


def test_an_unknown_way_and_one_that_counts_on_luck_are_told() -> None:
    from tokenworld.ground import Command
    from tokenworld.planning.verdict import PlanStep

    command = Command("open", (1,))
    unknown = Satisfaction(command, "open it", "unknown", "command", "", (), (), False, 1234)
    told = plain_text(satisfaction_lines(unknown, UNICODE))
    assert "? No way to `open it` was found." in told
    assert "1,234 states were looked at" in told
    steps = (PlanStep(Command("", ())),)
    lucky = Satisfaction(
        command, "open it", "found", "require", "x.dry", steps, ("pass",), False, 9
    )
    told = plain_text(satisfaction_lines(lucky, UNICODE))
    assert "? `open it` stays out of reach.\n✓ x.dry holds by:\n  1. pass" in told
    assert "It counts on luck" in told


async def test_f2_twice_lists_what_cannot_be_done_with_the_reasons(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f2", "f2")
        await pilot.pause()
        shown = screen_text(app)
        assert "You can (5), cannot (2)" in shown
        assert "✗ wind robot  You do not hold" in shown
        await pilot.press("end", "enter")
        await pilot.pause()
        assert "would be refused." in details(app)
        await pilot.press("f2", "f2")
        await pilot.pause()
        assert "cannot" not in screen_text(app)


async def test_the_palette_lists_what_cannot_be_done(app: PlayApp) -> None:
    async with app.run_test(size=(120, 40)) as pilot:
        await palette(pilot, "view what cannot", "view: what cannot be done")
        await pilot.press("down", "enter")
        await until(
            pilot, lambda: "cannot (2)" in str(app.screen.query(ActionList)[0].border_title)
        )


def test_typing_narrows_what_cannot_be_done(game: Game) -> None:
    found = offer(game, "wi", everything=True)
    assert [(one.text, one.remark) for one in found.choices] == [
        ("wind robot", "You do not hold the robot.")
    ]
    assert offer(game, "fo").choices[0].remark == "You are too weak (energy 5)."
    game.give("cry")
    assert offer(game, "", everything=True).choices == ()


async def test_what_holds_is_folded_until_f4(cellar: PlayApp) -> None:
    async with cellar.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "take iron key")
        await enter(pilot, "take iron key")
        heading, _, first, *_ = details(cellar).split("\n")
        assert heading == "✗ refused in tick 1"  # the title of the pane has the command
        assert "✗ carried" in first
        assert "✓ 1 condition met: fixed  F4 shows all" in details(cellar)
        await pilot.press("f4")
        assert "✓ fixed: not (it is Chest)" in details(cellar)


async def test_f10_is_offered_only_where_it_can_help(
    cellar: PlayApp,
) -> None:
    async with cellar.run_test(size=(80, 24)) as pilot:
        for asked in ("take oak chest", "unlock oak chest with iron key"):
            await enter(pilot, asked)
            assert "F10 makes it possible" not in screen_text(cellar)
        await enter(pilot, "open oak chest")
        assert "F10 makes it possible" in screen_text(cellar)
