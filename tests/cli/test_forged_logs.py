"""A log that was forged and hashed anew does not verify: each lie is named with its record."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tokenworld.ground import STATUSES
from tokenworld.store.read import chained, event_rows
from tokenworld.store.records import TickRecord, canonical, digest_of

Tw = Any
Path_ = tuple[str | int, ...]

WORLD = """type Room
type T { at: Room?  n: 0 to 9 = 0  m: 0 to 9 = 0  w: 0 to 9 = 0 }
actor me: T
event told(k: 0 to 9)
action add(k: 1 to 5) as "add {k}" { require me.n < 6 else full "You have {me.n}."  me.n += k
  emit told(k)  say "Now {me.n}."  reward 1 }
action go(r: Room) as "go to {r}" { require r != me.at else here "You are in {the r}."  me.at = r }
action flip() as "flip" { chance 1 / 2 { me.m = 1 } else { me.m = 2 } }
action dig() as "dig" takes 3 { me.n = 0  cancelled { me.w = 1 } }
action spoil() as "spoil" { me.w = me.n + 2 }
action halve() as "halve" { me.n = 6 mod (me.m - me.m) }
law drip(t: T) when t.n > 3 { t.m = if t.m < 9 then t.m + 1 else 0 }
invariant dry(t: T): t.w != 7
object hall, attic: Room
world w "A world" { object hero: T { at = hall }  score = me.n
  goal up: me.at == attic and me.n == 5 "Up." }
"""
SCRIPT = """add 2
add(2)
add 1
spoil
add 5
add 1
add 1
dance
go to nowhere
flip
pass
dig
dig
go to attic
halve
dig
pass
pass
add 5
add 1
"""


def forge(store: Path, lie: Callable[[sqlite3.Connection], None]) -> None:
    """Change a store behind its back, and hash all of its first run anew."""
    connection = sqlite3.connect(store, isolation_level=None)
    triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    for (name,) in connection.execute(triggers).fetchall():
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute("PRAGMA ignore_check_constraints = ON")
    connection.execute("PRAGMA foreign_keys = OFF")
    lie(connection)
    (header,) = connection.execute("SELECT header FROM run WHERE id = 1").fetchone()
    last = digest_of(json.loads(header))
    connection.execute("UPDATE run SET genesis = ? WHERE id = 1", (last,))
    rows = connection.execute(
        "SELECT seq, intent, outcome, source, text FROM tick WHERE run = 1 ORDER BY seq"
    ).fetchall()
    connection.execute("DELETE FROM event WHERE run = 1")
    state = None
    for seq, intent, outcome, source, text in rows:
        record = TickRecord(json.loads(intent), json.loads(outcome), source, text)
        tick = chained(1, seq, last, record)
        connection.execute(
            "UPDATE tick SET previous = ?, chain = ?, actor = ?, status = coalesce(?, ''), "
            "hash_before = coalesce(?, ''), hash_after = coalesce(?, '') WHERE run = 1 AND seq = ?",
            (last, tick.chain, tick.actor, tick.status, tick.hash_before, tick.hash_after, seq),
        )
        with suppress(TypeError, KeyError):  # there are no rows of what is no change
            for event in event_rows(record.outcome):
                connection.execute(
                    "INSERT INTO event VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)", (seq, *event)
                )
        last, state = tick.chain, tick.hash_after
    connection.execute(
        "UPDATE ending SET chain = ?, state_hash = ?, ticks = ? WHERE run = 1",
        (last, state or "", len(rows)),
    )
    connection.close()


def _json_lie(column: str, seq: int, path: Path_, value: Any, gone: bool = False) -> Any:
    def lie(connection: sqlite3.Connection) -> None:
        here = f"run = 1 AND seq = {seq}"
        table, where = ("run", "id = 1") if column == "header" else ("tick", here)
        (text,) = connection.execute(f"SELECT {column} FROM {table} WHERE {where}").fetchone()
        whole = place = json.loads(text)
        for key in path[:-1]:
            place = place[key]
        if gone:
            del place[path[-1]]
        else:
            place[path[-1]] = value
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (canonical(whole),))

    return lie


def _places(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    """Every place in a JSON value with what stands there."""
    if path:
        yield path, value
    if isinstance(value, dict):
        for key, one in value.items():
            yield from _places(one, (*path, key))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _places(one, (*path, number))


def _other(value: Any) -> Any:
    """Another value of the same type."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}x"
        case list():
            return [*value, *(value[-1:] or ["x"])]
        case dict():
            return {**value, "forged": 1}
        case _:
            return "x"


