"""What a session leaves in the store: records, branches after undo, replays of both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.session import OpenWorld, Session
from tokenworld.session.replaying import replay_run
from tokenworld.store.check import verify_chain
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, history, list_runs, ticks_of

RULES = """
type T { n: 0 to 99 = 0 }
actor me: T
action add(k: 1 to 9) as "add {k}" { me.n += k }
action flip() as "flip" { chance 50% { me.n += 1 } else { me.n += 10 } }
action nap() as "nap" takes 3 { me.n = 0  cancelled { me.n += 2 } }
world w { object h: T }
"""


@pytest.fixture
def session(tiny: Callable[[str], OpenWorld], store: RunStore) -> Session:
    return Session(tiny(RULES), 5, store=store)


def replays(store: RunStore, slug: str) -> None:
    report = replay_run(store, find_run(store, slug), verify=True)
    assert report.ok, report
    assert report.final_hash == find_run(store, slug).state_hash


def asked(store: RunStore, slug: str) -> list[str | None]:
    return [tick.text for tick in history(store, find_run(store, slug))]


def test_every_record_is_stored_before_the_intent_returns(
    session: Session, store: RunStore
) -> None:
    for count, words in enumerate(("add 2", "xyzzy", "flip", "pass"), 1):
        (outcome,) = session.intend(words)
        last = list(ticks_of(store, find_run(store, "w-1")))[-1]
        assert (last.seq, last.status, last.text) == (count, outcome.status, words)
        assert last.outcome == outcome.to_json()
        assert last.hash_after == session.engine.hash(session.state)
    session.finish("done")
    replays(store, "w-1")


def test_a_cancelled_long_action_is_two_records_and_replays(
    session: Session, store: RunStore
) -> None:
    for words in ("nap", "pass", "add 3", "nap", "pass", "pass"):
        session.intend(words)
    session.finish("done")
    statuses = [tick.status for tick in ticks_of(store, find_run(store, "w-1"))]
    assert statuses == [
        "waiting", "waiting", "interrupted", "executed", "waiting", "waiting", "executed",
    ]  # fmt: skip
    replays(store, "w-1")


def test_a_log_cut_between_the_two_records_of_an_intent_still_replays(
    session: Session, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.intend("nap")
    recording = session.recording
    assert recording is not None
    kept = type(recording).append
    calls = 0

    def first_only(self: object, *args: object, **more: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise KeyboardInterrupt
        kept(self, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(type(recording), "append", first_only)
    with pytest.raises(KeyboardInterrupt):
        session.intend("add 1")
    assert [tick.status for tick in ticks_of(store, find_run(store, "w-1"))] == [
        "waiting", "interrupted",
    ]  # fmt: skip
    replays(store, "w-1")


def test_undo_keeps_the_record_and_play_goes_on_in_a_branch(
    session: Session, store: RunStore
) -> None:
    for words in ("add 1", "add 2", "add 3"):
        session.intend(words)
    session.undo()
    assert len(list_runs(store)) == 1
    session.intend("add 9")
    session.intend("flip")
    first, branch = list_runs(store)
    assert (first.ticks, branch.ticks) == (3, 2)
    assert branch.header.parent is not None
    assert (branch.header.parent.run, branch.header.parent.tick) == (first.id, 2)
    assert asked(store, branch.slug) == ["add 1", "add 2", "add 9", "flip"]
    session.finish("done")
    for run in (first, branch):
        replays(store, run.slug)
        assert verify_chain(store, find_run(store, run.slug)).ok


def test_undo_to_the_start_branches_before_the_first_record(
    session: Session, store: RunStore
) -> None:
    session.intend("add 1")
    session.undo()
    session.intend("add 5")
    assert asked(store, "w-2") == ["add 5"]
    replays(store, "w-2")


def test_undo_past_a_branch_point_branches_off_the_first_run(
    session: Session, store: RunStore
) -> None:
    for words in ("add 1", "add 2", "add 3"):
        session.intend(words)
    session.undo()
    session.intend("add 4")
    session.intend("add 5")
    for _ in range(3):
        assert session.undo()
    assert session.tick == 1
    session.intend("flip")
    session.intend("add 7")
    runs = list_runs(store)
    assert [run.ticks for run in runs] == [3, 2, 2]
    last = runs[-1].header.parent
    assert last is not None
    assert (last.run, last.tick) == (runs[0].id, 1)
    assert asked(store, runs[-1].slug) == ["add 1", "flip", "add 7"]
    for run in runs:
        replays(store, run.slug)


def test_a_branch_of_a_branch(session: Session, store: RunStore) -> None:
    session.intend("add 1")
    for words in ("add 2", "add 3", "add 4"):
        session.intend("nap")
        session.intend(words)
        session.undo()
        session.undo()
    session.intend("flip")
    runs = list_runs(store)
    for run in runs:
        replays(store, run.slug)
    assert asked(store, runs[-1].slug) == ["add 1", "flip"]


def test_undo_of_a_step_with_two_records_takes_both_back(session: Session, store: RunStore) -> None:
    session.intend("nap")
    session.intend("add 3")
    session.undo()
    session.intend("pass")
    session.intend("pass")
    assert [tick.status for tick in history(store, find_run(store, "w-2"))] == [
        "waiting", "waiting", "executed",
    ]  # fmt: skip
    replays(store, "w-2")


def test_several_undos_and_redos_make_one_branch_each_time_play_goes_on(
    session: Session, store: RunStore
) -> None:
    session.intend("add 1")
    session.undo()
    session.undo()
    assert len(list_runs(store)) == 1
    session.intend("add 1")
    assert len(list_runs(store)) == 2


def test_a_replay_names_the_first_difference(
    tiny: Callable[[str], OpenWorld], store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = Session(tiny(RULES), 5, store=store)
    for words in ("add 1", "flip", "add 2"):
        session.intend(words)
    from tokenworld.session import replaying

    changed = RULES.replace("me.n += 10", "me.n += 11").replace("me.n += 1 }", "me.n += 2 }")
    monkeypatch.setattr(replaying, "open_text", lambda texts, name: tiny(changed))
    report = replay_run(store, find_run(store, "w-1"), verify=True)
    assert not report.ok
    assert report.divergence is not None
    assert report.divergence.seq == 2
    assert "flip" in report.divergence.rule
    assert report.changed is not None
    assert report.changed.code == "TW1105"


def test_a_finished_run_takes_no_more_records(session: Session) -> None:
    session.intend("add 1")
    session.finish("done")
    with pytest.raises(Failure):
        session.intend("add 1")


def test_snapshots_of_the_whole_state_are_kept_every_hundred_records(
    session: Session, store: RunStore
) -> None:
    from tokenworld.store.read import snapshot_before

    for _ in range(101):
        session.intend("pass")
    found = snapshot_before(store, find_run(store, "w-1"), 101)
    assert found is not None
    seq, state, state_hash = found
    assert (seq, state["tick"]) == (100, 100)
    assert state_hash == session.engine.hash(session.moments[100].state)


def test_a_world_with_modules_replays_from_the_sources_in_the_store(
    store: RunStore, tmp_path: Path
) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "deep" / "base.tw").write_text("type T { n: 0 to 9 = 0 }\nactor me: T\n")
    (tmp_path / "other" / "base.tw").write_text("param step: 1 to 9 = 2\n")
    (tmp_path / "mid.tw").write_text(
        "use deep.base\nuse other.base\naction add() { me.n += step }\n"
    )
    (tmp_path / "root.tw").write_text("use mid\nworld w { object h: T }\n")
    session = Session.open(str(tmp_path / "root.tw"), 3, store=store)
    session.intend("add()")
    session.finish("done")
    for name in ("root.tw", "mid.tw", "deep/base.tw", "other/base.tw"):
        (tmp_path / name).unlink()
    replays(store, "w-1")
