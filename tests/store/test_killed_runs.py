"""`kill -9` at random instants of real runs: a gapless prefix is left, and play goes on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tokenworld.session.players import random_command
from tokenworld.session.replaying import replay_run, resumed
from tokenworld.store.check import check_file, verify_chain
from tokenworld.store.log import RunStore
from tokenworld.store.read import list_runs, ticks_of

HERE = Path(__file__).parent
CELLAR = HERE.parents[1] / "domains" / "cellar" / "world.tw"
WILLOWBROOK = HERE.parents[1] / "domains" / "willowbrook" / "world.tw"


def killed(path: Path, world: Path, runs: int, seed: int) -> None:
    command = [sys.executable, str(HERE / "victims.py"), path, world, runs, seed]
    ran = subprocess.run([str(one) for one in command], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert [line.split()[1] for line in ran.stdout.splitlines()] == ["9"] * runs


def survives(path: Path) -> int:
    """Every run stands, replays and is played on; how many records there were."""
    total = 0
    with RunStore.open(path) as store:
        check_file(store)
        for run in list_runs(store):
            assert run.ending is None
            before = ticks_of(store, run)
            assert [tick.seq for tick in before] == list(range(1, len(before) + 1))
            assert verify_chain(store, run).ok
            assert replay_run(store, run, verify=False).ok
            session = resumed(store, run)
            for turn in range(3):
                command = random_command(session.engine, session.state, 99, turn)
                session.intend(command, source="random")
            session.finish("done")
            assert session.recording is not None
            again = session.recording.handle.run()
            assert ticks_of(store, again)[: len(before)] == before
            assert again.ticks >= len(before) + 3
            assert verify_chain(store, again).ok
            assert replay_run(store, again, verify=True).ok
            total += len(before)
    return total


@pytest.mark.parametrize("count", [2, pytest.param(8, marks=pytest.mark.slow)])
def test_a_few_runs_are_killed(tmp_path: Path, count: int) -> None:
    path = tmp_path / "runs.sqlite"
    killed(path, WILLOWBROOK, count, 1)
    kept = survives(path)
    assert count == 2 or kept > count  # two may both be killed before their first record


@pytest.mark.slow
def test_two_hundred_runs_are_killed(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    killed(path, WILLOWBROOK, 120, 2)
    killed(path, CELLAR, 80, 3)
    assert survives(path) > 200
