"""Recursive derives: the least fixpoint over all bindings, unrolled.

Every member of a group of derives that use each other starts false everywhere and is evaluated
again and again from the round before, until nothing changes (language.md §3).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Generic

from tokenworld.ground import Raw
from tokenworld.model import Derive, DeriveCall, subterms
from tokenworld.planning.lower.algebra import Refused, V

if TYPE_CHECKING:
    from tokenworld.planning.lower.terms import Terms

__all__ = ["Fixpoints"]

_MOST_BINDINGS = 4_000
Table = dict[tuple[Raw, ...], V]


class Fixpoints(Generic[V]):
    """The recursive derives of one evaluator. ``stage`` tells rounds apart, 0 outside of any."""

    def __init__(self, terms: Terms[V]) -> None:
        self._terms = terms
        self._groups: dict[str, tuple[Derive, ...]] = {}
        self._rounds = 0
        self.forget()

    def forget(self) -> None:
        self._tables: dict[tuple[str, bool], Table[V]] = {}
        self.stage = 0

    def value(self, derive: Derive, args: tuple[Raw, ...], was: bool) -> V:
        """The derive for constant arguments (inside a round: as of the round before)."""
        table = self._tables.get((derive.name, was))
        if table is None:
            self._unroll(self._group(derive), was)
            table = self._tables[derive.name, was]
        return table.get(args, self._terms.false)

    def _unroll(self, group: tuple[Derive, ...], was: bool) -> None:
        bindings = {one.name: self._bindings(one) for one in group}
        for one in group:
            self._tables[one.name, was] = dict.fromkeys(bindings[one.name], self._terms.false)
        outer, changed = self.stage, True
        while changed:
            self._rounds += 1
            self.stage = self._rounds
            new = {
                one.name: {args: self._terms.body(one, args, was) for args in bindings[one.name]}
                for one in group
            }
            changed = any(new[one.name] != self._tables[one.name, was] for one in group)
            self._tables.update({(one.name, was): new[one.name] for one in group})
        self.stage = outer

    def _bindings(self, derive: Derive) -> list[tuple[Raw, ...]]:
        choices = self._terms.facts.choices(derive.params)
        count = prod(len(one) for one in choices)
        if count > _MOST_BINDINGS:
            reason = f"its {count:,} bindings are too many to unroll"
            raise Refused(f"recursive derive `{derive.name}`", derive.span, reason)
        return list(product(*choices))

    def _group(self, derive: Derive) -> tuple[Derive, ...]:
        """The derives that use each other in a circle with this one."""
        if derive.name not in self._groups:
            derives = self._terms.facts.program.derives
            reach = {one.name: _reached(one, derives) for one in derives.values() if one.recursive}
            own = reach[derive.name]
            self._groups[derive.name] = tuple(
                derives[name]
                for name in reach
                if name == derive.name or (name in own and derive.name in reach[name])
            )
        return self._groups[derive.name]


def _reached(derive: Derive, derives: Mapping[str, Derive]) -> frozenset[str]:
    """The derives that one uses, directly or through others."""
    found: set[str] = set()
    waiting = [derive]
    while waiting:
        for part in subterms(waiting.pop().value):
            if isinstance(part, DeriveCall) and part.derive not in found:
                found.add(part.derive)
                waiting.append(derives[part.derive])
    return frozenset(found)
