"""Answers of planners that read an encoding: plan, no plan, or the reason for neither.

The ladder and `--encoding` hand an accepting callback to a planner (`Asked`) and get one
`EngineRun` for each search; a definite run ends the planner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, Protocol, TypedDict, Unpack

from tokenworld.diagnostics import Diagnostic, Severity
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Simulator, StateT
from tokenworld.planning.encodings.ir import NotAPlan
from tokenworld.planning.lower.encode import Obstacle
from tokenworld.planning.planners.downward import Answer
from tokenworld.planning.search.interpreted import Cancel
from tokenworld.planning.verdict import PlanStep

__all__ = [
    "Asked",
    "Classical",
    "EngineRun",
    "FAST_DOWNWARD_NAME",
    "OUT_OF_REACH",
    "RELAXED",
    "SAS_ENCODING",
    "engine_run",
    "inexpressible",
    "not_started",
    "obstacle_notes",
    "out_of_reach",
]


RELAXED = "relaxed reachability"


OUT_OF_REACH = "the goal is out of reach even if nothing were ever undone"


FAST_DOWNWARD_NAME = "fast-downward"


SAS_ENCODING = "E"


@frozen
class EngineRun:
    """The result of one planner on one encoding.

    ``exact``: the encoding has a plan exactly if the world has one, so that "no plan" is a proof.
    ``detail`` is a clause; ``notes`` are what the author should know of a run without an answer.
    """

    engine: str
    encoding: str
    result: Literal[
        "plan", "no plan", "no proof", "invalid plan", "limit", "failed", "cancelled", "missing",
        "not expressible",
    ]  # fmt: skip
    detail: str
    seconds: float
    steps: tuple[PlanStep, ...] = ()
    exact: bool = True
    digest: str = ""
    notes: tuple[Diagnostic, ...] = ()


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


class Encoded(Protocol):
    """An encoding that a planner was run on."""

    @property
    def digest(self) -> str:
        """SHA-256 of what the planner read, in hexadecimal."""

    def plan(self, names: Sequence[str]) -> tuple[PlanStep, ...]:
        """The steps that a planner's operators mean; raises `NotAPlan` where they are none."""


def engine_run(encoded: Encoded, encoding: str, answer: Answer) -> EngineRun:
    """Fast Downward's answer with its operators read back as steps."""
    engine, notes = f"{FAST_DOWNWARD_NAME} {answer.configuration}", tuple[Diagnostic, ...]()
    if answer.result == "plan":
        try:
            steps = encoded.plan(answer.operators)
        except NotAPlan as error:
            return EngineRun(engine, encoding, "invalid plan", str(error), answer.seconds)
        return EngineRun(engine, encoding, "plan", answer.detail, answer.seconds, steps)
    if answer.result == "failed" and answer.note is not None:
        notes = (answer.note,)
    return EngineRun(
        engine,
        encoding,
        answer.result,
        answer.detail,
        answer.seconds,
        digest=encoded.digest,
        notes=notes,
    )


def out_of_reach(encoding: str, seconds: float) -> EngineRun:
    """The result where encoding the world showed that the goal is out of reach."""
    return EngineRun(RELAXED, encoding, "no plan", OUT_OF_REACH, seconds)


def not_started(engine: str, encoding: str, error: OSError, seconds: float) -> EngineRun:
    """The result of a planner that the system could not start."""
    reason = f"it could not be started: {error.strerror or error}"
    return EngineRun(engine, encoding, "failed", reason, seconds)


def inexpressible(
    obstacles: tuple[Obstacle, ...], seconds: float, encoding: str = SAS_ENCODING
) -> EngineRun:
    """The constructs that no finite encoding takes; a phase whose order matters is no error."""
    hint = "Our own search plans on the interpreter instead, as far as the limits allow."
    notes = tuple(
        replace(one, severity=Severity.INFO if one.code == "TW0805" else Severity.ERROR)
        for one in obstacle_notes(obstacles, hint)
    )
    detail = f"no encoding takes {obstacles[0].construct}: {obstacles[0].reason}"
    return EngineRun(FAST_DOWNWARD_NAME, encoding, "not expressible", detail, seconds, notes=notes)


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
