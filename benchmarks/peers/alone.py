"""Goals that stand beside no other program: what a user waits for, in CPU seconds.

Each round is a process of its own. The figures say something about the machine they were taken on;
they are no tests.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

__all__ = ["Alone", "measured_alone"]

_CHECKING = (
    "import json; from benchmarks.checking import editing; "
    "print(json.dumps({row.name: row.value / 1e3 for row in editing()}))"
)
_EDITS = ("an action body", "a law", "a doc comment", "a scenario")


@dataclass(frozen=True, slots=True)
class Alone:
    """A goal with the seconds that it allows, and those of each round."""

    goal: str
    what: str
    wanted: float
    rounds: tuple[float, ...]

    @property
    def middle(self) -> float:
        return median(self.rounds)

    @property
    def met(self) -> bool:
        return self.middle <= self.wanted


def measured_alone(rounds: int) -> Iterator[Alone]:
    """P13 by the village of `benchmarks.growth`, P14 by the large file of `benchmarks.checking`."""
    for objects, wanted in ((100, 0.010), (88_000, 1.0)):
        command = ["-m", "benchmarks.growth", str(objects)]
        spent = tuple(float(_ran(command)["compile"]) for _ in range(rounds))
        yield Alone("P13", f"compiling and starting {objects:,} objects", wanted, spent)
    texts = [_ran(["-c", _CHECKING]) for _ in range(rounds)]
    cold = tuple(next(v for name, v in one.items() if name.startswith("check")) for one in texts)
    yield Alone("P14", "checking 10,000 lines, cold", 3.0, cold)
    for edit in _EDITS:
        spent = tuple(one[f"edit {edit}"] for one in texts)
        yield Alone("P14", f"checking again after an edit of {edit}", 0.020, spent)


def _ran(command: list[str]) -> dict[str, Any]:
    ran = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(ran.stdout)
    return found
