"""What derives come to on sets of values, kept from rule to rule.

The analysis of values evaluates every ground rule again and again, and most rules ask for the same
derives of the same arguments. What one came to holds until a slot that it read can hold more
values; and whoever takes it from here has read these slots too.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import partial

from tokenworld.ground import Raw
from tokenworld.model import Derive, Term
from tokenworld.planning.lower.algebra import SetAlgebra, Slot, ValueSet
from tokenworld.planning.lower.diagram import Explosion
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.terms import Env, Terms

__all__ = ["KeptDerives"]

_ASKED_EVERY = 1 << 12
"""Terms between two looks: one takes as long as four steps of the diagrams."""


@dataclass(slots=True)
class _Kept:
    """A value, the slots it rests on, and when these were last seen to be as they were."""

    value: ValueSet
    reads: dict[Slot, None]
    seen: int


class KeptDerives(Terms[ValueSet]):
    """An evaluator on sets of values that may grow. `grew` tells it of a slot that did.

    ``late`` is asked after every so many terms whether it is enough; then it is an `Explosion`.
    """

    def __init__(
        self, facts: Facts, algebra: SetAlgebra, late: Callable[[], bool] | None = None
    ) -> None:
        self._sets, self._late = algebra, late
        self._growths: dict[Slot, int] = {}
        self._now = self._work = 0
        super().__init__(facts, algebra)

    def grew(self, slot: Slot) -> None:
        """A slot can hold more values from now on."""
        self._now += 1
        self._growths[slot] = self._now

    def begin(self) -> None:
        """Forget all but derives: another rule is evaluated, whose reads are its own."""
        self._memo = {}
        self._rows = {}
        self.collections.forget()

    def forget(self) -> None:
        super().forget()
        self._bodies: dict[Hashable, _Kept] = {}
        self._tables: dict[Hashable, _Kept] = {}

    def _computed(self, term: Term, env: Env[ValueSet]) -> ValueSet:
        self._work += 1
        if self._work % _ASKED_EVERY == 0 and self._late is not None and self._late():
            raise Explosion(self._work, late=True)
        return super()._computed(term, env)

    def body(self, derive: Derive, args: tuple[Raw, ...], was: bool) -> ValueSet:
        if self.fixpoints.stage:  # what it comes to there is a guess
            return super().body(derive, args, was)
        evaluated = partial(super().body, derive, args, was)
        return self._kept(self._bodies, (derive.name, args, was), evaluated)

    def derived(self, name: str, args: tuple[Raw, ...], was: bool) -> ValueSet:
        derive = self.facts.program.derives[name]
        if not derive.recursive or None in args or self.fixpoints.stage:
            return super().derived(name, args, was)
        table = self._tables.get((name, was))
        if table is None or not self._holds(table):
            self.fixpoints.forget()
            self._tables.clear()

        def worked_out() -> ValueSet:
            self.fixpoints.value(derive, args, was)
            return None

        self._kept(self._tables, (name, was), worked_out)
        return self.fixpoints.value(derive, args, was)

    def _kept(
        self, store: dict[Hashable, _Kept], key: Hashable, work_out: Callable[[], ValueSet]
    ) -> ValueSet:
        known, algebra = store.get(key), self._sets
        if known is None or not self._holds(known):
            outer, algebra.reads = algebra.reads, {}
            memo, self._memo = self._memo, {}
            closures = self.collections.exchanged({})
            try:
                value = work_out()
            finally:
                reads, algebra.reads = algebra.reads, outer
                self._memo = memo
                self.collections.exchanged(closures)
            known = store[key] = _Kept(value, reads, self._now)
        algebra.reads.update(known.reads)
        return known.value

    def _holds(self, known: _Kept) -> bool:
        if known.seen < self._now:
            growths, seen = self._growths, known.seen
            if any(growths.get(slot, 0) > seen for slot in known.reads):
                return False
            known.seen = self._now
        return True
