"""Recording: what is appended is stored as it is, or not at all."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tokenworld.diagnostics import Failure
from tokenworld.ground import STATUSES
from tokenworld.store.check import verify_chain
from tokenworld.store.log import RunHandle, RunStore
from tokenworld.store.read import (
    chained,
    find_run,
    history,
    insert_tick,
    list_runs,
    snapshot_before,
    ticks_of,
)
from tokenworld.store.records import Parent, RunHeader, Tick, TickRecord, Timing

Records = Callable[..., TickRecord]
Headers = Callable[..., RunHeader]
Play = Callable[[RunHandle, int], list[Tick]]


def code_of(error: pytest.ExceptionInfo[Failure]) -> str:
    """The code of the one diagnostic that a failure must carry."""
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.hint
    return diagnostic.code


def test_a_run_is_read_back_as_it_was_recorded(
    store: RunStore, make_header: Headers, make_record: Records
) -> None:
    header = make_header(seed=10**30, params={"rate": 0.1, "open": True})
    handle = store.begin(header, timing=Timing("2024-01-01T00:00:00Z", 0))
    record = make_record(1)
    stored = handle.append(record, timing=Timing("2024-01-01T00:00:01Z", 1234))
    found = find_run(store, handle.slug)
    assert found.header == header
    assert (found.slug, found.ticks, found.last_status) == ("cellar-1", 1, "executed")
    assert (found.state_hash, found.ending) == ("s1", None)
    (tick,) = ticks_of(store, found)
    assert (tick.intent, tick.outcome, tick.text) == (record.intent, record.outcome, record.text)
    assert tick == stored
    assert tick.timing == Timing("2024-01-01T00:00:01Z", 1234)
    assert found.timing == Timing("2024-01-01T00:00:00Z", 0)


def test_an_append_is_committed_when_it_returns(
    path: Path, run: RunHandle, make_record: Records
) -> None:
    run.append(make_record(1))
    with RunStore.open(path, writable=False) as other:
        assert find_run(other).ticks == 1


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_can_be_recorded_and_verifies(
    store: RunStore, run: RunHandle, make_record: Records, status: str
) -> None:
    tick = run.append(make_record(1, status))
    assert tick.status == status
    assert verify_chain(store, run.run()).ok


def test_wall_time_is_not_part_of_the_chain(
    store: RunStore, make_header: Headers, make_record: Records
) -> None:
    one, two = store.begin(make_header()), store.begin(make_header(), timing=Timing("now", 1))
    links = [
        one.append(make_record(1), timing=Timing("early", 1)).chain,
        two.append(make_record(1), timing=Timing("late", 2)).chain,
    ]
    assert links[0] == links[1]
    three = store.begin(make_header(seed=8))
    assert three.append(make_record(1)).chain != links[0]


def test_a_record_that_lies_about_its_status_is_not_stored(
    run: RunHandle, make_record: Records
) -> None:
    """The defect of which this log was born: a refused action, stored as executed."""
    refused = make_record(1, "refused")
    outcome = {**refused.outcome, "status": "executed", "noop": True}
    with pytest.raises(Failure, match="law `refusal`") as error:
        run.append(replace(refused, outcome=outcome))
    assert code_of(error) == "TW1102"
    assert run.run().ticks == 0


def test_sql_alone_refuses_the_same_lie(
    store: RunStore, run: RunHandle, make_record: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokenworld.store.log.broken_law", lambda outcome: None)
    refused = make_record(1, "refused")
    lies = [
        {**refused.outcome, "status": "executed"},
        {**refused.outcome, "changes": make_record(1).outcome["changes"]},
        {**refused.outcome, "hash_after": "s1"},
        {**make_record(1, "yielded").outcome, "status": "approved"},
    ]
    for outcome in lies:
        with pytest.raises(Failure) as error:
            run.append(replace(refused, outcome=outcome))
        assert code_of(error) == "TW1102"
    assert run.run().ticks == 0
    assert not store.connection.in_transaction
    run.append(refused)


def test_sql_alone_takes_nothing_but_the_next_tick(
    store: RunStore, run: RunHandle, make_record: Records, play: Play
) -> None:
    first, last = play(run, 2)
    out_of_order = [
        chained(run.id, 4, last.chain, make_record(3)),  # a gap
        chained(run.id, 3, first.chain, make_record(3)),  # another chain
        chained(run.id, 3, last.chain, make_record(4)),  # another state
    ]
    for tick in out_of_order:
        with pytest.raises(sqlite3.IntegrityError, match="does not follow the last one"):
            insert_tick(store.connection, tick)
    run.finish("quit")
    with pytest.raises(sqlite3.IntegrityError, match="the run is finished"):
        insert_tick(store.connection, chained(run.id, 3, last.chain, make_record(3)))
    assert ticks_of(store, run.id) == (first, last)


def test_a_record_must_follow_the_last_state(
    run: RunHandle, make_record: Records, play: Play
) -> None:
    play(run, 2)
    with pytest.raises(Failure, match="tick 3 does not start in the state"):
        run.append(make_record(2))
    assert run.run().ticks == 2


def test_a_record_without_an_intent_is_not_stored(run: RunHandle, make_record: Records) -> None:
    with pytest.raises(Failure, match="no intent") as error:
        run.append(replace(make_record(1), intent={"actor": "hero"}))
    assert code_of(error) == "TW1102"


def test_a_number_without_json_form_is_one_diagnostic(run: RunHandle, make_record: Records) -> None:
    with pytest.raises(Failure) as error:
        run.append(make_record(1, reward=float("inf")))
    assert code_of(error) == "TW1102"
    assert run.run().ticks == 0


@pytest.mark.parametrize("typed", ["take \udc80 lamp", "\ud83d\ude00", "a\x00b", "née 🙂\u2028"])
def test_whatever_is_typed_can_be_recorded(
    store: RunStore, run: RunHandle, make_record: Records, typed: str
) -> None:
    record = make_record(1, "no_match", text=typed)
    run.append(replace(record, text=typed, intent={"text": typed}))
    assert verify_chain(store, run.run()).ok
    (tick,) = ticks_of(store, run.run())
    utf16 = typed.encode("utf-16-le", "surrogatepass")
    assert str(tick.intent["text"]).encode("utf-16-le", "surrogatepass") == utf16


def test_a_finished_run_takes_no_more(run: RunHandle, make_record: Records, play: Play) -> None:
    last = play(run, 2)[-1]
    ending = run.finish("won")
    assert (ending.reason, ending.ticks, ending.chain) == ("won", 2, last.chain)
    assert run.run().ending == ending
    for again in (lambda: run.append(make_record(3)), lambda: run.finish("twice")):
        with pytest.raises(Failure, match="is finished") as error:
            again()
        assert code_of(error) == "TW1102"
    with pytest.raises(Failure, match="is finished"):
        run.store.resume(run.slug)


def test_an_unfinished_run_is_resumed(
    path: Path, make_header: Headers, make_record: Records
) -> None:
    with RunStore.open(path) as store:
        store.begin(make_header()).append(make_record(1))
    with RunStore.open(path) as store:
        handle = store.resume()
        assert handle.append(make_record(2)).seq == 2
        assert verify_chain(store, handle.run()).ok


def test_what_is_stored_cannot_be_changed_or_deleted(
    store: RunStore, run: RunHandle, play: Play
) -> None:
    play(run, 1)
    run.finish("quit")
    for table in ("run", "tick", "ending", "source_set"):
        for statement in (f"DELETE FROM {table}", f"UPDATE {table} SET rowid = rowid"):
            with pytest.raises(sqlite3.IntegrityError, match="never changed"):
                store.connection.execute(statement)


def test_slugs_are_counted_per_world(store: RunStore, make_header: Headers) -> None:
    worlds = ["cellar", "kitchen", "cellar", "cellar", "kitchen"]
    slugs = [store.begin(make_header(world=world)).slug for world in worlds]
    assert slugs == ["cellar-1", "kitchen-1", "cellar-2", "cellar-3", "kitchen-2"]


def test_equal_sources_are_stored_once(store: RunStore, make_header: Headers) -> None:
    for _ in range(3):
        store.begin(make_header())
    assert store.connection.execute("SELECT count(*) FROM source_set").fetchone() == (1,)
    assert {run.header.sources[0].text for run in list_runs(store)} == {"world cellar { }\n"}


def test_a_branch_leaves_its_parent_alone(
    store: RunStore, run: RunHandle, make_header: Headers, make_record: Records, play: Play
) -> None:
    trunk = play(run, 3)
    branch = store.begin(make_header(start_hash="s2"), parent=Parent(run.id, 2))
    other = branch.append(make_record(3, "refused"))
    assert run.run().ticks == 3
    found = branch.run()
    assert found.header.parent == Parent(run.id, 2)
    assert found.origin is not None
    assert found.origin.chain == trunk[1].chain
    assert history(store, found) == (*trunk[:2], other)
    assert verify_chain(store, found).ok


def test_a_branch_from_the_start_and_a_branch_of_a_branch(
    store: RunStore, run: RunHandle, make_header: Headers, play: Play
) -> None:
    trunk = play(run, 2)
    one = store.begin(make_header(start_hash="s1", parent=Parent(run.id, 1)))
    two = store.begin(make_header(start_hash="s1"), parent=Parent(one.id, 0))
    assert [tick.chain for tick in history(store, two.run())] == [trunk[0].chain]
    assert verify_chain(store, two.run()).ok
    assert verify_chain(store, store.begin(make_header(), parent=Parent(run.id, 0)).run()).ok


@pytest.mark.parametrize(("run_id", "tick"), [(1, 9), (1, -1), (99, 1)])
def test_a_branch_needs_a_tick_that_is_there(
    store: RunStore, run: RunHandle, make_header: Headers, run_id: int, tick: int
) -> None:
    with pytest.raises(Failure) as error:
        store.begin(make_header(), parent=Parent(run_id, tick))
    assert code_of(error) == "TW1104"
    assert len(list_runs(store)) == 1


def test_a_branch_starts_in_the_state_of_its_parent(
    store: RunStore, run: RunHandle, make_header: Headers, play: Play
) -> None:
    play(run, 2)
    with pytest.raises(Failure, match="does not start in the state after tick 1") as error:
        store.begin(make_header(start_hash="s2"), parent=Parent(run.id, 1))
    assert code_of(error) == "TW1102"


def test_snapshots_and_changes_are_found(
    store: RunStore, run: RunHandle, make_record: Records
) -> None:
    for number in range(1, 6):
        state = {"tick": number} if number % 2 == 0 else None
        run.append(make_record(number), snapshot=state)
    found = run.run()
    assert snapshot_before(store, found, 1) is None
    assert snapshot_before(store, found, 5) == (4, {"tick": 4}, "s4")
    rows = "SELECT seq, old, new, rule FROM event WHERE fluent = ? AND args = ? ORDER BY seq"
    with store.reading() as connection:
        heated = connection.execute(rows, ("heat", '["pot"]')).fetchall()
        moved = connection.execute(rows, ("at", '["lamp"]')).fetchall()
    assert heated[-1] == (5, "4", "5", "law warm")
    assert [row[0] for row in moved] == [1, 2, 3, 4, 5]


def test_two_thousand_ticks_are_kept_whole(run: RunHandle, play: Play) -> None:
    started = time.process_time()
    play(run, 2000)
    assert time.process_time() - started < 60
    assert run.run().ticks == 2000
