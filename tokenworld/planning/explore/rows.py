"""Effects as tables that fill themselves: the part of a state that effects look at, and what they
make of it.

Laws look at little: a pot and its pea, a fire and a blade. What becomes of such a part depends on
its own bits alone, and it has few values; each is worked out the first time it comes up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import prod

from tokenworld.planning.explore.bits import Packing

__all__ = ["Row", "Rows", "grouped"]

_MOST = 1 << 18
"""Entries of one table; what comes up after that is worked out each time."""
_NARROW = 1 << 12
"""Parts of so many values at most are put together into one table."""


class Rows(dict[int, int]):
    """What becomes of a part of a state, by the bits of that part."""

    __slots__ = ("_made",)

    def __init__(self, made: Callable[[int], int]) -> None:
        super().__init__()
        self._made = made

    def __missing__(self, key: int) -> int:
        found = self._made(key)
        if len(self) < _MOST:
            self[key] = found
        return found


Row = tuple[int, Rows]
"""The mask of a part and its table."""


def grouped(
    packing: Packing, supports: Mapping[int, frozenset[int]]
) -> list[tuple[frozenset[int], frozenset[int]]]:
    """Variables to be worked out together, with those that decide them.

    ``supports`` are the variables that decide each one. Variables that look at the same part of a
    state share a table, and so do small parts.
    """
    found: list[tuple[set[int], frozenset[int]]] = []
    for variable, support in sorted(supports.items(), key=lambda one: (-len(one[1]), one[0])):
        place = _fitting(packing, found, support)
        if place is None:
            found.append(({variable}, support))
        else:
            found[place][0].add(variable)
            found[place] = (found[place][0], found[place][1] | support)
    return [(frozenset(variables), support) for variables, support in found]


def _fitting(
    packing: Packing, found: Iterable[tuple[set[int], frozenset[int]]], support: frozenset[int]
) -> int | None:
    """The first group that looks at all of ``support``, or that stays small with it."""
    for place, (_, looked) in enumerate(found):
        together = looked | support
        if together == looked or prod(packing.sizes[one] for one in together) <= _NARROW:
            return place
    return None
