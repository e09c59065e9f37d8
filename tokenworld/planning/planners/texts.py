"""The two texts that a planner of PDDL reads, and running one on them in a folder of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from tokenworld.planning.planners.children import Ended, run_child

__all__ = ["PddlTexts"]


@dataclass(frozen=True)
class PddlTexts:
    """A domain and a problem as a planner gets them: ``domain.pddl`` and ``problem.pddl``."""

    domain: str
    problem: str

    @property
    def digest(self) -> str:
        """SHA-256 of both texts, in hexadecimal."""
        return sha256(f"{self.domain}\n{self.problem}".encode()).hexdigest()

    def run(
        self,
        command: Sequence[str],
        written: str,
        *,
        seconds: float,
        cancel: Callable[[], bool] = lambda: False,
    ) -> tuple[Ended, str | None]:
        """How a command ended beside the two files, and its file ``written``.

        ``None`` where it was stopped or wrote no such file. Raises `OSError` where it cannot be
        started.
        """
        with tempfile.TemporaryDirectory(prefix="tokenworld-") as name:
            folder = Path(name)
            (folder / "domain.pddl").write_text(self.domain, encoding="utf-8")
            (folder / "problem.pddl").write_text(self.problem, encoding="utf-8")
            ended = run_child(command, folder, seconds=seconds, cancel=cancel)
            file = folder / written
            if ended.how != "itself" or not file.is_file():
                return ended, None
            return ended, file.read_text(encoding="utf-8", errors="replace")
