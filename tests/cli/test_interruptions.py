"""Ctrl-C, SIGTERM and kill -9 in the middle of a run leave a log that verifies."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

Tw = Any


def begin(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    """Start the program as a process of its own and wait until it has stored some records."""
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys; from tokenworld.cli import main; main()",
         *map(str, arguments)],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    store = folder / ".tw" / "runs.sqlite"
    deadline = time.monotonic() + 30
    while stored(store) < 5:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


def stored(store: Path) -> int:
    if not store.exists():
        return 0
    try:
        connection = sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)
        try:
            return int(connection.execute("SELECT count(*) FROM tick").fetchone()[0])
        finally:
            connection.close()
    except sqlite3.Error:
        return 0


def verified(tw: Tw, ended: str | None) -> None:
    """The log is a gapless prefix that replays to its own hashes."""
    (run,) = tw("runs", "--json").json["runs"]
    assert run["ended"] == ended
    assert run["records"] >= 5
    found = tw("runs", "replay", "--verify", "--json")
    assert found.code == 0, found.err
    assert found.json["records"] == run["records"]
    assert found.json["state_hash"] == run["state_hash"]


RUN = ("--player", "random", "--ticks", "1000000", "--json")


def test_ctrl_c_finishes_the_run(tw: Tw, willowbrook: Path, tmp_path: Path) -> None:
    import json

    process = begin(tmp_path, "run", willowbrook, *RUN)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert out.count("\n") == 1
    found = json.loads(out)
    assert found["reason"] == "interrupted"
    verified(tw, "interrupted")
    assert found["records"] == tw("runs", "--json").json["runs"][0]["records"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_run_verifies_up_to_its_last_record(
    tw: Tw, willowbrook: Path, tmp_path: Path, number: signal.Signals
) -> None:
    process = begin(tmp_path, "run", willowbrook, *RUN)
    process.send_signal(number)
    process.communicate(timeout=30)
    assert process.returncode == -number
    verified(tw, None)
    assert tw("run", willowbrook, "--player", "random", "--ticks", "3").code == 0


def test_a_closed_pipe_is_no_error(willowbrook: Path, tmp_path: Path) -> None:
    command = (
        f"{sys.executable} -c 'import sys; from tokenworld.cli import main; main()' "
        f"run {willowbrook} --player random --ticks 300 | head -n 2; exit ${{PIPESTATUS[0]}}"
    )
    ran = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert "Traceback" not in ran.stderr
    assert "BrokenPipe" not in ran.stderr
    assert ran.returncode == 0
    assert len(ran.stdout.splitlines()) == 2
