"""Engines that read PDDL: ENHSP, and any engine of unified-planning by its name.

They get the exported pair and run as child processes. Their plans are read back, fitted to
outcomes of chance and replayed; a failure to find one proves nothing. unified-planning's reader
wants every name once across all kinds and knows no `:derived`: `sanitize` renames.

*Encoding A*, for worlds with real or unbounded numbers, which no finite encoding takes: the lifted
export, where numbers stay numbers and a phase is one forced action; ENHSP plans on it.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from tokenworld.diagnostics import Diagnostic, Failure, in_seconds
from tokenworld.ground import PASS, Command, Simulator, StateT, refuse_huge
from tokenworld.planning.pddl import tree
from tokenworld.planning.planners.answers import Asked, EngineRun, Judge, not_started
from tokenworld.planning.planners.children import Ended, PddlTexts
from tokenworld.planning.planners.doctor import (
    ENHSP,
    UNIFIED_PLANNING,
    find_engine,
    needed,
    translator,
)
from tokenworld.planning.planners.downward import LAMA, Answer, run_searches
from tokenworld.planning.referee import fitted
from tokenworld.planning.verdict import PlanStep, Verdict

if TYPE_CHECKING:
    from tokenworld.planning.pddl.export import PddlExport

Say = Callable[[str], None]
_ENHSP = "enhsp"
_NUMERIC = "A"
_TRANSLATING_SHARE, _SEARCHING_SHARE = 0.5, 0.9
"""The shares of the time after which the translator, and LAMA after it, leave it to others."""


# ---- texts and the way back ---------------------------------------------------------------------


@dataclass(frozen=True)
class NumericPddl(PddlTexts):
    """A pair for a planner: two texts, and the export that reads plans back."""

    export: PddlExport

    def steps(
        self, simulator: Simulator[StateT], state: StateT, goal: str | None, plan: str
    ) -> tuple[PlanStep, ...] | None:
        """The steps that a planner's text means, ``None`` where they do not lead to the goal.

        Raises `Failure` (TW0812) for a step that the pair lacks.
        """
        steps = self.export.steps("\n".join(re.findall(r"\([^()]*\)", plan)))
        return fitted(simulator, state, [step.command for step in steps], goal)


def numeric_pddl(simulator: Simulator[StateT], state: StateT, goal: str | None) -> NumericPddl:
    """Encoding A; raises `Failure` (TW0801) with every construct that has no exact lifted form."""
    from tokenworld.planning.pddl.export import export_pddl, sanitize

    instance = simulator.instance_at(state)
    refuse_huge(instance, slots=True)
    export = sanitize(export_pddl(instance, partial(simulator.read, state), goal, compiled=True))
    pair, steps = _spread(export.pair), export.names.steps
    waiting = next((name for name, origin in steps.items() if origin.action == ""), None)
    if waiting is not None:
        forced = {name for name, origin in steps.items() if origin.action is None}
        pair = sliced(pair, forced, waiting)
    return NumericPddl(tree.domain_text(pair.domain), tree.problem_text(pair.problem), export)


def _spread(pair: tree.PddlPair) -> tree.PddlPair:
    """Give each effect its own quantifiers and conditions.

    ENHSP ignores the effects inside ``(forall … (and …))``.
    """
    actions = tuple(
        replace(one, effects=tuple(part for effect in one.effects for part in _parts(effect)))
        for one in pair.domain.actions
    )
    return replace(pair, domain=replace(pair.domain, actions=actions))


def _parts(effect: tree.Expr) -> Iterator[tree.Expr]:
    match effect:
        case ("and", *several):
            for one in several:
                yield from _parts(one)
        case ("forall" | "when" as head, around, inner):
            for one in _parts(inner):
                yield (head, around, one)
        case _:
            yield effect


# ---- the planners ---------------------------------------------------------------------------


def plan_by_pddl(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    name: str,
    seconds: float,
    say: Say,
) -> Verdict:
    """The verdict of ENHSP (``enhsp``) or of unified-planning's engine (``up:NAME``).

    Both run through unified-planning, on the pair with every name used for one thing: given the
    pair as it is exported, ENHSP calls solvable tasks unsolvable. Raises `Failure` (TW0811) where
    one is not installed.
    """
    began = time.monotonic()
    for package in (UNIFIED_PLANNING, ENHSP) if name == _ENHSP else (UNIFIED_PLANNING,):
        needed(package)
    say("exporting the world as PDDL")
    from tokenworld.planning.pddl.export import export_world, sanitize

    try:
        export = sanitize(export_world(simulator, state, goal))
    except Failure as failure:
        return Verdict("unknown", goal, None, "", "PDDL", notes=failure.diagnostics)
    say(f"running {name}")
    engine = name.removeprefix("up:")
    command = (sys.executable, "-m", "tokenworld.planning.planners.up_child", engine)
    judge = Judge(simulator, state, goal, "--engine")
    left = max(seconds - (time.monotonic() - began), 0.0)
    run = EngineRun(name, f"PDDL ({export.form})", "failed", "", 0.0, exact=False)
    asked: Asked = {
        "program": None, "seconds": left, "memory": 0, "cancel": lambda: False,
        "accept": judge.accept,
    }  # fmt: skip
    pddl = NumericPddl(export.domain, export.problem, export)
    _planned(run, pddl, command, simulator, state, goal, asked)
    return replace(judge.verdict(), seconds=time.monotonic() - began)


def numeric_enhsp(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    **asked: Unpack[Asked],
) -> None:
    """Write encoding A and run ENHSP on it; where ``program`` is ``None``, it is looked for.

    ENHSP searches with estimates that do not see everything such a world does. Its memory is
    bounded by the heap of its machine.
    """
    began, accept = time.monotonic(), asked["accept"]
    run = EngineRun(_ENHSP, _NUMERIC, "failed", "", 0.0, exact=False)
    try:
        pddl = numeric_pddl(simulator, state, goal)
    except Failure as failure:
        accept(replace(_inexpressible(run, failure), seconds=time.monotonic() - began))
        return
    found, spent = find_engine(ENHSP), time.monotonic() - began
    if asked["program"] is None and not (found.ready and found.path):
        message = f"The planner `{_ENHSP}` cannot be used: {found.problem}."
        note = Diagnostic("TW0811", message, hint=f"Run `{found.install}`.")
        accept(replace(run, result="missing", detail=found.problem, seconds=spent, notes=(note,)))
        return
    jar = asked["program"] or Path(str(found.path))
    command = [
        *("java", f"-Xmx{max(asked['memory'] >> 20, 64)}m", "-jar", str(jar)),
        *("-o", "domain.pddl", "-f", "problem.pddl"),
        *("-h", "hadd", "-s", "gbfs", "-sp", "plan", "-npm"),
    ]
    left: Asked = {**asked, "seconds": max(asked["seconds"] - spent, 0.0)}
    _planned(run, pddl, command, simulator, state, goal, left)


def translated_downward(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    **asked: Unpack[Asked],
) -> None:
    """Run LAMA on the lifted export as Fast Downward's own translator grounds it.

    The ladder calls it where encoding E would take long. A world without an exact lifted form is
    skipped silently.
    """
    began = time.monotonic()
    if _translate(asked) is None:
        return
    from tokenworld.planning.pddl.export import export_pddl

    try:
        export = export_pddl(
            simulator.instance_at(state), partial(simulator.read, state), goal,
            stored=partial(simulator.stored, state), compiled=True,
        )  # fmt: skip
    except Failure:
        return
    pddl = NumericPddl(export.domain, export.problem, export)
    left = max(asked["seconds"] - (time.monotonic() - began), 0.0)
    _lama(pddl, "PDDL (lifted)", simulator, state, goal, {**asked, "seconds": left})


@dataclass(frozen=True)
class OriginalPddl(PddlTexts):
    """The pair that a world was imported from, without its times if it has such; as a `Classical`,
    LAMA on these texts.

    The world has its actions and objects by their names, without regard to case.
    """

    def __call__(
        self,
        simulator: Simulator[StateT],
        state: StateT,
        goal: str | None,
        **asked: Unpack[Asked],
    ) -> None:
        """Run LAMA on the pair as Fast Downward's own translator grounds it."""
        _lama(self, "PDDL", simulator, state, goal, asked)

    def steps(
        self, simulator: Simulator[StateT], state: StateT, goal: str | None, plan: str
    ) -> tuple[PlanStep, ...] | None:
        """The steps that a planner's text means; `Failure` (TW0812) for one of no action."""
        instance = simulator.instance
        objects = {one.name.lower(): number for number, one in enumerate(instance.objects)}
        actions = {one.lower(): (one, len(a.params)) for one, a in instance.program.actions.items()}
        found: list[PlanStep] = []
        for line in re.findall(r"\(([^()]*)\)", plan):
            name, *args = line.lower().split()
            action, arity = actions.get(name, ("", -1))
            if len(args) != arity or not objects.keys() >= set(args):
                raise Failure(Diagnostic("TW0812", f"`({line})` is no command of the world."))
            found.append(PlanStep(Command(action, tuple(objects[one] for one in args))))
        return tuple(_with_waits(simulator, state, found))


