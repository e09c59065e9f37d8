"""Which part of a state decides a question about it.

Whether a law applies, an ending is reached or a require holds depends on a few slots. Of all states
that agree in these one is enough to ask the interpreter about: `Parts` tells the bits they lie in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from tokenworld.ground import Raw
from tokenworld.model import Action, Binder, Law, Let, Require, Term
from tokenworld.planning.explore.bits import Packing
from tokenworld.planning.explore.tails import Phases, traced
from tokenworld.planning.lower.algebra import LONG, Refused, Slot
from tokenworld.planning.lower.diagram import Diagram, Explosion
from tokenworld.planning.lower.terms import Env, Later
from tokenworld.planning.lower.units import Unit, opened
from tokenworld.planning.lower.world import TakenApart

__all__ = ["Parts"]


class Parts:
    """The bits that decide questions about one packed world; ``None`` where that is not known."""

    def __init__(
        self,
        world: TakenApart,
        variables: Mapping[Slot, int],
        packing: Packing,
        phases: Phases,
        places: Mapping[str, int],
    ) -> None:
        self._world, self._variables, self._packing = world, variables, packing
        self._phases, self._places = phases, places

    def condition(self, term: Term, params: tuple[Binder, ...]) -> int | None:
        """The bits that decide for which bindings a condition holds between two ticks."""
        return self._mask(self._conditions(term, params))

    def requires(self, action: Action, args: tuple[Raw, ...]) -> int | None:
        """The bits that decide which requires of a command hold."""
        if (LONG, ()) in self._variables:
            return None  # they are looked at after a long action was broken off
        return self._mask(self._requires(action, args))

    def law(self, law: Law) -> int | None:
        """The bits, as the command leaves them, that decide whether a law applies in the tick."""
        try:
            for phase in self._world.phases:
                units = [one for one in phase.block.units if one.rule is law]
                if units:
                    terms = phase.block.moment.terms
                    looked = self._support(opened(terms, one)[1] for one in units)
                    return None if looked is None else self._bits(self._before(phase.name, looked))
        except (Refused, Explosion):
            return None
        return 0

    # ---- what a diagram looks at ------------------------------------------------------------

    def _conditions(self, term: Term, params: tuple[Binder, ...]) -> Iterator[Diagram]:
        terms, facts = self._world.turn.terms, self._world.facts
        names = [one.name for one in params]
        for args in product(*facts.choices(params)):
            values = (self._world.diagrams.leaf(arg) for arg in args)
            yield terms.exist(params, args)
            yield terms.value(term, Env(dict(zip(names, values, strict=True))))

    def _requires(self, action: Action, args: tuple[Raw, ...]) -> Iterator[Diagram]:
        terms = self._world.turn.terms
        env, _ = opened(terms, Unit("cancelled", action, args))
        for guard in action.guards:
            if isinstance(guard, Require):
                yield terms.condition(guard.condition, env)
            elif isinstance(guard, Let) and guard.name not in env.names:
                later = Later(lambda value=guard.value, seen=env: terms.value(value, seen))  # type: ignore[misc]
                env = env.bind(guard.name, later)

    def _mask(self, diagrams: Iterable[Diagram]) -> int | None:
        try:
            looked = self._support(diagrams)
        except (Refused, Explosion):
            return None
        return None if looked is None else self._bits(looked)

    def _support(self, diagrams: Iterable[Diagram]) -> frozenset[int] | None:
        """The variables that some of these depend on; ``None`` where one of them has no bits."""
        slots = self._world.variables.slots
        levels = frozenset[int]().union(*(self._world.diagrams.support(one) for one in diagrams))
        if any(slots[level] not in self._variables for level in levels):
            return None
        return frozenset(self._variables[slots[level]] for level in levels)

    def _bits(self, looked: Iterable[int]) -> int:
        return sum(self._packing.masks[one] for one in looked)

    def _before(self, phase: str, looked: frozenset[int]) -> frozenset[int]:
        """The variables after the command that decide these when a phase begins."""
        supports: dict[int, frozenset[int]] = {}
        for one in self._world.phases:
            if one.name == phase:
                break
            if one.name in self._places:
                decided, _ = self._phases.decides(self._places[one.name])
                later = {n: traced(found, supports) for n, found in decided.items()}
                supports = {**supports, **later}
        return traced(looked, supports)
