"""Signals and limits of real processes: nothing is left behind, and memory is kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")

ROOT = Path(__file__).parents[2]
CELLAR = ROOT / "domains" / "cellar" / "world.tw"
GROWING = """
type Cell { n: 0 to 9 = 4 }
action give(c: Cell, d: Cell) {
  require c != d else same "That is the same one."
  require c.n > 0 else none_left "It is empty."
  require d.n < 9 else full "It is full."
  c.n -= 1
  d.n += 1
}
world w {
  object c1, c2, c3, c4, c5, c6, c7, c8: Cell
  goal empty: all(c.n == 0 for c: Cell)
}
"""
"""No state is the goal, and there are very many: what is given away is had by another."""


def begin(folder: Path, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", "from tokenworld.cli import main; main()", *map(str, arguments)],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{process}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("told", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_player_ends_with_the_command(tmp_path: Path, told: signal.Signals) -> None:
    player = tmp_path / "player.sh"
    player.write_text("sleep 600 & echo $! $$ > numbers\nwait\n", encoding="utf-8")
    command = ("run", CELLAR, "--player", "llm", "--command", f"/bin/sh {player}")
    process = begin(tmp_path, *command, "--ticks", "9")
    numbers, end = tmp_path / "numbers", time.monotonic() + 60
    while not (numbers.exists() and len(numbers.read_text().split()) == 2):
        assert time.monotonic() < end
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(told)
    _, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    assert process.returncode == (130 if told == signal.SIGINT else -told)
    for one in numbers.read_text().split():
        while is_alive(int(one)):
            assert time.monotonic() < end
            time.sleep(0.05)


def test_ctrl_c_ends_a_rollout(tmp_path: Path) -> None:
    process = begin(tmp_path, "rollout", CELLAR, "--worlds", "1000000000", "--ticks", "1000000000")
    assert process.stderr is not None
    assert "runs" in process.stderr.readline()  # the first line of progress
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err


@pytest.mark.skipif(sys.platform != "linux", reason="memory is not measured there")
@pytest.mark.parametrize("verb", [pytest.param("plan", marks=pytest.mark.slow), "audit"])
def test_memory_is_kept(tmp_path: Path, verb: str) -> None:
    """The most that the process ever held, as the system counts it.

    `getrusage` would count what the process of these tests held as well: it outlives `exec`.
    """
    (tmp_path / "growing.tw").write_text(GROWING, encoding="utf-8")
    most = 110
    measured = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from tokenworld.cli import _main\n"
        "code = _main(sys.argv[1:])\n"
        "status = Path('/proc/self/status').read_text()\n"
        "held = int(re.search(r'VmHWM:\\s+(\\d+) kB', status)[1]) >> 10\n"
        "sys.stderr.write(f'held {held}\\n')\n"
        "sys.exit(code)\n"
    )
    command = [verb, "growing.tw", "--memory-limit", str(most), "--time-limit", "300", "--json"]
    ran = subprocess.run(
        [sys.executable, "-c", measured, *command],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=500,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    found = json.loads(ran.stdout)
    assert ran.returncode == 3, ran.stderr
    assert found.get("answer", found.get("start")) in ("unknown", "undecided")
    assert "TW0813" in ran.stdout + ran.stderr or "memory" in ran.stdout
    assert int(ran.stderr.rpartition("held ")[2]) <= most


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "verb", "more"),
    [
        ("play/lighthouse.tw", "audit", ()),
        ("planning/h24.tw", "plan", ()),
        ("planning/export_slow.tw", "export", ("--pddl", "-o", "out")),
        ("planning/export_large.tw", "export", ("--pddl", "-o", "out")),
    ],
)
def test_a_command_is_done_soon_after_its_limit(
    tmp_path: Path, file: str, verb: str, more: tuple[str, ...]
) -> None:
    """Within 2 s on an idle core; what other processes take is left out of account."""
    path, limit = ROOT / "tests" / "findings" / file, 6
    before = time.monotonic()
    process = begin(tmp_path, verb, path, *more, "--time-limit", limit)
    process.communicate(timeout=120)
    assert process.returncode in (0, 3)
    assert time.monotonic() - before < 3 * (limit + 2)
    assert not (tmp_path / "out").exists()
