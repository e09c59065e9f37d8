"""Searches on packed states in Python, with the answers of the interpreter."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from typing import Generic
from typing import Literal as Kind

from tokenworld.ground import Simulator, StateT
from tokenworld.planning.search.interpreted import (
    Exhausted,
    Found,
    Resumable,
    SearchProgress,
    SearchResult,
    Watch,
    fewest_commands,
    has_costs,
)
from tokenworld.planning.search.packed.successors import STUCK
from tokenworld.planning.search.packed.world import BROKEN, LOST, PLAYING, WON, Packed
from tokenworld.planning.task import Literal
from tokenworld.planning.verdict import PlanStep

# ---- Breadth first ------------------------------------------------------------------------------

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
        fewest = fewest_commands(self._simulator)
        return Found(steps, len(steps), self.size, self.expanded, fewest)

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


# ---- The heuristics h-max and h-add -------------------------------------------------------------
# Each value of each variable is a fact with a price: 0 if it holds, else that of the cheapest rule
# that adds it, in a world in which nothing is ever undone. The price of a rule is its own cost and
# that of its conditions: the dearest of them (h-max, admissible) or their sum (h-add, better
# informed, not admissible). Bonet and Geffner, "Planning as heuristic search" (Artificial
# Intelligence 129, 2001). The forced steps of a tick are rules of cost 0. That ignores the order of
# phases, so h-max stays admissible in a world with laws.

Heuristic = Kind["blind", "max", "add"]
FAR = 1 << 60
"""The price of an unreachable fact, and of all that is dearer than can be counted."""
STEP = 1 << 32
"""A unit of cost weighs so many steps: the cheapest plan counts, then the shortest of these."""


def weights_of(world: Packed) -> list[int]:
    """The weight of each operator; `ValueError` where costs are not known."""
    if world.prices is None:
        raise ValueError("what commands cost is not known here")
    return [price * STEP + 1 for price in world.prices]


@dataclass(frozen=True, slots=True)
class Relaxed:
    """The relaxed rules of a world: no rule deletes a fact.

    Fact ``firsts[v] + p`` is that variable v has its value p. Rule r needs all ``needs[r]``, costs
    ``weights[r]`` and makes all ``gives[r]`` true; ``uses[f]`` are the rules that need fact f.
    ``always`` is a fact that holds in every state, ``goal`` one that holds where play is won.
    """

    facts: int
    firsts: tuple[int, ...]
    always: int
    goal: int
    needs: tuple[tuple[int, ...], ...]
    weights: tuple[int, ...]
    gives: tuple[tuple[int, ...], ...]
    uses: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(world: Packed) -> Relaxed:
        """The rules of a packed world."""
        return _Making(world).made()

    def holding(self, world: Packed, state: int) -> list[int]:
        """The facts of a state."""
        packing = world.packing
        found = [first + packing.position(state, v) for v, first in enumerate(self.firsts)]
        return [*found, self.always]

    def value(self, held: Iterable[int], *, add: bool) -> int:
        """The price of the goal where these facts hold; `FAR` where it is out of reach."""
        prices = [FAR] * self.facts
        left = [len(one) for one in self.needs]
        sums = [0] * len(left)
        waiting = list[tuple[int, int]]()
        for fact in held:
            prices[fact] = 0
            waiting.append((0, fact))
        while waiting:
            price, fact = heappop(waiting)
            if price > prices[fact]:
                continue
            if fact == self.goal:
                return price
            for rule in self.uses[fact]:
                sums[rule] = min(sums[rule] + price, FAR) if add else price
                left[rule] -= 1
                if left[rule] == 0:
                    reached = min(sums[rule] + self.weights[rule], FAR)
                    for given in self.gives[rule]:
                        if reached < prices[given]:
                            prices[given] = reached
                            heappush(waiting, (reached, given))
        return FAR


class _Making:
    """The rules of one world, as they are made."""

    def __init__(self, world: Packed) -> None:
        self._world = world
        self._rules: dict[tuple[tuple[int, ...], int], set[int]] = {}
        self._either: dict[Literal, int] = {}
        sizes, free = world.packing.sizes, 0
        self._firsts = list[int]()
        for size in sizes:
            self._firsts.append(free)
            free += size
        self._always, self._goal, self._free = free, free + 1, free + 2

    def made(self) -> Relaxed:
        world, weights = self._world, weights_of(self._world)
        for operator, number in zip(world.task.operators, world.numbers, strict=True):
            weight = weights[number] if number >= 0 else 0
            needs = self._needs(operator.precondition)
            for effect in operator.effects:
                also = self._needs(effect.conditions)
                given = self._firsts[effect.variable] + effect.value
                self._rule({*needs, *also}, weight, given)
        for kind, ways in world.ways:
            for way in ways if kind == WON else ():
                self._rule(set(self._needs(way)), 0, self._goal)
        self._clear_destroyed()
        return self._whole()

    def _clear_destroyed(self) -> None:
        """Add rules that clear all bits about a destroyed object."""
        world = self._world
        for number, variable in world.living:
            gone = world.task.variables[variable].values.index(False)
            for other, about in world.named.items():
                if number in about:
                    self._rule({self._firsts[variable] + gone}, 0, self._firsts[other])

    def _rule(self, needs: set[int], weight: int, given: int) -> None:
        if given not in needs:
            key = tuple(sorted(needs)) or (self._always,), weight
            self._rules.setdefault(key, set()).add(given)

    def _needs(self, literals: Iterable[Literal]) -> list[int]:
        """The facts that literals need: one for each, itself given by any of several values."""
        sizes, found = self._world.packing.sizes, list[int]()
        for variable, positions in literals:
            first = self._firsts[variable]
            if len(positions) == 1:
                found.append(first + positions[0])
            elif len(positions) < sizes[variable]:
                found.append(self._one_of(variable, positions, first))
        return found

    def _one_of(self, variable: int, positions: tuple[int, ...], first: int) -> int:
        key = variable, positions
        if key not in self._either:
            self._either[key] = self._free
            self._free += 1
            for one in positions:
                self._rule({first + one}, 0, self._either[key])
        return self._either[key]

    def _whole(self) -> Relaxed:
        rules = sorted((key, tuple(sorted(gives))) for key, gives in self._rules.items())
        uses: list[list[int]] = [[] for _ in range(self._free)]
        for number, ((needs, _), _) in enumerate(rules):
            for fact in needs:
                uses[fact].append(number)
        return Relaxed(
            self._free,
            tuple(self._firsts),
            self._always,
            self._goal,
            tuple(needs for (needs, _), _ in rules),
            tuple(weight for (_, weight), _ in rules),
            tuple(gives for _, gives in rules),
            tuple(map(tuple, uses)),
        )


# ---- A* -----------------------------------------------------------------------------------------
# Without a heuristic it is uniform-cost search and finds the plan that the interpreter would find.
# With h-max the plan is as cheap; with h-add it is found sooner and may be dearer. Dead ends of the
# relaxed problem, states of infinite heuristic value, are counted and not expanded.

_PRICED_BYTES = 250
"""Bytes per state: its number, its place in the table, its parent, prices, its place in the queue;
rounded up."""
_WATCHED_PRICED = 64
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
        self._expanded, self._winner, self._hopeless = 0, -1, 0
        self._reach(world.start, -1, 0)

    @property
    def size(self) -> int:
        return len(self._keys)

    @property
    def expanded(self) -> int:
        return self._expanded

    @property
    def hopeless(self) -> int:
        return self._hopeless

    def memory(self) -> int:
        return self.size * _PRICED_BYTES

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
        queue, ends, times = self._queue, self._world.ends, _WATCHED_PRICED
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
                self._hopeless += 1
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
    measure = "cost" if has_costs(simulator) else fewest_commands(simulator)
    return Found(steps, paid // STEP, *counts, None if heuristic == "add" else measure)
