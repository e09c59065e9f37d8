"""A child, and what it started, ends with the process that began it, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tokenworld.planning.planners.children import Child, answer_of, run_child

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups")

FAMILY = "sleep 600 & echo $! > grandchild; echo $$ > child; exec sleep 600"
"""A child that tells its number and that of what it started."""

PARENT = """
import os, sys, time
from pathlib import Path
from tokenworld.planning.planners.children import Child
child = Child(["/bin/sh", "-c", sys.argv[1]], folder=Path(sys.argv[2]))
time.sleep(600)
"""


def until(fact: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not fact():
        assert time.monotonic() < end
        time.sleep(0.02)


def number(file: Path) -> int:
    until(lambda: file.exists() and file.read_text().strip() != "")
    return int(file.read_text())


def gone(process: int) -> bool:
    """Whether it has ended; one that nobody waits for has."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        return False
    return state == "Z"


def family(folder: Path) -> tuple[int, int]:
    return number(folder / "child"), number(folder / "grandchild")


@pytest.mark.parametrize("told", [signal.SIGKILL, signal.SIGTERM])
def test_the_family_ends_with_us(tmp_path: Path, told: signal.Signals) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, FAMILY, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    started = family(tmp_path)
    parent.send_signal(told)
    parent.wait(60)
    for one in started:
        until(lambda one=one: gone(one))  # type: ignore[misc]


def test_the_family_ends_when_the_child_is_killed(tmp_path: Path) -> None:
    child = Child(["/bin/sh", "-c", FAMILY], folder=tmp_path)
    started = family(tmp_path)
    child.kill()
    for one in started:
        until(lambda one=one: gone(one))  # type: ignore[misc]


def test_what_a_child_leaves_behind_ends(tmp_path: Path) -> None:
    """The child has ended; what it started has not."""
    script = "sleep 600 & echo $! > grandchild"
    assert run_child(["/bin/sh", "-c", script], tmp_path, seconds=60).how == "itself"
    left = number(tmp_path / "grandchild")
    until(lambda: gone(left))


def test_memory_of_a_child_is_bounded(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print(len(bytearray(1 << 30)))"]
    assert run_child(command, tmp_path, seconds=60).output.strip() == str(1 << 30)
    ended = run_child(command, tmp_path, seconds=60, memory=500 << 20)
    assert ended.code != 0
    assert "MemoryError" in ended.output


def test_answers_of_small_programs() -> None:
    found = answer_of("cat", seconds=60, given="told\n")
    assert found is not None
    assert (found.code, found.output) == (0, "told\n")
    assert answer_of("sleep", "600", seconds=0.1) is None
    assert answer_of("no-such-program-at-all", seconds=1) is None
