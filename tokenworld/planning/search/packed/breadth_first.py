"""Breadth-first search on packed states: the answers of the interpreter, many times faster."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Generic

from tokenworld.ground import Simulator, StateT
from tokenworld.planning.search.interpreted import (
    Exhausted,
    Found,
    Resumable,
    SearchProgress,
    SearchResult,
    Watch,
)
from tokenworld.planning.search.packed.successors import STUCK
from tokenworld.planning.search.packed.world import BROKEN, LOST, WON, Packed
from tokenworld.planning.verdict import PlanStep

_STATE_BYTES = 160
"""Bytes per state: its number, its place in the table, its parent; rounded up."""
_WATCHED = 256
"""Limits are looked at once per so many expanded states."""


class PackedBreadthFirst(Resumable, Generic[StateT]):
    """Breadth first over packed states."""

    def __init__(self, simulator: Simulator[StateT], world: Packed, start: StateT) -> None:
        self._simulator, self._world, self._start = simulator, world, start
        self._keys, self._parents = [world.start], {world.start: STUCK}
        self._lost, self._next, self._passed = set[int](), 0, 0
        self._winner = world.start if world.ends(world.start) == WON else STUCK

    @property
    def size(self) -> int:
        return len(self._keys)

    @property
    def expanded(self) -> int:
        return self._next - self._passed  # lost states are not expanded

    def memory(self) -> int:
        return self.size * _STATE_BYTES

    def so_far(self) -> SearchProgress:
        depth = len(self._trail(self._keys[min(self._next, self.size - 1)])) - 1
        return SearchProgress(self.size, self.expanded, self.size - self._next, depth)

    def _answer(self) -> SearchResult | None:
        if self._winner == STUCK:
            done = self._next == self.size
            return Exhausted(self.size, self.expanded) if done else None
        steps = plan_along(self._simulator, self._world, self._start, self._trail(self._winner))
        return Found(steps, len(steps), self.size, self.expanded, "ticks")

    def _advance(self, watch: Watch) -> None:
        """Reach all successors of some states, or stop at a goal."""
        end = min(self._next + _WATCHED, self.size)
        seen, lost, world = self._parents, self._lost, self._world
        simple = world.simple
        for place, key in enumerate(self._keys[self._next : end], self._next + 1):
            if lost and key in lost:
                self._passed += 1
                continue
            if not simple:
                for _, after in world.moves(key):
                    if after not in seen:
                        self._reach(after, key)
            else:  # as `Packed.moves` does, without a list: most of what follows was seen before
                for _, keep, put, rows, follow in world.choose(key):
                    after = key & keep | put
                    for mask, row in rows:
                        after |= row[key & mask]
                    if follow is not None and (after := follow(after)) == STUCK:
                        continue
                    if after not in seen:
                        self._reach(after, key)
            if self._winner != STUCK:
                self._next = place
                return
        self._next = end

    def _reach(self, state: int, parent: int) -> None:
        """Note a state that was not seen before; none after a goal."""
        if self._winner != STUCK:
            return
        self._parents[state] = parent
        what = self._world.ends(state)
        if what != BROKEN:
            self._keys.append(state)
        if what == LOST:
            self._lost.add(state)
        elif what == WON:
            self._winner = state

    def _trail(self, key: int) -> list[int]:
        """The states on the way to one of them."""
        found = list[int]()
        while key != STUCK:
            found.append(key)
            key = self._parents[key]
        return found[::-1]


def plan_along(
    simulator: Simulator[StateT], world: Packed, start: StateT, trail: Sequence[int]
) -> tuple[PlanStep, ...]:
    """The plan that goes through these states, with the luck that it counts on.

    Of several commands that lead to the same state it takes the cheapest, and of these the first.
    """
    state, steps = start, list[PlanStep]()
    for before, wanted in pairwise(trail):
        moves = [pair for pair in world.moves(before) if world.ends(pair[1]) != BROKEN]
        made = [(world.commands[number], after) for number, after in moves]
        ways = (number for number, after in moves if after == wanted)
        prices = world.prices
        command = world.commands[min(ways, key=prices.__getitem__) if prices else next(ways)]
        outcome = [after for one, after in made if one == command].index(wanted)
        successor = simulator.successors(state, command)[outcome]
        steps.append(PlanStep(command, successor.draws))
        state = successor.state
    return tuple(steps)
