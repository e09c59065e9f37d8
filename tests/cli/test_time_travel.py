"""`tw runs at|diff|why|branch|verify` and `tw log`: going back, and following."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, ticks_of
from tokenworld.store.records import TickRecord

WORLD = """type Room
type T { at: Room?  n: 0 to 99 clamped = 0  hot: bool = false }
actor me: T
phase late
derive warm(t: T) = t.hot and t.n > 0
function near(r: Room): int = 0
action go(r: Room) as "go to {r}" { require r != me.at else here "You are here."  me.at = r }
action add(k: 1 to 9) as "add {k}" { me.n += k }
action heat() as "heat" { require me.n >= 3 else cold "Too cold."  me.hot = true }
action dig() as "dig" takes 3 { me.n += 5  cancelled { me.n += 1 } }
law warmth(r: Room) during late when any(warm(t) and t.at == r for t: T) { near(r) += 1 }
law glow(t: T) during late when warm(t) and t.n < 50 { t.n += 2 }
world w "W" { endless  object hall, attic: Room  object hero: T { at = hall } }
"""
TW = [sys.executable, "-c", "from tokenworld.cli import main; main()"]
MISSING = [
    ("at", "w-1", "99"),
    ("at", "x", "1"),
    ("trace", "w-1", "99"),
    ("diff", "w-1", "w-9"),
    ("diff", "w-1@99", "w-1"),
    ("branch", "w-1", "99"),
]
LINES = ["add 3", "heat", "go to attic", "dig", "pass", "go to hall", "add 1"]


@pytest.fixture
def run(tw) -> str:
    Path("w.tw").write_text(WORLD, encoding="utf-8")
    Path("s.txt").write_text("\n".join(LINES), encoding="utf-8")
    assert tw("run", "w.tw", "--script", "s.txt").code == 0
    return "w-1"


def test_the_laws_of_any_record(tw, run) -> None:
    told = tw("runs", "trace", run, "2")
    assert told.out.splitlines()[0] == "w-1, record 2"
    assert "law glow  t = hero" in told.out
    assert "hero.n 3 → 5" in told.out
    with RunStore.open(writable=False) as store:
        ticks = ticks_of(store, find_run(store))
    pairs = [tick.seq for tick in ticks if tick.status == "interrupted"]
    assert pairs  # both records of one intent can be traced
    for tick in ticks:
        found = tw("runs", "trace", run, tick.seq, "--json").json
        laws = [
            f"law {one['law']}({', '.join(one['bindings'].values())})"
            for phase in found["phases"]
            for one in phase["fired"]
        ]
        closing = tick if tick.seq not in pairs else ticks[tick.seq]
        assert laws == closing.outcome["fired"]


def test_the_state_at_any_record(tw, run) -> None:
    shown = tw("runs", "at", run, "2")
    assert "hero.n = 5" in shown.out
    assert "near(hall) = 1" in shown.out
    with RunStore.open(writable=False) as store:
        ticks = ticks_of(store, find_run(store))
    for tick in ticks:
        ran = tw("runs", "at", run, tick.seq, "--json")
        if tick.status == "interrupted":  # the first of two records of one intent
            assert (ran.code, ran.json["diagnostics"][0]["code"]) == (2, "TW1104")
        else:
            assert ran.json["state_hash"] == tick.hash_after
    start = tw("runs", "at", run, "0", "--json").json["state"]
    assert (start["tick"], start["objects"][2]["attrs"]["at"]) == (0, "hall")


def test_what_is_not_there(tw, run) -> None:
    for arguments in MISSING:
        ran = tw("runs", *arguments)
        assert (ran.code, "TW1104" in ran.err) == (2, True)
    for slot in ("hero.m", "nobody.n", "nothing(hall)", "near(nowhere)"):
        ran = tw("runs", "why", run, slot)
        assert (ran.code, "TW0201" in ran.err) == (1, True)


def test_a_long_run_is_entered_at_its_snapshot(tw, run) -> None:
    tw("run", "w.tw", "--player", "random", "--ticks", "230", "--seed", "4")
    with RunStore.open(writable=False) as store:
        ticks = ticks_of(store, find_run(store))
    whole = [one.seq for one in ticks if one.status != "interrupted"]
    for seq in (whole[98], whole[99], whole[100], whole[-1]):
        found = tw("runs", "at", "w-2", seq, "--json").json
        assert found["state_hash"] == ticks[seq - 1].hash_after


def test_two_moments_of_a_run(tw, run) -> None:
    ran = tw("runs", "diff", f"{run}@1", f"{run}@3", "--json")
    assert ran.code == 1
    assert ran.json["common_records"] == 1
    changes = {one["slot"]: (one["first"], one["second"]) for one in ran.json["changes"]}
    assert changes == {
        "hero.at": ("hall", "attic"), "hero.n": (3, 7), "hero.hot": (False, True),
        "near(attic)": (0, 1), "near(hall)": (0, 1),
    }  # fmt: skip
    same = tw("runs", "diff", run, f"{run}@{len(LINES) + 1}")
    assert (same.code, "no slot differs" in same.out) == (0, True)


def test_why_a_slot_holds_what_it_holds(tw, run) -> None:
    found = tw("runs", "why", run, "hero.hot", "--json").json
    assert found["value"] is True
    assert found["set_by"] == {"record": 2, "rule": "action heat", "old": False, "new": True}
    (need,) = found["needs"]
    assert (need["slot"], need["value"], need["condition"]) == ("hero.n", 3, "me.n >= 3")
    assert need["set_by"]["record"] == 1


def test_why_a_law_happened_tells_what_it_read(tw, run) -> None:
    found = tw("runs", "why", run, "hero.n", "--at", "3", "--json").json
    assert (found["value"], found["set_by"]["rule"]) == (7, "law glow")
    needs = {one["slot"]: one["set_by"]["rule"] for one in found["needs"]}
    assert needs == {"hero.hot": "action heat", "hero.n": "law glow"}
    shown = tw("runs", "why", run, "hero.at", "--at", "2").out
    assert shown == "hero.at = hall\n  as it was at the start\n"
    near = tw("runs", "why", run, "near(attic)", "--json").json
    assert near["set_by"]["rule"] == "law warmth"


def test_a_branch_goes_on_in_the_middle(tw, run) -> None:
    Path("more.txt").write_text("add 9\n", encoding="utf-8")
    ran = tw("runs", "branch", run, "1", "--script", "more.txt", "--json")
    assert (ran.code, ran.json["run"], ran.json["records"]) == (0, "w-2", 1)
    assert tw("runs", "at", "w-2", "1", "--json").json["state"]["objects"][2]["attrs"]["n"] == 12
    assert tw("runs", "replay", "w-2", "--verify").code == 0
    apart = tw("runs", "diff", run, "w-2", "--json").json
    assert apart["common_records"] == 1
    why = tw("runs", "why", "w-2", "hero.n", "--json").json
    assert why["set_by"] == {"record": 2, "rule": "action add", "old": 3, "new": 12}
    bare = tw("runs", "branch", "w-2", "1", "--json").json
    assert (bare["run"], bare["parent"]) == ("w-3", "w-2")
    assert tw("runs", "verify", "--all").code == 0
    assert tw("runs", "branch", run, "6").code == 2  # between the two records of one intent


# ---- verify -------------------------------------------------------------------------------------


def test_a_sound_store_verifies(tw, run) -> None:
    tw("run", "w.tw", "--player", "adversarial", "--ticks", "60")
    ran = tw("runs", "verify", "--all", "--json")
    assert (ran.code, [one["ok"] for one in ran.json["runs"]]) == (0, [True, True])
    # the last intent breaks off a long action: both of its records are kept
    assert "w-2 is sound: 61 records" in tw("runs", "verify", "w-2").out


def test_a_lie_that_the_chain_covers_is_found_by_the_reference(tw, run) -> None:
    """Refused by the engine, logged as executed, and hashed as if nothing were wrong."""
    Path("cold.txt").write_text("heat\nheat\nadd 1\n", encoding="utf-8")
    tw("run", "w.tw", "--script", "cold.txt")
    with RunStore.open() as store:
        run = find_run(store)
        forged = store.begin(run.header)
        for tick in ticks_of(store, run):
            outcome = dict(tick.outcome)
            if tick.seq == 2:
                del outcome["refusal"]
                outcome.update(status="executed", noop=True)
            forged.append(TickRecord(tick.intent, outcome, tick.source, tick.text))
    ran = tw("runs", "verify", "w-3")
    assert ran.code == 1
    assert "Tick 2 of run `w-3` is not what its rules make of it" in ran.err
    assert 'its `status` is logged as "executed", not "refused"' in ran.err
    assert tw("runs", "verify", "--all", "--json").json["ok"] is False


# ---- log ----------------------------------------------------------------------------------------


def test_the_log_and_its_end(tw, run) -> None:
    ran = tw("log")
    assert ran.out.splitlines()[0].startswith("    1 ✓ add 3  [executed]")
    assert ran.out.splitlines()[-1] == "w-1 has ended: done, 8 records"
    lines = tw("log", "--last", "2").out.splitlines()
    assert [line.split()[0] for line in lines] == ["7", "8", "w-1"]


def test_following_a_run_that_is_being_played(run, tmp_path) -> None:
    """Two processes: one plays, the other prints what is committed, until the run ends."""
    with RunStore.open() as store:
        base = find_run(store)
        ticks = ticks_of(store, base)
        handle = store.begin(base.header)
        command = [*TW, "log", handle.slug, "--follow"]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
        seen: list[str] = []
        reader = threading.Thread(target=lambda: seen.extend(child.stdout or ()), daemon=True)
        reader.start()
        for tick in ticks[:3]:
            handle.append(TickRecord(tick.intent, tick.outcome, tick.source, tick.text))
            deadline = time.monotonic() + 30
            while len([one for one in seen if "[" in one]) < tick.seq:
                assert time.monotonic() < deadline, seen
                time.sleep(0.05)
        assert child.poll() is None
        handle.finish("done")
        assert child.wait(30) == 0
        reader.join(10)
        assert child.stdout is not None
        child.stdout.close()
    assert [one.split()[0] for one in seen] == ["1", "2", "3", handle.slug]


def test_the_log_as_json_is_one_object_and_a_line_for_each_record_where_it_is_followed(
    tw, run, tmp_path
) -> None:
    assert [row["seq"] for row in tw("log", "--last", "3", "--json").json["ticks"]] == [6, 7, 8]
    command = [*TW, "log", "--follow", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["seq"] for row in rows] == list(range(1, 9))
    assert rows[5]["status"] == "interrupted"
