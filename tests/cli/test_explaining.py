"""An explanation that fails or takes too long never costs the verdict."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tokenworld.planning import hints
from tokenworld.planning.proof import reasons as unwinnable
from tokenworld.planning.verdict import Explaining
from tokenworld.play.model.hints import hint_lines
from tokenworld.play.screens.advised import advise
from tokenworld.session import Session, open_world, solving
from tokenworld.verbs.audit import analysis as auditing
from tokenworld.verbs.output import ASCII
from tokenworld.verbs.plan import hint as hinting
from tokenworld.verbs.plan import verb as plan_extras

FINDINGS = Path(__file__).parents[1] / "findings" / "planning"
Tw = Any


def broken(*_: object, **__: object) -> NoReturn:
    raise TypeError("list indices must be integers or slices, not NoneType")


def endless(*_: object, **__: object) -> NoReturn:
    while True:
        pass


# ---- contents in order of arrival -----------------------------------------------------------


@pytest.mark.parametrize("name", ["a30", "a30b"])
def test_a_require_that_says_what_a_name_is_stays(tw: Tw, name: str) -> None:
    """Without ``require x != none`` the rest of the action has no meaning, so it is no part."""
    found = tw("plan", FINDINGS / f"{name}.tw", "--why", "--json")
    assert (found.code, found.json["answer"], found.json["claim"]) == (1, "unwinnable", "exhausted")
    (why,) = found.json["why"]
    assert [note["code"] for note in found.json["notes"]] == []
    texts = [part["text"] for part in why["core"]["parts"]]
    assert texts
    assert not any("none" in text for text in texts)
    assert not any("x != none" in repair["text"] for repair in why["repairs"])


# ---- plan -----------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--why",)])
def test_a_reason_that_fails_costs_no_verdict(
    tw: Tw, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setattr(unwinnable, "explain", broken)
    found = tw("plan", FINDINGS / "d01.tw", *options)
    assert found.code == 1
    assert "unwinnable" in found.out
    assert "exhausted by own search" in found.out
    assert found.err.count("TW0814") == 1
    assert "The reason could not be computed: TypeError" in found.err
    found = tw("plan", FINDINGS / "d01.tw", *options, "--json")
    assert (found.code, found.json["answer"], found.json["why"]) == (1, "unwinnable", [])
    assert [note["code"] for note in found.json["notes"]] == ["TW0814"]


def test_a_reason_that_takes_too_long_is_broken_off(
    tw: Tw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unwinnable, "explain", endless)
    monkeypatch.setattr(plan_extras, "_SHORT_REASON", 1.0)
    began = time.monotonic()
    found = tw("plan", FINDINGS / "d01.tw", "--json")
    assert time.monotonic() - began < 30
    assert (found.code, found.json["answer"]) == (1, "unwinnable")
    (note,) = found.json["notes"]
    assert note["code"] == "TW0814"
    assert "its limit of 1 s was reached" in note["message"]


def test_a_reason_that_takes_all_the_time_of_the_command_is_broken_off(
    tw: Tw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unwinnable, "explain", endless)
    began = time.monotonic()
    found = tw("plan", FINDINGS / "d01.tw", "--time-limit", "1", "--json")
    assert time.monotonic() - began < 20
    assert (found.code, found.json["answer"]) == (1, "unwinnable")
    (note,) = found.json["notes"]
    assert note["code"] == "TW0813"
    assert "used up while looking for the reason" in note["message"]


def test_a_simple_reason_that_fails_costs_no_verdict(
    tw: Tw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solving, "out_of_reach", broken)
    found = tw("plan", FINDINGS / "d01.tw", "--json")
    assert (found.code, found.json["answer"]) == (1, "unwinnable")
    assert [note["code"] for note in found.json["notes"]] == ["TW0814"]


# ---- hint -----------------------------------------------------------------------------------


def test_landmarks_that_fail_cost_no_hint(tw: Tw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hints, "landmark_texts", broken)
    found = tw("hint", FINDINGS / "a17.tw")
    assert (found.code, found.err.count("TW0814")) == (0, 1)
    assert "next: go(l, 1)" in found.out
    found = tw("hint", FINDINGS / "a17.tw", "--json")
    assert found.json["hint"]["next"]["command"] == "go(l, 1)"
    assert [note["code"] for note in found.json["notes"]] == ["TW0814"]


def test_a_last_chance_that_fails_costs_no_answer(tw: Tw, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hinting, "last_winnable", broken)
    found = tw("hint", FINDINGS / "d01.tw")
    assert (found.code, found.err.count("TW0814")) == (1, 1)
    assert "the goal can no longer be reached" in found.out
    found = tw("hint", FINDINGS / "d01.tw", "--json")
    assert (found.json["answer"], found.json["last_winnable"]) == ("unwinnable", None)


# ---- audit ----------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["standing_requires", "idle_rules", "unread_facts", "guesses"])
def test_a_part_of_an_audit_that_fails_costs_no_other(
    tw: Tw, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    monkeypatch.setattr(auditing, part, broken)
    found = tw("audit", FINDINGS / "a33.tw", "--json")
    assert (found.code, found.json["start"], found.json["complete"]) == (1, "dead", True)
    assert "TW0814" in [note["code"] for note in found.json["notes"]]


def test_an_example_that_fails_costs_no_dead_end(tw: Tw, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tw("audit", FINDINGS / "a32.tw", "--json").json
    assert before["dead_ends"]
    monkeypatch.setattr(auditing._Teller, "_example", broken)
    found = tw("audit", FINDINGS / "a32.tw", "--json")
    assert (found.code, found.json["cruelty"]) == (0, before["cruelty"])
    assert len(found.json["dead_ends"]) == len(before["dead_ends"])
    assert "TW0814" in [note["code"] for note in found.json["notes"]]


# ---- the screen -----------------------------------------------------------------------------


def test_the_screen_tells_the_verdict_and_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenworld.play.screens.advised.last_winnable", broken)
    session = Session(open_world(str(FINDINGS / "d01.tw")))
    ready = advise(session, lambda text: None, lambda: False)
    assert ready.verdict.answer == "unwinnable"
    lines = hint_lines(ready.verdict, None, ASCII, chance=ready.chance)
    text = "\n".join("".join(part for part, _ in line) for line in lines)
    assert "Unwinnable from here" in text
    assert "The last chance could not be computed" in text


# ---- the rule -------------------------------------------------------------------------------


def test_what_works_is_told_without_a_note() -> None:
    explaining = Explaining()
    assert explaining("the reason", lambda: 7, 0, seconds=5) == 7
    assert explaining.notes == []


@pytest.mark.parametrize("error", [ValueError("bad"), MemoryError(), RecursionError("deep")])
def test_every_failure_is_one_line(error: Exception) -> None:
    def fail() -> int:
        raise error

    explaining = Explaining()
    assert explaining("the reason", fail, 0) == 0
    (note,) = explaining.notes
    assert note.message.startswith(f"The reason could not be computed: {type(error).__name__}")
    assert "\n" not in note.message


def test_an_interruption_is_no_failure() -> None:
    def stop() -> int:
        raise KeyboardInterrupt

    work: Callable[[], int] = stop
    with pytest.raises(KeyboardInterrupt):
        Explaining()("the reason", work, 0, seconds=5)
