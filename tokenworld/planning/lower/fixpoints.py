"""Recursive derives: the least fixpoint over all bindings, unrolled.

Every member of a group of derives that use each other starts false everywhere and is evaluated
again and again from the round before, until nothing changes (language.md §3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from math import prod
from typing import Generic

from tokenworld.core.nodes import DeriveCall
from tokenworld.core.rules import Derive
from tokenworld.core.walk import subterms
from tokenworld.ground import Raw
from tokenworld.planning.lower.algebra import Refused, V
from tokenworld.planning.lower.facts import Facts

__all__ = ["Fixpoints"]

_MOST_BINDINGS = 4_000
Table = dict[tuple[Raw, ...], V]
Body = Callable[[Derive, tuple[Raw, ...], bool, Raw], V]
"""The value of a derive's expression for constant arguments."""


class Fixpoints(Generic[V]):
    """The recursive derives of one evaluator. ``stage`` tells rounds apart, 0 outside of any.

    ``body`` evaluates the expression of a derive.
    """

    def __init__(self, facts: Facts, false: V, body: Body[V]) -> None:
        self._facts, self._false, self._body = facts, false, body
        self._groups: dict[str, tuple[Derive, ...]] = {}
        self._rounds = 0
        self.forget()

    def forget(self) -> None:
        self._tables: dict[tuple[str, bool, Raw], Table[V]] = {}
        self.stage = 0

    def value(self, derive: Derive, args: tuple[Raw, ...], was: bool, actor: Raw = None) -> V:
        """The derive for constant arguments (inside a round: as of the round before)."""
        table = self._tables.get((derive.name, was, actor))
        if table is None:
            self._unroll(self._group(derive), was, actor)
            table = self._tables[derive.name, was, actor]
        return table.get(args, self._false)

    def _unroll(self, group: tuple[Derive, ...], was: bool, actor: Raw) -> None:
        bindings = {one.name: self._bindings(one) for one in group}
        for one in group:
            self._tables[one.name, was, actor] = dict.fromkeys(bindings[one.name], self._false)
        outer, changed = self.stage, True
        while changed:
            self._rounds += 1
            self.stage = self._rounds
            new = {
                one.name: {args: self._body(one, args, was, actor) for args in bindings[one.name]}
                for one in group
            }
            changed = any(new[one.name] != self._tables[one.name, was, actor] for one in group)
            self._tables.update({(one.name, was, actor): new[one.name] for one in group})
        self.stage = outer

    def _bindings(self, derive: Derive) -> list[tuple[Raw, ...]]:
        choices = self._facts.choices(derive.params)
        count = prod(len(one) for one in choices)
        if count > _MOST_BINDINGS:
            reason = f"its {count:,} bindings are too many to unroll"
            raise Refused(f"recursive derive `{derive.name}`", derive.span, reason)
        return list(product(*choices))

    def _group(self, derive: Derive) -> tuple[Derive, ...]:
        """The derives that use each other in a circle with this one."""
        if derive.name not in self._groups:
            derives = self._facts.rules.derives
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
