"""A* on packed states as engines that answer alone: `hmax` (cheapest plans) and `hadd` (soon)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Generic

from tokenworld.diagnostics import Diagnostic
from tokenworld.ground import Simulator, StateT
from tokenworld.planning.explore.best import BestFirst, PackedBest
from tokenworld.planning.explore.heuristics import Heuristic
from tokenworld.planning.explore.packed import Packed
from tokenworld.planning.explore.search import Progress
from tokenworld.planning.explore.whole import packed
from tokenworld.planning.lower.algebra import Obstacle
from tokenworld.planning.refereed import refereed
from tokenworld.planning.search import (
    Cancel,
    Capped,
    Exhausted,
    Found,
    Limits,
    SearchProgress,
    SearchResult,
)
from tokenworld.planning.verdict import Attempt, Proof, Verdict

__all__ = ["HEURISTICS", "QuickBest", "heuristic_verdict", "plan_by_heuristic"]

Say = Callable[[str], None]
HEURISTICS: dict[str, Heuristic] = {"hmax": "max", "hadd": "add"}
_SMALL = 1_000
"""So many states are searched in Python before it is worth the while to compile."""


class QuickBest(Generic[StateT]):
    """A* in Python, compiled where it is long and numba is installed."""

    def __init__(
        self, simulator: Simulator[StateT], world: Packed, start: StateT, heuristic: Heuristic
    ) -> None:
        self._simulator, self._world, self._start = simulator, world, start
        self._heuristic: Heuristic = heuristic
        self._search: BestFirst = PackedBest(simulator, world, start, heuristic)
        self._asked = False

    @property
    def hopeless(self) -> int:
        """How many states were not followed, for nothing leads from them to the goal."""
        return self._search.hopeless

    def so_far(self) -> SearchProgress:
        """How far it has come."""
        return self._search.so_far()

    def run(
        self, limits: Limits, *, progress: Progress = None, cancel: Cancel | None = None
    ) -> SearchResult:
        """Search until there is an answer or a limit is hit; run again to go on."""
        first = min(_SMALL, limits.states or _SMALL)
        if not self._asked:
            result = self._search.run(
                replace(limits, states=first), progress=progress, cancel=cancel
            )
            if not isinstance(result, Capped) or result.limit != "states" or first < _SMALL:
                return result
            self._asked = True
            self._compile()
        return self._search.run(limits, progress=progress, cancel=cancel)

    def _compile(self) -> None:
        from tokenworld.planning.explore.compiled import Tables, available
        from tokenworld.planning.explore.compiled_best import CompiledBest

        tables = Tables.of(self._world, to_goal=True) if available() else None
        if tables is not None:
            self._search = CompiledBest(
                self._simulator, self._world, self._start, tables, self._heuristic
            )


def plan_by_heuristic(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    name: str,
    *,
    seconds: float,
    say: Say = lambda line: None,
) -> Verdict:
    """The verdict of one of `HEURISTICS` alone, within ``seconds``."""
    began, obstacles = time.monotonic(), list[Obstacle]()
    say("packing the world's states")
    world = packed(simulator, state, goal, obstacles)
    if world is None or world.prices is None:
        return Verdict("unknown", goal, None, "", "", notes=_not_packed(simulator, obstacles))
    search = QuickBest(simulator, world, state, HEURISTICS[name])

    def told(now: SearchProgress) -> None:
        say(f"{name}: {now.states:,} states seen, {now.waiting:,} waiting, depth {now.depth}")

    left = max(seconds - (time.monotonic() - began), 0.0)
    result = search.run(Limits(None, left), progress=told)
    spent = time.monotonic() - began
    found = heuristic_verdict(simulator, state, goal, name, result, search.hopeless)
    return replace(found, attempts=(_attempt(name, result, spent),), seconds=spent)


def heuristic_verdict(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    name: str,
    result: SearchResult,
    hopeless: int,
) -> Verdict:
    """What an answer is worth: a plan is replayed, and one that may be dearer loses idle steps."""
    match result:
        case Found(steps=steps, optimal=optimal):
            found = refereed(simulator, state, steps, goal, name, "", polish=optimal is None)
            if isinstance(found, Verdict):
                return replace(found, optimal=optimal)
            message = f"The search `{name}` gave no usable answer: {found}."
            note = Diagnostic("TW0812", message, hint="Plan without `--engine`.")
        case Exhausted(states=states):
            detail = f"none of the {states:,} states seen is the goal"
            if hopeless:
                detail += f", and nothing leads from {hopeless:,} of them to it"
            proof = Proof(f"{name}: {detail}", name, states=states)
            return Verdict("unwinnable", goal, "exhausted", name, "", proof=proof)
        case Capped(reason=reason, states=states):
            message = f"There is no verdict: {reason} after {states:,} states."
            hint = "Raise `--time-limit`, or make the world smaller."
            note = Diagnostic("TW0813", message, hint=hint)
    return Verdict("unknown", goal, None, "", "", notes=(note,))


def _attempt(name: str, result: SearchResult, seconds: float) -> Attempt:
    match result:
        case Found():
            return Attempt(name, "", "plan", "it found a plan", seconds)
        case Exhausted(states=states):
            return Attempt(name, "", "no plan", f"it saw {states:,} states", seconds)
        case Capped(reason=reason, states=states):
            return Attempt(name, "", "limit", f"{reason} after {states:,} states", seconds)


def _not_packed(simulator: Simulator[StateT], obstacles: list[Obstacle]) -> tuple[Diagnostic, ...]:
    """What stands in the way, each with its place."""
    hint = "Plan without `--engine`: our own search works on the interpreter."
    if not obstacles:
        world = simulator.instance.world
        message = f"The states of `{world.name}` cannot be packed."
        return (Diagnostic("TW0801", message, world.span, "this world", hint=hint),)
    return tuple(
        Diagnostic(
            one.code,
            f"States cannot be packed: {one.construct}, {one.reason}.",
            one.span,
            "not expressible for this search",
            hint=hint,
        )
        for one in obstacles
    )
