"""Our own breadth-first search where a world can be packed: the same answers, many times faster.

The interpreter looks at the first hundred states, which is all there is of many worlds. What
goes on from there goes on packed states, which find the plan that the interpreter would find.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Generic

from tokenworld.diagnostics import Diagnostic
from tokenworld.ground import Simulator, StateT, count_bindings, parameter_domains
from tokenworld.planning.explore.packed import BROKEN, LOST, WON, Packed
from tokenworld.planning.explore.tails import STUCK
from tokenworld.planning.frontier import Frontier
from tokenworld.planning.lower.diagram import Explosion
from tokenworld.planning.search import (
    Cancel,
    Capped,
    Exhausted,
    Found,
    Limits,
    Search,
    SearchProgress,
    SearchResult,
    Watch,
    has_costs,
)
from tokenworld.planning.verdict import PlanStep

__all__ = ["PackedSearch", "Progress", "QuickSearch", "plan_along"]

if TYPE_CHECKING:
    from tokenworld.planning.explore.best import PackedBest
    from tokenworld.planning.explore.compiled import CompiledSearch
    from tokenworld.planning.explore.compiled_best import CompiledBest

Progress = Callable[[SearchProgress], None] | None
_SMALL = 100
"""So many states the interpreter looks at before packed states take over."""
_LARGE = 200_000
"""So many packed states before it is worth the while to compile, where commands are all there is:
phases are looked up in tables, which is as quick as what is compiled."""
_MOST_BINDINGS = 100_000
"""Worlds with more choices of arguments are left to planners: to lower them takes too long."""
_STATE_BYTES = 160
"""Bytes per state: its number, its place in the table, its parent; rounded up."""
_WATCHED = 256
"""Limits are looked at once per so many expanded states."""


class PackedSearch(Generic[StateT]):
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
        """How far it has come."""
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
        """What is news after all that can be done in a state, where luck or long actions play."""
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


class QuickSearch(Generic[StateT]):
    """Our own search (`search.Search`), on packed states where it is long and they are to be had.

    With a bound on ticks or another order of states it is the interpreter's throughout, and without
    ``packs``, where states are not those of the interpreter.
    """

    def __init__(
        self,
        simulator: Simulator[StateT],
        state: StateT,
        goal: str | None,
        *,
        within: int | None = None,
        frontier: Frontier[StateT] | None = None,
        packs: bool = True,
    ) -> None:
        self._simulator, self._start, self._goal = simulator, state, goal
        self._world: Packed | None = None
        self._search: (
            Search[StateT]
            | PackedSearch[StateT]
            | PackedBest[StateT]
            | CompiledSearch[StateT]
            | CompiledBest[StateT]
        )
        self._search = search = Search(simulator, state, goal, within=within, frontier=frontier)
        self.gaps: tuple[Diagnostic, ...] = tuple(search.gaps)
        self.is_heavy = False
        """Whether packing was tried and given up, as it would take too long."""
        self._asked = within is not None or frontier is not None or not packs

    def run(
        self, limits: Limits, *, progress: Progress = None, cancel: Cancel | None = None
    ) -> SearchResult:
        """Search until there is an answer or a limit is hit; run again to go on."""
        if not self._asked:
            first = min(_SMALL, limits.states or _SMALL)
            result = self._search.run(replace(limits, states=first), cancel=cancel)
            if not isinstance(result, Capped) or result.limit != "states" or first < _SMALL:
                return result
            self._asked = True
            self._world = self._packed()
            if self._world is not None:
                self._search = self._begun(self._world)
        if self._world is not None and self._world.plain:
            before = min(_LARGE, limits.states or _LARGE)
            result = self._search.run(
                replace(limits, states=before), progress=progress, cancel=cancel
            )
            if not isinstance(result, Capped) or result.limit != "states" or before < _LARGE:
                return result
            self._compile(self._world)
        return self._search.run(limits, progress=progress, cancel=cancel)

    def _begun(self, world: Packed) -> PackedSearch[StateT] | PackedBest[StateT]:
        """A search of packed states: by ticks, or by costs where there are such."""
        from tokenworld.planning.explore.best import PackedBest

        kind = PackedBest if has_costs(self._simulator) else PackedSearch
        return kind(self._simulator, world, self._start)

    def _compile(self, world: Packed) -> None:
        """Go on with what numba compiles, where it is installed; it is quicker to begin anew."""
        from tokenworld.planning.explore.compiled import CompiledSearch, Tables, available
        from tokenworld.planning.explore.compiled_best import CompiledBest

        self._world = None
        tables = Tables.of(world, to_goal=True) if available() else None
        if tables is not None:
            kind = CompiledBest if has_costs(self._simulator) else CompiledSearch
            self._search = kind(self._simulator, world, self._start, tables)

    def so_far(self) -> SearchProgress:
        """How far it has come."""
        return self._search.so_far()

    def _packed(self) -> Packed | None:
        from tokenworld.planning.explore.whole import packed_in_time

        instance = self._simulator.instance_at(self._start)
        domains = (
            parameter_domains(instance, action.params)
            for action in instance.program.actions.values()
        )
        if sum(count_bindings(one) for one in domains) > _MOST_BINDINGS:
            return None
        try:
            world = packed_in_time(self._simulator, self._start, self._goal)
        except Explosion:
            self.is_heavy = True
            return None
        if world is not None and world.prices is None and has_costs(self._simulator):
            return None
        return world
