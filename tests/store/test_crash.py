"""Processes that are killed, and processes that write side by side."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import tokenworld
from tokenworld.store.check import check_file, verify_chain
from tokenworld.store.log import RunHandle, RunStore
from tokenworld.store.read import find_run, list_runs
from tokenworld.store.records import RunHeader, Tick, TickRecord

APPENDER = Path(__file__).with_name("appender.py")


def start(path: Path, world: str, count: int) -> subprocess.Popen[str]:
    root = str(Path(tokenworld.__file__).parent.parent)
    return subprocess.Popen(
        [sys.executable, str(APPENDER), str(path), world, str(count)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
    )


@pytest.mark.parametrize("seen", [1, 40, 173])
def test_after_kill_the_store_is_a_gapless_prefix(path: Path, seen: int) -> None:
    with start(path, "cellar", 10**9) as child:
        assert child.stdout is not None
        shown = 0
        while shown < seen:
            shown = int(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
        rest = child.stdout.read().split()
        shown = max([shown, *map(int, rest[:-1])])  # the very last line may be torn
    with RunStore.open(path) as store:
        check_file(store)
        run = find_run(store)
        verification = verify_chain(store, run)
        assert verification.ok
        assert verification.ticks == run.ticks >= shown
        assert run.ending is None
        assert store.resume().run().state_hash == f"s{run.ticks}"


def test_ctrl_c_leaves_a_consistent_log(path: Path) -> None:
    with start(path, "cellar", 10**9) as child:
        assert child.stdout is not None
        for _ in range(20):
            child.stdout.readline()
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=120)
    with RunStore.open(path) as store:
        assert verify_chain(store, find_run(store)).ok


def test_two_processes_write_two_runs_at_once(path: Path) -> None:
    """Even the file itself is made by both at the same moment."""
    children = [start(path, world, 150) for world in ("cellar", "kitchen", "cellar")]
    for child in children:
        _, errors = child.communicate(timeout=120)
        assert (child.returncode, errors) == (0, "")
    with RunStore.open(path) as store:
        runs = list_runs(store)
        assert sorted(run.slug for run in runs) == ["cellar-1", "cellar-2", "kitchen-1"]
        for run in runs:
            assert run.ending is not None
            assert (run.ticks, verify_chain(store, run).ok) == (150, True)


def test_an_interrupted_append_stores_nothing(
    run: RunHandle, make_record: Callable[..., TickRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("tokenworld.store.log.insert_snapshot", stopped)
        with pytest.raises(KeyboardInterrupt):
            run.append(make_record(1), snapshot={"tick": 1})
    assert run.run().ticks == 0
    assert run.append(make_record(1)).seq == 1


def test_a_writer_waits_for_another(
    path: Path,
    run: RunHandle,
    make_header: Callable[..., RunHeader],
    play: Callable[[RunHandle, int], list[Tick]],
) -> None:
    """A lock that is given back in time is not an error."""
    run.store.connection.execute("BEGIN IMMEDIATE")
    slugs: list[str] = []

    def write() -> None:
        with RunStore.open(path, busy_seconds=20) as other:
            handle = other.begin(make_header())
            play(handle, 2)
            slugs.append(handle.slug)

    writer = threading.Thread(target=write)
    writer.start()
    writer.join(0.3)
    assert slugs == []
    run.store.connection.execute("ROLLBACK")
    writer.join(20)
    assert slugs == ["cellar-2"]
