"""Stored runs looked at: forward and back, far jumps, refusals, runs that differ, branches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.play.model.inspection import Inspection
from tokenworld.play.model.playback import asked_in, branch_from, open_playback, stored_runs
from tokenworld.session import Session, open_world
from tokenworld.session.replaying import replay_run
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, list_runs, ticks_of

ATTIC = Path(__file__).parents[1] / "tools" / "play" / "worlds" / "attic.tw"
GAME = ("take robot", "take trunk", "wind robot", "force trunk", "sweep", "look")


def recorded(store: RunStore, *commands: str, times: int = 1) -> Session:
    session = Session(open_world(str(ATTIC)), 7, store=store, player="llm")
    for command in commands * times:
        session.intend(command, source="llm")
    return session


def test_every_place_has_the_state_that_the_log_has(store: RunStore) -> None:
    session = recorded(store, *GAME)
    found = open_playback(store.path, "attic")
    assert (found.run.slug, found.place, found.outcome) == ("attic-1", 0, None)
    ticks = ticks_of(store, found.run)
    places = []
    while found.place < len(ticks):
        places.append(found.go(found.place + 1))
        outcome = found.outcome
        assert outcome is not None
        assert outcome.to_json() == json.loads(json.dumps(ticks[found.place - 1].outcome))
        assert found.session.engine.hash(found.session.state) == outcome.hash_after
    assert places == list(range(1, len(ticks) + 1))
    assert found.session.state_json() == session.engine.json(session.state)
    assert [asked_in(one) for one in found.ticks[:2]] == ["take robot", "take trunk"]


def test_one_can_go_back_and_jump_and_stays_within_the_run(store: RunStore) -> None:
    recorded(store, *GAME)
    found = open_playback(store.path, None)
    last = len(found.ticks)
    assert found.go(99) == last
    assert found.go(-3) == 0
    assert found.go(1) == 1
    assert {one.slot for one in Inspection(found.session).rows if one.changed} == {"robot.at"}
    assert found.go(3) == 3
    assert found.go(2) == 2
    assert found.outcome is not None
    assert found.outcome.status == "no_match"


def test_refusals_are_found_in_both_directions(store: RunStore) -> None:
    recorded(store, *GAME)
    found = open_playback(store.path, None)
    statuses = [one.status for one in found.ticks]
    refused = [n for n, one in enumerate(statuses, 1) if one in ("refused", "no_match")]
    forward, at = [], found.refusal(1)
    while at is not None:
        forward.append(at)
        at = found.refusal(1, at)
    assert forward == refused
    assert refused == [2, 4]
    found.go(len(statuses))
    assert found.refusal(-1, refused[1]) == refused[0]
    assert found.refusal(-1, refused[0]) is None


def test_a_far_jump_leaves_from_a_stored_state(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = recorded(store, "sweep", "look", "pass", times=160)
    found = open_playback(store.path, None)
    played: list[int] = []
    step = type(found)._on
    monkeypatch.setattr(type(found), "_on", lambda self, at: played.append(at) or step(self, at))
    end = len(found.ticks)
    assert found.go(end) == end
    assert len(played) <= 2
    assert found.session.engine.hash(found.session.state) == session.engine.hash(session.state)
    assert found.outcome is not None
    for place in (end - 1, end - 2, 250):
        at = found.go(place)
        assert found.outcome.hash_after == found.ticks[at - 1].hash_after
    assert len(played) < 20


def test_between_the_two_records_of_one_intent_there_is_no_place(store: RunStore) -> None:
    recorded(store, "sweep", "take robot")
    found = open_playback(store.path, None)
    assert [one.status for one in found.ticks] == ["waiting", "interrupted", "executed"]
    assert found.go(1) == 1
    assert found.go(2) == 3
    assert len(found.session.moments[-1].outcomes) == 2
    assert found.go(1) == 1


def test_a_branch_goes_on_and_the_run_stays_as_it_is(store: RunStore) -> None:
    recorded(store, *GAME)
    found = open_playback(store.path, None)
    found.go(3)
    before = found.run, ticks_of(store, found.run)
    own = branch_from(store, found)
    own.intend("take robot")
    own.intend("wind robot")
    assert own.recording is not None
    assert own.recording.slug == "attic-2"
    branch = find_run(store, "attic-2")
    assert (branch.header.player, branch.header.parent.tick) == ("human", 3)  # type: ignore[union-attr]
    assert replay_run(store, branch, verify=True).ok
    again = find_run(store, "attic-1")
    assert (again, ticks_of(store, again)) == before


def test_a_branch_can_be_looked_at_too(store: RunStore) -> None:
    session = recorded(store, "take robot", "wind robot")
    session.undo()
    session.intend("sweep")
    found = open_playback(store.path, "attic-2")
    assert found.session.state_json()["tick"] == 1
    assert found.go(1) == 1
    assert found.session.engine.hash(found.session.state) == session.engine.hash(session.state)


def test_a_run_that_does_not_play_again_stops_before_it_differs(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(store, "take robot", "wind robot", "cry")
    found = open_playback(store.path, None)
    wrong = found.ticks[1].__class__(
        **{name: getattr(found.ticks[1], name) for name in found.ticks[1].__slots__}
        | {"hash_after": "0" * 32}
    )
    found.ticks = (found.ticks[0], wrong, *found.ticks[2:])
    with pytest.raises(Failure) as caught:
        found.go(3)
    assert caught.value.diagnostics[0].code == "TW1105"
    assert found.place == 1


def test_runs_are_listed_with_the_latest_first(store: RunStore, tmp_path: Path) -> None:
    recorded(store, "look")
    recorded(store, "cry")
    assert [one.slug for one in stored_runs(store.path)] == ["attic-2", "attic-1"]
    assert len(list_runs(store)) == 2
    with pytest.raises(Failure):
        stored_runs(tmp_path / "none.sqlite")
    with pytest.raises(Failure) as caught:
        open_playback(store.path, "attic-9")
    assert caught.value.diagnostics[0].code == "TW1104"
