"""An estimate by playing: how often a policy wins, with a Wilson 95 % confidence interval.

It is the answer of last resort, for graphs that are too large: a claim about the policy that was
played, not about the best one, and never merged with bounds or exact values.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Generic

from tokenworld.ground import Command, Simulator, StateT, Successor
from tokenworld.planning.verdict import PlanStep

__all__ = ["Player", "Sample", "sampled", "wilson"]

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


class Player(Generic[StateT]):
    """Follows what is known to be best; elsewhere a plan, with a new one where luck leaves it.

    ``known`` answers in states where a policy is known. ``plan`` answers with the steps of a plan
    from a state, each with the draws that it counts on, or with nothing; it is asked once for each
    state, so that all plays follow the same rules.
    """

    def __init__(
        self,
        simulator: Simulator[StateT],
        known: Callable[[StateT], Command | None],
        plan: Callable[[StateT], Sequence[PlanStep]],
    ) -> None:
        self._simulator, self._known, self._plan = simulator, known, plan
        self._plans: dict[Hashable, tuple[PlanStep, ...]] = {}
        self._rest: tuple[PlanStep, ...] = ()

    def begin(self) -> None:
        """A new play: nothing is left of the last one."""
        self._rest = ()

    def choose(self, state: StateT) -> Command | None:
        """What to do, ``None`` where no way to the goal is found."""
        command = self._known(state)
        if command is not None:
            self._rest = ()
            return command
        if not self._rest or not self._simulator.successors(state, self._rest[0].command):
            self._rest = self._planned(state)
        return self._rest[0].command if self._rest else None

    def learn(self, drawn: Successor[StateT]) -> None:
        """What luck made of the command."""
        hoped = all(draw in drawn.draws for draw in self._rest[0].draws) if self._rest else False
        self._rest = self._rest[1:] if hoped else ()

    def _planned(self, state: StateT) -> tuple[PlanStep, ...]:
        key = self._simulator.key(state)
        if key not in self._plans:
            self._plans[key] = tuple(self._plan(state))
        return self._plans[key]


def sampled(
    simulator: Simulator[StateT],
    start: StateT,
    goal: str | None,
    player: Player[StateT],
    *,
    plays: int,
    seconds: float,
    longest: int = 2_000,
    seed: int = 0,
) -> Sample:
    """Play so often from ``start``, or as often as time allows (at least once).

    A play is lost where the player has no answer or luck refuses his command, and broken off after
    ``longest`` commands or when time is up. ``seed`` decides all luck.
    """
    random, end = Random(seed), time.monotonic() + seconds
    wins = cut = done = 0
    while done < plays and (done == 0 or time.monotonic() < end):
        done += 1
        player.begin()
        result = _play(simulator, start, goal, player, random, longest, end)
        wins += result is True
        cut += result is None
    return Sample(done, wins, cut)


def _play(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    player: Player[StateT],
    random: Random,
    longest: int,
    end: float,
) -> bool | None:
    """Whether one play reaches the goal; ``None`` if it was broken off."""
    for _ in range(longest):
        if simulator.won(state, goal):
            return True
        if simulator.lost(state):
            return False
        command = player.choose(state)
        if time.monotonic() > end:
            return None
        drawn = None if command is None else _drawn(simulator, state, command, random)
        if drawn is None:
            return False
        player.learn(drawn)
        state = drawn.state
    return None


def _drawn(
    simulator: Simulator[StateT], state: StateT, command: Command, random: Random
) -> Successor[StateT] | None:
    """What luck makes of a command; ``None`` where it is refused."""
    share, reached = Fraction(random.getrandbits(64), 1 << 64), Fraction(0)
    for one in simulator.successors(state, command):
        reached += one.probability
        if share < reached:
            return one
    return None
