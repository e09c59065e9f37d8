"""Planners behind the ladder: Fast Downward on encoding E, and what each search came to."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from tokenworld.diagnostics import Diagnostic, Severity
from tokenworld.ground import Simulator, StateT
from tokenworld.planning.search import Cancel
from tokenworld.planning.verdict import PlanStep

if TYPE_CHECKING:
    from tokenworld.planning.lower.encode import Encoding, Obstacle
    from tokenworld.planning.planners.downward import Answer

__all__ = ["RELAXED", "Classical", "EngineRun", "fast_downward", "inexpressible"]

RELAXED = "relaxed reachability"
_ENGINE = "fast-downward"
_ENCODING = "E"


@dataclass(frozen=True, slots=True)
class EngineRun:
    """What one planner came to on one encoding.

    ``exact``: the encoding has a plan exactly if the world has one, so that "no plan" is a proof.
    ``detail`` is a clause; ``notes`` are what the author should know of a run without an answer.
    """

    engine: str
    encoding: str
    result: Literal[
        "plan", "no plan", "invalid plan", "limit", "failed", "cancelled", "missing",
        "not expressible",
    ]  # fmt: skip
    detail: str
    seconds: float
    steps: tuple[PlanStep, ...] = ()
    exact: bool = True
    digest: str = ""
    notes: tuple[Diagnostic, ...] = ()


class Classical(Protocol):
    """Encodes a world and runs planners on it."""

    def __call__(
        self,
        simulator: Simulator[StateT],
        state: StateT,
        goal: str | None,
        *,
        program: Path | None,
        seconds: float,
        memory: int,
        cancel: Cancel,
        accept: Callable[[EngineRun], bool],
    ) -> None:
        """Hand each result to ``accept`` as it comes and stop as soon as it says so.

        ``program`` is the planner's file, ``None`` to try only what needs none. ``memory`` is in
        bytes.
        """


def fast_downward(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    *,
    program: Path | None,
    seconds: float,
    memory: int,
    cancel: Cancel,
    accept: Callable[[EngineRun], bool],
) -> None:
    """Encode the world and run ff (to find) and blind (to prove) on it, both at once.

    Where no finite encoding takes the world, its numbers stay numbers and ENHSP is asked.
    """
    from tokenworld.planning.lower.encode import Unencodable, encode
    from tokenworld.planning.planners.downward import run_both

    began = time.monotonic()
    encoding = encode(simulator.instance_at(state), simulator, state, goal)
    spent = time.monotonic() - began
    if isinstance(encoding, Unencodable):
        if not accept(inexpressible(encoding.obstacles, spent)):
            left = max(seconds - spent, 0.0)
            _with_numbers(simulator, state, goal, left, memory, cancel, accept)
    elif encoding.unreachable:
        detail = "the goal is out of reach even if nothing were ever undone"
        accept(EngineRun(RELAXED, _ENCODING, "no plan", detail, spent))
    elif program is not None:
        try:
            run_both(
                program,
                encoding.text,
                seconds=max(seconds - spent, 0.0),
                memory=memory,
                cancel=cancel,
                accept=lambda answer: accept(_engine_run(encoding, answer)),
            )
        except OSError as error:
            reason = f"it could not be started: {error.strerror or error}"
            accept(EngineRun(_ENGINE, _ENCODING, "failed", reason, time.monotonic() - began))


def _with_numbers(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    seconds: float,
    memory: int,
    cancel: Cancel,
    accept: Callable[[EngineRun], bool],
) -> None:
    """Encoding A, where the world has an exact lifted form; otherwise nothing more is said."""
    from tokenworld.planning.encodings.numeric import numeric_enhsp

    def told(run: EngineRun) -> bool:
        return run.result == "not expressible" or accept(run)

    numeric_enhsp(
        simulator, state, goal, seconds=seconds, memory=memory, cancel=cancel, accept=told
    )


def _engine_run(encoding: Encoding, answer: Answer) -> EngineRun:
    """A planner's answer with its operators read back as steps."""
    from tokenworld.planning.encodings.decode import NotAPlan

    engine, notes = f"{_ENGINE} {answer.configuration}", tuple[Diagnostic, ...]()
    if answer.result == "plan":
        try:
            steps = encoding.plan(answer.operators)
        except NotAPlan as error:
            return EngineRun(engine, _ENCODING, "invalid plan", str(error), answer.seconds)
        return EngineRun(engine, _ENCODING, "plan", answer.detail, answer.seconds, steps)
    if answer.result == "failed" and answer.note is not None:
        notes = (answer.note,)
    return EngineRun(
        engine,
        _ENCODING,
        answer.result,
        answer.detail,
        answer.seconds,
        digest=encoding.digest,
        notes=notes,
    )


def inexpressible(
    obstacles: tuple[Obstacle, ...], seconds: float, encoding: str = _ENCODING
) -> EngineRun:
    """The constructs that no finite encoding takes, each as a note at its place."""
    notes = tuple(
        Diagnostic(
            one.code,
            f"No encoding takes {one.construct}: {one.reason}.",
            one.span,
            "not expressible for this planner",
            hint="Our own search plans on the interpreter instead, as far as the limits allow.",
            severity=Severity.INFO if one.code == "TW0805" else Severity.ERROR,
        )
        for one in obstacles
    )
    detail = f"no encoding takes {obstacles[0].construct}: {obstacles[0].reason}"
    return EngineRun(_ENGINE, encoding, "not expressible", detail, seconds, notes=notes)
