"""What lies ahead, on the screen: each question has its answer, none of them blocks the keys."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from textual.pilot import Pilot

from tokenworld.planning.hints import Hint
from tokenworld.planning.verdict import Verdict
from tokenworld.play.model.hints import Ahead, Topic, ahead_lines, look_ahead
from tokenworld.play.model.view import View
from tokenworld.play.screens.app import PlayApp, PlayCommands
from tokenworld.play.screens.screen import PlayScreen
from tokenworld.play.widgets.actions import CommandLine
from tokenworld.play.widgets.texts import Details
from tokenworld.session import Session
from tokenworld.session.session import LastChance
from tokenworld.verbs.output import UNICODE, plain_text

UNKNOWN = Hint(Verdict("unknown", None, None, "", ""), ())


def told(ahead: Ahead) -> list[str]:
    lines = ahead_lines(ahead, UNICODE)
    return [one if isinstance(one, str) else "".join(part[0] for part in one) for one in lines]


def asked(session: Session, topic: Topic) -> list[str]:
    """The answer about a session, worked out here and now."""
    twin = session.apart(past=True)
    return told(look_ahead(twin, topic, 20, lambda line: None, lambda: False))


def screen(app: PlayApp) -> PlayScreen:
    assert isinstance(app.screen, PlayScreen)
    return app.screen


def details(app: PlayApp) -> str:
    return app.screen.query_one(Details).plain


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    for _ in range(1_000):
        if holds():
            return
        await pilot.pause(0.02)
    raise AssertionError("it did not come about")


# ---- the answers ------------------------------------------------------------------------------


def test_distance_and_landmarks_of_the_cellar(open_domain: Callable[[str], Session]) -> None:
    cellar = open_domain("cellar/world.tw")
    assert asked(cellar, "distance") == ["The goal is 5 ticks away.", "No plan is shorter."]
    landmarks = asked(cellar, "landmarks")
    assert landmarks[0] == "Every way to the goal passes through:"
    assert landmarks[1] == " 1. hero.at == vault"
    assert landmarks[-1].endswith("ruby.holder == hero")
    way = asked(cellar, "way")
    assert way == [*asked(cellar, "distance"), "", *landmarks]


def test_landmarks_of_a_goal_over_time_name_no_monitors(
    open_domain: Callable[[str], Session],
) -> None:
    """Monitors are the checker's; what they note is told as a landmark itself."""
    landmarks = asked(open_domain("errands/world.tw"), "landmarks")
    assert [one.partition(". ")[2] for one in landmarks[1:]] == [
        "me.at == market",
        "me.at == bridge",
        "me.at == mill",
        "me.parcel == true",
    ]


def test_the_players_view_names_no_monitors(open_domain: Callable[[str], Session]) -> None:
    session = open_domain("errands/world.tw")
    for one in ("load", "go to market"):
        session.intend(one)
    assert "(seen)" not in plain_text(View(session).lines)


def test_the_last_chance(attic: Session) -> None:
    attic.intend("take robot")
    assert asked(attic, "last chance") == ["✓ The goal is still in reach."]
    attic.intend("cry")
    expected = [
        "✗ Unwinnable from here", "The goal was last in reach at tick 1.", "Then came: cry",
        "Undo (Ctrl+Z) to go back.",
    ]  # fmt: skip
    assert asked(attic, "last chance") == expected
    assert asked(attic, "way") == expected  # play has ended: there is only the past to tell of
    attic.undo()
    assert asked(attic, "distance")[0] == "The goal is 2 ticks away."


def test_a_goal_that_is_reached(attic: Session) -> None:
    for words in ("take robot", "wind robot", "wind robot"):
        attic.intend(words)
    for topic in ("way", "distance", "landmarks", "last chance"):
        assert asked(attic, topic) == ["★ The goal is reached."]  # type: ignore[arg-type]


