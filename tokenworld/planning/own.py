"""Our own searches as rungs of the ladder: run in slices, asked at the end what they came to."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic

from tokenworld.diagnostics import Diagnostic
from tokenworld.ground import Simulator, StateT
from tokenworld.planning.explore.search import QuickSearch
from tokenworld.planning.frontier import Frontier
from tokenworld.planning.search import (
    Cancel,
    Capped,
    Exhausted,
    Found,
    Limits,
    SearchProgress,
    SearchResult,
)
from tokenworld.planning.verdict import Attempt, AttemptResult, Proof, Verdict

__all__ = ["OWN_SEARCH", "OwnRung", "Say", "share_waiting"]

Say = Callable[[str], None]
OWN_SEARCH = "own search"

_KINDS: dict[str, AttemptResult] = {
    "cancelled": "cancelled",
    "key": "no proof",
    "gaps": "no proof",
    "spare": "no proof",
}
_INEXACT = Diagnostic(
    "TW0804",
    "Our own search proves nothing here: it cannot tell all states apart by their values.",
    notes=("A rule reads `tick()` or the score, or changes a number without bounds.",),
    hint="Bound the numbers that rules change, and read `tick()` only as `tick() mod n`.",
)


class _Own(QuickSearch[StateT]):
    """Our own search, which tells whether it goes on packed states."""

    @property
    def is_packed(self) -> bool:
        """Whether the world could be packed; it is tried once the search is long enough."""
        return self._world is not None


def share_waiting(progress: SearchProgress) -> float:
    """The share of the states seen that wait to be expanded: near 0 where nearly all was seen."""
    return progress.waiting / max(progress.states, 1)


class OwnRung(Generic[StateT]):
    """A search with the time it took. It goes on where it stopped each time it is run.

    ``engine`` is the name it goes by; ``frontier`` is the order in which it takes states, if that
    is not the one that finds the shortest or cheapest plan. ``packs``: a state is one of the
    interpreter, which may be packed; a set of states is none.
    """

    def __init__(
        self,
        simulator: Simulator[StateT],
        state: StateT,
        goal: str | None,
        within: int | None,
        *,
        engine: str = OWN_SEARCH,
        frontier: Frontier[StateT] | None = None,
        packs: bool = True,
    ) -> None:
        self._simulator, self.engine = simulator, engine
        self._search = _Own(simulator, state, goal, within=within, frontier=frontier, packs=packs)
        self._goal = goal
        self._disproved = ""
        self.seconds = 0.0
        self.result: SearchResult | None = None

    def run(self, limits: Limits, say: Say, cancel: Cancel) -> None:
        """Search on under these limits, with a line about every second."""
        began = time.monotonic()
        self.result = self._search.run(limits, progress=lambda _: say(self.line()), cancel=cancel)
        self.seconds += time.monotonic() - began

    @property
    def can_go_on(self) -> bool:
        """Whether more time may still bring an answer."""
        match self.result:
            case Capped(limit=limit):
                return limit in ("states", "time")
            case None:
                return True
        return False

    @property
    def is_heavy(self) -> bool:
        """Whether the states proved too much to be packed, so that an encoding may take long."""
        return self._search.is_heavy

    @property
    def is_packed(self) -> bool:
        """Whether it goes on packed states, which are some fifty times as cheap."""
        return self._search.is_packed

    @property
    def states(self) -> int:
        """How many states it has seen."""
        return self._search.so_far().states

    @property
    def waiting(self) -> float:
        """The share of the states seen that wait: how much its space still grows."""
        return share_waiting(self._search.so_far())

    @property
    def answered(self) -> bool:
        """Whether it found a plan or saw all there is."""
        return isinstance(self.result, (Found, Exhausted)) and not self._disproved

    def line(self) -> str:
        """How far it has come, for people."""
        now = self._search.so_far()
        seen = f"{now.states:,} states seen, {now.waiting:,} waiting"
        return f"{self.engine}: {seen}, depth {now.depth}"

    def disprove(self, detail: str) -> None:
        """Its plan did not survive the replay."""
        self._disproved = detail

    def attempt(self) -> Attempt:
        """What was tried and what came of it."""
        result, detail = self._came_to()
        return Attempt(self.engine, "", result, detail, self.seconds)

    def _came_to(self) -> tuple[AttemptResult, str]:
        match self.result:
            case None:
                return "cancelled", "it was not begun"
            case _ if self._disproved:
                return "invalid plan", self._disproved
            case Found():
                return "plan", "it found a plan"
            case Exhausted():
                return "no plan", _exhausted(self.result)
            case Capped(limit="time", states=states):
                return "limit", f"its time was up after {states:,} states"
            case Capped(limit=limit, reason=reason, states=states):
                return _KINDS.get(limit, "limit"), f"{reason} after {states:,} states"

    def notes(self) -> tuple[Diagnostic, ...]:
        """Why it proves nothing, where that is so."""
        if isinstance(self.result, Capped):
            inexact = (_INEXACT,) if self.result.limit == "key" else ()
            return (*(self._search.gaps or inexact), *self._short())
        return ()

    def _short(self) -> tuple[Diagnostic, ...]:
        """The types that the search needed more spare objects of (TW0802)."""
        lines = {line.of: line for line in self._simulator.instance.world.spares}
        return tuple(
            Diagnostic(
                "TW0802",
                f"The search needs more than {count:,} spare `{of}`.",
                lines[of].span,
                "the search ran into this bound",
                hint=f"Raise it, as in `spare {of} {2 * count or 1}`: what needs more objects was "
                "left out, so that no proof is possible.",
            )
            for of, count in self._simulator.short_of.items()
        )

    def unwinnable(self, exhausted: Exhausted) -> Verdict:
        """The verdict that no plan is left."""
        detail = _exhausted(exhausted)
        states, within = exhausted.states, exhausted.within
        by = self.engine
        proof = Proof(f"{by}: {detail}", by, states=states, within=within)
        return Verdict("unwinnable", self._goal, "exhausted", by, "", proof=proof, within=within)


def _exhausted(result: Exhausted) -> str:
    within = "" if result.within is None else f" within {result.within:,} ticks"
    return f"none of the {result.states:,} states reachable{within} is the goal"
