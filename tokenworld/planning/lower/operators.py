"""Drafts of operators, and what becomes of them: one operator per way their condition can hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command, LuckyDraw, Raw
from tokenworld.planning.encodings.ir import Effect, Literal, Operator, Variable, VariableKind
from tokenworld.planning.encodings.slice import Cone
from tokenworld.planning.lower.algebra import ALIVE, COIN, DID, LONG, RING, Refused, Slot
from tokenworld.planning.lower.blocks import Block
from tokenworld.planning.lower.diagram import Diagram, Mark, Path
from tokenworld.planning.lower.variables import WAS
from tokenworld.planning.lower.world import TakenApart

__all__ = ["Allowed", "Draft", "Operators", "Results", "scale_of"]

_MOST_PATHS = 4_000
_MOST_OPERATORS = 60_000
_MOST_EFFECTS = 1_500_000
_TICKS_PER_COST = 1_000
_DEAREST = 1_000
_KINDS: dict[str, VariableKind] = {
    RING: "ring", COIN: "coin", DID: "did", LONG: "long", WAS: "was", ALIVE: "alive",
}  # fmt: skip

Results = list[tuple[Slot, Diagram]]
"""Slots with what they hold afterwards."""
Allowed = Mapping[int, frozenset[int]]


@frozen
class Draft:
    """An operator in the making.

    It is applicable where ``condition`` and the ``fixed`` literals hold; then the ``results`` are
    stored and the ``extra`` effects happen. ``units`` is what it costs, ``ticks`` whether it begins
    a tick; ``coins`` are the sides that the draws of a command show.
    """

    name: str
    condition: Diagram
    results: Results
    fixed: tuple[Literal, ...] = ()
    extra: tuple[Effect, ...] = ()
    units: int = 0
    ticks: int = 0
    command: Command | None = None
    draws: tuple[LuckyDraw, ...] = ()
    coins: Allowed = field(default_factory=dict)


class Operators:
    """The variables and operators of one task, as they are made."""

    def __init__(self, world: TakenApart, cone: Cone) -> None:
        self._world, self._diagrams, self._all = world, world.diagrams, world.variables
        self._cone = cone
        self.variables: list[Variable] = []
        self.index: dict[Slot, int] = {}
        self._made: list[tuple[Operator, int, int]] = []
        self._effects = 0

    # ---- variables ------------------------------------------------------------------------

    def declare(self, variable: Variable) -> int:
        """A new variable's number."""
        self.variables.append(variable)
        return len(self.variables) - 1

    def declare_slots(self) -> None:
        """A variable for each slot of the slice; draws of commands become operators instead."""
        for slot in self._cone.slots:
            if slot[0] != COIN or self._all.draws[slot].unit.kind == "law":
                self.index[slot] = self.declare(self._variable(slot))

    def _variable(self, slot: Slot) -> Variable:
        kind = _KINDS.get(slot[0], "slot")
        domain = self._all.domain(slot)
        initial = domain.index(self._all.initial(slot))
        name = self._all.name(slot)
        if kind != "slot":
            return Variable(name, kind, domain, initial)
        return Variable(name, kind, domain, initial, *slot)

    def position(self, slot: Slot, value: Raw) -> int:
        """The position of a value in its variable."""
        return self.variables[self.index[slot]].values.index(value)

    def literals(self, path: Path) -> tuple[Literal, ...]:
        """The tests of a diagram's path."""
        return tuple((self.index[self._all.slots[level]], places) for level, places in path)

    # ---- blocks -----------------------------------------------------------------------------

    def matters(self, block: Block) -> list[Slot]:
        """The slots inside the slice that a block may write."""
        return [slot for slot in self._cone.slots if block.writes(slot)]

    def results(self, block: Block) -> Results:
        """What these slots hold after the block."""
        return [(slot, block.after(slot)) for slot in self.matters(block)]

    # ---- operators --------------------------------------------------------------------------

    def add(self, draft: Draft) -> None:
        """One operator for each way in which the condition can hold.

        Raises `Refused` where that would be too many.
        """
        count = self._diagrams.count_paths(draft.condition, True)
        if count > _MOST_PATHS or len(self._made) + count > _MOST_OPERATORS:
            raise self._too_many(draft, f"{count:,} operators")
        for path, value in self._diagrams.paths(draft.condition):
            if value is True:
                self._add_one(draft, path)

    def _add_one(self, draft: Draft, path: Path) -> None:
        precondition = _joined((*draft.fixed, *self.literals(path)))
        if precondition is None:
            return
        allowed = {level: frozenset(positions) for level, positions in path}
        allowed.update(draft.coins)
        effects = list(draft.extra)
        for slot, after in draft.results:
            effects.extend(self._changes(slot, self._diagrams.restrict(after, allowed)))
            if self._effects + len(effects) > _MOST_EFFECTS:
                raise self._too_many(draft, f"more than {_MOST_EFFECTS:,} effects")
        self._effects += len(effects)
        operator = Operator(draft.name, precondition, tuple(effects), 0, draft.command, draft.draws)
        self._made.append((operator, draft.units, draft.ticks))

    def _too_many(self, draft: Draft, what: str) -> Refused:
        span = self._world.facts.instance.world.span
        return Refused(f"`{draft.name}`", span, f"it would take about {what}")

    def _changes(self, slot: Slot, after: Diagram) -> Iterator[Effect]:
        """The conditional effects that bring a slot to a new value."""
        index, level = self.index[slot], self._all.levels[slot]
        positions = {
            (type(value), value): position
            for position, value in enumerate(self.variables[index].values)
        }
        for path, value in self._diagrams.paths(after):
            if isinstance(value, Mark):
                continue  # the operator is not applicable there
            target = positions[type(value), value]
            if (level, (target,)) not in path:
                yield Effect(self.literals(path), index, target)

    @property
    def scale(self) -> int:
        """How many ticks a unit of cost outweighs, where actions have costs."""
        return scale_of(max((units for _, units, _ in self._made), default=0))

    def finished(self) -> tuple[Operator, ...]:
        """All operators with their names and costs.

        Without costs in the program a tick costs 1. With costs, ticks only break ties.
        """
        scale, priced = self.scale, self._world.has_costs
        return tuple(
            replace(
                operator,
                name=f"o{number} {operator.name}",
                cost=units * scale + ticks if priced else ticks,
            )
            for number, (operator, units, ticks) in enumerate(self._made)
        )


def scale_of(dearest: int) -> int:
    """How many ticks a unit of cost outweighs, where no action costs more units than these."""
    return _TICKS_PER_COST if dearest <= _DEAREST else 1


def _joined(literals: tuple[Literal, ...]) -> tuple[Literal, ...] | None:
    """The literals with one entry per variable; ``None`` if they contradict each other."""
    found: dict[int, tuple[int, ...]] = {}
    for variable, positions in literals:
        both = positions
        if variable in found:
            both = tuple(one for one in found[variable] if one in positions)
        if not both:
            return None
        found[variable] = both
    return tuple(sorted(found.items()))
