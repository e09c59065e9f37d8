"""The dead-end radar: what is asked, what follows without asking, and what is never concluded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tokenworld.model import Body
from tokenworld.planning.verdict import Proof, Verdict
from tokenworld.play.model.timeline import Node, Prospect, Radar, RadarPlanner, Timeline, has_goal
from tokenworld.session import OpenWorld, Session

ATTIC = Path(__file__).parents[1] / "tools" / "play" / "worlds" / "attic.tw"

FOUND = Verdict("winnable", None, "found", "own search", "")
PROVED = Verdict(
    "unwinnable", None, "exhausted", "own search", "", proof=Proof("own search", "", states=9)
)
NOTHING = Verdict("unknown", None, None, "", "")


@pytest.fixture
def attic() -> Session:
    return Session.open(str(ATTIC), 7)


def played(session: Session, *commands: str) -> tuple[Timeline, Radar]:
    for one in commands:
        session.intend(one)
    timeline = Timeline(session)
    return timeline, Radar(timeline)


def known(radar: Radar) -> list[Prospect]:
    return [one.prospect for _, one in sorted(radar.answers().items())]


def state(node: Node):  # type: ignore[no-untyped-def]
    return node.moment.state


def test_a_winnable_end_answers_for_the_whole_way(attic: Session) -> None:
    timeline, radar = played(attic, "take robot", "wind robot")
    assert known(radar) == ["pending"] * 3
    assert radar.question() is timeline.now
    radar.learn(state(timeline.now), FOUND)
    assert known(radar) == ["winnable"] * 3
    assert radar.question() is None
    assert radar.pending == 0


def test_what_is_played_from_a_dead_moment_stays_dead(attic: Session) -> None:
    timeline, radar = played(attic, "take robot", "wind robot", "sweep")
    radar.learn(state(timeline.nodes[1]), PROVED)
    assert known(radar) == ["pending", "dead", "dead", "dead"]
    assert [radar.answers()[n].by for n in (1, 2)] == ["exhausted by own search", ""]


def test_a_dead_end_is_halved_towards_where_it_was_lost(attic: Session) -> None:
    timeline, radar = played(attic, *["look"] * 2, "take robot", "wind robot", "sweep", "cry")
    radar.learn(state(timeline.now), PROVED)
    asked = []
    while (node := radar.question()) is not None:
        asked.append(node.number)
        radar.learn(state(node), FOUND if node.number <= 4 else PROVED)
    assert len(asked) <= 3
    assert known(radar) == ["winnable"] * 5 + ["dead"] * 2
    lost = radar.lost_since(timeline.now)
    assert lost is not None
    assert lost.number == 5


def test_a_bounded_proof_and_a_bare_no_are_not_enough(attic: Session) -> None:
    timeline, radar = played(attic)
    assert PROVED.proof is not None
    for weak in (
        replace(PROVED, proof=replace(PROVED.proof, within=5)),
        replace(PROVED, proof=None),
    ):
        radar.learn(state(timeline.now), weak)
        assert radar.prospect(timeline.now) == "unknown"


def test_unknown_follows_from_nothing_and_replaces_nothing(attic: Session) -> None:
    timeline, radar = played(attic, "take robot")
    radar.learn(state(timeline.nodes[0]), NOTHING)
    assert known(radar) == ["unknown", "pending"]
    radar.learn(state(timeline.nodes[1]), FOUND)
    assert known(radar) == ["winnable", "winnable"]  # it follows, though nobody could tell
    radar.learn(state(timeline.nodes[1]), NOTHING)
    assert known(radar)[1] == "winnable"
    radar.forget_unknown()
    assert known(radar) == ["winnable", "winnable"]


def test_since_when_is_told_only_where_it_is_known(attic: Session) -> None:
    timeline, radar = played(attic, "take robot", "wind robot", "cry")
    radar.learn(state(timeline.now), PROVED)
    assert radar.lost_since(timeline.now) is None  # the moment before may be lost as well
    assert radar.lost_since(timeline.nodes[0]) is None
    radar.learn(state(timeline.nodes[2]), FOUND)
    assert radar.lost_since(timeline.now) is timeline.now
    radar = Radar(timeline)
    radar.learn(state(timeline.nodes[0]), PROVED)
    assert radar.lost_since(timeline.now) is timeline.nodes[0]


def test_nothing_follows_over_an_edit(attic: Session) -> None:
    """Somebody filled the child's energy up again: that is no play, so the proof says nothing."""
    timeline, radar = played(attic, "cry")
    empty: Body = ()
    attic.edit(empty)
    attic.moments[-1] = attic.moments[-1].at(_rested(attic))
    timeline = Timeline(attic)
    radar = Radar(timeline)
    radar.learn(state(timeline.nodes[0]), PROVED)
    assert known(radar) == ["dead", "pending"]
    radar = Radar(timeline)
    radar.learn(state(timeline.nodes[1]), FOUND)
    assert known(radar) == ["pending", "winnable"]


