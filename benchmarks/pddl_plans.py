"""Check that plans for an export of `tw export --pddl` are plans for the original, and vice versa.

    python -m benchmarks.pddl_plans FOLDER [FOLDER …] [--seconds N] [--verbose]

Every problem is imported and exported with its domain. Fast Downward solves the original and the
export, `--seconds` for each (20), and each of the two plans must be valid for both: replayed by the
interpreter on an import of either text, and checked by unified-planning's validator if its reader
accepts the text. That reader must accept every export whose original it accepts. A plan without its
last step must be refused, to test the judges.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.second_opinion import missing_extra
from benchmarks.translator import translate
from tokenworld.diagnostics import Failure
from tokenworld.engine import EngineSimulator
from tokenworld.planning.planners.children import PddlTexts
from tokenworld.planning.planners.downward import FF, find_downward, run_searches
from tokenworld.planning.referee import replay
from tokenworld.planning.verdict import PlanStep
from tokenworld.session.pddl import export, open_pddl
from tokenworld.verbs.bench.golds import pairs

__all__ = ["Judge", "Report", "cross", "faults_of", "plan_of"]

_MEMORY = 4 << 30


@dataclass(frozen=True, slots=True)
class Report:
    """The result of one problem.

    ``original`` and ``exported`` are the lengths of the plans; ``None``: none was found in time.
    ``reread``: whether unified-planning reads the original, and the export. ``faults`` is empty if
    everything agrees.
    """

    name: str
    original: int | None
    exported: int | None
    reread: tuple[bool, bool]
    faults: tuple[str, ...]

    @property
    def planned(self) -> bool:
        return self.original is not None and self.exported is not None


class Judge:
    """Two judges of the plans of one pair: the interpreter and unified-planning."""

    def __init__(self, texts: PddlTexts) -> None:
        with tempfile.TemporaryDirectory(prefix="tokenworld-") as name:
            files = Path(name) / "domain.pddl", Path(name) / "problem.pddl"
            for file, text in zip(files, (texts.domain, texts.problem), strict=True):
                file.write_text(text, encoding="utf-8")
            self.world = open_pddl(*files)
        self.pair = export(self.world, None)
        self._task = _unified(texts)

    @property
    def exported(self) -> PddlTexts:
        return PddlTexts(self.pair.domain, self.pair.problem)

    @property
    def read_by_unified(self) -> bool:
        return self._task is not None

    def replayed(self, plan: Sequence[str]) -> bool:
        """Whether a plan reaches the goal in the interpreter, and not before its end."""
        start = self.world.engine.start()
        steps = [
            PlanStep(one.command, one.draws)
            for one in self.pair.steps("\n".join(f"({step})" for step in plan))
        ]
        return replay(EngineSimulator(self.world.engine, start), start, steps, None).ok

    def validated(self, plan: Sequence[str]) -> bool | None:
        """Whether unified-planning accepts a plan; ``None`` if it cannot decide."""
        return None if self._task is None else _accepted(self._task, plan)


# ---- unified-planning ---------------------------------------------------------------------------


def _unified(texts: PddlTexts) -> Any:
    """The pair as unified-planning reads it; ``None`` if it does not, or is not installed."""
    if missing_extra() is not None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        from unified_planning.io import PDDLReader
        from unified_planning.shortcuts import get_environment

        get_environment().credits_stream = None
        try:
            return PDDLReader().parse_problem_string(texts.domain, texts.problem)
        except Exception:  # it raises whatever its parser and its model raise
            return None


def _accepted(task: Any, plan: Sequence[str]) -> bool | None:
    """The result of its validator; ``None`` if it fails, as on a cost without a start value."""
    from unified_planning.exceptions import UPException
    from unified_planning.plans import ActionInstance, SequentialPlan
    from unified_planning.shortcuts import PlanValidator

    actions = {one.name.lower(): one for one in task.actions}
    objects = {one.name.lower(): one for one in task.all_objects}
    steps = [step.lower().split() for step in plan]
    instances = [ActionInstance(actions[one[0]], [objects[arg] for arg in one[1:]])
                 for one in steps]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with PlanValidator(name="sequential_plan_validator") as validator:
            try:
                return bool(validator.validate(task, SequentialPlan(instances)))
            except UPException:
                return None


# ---- both ways ----------------------------------------------------------------------------------


def plan_of(program: Path, texts: PddlTexts, seconds: float) -> tuple[str, ...] | None:
    """Fast Downward's plan with its own translator; ``None`` if none is found in time."""
    text = translate(program, texts, seconds, _MEMORY)
    if text is None:
        return None
    (answer,) = run_searches(program, text, (FF,), seconds=seconds, memory=_MEMORY)
    return answer.operators if answer.result == "plan" else None


