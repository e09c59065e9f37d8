"""Planning problems, and stored traces on them that were drawn once from a fixed seed."""

from __future__ import annotations

from pathlib import Path

__all__ = ["PROBLEMS", "Problem", "trace_of"]

_FOLDER = Path(__file__).parent / "traces"


class Problem(str):
    """A problem of the IPC collection, as ``family/file``; its domain is beside it."""

    __slots__ = ()

    def files(self, ipc: Path) -> dict[str, str]:
        """Its two files, as arguments for adapters."""
        path = ipc / f"{self}.pddl"
        return {"domain": str(path.parent / "domain.pddl"), "problem": str(path)}


PROBLEMS = tuple(
    map(
        Problem,
        (
            "blocks/probBLOCKS-10-0",
            "gripper/prob09",
            "logistics00/probLOGISTICS-10-0",
            "sokoban-opt08-strips/p10",
            "childsnack-opt14-strips/child-snack_pfile01",
            "logistics98/prob20",
        ),
    )
)


def trace_of(problem: Problem) -> list[str]:
    """The stored trace of a problem."""
    file = _FOLDER / f"{problem.replace('/', '-')}.txt"
    return file.read_text(encoding="utf-8").splitlines()
