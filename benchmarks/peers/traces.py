"""Traces: what both sides play, drawn from a fixed seed once and kept as the names of actions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

__all__ = ["PROBLEMS", "Problem", "toy_actions", "trace_of"]

_FOLDER = Path(__file__).parent / "traces"
_SEED = 7
_STEPS = 60


class Problem(str):
    """A problem of the IPC collection, as ``family/file``; its domain lies beside it."""

    __slots__ = ()

    def files(self, ipc: Path) -> tuple[Path, Path]:
        path = ipc / f"{self}.pddl"
        return path.parent / "domain.pddl", path


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


def trace_of(problem: Problem, ipc: Path) -> list[str]:
    """The kept trace of a problem; drawn by our engine and written where there is none."""
    file = _FOLDER / f"{problem.replace('/', '-')}.txt"
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        file.write_text("".join(f"{line}\n" for line in _drawn(problem, ipc)), encoding="utf-8")
    return file.read_text(encoding="utf-8").split("\n")[:-1]


def _drawn(problem: Problem, ipc: Path) -> list[str]:
    from tokenworld.engine import SeededLuck
    from tokenworld.session.importing import load_pddl
    from tokenworld.session.loading import compile_world

    domain, task = problem.files(ipc)
    program = load_pddl(domain, (task,)).program
    world = next(iter(program.worlds.values()))
    engine = compile_world(program, replace(world, outcomes="live"))
    state, random, found = engine.start(), Random(_SEED), []
    while len(found) < _STEPS:
        legal = list(engine.legal(state))
        if not legal:
            break
        command = random.choice(legal)
        state = engine.stepper.tick(state, command, SeededLuck())[-1].after
        args = (state.names[one] for one in command.args if isinstance(one, int))
        found.append(" ".join((command.action, *args)).lower())
    return found


def toy_actions(number: int, count: int = 300) -> list[int]:
    """Random actions of an environment that numbers them."""
    random = Random(_SEED)
    return [random.randrange(number) for _ in range(count)]
