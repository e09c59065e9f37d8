"""V9: `tw conform`, beside unpacking and parsing the same rows."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

from benchmarks.peers.environments import PROJECT
from benchmarks.speed.figures import Figure, Sample, at_most
from benchmarks.speed.options import Options

__all__ = ["figures"]

_CONFORM = "from tokenworld.cli import main; main()"
_PARSE = """
import gzip, json, sys
rows = [json.loads(line) for name in sys.argv[1:] for line in gzip.open(name)]
print(json.dumps({"games": [{"rows": len(rows)}], "ok": True}))
"""


def figures(options: Options) -> Iterator[Figure]:
    """All rows of all games at once; each side is a process, including its start."""
    beside, goal = "unpacking and `json.loads` of the same rows", at_most(3)
    rows = [str(one) for one in sorted(options.rows.glob("*.jsonl.gz"))] if options.rows else []
    if not rows:
        missing = "no recorded rows: name their folder with `--bytesized32 DIR`"
        yield Figure("V9", "`tw conform`", beside, goal, missing=missing)
        return
    world = str(PROJECT / "domains" / "textgames")
    ours, theirs, failed = list[float](), list[float](), ""
    for _ in range(options.rounds):
        own, first = _spent(["-c", _CONFORM, "conform", world, *rows, "--json"])
        other, second = _spent(["-c", _PARSE, *rows])
        if first != second:
            failed = f"rows answered rightly: {first}; rows read: {second}"
        ours.append(own)
        theirs.append(other)
    sample = Sample(f"{len(rows)} files", "in all", tuple(ours), tuple(theirs), failed)
    yield Figure("V9", "`tw conform`", beside, goal, (sample,))


def _spent(command: Sequence[str]) -> tuple[float, int]:
    """The CPU seconds of a process, and the number of its rows; 0 if an answer is wrong."""
    before = getrusage(RUSAGE_CHILDREN)
    ran = subprocess.run(
        [sys.executable, *command], cwd=Path(PROJECT), capture_output=True, text=True, check=False
    )
    after = getrusage(RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    told: dict[str, Any] = json.loads(ran.stdout) if ran.stdout else {"ok": False}
    return spent, sum(one["rows"] for one in told["games"]) if told["ok"] else 0
