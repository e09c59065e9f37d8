"""Engines that read PDDL: ENHSP, and any engine of unified-planning by its name.

They get the exported pair and run as child processes. Their plans are read back, fitted to
outcomes of chance and replayed; a failure to find one proves nothing. `validate_with_up` checks a
plan with unified-planning as a second opinion.

unified-planning is an extra and slow to import (1.5 s), so it is imported inside functions only.
Its reader wants every name once across all kinds and knows no `:derived`: `distinct` renames.
"""

from __future__ import annotations

import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

from tokenworld.diagnostics import Diagnostic, Failure, in_seconds
from tokenworld.ground import Instance, Simulator, StateT
from tokenworld.planning.pddl.export import Encode, PddlExport, export_pddl, export_world
from tokenworld.planning.pddl.problem import Values
from tokenworld.planning.pddl.sanitize import sanitized
from tokenworld.planning.pddl.tree import PddlPair, domain_text, problem_text
from tokenworld.planning.planners.children import Ended, PddlTexts
from tokenworld.planning.planners.doctor import ENHSP, UNIFIED_PLANNING, needed
from tokenworld.planning.referee import fitted, refereed
from tokenworld.planning.verdict import Attempt, AttemptResult, Verdict

__all__ = [
    "distinct",
    "missing_extra",
    "plan_by_pddl",
    "read_pair",
    "to_up_problem",
    "validate_with_up",
]


Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class _Run:
    """A command line, the two texts it reads, and how to read the plan it writes."""

    command: tuple[str, ...]
    texts: PddlTexts
    read: Callable[[str], str]


def plan_by_pddl(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    name: str,
    seconds: float,
    say: Say,
) -> Verdict:
    """The verdict of ENHSP (``enhsp``) or of unified-planning's engine (``up:NAME``).

    Raises `Failure` (TW0811) where it is not installed.
    """
    began = time.monotonic()
    _require(name)
    say("exporting the world as PDDL")
    try:
        export = export_world(simulator, state, goal)
    except Failure as failure:
        return Verdict("unknown", goal, None, "", "PDDL", notes=failure.diagnostics)
    say(f"running {name}")
    run = _run_of(name, export)
    left = max(seconds - (time.monotonic() - began), 0.0)
    try:
        ended, plan = _ended(run, left)
    except OSError as error:
        detail = f"it could not be started: {error.strerror or error}"
        return _nothing(name, goal, "failed", detail, time.monotonic() - began)
    spent = time.monotonic() - began
    if plan is None:
        result, detail = _no_answer(ended, left)
        return _nothing(name, goal, result, detail, spent)
    return _judged(simulator, state, goal, name, export, plan, spent)


def _require(name: str) -> None:
    packages = (UNIFIED_PLANNING, ENHSP) if name == "enhsp" else (UNIFIED_PLANNING,)
    for package in packages:
        needed(package)


def _run_of(name: str, export: PddlExport) -> _Run:
    """The engine on the pair with every name used for one thing, through unified-planning.

    ENHSP too: given the pair as it is exported, it calls solvable tasks unsolvable.
    """

    pair, actions, objects = distinct(export.pair)
    back = {new.lower(): old for known in (actions, objects) for old, new in known.items()}

    def read(text: str) -> str:
        steps = (found.strip("() ").split() for found in re.findall(r"\([^()]*\)", text))
        lines = (" ".join(back.get(word.lower(), word) for word in words) for words in steps)
        return "\n".join(f"({line})" for line in lines)

    engine = name.removeprefix("up:")
    command = (sys.executable, "-m", "tokenworld.planning.planners.up_child", engine)
    texts = PddlTexts(domain_text(pair.domain), problem_text(pair.problem))
    return _Run(command, texts, read)


def _ended(run: _Run, seconds: float) -> tuple[Ended, str | None]:
    """The exit of the engine, and the plan it wrote."""
    ended, plan = run.texts.run(run.command, "plan", seconds=seconds)
    return ended, None if plan is None else run.read(plan)


def _no_answer(ended: Ended, seconds: float) -> tuple[AttemptResult, str]:
    if ended.how == "limit":
        return "limit", f"its limit of {in_seconds(seconds)} was reached"
    said = ended.last_line()
    return "no proof", f"it ended without a plan{f', its last words were `{said}`' if said else ''}"


def _judged(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    name: str,
    export: PddlExport,
    plan: str,
    seconds: float,
) -> Verdict:
    try:
        commands = [step.command for step in export.steps(plan)]
    except Failure as failure:
        detail = failure.diagnostics[0].message.rstrip(".")
        return _nothing(name, goal, "invalid plan", detail, seconds)
    steps = fitted(simulator, state, commands, goal)
    if steps is None:
        detail = "its plan does not survive the replay"
        return _nothing(name, goal, "invalid plan", detail, seconds)
    found = refereed(simulator, state, steps, goal, name, f"PDDL ({export.form})")
    if isinstance(found, str):
        return _nothing(name, goal, "invalid plan", found, seconds)
    attempt = Attempt(name, "PDDL", "plan", "it found a plan", seconds)
    return replace(found, attempts=(attempt,), seconds=seconds)


