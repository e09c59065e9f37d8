"""Several plans at once, cheapest first: SymK on encoding E.

The plans are those of the sliced world: what cannot matter for the goal is no part of any. Each is
replayed by the interpreter, and those that differ only in what nobody chooses count once.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from tokenworld.diagnostics import Diagnostic
from tokenworld.ground import Json, Simulator, StateT
from tokenworld.planning.encodings.decode import NotAPlan
from tokenworld.planning.lower.encode import Encoding, encode
from tokenworld.planning.planners.by_name import needed
from tokenworld.planning.planners.children import limited, run_child
from tokenworld.planning.planners.doctor import SYMK
from tokenworld.planning.refereed import refereed
from tokenworld.planning.verdict import PlanStep, Verdict

__all__ = ["MOST_PLANS", "SeveralPlans", "several_plans"]

Say = Callable[[str], None]
MOST_PLANS = 1_000
_NOTHING_LEFT = (0, 11, 12)
"""Exit codes with which it has looked at all there is, or at as many plans as asked for."""


@dataclass(frozen=True, slots=True)
class SeveralPlans:
    """Plans in order of cost. ``complete``: there are no others (of the cost asked for).

    ``dropped`` plans did not survive the replay. ``reason`` is a clause where there is no plan.
    """

    plans: tuple[Verdict, ...]
    complete: bool
    dropped: int
    seconds: float
    reason: str = ""
    notes: tuple[Diagnostic, ...] = ()

    def to_json(self) -> dict[str, Json]:
        return {
            "schema_version": 1,
            "engine": "symk",
            "encoding": "E",
            "complete": self.complete,
            "dropped": self.dropped,
            "reason": self.reason or None,
            "seconds": round(self.seconds, 3),
            "plans": [
                {
                    "ticks": one.ticks,
                    "cost": one.cost,
                    "steps": [
                        {"command": step.command, "draws": [draw.to_json() for draw in step.draws]}
                        for step in one.plan
                    ],
                }
                for one in self.plans
            ],
        }


def several_plans(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    *,
    most: int,
    only_optimal: bool,
    seconds: float,
    memory: int = 4 << 30,
    say: Say = lambda line: None,
) -> SeveralPlans:
    """The ``most`` cheapest plans without loops, or only those of the least cost.

    Raises `Failure` (TW0811) where SymK is not installed.
    """
    began, program = time.monotonic(), needed(SYMK)
    say("encoding the world for a planner")
    encoding = encode(simulator.instance_at(state), simulator, state, goal)
    if not isinstance(encoding, Encoding):
        one = encoding.obstacles[0]
        reason = f"no encoding takes {one.construct}: {one.reason}"
        return SeveralPlans((), False, 0, time.monotonic() - began, reason)
    asked = min(most, MOST_PLANS)
    while True:
        say(f"running symk for {asked:,} plans")
        left = max(seconds - (time.monotonic() - began), 0.0)
        names, ended_well = _run(program, encoding.text, asked, only_optimal, left, memory)
        plans, dropped = _distinct(simulator, state, goal, encoding, names)
        complete = ended_well and len(names) < asked
        if complete or not ended_well or len(plans) >= most or asked == MOST_PLANS:
            break
        asked = min(4 * asked, MOST_PLANS)  # some differ only after the goal
    complete = complete and len(plans) <= most
    reason = "" if plans else "it found no plan" if ended_well else "its time or memory was up"
    return SeveralPlans(plans[:most], complete, dropped, time.monotonic() - began, reason)


def _distinct(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    encoding: Encoding,
    names: list[tuple[str, ...]],
) -> tuple[tuple[Verdict, ...], int]:
    """The plans that survive the replay, each once, and how many do not."""
    plans: dict[tuple[PlanStep, ...], Verdict] = {}
    dropped = 0
    for found in names:
        verdict = _judged(simulator, state, goal, encoding, found)
        if verdict is None:
            dropped += 1
        else:
            plans.setdefault(verdict.steps, verdict)
    return tuple(plans.values()), dropped


def _run(
    program: Path, text: str, most: int, only_optimal: bool, seconds: float, memory: int
) -> tuple[list[tuple[str, ...]], bool]:
    """The operators of each plan in the order found, and whether the search came to its end."""
    kind = "symq_bd(quality=1.0," if only_optimal else "symk_bd("
    search = f"{kind}simple=true,plan_selection=top_k(num_plans={most},dump_plans=false))"
    with tempfile.TemporaryDirectory(prefix="tokenworld-") as name:
        folder = Path(name)
        task = folder / "task.sas"
        task.write_text(text, encoding="utf-8")
        command = [str(program), "--search", search, "--internal-plan-file", "plan"]
        ended = run_child(limited(command, memory), folder, seconds=seconds, stdin=task)
        files = sorted(folder.glob("plan.*"), key=lambda path: int(path.suffix[1:]))
        plans = [_operators(path) for path in files]
    return plans, ended.how == "itself" and ended.code in _NOTHING_LEFT


def _operators(path: Path) -> tuple[str, ...]:
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return tuple(line.strip()[1:-1] for line in lines if line.strip().startswith("("))


def _judged(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    encoding: Encoding,
    operators: tuple[str, ...],
) -> Verdict | None:
    try:
        steps = encoding.plan(operators)
    except NotAPlan:
        return None
    found = refereed(simulator, state, steps, goal, "symk", "E", polish=False)
    return None if isinstance(found, str) else replace(found, optimal=None)
