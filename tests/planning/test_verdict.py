"""Verdicts: exit codes, JSON, and lines that claim no more than is known."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tokenworld.diagnostics import Diagnostic
from tokenworld.ground import LuckyDraw
from tokenworld.planning.verdict import Attempt, Proof, ShownStep, Verdict, summary_lines

DRAW = LuckyDraw("action force", ("chest",), 0, 1, 3)
WON = Verdict(
    "winnable",
    "rich",
    "found",
    "own search",
    "",
    plan=(ShownStep("go(north)", 2, 0), ShownStep("force(chest)", 1, 1, (DRAW,))),
    ticks=2,
    reached=("rich",),
    optimal="ticks",
)
NONE_LEFT = Verdict(
    "unwinnable",
    "rich",
    "exhausted",
    "own search",
    "",
    proof=Proof("own search: all 1,234 reachable states seen", "own search", states=1234),
)
PROVED = Verdict(
    "unwinnable",
    None,
    "proved",
    "fast-downward blind",
    "E",
    proof=Proof("fast-downward blind on encoding E", "fast-downward blind", "E", "ab12"),
)
OPEN = Verdict(
    "unknown",
    "rich",
    None,
    "",
    "",
    attempts=(
        Attempt("own search", "", "limit", "its limit of 5 s was reached", 5.0),
        Attempt("fast-downward blind", "E", "failed", "it printed nonsense", 0.25),
    ),
    notes=(Diagnostic("TW0813", "The limits were reached before there was an answer."),),
)


@pytest.mark.parametrize(("verdict", "code"), [(WON, 0), (NONE_LEFT, 1), (PROVED, 1), (OPEN, 3)])
def test_the_exit_code_is_the_answer(verdict, code):
    assert verdict.exit_code == code


@pytest.mark.parametrize("verdict", [WON, NONE_LEFT, PROVED, OPEN])
def test_json_is_plain_and_has_the_same_keys_for_every_answer(verdict):
    data = json.loads(json.dumps(verdict.to_json(), allow_nan=False))
    assert data["schema_version"] == 1
    assert data["answer"] == verdict.answer
    assert set(data) == set(WON.to_json())


def test_json_of_a_plan():
    data = WON.to_json()
    assert (data["ticks"], data["cost"], data["claim"]) == (2, 3, "found")
    assert data["plan"] == [
        {"command": "go(north)", "cost": 2, "tick": 0, "draws": []},
        {"command": "force(chest)", "cost": 1, "tick": 1, "draws": [DRAW.to_json()]},
    ]
    assert data["proof"] is None


def test_json_of_no_plan():
    data = PROVED.to_json()
    assert (data["ticks"], data["cost"], data["plan"]) == (None, None, [])
    assert data["proof"] == {
        "by": "fast-downward blind on encoding E",
        "engine": "fast-downward blind",
        "encoding": "E",
        "digest": "ab12",
        "states": None,
        "within": None,
    }


def test_json_of_unknown_tells_limits_and_notes():
    data = OPEN.to_json()
    assert data["limits"] == ["its limit of 5 s was reached"]
    assert [one["result"] for one in data["attempts"]] == ["limit", "failed"]
    assert [note["code"] for note in data["notes"]] == ["TW0813"]


def test_lines_of_a_plan():
    assert summary_lines(WON) == (
        "winnable: goal `rich` in 2 ticks (cost 3)",
        "  1. go(north)",
        "  2. force(chest)",
        "found by own search",
        "optimal: no plan is shorter",
        "replayed by the interpreter: every step is legal and the goal is reached",
        "counts on luck: step 2, action force(chest), draw 1: outcome 2 of 3",
    )


def test_lines_admit_that_a_plan_may_not_be_the_shortest():
    found = replace(WON, engine="fast-downward ff", encoding="E", optimal=None)
    assert summary_lines(found)[3:5] == (
        "found by fast-downward ff on encoding E",
        "not known to be optimal: a shorter plan may exist",
    )


def test_lines_tell_whether_the_plan_wins_with_a_seed():
    assert summary_lines(WON.with_seed(7, True))[-1] == "with the draws of seed 7 this plan wins"
    lost = WON.with_seed(7, False)
    assert summary_lines(lost)[-1] == "with the draws of seed 7 this plan does not win"
    assert lost.to_json()["wins_with_seed"] is False


def test_lines_of_a_goal_that_holds_already():
    verdict = Verdict("winnable", None, "found", "own search", "", reached=("rich",))
    assert summary_lines(verdict) == (
        "winnable: goal `rich` in 0 ticks (cost 0)",
        "the goal holds in the start state: nothing needs to be done",
    )


def test_lines_say_who_proved_it():
    assert summary_lines(NONE_LEFT) == (
        "unwinnable: goal `rich` cannot be reached",
        "exhausted by own search: all 1,234 reachable states seen",
    )
    assert summary_lines(PROVED) == (
        "unwinnable: no goal can be reached",
        "proved by fast-downward blind on encoding E",
        "encoding E: sha256 ab12",
    )


def test_lines_of_a_bounded_answer_name_the_bound():
    verdict = Verdict("unwinnable", None, "exhausted", "own search", "", within=1)
    assert summary_lines(verdict)[0] == "unwinnable: no goal can be reached within 1 tick"


def test_lines_of_unknown_list_what_was_tried():
    assert summary_lines(OPEN) == (
        "unknown: whether goal `rich` can be reached",
        "tried own search: limit, its limit of 5 s was reached (5.0 s)",
        "tried fast-downward blind on encoding E: failed, it printed nonsense (0.2 s)",
    )