def _kind(outcome: Any, path: Path_) -> tuple[Any, ...]:
    """What makes two places the same: status and keys; items of lists are alike."""
    return outcome["status"], outcome["by"], *("*" if isinstance(one, int) else one for one in path)


@pytest.fixture
def store(tw: Tw, tmp_path: Path) -> Path:
    (tmp_path / "w.tw").write_text(WORLD)
    (tmp_path / "s.txt").write_text(SCRIPT)
    assert tw("run", "w.tw", "--script", "s.txt", "--seed", "3", "--store", "good").code == 0
    assert tw("runs", "verify", "--store", "good").code == 0
    return tmp_path / "good"


def _told(tw: Tw, store: Path, lie: Any) -> str | None:
    """What `tw runs verify` says of a forged copy; ``None`` where it finds nothing."""
    for old in store.parent.glob("bad*"):
        old.unlink()
    bad = Path(shutil.copy(store, store.with_name("bad")))
    forge(bad, lie)
    ran = tw("runs", "verify", "1", "--store", bad)
    assert ran.code in (0, 1, 2)
    return None if ran.code == 0 else str(ran.err)


def records_of(store: Path) -> list[tuple[int, Any, Any]]:
    connection = sqlite3.connect(store)
    rows = connection.execute("SELECT seq, intent, outcome FROM tick ORDER BY seq").fetchall()
    connection.close()
    return [(seq, json.loads(intent), json.loads(outcome)) for seq, intent, outcome in rows]


def test_the_run_has_records_of_every_kind(store: Path) -> None:
    outcomes = [outcome for _, _, outcome in records_of(store)]
    assert {one["status"] for one in outcomes} == set(STATUSES) - {"yielded"}
    for key in ("draws", "latched", "refusal", "breach", "discarded", "cause", "progress", "noop"):
        assert any(key in one for one in outcomes), key
    assert any(one["law_changes"] and one["fired"] for one in outcomes)
    assert any(one["events"] and one["said"] and one["reward"] for one in outcomes)


def test_forging_nothing_verifies(tw: Tw, store: Path) -> None:
    assert _told(tw, store, lambda connection: None) is None


def _missed(tw: Tw, store: Path, every: int) -> list[Any]:
    """The parts of records, of each kind of them, whose forgery is not named with its record."""
    known: set[tuple[Any, ...]] = set()
    missed = []
    for seq, _, outcome in records_of(store):
        for path, value in _places(outcome):
            if _kind(outcome, path) in known:
                continue
            known.add(_kind(outcome, path))
            if len(known) % every:
                continue
            told = _told(tw, store, _json_lie("outcome", seq, path, _other(value)))
            named = told is not None and (f"Tick {seq} " in told or f"record {seq} " in told)
            if not named or not any(str(one) in (told or "") for one in path):
                missed.append((seq, path, told))
    assert len(known) > 200
    return missed


def test_parts_of_records_are_worked_out_anew(tw: Tw, store: Path) -> None:
    assert not _missed(tw, store, 7)


@pytest.mark.slow
def test_every_part_of_every_kind_of_record_is_worked_out_anew(tw: Tw, store: Path) -> None:
    assert not _missed(tw, store, 1)


def test_a_status_is_worked_out_anew(tw: Tw, store: Path) -> None:
    for seq, _, outcome in records_of(store)[::4]:
        for status in ("executed", "refused", "no_match", "halted"):
            if status != outcome["status"]:
                told = _told(tw, store, _json_lie("outcome", seq, ("status",), status))
                assert told is not None
                assert f"ick {seq} " in told
                assert "status" in told


def test_a_part_that_is_gone_or_added_is_found(tw: Tw, store: Path) -> None:
    for seq, _, _ in records_of(store)[::3]:
        for key in ("forged", "note", "score2"):
            told = _told(tw, store, _json_lie("outcome", seq, (key,), 1))
            assert told is not None
            assert f"Tick {seq} " in told
            assert f"`{key}` is logged as 1, and there is none" in told
    for seq, _, outcome in records_of(store)[:3]:
        for key in outcome:
            told = _told(tw, store, _json_lie("outcome", seq, (key,), None, gone=True))
            assert told is not None, (seq, key)
            assert key in told