def _nothing(
    name: str, goal: str | None, result: AttemptResult, detail: str, seconds: float
) -> Verdict:
    """*Unknown*, and what came of the engine."""
    if result == "limit":
        hint = "Raise `--time-limit`, or plan without `--engine`."
        note = Diagnostic("TW0813", f"The planner `{name}` was stopped: {detail}.", hint=hint)
    else:
        hint = "Plan without `--engine`: other ways are tried then."
        note = Diagnostic("TW0812", f"The planner `{name}` gave no answer: {detail}.", hint=hint)
    attempt = Attempt(name, "PDDL", result, detail, seconds)
    return Verdict(
        "unknown", goal, None, "", "", attempts=(attempt,), notes=(note,), seconds=seconds
    )


_INSTALL = "pip install 'token-world[plan]'"


def missing_extra() -> Diagnostic | None:
    """The diagnostic where unified-planning is not installed; ``None`` where it is."""
    if find_spec("unified_planning") is not None:
        return None
    message = "The second opinion needs `unified-planning`, which is not installed."
    return Diagnostic("TW0811", message, hint=f"Run `{_INSTALL}`.")


def _require_unified() -> None:
    missing = missing_extra()
    if missing is not None:
        raise Failure(missing)


def distinct(pair: PddlPair) -> tuple[PddlPair, dict[str, str], dict[str, str]]:
    """The pair with every name used for one thing only, and the new names of actions and objects.

    Derived predicates that no rule asks for are left out.
    """
    found = sanitized(pair)
    return found.pair, dict(found.actions), dict(found.objects)


def _quietly(read: Callable[[], Any]) -> Any:
    """Read with unified-planning's own warnings kept from the user."""
    from unified_planning.exceptions import UPException
    from unified_planning.io.pddl_reader import pyparsing
    from unified_planning.shortcuts import get_environment

    get_environment().credits_stream = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return read()
    except (UPException, pyparsing.ParseBaseException, AssertionError, KeyError) as error:
        message = "unified-planning does not read the exported task."
        note = re.sub(r"\s+", " ", str(error))[:200]
        raise Failure(
            Diagnostic("TW0810", message, notes=(note,), hint="Use `tw plan`, which needs no PDDL.")
        ) from error


def read_pair(export: PddlExport) -> Any:
    """The exported pair as a unified-planning `Problem`.

    Raises `Failure`: TW0811 without the extra, TW0810 where its reader lacks a feature.
    """
    _require_unified()
    pair, _, _ = distinct(export.pair)

    def read() -> Any:
        from unified_planning.io import PDDLReader

        return PDDLReader().parse_problem_string(
            domain_text(pair.domain), problem_text(pair.problem)
        )

    return _quietly(read)


def to_up_problem(
    instance: Instance, values: Values, goal: str | None = None, encode: Encode | None = None
) -> Any:
    """One world as a unified-planning `Problem`, for use with its engines and tools.

    Arguments as in `export_pddl`.
    """
    _require_unified()
    return read_pair(export_pddl(instance, values, goal, encode))


def _steps(export: PddlExport, plan: str) -> Iterator[tuple[str, ...]]:
    """The steps of a plan text with the names of `distinct`."""
    _, actions, objects = distinct(export.pair)
    lower_actions = {name.lower(): word for name, word in actions.items()}
    lower_objects = {name.lower(): word for name, word in objects.items()}
    for line in plan.splitlines():
        words = line.partition(";")[0].replace("(", " ").replace(")", " ").lower().split()
        if words:
            args = (lower_objects.get(word, word) for word in words[1:])
            yield (lower_actions.get(words[0], words[0]), *args)


def validate_with_up(export: PddlExport, plan: str) -> bool:
    """Whether unified-planning's validator accepts a plan of the exported pair.

    ``plan`` is as planners write it, one ``(name arg …)`` per line, forced steps included.
    Raises `Failure` as `read_pair` does.
    """
    problem = read_pair(export)
    from unified_planning.engines import SequentialPlanValidator, ValidationResultStatus

    sequence = _sequence(problem, list(_steps(export, plan)))
    if sequence is None:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = SequentialPlanValidator().validate(problem, sequence)
    return bool(result.status == ValidationResultStatus.VALID)


def _sequence(problem: Any, steps: list[tuple[str, ...]]) -> Any:
    """The plan in unified-planning's form; ``None`` if it has a step that there is not."""
    from unified_planning.plans import ActionInstance, SequentialPlan

    found = []
    for name, *args in steps:
        if not problem.has_action(name.lower()):
            return None
        if not all(problem.has_object(arg.lower()) for arg in args):
            return None
        action = problem.action(name.lower())
        objects = [problem.object(arg.lower()) for arg in args]
        found.append(ActionInstance(action, tuple(objects)))
    return SequentialPlan(found)
