"""Engines that read PDDL: ENHSP, and any engine of unified-planning by its name.

They get the exported pair and run as child processes. Their plans are read back, fitted to
outcomes of chance and replayed; a failure to find one proves nothing. unified-planning's reader
wants every name once across all kinds and knows no `:derived`: `distinct` renames.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from tokenworld.diagnostics import Diagnostic, Failure, in_seconds
from tokenworld.ground import Simulator, StateT
from tokenworld.planning.pddl.export import PddlExport, export_world
from tokenworld.planning.pddl.sanitize import sanitized
from tokenworld.planning.pddl.tree import PddlPair, domain_text, problem_text
from tokenworld.planning.planners.children import Ended, PddlTexts
from tokenworld.planning.planners.doctor import ENHSP, UNIFIED_PLANNING, needed
from tokenworld.planning.referee import fitted, refereed
from tokenworld.planning.verdict import Attempt, AttemptResult, Verdict

__all__ = ["distinct", "plan_by_pddl"]


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


def distinct(pair: PddlPair) -> tuple[PddlPair, dict[str, str], dict[str, str]]:
    """The pair with every name used for one thing only, and the new names of actions and objects.

    Derived predicates that no rule asks for are left out.
    """
    found = sanitized(pair)
    return found.pair, dict(found.actions), dict(found.objects)
