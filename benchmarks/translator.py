"""Fast Downward's own translator from PDDL to SAS+, run as a process."""

from __future__ import annotations

import sys
from pathlib import Path

from tokenworld.planning.planners.children import PddlTexts

__all__ = ["translate"]

_START = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
    "runpy.run_module('fast_downward.translate', run_name='__main__', alter_sys=True)"
)
"""The translator is a package beside the search program; it is run, never imported."""
_UNSOLVABLE = 10
"""The exit code for an unreachable goal; the task that it writes says so too."""


def translate(program: Path, pddl: PddlTexts, seconds: float, memory: int) -> str | None:
    """The SAS+ text of the pair; ``None`` if the translator fails or reaches a limit.

    ``program`` is Fast Downward's search program; ``memory`` is in bytes.
    """
    files = ("domain.pddl", "problem.pddl", "--sas-file", "task.sas")
    command = [sys.executable, "-c", _START, str(program.parent), *files]
    ended, task = pddl.run(command, "task.sas", seconds=seconds, memory=memory)
    return task if ended.code in (0, _UNSOLVABLE) else None
