"""What it takes at least for a term to have a value, if nothing is ever undone.

A fourth algebra beside diagrams, sets of values and grades (`lower.algebra`): each value comes with
a *way*, the facts it rests on and what these cost. Slots gather values and never lose one, as in
Francès and Geffner, *Modeling and Computation in Planning: Better Heuristics from More Expressive
Languages* (ICAPS 2015); of two ways to a value the cheaper one stays, costs are added up (h-add).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from tokenworld.ground import Raw
from tokenworld.planning.lower.algebra import Refused, Slot, Universe
from tokenworld.planning.lower.diagram import Mark, Value

__all__ = ["FREE", "CostAlgebra", "Costs", "Fact", "Way", "together"]

Fact = tuple[Slot, Value]
"""A slot that holds a value."""
_MOST = 4_000
"""So many combinations of values are worked out at most."""


@dataclass(frozen=True, slots=True)
class Way:
    """How something comes about: what it costs, and the facts that have to be there."""

    cost: int
    facts: frozenset[Fact]


FREE = Way(0, frozenset())


def together(*ways: Way) -> Way:
    """All of these at once."""
    paid = [way for way in ways if way is not FREE]
    if len(paid) < 2:
        return paid[0] if paid else FREE
    return Way(sum(way.cost for way in paid), frozenset().union(*(way.facts for way in paid)))


class Costs:
    """The values that something can have, each with the cheapest known way.

    Two of them are equal if their values cost the same; ``ways`` is ``None`` if nothing is known.
    """

    __slots__ = ("_hash", "ways")

    def __init__(self, ways: Mapping[Value, Way] | None) -> None:
        self.ways = ways
        self._hash = hash(None if ways is None else frozenset(ways))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Costs):
            return NotImplemented
        if self is other or self.ways is None or other.ways is None:
            return self.ways is other.ways
        return _prices(self.ways) == _prices(other.ways)


def _prices(ways: Mapping[Value, Way]) -> dict[Value, int]:
    return {value: way.cost for value, way in ways.items()}


def _cheapest(pairs: Iterable[tuple[Value, Way]]) -> Costs:
    """Of ways to the same value the cheapest, the first of those."""
    ways: dict[Value, Way] = {}
    for value, way in pairs:
        known = ways.get(value)
        if known is None or way.cost < known.cost:
            ways[value] = way
    return Costs(ways)


_UNKNOWN = Costs(None)


class CostAlgebra:
    """Evaluation on what slots are known to get. ``slots`` gives the values of one."""

    def __init__(self, slots: Callable[[Slot], Mapping[Value, Way] | None]) -> None:
        self._slots = slots
        self._truth, self._lie = Costs({True: FREE}), Costs({False: FREE})

    def const(self, value: Value) -> Costs:
        if value is True or value is False:
            return self._truth if value else self._lie
        return Costs({value: FREE})

    def lift(self, key: Hashable, function: Callable[..., Value], *operands: Costs) -> Costs:
        known = [one.ways for one in operands if one.ways is not None]
        if len(known) < len(operands) or prod(len(one) for one in known) > _MOST:
            return _UNKNOWN
        return _cheapest(
            (function(*(value for value, _ in chosen)), together(*(way for _, way in chosen)))
            for chosen in product(*(one.items() for one in known))
        )

    def bind(self, operand: Costs, universe: Universe, function: Callable[[Raw], Costs]) -> Costs:
        ways = operand.ways
        if ways is None:
            values = universe()
            ways = None if values is None else dict.fromkeys(values, FREE)
        if ways is None:
            return _UNKNOWN
        found: list[tuple[Value, Way]] = []
        for value, way in ways.items():
            made = Costs({value: FREE}) if isinstance(value, Mark) else function(value)
            if made.ways is None:
                return _UNKNOWN
            found += ((one, together(way, other)) for one, other in made.ways.items())
        return _cheapest(found)

    def both(self, left: Costs, right: Callable[[], Costs]) -> Costs:
        held = self.held(left)
        return self._decided(left, True, right) if held is not None else self._lie

    def either(self, left: Costs, right: Callable[[], Costs]) -> Costs:
        failed = _failing(left)
        return self._decided(left, False, right) if failed is not None else self._truth

    def _decided(self, left: Costs, truth: bool, right: Callable[[], Costs]) -> Costs:
        """``right()`` where the left side is of this truth, and the other truth where it is not."""
        on, off = (self.held(left), _failing(left))
        on, off = (on, off) if truth else (off, on)
        found: list[tuple[Value, Way]] = [] if off is None else [(not truth, off)]
        if on is not None:
            other = right()
            for value, way in ((True, self.held(other)), (False, _failing(other))):
                if way is not None:
                    found.append((value, together(on, way)))
        return _cheapest(found)

    def held(self, condition: Costs) -> Way | None:
        """The cheapest way in which a condition comes true."""
        return FREE if condition.ways is None else condition.ways.get(True)

    def negate(self, condition: Costs) -> Costs:
        pairs = ((False, self.held(condition)), (True, _failing(condition)))
        return _cheapest((value, way) for value, way in pairs if way is not None)

    def choose(
        self, condition: Costs, then: Callable[[], Costs], otherwise: Callable[[], Costs]
    ) -> Costs:
        found: list[tuple[Value, Way]] = []
        for way, branch in ((self.held(condition), then), (_failing(condition), otherwise)):
            if way is None:
                continue
            made = branch()
            if made.ways is None:
                return _UNKNOWN
            found += ((value, together(way, other)) for value, other in made.ways.items())
        return _cheapest(found)

    def possible(self, operand: Costs, universe: Universe) -> Sequence[Raw] | None:
        if operand.ways is None:
            return universe()
        return [value for value in operand.ways if not isinstance(value, Mark)]

    def never(self, condition: Costs) -> bool:
        return self.held(condition) is None

    def slot(self, slot: Slot, was: bool) -> Costs:
        return Costs(self._slots(slot))

    def refuse(self, refused: Refused) -> Costs:
        return _UNKNOWN


def _failing(condition: Costs) -> Way | None:
    """The cheapest way in which a condition does not hold."""
    if condition.ways is None:
        return FREE
    ways = [way for value, way in condition.ways.items() if value is not True]
    return min(ways, key=lambda way: way.cost) if ways else None