def test_a_goal_that_never_was_in_reach(open_domain: Callable[[str], Session]) -> None:
    expected = ["✗ Unwinnable", "The goal was out of reach from the start."]
    assert asked(open_domain("cellar/twin.tw"), "way") == expected


@pytest.mark.parametrize(
    ("ahead", "first"),
    [
        (Ahead("way", False, UNKNOWN, None), "? Unknown"),
        (Ahead("last chance", False, None, LastChance(None, None, "cry", False)), "? Unknown"),
    ],
)
def test_what_is_not_known_is_said_to_be(ahead: Ahead, first: str) -> None:
    assert told(ahead)[0] == first
    assert not any("nwinnable" in line for line in told(ahead))


def test_a_chance_that_may_not_be_the_last(attic: Session) -> None:
    lines = told(Ahead("last chance", False, None, LastChance(3, 3, "cry", False)))
    assert "A later moment was not decided in time." in lines


def test_nothing_is_asked_once_it_is_cancelled(attic: Session) -> None:
    twin = attic.apart(past=True)
    found = look_ahead(twin, "last chance", 20, lambda line: None, lambda: True)
    assert found.chance is None


def test_a_session_apart_has_its_past_and_leaves_play_alone(attic: Session) -> None:
    attic.intend("take robot")
    twin = attic.apart(past=True)
    assert [one.asked for one in twin.moments] == [one.asked for one in attic.moments]
    twin.intend("cry")
    assert len(attic.moments) == 2
    assert not attic.ended()
    assert len(attic.apart().moments) == 1


# ---- on the screen ----------------------------------------------------------------------------


async def test_the_keys_and_the_palette_ask(app: PlayApp) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f8")
        await until(pilot, lambda: "The goal is 3 ticks away." in details(app))
        await pilot.press("f9")
        await until(pilot, lambda: "still in reach" in details(app))
        provider = PlayCommands(screen(app))
        entries = {name: run for name, _, run in provider._screen_entries()}
        asked = {name for name in entries if name.startswith("hint: ")}
        assert asked == {
            "hint: next step", "hint: distance to the goal", "hint: landmarks in order",
            "hint: last winnable tick", "hint: next three steps",
            "hint: whole plan",
        }  # fmt: skip
        entries["hint: distance to the goal"]()
        await until(pilot, lambda: "3 ticks away" in details(app))
        assert "passes through" not in details(app)
        entries["hint: landmarks in order"]()
        await until(pilot, lambda: "passes through" in details(app))
        assert "away" not in details(app)


async def test_keys_are_never_blocked_and_escape_stops_it(
    app: PlayApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = threading.Event()

    def for_ever(session: Session, goal: str | None, **named: object) -> Hint:
        say, cancel = named["say"], named["cancel"]
        assert callable(say)
        assert callable(cancel)
        say("own search: 7 states seen")
        while not cancel():
            stopped.wait(0.01)
        stopped.set()
        return UNKNOWN

    monkeypatch.setattr("tokenworld.play.model.hints.hint", for_ever)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f8")
        await until(pilot, lambda: "7 states seen" in details(app))
        await pilot.press("l", "o", "o", "k")
        assert app.screen.query_one(CommandLine).value == "look"
        await pilot.press("enter")
        await pilot.pause()
        assert app.game.session.moments[-1].asked == "look"
        await until(pilot, stopped.is_set)
        stopped.clear()
        await pilot.press("f8")
        await until(pilot, lambda: "7 states seen" in details(app))
        await pilot.press("escape")
        await until(pilot, stopped.is_set)
        await pilot.pause()
        assert details(app) == "The hint was stopped."


async def test_a_failure_is_one_message(app: PlayApp, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> Hint:
        raise RuntimeError("boom")

    monkeypatch.setattr("tokenworld.play.model.hints.hint", fail)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f8")
        await until(pilot, lambda: app.game.entries[-1].kind == "fault")
        assert "TW0812: The planner stopped unexpectedly: boom." in app.game.entries[-1].text
