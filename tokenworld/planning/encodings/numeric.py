"""Encoding A: numbers stay numbers, a phase is one forced action; ENHSP plans on it.

For worlds with real or unbounded numbers, which no finite encoding takes. The text is the lifted
export, which holds every bound as a condition of its own. ENHSP searches with estimates that do
not see everything such a world does: its plan counts after the replay, its failure to find one
proves nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

from tokenworld.diagnostics import Diagnostic, Failure, in_seconds
from tokenworld.ground import Raw, Simulator, StateT, refuse_huge
from tokenworld.planning.pddl.export import PddlExport, export_pddl
from tokenworld.planning.pddl.tree import (
    Expr,
    PddlAction,
    PddlPair,
    domain_text,
    heads,
    problem_text,
)
from tokenworld.planning.planners.answers import Asked, EngineRun, not_started
from tokenworld.planning.planners.children import Ended, PddlTexts
from tokenworld.planning.planners.doctor import ENHSP, find_engine
from tokenworld.planning.referee import fitted
from tokenworld.planning.search.interpreted import Cancel
from tokenworld.planning.verdict import PlanStep

__all__ = ["NumericPddl", "numeric_enhsp", "numeric_pddl", "sliced"]

_ENGINE = "enhsp"
_ENCODING = "A"


@dataclass(frozen=True)
class NumericPddl(PddlTexts):
    """Encoding A of one world from one state: two texts, and the way back for plans."""

    export: PddlExport
    spellings: Mapping[str, str]

    def steps(
        self, simulator: Simulator[StateT], state: StateT, goal: str | None, plan: str
    ) -> tuple[PlanStep, ...] | None:
        """The steps that a planner's text means, ``None`` where they do not lead to the goal.

        Raises `Failure` (TW0812) for a step that the pair lacks.
        """
        found = (one.strip("() ").split() for one in re.findall(r"\([^()]*\)", plan))
        lines = (" ".join(self.spellings.get(w.lower(), w) for w in words) for words in found)
        text = "\n".join(f"({line})" for line in lines)
        commands = [step.command for step in self.export.steps(text)]
        return fitted(simulator, state, commands, goal)


def numeric_pddl(simulator: Simulator[StateT], state: StateT, goal: str | None) -> NumericPddl:
    """Encoding A; raises `Failure` (TW0801) with every construct that has no exact lifted form."""
    from tokenworld.planning.planners.by_pddl import distinct

    def values(fluent: str, args: tuple[Raw, ...]) -> Raw:
        return simulator.read(state, fluent, args)

    refuse_huge(simulator.instance_at(state), slots=True)
    export = export_pddl(simulator.instance_at(state), values, goal)
    pair, actions, objects = distinct(export.pair)
    back = {new.lower(): old for known in (actions, objects) for old, new in known.items()}
    pair = _spread(pair)
    steps = export.names.steps
    named = {actions.get(name, name).lower(): origin for name, origin in steps.items()}
    waiting = next((name for name, origin in named.items() if origin.action == ""), None)
    if waiting is not None:
        forced = {name for name, origin in named.items() if origin.action is None}
        pair = sliced(pair, forced, waiting)
    return NumericPddl(domain_text(pair.domain), problem_text(pair.problem), export, back)


def _spread(pair: PddlPair) -> PddlPair:
    """Each effect under quantifiers and conditions of its own.

    ENHSP reads ``(forall … (and …))`` and leaves out what stands inside.
    """
    actions = tuple(
        replace(one, effects=tuple(part for effect in one.effects for part in _parts(effect)))
        for one in pair.domain.actions
    )
    return replace(pair, domain=replace(pair.domain, actions=actions))


def _parts(effect: Expr) -> Iterator[Expr]:
    match effect:
        case ("and", *several):
            for one in several:
                yield from _parts(one)
        case ("forall" | "when" as head, around, inner):
            for one in _parts(inner):
                yield (head, around, one)
        case _:
            yield effect


# ---- the planner -------------------------------------------------------------------------------


def numeric_enhsp(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    **asked: Unpack[Asked],
) -> None:
    """Write encoding A and run ENHSP on it; where ``program`` is ``None``, it is looked for."""
    began, accept, program = time.monotonic(), asked["accept"], asked["program"]

    def spent() -> float:
        return time.monotonic() - began

    try:
        pddl = numeric_pddl(simulator, state, goal)
    except Failure as failure:
        accept(_inexpressible(failure, spent()))
        return
    found = find_engine(ENHSP)
    if program is None and not (found.ready and found.path):
        note = _missing(found.problem, found.install)
        accept(EngineRun(_ENGINE, _ENCODING, "missing", found.problem, spent(), notes=(note,)))
        return
    jar = program or Path(str(found.path))
    try:
        left = max(asked["seconds"] - spent(), 0.0)
        ended, plan = _run(jar, pddl, left, asked["memory"], asked["cancel"])
    except OSError as error:
        accept(not_started(_ENGINE, _ENCODING, error, spent()))
        return
    if plan is None:
        accept(_no_plan(ended))
        return
    accept(_planned(pddl, simulator, state, goal, plan, spent()))


def _missing(problem: str, install: str) -> Diagnostic:
    message = f"The planner `{_ENGINE}` cannot be used: {problem}."
    return Diagnostic("TW0811", message, hint=f"Run `{install}`.")


def _inexpressible(failure: Failure, seconds: float) -> EngineRun:
    """The constructs that no lifted form takes, each as a note at its place."""
    first = failure.diagnostics[0].message.rstrip(".")
    detail = first[:1].lower() + first[1:] if first.startswith("The ") else first
    notes = failure.diagnostics
    return EngineRun(_ENGINE, _ENCODING, "not expressible", detail, seconds, notes=notes)


def _run(
    jar: Path, pddl: NumericPddl, seconds: float, memory: int, cancel: Cancel
) -> tuple[Ended, str | None]:
    """How ENHSP ended, and the plan it wrote. Its memory is bounded by the heap of its machine."""
    command = [
        *("java", f"-Xmx{max(memory >> 20, 64)}m", "-jar", str(jar)),
        *("-o", "domain.pddl", "-f", "problem.pddl"),
        *("-h", "hadd", "-s", "gbfs", "-sp", "plan", "-npm"),
    ]
    return pddl.run(command, "plan", seconds=seconds, cancel=cancel)


def _no_plan(ended: Ended) -> EngineRun:
    if ended.how == "cancelled":
        return EngineRun(_ENGINE, _ENCODING, "cancelled", "it was cancelled", ended.seconds)
    if ended.how == "limit":
        detail = f"its limit of {in_seconds(ended.seconds)} was reached"
        return EngineRun(_ENGINE, _ENCODING, "limit", detail, ended.seconds)
    if ended.code == 0:
        detail = "it found no plan, which proves nothing: it searches by estimates"
        return EngineRun(_ENGINE, _ENCODING, "no plan", detail, ended.seconds, exact=False)
    said = ended.last_line()
    detail = f"it ended with exit code {ended.code}{f', saying `{said}`' if said else ''}"
    return EngineRun(_ENGINE, _ENCODING, "failed", detail, ended.seconds)


def _planned(
    pddl: NumericPddl,
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    plan: str,
    seconds: float,
) -> EngineRun:
    """The plan read back; only what the interpreter follows to the goal is one."""
    try:
        steps = pddl.steps(simulator, state, goal, plan)
    except Failure as failure:
        detail = failure.diagnostics[0].message.rstrip(".")
        return EngineRun(_ENGINE, _ENCODING, "invalid plan", detail, seconds)
    if steps is None:
        detail = "the interpreter does not reach the goal with its plan"
        return EngineRun(_ENGINE, _ENCODING, "invalid plan", detail, seconds)
    detail = "it found a plan"
    return EngineRun(
        _ENGINE, _ENCODING, "plan", detail, seconds, steps, exact=False, digest=pddl.digest
    )


_CHANGES = ("increase", "decrease", "assign", "scale-up", "scale-down")


def sliced(pair: PddlPair, forced: Collection[str], waiting: str) -> PddlPair:
    """The pair without what cannot matter; effects stand alone, as `numeric` spreads them.

    ``forced`` names the actions of phases and ``waiting`` the one that only lets a tick pass: what
    it does is kept everywhere.
    """
    actions = {action.name.lower(): action for action in pair.domain.actions}
    always = actions[waiting.lower()].effects
    matters = set(heads(pair.problem.goal))
    for effect in always:
        matters.add(_written(effect))
    for name in forced:
        matters |= set(heads(actions[name.lower()].precondition))
    size = -1
    while len(matters) != size:
        size = len(matters)
        for action in pair.domain.actions:
            matters |= set(_asked(action, matters, always, action.name.lower() in forced))
        for derived in pair.domain.derived:
            if derived.head.name in matters:
                matters |= set(heads(derived.condition))
    kept = tuple(
        replace(action, effects=tuple(_kept(action, matters)))
        for name, action in actions.items()
        if name in forced or name == waiting.lower() or _useful(action, matters, always)
    )
    return replace(pair, domain=replace(pair.domain, actions=kept))


def _kept(action: PddlAction, matters: Collection[str]) -> Iterator[Expr]:
    for effect in action.effects:
        if _written(effect) in matters:
            yield effect


def _useful(action: PddlAction, matters: Collection[str], always: Collection[Expr]) -> bool:
    """Whether an action does more that matters than waiting does."""
    return any(effect not in always for effect in _kept(action, matters))


def _asked(
    action: PddlAction, matters: Collection[str], always: Collection[Expr], forced: bool
) -> Iterator[str]:
    """What decides whether a useful action can be taken, and what it then does."""
    if forced or _useful(action, matters, always):
        yield from heads(action.precondition)
        for effect in _kept(action, matters):
            yield from heads(effect)


def _written(effect: Expr) -> str:
    """The predicate or function that an effect changes."""
    while isinstance(effect, tuple) and effect[0] in ("forall", "when", "not", *_CHANGES):
        effect = effect[2] if effect[0] in ("forall", "when") else effect[1]
    return str(effect[0]) if isinstance(effect, tuple) and effect else str(effect)
