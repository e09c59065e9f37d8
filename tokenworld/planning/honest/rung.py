"""The sliced search as a rung of the ladder: its time and memory, and what its answer is worth."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from tokenworld.ground import Simulator, StateT
from tokenworld.planning.honest.joint import Joint, joint_task
from tokenworld.planning.honest.sliced import Best, SlicedSearch, best_plan
from tokenworld.planning.honesty import Shortfall
from tokenworld.planning.lower.encode import Unencodable
from tokenworld.planning.planners.classical import EngineRun
from tokenworld.planning.proof.reproof import NoProof
from tokenworld.planning.search import Cancel
from tokenworld.planning.verdict import PlanStep

__all__ = ["ENCODING", "SLICED", "SliceProof", "SlicedRun", "slice_proof", "sliced_run"]

SLICED = "sliced search"
ENCODING = "E"
_LOOK = 0.1
"""Seconds between two looks at what goes on beside."""
_MOST_WORK = 2_000_000
"""So many moves of single states it is worth to know how near the best plan comes."""
_BOOKKEEPING = 300
"""Bytes per vector besides eight for each of its states, rounded up."""


@dataclass(frozen=True, slots=True)
class SlicedRun:
    """What the search came to, and where there is no plan how near the best one comes."""

    run: EngineRun
    shortfall: Shortfall | None = None


def sliced_run(
    simulator: Simulator[StateT],
    starts: Sequence[StateT],
    goal: str | None,
    *,
    seconds: float,
    memory: int,
    cancel: Cancel,
    say: Callable[[str], None] = lambda line: None,
) -> SlicedRun:
    """Search the slice of all ``starts`` at once, for so many seconds and bytes."""
    began = time.monotonic()
    joint = joint_task(simulator, starts, goal)
    if isinstance(joint, Unencodable):
        one = joint.obstacles[0]
        why = f"the slice does not take {one.construct}: {one.reason}"
        return SlicedRun(EngineRun(SLICED, ENCODING, "no proof", why, time.monotonic() - began))
    search, watch = SlicedSearch(joint), _Watch(began, seconds, memory, len(starts), cancel, say)
    ended = search.run(watch.stop)
    spent = time.monotonic() - began
    if ended is None:
        detail = f"it stopped after {search.vectors:,} sets of states"
        how: Literal["cancelled", "limit"] = "cancelled" if watch.cancelled else "limit"
        return SlicedRun(EngineRun(SLICED, ENCODING, how, detail, spent))
    if ended.plan is not None:
        steps = tuple(PlanStep(one) for one in ended.plan)
        return SlicedRun(EngineRun(SLICED, ENCODING, "plan", "it found a plan", spent, steps))
    detail = f"none of the {ended.vectors:,} sets of sliced states is all goal"
    proved = EngineRun(SLICED, ENCODING, "no plan", detail, spent, digest=joint.digest)
    return SlicedRun(proved, _shortfall(simulator, starts[0], joint))


class _Watch:
    """Looks at time, memory and everything else that goes on, not more often than worth it."""

    def __init__(
        self, began: float, seconds: float, memory: int, width: int, cancel: Cancel,
        say: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._end, self._most = began + seconds, memory // (_BOOKKEEPING + 8 * width)
        self._cancel, self._say = cancel, say
        self._looked = self._spoke = began
        self.cancelled = False

    def stop(self, vectors: int) -> bool:
        now = time.monotonic()
        if now - self._spoke >= 1:
            self._spoke = now
            self._say(f"{SLICED}: {vectors:,} sets of states seen")
        if now - self._looked >= _LOOK:
            self.cancelled = self._cancel()
            self._looked = time.monotonic()
        return self.cancelled or now > self._end or vectors > self._most


# ---- how near the best plan comes --------------------------------------------------------------


def _shortfall(simulator: Simulator[StateT], state: StateT, joint: Joint) -> Shortfall | None:
    """For how many assignments a plan can win at most; ``None`` where that takes too long."""
    commands = len({one.command for one in joint.task.operators})
    each = max(commands, 1) * len(joint.starts)
    best = best_plan(joint, lambda vectors: vectors * each > _MOST_WORK)
    if best is None:
        return None
    plan = tuple(simulator.show(state, one) for one in best.plan)
    return Shortfall(len(best.wins), plan, _failing(joint, best))


def _failing(joint: Joint, best: Best) -> tuple[str, ...]:
    """The assignments for which the best plan fails, as authors write them, each once.

    They stand in the order of their values: the first start is the real one, which is secret.
    """
    failing = set(range(len(joint.starts))) - set(best.wins)
    return tuple(
        dict.fromkeys(
            " and ".join(f"{one.name} = {one.values[at]}" for one in joint.hidden)
            for at in sorted(failing, key=lambda at: joint.starts[at])
            if joint.hidden
        )
    )


# ---- the proof alone ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SliceProof:
    """All vectors that can be reached on the slice: their number and digest, and the task's."""

    vectors: int
    digest: str
    task: str


def slice_proof(
    simulator: Simulator[StateT],
    starts: Sequence[StateT],
    goal: str | None,
    *,
    seconds: float,
    say: Callable[[str], None] = lambda line: None,
) -> SliceProof:
    """Build the slice anew and see all of it; `NoProof` where it proves nothing."""
    began, joint = time.monotonic(), joint_task(simulator, starts, goal)
    if isinstance(joint, Unencodable):
        one = joint.obstacles[0]
        raise NoProof(f"the slice does not take {one.construct}: {one.reason}")
    search = SlicedSearch(joint)
    watch = _Watch(began, seconds, 1 << 40, len(starts), lambda: False, say)
    ended = search.run(watch.stop)
    if ended is None:
        raise NoProof(f"the limit of {seconds:.3g} s was reached", limited=True)
    if ended.plan is not None:
        raise NoProof("a plan wins for all values of the secrets")
    return SliceProof(ended.vectors, search.digest, joint.digest)
