"""Bad stores and bad luck, from the command line: a clear message, and nothing is lost."""

from __future__ import annotations

import hashlib
import os
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tokenworld.store.database import SCHEMA_VERSION
from tokenworld.store.log import RunStore
from tokenworld.store.read import find_run, list_runs

TW = [sys.executable, "-c", "from tokenworld.cli import main; main()"]
READERS = (
    ("runs",),
    ("runs", "show"),
    ("runs", "verify"),
    ("runs", "replay"),
    ("runs", "at", "small-1", "1"),
    ("runs", "diff", "small-1", "small-1@2"),
    ("runs", "why", "small-1", "hero.n"),
    ("runs", "export", "-o", "out.jsonl"),
    ("quality", "--gate"),
    ("report", "--time-limit", "0"),
    ("log",),
)
WRITERS = (
    ("runs", "branch", "small-1", "1"),
    ("runs", "resume", "small-1", "--script", "s.txt"),
    ("quality", "--reference"),
    ("runs", "import", "run.jsonl"),
)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture
def store(tw, world) -> Path:
    """A closed store with one run of 24 records, and an export of it."""
    lines = ["add 1", *["go to attic", "go to hall"] * 11, "go to attic"]
    Path("s.txt").write_text("\n".join(lines), encoding="utf-8")
    assert tw("run", world, "--script", "s.txt", "--store", "s.sqlite").code == 0
    assert tw("runs", "export", "-o", "run.jsonl", "--store", "s.sqlite").code == 0
    return Path("s.sqlite")


@pytest.mark.parametrize("verb", READERS + WRITERS)
def test_a_store_of_a_newer_schema_is_left_alone(tw, store, verb: tuple[str, ...]) -> None:
    newer = sqlite3.connect(store)
    newer.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    newer.close()
    before = digest(store)
    ran = tw(*verb, "--store", store)
    assert ran.code == 2
    assert ran.err.count("error[") == 1
    assert f"has schema {SCHEMA_VERSION + 1}; this version knows up to {SCHEMA_VERSION}" in ran.err
    assert digest(store) == before


@pytest.mark.parametrize("verb", READERS + WRITERS)
def test_a_store_with_a_corrupt_page_is_left_alone(tw, store, verb: tuple[str, ...]) -> None:
    size = store.stat().st_size
    with store.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    before = digest(store)
    ran = tw(*verb, "--store", store)
    assert ran.code == 2, ran.out
    assert ran.err.count("error[") == 1
    assert "TW1101" in ran.err
    assert digest(store) == before


@pytest.mark.parametrize("verb", READERS)
def test_a_read_only_store_in_a_read_only_folder_is_read(
    tw, store, tmp_path: Path, verb: tuple[str, ...]
) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    kept = folder / "s.sqlite"
    kept.write_bytes(store.read_bytes())
    kept.chmod(0o444)
    folder.chmod(0o555)
    try:
        before = digest(kept)
        ran = tw(*verb, "--store", kept)
        assert ran.code == 0, ran.err
        assert digest(kept) == before
        if os.geteuid():  # root may write everywhere, and SQLite then does
            assert [one.name for one in folder.iterdir()] == ["s.sqlite"]
    finally:
        folder.chmod(0o755)


@pytest.mark.parametrize("verb", [*WRITERS, ("run", "small.tw", "--script", "s.txt")])
@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_store_is_not_written(tw, store, verb: tuple[str, ...]) -> None:
    store.chmod(0o444)
    before = digest(store)
    ran = tw(*verb, "--store", store)
    assert (ran.code, "TW1102" in ran.err) == (2, True)
    assert digest(store) == before


