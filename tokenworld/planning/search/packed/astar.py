"""A* over packed states, in Python.

Without a heuristic it is uniform-cost search and finds the plan that the interpreter would find.
With h-max the plan is as cheap; with h-add it is found sooner and may be dearer. Dead ends of the
relaxed problem, states of infinite heuristic value, are counted and not expanded.
"""

from __future__ import annotations

from array import array
from heapq import heappop, heappush
from typing import Generic, Literal, Protocol

from tokenworld.ground import Simulator, StateT
from tokenworld.planning.search.interpreted import (
    Cancel,
    Capped,
    Exhausted,
    Found,
    Limits,
    SearchProgress,
    SearchResult,
    Watch,
    has_costs,
)
from tokenworld.planning.search.packed.breadth_first import Progress, plan_along
from tokenworld.planning.search.packed.heuristics import FAR, STEP, Heuristic, Relaxed, weights_of
from tokenworld.planning.search.packed.world import BROKEN, LOST, PLAYING, WON, Packed

__all__ = ["BestFirst", "PackedAStar", "plan_found"]

_STATE_BYTES = 250
"""Bytes per state: its number, its place in the table, its parent, prices, its place in the queue;
rounded up."""
_WATCHED = 64
"""Limits are looked at once per so many expanded states."""


class BestFirst(Protocol):
    """A search that takes the most promising state first, in Python or compiled."""

    def run(
        self, limits: Limits, *, progress: Progress = None, cancel: Cancel | None = None
    ) -> SearchResult:
        """Search until there is an answer or a limit is hit; run again to go on."""
        ...

    def so_far(self) -> SearchProgress:
        """How far it has come."""
        ...

    @property
    def hopeless(self) -> int:
        """How many states were not followed, for nothing leads from them to the goal."""
        ...


class PackedAStar(Generic[StateT]):
    """A* over packed states. It goes on where it stopped when it is run again."""

    def __init__(
        self,
        simulator: Simulator[StateT],
        world: Packed,
        start: StateT,
        heuristic: Heuristic = "blind",
    ) -> None:
        self._simulator, self._world, self._start = simulator, world, start
        self._heuristic, self._weights = heuristic, weights_of(world)
        self._relaxed = None if heuristic == "blind" else Relaxed.of(world)
        self._nodes: dict[int, int] = {}
        self._keys, self._parents = list[int](), array("q")
        self._paid, self._ahead = list[int](), list[int]()
        self._done = bytearray()
        self._queue: list[tuple[int, int, int]] = []
        self._expanded, self._winner, self.hopeless = 0, -1, 0
        self._reach(world.start, -1, 0)

    def run(
        self, limits: Limits, *, progress: Progress = None, cancel: Cancel | None = None
    ) -> SearchResult:
        """Search until there is an answer or a limit is hit."""
        watch = Watch(limits, cancel)
        while self._winner < 0 and self._queue:
            count = len(self._keys)
            if (hit := watch.stop(count, count * _STATE_BYTES)) is not None:
                return Capped(*hit, count, self._expanded)
            if progress is not None and watch.due():
                progress(self.so_far())
            self._advance(_WATCHED)
        if self._winner < 0:
            return Exhausted(len(self._keys), self._expanded)
        trail, node = list[int](), self._winner
        while node >= 0:
            trail.append(self._keys[node])
            node = self._parents[node]
        paid = self._paid[self._winner]
        counts = len(self._keys), self._expanded
        return plan_found(
            self._simulator, self._world, self._start, trail[::-1], paid, counts, self._heuristic
        )

    def so_far(self) -> SearchProgress:
        """How far it has come."""
        seen, waiting = len(self._keys), len(self._queue)
        depth = self._paid[self._queue[0][2]] % STEP if self._queue else 0
        return SearchProgress(seen, self._expanded, waiting, depth)

    def _advance(self, times: int) -> None:
        """Expand so many states, or stop at the goal."""
        queue, ends = self._queue, self._world.ends
        while queue and times:
            _, _, node = heappop(queue)
            if self._done[node]:  # an outdated entry: it was expanded at less cost
                continue
            self._done[node] = 1
            key, paid = self._keys[node], self._paid[node]
            what = ends(key)
            if what == WON:
                self._winner = node
                return
            times -= 1
            self._expanded += what != LOST
            for number, after in self._world.moves(key) if what == PLAYING else ():
                self._reach(after, node, paid + self._weights[number])

    def _reach(self, key: int, parent: int, paid: int) -> None:
        """Note a state, or that it is had for less."""
        node = self._nodes.get(key)
        if node is None:
            if (what := self._world.ends(key)) == BROKEN:
                self._nodes[key] = -1
                return
            node = self._nodes[key] = len(self._keys)
            self._keys.append(key)
            self._parents.append(parent)
            self._paid.append(paid)
            self._done.append(0)
            self._ahead.append(self._value(key) if what == PLAYING else 0)
            if self._ahead[node] >= FAR:
                self.hopeless += 1
                self._done[node] = 1
                return
        elif node < 0 or self._done[node] or paid >= self._paid[node]:
            return
        else:
            self._paid[node], self._parents[node] = paid, parent
        ahead = self._ahead[node]
        heappush(self._queue, (paid + ahead, ahead, node))

    def _value(self, key: int) -> int:
        if self._relaxed is None:
            return 0
        held = self._relaxed.holding(self._world, key)
        return self._relaxed.value(held, add=self._heuristic == "add")


def plan_found(
    simulator: Simulator[StateT],
    world: Packed,
    start: StateT,
    trail: list[int],
    paid: int,
    counts: tuple[int, int],
    heuristic: Heuristic,
) -> Found:
    """The plan along these states; only with an admissible heuristic nothing beats it."""
    steps = plan_along(simulator, world, start, trail)
    measure: Literal["ticks", "cost"] = "cost" if has_costs(simulator) else "ticks"
    return Found(steps, paid // STEP, *counts, None if heuristic == "add" else measure)
