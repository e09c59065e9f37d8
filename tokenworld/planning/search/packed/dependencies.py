"""Dependency sets: the bits of a packed state that decide a question about it.

Whether a law applies, an ending is reached or a require holds depends on a few slots. Of all states
that agree in these bits one is enough to ask the interpreter about (`verbs.audit.rules`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import product

from tokenworld.core import Rules, lowered
from tokenworld.core.nodes import BranchDraw, Draw, Let, PickDraw, Statement, UniformDraw
from tokenworld.core.walk import statements_in
from tokenworld.ground import Command, Instance, Raw, fixed_value
from tokenworld.model import Binder, Term
from tokenworld.planning.lower.algebra import ALIVE, COIN, LONG, RING, Env, Refused, Slot
from tokenworld.planning.lower.diagram import Diagram, Explosion
from tokenworld.planning.lower.units import Unit, opened
from tokenworld.planning.lower.world import TakenApart
from tokenworld.planning.search.packed.bits import Packing
from tokenworld.planning.search.packed.successors import Phases, traced


class Dependencies:
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

    def stored(self, fluents: Collection[str]) -> int:
        """The bits of stored fluents, of the clock and of who lives."""
        names = {*fluents, ALIVE, RING}
        return self._bits({one for slot, one in self._variables.items() if slot[0] in names})

    def requires(self, action: str, args: tuple[Raw, ...]) -> int | None:
        """The bits that decide which requires of a command hold."""
        if (LONG, ()) in self._variables:
            return None  # they are looked at after a long action was broken off
        return self._mask(self._requires(action, args))

    def law(self, law: str) -> int | None:
        """The bits, as the command leaves them, that decide whether a law applies in the tick."""
        try:
            for phase in self._world.phases:
                units = [one for one in phase.block.units if one.rule.name == law]
                if units:
                    terms = phase.block.moment.terms
                    looked = self._support(opened(terms, one)[1] for one in units)
                    return None if looked is None else self._bits(self._before(phase.name, looked))
        except (Refused, Explosion):
            return None
        return 0

    def draws(self, command: Command) -> int | None:
        """The bits that decide how likely the outcomes of the draws of a command are."""
        if not self._fixed:
            return None
        units = [one.unit for one in self._world.commands if one.command == command]
        try:
            looked = self._support(self._sites(units), but=COIN)
        except (Refused, Explosion):
            return None
        return None if looked is None else self._bits(looked)

    def draws_of_laws(self) -> int | None:
        """The same for the draws of laws in the tick: bits as the command leaves them."""
        found, every = 0, self._phases_with_draws() if self._fixed else None
        if every is None:
            return None
        try:
            for name, units in every:
                looked = self._support(self._sites(units), but=COIN)
                if looked is None:
                    return None
                found |= self._bits(self._before(name, looked))
        except (Refused, Explosion):
            return None
        return found

    @cached_property
    def _fixed(self) -> bool:
        return fixed_odds(self._world.facts.instance)

    def _phases_with_draws(self) -> list[tuple[str, list[Unit]]]:
        drawing = {id(one.unit) for one in self._world.variables.draws.values()}
        phases = (
            (phase.name, [one for one in phase.block.units if id(one) in drawing])
            for phase in self._world.phases
        )
        return [(name, units) for name, units in phases if units]

    def _sites(self, units: Sequence[Unit]) -> Iterator[Diagram]:
        """Whether draws are made, and which of their sides have a chance, however others fall."""
        wanted = {id(one) for one in units}
        for one in self._world.variables.draws.values():
            if id(one.unit) in wanted:
                yield one.site.taken
                yield from (one.site.possible(side) for side in range(one.site.sides))

    # ---- what a diagram looks at ------------------------------------------------------------

    def _conditions(self, term: Term, params: tuple[Binder, ...]) -> Iterator[Diagram]:
        terms, facts = self._world.turn.terms, self._world.facts
        asked, bound = facts.rules.term(term), facts.rules.binders(params)
        names = [one.name for one in params]
        for args in product(*facts.choices(bound)):
            values = (self._world.diagrams.leaf(arg) for arg in args)
            yield terms.exist(bound, args)
            yield terms.value(asked, Env(dict(zip(names, values, strict=True))))

    def _requires(self, action: str, args: tuple[Raw, ...]) -> Iterator[Diagram]:
        terms, rule = self._world.turn.terms, self._world.facts.rules.actions[action]
        env, _ = opened(terms, Unit("cancelled", rule, args))
        yield from (terms.condition(one.condition, env) for one in rule.requires)

    def _mask(self, diagrams: Iterable[Diagram]) -> int | None:
        try:
            looked = self._support(diagrams)
        except (Refused, Explosion):
            return None
        return None if looked is None else self._bits(looked)

    def _support(self, diagrams: Iterable[Diagram], but: str = "") -> frozenset[int] | None:
        """The variables that some of these depend on; ``None`` where one of them has no bits.

        Slots of the name ``but`` do not count.
        """
        slots = self._world.variables.slots
        levels = frozenset[int]().union(*(self._world.diagrams.support(one) for one in diagrams))
        found = [slots[level] for level in levels if slots[level][0] != but]
        if any(slot not in self._variables for slot in found):
            return None
        return frozenset(self._variables[slot] for slot in found)

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


# ---- odds ---------------------------------------------------------------------------------------


def fixed_odds(instance: Instance) -> bool:
    """Whether no state changes the odds of a draw: a chance always has the same probability, and a
    pick the same weight for all."""
    return all(
        _fixed(one.value, instance)
        for one in _statements(lowered(instance.program))
        if isinstance(one, Let) and isinstance(one.value, (BranchDraw, PickDraw, UniformDraw))
    )


def _fixed(draw: Draw, instance: Instance) -> bool:
    if isinstance(draw, BranchDraw):
        known = instance.numbers, instance.params
        return all(fixed_value(one, *known) is not None for one in draw.probabilities)
    return isinstance(draw, PickDraw) and draw.key != "weight"


def _statements(rules: Rules) -> Iterator[Statement]:
    """Every statement of laws and actions."""
    for law in rules.laws.values():
        yield from statements_in(law.body)
    for action in rules.actions.values():
        yield from statements_in((*action.guards, *action.body, *action.cancelled))
