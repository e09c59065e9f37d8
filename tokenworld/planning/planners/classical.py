"""Planners behind the ladder: Fast Downward on encoding E, and what each search came to."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypedDict, Unpack

from tokenworld.diagnostics import Diagnostic, Severity
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Simulator, StateT
from tokenworld.planning.search import Cancel
from tokenworld.planning.verdict import PlanStep

if TYPE_CHECKING:
    from tokenworld.planning.lower.encode import Obstacle
    from tokenworld.planning.planners.downward import Answer

__all__ = [
    "OUT_OF_REACH",
    "RELAXED",
    "Asked",
    "Classical",
    "Encoded",
    "EngineRun",
    "engine_run",
    "fast_downward",
    "inexpressible",
    "not_started",
    "obstacle_notes",
    "out_of_reach",
]

RELAXED = "relaxed reachability"
OUT_OF_REACH = "the goal is out of reach even if nothing were ever undone"
_ENGINE = "fast-downward"
_ENCODING = "E"
_ENCODING_SHARE = 1 / 3  # of the time that is left: searches that need no encoding want some


@frozen
class EngineRun:
    """What one planner came to on one encoding.

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
    """With what a planner is asked: its file, its limits, and who hears of its results.

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


def fast_downward(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    **asked: Unpack[Asked],
) -> None:
    """Encode the world and run ff (to find) and blind (to prove) on it, both at once.

    Where no finite encoding takes the world, its numbers stay numbers and ENHSP is asked.
    """
    from tokenworld.planning.lower.encode import Unencodable, encode
    from tokenworld.planning.planners.downward import run_both

    began, accept = time.monotonic(), asked["accept"]
    enough = began + asked["seconds"] * _ENCODING_SHARE
    encoding = encode(
        simulator.instance_at(state), simulator, state, goal, late=lambda: time.monotonic() > enough
    )
    spent = time.monotonic() - began
    left = max(asked["seconds"] - spent, 0.0)
    if isinstance(encoding, Unencodable):
        if not accept(inexpressible(encoding.obstacles, spent)):
            _with_numbers(simulator, state, goal, {**asked, "seconds": left})
    elif encoding.unreachable:
        accept(out_of_reach(_ENCODING, spent))
    elif asked["program"] is not None:
        try:
            run_both(
                asked["program"],
                encoding.text,
                seconds=left,
                memory=asked["memory"],
                cancel=asked["cancel"],
                accept=lambda answer: accept(engine_run(encoding, _ENCODING, answer)),
            )
        except OSError as error:
            accept(not_started(_ENGINE, _ENCODING, error, time.monotonic() - began))


def _with_numbers(
    simulator: Simulator[StateT], state: StateT, goal: str | None, asked: Asked
) -> None:
    """Encoding A, where the world has an exact lifted form; otherwise nothing more is said."""
    from tokenworld.planning.encodings.numeric import numeric_enhsp

    def told(run: EngineRun) -> bool:
        return run.result == "not expressible" or asked["accept"](run)

    given: Asked = {**asked, "program": None, "accept": told}
    numeric_enhsp(simulator, state, goal, **given)


# ---- results ------------------------------------------------------------------------------------


class Encoded(Protocol):
    """An encoding that a planner was run on."""

    @property
    def digest(self) -> str:
        """SHA-256 of what the planner read, in hexadecimal."""

    def plan(self, names: Sequence[str]) -> tuple[PlanStep, ...]:
        """The steps that a planner's operators mean; raises `NotAPlan` where they are none."""


def engine_run(encoded: Encoded, encoding: str, answer: Answer) -> EngineRun:
    """Fast Downward's answer with its operators read back as steps."""
    from tokenworld.planning.encodings.decode import NotAPlan

    engine, notes = f"{_ENGINE} {answer.configuration}", tuple[Diagnostic, ...]()
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
    """What encoding the world showed already."""
    return EngineRun(RELAXED, encoding, "no plan", OUT_OF_REACH, seconds)


def not_started(engine: str, encoding: str, error: OSError, seconds: float) -> EngineRun:
    """A planner that the system could not run."""
    reason = f"it could not be started: {error.strerror or error}"
    return EngineRun(engine, encoding, "failed", reason, seconds)


def inexpressible(
    obstacles: tuple[Obstacle, ...], seconds: float, encoding: str = _ENCODING
) -> EngineRun:
    """The constructs that no finite encoding takes; a phase whose order matters is no error."""
    hint = "Our own search plans on the interpreter instead, as far as the limits allow."
    notes = tuple(
        replace(one, severity=Severity.INFO if one.code == "TW0805" else Severity.ERROR)
        for one in obstacle_notes(obstacles, hint)
    )
    detail = f"no encoding takes {obstacles[0].construct}: {obstacles[0].reason}"
    return EngineRun(_ENGINE, encoding, "not expressible", detail, seconds, notes=notes)


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
