"""Breadth-first search on packed states: the answers of the interpreter, many times faster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Generic

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
)
from tokenworld.planning.search.packed.successors import STUCK
from tokenworld.planning.search.packed.world import BROKEN, LOST, WON, Packed
from tokenworld.planning.verdict import PlanStep

__all__ = ["PackedBreadthFirst", "Progress", "plan_along"]

Progress = Callable[[SearchProgress], None] | None
_STATE_BYTES = 160
"""Bytes per state: its number, its place in the table, its parent; rounded up."""
_WATCHED = 256
"""Limits are looked at once per so many expanded states."""


class PackedBreadthFirst(Generic[StateT]):
    """Breadth first over packed states. It goes on where it stopped when it is run again."""

    def __init__(self, simulator: Simulator[StateT], world: Packed, start: StateT) -> None:
        self._simulator, self._world, self._start = simulator, world, start
        self._keys, self._parents = [world.start], {world.start: STUCK}
        self._lost, self._next, self._passed = set[int](), 0, 0
        self._winner = world.start if world.ends(world.start) == WON else STUCK

    def run(
        self, limits: Limits, *, progress: Progress = None, cancel: Cancel | None = None
    ) -> SearchResult:
        """Search until there is an answer or a limit is hit."""
        watch = Watch(limits, cancel)
        while self._winner == STUCK and self._next < len(self._keys):
            count = len(self._keys)
            if (hit := watch.stop(count, count * _STATE_BYTES)) is not None:
                return Capped(*hit, count, self._expanded)
            if progress is not None and watch.due():
                progress(self.so_far())
            self._expand(min(self._next + _WATCHED, count))
        if self._winner == STUCK:
            return Exhausted(len(self._keys), self._expanded)
        steps = plan_along(self._simulator, self._world, self._start, self._trail(self._winner))
        return Found(steps, len(steps), len(self._keys), self._expanded, "ticks")

    def so_far(self) -> SearchProgress:
        """The progress so far."""
        count = len(self._keys)
        depth = len(self._trail(self._keys[min(self._next, count - 1)])) - 1
        return SearchProgress(count, self._expanded, count - self._next, depth)

    @property
    def _expanded(self) -> int:
        """How many states were expanded: lost ones are not."""
        return self._next - self._passed

    def _expand(self, end: int) -> None:
        """Reach all successors of the states up to ``end``, or stop at a goal.

        Most of what follows a state was seen before: only what is news is put in order.
        """
        seen, keys, lost, ends = self._parents, self._keys, self._lost, self._world.ends
        after_each, first = self._news, self._next
        choose = self._world.choose if self._world.simple else None
        for place, key in enumerate(keys[first:end], first + 1):
            if lost and key in lost:
                self._passed += 1
                continue
            if choose is None:
                news = after_each(key)
            else:
                news = []
                for number, keep, put, rows, follow in choose(key):
                    after = key & keep | put
                    if rows:
                        for mask, row in rows:
                            after |= row[key & mask]
                    if follow is not None and (after := follow(after)) == STUCK:
                        continue
                    if after not in seen:
                        news.append((number, after))
                if len(news) > 1:
                    news.sort()
            for _, after in news:
                if after in seen:  # twice among the news
                    continue
                seen[after] = key
                if what := ends(after):
                    if what == BROKEN:
                        continue
                    if what == LOST:
                        lost.add(after)
                    elif what == WON:
                        keys.append(after)
                        self._winner, self._next = after, place
                        return
                keys.append(after)
        self._next = end

    def _news(self, key: int) -> list[tuple[int, int]]:
        """The new successors of a state, in a world with draws or long actions."""
        seen = self._parents
        return [pair for pair in self._world.moves(key) if pair[1] not in seen]

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
