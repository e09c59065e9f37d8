"""The width search as a rung of the ladder, and as an engine that answers alone."""

from __future__ import annotations

import time
from dataclasses import replace

from tokenworld.diagnostics import Diagnostic
from tokenworld.ground import Simulator, StateT
from tokenworld.planning.own import OwnRung, Say
from tokenworld.planning.refereed import refereed
from tokenworld.planning.search import Exhausted, Found, Limits
from tokenworld.planning.verdict import Verdict
from tokenworld.planning.width.frontier import Novel

__all__ = ["WIDTH_SEARCH", "plan_by_width", "width_rung"]

WIDTH_SEARCH = "width search"


def width_rung(simulator: Simulator[StateT], state: StateT, goal: str | None) -> OwnRung[StateT]:
    """Our own search with states taken by novelty and nearness to the goal."""
    lines = [one for one in simulator.instance.world.goals if goal in (None, one.name)]
    frontier = Novel(simulator, lines)
    return OwnRung(simulator, state, goal, None, engine=WIDTH_SEARCH, frontier=frontier)


def plan_by_width(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    *,
    seconds: float,
    say: Say = lambda line: None,
) -> Verdict:
    """The verdict of the width search alone, within ``seconds``."""
    began = time.monotonic()
    rung = width_rung(simulator, state, goal)
    rung.run(Limits(None, seconds), say, lambda: False)
    verdict = _verdict(rung, simulator, state, goal, seconds)
    spent = time.monotonic() - began
    return replace(verdict, attempts=(rung.attempt(),), seconds=spent)


def _verdict(
    rung: OwnRung[StateT],
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    seconds: float,
) -> Verdict:
    if isinstance(rung.result, Exhausted):
        return rung.unwinnable(rung.result)
    notes = rung.notes()
    if isinstance(rung.result, Found):
        found = refereed(simulator, state, rung.result.steps, goal, WIDTH_SEARCH, "")
        if isinstance(found, Verdict):
            return found
        rung.disprove(found)
        message = f"The {WIDTH_SEARCH} gave no usable answer: {found}."
        notes = (*notes, Diagnostic("TW0812", message, hint="Plan without `--engine`."))
    elif rung.attempt().result == "limit":
        message = f"There is no verdict within {seconds:g} s and the memory allowed."
        hint = "Raise `--time-limit`, or make the world smaller."
        notes = (*notes, Diagnostic("TW0813", message, hint=hint))
    return Verdict("unknown", goal, None, "", "", notes=notes)