def _rested(session: Session):  # type: ignore[no-untyped-def]
    fresh = session.state.fork()
    column = session.engine.layout.by_id["Child.energy"]
    fresh.put(column, column.key((fresh.numbers["child"],)), 3)
    fresh.facts = None
    return fresh


def test_a_refusal_that_lets_time_pass_is_asked_about_afresh(
    tiny: Callable[[str], OpenWorld],
) -> None:
    text = """
type Jar { full: 0 to 9 = 0 }
actor me: Jar
action fill() as "fill" { require me.full > 5 else low "No."  me.full = 9 }
law drip(j: Jar) { j.full += 1 }
world w {
  time passes always
  object jar: Jar
  goal done: jar.full == 9
}
"""
    session = Session(tiny(text))
    timeline, radar = played(session, "fill")
    outcome = session.moments[-1].outcomes[-1]
    assert (outcome.status, outcome.time_passed) == ("refused", True)
    radar.learn(state(timeline.nodes[0]), PROVED)
    assert known(radar) == ["dead", "pending"]


def test_other_branches_are_asked_about_too(attic: Session) -> None:
    timeline, radar = played(attic, "take robot", "cry")
    attic.undo()
    attic.intend("wind robot")
    timeline.sync()
    assert [len(one) for one in timeline.lines] == [3, 1]
    first = radar.question()
    assert first is timeline.now
    radar.learn(state(timeline.now), FOUND)
    second = radar.question()
    assert second is not None
    assert second.moment.asked == "cry"


@pytest.mark.parametrize(
    ("commands", "answers"),
    [
        (("take robot", "wind robot", "cry"), ["winnable"] * 3 + ["dead"]),
        (("take robot", "wind robot", "wind robot"), ["winnable"] * 4),
    ],
)
def test_planners_answer_the_questions(
    attic: Session, commands: tuple[str, ...], answers: list[Prospect]
) -> None:
    """With real planners: a lost game is dead by proof, a won one is not lost."""
    _, radar = played(attic, *commands)
    planner, heard = RadarPlanner(attic), []
    before = attic.engine.hash(attic.state)
    while (node := radar.question()) is not None:
        radar.learn(state(node), planner.ask(node.moment, 10.0, say=heard.append))
    assert known(radar) == answers
    assert attic.engine.hash(attic.state) == before
    assert planner.fits(attic)


def test_rules_that_were_exchanged_need_another_scout(
    attic: Session, tiny: Callable[[str], OpenWorld]
) -> None:
    timeline, radar = played(attic)
    planner = RadarPlanner(attic)
    world = tiny("type A\nactor me: A\nworld w { object a: A }")
    other = Session(world)
    assert not planner.fits(other)
    assert not radar.fits(Timeline(other))
    assert radar.fits(timeline)
    assert (has_goal(attic), has_goal(other)) == (True, False)