def test_an_intent_is_what_a_session_stores(tw: Tw, store: Path) -> None:
    known: set[tuple[Any, ...]] = set()
    for seq, intent, outcome in records_of(store):
        for path, value in (*_places(intent), (("forged",), None)):
            kind = (outcome["status"], *intent, *path)
            if kind in known:
                continue
            known.add(kind)
            told = _told(tw, store, _json_lie("intent", seq, path, _other(value)))
            assert told is not None, (seq, path)
            assert f"Tick {seq} " in told or f"record {seq} " in told, (path, told)


def test_words_that_were_not_asked(tw: Tw, store: Path) -> None:
    for seq in (1, 2, 5, 8):

        def lie(connection: sqlite3.Connection, seq: int = seq) -> None:
            connection.execute("UPDATE tick SET text = 'sing' WHERE run = 1 AND seq = ?", (seq,))

        told = _told(tw, store, lie)
        assert told is not None
        assert f"Tick {seq} " in told
        assert "`text`" in told


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("seed", 4),
        ("params", {"rate": 2}),
        ("digest", "0" * 64),
        ("start_hash", "0" * 32),
        ("player", "random"),
        ("player", "nobody"),
        ("world", "v"),
        ("carried", {"tick": 1, "chain": "0" * 64}),
    ],
)
def test_a_header_is_held_against_its_records(tw: Tw, store: Path, key: str, value: Any) -> None:
    told = _told(tw, store, _json_lie("header", 0, (key,), value))
    assert told is not None
    assert key in told


def test_records_that_were_left_out_or_swapped(tw: Tw, store: Path) -> None:
    def left_out(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM tick WHERE seq = 3")
        connection.execute("UPDATE tick SET seq = seq - 1 WHERE seq > 3")

    def swapped(connection: sqlite3.Connection) -> None:
        for old, new in ((1, 99), (2, 1), (99, 2)):
            connection.execute("UPDATE tick SET seq = ? WHERE seq = ?", (new, old))

    for lie, seq in ((left_out, 3), (swapped, 1)):
        told = _told(tw, store, lie)
        assert told is not None
        assert f"ick {seq} " in told


def test_a_stored_state_is_that_of_its_record(tw: Tw, store: Path) -> None:
    def lie(connection: sqlite3.Connection) -> None:
        (outcome,) = connection.execute("SELECT outcome FROM tick WHERE seq = 4").fetchone()
        state = {"format": "tw-state/1", "objects": []}
        connection.execute("INSERT INTO snapshot VALUES (1, 4, ?, ?)",
                           (canonical(state), json.loads(outcome)["hash_after"]))  # fmt: skip

    told = _told(tw, store, lie)
    assert told is not None
    assert "Tick 4 " in told
    assert "snapshot" in told


def test_a_link_that_was_kept_tells_a_cut_tail_and_another_run(tw: Tw, store: Path) -> None:
    """What a chain without a secret cannot show."""
    link = tw("runs", "show", "--store", store, "--json").json["link"]
    again = tw("run", "w.tw", "--script", "s.txt", "--seed", "3", "--store", "more")
    assert f"link {link}\n" in again.out
    assert tw("runs", "verify", "--link", link, "--store", store).code == 0

    def cut(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM tick WHERE seq > 5")

    assert _told(tw, store, cut) is None
    ran = tw("runs", "verify", "--link", link.upper(), "--store", store.with_name("bad"))
    assert ran.code == 1
    assert "no record has it" in ran.err
    shown = tw("runs", "show", "--store", store.with_name("bad"), "--json").json
    ran = tw("runs", "verify", "--link", shown["link"], "--store", store)
    assert ran.code == 1
    assert "that of record 5, and there are 21" in ran.err
    assert tw("run", "w.tw", "--script", "s.txt", "--seed", "4", "--store", store).code == 0
    assert tw("runs", "verify", "--link", link, "--store", store).code == 1
    assert tw("runs", "verify", "1", "--link", link, "--store", store).code == 0
    for arguments in (("--link", "12"), ("--all", "--link", link), ("1", "2", "--link", link)):
        assert tw("runs", "verify", *arguments, "--store", store).code == 2
