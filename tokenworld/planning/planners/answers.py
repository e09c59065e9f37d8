"""The answers of planners: a run of each, and the verdict that it supports.

The ladder and `--encoding` hand an accepting callback to a planner (`Asked`) and get one
`EngineRun` for each search; a definite run ends the planner. The interpreter replays plans
(`judged`); a proof counts only where the encoding is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Generic, Literal, Protocol, TypedDict, Unpack

from tokenworld.diagnostics import Diagnostic, Severity
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Instance, Simulator, StateT
from tokenworld.planning.lower.algebra import Obstacle
from tokenworld.planning.lower.encode import Encoding
from tokenworld.planning.planners.downward import Answer, Configuration
from tokenworld.planning.referee import refereed, renumbered
from tokenworld.planning.search.interpreted import Cancel, fewest_commands, has_costs, platform
from tokenworld.planning.task import NotAPlan
from tokenworld.planning.verdict import Attempt, AttemptResult, PlanStep, Proof, Verdict

RELAXED = "relaxed reachability"
FAST_DOWNWARD_NAME = "fast-downward"
SAS_ENCODING = "E"
TICKS_PER_COST = 1_000


@frozen
class EngineRun:
    """The result of one planner on one encoding.

    ``exact``: the encoding has a plan exactly if the world has one, so that "no plan" is a proof.
    ``detail`` is a clause; ``notes`` are notes for the author on a run without an answer.
    ``paid`` is the cost of the plan on the encoding, if the planner proves that none is cheaper.
    ``unborn`` are the objects that the steps may name before play creates them (`Encoding`).
    """

    engine: str
    encoding: str
    result: AttemptResult
    detail: str
    seconds: float
    steps: tuple[PlanStep, ...] = ()
    exact: bool = True
    digest: str = ""
    notes: tuple[Diagnostic, ...] = ()
    paid: int | None = None
    unborn: Mapping[int, str] = field(default_factory=dict)


class Asked(TypedDict):
    """The arguments of a planner: its file, its limits, and the callback for its results.

    ``program`` is ``None`` to try only what needs none. ``memory`` is in bytes.
    """

    program: Path | None
    seconds: float
    memory: int
    cancel: Cancel
    accept: Callable[[EngineRun], bool]


class Classical(Protocol):
    """Encodes a world and runs planners on it."""

    def __call__(
        self,
        simulator: Simulator[StateT],
        state: StateT,
        goal: str | None,
        **asked: Unpack[Asked],
    ) -> None:
        """Hand each result to ``accept`` as it comes and stop as soon as it says so."""


# ---- runs -----------------------------------------------------------------------------------


def engine_run(encoding: Encoding, answer: Answer, search: Configuration) -> EngineRun:
    """The answer of a search on encoding E, its operators read back as steps."""
    name = answer.configuration
    engine = name if name == "symk" else f"{FAST_DOWNWARD_NAME} {name}"
    run = EngineRun(engine, SAS_ENCODING, answer.result, answer.detail, answer.seconds)
    if answer.result == "failed" and answer.note is not None:
        return replace(run, notes=(answer.note,))
    if answer.result == "no plan" and encoding.unborn:
        return too_few_spares(run)
    if answer.result != "plan":
        return replace(run, digest=encoding.digest)
    try:
        steps = encoding.plan(answer.operators)
    except NotAPlan as error:
        return replace(run, result="invalid plan", detail=str(error))
    proved = search.optimal and not encoding.unborn
    paid = _paid(encoding, answer.operators) if proved else None
    return replace(run, steps=steps, paid=paid, unborn=encoding.unborn)


def too_few_spares(run: EngineRun) -> EngineRun:
    """The result where no plan does with the spare objects of the world: one may with more."""
    detail = "there is no plan with as many objects as the `spare` lines of the world allow"
    return replace(run, result="no proof", detail=detail, exact=False)


def _paid(encoding: Encoding, operators: Sequence[str]) -> int:
    """The summed cost of a plan's operators."""
    costs = {one.name.split()[0]: one.cost for one in encoding.task.operators}
    return sum(costs[name.split()[0]] for name in operators)


def out_of_reach(seconds: float, digest: str = "") -> EngineRun:
    """The result where encoding the world showed that the goal is out of reach."""
    detail = "the goal is unreachable even if nothing is ever deleted"
    return EngineRun(RELAXED, SAS_ENCODING, "no plan", detail, seconds, digest=digest)


def not_started(engine: str, encoding: str, error: OSError, seconds: float) -> EngineRun:
    """The result of a planner that the system could not start."""
    reason = f"it could not be started: {error.strerror or error}"
    return EngineRun(engine, encoding, "failed", reason, seconds)


