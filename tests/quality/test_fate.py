"""Tests of the fate of a run: by the log, by the planner, and in the verdict."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.session import Session, open_world
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run
from tokenworld.store.records import Run
from tokenworld.verbs.quality.fate import Fate, Plans
from tokenworld.verbs.quality.report import ModelUse, morning
from tokenworld.verbs.quality.scorecard import Scorecard, score_run
from tokenworld.verbs.quality.trend import Grades, Share, read_shares, share_of, trend_rows

PLAY = Path(__file__).parents[1] / "findings" / "play"
Play = Callable[..., Run]


def played(store: RunStore, world: Path, *lines: str, source: str = "script") -> Run:
    session = Session(open_world(str(world)), 0, store=store, player=source)
    for line in lines:
        session.intend(line, source="llm" if source == "llm" else "script")
    session.finish("done")
    return find_run(store)


def scored(store: RunStore, run: Run, seconds: float = 60) -> Scorecard:
    return score_run(store, run, plans=Plans(seconds))


def test_a_rover_without_battery_is_soft_locked_since_a_tick(store: RunStore) -> None:
    """The command that loses the goal is not that which empties the battery: it was too far."""
    lines = ("drive south", "drive south", "drive east", "drive east", "drive north", "drive south")
    run = played(store, PLAY / "rover.tw", *lines, *("drive north",) * 7)
    card = scored(store, run)
    assert card.fate == Fate("soft-locked", 4, "drive north")
    assert "soft-locked since tick 4" in card.fate.text
    assert card.verdict == "FAILED"  # refused too often as well
    before = scored(store, played(store, PLAY / "rover.tw", *lines[:4]))
    assert before.fate == Fate("in reach")
    assert score_run(store, run).fate == Fate("not asked")


def test_a_bankrupt_bakery_is_not_healthy(store: RunStore) -> None:
    card = score_run(store, played(store, PLAY / "bakery.tw", *("buy flour",) * 20))
    assert card.fate == Fate("lost", 19, "bankrupt")
    assert not card.failing
    assert card.verdict == "DEGRADED"


STEPS = """type T { n: 0 to 99 clamped = 50 }
actor me: T
action step() as "step" { me.n += 1 }
action back() as "back" { me.n -= 1 }
action sing() as "sing" { say "La." }
world w "W" { object one: T  goal far: one.n >= 55 }
"""


def test_of_a_closed_world_the_actions_of_a_plan_are_enough(store: RunStore, play: Play) -> None:
    run = play(*("step", "back") * 20, text=STEPS)
    (asked,) = (one for one in scored(store, run).dimensions if one.id == "vocabulary")
    assert (asked.status, asked.text) == ("OK", "all that a plan needs, 2 of 3 used")
    (unasked,) = (one for one in score_run(store, run).dimensions if one.id == "vocabulary")
    assert unasked.status == "FAIL"
    assert scored(store, run).verdict == "HEALTHY"


def test_a_run_that_won_used_what_was_of_use(store: RunStore, play: Play) -> None:
    card = score_run(store, play(*("step",) * 5, text=STEPS))
    assert card.fate == Fate("won", 4, "far")
    (found,) = (one for one in card.dimensions if one.id == "vocabulary")
    assert found.values["needed"] == ["step"]
    endless = STEPS.replace('world w "W" {', 'world w "W" { endless')
    card = score_run(store, play(*("step",) * 45, text=endless))
    assert card.fate.name == "won"
    assert card.verdict == "HEALTHY"


def test_what_is_not_known_in_time_is_unknown(store: RunStore, play: Play) -> None:
    run = play("step", text=STEPS)
    assert scored(store, run, 1e-9).fate == Fate("unknown")
    assert score_run(store, play("hum")).fate == Fate("no goal")
    stopped = STEPS.replace("goal far", "stop enough: one.n > 50  goal far")
    assert scored(store, play("step", text=stopped)).fate == Fate("ended")


def test_the_report_tells_what_a_model_had_to_answer(store: RunStore) -> None:
    run = played(store, PLAY / "bakery.tw", "buy flour", "buy egg", source="llm")
    other = played(store, PLAY / "bakery.tw", "buy flour")
    (one, two) = morning(store, (run, other), "", plan_seconds=0).runs
    assert isinstance(one.model, ModelUse)
    assert (one.model.answers, one.model.characters, two.model) == (2, 16, None)
    assert one.model.seconds is not None
    assert one.to_json()["model"]["answers"] == 2  # type: ignore[index, call-overload]


def test_the_trend_compares_grades_of_the_same_definition(store: RunStore, play: Play) -> None:
    card = score_run(store, play(*("hum", "tell") * 10))
    share = share_of([card])
    assert (share.last, share.grades["groundedness"]) == ("w-1", Grades(1, 1, 1))
    assert trend_rows([share]) == []
    old = Share("w-0", {**share.grades, "vocabulary": Grades(1, 0, 4)})
    head, *rows = trend_rows([old, share])
    assert head == ("", "to w-0", "to w-1")
    found = {row[0]: row[1:] for row in rows}
    assert found["Faithful records"] == ("1 of 1", "1 of 1")
    assert found["Variety"][0] == "other definition"


def test_a_history_that_is_none_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    assert read_shares(path) == ()
    for text in ("{", "[]", '{"format": "tw-trend/2"}', json.dumps({"format": "tw-trend/1"})):
        path.write_text(f"{text}\n", encoding="utf-8")
        with pytest.raises(Failure, match="TW0006"):
            read_shares(path)
