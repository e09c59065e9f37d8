"""Changed rules under a running game: what is carried over, what is told, what the log says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.session import Session
from tokenworld.session.reloading import (
    Reloaded,
    Watched,
    carried_again,
    reload_world,
)
from tokenworld.session.replaying import branched, replay_run, session_at
from tokenworld.store.exchange import import_file, write_export
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, list_runs
from tokenworld.verbs.output import Output
from tokenworld.verbs.quality.scorecard import score_run
from tokenworld.verbs.runs.listing import show


def reload_files(session: Session) -> Reloaded | None:
    """Read the files again and go on with them; ``None`` where no text differs."""
    carried = carried_again(session.world, session.state)
    return None if carried is None else reload_world(session, carried)


RULES = """
type Place
type Thing { at: Place? nested ordered inverse contents }
type Lamp : Thing { lit: bool = false  oil: 0 to 9 = 5 }
type Spark : Thing
type Child : Place, Thing { mood: text = "fine" }
actor me: Child
relation knows(c: Child, t: Thing)
function told(t: Thing): 0 to 99 = 0
action take(t: Thing) as "take {t}" { require t.at == me.at else absent "No."  t.at = me
  knows(me, t) = true  told(t) += 1 }
action light(l: Lamp) as "light {l}" { require not l.lit else lit "It burns."  l.lit = true
  l.oil -= 1  create s: Spark { at = l.at } }
action crush(t: Thing) as "crush {t}" { require t.at == me else away "No."  destroy t }
action sweep() as "sweep" takes 3 { say "Clean." }
world hall "The Hall" {
  object hall: Place
  object child: Child { at = hall }
  object lamp: Lamp { at = hall }
  object rag: Thing { at = hall }
  award 2 when lamp.lit
  goal bright: lamp.lit and lamp.at == child "Light."
}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "hall.tw"
    file.write_text(RULES, encoding="utf-8")
    return file


def played(path: Path, *commands: str, store: RunStore | None = None) -> Session:
    session = Session.open(str(path), 3, store=store)
    for command in commands:
        assert session.intend(command)[-1].status == "executed", command
    return session


def rewritten(session: Session, path: Path, *changes: tuple[str, str]) -> Reloaded:
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    found = reload_files(session)
    assert found is not None
    return found


def attrs(session: Session, name: str) -> dict[str, object]:
    objects = session.state_json()["objects"]
    return next(one["attrs"] for one in objects if one["name"] == name)


def test_without_a_changed_text_nothing_is_reloaded(path: Path) -> None:
    session = played(path, "light lamp")
    path.write_text(RULES, encoding="utf-8")
    assert reload_files(session) is None
    assert len(session.moments) == 2


def test_values_stay_and_new_attributes_have_their_declared_values(path: Path) -> None:
    session = played(path, "light lamp", "take rag")
    before = session.state_json()
    found = rewritten(
        session, path, ("oil: 0 to 9 = 5", "oil: 0 to 9 = 5  wick: 0 to 3 = 2"),
        ("object rag: Thing { at = hall }", "object rag: Thing { at = hall }\n  object cat: Child "
         '{ at = hall  mood = "sleepy" }'),
    )  # fmt: skip
    assert attrs(session, "lamp") == {"at": "hall", "lit": True, "oil": 4, "wick": 2}
    assert attrs(session, "rag") == {"at": "child"}
    assert attrs(session, "cat") == {"at": "hall", "mood": "sleepy"}
    assert "`Lamp.wick` is new: it has its declared value." in found.notes
    assert "`cat` is new." in found.notes
    after = session.state_json()
    kept = ("tick", "seed", "outcomes", "awarded", "long", "relations")
    assert {key: after[key] for key in kept} == {key: before[key] for key in kept}
    assert [["rag"], 1] in after["functions"]["told"]
    assert session.engine.score(session.state) == 2
    sparks = [one for one in after["objects"] if one["type"] == "Spark"]
    assert len(sparks) == 1
    assert session.intend("take cat")[-1].status == "executed"


def test_what_is_gone_or_does_not_fit_is_told(path: Path) -> None:
    session = played(path, "light lamp", "take rag")
    found = rewritten(
        session, path, ("oil: 0 to 9 = 5", "oil: 5 to 9 = 6"),
        ("function told(t: Thing): 0 to 99 = 0\n", ""), ("  told(t) += 1", ""),
        ("  object rag: Thing { at = hall }\n", ""), ("  award 2 when lamp.lit\n", ""),
    )  # fmt: skip
    assert attrs(session, "lamp") == {"at": "hall", "lit": True, "oil": 6}
    assert (
        "`lamp.oil` was 4, which does not fit any more: it has its declared value." in found.notes
    )
    assert "`rag` is gone: the world has no such object any more." in found.notes
    assert "There is no `told` any more." in found.notes
    assert "1 rows of `knows` do not fit any more." in found.notes
    assert "The points of `award 2 when lamp.lit` are lost: the line is not there." in found.notes
    assert session.engine.score(session.state) == 0


def test_who_was_destroyed_stays_so_and_the_order_of_contents_stays(path: Path) -> None:
    session = played(path, "take rag", "take lamp", "crush rag")
    rewritten(session, path, ("mood: text", "age: 0 to 9 = 3  mood: text"))
    assert [one["name"] for one in session.state_json()["objects"]] == ["hall", "child", "lamp"]
    assert attrs(session, "child")["age"] == 3


def test_a_long_action_goes_on_unless_it_is_another_one(path: Path) -> None:
    session = played(path)
    assert session.intend("sweep")[-1].status == "waiting"
    rewritten(session, path, ("mood: text", "age: 0 to 9 = 3  mood: text"))
    assert session.intend("pass")[-1].progress == (2, 3)
    found = rewritten(session, path, ('action sweep() as "sweep"', 'action mop() as "mop"'))
    assert "`sweep` is broken off: it is another action now." in found.notes


