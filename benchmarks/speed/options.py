"""Options of a measurement: rounds, time limits, and data that is not part of the project."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = ["BASE", "BUDGET", "NO_IPC", "SHARED", "Options"]

BASE = "fb92378"
"""The default commit that V1 to V3 compare with."""
BUDGET = 0.2
"""CPU seconds of one measurement of one side, if it can be repeated."""
NO_IPC = "no planning problems: name their folder with `--ipc DIR`"
SHARED = Path(__file__).parents[3] / "shared"
"""A folder beside the checkout with data that is not part of the project; it may be missing."""


@dataclass(frozen=True, slots=True)
class Options:
    """``seconds`` is the limit for one answer, in CPU seconds; ``base`` the earlier commit.

    ``ipc`` is a folder of planning problems, one folder per family; ``rows`` a folder of recorded
    rows of the text games, ``GAME.jsonl.gz``; ``crafter`` a folder with `crafter.tw` and `gen.py`.
    """

    rounds: int = 3
    seconds: float = 60.0
    base: str = BASE
    ipc: Path | None = None
    rows: Path | None = None
    crafter: Path = SHARED / "design" / "prototypes" / "crafter"