def _with_waits(
    simulator: Simulator[StateT], state: StateT, steps: Iterable[PlanStep]
) -> Iterator[PlanStep]:
    """The steps, each that begins a long action followed by `pass` until that ends."""
    if not simulator.instance.program.has_durations:
        yield from steps
        return
    for step in steps:
        yield step
        taken = simulator.leaning(state, step.command, step.draws)
        while taken is not None and simulator.running(taken.state) is not None:
            yield PlanStep(PASS)
            taken = simulator.leaning(taken.state, PASS, ())
        state = state if taken is None else taken.state


def _translate(asked: Asked) -> tuple[str, ...] | None:
    """The command of Fast Downward's translator, if both are installed."""
    return None if asked["program"] is None else translator(asked["program"])


def _lama(
    pddl: NumericPddl | OriginalPddl,
    encoding: str,
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    asked: Asked,
) -> None:
    """Translate a pair by Fast Downward and run LAMA on it; without the translator, nothing.

    A pair that the translator does not read is skipped silently. Only plans count: that none is
    found proves nothing.
    """
    began, program, translate = time.monotonic(), asked["program"], _translate(asked)
    if program is None or translate is None:
        return
    run = EngineRun(f"fast-downward {LAMA.name}", encoding, "failed", "", 0.0, exact=False)
    command = (*translate, "--sas-file", "sas", "domain.pddl", "problem.pddl")

    def accept(answer: Answer) -> bool:
        spent = time.monotonic() - began
        found = replace(run, result=answer.result, detail=answer.detail, seconds=spent)
        if answer.result == "plan":
            plan = "\n".join(f"({one})" for one in answer.operators)
            found = _read_back(found, pddl, simulator, state, goal, plan)
        return asked["accept"](found)

    memory, cancel = asked["memory"], asked["cancel"]
    given = _TRANSLATING_SHARE * asked["seconds"]
    try:
        ended, sas = pddl.run(command, "sas", seconds=given, memory=memory, cancel=cancel)
        if sas is not None:
            left = max(_SEARCHING_SHARE * asked["seconds"] - (time.monotonic() - began), 0.0)
            run_searches(
                program, _without_costs(sas), (LAMA,), seconds=left, memory=memory,
                cancel=cancel, accept=accept,
            )  # fmt: skip
        elif ended.code not in _UNREADABLE:
            asked["accept"](_without_plan(replace(run, seconds=ended.seconds), ended, given))
    except OSError as error:
        asked["accept"](not_started(run.engine, run.encoding, error, time.monotonic() - began))


