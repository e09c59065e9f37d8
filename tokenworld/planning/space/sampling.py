"""An estimate by playing: how often a policy wins, with a Wilson 95 % confidence interval.

It is the answer of last resort, for graphs that are too large: a claim about the policy that was
played, not about the best one, and never merged with bounds or exact values.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Generic

from tokenworld.ground import Command, Simulator, StateT
from tokenworld.planning.search import Found, Limits, Search

__all__ = ["Planner", "Sample", "sampled", "wilson"]

_Z = 1.959963984540054
"""The quantile of the normal distribution that leaves 2.5 % above it."""


@dataclass(frozen=True, slots=True)
class Sample:
    """So many plays, how many of them won, and the interval (95 %) for the true share.

    ``cut`` plays were broken off by a limit; they count as not won.
    """

    plays: int
    wins: int
    cut: int

    @property
    def share(self) -> float:
        return self.wins / self.plays

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.wins, self.plays)


def wilson(wins: int, plays: int) -> tuple[float, float]:
    """The Wilson score interval at 95 %."""
    share, z = wins / plays, _Z * _Z
    middle = (share + z / (2 * plays)) / (1 + z / plays)
    spread = _Z / (1 + z / plays) * math.sqrt(share * (1 - share) / plays + z / (4 * plays**2))
    low = 0.0 if wins == 0 else max(middle - spread, 0.0)
    return low, 1.0 if wins == plays else min(middle + spread, 1.0)


class Planner(Generic[StateT]):
    """A player that follows a plan and makes a new one wherever luck leaves it.

    What to do in a state is settled when it is first met, so that this is one fixed policy.
    """

    def __init__(
        self,
        simulator: Simulator[StateT],
        goal: str | None,
        known: Callable[[StateT], Command | None],
        limits: Limits,
    ) -> None:
        self._simulator, self._goal = simulator, goal
        self._known, self._limits = known, limits
        self._settled: dict[object, Command | None] = {}

    def __call__(self, state: StateT) -> Command | None:
        """What to do, ``None`` where no way to the goal is found."""
        key = self._simulator.key(state)
        if key not in self._settled:
            command = self._known(state)
            self._settled[key] = self._planned(state) if command is None else command
        return self._settled[key]

    def _planned(self, state: StateT) -> Command | None:
        """The first step of a plan from here; the rest is kept for the states that it passes."""
        found = Search(self._simulator, state, self._goal).run(self._limits)
        if not isinstance(found, Found) or not found.steps:
            return None
        for step in found.steps:
            self._settled.setdefault(self._simulator.key(state), step.command)
            after = self._simulator.successors(state, step.command)
            state = next(one.state for one in after if one.draws == step.draws)
        return found.steps[0].command


def sampled(
    simulator: Simulator[StateT],
    start: StateT,
    goal: str | None,
    player: Callable[[StateT], Command | None],
    *,
    plays: int,
    seconds: float,
    longest: int = 2_000,
    seed: int = 0,
) -> Sample:
    """Play so often from ``start``, or as often as time allows (at least once).

    A play is lost where the player has no answer or luck refuses his command, and broken off after
    ``longest`` commands. ``seed`` decides all luck.
    """
    random, end = Random(seed), time.monotonic() + seconds
    wins = cut = done = 0
    while done < plays and (done == 0 or time.monotonic() < end):
        done += 1
        result = _play(simulator, start, goal, player, random, longest, end)
        wins += result is True
        cut += result is None
    return Sample(done, wins, cut)


def _play(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    player: Callable[[StateT], Command | None],
    random: Random,
    longest: int,
    end: float,
) -> bool | None:
    """Whether one play reaches the goal; ``None`` if it was broken off."""
    for _ in range(longest):
        if simulator.won(state, goal):
            return True
        if simulator.lost(state) or (command := player(state)) is None:
            return False
        after = _drawn(simulator, state, command, random)
        if after is None:
            return False
        state = after
        if time.monotonic() > end:
            return None
    return None


def _drawn(
    simulator: Simulator[StateT], state: StateT, command: Command, random: Random
) -> StateT | None:
    """The state that luck chooses; ``None`` where the command is refused."""
    share, reached = Fraction(random.getrandbits(64), 1 << 64), Fraction(0)
    for one in simulator.successors(state, command):
        reached += one.probability
        if share < reached:
            return one.state
    return None
