"""How new a state is: the least number of facts that were never seen together before.

Novelty is measured within a partition of the states (Lipovetzky and Geffner, *Best-First Width
Search: Exploration and Exploitation in Classical Planning*, AAAI 2017): 1 where a single fact is
new there, 2 where a pair is, 3 where neither is. What is not measured for want of room counts as 3.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

__all__ = ["LEAST_NOVEL", "Novelty", "facts_of"]

LEAST_NOVEL = 3
_MOST_TOGETHER = 300
"""Of so many facts at most all pairs are looked at in a state that enters a partition."""
_MOST_PAIRS = 6_000_000
_PAIR_BYTES = 76
"""An entry of a set of whole numbers, with its number."""

Place = tuple[int, Hashable]
Fact = tuple[Place, Hashable]


def facts_of(key: Hashable) -> Iterator[Fact]:
    """The facts of a state, read off what tells it apart: what stands where.

    A search key is a tuple with a part for each fluent: the values of all its slots in order, the
    same with the children lists of the objects (whose order is no fact), or a set of rows.
    """
    for index, part in enumerate(key if isinstance(key, tuple) else (key,)):
        if isinstance(part, frozenset):
            yield from (((index, row), True) for row in part)
        elif isinstance(part, tuple):
            values = part[0] if part and isinstance(part[0], tuple) else part
            yield from (((index, place), value) for place, value in enumerate(values))
        else:
            yield (index, 0), part


class Novelty:
    """The facts and pairs of facts seen so far, by partition."""

    def __init__(self) -> None:
        self._numbers: dict[Fact, int] = {}
        self._first: dict[Place, int] = {}
        self._fixed: set[int] = set()
        self._single: dict[Hashable, set[int]] = {}
        self._pairs: dict[Hashable, set[int]] = {}
        self._count = 0

    def numbered(self, key: Hashable) -> tuple[int, ...]:
        """The facts of a state by number, ascending."""
        return tuple(sorted(self._number(fact) for fact in facts_of(key)))

    def measure(
        self, partition: Hashable, facts: Sequence[int], before: frozenset[int] | None
    ) -> int:
        """The novelty of a state in its partition; it counts as seen from now on.

        ``before`` are the facts of a state of the same partition that was measured already:
        a pair of them is nothing new.
        """
        seen = self._single.setdefault(partition, set())
        size = len(seen)
        seen.update(facts)
        paired = self._paired(partition, facts, before)
        if len(seen) > size:
            return 1
        return 2 if paired else LEAST_NOVEL

    def bytes(self) -> int:
        """About how much memory the tables take."""
        singles = sum(len(seen) for seen in self._single.values())
        return (self._count + singles) * _PAIR_BYTES

    def _number(self, fact: Fact) -> int:
        """The number of a fact. A place that always held the same makes no pair."""
        number = self._numbers.get(fact)
        if number is not None:
            return number
        number = self._numbers[fact] = len(self._numbers)
        first = self._first.setdefault(fact[0], number)
        if first == number:
            self._fixed.add(number)
        else:
            self._fixed.discard(first)
        return number

    def _paired(
        self, partition: Hashable, facts: Sequence[int], before: frozenset[int] | None
    ) -> bool:
        """Whether a pair is new; notes all pairs."""
        if self._count >= _MOST_PAIRS:
            return False
        moving = [one for one in facts if one not in self._fixed]
        fresh = moving if before is None else [one for one in moving if one not in before]
        if len(moving) > _MOST_TOGETHER and len(fresh) == len(moving):
            return False
        seen = self._pairs.setdefault(partition, set())
        size = len(seen)
        for one in fresh:
            seen.update((min(one, other) << 32) | max(one, other) for other in moving)
        self._count += len(seen) - size
        return len(seen) > size
