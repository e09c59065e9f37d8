"""What the transcript says, what undo takes back, and how a plan is followed: no screen needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.play.model.game import Game
from tokenworld.play.widgets.actions import offer
from tokenworld.session import Session
from tokenworld.store.log import RunHandle, RunStore
from tokenworld.verbs.output import ASCII, UNICODE, fitting_glyphs


def told(game: Game, kind: str) -> list[str]:
    return [one.text for one in game.entries if one.kind == kind]


def test_the_first_line_says_what_to_do(game: Game) -> None:
    assert told(game, "welcome") == [
        "Welcome to The Attic. Type a command, or press F2 for what you can do, "
        "F3 for a hint, F1 for help."
    ]


def test_every_kind_of_answer_is_told(game: Game) -> None:
    for text in ("take robot", "force trunk", "fly", "wind robot", "sweep"):
        game.give(text)
    assert told(game, "typed") == ["take robot", "force trunk", "fly", "wind robot", "sweep"]
    assert told(game, "refused") == ["You are too weak (energy 5)."]
    assert told(game, "puzzled")[0].startswith("I do not know the verb `fly`")
    assert told(game, "said") == [
        "Done.", "The robot clicks.", "The clock strikes.", "It goes on: 1 of 3 ticks done.",
    ]  # fmt: skip


def test_endings_are_announced_with_the_way_back(game: Game) -> None:
    game.give("cry")
    assert told(game, "said") == ["You cry in the dust."]
    assert told(game, "ending") == [
        "† You have lost: `sad`. The world is over; Ctrl+Z takes the last step back."
    ]
    game.give("take robot")
    assert told(game, "said")[-1] == "The world is over. Undo with Ctrl+Z, or quit with Ctrl+Q."
    assert game.undo()
    assert game.session.latched == ()


def test_undo_takes_back_the_last_change_and_the_idle_commands_behind_it(game: Game) -> None:
    start = game.session.engine.hash(game.session.state)
    for text in ("take robot", "force trunk", "fly", "look"):
        game.give(text)
    assert game.undo()
    assert game.session.engine.hash(game.session.state) == start
    assert told(game, "note") == ["↶ Undone: take robot"]


def test_undo_keeps_refusals_where_nothing_was_changed(game: Game) -> None:
    game.give("force trunk")
    assert not game.undo()
    assert len(game.session.moments) == 2
    assert told(game, "note") == ["There is nothing to undo."]


def test_a_hint_makes_a_plan_that_undo_and_typing_follow(game: Game) -> None:
    assert game.advise(game.session.plan()) == "take robot"
    assert told(game, "note") == ["» Winnable in 3 more steps. Next: take robot"]
    game.give("take robot")
    assert game.progress() == (1, 3)
    assert game.play_step()
    assert game.progress() == (2, 3)
    game.undo()
    assert game.progress() == (1, 3)
    assert game.play_step()
    assert game.play_step()
    assert game.session.won()
    assert not game.play_step()
    assert told(game, "note")[-1] == "The plan is played to its end."


def test_a_plan_that_was_left_does_not_go_on(game: Game) -> None:
    game.advise(game.session.plan())
    game.give("sweep")
    assert game.next_step() is None
    assert not game.play_step()
    assert told(game, "note")[-1].startswith("The plan does not fit the present state")


def test_a_hint_where_nothing_can_be_won_says_so(open_domain: object, game: Game) -> None:
    game.give("cry")
    verdict = game.session.apart().plan()
    assert verdict.answer == "unwinnable"
    assert game.advise(verdict) is None
    assert told(game, "note")[-1].startswith("» Unwinnable from here")


def test_a_plan_handed_in_can_be_played_from_the_start(attic: Session) -> None:
    verdict = attic.plan()
    game = Game(attic, UNICODE, verdict.steps, verdict)
    assert "F6 plays a step of it" in told(game, "note")[0]
    while game.next_step() is not None:
        assert game.play_step()
    assert attic.won()


def test_planning_apart_leaves_play_alone(game: Game) -> None:
    twin = game.session.apart()
    before = game.session.engine.hash(game.session.state)
    assert twin.engine.hash(twin.state) == before
    twin.intend("take robot")
    assert game.session.engine.hash(game.session.state) == before
    assert twin.engine is not game.session.engine
    assert twin.recording is None


def test_a_store_that_cannot_be_written_is_told_and_loses_nothing(
    attic: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **named: object) -> None:
        raise Failure(Diagnostic("TW1102", "The run store cannot be written.", hint="Free space."))

    with RunStore.open(tmp_path / "runs.sqlite") as store:
        session = Session(attic.world, store=store)
        game = Game(session, UNICODE)
        game.give("take robot")
        before = session.engine.hash(session.state)
        monkeypatch.setattr(RunHandle, "append", fail)
        assert not game.give("wind robot")
        assert session.engine.hash(session.state) == before
        assert told(game, "fault") == [
            "TW1102: The run store cannot be written. Free space. The command was not carried out."
        ]
        monkeypatch.undo()
        assert game.give("wind robot")
        assert told(game, "said")[-2:] == ["The robot clicks.", "The clock strikes."]


def test_quitting_loses_only_what_nobody_records(tmp_path: Path, attic: Session) -> None:
    game = Game(attic, UNICODE)
    game.give("force trunk")
    assert not game.would_lose()
    game.give("take robot")
    assert game.would_lose()
    with RunStore.open(tmp_path / "runs.sqlite") as store:
        recorded = Game(Session(attic.world, 7, store=store), UNICODE)
        recorded.give("take robot")
        assert not recorded.would_lose()


def test_the_list_offers_what_can_be_done_and_explains_what_cannot(game: Game) -> None:
    everything = offer(game, "")
    assert [one.text for one in everything.choices] == [
        "take robot", "sweep", "cry", "look", "pass",
    ]  # fmt: skip
    assert everything.title == "You can (5)"
    narrowed = offer(game, "force")
    assert [(one.text, one.legal) for one in narrowed.choices] == [("force trunk", False)]
    assert narrowed.title == "You can (0 of 5)"
    assert offer(game, "xyzzy").otherwise == "No command fits these words."


def test_a_long_action_can_be_gone_on_with_first(game: Game) -> None:
    game.give("sweep")
    first = offer(game, "").choices[0]
    assert (first.text, first.remark) == ("pass", "go on with it")


def test_suggestions_prefer_what_can_be_done(game: Game) -> None:
    assert game.suggestion("ta") == "take robot"
    assert game.suggestion("fo") == "force trunk"
    assert game.suggestion("TA") == "TAke robot"
    assert game.suggestion("zz") is None
    assert game.suggestion(" ") is None


def test_signs_fit_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fitting_glyphs() is UNICODE
    monkeypatch.setenv("TW_ASCII", "1")
    assert fitting_glyphs() is ASCII
    for name in ASCII.__slots__:
        assert getattr(ASCII, name).isascii()
