"""The tuples of the start state: what each relation holds before any rule is applied."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

from tokenworld.ground import Raw, count_bindings
from tokenworld.model import BoolType, Fluent
from tokenworld.planning.grounding.context import Ungroundable, is_measured, is_numeric
from tokenworld.planning.grounding.ranges import Span
from tokenworld.planning.lower.facts import Facts

__all__ = ["Rows", "measured", "rows"]

_MOST_SLOTS = 2_000_000
"""So many slots with their first values are gone through at most."""
Rows = Iterable[tuple[Raw, ...]]


def rows(facts: Facts, name: str, listed: dict[str, tuple[Raw, ...]]) -> Rows:
    """The tuples of a fluent, or of a type or another list of single values."""
    if name.startswith(":"):
        if name in listed:
            return [(value,) for value in listed[name]]
        return [(number,) for number in facts.objects(name[1:])]
    fluent = facts.program.fluents.get(name)
    return () if fluent is None or is_measured(fluent.type) else _tuples(facts, fluent)


def _tuples(facts: Facts, fluent: Fluent) -> Iterator[tuple[Raw, ...]]:
    _few_enough(facts, fluent)
    for args, value in facts.held(fluent):
        for found in (args, args[::-1]) if fluent.symmetric else (args,):
            yield found if isinstance(fluent.type, BoolType) else (*found, value)


def measured(facts: Facts, fluent: Fluent) -> dict[tuple[Raw, ...], Span]:
    """The ranges of a numeric fluent: from the least value that a slot may hold to the greatest."""
    found: dict[tuple[Raw, ...], Span] = {}
    if not is_numeric(fluent.type):
        return found
    _few_enough(facts, fluent)
    for args, value in facts.held(fluent):
        if isinstance(value, (int, float)):
            for one in (args, args[::-1]) if fluent.symmetric else (args,):
                low, high = found.get(one, (inf, -inf))
                found[one] = min(low, value), max(high, value)
    return found


def _few_enough(facts: Facts, fluent: Fluent) -> None:
    if facts.lists(fluent):
        return
    number = count_bindings(facts.arguments(fluent))
    if number > _MOST_SLOTS:
        raise Ungroundable(f"`{fluent.name}` with {number:,} slots", fluent.span)
