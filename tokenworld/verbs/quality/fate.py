"""The fate of a run: its goal is reached, lost, out of reach since a tick, or still in reach.

Reached and lost are in the log. Whether a goal is still in reach is asked of the planner, under a
limit of time: *unwinnable* is a proof, and without an answer the fate is *unknown*.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Final, Literal, assert_never

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Json
from tokenworld.planning.verdict import Answer, PlanStep, Verdict
from tokenworld.session import OpenWorld, Session
from tokenworld.session.replaying import again, stored_session
from tokenworld.session.session import LastChance, asked_of, last_winnable
from tokenworld.session.solving import plan_for_seed
from tokenworld.store.records import Run, Tick

FateName = Literal[
    "won", "lost", "soft-locked", "ended", "in reach", "unknown", "no goal", "not asked"
]
BAD: Final[tuple[FateName, ...]] = ("lost", "soft-locked")
"""Fates with which no run is HEALTHY."""


@frozen
class Fate:
    """``tick`` is that in which an ending was reached, or a goal came out of reach: ``None`` where
    it never was in reach, or where that is not known (not ``sure``). ``by`` is the ending, or what
    was asked in that tick."""

    name: FateName
    tick: int | None = None
    by: str = ""
    sure: bool = True

    def to_json(self) -> dict[str, Json]:
        return {"fate": self.name, "tick": self.tick, "by": self.by or None, "sure": self.sure}

    @property
    def text(self) -> str:
        """The fate in words."""
        match self.name:
            case "won":
                return f"reached {self.by} in tick {self.tick}"
            case "lost":
                return f"lost by {self.by} in tick {self.tick}"
            case "soft-locked" if self.tick is None:
                return "soft-locked" if not self.sure else "soft-locked from the start"
            case "soft-locked":
                since = "since" if self.sure else "at the latest since"
                return f"soft-locked {since} tick {self.tick}{f': {self.by}' if self.by else ''}"
            case "ended":
                return "play ended without it"
            case "in reach":
                return "still in reach"
            case "unknown":
                return "not known to be in reach: the planner found no answer in time"
            case "no goal":
                return "the world has none"
            case "not asked":
                return "not reached; whether it is in reach was not asked"
            case _:
                assert_never(self.name)


UNASKED: Final = Fate("not asked")


def recorded_fate(world: OpenWorld, ticks: Sequence[Tick]) -> Fate:
    """The fate that the log has, without a planner: the first loss, else the first goal."""
    kinds = {one.name: one.ending for one in world.world.endings}
    won = Fate("not asked" if "goal" in kinds.values() else "no goal")
    for tick in ticks:
        outcome: Any = tick.outcome
        for name in outcome.get("latched") or ():
            if kinds.get(name) == "lose":
                return Fate("lost", int(outcome["tick"]), str(name))
            if kinds.get(name) == "goal" and won.name != "won":
                won = Fate("won", int(outcome["tick"]), str(name))
    return won


def fate_of(run: Run, world: OpenWorld, ticks: Sequence[Tick], seconds: float) -> Fate:
    """The fate of a run at its end; the planner is asked during ``seconds`` at most."""
    known = recorded_fate(world, ticks)
    if known.name != "not asked" or seconds <= 0:
        return known
    end = time.monotonic() + seconds
    session = _played(run, ticks, end)
    if session is None or session.ended():
        return Fate("unknown" if session is None else "ended")
    found = session.plan(time_limit=max(end - time.monotonic(), 0.1))
    return _judged(session, found, end)


def _judged(session: Session, found: Verdict, end: float) -> Fate:
    match found.answer:
        case "winnable":
            return Fate("in reach")
        case "unknown":
            return Fate("unknown")
        case "unwinnable":
            verdicts: dict[str, Answer] = {asked_of(session, session.state, None): found.answer}
            left = max(end - time.monotonic(), 0.1)
            return _since(last_winnable(session, None, seconds=left, known=verdicts))
        case _:
            assert_never(found.answer)


def _since(chance: LastChance) -> Fate:
    return Fate("soft-locked", chance.tick, chance.lost_by, chance.known)


def _played(run: Run, ticks: Sequence[Tick], end: float) -> Session | None:
    """The run played again with all its moments; ``None`` where the time is up before."""
    session = stored_session(run)
    session.remembers = True
    place = 0
    while place < len(ticks):
        if time.monotonic() > end:
            return None
        place += len(again(session, ticks[place]))
    return session


class Plans:
    """Plans from the start by world and seed, each looked for once, during ``seconds``; 0: none
    is."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._known: dict[tuple[str, str, int], tuple[PlanStep, ...]] = {}

    def steps(self, world: OpenWorld, digest: str, seed: int) -> tuple[PlanStep, ...]:
        """The steps of a plan from the start; none if none was found in time."""
        if self.seconds <= 0 or not world.world.goals:
            return ()
        key = (world.world.name, digest, seed)
        if key not in self._known:
            start = world.engine.start(seed)
            found = plan_for_seed(world.engine, start, None, time_limit=self.seconds)
            self._known[key] = found[0]
        return self._known[key]


def verbs_of_use(
    run: Run, world: OpenWorld, ticks: Sequence[Tick], fate: Fate, plans: Plans
) -> tuple[str, ...]:
    """The verbs that a way to the goal takes, each once: that of the run, if it won, else a plan;
    none if none is known."""
    if fate.name != "won":
        steps = plans.steps(world, run.header.digest, run.header.seed)
        return tuple(dict.fromkeys(one.command.action for one in steps if not one.command.is_pass))
    found: dict[str, None] = {}
    for tick in ticks:
        outcome: Any = tick.outcome
        if tick.status == "executed" and outcome.get("action") in world.program.actions:
            found[str(outcome["action"])] = None
        if fate.by in (outcome.get("latched") or ()):
            break
    return tuple(found)
