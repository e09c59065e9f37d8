"""Drafts of operators, and what becomes of them: one operator per way their condition can hold.

Where there are too many ways, the condition is tested node by node: an operator for each test of
its diagram, during which nothing else can happen, and one at the end that does what is to be done.
A test that fails leads nowhere, so that nothing can be done but what the condition allows.
"""

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
_FEW_PATHS = 500
"""So many ways of a condition are an operator each; more of them are tested node by node."""
_TESTING = "testing"
_MOST_OPERATORS = 60_000
_MOST_EFFECTS = 1_500_000
_MOST_OF_A_SLOT = 200_000
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
    """The variables and operators of one task, as they are made.

    ``by_node``: a condition with too many ways is tested node by node.
    """

    def __init__(self, world: TakenApart, cone: Cone, *, by_node: bool = False) -> None:
        self._by_node, self._tested = by_node, -1
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
        if self._by_node and count > _FEW_PATHS and self._add_by_node(draft):
            return
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
            effects.extend(self._told(draft, slot, self._diagrams.restrict(after, allowed)))
        operator = Operator(draft.name, precondition, tuple(effects), 0, draft.command, draft.draws)
        self._made.append((operator, draft.units, draft.ticks))

    def _add_by_node(self, draft: Draft) -> bool:
        """The condition as tests, one after another; whether that is possible here."""
        tokens = [one for one in draft.fixed if self.variables[one[0]].kind == "token"]
        tests = list(self._diagrams.tests(draft.condition))
        if len(tokens) != 1 or len(self._made) + len(tests) > _MOST_OPERATORS:
            return False
        (token, places), true = tokens[0], self._diagrams.true
        busy = self._value_of(token, _TESTING)
        if self._tested < 0:
            self._tested = self.declare(Variable("test", "aux", (None,), 0))
        numbers = {
            node: self._value_of(self._tested, f"{draft.name} {len(self._made)}.{node}")
            for node in dict.fromkeys([*(one for one, *_ in tests), true])
        }

        def at(node: Diagram) -> tuple[Literal, ...]:
            return (token, (busy,)), (self._tested, (numbers[node],))

        moves = (Effect((), token, busy), Effect((), self._tested, numbers[draft.condition]))
        begin = Operator(draft.name, draft.fixed, moves, 0, draft.command, draft.draws)
        self._made.append((begin, draft.units, draft.ticks))
        for node, level, positions, kid in tests:
            if kid in numbers:
                asked = (self.index[self._all.slots[level]], positions)
                on = (Effect((), self._tested, numbers[kid]),)
                self._made.append((Operator(draft.name, (*at(node), asked), on), 0, 0))
        back = () if any(one.variable == token for one in draft.extra) else (
            Effect((), token, places[0]),
        )  # fmt: skip
        done = (*draft.extra, *back, Effect((), self._tested, 0))
        for slot, after in draft.results:
            done += self._told(draft, slot, self._diagrams.restrict(after, draft.coins))
        self._made.append((Operator(draft.name, at(true), done), 0, 0))
        return True

    def _value_of(self, number: int, value: str) -> int:
        """The position of a value of a variable, which gets it where it does not have it."""
        variable = self.variables[number]
        if value not in variable.values:
            self.variables[number] = replace(variable, values=(*variable.values, value))
        return self.variables[number].values.index(value)

    def _told(self, draft: Draft, slot: Slot, after: Diagram) -> tuple[Effect, ...]:
        """The effects that bring a slot to its value; `Refused` before they are too many."""
        if self._diagrams.count_paths(after) <= _MOST_OF_A_SLOT:
            found = tuple(self._changes(slot, after))
            self._effects += len(found)
            if self._effects <= _MOST_EFFECTS:
                return found
        raise self._too_many(draft, f"more than {_MOST_EFFECTS:,} effects")

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