def inexpressible(obstacles: tuple[Obstacle, ...], seconds: float) -> EngineRun:
    """The constructs that no finite encoding takes; a phase whose order matters is no error."""
    hint = "Our own search plans on the interpreter instead, as far as the limits allow."
    notes = tuple(
        replace(one, severity=Severity.INFO if one.code == "TW0805" else Severity.ERROR)
        for one in obstacle_notes(obstacles, hint)
    )
    detail = f"no encoding takes {obstacles[0].construct}: {obstacles[0].reason}"
    return EngineRun(
        FAST_DOWNWARD_NAME, SAS_ENCODING, "not expressible", detail, seconds, notes=notes
    )


def obstacle_notes(obstacles: tuple[Obstacle, ...], hint: str) -> tuple[Diagnostic, ...]:
    """The constructs that no encoding takes, each as a note at its place."""
    label = "not expressible for this planner"
    return tuple(
        Diagnostic(
            one.code,
            f"No encoding takes {one.construct}: {one.reason}.",
            one.span,
            label,
            hint=hint,
        )
        for one in obstacles
    )


# ---- verdicts -------------------------------------------------------------------------------


def judged(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    run: EngineRun,
    *,
    polish: bool = True,
) -> Verdict | str | None:
    """The verdict of a run; a clause where its plan is none, ``None`` where there is none.

    ``polish``: idle steps of a plan are left out.
    """
    if run.result == "no plan" and run.exact:
        return _disproved(simulator.instance, run, goal)
    if run.result != "plan":
        return None
    steps = renumbered(simulator, state, run.steps, run.unborn)
    found = refereed(simulator, state, steps, goal, run.engine, run.encoding, polish=polish)
    if isinstance(found, str) or run.paid is None:
        return found
    return replace(found, optimal=_proved_measure(simulator, run.paid, found))


def _disproved(instance: Instance, run: EngineRun, goal: str | None) -> Verdict:
    """*Unwinnable*, proved on an exact encoding."""
    by = f"{run.engine} on encoding {run.encoding}: {run.detail}{platform(instance)}"
    proof = Proof(by, run.engine, run.encoding, run.digest)
    return Verdict("unwinnable", goal, "proved", run.engine, run.encoding, proof=proof)


def _proved_measure(
    simulator: Simulator[StateT], paid: int, found: Verdict
) -> Literal["ticks", "cost"] | None:
    """The measure that is proved optimal, if the encoding counts it as the interpreter does.

    With costs the encoding counts them in thousands and ticks below, as long as none is dearer.
    """
    if not has_costs(simulator):
        ticks = fewest_commands(simulator) == "ticks"
        return "ticks" if ticks and paid == found.ticks else None
    few = found.ticks < TICKS_PER_COST
    return "cost" if few and paid == found.cost * TICKS_PER_COST + found.ticks else None


def attempt_of(run: EngineRun, found: Verdict | str | None) -> Attempt:
    """A run and the result of `judged`, as an entry of a verdict's attempts."""
    invalid = isinstance(found, str)
    result: AttemptResult = "invalid plan" if invalid else run.result
    detail = found if isinstance(found, str) else run.detail
    return Attempt(run.engine, run.encoding, result, detail, run.seconds)


class Judge(Generic[StateT]):
    """Turns the runs of the planners that the user named into a verdict, the first definite one.

    ``option`` is how they were named. ``polish``: idle steps of a plan are left out.
    """

    def __init__(
        self,
        simulator: Simulator[StateT],
        state: StateT,
        goal: str | None,
        option: str,
        *,
        polish: bool = True,
    ) -> None:
        self._simulator, self._state, self._goal = simulator, state, goal
        self._option, self._polish = option, polish
        self._found: Verdict | None = None
        self._attempts: list[Attempt] = []
        self._notes: list[Diagnostic] = []

    def accept(self, run: EngineRun) -> bool:
        """Note one run; whether it gives a definite verdict."""
        found = judged(self._simulator, self._state, self._goal, run, polish=self._polish)
        if isinstance(found, Verdict):
            self._found = found
        attempt = attempt_of(run, found)
        self._attempts.append(attempt)
        self._notes += run.notes or self._faults(attempt)
        return self._found is not None

    def verdict(self) -> Verdict:
        """The verdict of all runs; *unknown* with the notes where none was definite."""
        if self._found is not None:
            return replace(self._found, attempts=tuple(self._attempts))
        attempts, notes = tuple(self._attempts), tuple(dict.fromkeys(self._notes))
        return Verdict("unknown", self._goal, None, "", "", attempts=attempts, notes=notes)

    def _faults(self, attempt: Attempt) -> Iterator[Diagnostic]:
        """The note for the user about a run without an answer."""
        engine, detail = attempt.engine, attempt.detail
        if attempt.result == "limit":
            hint = f"Raise `--time-limit`, or plan without `{self._option}`."
            yield Diagnostic("TW0813", f"The planner `{engine}` was stopped: {detail}.", hint=hint)
        elif attempt.result in ("failed", "invalid plan", "no plan", "no proof"):
            hint = f"Plan without `{self._option}`: other ways are tried then."
            yield Diagnostic(
                "TW0812", f"The planner `{engine}` gave no answer: {detail}.", hint=hint
            )
