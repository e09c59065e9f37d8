"""`tw plan --quality`: the first plan of all searches (satisficing), or ever better ones (anytime).

*Satisficing*: greedy searches, a search that proves, and our own run side by side; the first plan
that the interpreter replays is the answer. *Anytime*: LAMA continues after its first plan, and A*
and our own search look for one that is proved cheapest. In a world without an encoding the width
search looks for a first plan. Each plan is replayed and loses its idle steps before it counts.
*Optimal* is claimed only where a search proves it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Generic, Literal

from tokenworld.diagnostics import Diagnostic, counted, no_verdict
from tokenworld.ground import Simulator, StateT
from tokenworld.limits import attempt
from tokenworld.planning.lower.encode import Encoding, Unencodable, encode
from tokenworld.planning.planners.answers import (
    TICKS_PER_COST,
    EngineRun,
    attempt_of,
    engine_run,
    inexpressible,
    judged,
    out_of_reach,
)
from tokenworld.planning.planners.by_name import symbolic
from tokenworld.planning.planners.downward import (
    ANYTIME,
    BLIND,
    FF,
    HMAX,
    LAMA,
    Answer,
    Configuration,
    find_downward,
    run_searches,
)
from tokenworld.planning.referee import refereed
from tokenworld.planning.search.interpreted import (
    Exhausted,
    Found,
    Limits,
    fewest_commands,
    has_costs,
)
from tokenworld.planning.search.own import OwnRung
from tokenworld.planning.verdict import Attempt, Verdict, require_goal

Quality = Literal["satisficing", "anytime"]
QUALITIES: tuple[Quality, ...] = ("satisficing", "anytime")
Say = Callable[[str], None]

_FIRST = {"satisficing": 0.5, "anytime": 2.0}
"""Seconds of our own search before any planner is started."""
_FIRST_STATES = 200_000
_TO_END = 1.0
"""Seconds, or a tenth of the time if that is less, in which the planners are stopped and the last
plan is replayed."""
_SLICE = 0.1
_MEMORY = 2 << 30


@dataclass(frozen=True, slots=True)
class Improvement:
    """A plan that was better than all before it, and the seconds until it was found.

    ``bound``: the lower bound known at that time, of the cost, or of the ticks in a world without
    costs. ``gap`` is the difference between plan and bound.
    """

    engine: str
    ticks: int
    cost: int
    seconds: float
    bound: int = 0
    gap: int = 0

    def to_json(self) -> dict[str, object]:
        return {
            "engine": self.engine,
            "ticks": self.ticks,
            "cost": self.cost,
            "seconds": round(self.seconds, 3),
            "bound": self.bound,
            "gap": self.gap,
        }


@dataclass(frozen=True, slots=True)
class Improved:
    """The verdict, and the plans that led to it, each better than the one before.

    ``bound`` and ``gap`` are those of the last plan at the end of the search.
    """

    verdict: Verdict
    improvements: tuple[Improvement, ...]
    bound: int = 0
    gap: int = 0


def plan_quality(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    quality: Quality,
    *,
    seconds: float,
    say: Say = lambda line: None,
    better: Callable[[Verdict], None] = lambda verdict: None,
) -> Improved:
    """A plan of this quality, or why there is none.

    ``say`` is called with each better plan in words, ``better`` with its verdict.
    Raises `Failure` (TW0201) for an unknown goal.
    """
    require_goal(simulator, goal)
    limit = seconds - min(_TO_END, seconds / 10)
    search = _PlanSearch(simulator, state, goal, quality, limit, say, better)
    attempt("looking for better plans", search.run, lambda: None)
    return search.result()


@dataclass(slots=True)
class _PlanSearch(Generic[StateT]):
    """One search for plans: the best plan so far, the attempts, and whether it is over."""

    simulator: Simulator[StateT]
    state: StateT
    goal: str | None
    quality: Quality
    limit: float
    say: Say
    better: Callable[[Verdict], None]
    bound: int = 0
    best: Verdict | None = None
    final: bool = False
    found: list[Improvement] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    own: OwnRung[StateT] = field(init=False)
    settled: bool = False

    def __post_init__(self) -> None:
        self.own = OwnRung(self.simulator, self.state, self.goal, None)

    @property
    def left(self) -> float:
        return max(self.limit - (time.monotonic() - self.began), 0.0)

    @property
    def over(self) -> bool:
        """Return whether the search has ended."""
        enough = self.quality == "satisficing" and self.best is not None
        return self.final or enough or self.left <= 0

    def run(self) -> None:
        """Search until it is over. Where a limit ends that, the plans found so far count."""
        self.own_first()
        if not self.over:
            self.by_planners()
        if not self.over and self.best is None:
            self.by_width()
        self.own_on()

    # ---- our own search -------------------------------------------------------------------------

    def own_first(self) -> None:
        seconds = min(_FIRST[self.quality], 0.4 * self.limit)
        self._own(Limits(_FIRST_STATES, seconds, _MEMORY))

    def own_on(self) -> None:
        """Continue our own search for the rest of the time."""
        if not self.over and self.own.can_go_on:
            self._own(Limits(None, self.left, _MEMORY))

    def by_width(self) -> None:
        """A first plan by the width search, where no planner has one, in half of the time left."""
        from tokenworld.planning.width.search import width_rung

        rung = width_rung(self.simulator, self.state, self.goal)
        rung.run(Limits(None, self.left / 2, _MEMORY), self.say, lambda: False)
        if rung.answered:
            self._settle(rung)
        self.attempts.append(rung.attempt())

    def _own(self, limits: Limits) -> None:
        self.own.run(limits, self.say, lambda: False)
        if self.own.answered and not self.settled:
            self.settled = True
            self._settle(self.own)

    def _settle(self, rung: OwnRung[StateT]) -> None:
        """Keep the plan or the proof of one of our searches."""
        match rung.result:
            case Found(steps=steps, optimal=optimal):
                verdict = refereed(
                    self.simulator, self.state, steps, self.goal, rung.engine, "",
                    polish=optimal is None,
                )  # fmt: skip
                if isinstance(verdict, str):
                    rung.disprove(verdict)
                else:
                    self._offer(replace(verdict, optimal=optimal))
            case Exhausted() as exhausted:
                self.best, self.final = rung.unwinnable(exhausted), True

    # ---- plans ----------------------------------------------------------------------------------

    def _offer(self, verdict: Verdict) -> None:
        """Keep a plan if it is better, or the proof that none is."""
        known = self.best
        if known is None or self._price(verdict) < self._price(known):
            number = len(self.found) + 1
            spent = time.monotonic() - self.began
            self.best = verdict
            self.found.append(
                Improvement(
                    verdict.engine, verdict.ticks, verdict.cost, spent, self.least, self.gap
                )
            )
            told = f"{counted(verdict.ticks, 'tick')} (cost {verdict.cost:,}), by {verdict.engine}"
            self.better(verdict)
            self.say(f"plan {number}: {told}; {self._told_gap()}")
        elif verdict.optimal is not None and self._price(verdict) == self._price(known):
            self.best = replace(known, optimal=verdict.optimal)
        self.final = self.final or (self.best is not None and self.best.optimal is not None)

    @property
    def least(self) -> int:
        """The bound; that of a plan which is proved optimal is its own price."""
        if self.best is None or self.best.answer != "winnable":
            return 0
        price = self._price(self.best)[0]
        return price if self.best.optimal is not None else min(self.bound, price)

    @property
    def gap(self) -> int:
        won = self.best is not None and self.best.answer == "winnable"
        return self._price(self.best)[0] - self.least if self.best is not None and won else 0

    def _told_gap(self) -> str:
        return gap_line(self.least, self.gap)

    def _bounded(self, cost: int) -> None:
        """Record the lower bound of a search on the encoding, which counts costs in thousands."""
        if self._by_cost and not has_costs(self.simulator):
            return  # each command costs 1, and a free one takes no tick
        scale = TICKS_PER_COST if self._by_cost else 1
        if cost // scale > self.bound:
            self.bound = cost // scale
            if self.best is not None:
                self.say(self._told_gap())

    @property
    def _by_cost(self) -> bool:
        """Return whether plans are compared by their cost, as it is not their number of ticks."""
        return has_costs(self.simulator) or fewest_commands(self.simulator) != "ticks"

    def _price(self, verdict: Verdict) -> tuple[int, int]:
        return (verdict.cost, verdict.ticks) if self._by_cost else (verdict.ticks, 0)

    # ---- planners -------------------------------------------------------------------------------

    def by_planners(self) -> None:
        """Encoding E and all searches of this quality, side by side with our own."""
        self.say("encoding the world for a planner")
        encoding = encode(
            self.simulator.instance_at(self.state), self.simulator, self.state, self.goal
        )
        program = find_downward()
        if isinstance(encoding, Unencodable):
            run = inexpressible(encoding.obstacles, 0.0)
            self.attempts.append(attempt_of(run, None))
        elif encoding.unreachable:
            self._heard(out_of_reach(0.0, encoding.digest), polish=False)
        elif isinstance(program, Diagnostic):
            self.notes.append(program)
        else:
            self._run(encoding, program)

    def _run(self, encoding: Encoding, program: Path) -> None:
        searches = _searches(self.quality)
        names = {one.name: one for one in searches}
        self.say(f"running {', '.join(names)}")

        def heard(answer: Answer) -> Attempt:
            search = names[answer.configuration]
            return self._heard(engine_run(encoding, answer, search), polish=not search.optimal)

        def accept(answer: Answer) -> bool:
            self.attempts.append(heard(answer))
            if answer.note is not None:
                self.notes.append(answer.note)
            return self.over

        def better(answer: Answer) -> None:
            heard(answer)

        run_searches(
            program,
            encoding.text,
            searches,
            seconds=self.left,
            memory=_MEMORY,
            cancel=self._meanwhile,
            accept=accept,
            better=better,
            bounded=self._bounded,
        )

    def _meanwhile(self) -> bool:
        """Return whether the planners may stop; our own search goes on while they run."""
        if self.own.can_go_on:
            self._own(Limits(None, min(_SLICE, self.left), _MEMORY))
        return self.over

    def _heard(self, run: EngineRun, *, polish: bool) -> Attempt:
        """Note the result of a run; a plan is replayed first."""
        found = judged(self.simulator, self.state, self.goal, run, polish=polish)
        if isinstance(found, Verdict) and found.answer == "winnable":
            self._offer(found)
        elif isinstance(found, Verdict) and self.best is None:
            self.best, self.final = found, True
        return attempt_of(run, found)

    # ---- the end --------------------------------------------------------------------------------

    def result(self) -> Improved:
        verdict = self.best
        if verdict is None:
            notes = (*self.own.notes(), *self.notes, no_verdict())
            verdict = Verdict("unknown", self.goal, None, "", "", notes=tuple(dict.fromkeys(notes)))
        attempts = (self.own.attempt(), *self.attempts)
        spent = time.monotonic() - self.began
        told = replace(verdict, attempts=attempts, seconds=spent)
        return Improved(told, tuple(self.found), self.least, self.gap)


def gap_line(bound: int, gap: int) -> str:
    """Return the sentence on the bound and the gap of a plan."""
    return f"no plan has less than {bound:,}, gap {gap:,}"


def _searches(quality: Quality) -> tuple[Configuration, ...]:
    """Greedy searches and a proof; or LAMA, and a search that proves a plan cheapest."""
    if quality == "satisficing":
        return (FF, LAMA, BLIND)
    return (ANYTIME, HMAX, *(symbolic() or (BLIND,)))
