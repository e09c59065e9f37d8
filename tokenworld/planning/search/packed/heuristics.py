"""The heuristics h-max and h-add on a packed world in which nothing is ever undone.

Each value of each variable is a fact with a price: 0 if it holds, else that of the cheapest rule
that adds it. The price of a rule is its own cost and that of its conditions: the dearest of them
(h-max, admissible) or their sum (h-add, better informed, not admissible). Bonet and Geffner,
"Planning as heuristic search" (Artificial Intelligence 129, 2001).

The forced steps of a tick are rules of cost 0. That ignores the order of phases, so h-max stays
admissible in a world with laws.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal as Kind

from tokenworld.planning.encodings.ir import Literal
from tokenworld.planning.search.packed.world import WON, Packed

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

    Fact ``firsts[v] + p`` is that variable v has its value p. Rule r needs all ``needs[r]``, weighs
    ``weights[r]`` and brings about all ``gives[r]``; ``uses[f]`` are the rules that need fact f.
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
        for operator, number in zip(world.fused.task.operators, world.numbers, strict=True):
            weight = weights[number] if number >= 0 else 0
            needs = self._needs(operator.precondition)
            for effect in operator.effects:
                also = self._needs(effect.conditions)
                given = self._firsts[effect.variable] + effect.value
                self._rule({*needs, *also}, weight, given)
        for kind, ways in world.ways:
            for way in ways if kind == WON else ():
                self._rule(set(self._needs(way)), 0, self._goal)
        self._bury()
        return self._whole()

    def _bury(self) -> None:
        """Where an object is gone, the bits of all that is about it are cleared."""
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
