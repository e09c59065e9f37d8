"""The tree of moments: undo and redo, jumps, branches in the run store, differences."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.play.model.timeline import Timeline
from tokenworld.session import Session
from tokenworld.session.moments import SlotChange
from tokenworld.session.replaying import replay_run
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, list_runs

CELLAR = Path(__file__).parents[2] / "domains" / "cellar" / "world.tw"


@pytest.fixture
def session() -> Session:
    return Session.open(str(CELLAR), 7)


def asked(session: Session) -> list[str]:
    return [one.asked for one in session.moments[1:]]


def undo(session: Session, timeline: Timeline) -> None:
    left = timeline.sync()
    session.undo()
    timeline.undone(left)


def test_what_was_undone_stays_on_the_timeline_and_can_be_redone(session: Session) -> None:
    timeline = Timeline(session)
    for text in ("take brass key", "go through arch"):
        session.intend(text)
    reached = session.engine.hash(session.state)
    undo(session, timeline)
    undo(session, timeline)
    assert timeline.now.number == 0
    assert len(timeline.nodes) == 3
    assert timeline.redo() is timeline.nodes[1]
    assert timeline.redo() is timeline.nodes[2]
    assert timeline.redo() is None
    assert session.engine.hash(session.state) == reached
    assert asked(session) == ["take brass key", "go through arch"]


def test_redo_ends_where_something_else_was_done(session: Session) -> None:
    timeline = Timeline(session)
    session.intend("take brass key")
    undo(session, timeline)
    session.intend("take iron key")
    assert timeline.redo() is None
    assert asked(session) == ["take iron key"]


def test_play_from_an_earlier_moment_is_a_line_of_its_own(session: Session) -> None:
    timeline = Timeline(session)
    for text in ("take brass key", "go through arch"):
        session.intend(text)
    timeline.sync()
    timeline.jump(timeline.nodes[1])
    session.intend("take iron key")
    timeline.sync()
    assert [[one.moment.asked for one in nodes] for nodes in timeline.lines] == [
        ["", "take brass key", "go through arch"],
        ["take iron key"],
    ]
    assert (timeline.name_of(0), timeline.name_of(1)) == ("main", "branch 1")
    timeline.rename(1, "  both \n keys ")
    assert timeline.name_of(1) == "both keys"
    timeline.rename(1, "")
    assert timeline.name_of(1) == "branch 1"
    assert timeline.common(timeline.nodes[2], timeline.nodes[3]) is timeline.nodes[1]


def test_the_differences_of_two_moments_are_their_slots(session: Session) -> None:
    timeline = Timeline(session)
    session.intend("take brass key")
    timeline.sync()
    found = timeline.differences(timeline.nodes[0], timeline.nodes[1])
    assert found == (
        SlotChange("brass_key.at", "stairs", None),
        SlotChange("brass_key.holder", None, "hero"),
    )
    assert timeline.differences(timeline.nodes[1], timeline.nodes[1]) == ()


def test_a_session_with_a_past_has_it_on_its_timeline(session: Session) -> None:
    session.intend("take brass key")
    timeline = Timeline(session)
    assert timeline.now.moment.asked == "take brass key"


def test_jumps_are_branches_in_the_store_and_every_run_replays(
    tmp_path: Path, session: Session
) -> None:
    with RunStore.open(tmp_path / "runs.sqlite") as store:
        recorded = Session(session.world, 7, store=store)
        timeline = Timeline(recorded)
        for text in ("take brass key", "go through arch"):
            recorded.intend(text)
        timeline.sync()
        timeline.jump(timeline.nodes[1])
        recorded.intend("take iron key")
        timeline.jump(timeline.nodes[2])
        recorded.intend("look")
        timeline.sync()
        timeline.jump(timeline.nodes[3])
        recorded.intend("drop iron key")
        runs = list_runs(store)
        for run in runs:
            report = replay_run(store, find_run(store, run.slug), verify=True)
            assert report.ok
        parents = [
            (one.header.parent.run, one.header.parent.tick) if one.header.parent else None
            for one in runs
        ]
        first, second = runs[:2]
        assert parents == [None, (first.id, 1), (first.id, 2), (second.id, 1)]


def test_going_back_and_forth_makes_no_branch(tmp_path: Path, session: Session) -> None:
    with RunStore.open(tmp_path / "runs.sqlite") as store:
        recorded = Session(session.world, 7, store=store)
        timeline = Timeline(recorded)
        recorded.intend("take brass key")
        undo(recorded, timeline)
        assert timeline.redo() is not None
        recorded.intend("go through arch")
        (run,) = list_runs(store)
        assert run.ticks == 2
        assert replay_run(store, run, verify=True).ok