def limited(command: list[str], blocks: int, folder: Path) -> subprocess.CompletedProcess[str]:
    """A command whose files may not grow beyond so many blocks of 512 bytes: a full disk."""
    script = f"ulimit -f {blocks}; exec {shlex.join(command)}"
    return subprocess.run(
        ["/bin/sh", "-c", script], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(os.name != "posix", reason="limits of files are set by the shell")
@pytest.mark.parametrize("blocks", [300, 700, 1500])
def test_a_full_disk_stops_the_run_and_loses_nothing(
    tw, world, tmp_path: Path, willowbrook, blocks: int
) -> None:
    play = [*TW, "run", str(willowbrook), "--player", "random", "--ticks", "900", "--json"]
    ran = limited([*play, "--store", "s.sqlite"], blocks, tmp_path)
    assert ran.returncode == 2, ran.stderr
    assert ran.stderr.count("error[TW1102]") == 1
    assert "Traceback" not in ran.stderr
    with RunStore.open("s.sqlite") as opened:
        (run,) = list_runs(opened) or (None,)
        stored = 0 if run is None else run.ticks
    assert 0 <= stored < 900
    if run is not None:
        assert tw("runs", "verify", "--store", "s.sqlite").code == 0
        played = tw("runs", "resume", "--player", "random", "--ticks", "5", "--store", "s.sqlite",
                    "--json")  # fmt: skip
        assert played.json["records"] == stored + 5
        assert tw("runs", "replay", "--verify", "--store", "s.sqlite").code == 0


@pytest.mark.skipif(os.name != "posix", reason="limits of files are set by the shell")
def test_a_full_disk_harms_no_earlier_run(tw, store, tmp_path: Path, world) -> None:
    with RunStore.open(store, writable=False) as opened:
        before = find_run(opened, "small-1")
    size = store.stat().st_size // 512 + 8
    play = [*TW, "run", str(world), "--player", "random", "--ticks", "5000", "--store", str(store)]
    ran = limited(play, size, tmp_path)
    assert (ran.returncode, ran.stderr.count("error[TW1102]")) == (2, 1)
    with RunStore.open(store, writable=False) as opened:
        assert find_run(opened, "small-1") == before
    assert tw("runs", "verify", "--all", "--store", store).code == 0


def test_a_world_that_changed_since_is_told_and_the_run_is_judged_by_its_own_rules(
    tw, store, world
) -> None:
    before = tw("quality", "--store", store)
    text = world.read_text(encoding="utf-8")
    world.write_text(text.replace("me.n += k", "me.n += k  me.n += k"), encoding="utf-8")
    assert tw("quality", "--store", store) == before
    assert tw("runs", "verify", "--store", store).code == 0
    assert "hero.n = 1" in tw("runs", "at", "small-1", "1", "--store", store).out
    world.unlink()
    assert tw("quality", "--store", store) == before


def test_a_torn_export_is_taken_up_to_its_last_whole_line(tw, store) -> None:
    text = Path("run.jsonl").read_text(encoding="utf-8")
    Path("run.jsonl").write_text(text[: len(text) * 2 // 3], encoding="utf-8")
    ran = tw("runs", "import", "run.jsonl", "--store", "other.sqlite")
    assert (ran.code, "TW1106" in ran.err) == (0, True)
    assert tw("runs", "verify", "--store", "other.sqlite").code == 0
    assert tw("quality", "--window", "10", "--gate", "--store", "other.sqlite").code in (0, 1)


def test_two_players_write_to_one_store_at_once(tw, world, tmp_path: Path) -> None:
    play = [*TW, "run", str(world), "--player", "random", "--ticks", "200", "--store", "s.sqlite"]
    both = [
        subprocess.Popen([*play, "--seed", seed], cwd=tmp_path, stdout=subprocess.DEVNULL)
        for seed in ("1", "2")
    ]
    assert [one.wait(120) for one in both] == [0, 0]
    ran = tw("runs", "verify", "--all", "--store", "s.sqlite", "--json")
    assert (ran.code, len(ran.json["runs"])) == (0, 2)


def test_a_run_that_is_finished_is_not_resumed(tw, store) -> None:
    ran = tw("runs", "resume", "small-1", "--script", "s.txt", "--store", store)
    assert (ran.code, "is finished" in ran.err) == (2, True)


def test_a_run_killed_between_the_two_records_of_an_intent_is_resumed(tw) -> None:
    Path("w.tw").write_text(
        "type T { n: 0 to 9 = 0 }\nactor me: T\n"
        'action dig() as "dig" takes 3 { me.n += 1  cancelled { me.n += 2 } }\n'
        'action wait() as "wait" { }\nworld w "W" { object x: T }\n',
        encoding="utf-8",
    )
    Path("s.txt").write_text("dig\nwait\nwait\n", encoding="utf-8")
    assert tw("run", "w.tw", "--script", "s.txt").code == 0
    with RunStore.open() as opened:
        from tokenworld.store.read import ticks_of
        from tokenworld.store.records import TickRecord

        run = find_run(opened)
        cut = opened.begin(run.header)
        whole = ticks_of(opened, run)
        assert [tick.status for tick in whole] == ["waiting", "interrupted", "executed", "executed"]
        for tick in whole[:2]:
            cut.append(TickRecord(tick.intent, tick.outcome, tick.source, tick.text))
    Path("more.txt").write_text("wait\n", encoding="utf-8")
    ran = tw("runs", "resume", "w-2", "--script", "more.txt", "--json")
    assert (ran.code, ran.json["records"]) == (0, 4)
    with RunStore.open(writable=False) as opened:
        again = ticks_of(opened, find_run(opened, "w-2"))
        assert [tick.chain for tick in again] == [tick.chain for tick in whole]
