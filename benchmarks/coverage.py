"""Compare `tw plan DOMAIN PROBLEM` with other planners on the planning problems of a folder.

    python -m benchmarks --coverage --ipc DIR [FAMILY …] [--seconds N]

Every planner gets the same two files and `--seconds` of CPU time (30 suffices for a first look),
with all its child processes, one planner after the other. The bar of `tw plan`, where it and
lama-first both find a plan: at most twice the CPU time of lama-first, and 0.7 s. If `Validate` of
VAL is on the path, it judges every plan of `tw plan` on the original files.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from benchmarks.measure import WrongResultError
from benchmarks.peers.environments import PROJECT
from tokenworld.planning.planners.doctor import driver
from tokenworld.planning.planners.downward import find_downward
from tokenworld.verbs.bench.golds import pairs

__all__ = ["Run", "compared", "report"]

OWN, RIVAL = "tw plan", "lama-first"
_START = "from tokenworld.cli import main; raise SystemExit(main())"
_FACTOR, _MORE = 2.0, 0.7
"""The bar: so many times the CPU time of lama-first, and so many seconds."""
_PATIENCE = 8.0
"""Wall-clock seconds for each CPU second, for a machine that has other work."""
_UNREAD = "Problem in domain definition"
_FILES, _PLAN = ("domain.pddl", "problem.pddl"), "plan"


@dataclass(frozen=True, slots=True)
class Run:
    """The result of a planner on a problem. ``by`` is the rung of the ladder that found the plan;
    ``valid`` is the judgement of VAL, ``None`` if there is none."""

    solved: bool
    cpu: float
    by: str = ""
    valid: bool | None = None


def report(folder: Path, families: Sequence[str], seconds: float) -> Iterator[str]:
    """The table, family by family. Raises `WrongResultError` if a plan is not valid."""
    planners = _planners(seconds)
    yield f"{'family':<34} {'of':>3}" + "".join(f" {name:>18}" for name in planners)
    every: list[dict[str, Run]] = []
    for family in sorted(one for one in folder.iterdir() if one.is_dir()):
        if families and family.name not in families:
            continue
        found = [
            {name: _run(command, domain, problem, seconds) for name, command in planners.items()}
            for domain, problems in pairs(family)
            for problem in problems
        ]
        every += found
        yield _row(family.name, found, planners)
    yield _row("all", every, planners)
    yield from compared(every)
    if wrong := sum(one[OWN].valid is False for one in every):
        raise WrongResultError(f"VAL refuses {wrong} plans of `{OWN}`")


def compared(found: Sequence[dict[str, Run]]) -> Iterator[str]:
    """The bar, the shares of the rungs, and what VAL says."""
    both = [(one[OWN].cpu, one[RIVAL].cpu) for one in found
            if RIVAL in one and one[OWN].solved and one[RIVAL].solved]  # fmt: skip
    within = sum(ours <= _FACTOR * theirs + _MORE for ours, theirs in both)
    if both:
        bar = f"{_FACTOR:g} x {RIVAL} + {_MORE:g} s"
        yield f"at most {bar}: {within} of {len(both)} that both solve"
    shares = Counter(one[OWN].by for one in found if one[OWN].solved)
    yield "found by " + ", ".join(f"{by} {count}" for by, count in shares.most_common())
    judged = [one[OWN].valid for one in found if one[OWN].valid is not None]
    yield f"VAL accepts {sum(judged)} of {len(judged)} plans" if judged else "VAL is not installed"


def _row(name: str, found: Sequence[dict[str, Run]], planners: Iterable[str]) -> str:
    """How many problems each planner solves, and the CPU seconds for those."""
    cells = [f"{name:<34} {len(found):>3}"]
    for planner in planners:
        solved = [one[planner].cpu for one in found if one[planner].solved]
        cells.append(f" {len(solved):>8} {sum(solved):>8.1f}s")
    return "".join(cells)


# ---- the planners -------------------------------------------------------------------------------


def _planners(seconds: float) -> dict[str, list[str]]:
    """The command of each installed planner."""
    wall = str(int(_PATIENCE * seconds))
    own = [sys.executable, "-c", _START, "plan", *_FILES, "--json", "--plan-file", _PLAN]
    found = {OWN: [*own, "--time-limit", wall]}
    program = find_downward()
    command = driver(program) if isinstance(program, Path) else None
    if command is not None:
        given = [*command, "--overall-time-limit", f"{int(seconds)}s", "--plan-file", _PLAN]
        found[RIVAL] = [*given, "--alias", RIVAL, *_FILES]
        found["blind"] = [*given, *_FILES, "--search", "astar(blind())"]
        found["lmcut"] = [*given, "--alias", "seq-opt-lmcut", *_FILES]
    if find_spec("pyperplan") is not None:
        found["pyperplan"] = [sys.executable, "-m", "pyperplan", "-H", "hff", "-s", "gbf", *_FILES]
    return found


def _run(command: Sequence[str], domain: Path, problem: Path, seconds: float) -> Run:
    """Run a planner on copies of the files, which pyperplan writes its plan beside."""
    with tempfile.TemporaryDirectory(prefix="tokenworld-") as name:
        folder = Path(name)
        for given, copy in zip((domain, problem), _FILES, strict=True):
            shutil.copyfile(given, folder / copy)
        cpu, said = _spent(command, folder, seconds)
        plans = folder / _PLAN, folder / f"{_FILES[1]}.soln"
        solved = cpu <= seconds and any(one.exists() for one in plans)
        if "--json" not in command:
            return Run(solved, cpu)
        by = json.loads(said)["engine"] if solved else ""
        return Run(solved, cpu, by, _judged(folder) if solved else None)


def _spent(command: Sequence[str], folder: Path, seconds: float) -> tuple[float, str]:
    """The CPU seconds of a command with its children, which have ``seconds`` each at most, and its
    output."""
    limited = ["/bin/sh", "-c", f'ulimit -t {int(seconds) + 5}; exec "$@"', "sh", *command]
    variables = {**os.environ, "PYTHONPATH": str(PROJECT)}
    before = os.times()
    with subprocess.Popen(
        limited, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        text=True, start_new_session=True,
    ) as process:  # fmt: skip
        try:
            said, _ = process.communicate(timeout=2 * _PATIENCE * seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said, _ = process.communicate()
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4]), said


def _judged(folder: Path) -> bool | None:
    """Whether VAL accepts the plan; ``None`` if it is not installed or does not read the domain."""
    val = shutil.which("Validate")
    if val is None:
        return None
    done = subprocess.run(
        [val, *_FILES, _PLAN], cwd=folder, capture_output=True, text=True, check=False
    )
    return None if _UNREAD in done.stdout + done.stderr else "Plan valid" in done.stdout
