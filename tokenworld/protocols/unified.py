"""Token World as engines of unified-planning: `tokenworld`, and `tokenworld-opt` for optimal plans.

    from tokenworld.protocols.unified import register
    register()
    with OneshotPlanner(name="tokenworld") as planner:
        result = planner.solve(problem, timeout=30)

A problem is written as PDDL and planned by `tw plan` in a child process, so that a time limit can
end it. The status of a result is that of the verdict: a plan was replayed, *unwinnable* was proved,
and a plan is optimal where that was proved.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from typing import Any

from unified_planning.engines import (
    AnytimeGuarantee,
    Credits,
    OptimalityGuarantee,
    PDDLAnytimePlanner,
    PlanGenerationResult,
)
from unified_planning.engines import PlanGenerationResultStatus as Status
from unified_planning.model import ProblemKind

_RUN = "from tokenworld.cli import main; main()"
_NO_LIMIT = 10_000_000.0
"""Seconds of planning where the user sets no time limit."""
_BETTER = re.compile(r"^· plan [0-9,]+: .*; no plan has less", re.MULTILINE)
"""The line by which `tw plan --quality anytime` tells a better plan."""
_GRACE = 10.0
"""Seconds after a time limit at which the child, which should have ended by itself, is killed."""

_SUPPORTED = {
    "problem_class": ("ACTION_BASED",),
    "problem_type": ("SIMPLE_NUMERIC_PLANNING", "GENERAL_NUMERIC_PLANNING"),
    "typing": ("FLAT_TYPING", "HIERARCHICAL_TYPING"),
    "fluents_type": ("INT_FLUENTS", "REAL_FLUENTS"),
    "conditions_kind": (
        *("NEGATIVE_CONDITIONS", "DISJUNCTIVE_CONDITIONS", "EQUALITIES"),
        *("EXISTENTIAL_CONDITIONS", "UNIVERSAL_CONDITIONS"),
    ),
    "effects_kind": (
        *("CONDITIONAL_EFFECTS", "FORALL_EFFECTS", "INCREASE_EFFECTS", "DECREASE_EFFECTS"),
        *("STATIC_FLUENTS_IN_BOOLEAN_ASSIGNMENTS", "FLUENTS_IN_BOOLEAN_ASSIGNMENTS"),
        *("STATIC_FLUENTS_IN_NUMERIC_ASSIGNMENTS", "FLUENTS_IN_NUMERIC_ASSIGNMENTS"),
    ),
    "quality_metrics": ("ACTIONS_COST", "PLAN_LENGTH"),
    "actions_cost_kind": (
        *("INT_NUMBERS_IN_ACTIONS_COST", "STATIC_FLUENTS_IN_ACTIONS_COST"),
        "FLUENTS_IN_ACTIONS_COST",
    ),
}
"""The features of problems that survive the way through PDDL, by the kind of feature."""


class TokenWorld(PDDLAnytimePlanner):
    """Finds a plan, or ever better ones, or proves that there is none; ``options`` are more options
    of `tw plan`."""

    asked: tuple[str, ...] = ()

    def __init__(self, options: Sequence[str] = ()) -> None:
        super().__init__(rewrite_bool_assignments=True)
        self._options = tuple(options)
        self._seconds: float = _NO_LIMIT
        self._plan_file = ""

    @property
    def name(self) -> str:
        return "Token World"

    @staticmethod
    def get_credits(**kwargs: Any) -> Any:
        about = "Plans by several searches, each plan replayed and each proof on an exact encoding."
        return Credits("Token World", "The Token World authors", "", "", "MIT", about, about)

    @staticmethod
    def supported_kind() -> Any:
        kind = ProblemKind(version=2)
        for what, features in _SUPPORTED.items():
            for one in features:
                getattr(kind, f"set_{what}")(one)
        return kind

    @staticmethod
    def supports(problem_kind: Any) -> bool:
        return bool(problem_kind <= TokenWorld.supported_kind())

    @staticmethod
    def satisfies(optimality_guarantee: Any) -> bool:
        return bool(optimality_guarantee == OptimalityGuarantee.SATISFICING)

    @staticmethod
    def ensures(anytime_guarantee: Any) -> bool:
        return bool(anytime_guarantee == AnytimeGuarantee.INCREASING_QUALITY)

    def _solve(
        self, problem: Any, heuristic: Any = None, timeout: Any = None, output_stream: Any = None,
        anytime: bool = False,
    ) -> Any:  # fmt: skip
        self._seconds = _NO_LIMIT if timeout is None else float(timeout)
        killed = None if timeout is None else timeout + _GRACE
        return super()._solve(problem, heuristic, killed, output_stream, anytime)

    def _get_cmd(self, domain_filename: str, problem_filename: str, plan_filename: str) -> Any:
        files = (domain_filename, problem_filename, "--plan-file", plan_filename)
        limit = ("--time-limit", str(self._seconds))
        command = (sys.executable, "-c", _RUN, "plan", *files, *limit, "--json")
        return [*command, *self.asked, *self._options]

    def _get_anytime_cmd(
        self, domain_filename: str, problem_filename: str, plan_filename: str
    ) -> Any:
        self._plan_file = plan_filename
        command = self._get_cmd(domain_filename, problem_filename, plan_filename)
        return [one for one in command if one != "--optimal"] + ["--quality", "anytime"]

    def _parse_planner_output(self, writer: Any, planner_output: str) -> None:
        """Pass on each better plan: the child tells it when the plan stands in its file."""
        for _ in _BETTER.findall(planner_output):
            plan = self._plan_from_file(
                writer.problem, self._plan_file, self._writer.get_item_named
            )
            writer.res_queue.put(PlanGenerationResult(Status.INTERMEDIATE, plan, self.name))

    def _result_status(self, problem: Any, plan: Any, retval: int, log_messages: Any = None) -> Any:
        """The status of the verdict that the child printed.

        The exit code does not do: 1 is also that of a problem which cannot be read.
        """
        try:
            answer = json.loads(log_messages[0].message)
        except (ValueError, IndexError, TypeError):
            return Status.INTERNAL_ERROR
        metrics = [type(one).__name__ for one in problem.quality_metrics]
        return _status(answer, metrics, plan is not None)


def _status(answer: dict[str, Any], metrics: Sequence[str], planned: bool) -> Any:
    match answer.get("answer"):
        case "winnable" if planned:
            return Status.SOLVED_OPTIMALLY if _best(answer, metrics) else Status.SOLVED_SATISFICING
        case "unwinnable" if answer["claim"] in ("proved", "exhausted"):
            return Status.UNSOLVABLE_PROVEN
        case "unknown":
            codes = [one["code"] for one in answer.get("notes", answer.get("diagnostics", ()))]
            late = "TW0813" in codes
            return Status.TIMEOUT if late else Status.UNSOLVABLE_INCOMPLETELY
    return Status.UNSUPPORTED_PROBLEM if "diagnostics" in answer else Status.INTERNAL_ERROR


def _best(answer: dict[str, Any], metrics: Sequence[str]) -> bool:
    """Return whether the plan was proved best by the metric of the problem."""
    measures = {"MinimizeActionCosts": ("cost",), "MinimizeSequentialPlanLength": ("cost", "ticks")}
    return bool(metrics) and all(answer["optimal"] in measures.get(one, ()) for one in metrics)


class OptimalTokenWorld(TokenWorld):
    """Finds a plan that is proved optimal, or proves that there is none."""

    asked = ("--optimal",)

    @property
    def name(self) -> str:
        return "Token World (optimal)"

    @staticmethod
    def satisfies(optimality_guarantee: Any) -> bool:
        return True


_ENGINES = {"tokenworld": "TokenWorld", "tokenworld-opt": "OptimalTokenWorld"}


def register(environment: Any = None) -> None:
    """Add the engines to the factory of an environment, the global one by default.

    They come last in its order of preference, so that they are taken by name, or where no other
    engine supports a problem.
    """
    from unified_planning.environment import get_environment

    factory = (environment or get_environment()).factory
    for name, kind in _ENGINES.items():
        if name not in factory.engines:
            factory.add_engine(name, __name__, kind)
