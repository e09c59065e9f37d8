"""Effects in the order that the ``pddl`` block tells, as the importer noted it.

A body that may not read what it changed above can have its loops in another order than the PDDL
that it came from, and two loops joined to one (`planning.reader.ordering`). No meaning hangs on
the order: where the note does not fit the body any more, the effects are written as they stand.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tokenworld.planning.pddl.tree import Expr, top_conjuncts

__all__ = ["in_written_order"]

_WORD = re.compile(r"(\d{1,6})(?:\.(\d{1,6})(?:-(\d{1,6}))?)?\Z")


@dataclass(frozen=True, slots=True)
class _Part:
    """An effect by its number from 0, or the effects ``first`` to ``last`` of a loop's body."""

    number: int
    first: int | None = None
    last: int = 0


def in_written_order(effects: Sequence[Expr], told: str) -> list[Expr]:
    """The effects as ``told`` (``2 1.1 1.2-3``); as they are where it names not each just once."""
    parts = [_part(word) for word in told.split()]
    found = [one for one in parts if one is not None]
    if len(found) < len(parts) or _named(found) != _all(effects, found):
        return list(effects)
    return [_taken(effects[one.number], one) for one in found]


def _part(word: str) -> _Part | None:
    match = _WORD.match(word)
    if match is None:
        return None
    number, first, last = match.groups()
    if first is None:
        return _Part(int(number) - 1)
    return _Part(int(number) - 1, int(first) - 1, int(last or first) - 1)


def _named(parts: Sequence[_Part]) -> list[tuple[int, int]]:
    """Every effect, or effect of a loop, that the parts name, sorted; -1: a whole effect."""
    found: list[tuple[int, int]] = []
    for one in parts:
        inner = (-1,) if one.first is None else range(one.first, one.last + 1)
        found += [(one.number, index) for index in inner]
    return sorted(found)


def _all(effects: Sequence[Expr], parts: Sequence[_Part]) -> list[tuple[int, int]]:
    """What the parts must name: each effect, and each effect of the loops that are taken apart."""
    apart = {one.number for one in parts if one.first is not None}
    found: list[tuple[int, int]] = []
    for number, effect in enumerate(effects):
        inner = range(len(_body(effect))) if number in apart else (-1,)
        found += [(number, index) for index in inner]
    return found


def _body(effect: Expr) -> tuple[Expr, ...]:
    """The effects of a loop; none of another effect."""
    is_loop = isinstance(effect, tuple) and len(effect) == 3 and effect[0] == "forall"
    return top_conjuncts(effect[2]) if is_loop else ()


def _taken(effect: Expr, part: _Part) -> Expr:
    if part.first is None:
        return effect
    inner = _body(effect)[part.first : part.last + 1]
    return (effect[0], effect[1], inner[0] if len(inner) == 1 else ("and", *inner))
