"""A process of its own for an engine of unified-planning: ``python -m …up_child NAME``.

Reads ``domain.pddl`` and ``problem.pddl`` in the working folder and writes ``plan``, one
``(action object …)`` per line, if the engine finds one. unified-planning takes seconds to import
and its engines cannot be stopped from within, so they run here.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def main(name: str) -> int:
    """0 with a plan, 1 without one, 2 where there is no such engine."""
    from unified_planning.exceptions import UPException
    from unified_planning.io import PDDLReader
    from unified_planning.shortcuts import OneshotPlanner, get_environment

    get_environment().credits_stream = None
    problem = PDDLReader().parse_problem("domain.pddl", "problem.pddl")
    try:
        with OneshotPlanner(name=name) as planner:
            planner.skip_checks = True
            result = planner.solve(problem)
    except UPException as error:
        said = " ".join(str(error).split())[:200]
        sys.stdout.write(f"{said or f'there is no engine {name}'}\n")
        return 2
    if result.plan is None:
        sys.stdout.write(f"{name} says {result.status.name}\n")
        return 1
    Path("plan").write_text(_text(result.plan), encoding="utf-8")
    return 0


def _text(plan: Any) -> str:
    steps = (
        " ".join((step.action.name, *(str(one) for one in step.actual_parameters)))
        for step in plan.actions
    )
    return "".join(f"({step})\n" for step in steps)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
