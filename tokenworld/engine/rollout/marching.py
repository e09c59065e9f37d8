"""What many runs came to that were given their intents side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tokenworld.engine.rollout.acting import NOW, ROWS
from tokenworld.engine.rollout.automaton import Automaton
from tokenworld.engine.rollout.places import SEED, TICK
from tokenworld.engine.rollout.reading import Row
from tokenworld.engine.rollout.scratch import STATUSES
from tokenworld.engine.rollout.slots import Plan
from tokenworld.engine.rollout.striding import (
    AT,
    RUN_ENDED,
    RUN_RECORDS,
    RUN_REWARD,
    RUN_SEED,
    RUN_STATUS,
    RUN_TICK,
    RUN_TURNS,
)
from tokenworld.engine.state import State

__all__ = ["March", "Marched", "Tally", "Walked"]


@dataclass(frozen=True, slots=True)
class Tally:
    """What a run came to: records by status, rewards in units, the tick of the first ending."""

    records: int
    turns: int
    statuses: tuple[int, ...]
    rewards: int
    ended_at: int


@dataclass(frozen=True, slots=True)
class Walked:
    """Runs that were played one after another: their counts and their rows at the end."""

    plan: Plan
    tallies: Sequence[Tally]
    rows: Sequence[Sequence[int]]

    def tally(self, run: int) -> Tally:
        """The counts of a run."""
        return self.tallies[run]

    def state(self, run: int) -> State:
        """The interpreter's state at the end of a run."""
        return self.plan.decode(self.rows[run])


@dataclass(frozen=True, slots=True)
class Marched:
    """Runs that an automaton played: the numbers of each as `striding` has them, ``row`` a row of
    the world for what never changes."""

    plan: Plan
    automaton: Automaton
    runs: Any
    row: Row

    def tally(self, run: int) -> Tally:
        """The counts of a run."""
        found = [int(one) for one in self.runs[run]]
        statuses = tuple(found[RUN_STATUS : RUN_STATUS + len(STATUSES)])
        return Tally(
            found[RUN_RECORDS], found[RUN_TURNS], statuses, found[RUN_REWARD], found[RUN_ENDED]
        )

    def state(self, run: int) -> State:
        """The interpreter's state at the end of a run."""
        row, found = [int(one) for one in self.row], self.runs[run]
        row[TICK], row[SEED] = int(found[RUN_TICK]), int(found[RUN_SEED])
        rows: list[Row] = [[*row] for _ in range(ROWS)]
        rows[NOW] = row
        self.automaton.learner.place(rows, self.automaton.contents[int(found[AT])])
        return self.plan.decode(row)


March = Marched | Walked
