"""`tw explain --stages`: one rule from its text to PDDL."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_stages_are_the_same_in_each_process() -> None:
    """Sets are printed in order, whatever the hashes are."""
    world = ROOT / "domains" / "willowbrook" / "world.tw"
    command = "from tokenworld.cli import main; main()"
    told = {
        subprocess.run(
            [sys.executable, "-c", command, "explain", "--stages", str(world)],
            capture_output=True, check=True, timeout=120,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(told) == 1
    assert b"frozenset({" in told.pop()
