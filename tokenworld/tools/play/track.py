"""A plan being followed: which step comes next in the present state, if the plan still fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tokenworld.ground import Command, Outcome
from tokenworld.planning import PlanStep

__all__ = ["Track"]


@dataclass(slots=True)
class Track:
    """Steps with the hash of the state each is to be given in, as far as they were given.

    Undo brings an earlier hash back, and with it the step that follows there. ``certain``: the
    plan reaches its goal with this run's own draws, so luck that looks different is no obstacle.
    """

    steps: tuple[PlanStep, ...]
    certain: bool
    hashes: list[str] = field(default_factory=list)

    def position(self, state_hash: str) -> int | None:
        """How many steps are done in this state; ``None`` where the plan does not fit."""
        return self.hashes.index(state_hash) if state_hash in self.hashes else None

    def next_step(self, state_hash: str) -> PlanStep | None:
        """The step to give in this state."""
        position = self.position(state_hash)
        if position is None or position >= len(self.steps):
            return None
        return self.steps[position]

    def follow(
        self, before: str, command: Command | None, outcomes: Sequence[Outcome], after: str
    ) -> None:
        """Note a tick, whoever gave it: if it was the plan's next step, go on behind it."""
        position, step = self.position(before), self.next_step(before)
        if position is None or step is None or command != step.command:
            return
        if outcomes[-1].status in ("executed", "waiting") and self._as_hoped(step, outcomes):
            self.hashes[position + 1 :] = [after]

    def _as_hoped(self, step: PlanStep, outcomes: Sequence[Outcome]) -> bool:
        if self.certain:
            return True
        drawn = {(d.rule, d.args, d.draw): d.choice for one in outcomes for d in one.draws}
        return all(drawn.get((one.rule, one.args, one.draw)) == one.choice for one in step.draws)
