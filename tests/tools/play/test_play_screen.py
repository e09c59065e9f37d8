"""The screen under a pilot: mouse, keys, suggestions, refusals, hints, undo, resizing, quitting."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest
from textual.widgets import Footer

from tests.tools.play.piloting import details, enter, keys, screen_text, until
from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.planning.verdict import Verdict
from tokenworld.play.screens.app import PlayApp
from tokenworld.play.screens.dialogs import HelpDialog, QuitDialog
from tokenworld.play.screens.screen import PlayScreen
from tokenworld.play.widgets.actions import ActionList, CommandLine, TickList
from tokenworld.play.widgets.texts import TextPane
from tokenworld.session import Session
from tokenworld.verbs.output import UNICODE


async def test_the_first_screen_fits_80_by_24_and_says_what_to_do(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: "F1 Help" in screen_text(app))
        lines = screen_text(app).split("\n")
        assert len(lines) == 24
        assert lines[0].startswith(" The Attic · tick 0 · score 0 · playing")
        assert "Type a command, or press F2 for what you can do" in lines[22]
        for name in ("F1 Help", "F2 Actions", "F3 Hint", "F4 Why", "F5 Ticks", "^Z Undo", "^Q"):
            assert name in lines[23]
        assert "You can (5)" in screen_text(app)
        assert "take robot" in screen_text(app)


async def test_a_click_plays_a_legal_action(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.click(ActionList, offset=(5, 1))
        await pilot.pause()
        assert [one.asked for one in app.game.session.moments] == ["", "take robot"]
        assert "robot" in app.screen.query_one("#carried", TextPane).plain
        assert "> take robot" in screen_text(app)


async def test_enter_in_the_list_plays_the_highlighted_action(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f2", "down", "enter")
        await pilot.pause()
        assert app.game.session.moments[-1].asked == "sweep"
        assert "… sweep ▰▱▱ 1 of 3" in screen_text(app)


async def test_typing_suggests_narrows_and_plays(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys("ta"))
        await until(pilot, lambda: "take robot" in screen_text(app).split("\n")[22])
        assert "You can (1 of 5)" in screen_text(app)
        await pilot.press("tab")
        assert app.screen.query_one(CommandLine).value == "take robot"
        await pilot.press("enter")
        await pilot.pause()
        assert app.game.session.moments[-1].asked == "take robot"
        assert app.screen.query_one(CommandLine).value == ""


async def test_history_comes_back_with_the_arrows(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "look")
        await enter(pilot, "fly")
        command = app.screen.query_one(CommandLine)
        await pilot.press("up", "up")
        assert command.value == "look"
        await pilot.press("down")
        assert command.value == "fly"
        await pilot.press("down", "down")
        assert command.value == ""


async def test_letters_go_to_the_command_line_from_anywhere(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f2")
        assert not app.screen.query_one(CommandLine).has_focus
        await pilot.press(*keys("look"), "enter")
        await pilot.pause()
        assert app.game.session.moments[-1].asked == "look"


async def test_a_refusal_explains_itself(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "force trunk")
        text = details(app)
        assert "✗ weak: me.energy >= 9" in text
        assert "me.energy = 5" in text
        assert "attic.tw:26:3 require me.energy >= 9 else weak" in text
        assert "✓ 2 conditions met: absent, open" in text
        shown = screen_text(app)
        assert "✗ You are too weak (energy 5)." in shown
        assert "✗ weak: me.energy >= 9" in shown
        assert app.game.session.tick == 0
        await enter(pilot, "take robot")
        assert "You can (" in screen_text(app)


async def test_why_examines_without_giving(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys("force trunk"), "f4")
        await pilot.pause()
        assert "✗ It would be refused." in details(app)
        assert len(app.game.session.moments) == 1
        await pilot.press("ctrl+u", *keys("why cry"), "enter")
        await pilot.pause()
        assert "✓ It can be done now." in details(app)
        await pilot.press("f2", "f4")
        await pilot.pause()
        assert "✓ It can be done now." in details(app)
        await pilot.press("f2", *keys("force"), "f2", "enter")
        await pilot.pause()
        assert "✗ It would be refused." in details(app)
        assert len(app.game.session.moments) == 1


async def test_ticks_show_their_records(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        for text in ("take robot", "fly", "wind robot"):
            await enter(pilot, text)
        await pilot.press("f5")
        await pilot.pause()
        shown = screen_text(app)
        for row in ("✓   0 executed take robot", "?   1 no match fly", "✓   1 executed wind"):
            assert row in shown
        await pilot.press("up", "up")
        assert "at(robot) attic → child  action take" in details(app)
        assert "Ticks (3)" in screen_text(app)
        await pilot.press("enter")
        await pilot.pause()
        assert "Tick 0: take robot" in screen_text(app)


async def test_a_tab_is_brought_up_by_a_click(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        row = screen_text(app).split("\n")[1]
        await pilot.click("#tabs", offset=(row.index("Ticks F5") - 40, 0))
        await pilot.pause()
        assert app.screen.query_one(TickList).has_focus
        assert "Ticks" in screen_text(app).split("\n")[2]


async def test_undo_takes_back_and_says_so(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "take robot")
        await pilot.press("ctrl+z")
        await pilot.pause()
        assert app.game.session.tick == 0
        assert "↶ Undone: take robot" in screen_text(app)
        assert "nothing" in app.screen.query_one("#carried", TextPane).plain


async def test_undo_puts_away_what_was_told_of_another_moment(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "take robot")
        await enter(pilot, "force trunk")
        assert "You can (" not in screen_text(app)
        await pilot.press("ctrl+z")
        await until(pilot, lambda: "You can (" in screen_text(app))


async def test_an_ending_is_told_and_can_be_undone(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "cry")
        shown = screen_text(app)
        assert "† lost: sad" in shown.split("\n")[0]
        assert "You have lost" in shown
        assert "The world is over. Ctrl+Z undoes." in shown
        await pilot.press("f3")
        await pilot.pause()
        assert "there is nothing to hint at" in " ".join(app.game.entries[-1].text.split())
        await pilot.press("ctrl+z")
        await pilot.pause()
        assert "playing" in screen_text(app).split("\n")[0]


# ---- hints and plans --------------------------------------------------------------------


async def test_a_hint_on_the_cellar_leads_to_the_goal(
    cellar: PlayApp,
) -> None:
    async with cellar.run_test(size=(80, 24)) as pilot:
        assert "F6" not in screen_text(cellar)
        await pilot.press("f3")
        await until(pilot, lambda: "✓ Winnable" in details(cellar))
        assert "Next: take brass key" in details(cellar)
        assert "F6 Step F7 Run" in screen_text(cellar)
        await pilot.press("f6")
        await pilot.pause()
        assert cellar.game.session.moments[-1].asked == "take brass key"
        assert "1 of 5 steps are played." in details(cellar)
        await pilot.press("f7")
        await until(pilot, cellar.game.session.won)
        assert "★ won: rich" in screen_text(cellar).split("\n")[0]


async def test_the_offer_of_a_hint_can_be_clicked(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "hint")
        await until(pilot, lambda: "✓ Winnable" in details(app))
        await pilot.pause()
        rows = screen_text(app).split("\n")
        y = next(n for n, row in enumerate(rows) if "Play this step F6" in row)
        await pilot.click(offset=(rows[y].index("Play this step") + 2, y))
        await pilot.pause()
        assert app.game.session.moments[-1].asked == "take robot"


async def test_an_unwinnable_world_is_said_to_be(open_domain: Callable[[str], Session]) -> None:
    app = PlayApp(open_domain("cellar/twin.tw"), glyphs=UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f3")
        await until(pilot, lambda: "✗ Unwinnable from here" in details(app))
        assert "F6" not in screen_text(app).split("\n")[23]


async def test_a_hint_never_blocks_and_can_be_stopped(
    app: PlayApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = threading.Event()

    def search_for_ever(self: Session, goal: str | None = None, **named: object) -> Verdict:
        say, cancel = named["say"], named["cancel"]
        assert callable(say)
        assert callable(cancel)
        say("own search: 7 states seen")
        while not cancel():
            stopped.wait(0.01)
        stopped.set()
        return Verdict("unknown", None, None, "", "")

    monkeypatch.setattr(Session, "plan", search_for_ever)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f3")
        await until(pilot, lambda: "7 states seen" in details(app))
        await enter(pilot, "look")
        assert app.game.session.moments[-1].asked == "look"
        await until(pilot, stopped.is_set)
        stopped.clear()
        await pilot.press("f3")
        await until(pilot, lambda: "7 states seen" in details(app))
        await pilot.press("escape")
        await until(pilot, stopped.is_set)
        await pilot.pause()
        assert details(app) == "The hint was stopped."
        assert not any("Unknown" in one.text for one in app.game.entries)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Failure(Diagnostic("TW0811", "No planner.", hint="Install one.")),
         "TW0811: No planner. Install one."),
        (RuntimeError("boom"), "TW0812: The planner stopped unexpectedly: boom."),
    ],
)  # fmt: skip
async def test_a_planner_that_fails_is_one_message(
    app: PlayApp, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    def fail(self: Session, goal: str | None = None, **named: object) -> Verdict:
        raise error

    monkeypatch.setattr(Session, "plan", fail)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f3")
        await until(pilot, lambda: app.game.entries[-1].kind == "fault")
        assert app.game.entries[-1].text.startswith(told)
        assert "Traceback" not in screen_text(app)
        await enter(pilot, "take robot")
        assert app.game.session.tick == 1


async def test_a_plan_handed_in_can_be_run_and_stopped(
    attic: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokenworld.play.screens.advised.STEP_SECONDS", 0.5)
    verdict = attic.plan()
    app = PlayApp(attic, plan=verdict.steps, plan_verdict=verdict, glyphs=UNICODE)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f7")
        await until(pilot, lambda: attic.tick >= 1)
        await pilot.press("escape")
        await pilot.pause()
        reached = attic.tick
        await asyncio.sleep(0.7)
        assert attic.tick == reached < 3
        await pilot.press("f7")
        await until(pilot, attic.won)


# ---- size, help, palette, quitting --------------------------------------------------------


async def test_resizing_brings_all_panes_up(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "force trunk")
        assert "You can" not in screen_text(app)
        await pilot.resize_terminal(120, 40)
        await pilot.pause()
        wide = screen_text(app)
        for title in ("You can (5)", "Why: force trunk", "Ticks (1)", "Story", "You carry"):
            assert title in wide
        assert "Details F4" not in wide
        await pilot.resize_terminal(200, 60)
        await pilot.pause()
        assert len(screen_text(app).split("\n")) == 60
        await pilot.resize_terminal(50, 15)
        await pilot.pause()
        await pilot.resize_terminal(80, 24)
        await pilot.pause()
        assert "✗ weak" in screen_text(app)


async def test_every_pane_stays_in_bounds_with_much_to_show(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        for _ in range(40):
            app.game.give("look")
            app.game.give("force trunk")
        assert isinstance(app.screen, PlayScreen)
        app.screen.refresh_all()
        await pilot.pause()
        for pane in app.screen.query(".pane"):
            if pane.display:
                assert pane.region.bottom <= 22
                assert pane.region.height >= 3
        assert app.screen.query_one(Footer).region.y == 23


async def test_help_tells_the_keys_and_closes(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f1")
        await pilot.pause()
        assert isinstance(app.screen, HelpDialog)
        assert "How to play" in screen_text(app)
        await pilot.press("escape")
        await pilot.pause()
        assert isinstance(app.screen, PlayScreen)


async def test_escape_leaves_the_command_line_and_comes_back(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("escape")
        assert app.screen.query_one(ActionList).has_focus
        await pilot.press("escape")
        assert app.screen.query_one(CommandLine).has_focus


async def test_the_palette_finds_commands_of_the_world(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+p", *keys("do take"))
        await until(pilot, lambda: "do: take robot" in screen_text(app))
        await pilot.press("down", "enter")
        await until(pilot, lambda: app.game.session.tick == 1)


async def test_quitting_asks_only_where_something_would_be_lost(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await enter(pilot, "take robot")
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, QuitDialog))
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, PlayScreen))
        await enter(pilot, "quit")
        await until(pilot, lambda: isinstance(app.screen, QuitDialog))
        await pilot.press("y")
        await pilot.pause()
    assert app.return_code == 0


async def test_quitting_at_once_where_nothing_was_done(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("ctrl+q")
        await pilot.pause()
    assert app.return_code == 0