_UNREADABLE = (1, 30, 31)
"""Exit codes of the translator for constructs that it does not read, such as numbers and time."""


def _without_costs(sas: str) -> str:
    """A SAS+ text in which every operator costs 1, as LAMA's first search counts them."""
    return sas.replace("begin_metric\n1\n", "begin_metric\n0\n", 1)


def _read_back(
    run: EngineRun,
    pddl: NumericPddl | OriginalPddl,
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    plan: str,
) -> EngineRun:
    """Return the run with the steps that its plan means, if these lead to the goal."""
    detail = "the interpreter does not reach the goal with its plan"
    try:
        steps = pddl.steps(simulator, state, goal, plan)
    except Failure as failure:
        steps, detail = None, failure.diagnostics[0].message.rstrip(".")
    if steps is None:
        return replace(run, result="invalid plan", detail=detail)
    return replace(run, result="plan", detail="it found a plan", steps=steps)


def _inexpressible(run: EngineRun, failure: Failure) -> EngineRun:
    """The constructs that no lifted form takes, each as a note at its place."""
    first = failure.diagnostics[0].message.rstrip(".")
    detail = first[:1].lower() + first[1:] if first.startswith("The ") else first
    return replace(run, result="not expressible", detail=detail, notes=failure.diagnostics)


