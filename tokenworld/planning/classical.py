"""Planners behind the ladder: what each came to, and Fast Downward on the SAS+ encoding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from tokenworld.diagnostics import Diagnostic
from tokenworld.ground import Simulator, StateT
from tokenworld.planning.search import Cancel
from tokenworld.planning.verdict import PlanStep

__all__ = ["Classical", "EngineRun", "fast_downward"]


@dataclass(frozen=True, slots=True)
class EngineRun:
    """What one planner came to on one encoding.

    ``exact``: the encoding has a plan exactly if the world has one, so that "no plan" is a proof.
    """

    engine: str
    encoding: str
    result: Literal["plan", "no plan", "limit", "failed", "cancelled", "not expressible"]
    detail: str
    seconds: float
    steps: tuple[PlanStep, ...] = ()
    exact: bool = True
    digest: str = ""
    notes: tuple[Diagnostic, ...] = ()


class Classical(Protocol):
    """Runs planners on an encoding and answers as each of them ends."""

    def __call__(
        self,
        simulator: Simulator[StateT],
        state: StateT,
        goal: str | None,
        *,
        seconds: float,
        cancel: Cancel,
        accept: Callable[[EngineRun], bool],
    ) -> None:
        """Run them for ``seconds``; hand each result to ``accept`` and stop when it says so."""


def fast_downward(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    *,
    seconds: float,
    cancel: Cancel,
    accept: Callable[[EngineRun], bool],
) -> None:
    """Encode the world and run ff and blind on it in parallel."""
    raise NotImplementedError
