"""What if: slots set by hand, what is refused, what the store and the timeline make of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure, Source
from tokenworld.play.model.timeline import (
    Timeline,
    edit_slot,
    editable_slots,
    scratch,
)
from tokenworld.play.model.transcripts import text_as
from tokenworld.session import Session, check_text, open_world, run_scenario
from tokenworld.session.loading import open_text
from tokenworld.session.replaying import replay_run
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, list_runs

RULES = """
unit kg
type Place
enum Mood { glad, sad }
type Thing { at: Place? nested ordered inverse contents }
type Box : Place, Thing { locked: bool = true  secret inside: text = "pearls" }
type Toy : Thing { wound: 0 to 3 = 0  weight: 0kg to 9.5kg = 2.5kg  badge: int? unique }
type Child : Place, Thing { mood: Mood = glad  note: text = "" }
actor me: Child
relation knows(a: Thing, b: Thing)
function told(t: Thing): 0 to 9 = 0
static function worth(t: Thing): 0 to 9 = 1
invariant light(t: Toy): t.weight <= 5kg
conserve turns: sum(t.wound for t: Toy) except wind
action take(t: Thing) as "take {t}" { require t.at == me.at else away "No."  t.at = me }
action wind(t: Toy) as "wind {t}" { require t.at == me else empty "No."  t.wound += 1 }
world attic "The Attic" {
  object attic: Place
  object child: Child { at = attic }
  object robot: Toy { at = attic }
  object top: Toy { at = attic }
  object trunk: Box { at = attic }
  goal done: robot.wound == 2 "Done."
}
"""


@pytest.fixture
def session(tmp_path: Path, store: RunStore) -> Session:
    path = tmp_path / "attic.tw"
    path.write_text(RULES, encoding="utf-8")
    found = Session(open_world(str(path)), 5, store=store)
    assert found.intend("take robot")[-1].status == "executed"
    return found


def value(session: Session, slot: str) -> object:
    name, _, attribute = slot.partition(".")
    objects = session.state_json()["objects"]
    return next(one["attrs"][attribute] for one in objects if one["name"] == name)


@pytest.mark.parametrize(
    ("slot", "text", "shown"),
    [
        ("robot.wound", "2", 2),
        ("robot.weight", "4.5kg", 4.5),
        ("robot.weight", "3", 3),
        ("robot.badge", "7", 7),
        ("robot.badge", "none", None),
        ("robot.at", "trunk", "trunk"),
        ("robot.at", "none", None),
        ("trunk.locked", "false", False),
        ("child.mood", "sad", "sad"),
        ("child.note", '"a b"', "a b"),
        ("child.note", "none", "none"),
    ],
)
def test_a_value_of_its_type_is_set(session: Session, slot: str, text: str, shown: object) -> None:
    found = edit_slot(session, slot, text)
    assert (found.slot, found.new) == (slot, shown)
    assert value(session, slot) == shown
    assert session.tick == 1
    state = session.state_json()
    assert session.engine.hash(session.engine.restored(state)) == session.engine.hash(session.state)


def test_rows_are_set(session: Session) -> None:
    edit_slot(session, "knows(child, robot)", "true")
    assert ["child", "robot"] in session.state_json()["relations"]["knows"]
    edit_slot(session, "told( robot )", "3")
    assert [["robot"], 3] in session.state_json()["functions"]["told"]


@pytest.mark.parametrize(
    ("slot", "text", "code", "says"),
    [
        ("robot.wound", "4", "TW0301", "outside its range"),
        ("robot.wound", "true", "TW0301", "not a number"),
        ("robot.wound", "none", "TW0301", "does not fit"),
        ("robot.weight", "1.25kg", "TW0301", "decimals"),
        ("robot.at", "top", "TW0301", "no living `Place`"),
        ("robot.at", "moon", "TW0301", "does not fit"),
        ("trunk.locked", "1", "TW0301", "does not fit"),
        ("child.mood", "mad", "TW0301", "does not fit"),
        ("robot.shine", "1", "TW0201", "There is no slot"),
        ("moon.at", "attic", "TW0201", "moon"),
        ("knows(child)", "true", "TW0201", "There is no slot"),
        ("", "", "TW0201", "There is no slot"),
        ("trunk.inside", "gold", "TW0301", "secret"),
        ("worth(robot)", "3", "TW0301", "never changes"),
        ("child.at", "child", "TW0006", "cycle"),
    ],
)
def test_what_does_not_fit_changes_nothing(
    session: Session, slot: str, text: str, code: str, says: str
) -> None:
    before = list(session.moments)
    with pytest.raises(Failure) as caught:
        edit_slot(session, slot, text)
    found = caught.value.diagnostics[0]
    assert found.code == code, found
    assert says in found.message
    assert session.moments == before


def test_nothing_unique_stands_twice(session: Session) -> None:
    edit_slot(session, "robot.badge", "7")
    with pytest.raises(Failure) as caught:
        edit_slot(session, "top.badge", "7")
    assert "unique" in caught.value.diagnostics[0].message


def test_what_it_breaks_is_told(session: Session) -> None:
    assert edit_slot(session, "top.at", "none").broken == ()
    found = edit_slot(session, "robot.weight", "6kg")
    assert "The invariant `light` does not hold for robot" in found.broken[0]
    assert "A conserved sum is another one now." in edit_slot(session, "robot.wound", "1").broken


def test_endings_are_those_of_the_edited_state(session: Session) -> None:
    edit_slot(session, "robot.wound", "2")
    assert session.won()


def test_nothing_of_a_trial_is_recorded(session: Session, store: RunStore) -> None:
    edit_slot(session, "robot.wound", "1")
    assert session.intend("wind robot")[-1].status == "executed"
    assert session.moments[-1].run is None
    assert [(one.slug, one.ticks) for one in list_runs(store)] == [("attic-1", 1)]
    session.travel(session.moments[:2])
    assert scratch(session) is None
    assert session.intend("wind robot")[-1].status == "executed"
    run = find_run(store, "attic-1")
    assert (len(list_runs(store)), run.ticks) == (1, 2)
    assert replay_run(store, run, verify=True).ok


def test_an_undo_out_of_a_trial_goes_on_in_the_log(session: Session, store: RunStore) -> None:
    edit_slot(session, "robot.wound", "1")
    session.intend("wind robot")
    session.undo()
    session.undo()
    assert scratch(session) is None
    session.intend("wind robot")
    assert all(replay_run(store, one, verify=True).ok for one in list_runs(store))
    assert find_run(store, None).state_hash == session.engine.hash(session.state)


def test_a_trial_is_told_against_where_it_began(session: Session) -> None:
    assert scratch(session) is None
    edit_slot(session, "robot.wound", "1")
    session.intend("take top")
    found = scratch(session)
    assert found is not None
    assert found.edits == ("robot.wound = 1",)
    assert [(one.slot, one.old, one.new) for one in found.changes] == [
        ("robot.wound", 0, 1), ("top.at", "attic", "child")
    ]  # fmt: skip
    assert found.base is session.moments[1]


def test_the_timeline_keeps_a_trial_apart_and_forgets_it(session: Session) -> None:
    timeline = Timeline(session)
    edit_slot(session, "robot.wound", "1")
    session.intend("wind robot")
    timeline.sync()
    assert [timeline.name_of(one[0].line) for one in timeline.lines] == ["main", "scratch 1"]
    assert timeline.forget_scratch()
    assert not timeline.forget_scratch()
    assert [len(one) for one in timeline.lines] == [2]
    session.intend("wind robot")
    timeline.sync()
    assert [len(one) for one in timeline.lines] == [3]
    assert timeline.redo() is None


def test_only_what_can_be_set_is_proposed(session: Session) -> None:
    slots = editable_slots(session)
    assert "robot.wound" in slots
    assert "told(robot)" in slots
    assert not {"trunk.inside", "worth(robot)", "robot"} & set(slots)


def test_a_trial_can_be_kept_as_a_test(session: Session, tmp_path: Path) -> None:
    edit_slot(session, "child.note", "hi")
    edit_slot(session, "robot.wound", "1")
    session.intend("wind robot")
    told = text_as(session, "scenario", "a trial")
    assert "given { robot.wound = 1 }" in told
    assert 'given { child.note = "hi" }' in told
    checked = check_text(Source("w.tw", None, RULES + told))
    assert checked.program is not None, checked.diagnostics
    world = open_text((Source("w.tw", None, RULES + told),), "attic")
    scenario = world.program.scenarios[-1]
    assert run_scenario(world.loaded, scenario).ok
    for form in ("markdown", "jsonl", "plan", "script"):
        assert "robot.wound = 1" in text_as(session, form, "")  # type: ignore[arg-type]
    assert "# set by hand on a scratch branch: robot.wound = 1" in text_as(session, "script", "")