def _planned(
    run: EngineRun,
    pddl: NumericPddl,
    command: Sequence[str],
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    asked: Asked,
) -> None:
    """Run a command beside the two files and hand its result to ``accept``.

    Only steps with which the interpreter reaches the goal are a plan. ``run`` names engine and
    encoding.
    """
    began = time.monotonic()
    try:
        ended, plan = pddl.run(command, "plan", seconds=asked["seconds"], cancel=asked["cancel"])
    except OSError as error:
        asked["accept"](not_started(run.engine, run.encoding, error, time.monotonic() - began))
        return
    found = replace(run, seconds=ended.seconds, digest=pddl.digest)
    if plan is None:
        asked["accept"](_without_plan(found, ended, asked["seconds"]))
        return
    asked["accept"](_read_back(found, pddl, simulator, state, goal, plan))


def _without_plan(run: EngineRun, ended: Ended, seconds: float) -> EngineRun:
    if ended.how == "cancelled":
        return replace(run, result="cancelled", detail="it was cancelled")
    if ended.how == "limit":
        return replace(
            run, result="limit", detail=f"its limit of {in_seconds(seconds)} was reached"
        )
    said = ended.last_line()
    words = f", its last words were `{said}`" if said else ""
    return replace(run, result="no proof", detail=f"it ended without a plan{words}")


# ---- what cannot matter -----------------------------------------------------------------------

_CHANGES = ("increase", "decrease", "assign", "scale-up", "scale-down")


def sliced(pair: tree.PddlPair, forced: Collection[str], waiting: str) -> tree.PddlPair:
    """The pair without its irrelevant parts; effects are single, as `_spread` leaves them.

    ``forced`` names the actions of phases and ``waiting`` the one that only lets a tick pass: their
    effects are kept everywhere.
    """
    actions = {action.name.lower(): action for action in pair.domain.actions}
    always = actions[waiting.lower()].effects
    matters = set(tree.heads(pair.problem.goal))
    for effect in always:
        matters.add(_written(effect))
    for name in forced:
        matters |= set(tree.heads(actions[name.lower()].precondition))
    size = -1
    while len(matters) != size:
        size = len(matters)
        for action in pair.domain.actions:
            matters |= set(_asked(action, matters, always, action.name.lower() in forced))
        for derived in pair.domain.derived:
            if derived.head.name in matters:
                matters |= set(tree.heads(derived.condition))
    kept = tuple(
        replace(action, effects=tuple(_kept(action, matters)))
        for name, action in actions.items()
        if name in forced or name == waiting.lower() or _useful(action, matters, always)
    )
    return replace(pair, domain=replace(pair.domain, actions=kept))


def _kept(action: tree.PddlAction, matters: Collection[str]) -> Iterator[tree.Expr]:
    for effect in action.effects:
        if _written(effect) in matters:
            yield effect


def _useful(
    action: tree.PddlAction, matters: Collection[str], always: Collection[tree.Expr]
) -> bool:
    """Return whether an action has relevant effects beyond those of waiting."""
    return any(effect not in always for effect in _kept(action, matters))


def _asked(
    action: tree.PddlAction, matters: Collection[str], always: Collection[tree.Expr], forced: bool
) -> Iterator[str]:
    """The predicates that decide whether a useful action is applicable, and its effect."""
    if forced or _useful(action, matters, always):
        yield from tree.heads(action.precondition)
        for effect in _kept(action, matters):
            yield from tree.heads(effect)


def _written(effect: tree.Expr) -> str:
    """The predicate or function that an effect changes."""
    while isinstance(effect, tuple) and effect[0] in ("forall", "when", "not", *_CHANGES):
        effect = effect[2] if effect[0] in ("forall", "when") else effect[1]
    return str(effect[0]) if isinstance(effect, tuple) and effect else str(effect)