def cross(program: Path, name: str, original: PddlTexts, seconds: float) -> Report:
    """Export a pair, plan both texts, and judge both plans on both."""
    first = Judge(original)
    second = Judge(first.exported)
    plans = {
        "original": plan_of(program, original, seconds),
        "export": plan_of(program, first.exported, seconds),
    }
    faults: list[str] = []
    for whose, plan in plans.items():
        if plan is not None:
            faults += (f"{whose}'s plan: {one}" for one in faults_of(first, second, plan))
    reread = (first.read_by_unified, second.read_by_unified)
    if reread == (True, False):
        faults.append("unified-planning reads the original and not the export")
    lengths = [None if plan is None else len(plan) for plan in plans.values()]
    return Report(name, lengths[0], lengths[1], reread, tuple(faults))


def faults_of(original: Judge, exported: Judge, plan: Sequence[str]) -> Iterator[str]:
    """The faults of a plan on one of two pairs, or of a judge; empty if there are none."""
    for where, judge in (("original", original), ("export", exported)):
        if not judge.replayed(plan):
            yield f"the interpreter refuses it for the {where}"
        if plan and judge.replayed(plan[:-1]):
            yield f"the interpreter accepts it without its end for the {where}"
    opinions = original.validated(plan), exported.validated(plan)
    if False in opinions:
        yield "unified-planning refuses it"
    elif opinions == (True, None):
        yield "unified-planning can judge it on the original only"


def _shown(report: Report) -> str:
    lengths = (report.original, report.exported)
    steps = "/".join("–" if one is None else str(one) for one in lengths)
    read = "/".join("yes" if one else "no" for one in report.reread)
    return f"{report.name:<48} {steps:>10} {read:>8}  {'; '.join(report.faults) or 'ok'}"


def main(arguments: list[str]) -> int:
    verbose = "--verbose" in arguments
    seconds = float(arguments[arguments.index("--seconds") + 1]) if "--seconds" in arguments else 20
    folders = [Path(one) for one in arguments if Path(one).is_dir()]
    program = find_downward()
    if not folders or not isinstance(program, Path):
        sys.stderr.write(f"{__doc__ if isinstance(program, Path) else program.message}\n")
        return 2
    reports: list[Report] = []
    for domain, problems in (pair for folder in folders for pair in pairs(folder)):
        for problem in problems:
            name = f"{problem.parent.name}/{problem.name}"
            texts = PddlTexts(*(one.read_text(encoding="utf-8") for one in (domain, problem)))
            try:
                reports.append(cross(program, name, texts, seconds))
            except Failure as failure:
                why = failure.diagnostics[0].message
                reports.append(Report(name, None, None, (False, False), (why,)))
            if verbose or reports[-1].faults:
                print(_shown(reports[-1]), flush=True)
    print(f"{sum(one.planned for one in reports)} of {len(reports)} problems planned on both texts")
    print(f"{sum(one.reread[0] for one in reports)} originals read by unified-planning, "
          f"and {sum(all(one.reread) for one in reports)} of their exports")  # fmt: skip
    faulty = sum(bool(one.faults) for one in reports)
    print(f"{faulty} with a fault")
    return 1 if faulty else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