def test_errors_leave_the_game_as_it_is(path: Path, store: RunStore) -> None:
    session = played(path, "light lamp", store=store)
    before, world = session.state, session.world
    for text in (RULES.replace("l.lit = true", "l.lit = 7"), "", RULES + "invariant no: false\n",
                 RULES.replace("world hall", "world barn")):  # fmt: skip
        path.write_text(text, encoding="utf-8")
        with pytest.raises(Failure):
            reload_files(session)
        assert (session.state, session.world) == (before, world)
    path.unlink()
    with pytest.raises(Failure):
        reload_files(session)
    assert len(list_runs(store)) == 1
    assert session.intend("take lamp")[-1].status == "executed"


def test_the_log_tells_the_truth_about_it(path: Path, store: RunStore, tmp_path: Path) -> None:
    session = played(path, "light lamp", "take rag", store=store)
    found = rewritten(session, path, ("l.oil -= 1", "l.oil -= 2"), ("oil: 0 to 9 = 5",
                      "oil: 0 to 9 = 5  wick: 0 to 3 = 2"))  # fmt: skip
    assert (found.left, found.run) == ("hall-1", "hall-2")
    session.intend("take lamp")
    session.intend("fly")
    session.finish("left")
    left, now = find_run(store, "hall-1"), find_run(store, "hall-2")
    assert left.ending is not None
    assert left.ending.reason == "reloaded"
    assert now.header.parent is None
    assert now.header.carried is not None
    assert now.header.carried == store.link_after(left, 2)
    for run in (left, now):
        report = replay_run(store, run, verify=True)
        assert report.ok, report
        assert report.final_hash == run.state_hash
    assert session_at(store, now, 0).tick == 2
    assert session_at(store, now, 1).state_json()["tick"] == 3
    card = score_run(store, now)
    assert next(one for one in card.dimensions if one.id == "groundedness").status == "OK"
    other = branched(store, now, 1, "human")
    other.intend("crush rag")
    assert other.recording is not None
    branch = find_run(store, other.recording.slug)
    assert branch.header.carried is None
    assert replay_run(store, branch, verify=True).ok
    file = tmp_path / "runs.jsonl"
    write_export(store, [branch], file)
    with RunStore.open(tmp_path / "other.sqlite") as copy:
        assert all(replay_run(copy, one, verify=True).ok for one in import_file(copy, file).runs)


def test_after_an_undo_the_run_that_goes_on_leaves_where_one_stood(
    path: Path, store: RunStore
) -> None:
    session = played(path, "light lamp", "take rag", store=store)
    session.undo()
    rewritten(session, path, ("l.oil -= 1", "l.oil -= 2"))
    now = find_run(store, "hall-2")
    assert now.header.carried == store.link_after(find_run(store, "hall-1"), 1)
    assert not session.undo()


def test_a_round_under_way_waits(tmp_path: Path) -> None:
    text = RULES.replace("world hall", "world duo").replace(
        "  award", "  object bob: Child { at = hall }\n  turns child, bob\n  award"
    )
    file = tmp_path / "duo.tw"
    file.write_text(text, encoding="utf-8")
    session = Session.open(str(file), 0)
    session.intend("light lamp")
    file.write_text(text.replace("l.oil -= 1", "l.oil -= 2"), encoding="utf-8")
    with pytest.raises(Failure) as caught:
        reload_files(session)
    assert caught.value.diagnostics[0].code == "TW1107"
    session.intend("pass")
    assert reload_files(session) is not None


def test_a_watch_sees_a_written_file_once(path: Path) -> None:
    session = played(path)
    watched = Watched(session)
    assert not watched.changed()
    os.utime(path, ns=(1, 1))
    assert not watched.changed()
    path.write_text(RULES + "# more\n", encoding="utf-8")
    assert watched.changed()
    assert not watched.changed()


def test_what_was_played_while_the_files_were_read_is_carried_too(path: Path) -> None:
    session = played(path, "light lamp")
    path.write_text(RULES.replace("oil: 0 to 9 = 5", "oil: 0 to 9 = 5  wick: 0 to 3 = 2"), "utf-8")
    carried = carried_again(session.world, session.state)
    assert carried is not None
    session.intend("take rag")
    found = reload_world(session, carried)
    assert attrs(session, "rag") == {"at": "child"}
    assert attrs(session, "lamp")["wick"] == 2
    assert found.notes == ("`Lamp.wick` is new: it has its declared value.",)


def test_a_plan_is_found_from_the_carried_state(path: Path) -> None:
    session = played(path, "light lamp")
    rewritten(session, path, ("l.oil -= 1", "l.oil -= 2"))
    verdict = session.plan()
    assert verdict.answer == "winnable"
    assert len(verdict.steps) == 1


def test_runs_show_names_the_run_that_was_left(
    path: Path, store: RunStore, capsys: pytest.CaptureFixture[str]
) -> None:
    session = played(path, "light lamp", "take rag", store=store)
    rewritten(session, path, ("l.oil -= 1", "l.oil -= 2"))
    session.finish("left")
    show("hall-2", Output(), store=store.path)
    assert "goes on with changed rules from record 2 of hall-1" in capsys.readouterr().out
    show("hall-2", Output(as_json=True), store=store.path)
    assert '"carried": {"record": 2, "run": "hall-1"}' in capsys.readouterr().out
    show("hall-1", Output(as_json=True), store=store.path)
    assert '"carried": null' in capsys.readouterr().out
