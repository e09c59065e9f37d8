"""A* over packed states, in Python.

Without a heuristic it is uniform-cost search and finds the plan that the interpreter would find.
With h-max the plan is as cheap; with h-add it is found sooner and may be dearer. Dead ends of the
relaxed problem, states of infinite heuristic value, are counted and not expanded.
"""

from __future__ import annotations

from array import array
from heapq import heappop, heappush
from typing import Generic, Literal

from tokenworld.ground import Simulator, StateT
from tokenworld.planning.search.interpreted import (
    Exhausted,
    Found,
    Resumable,
    SearchProgress,
    SearchResult,
    Watch,
    has_costs,
)
from tokenworld.planning.search.packed.breadth_first import plan_along
from tokenworld.planning.search.packed.heuristics import FAR, STEP, Heuristic, Relaxed, weights_of
from tokenworld.planning.search.packed.world import BROKEN, LOST, PLAYING, WON, Packed

_STATE_BYTES = 250
"""Bytes per state: its number, its place in the table, its parent, prices, its place in the queue;
rounded up."""
_WATCHED = 64
"""Limits are looked at once per so many expanded states."""


class PackedAStar(Resumable, Generic[StateT]):
    """A* over packed states.

    ``hopeless`` states were not followed, for nothing leads from them to the goal.
    """

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

    @property
    def size(self) -> int:
        return len(self._keys)

    @property
    def expanded(self) -> int:
        return self._expanded

    def memory(self) -> int:
        return self.size * _STATE_BYTES

    def so_far(self) -> SearchProgress:
        depth = self._paid[self._queue[0][2]] % STEP if self._queue else 0
        return SearchProgress(self.size, self._expanded, len(self._queue), depth)

    def _answer(self) -> SearchResult | None:
        if self._winner < 0:
            return None if self._queue else Exhausted(self.size, self._expanded)
        trail, node = list[int](), self._winner
        while node >= 0:
            trail.append(self._keys[node])
            node = self._parents[node]
        paid, counts = self._paid[self._winner], (self.size, self._expanded)
        return plan_found(
            self._simulator, self._world, self._start, trail[::-1], paid, counts, self._heuristic
        )

    def _advance(self, watch: Watch) -> None:
        """Expand some states, or stop at the goal."""
        queue, ends, times = self._queue, self._world.ends, _WATCHED
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
