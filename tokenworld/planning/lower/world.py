"""One world taken apart: its commands and phases as blocks, with what each must respect.

Commands that can never run, whatever happens, are not even made. Everything else is computed only
when the slice (`slice`) asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tokenworld.check.analysis.laws import order_pairs
from tokenworld.core.nodes import Create
from tokenworld.core.rules import Action
from tokenworld.core.walk import statements_in
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command
from tokenworld.model import Program
from tokenworld.model.rules import Phase as PhaseLine
from tokenworld.planning.lower.algebra import Refused, Slot
from tokenworld.planning.lower.blocks import WIDEST, Block, Moment, Variables
from tokenworld.planning.lower.diagram import Diagram, Diagrams, Value
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.guards import Guards
from tokenworld.planning.lower.numbers import truth
from tokenworld.planning.lower.units import (
    Unit,
    actions_of,
    cancelled_of,
    laws_of,
    opened,
    phases_of,
)
from tokenworld.planning.lower.values import ValueAnalysis


class Commanded:
    """A command: its block, its ``cancelled`` block, how long it takes.

    ``stages`` are the numbers of its stages after 1, 2 … ticks.
    """

    def __init__(
        self,
        world: TakenApart,
        unit: Unit,
        takes: int,
        block: Block,
        cancelled: Block | None,
        stages: tuple[int, ...],
    ) -> None:
        self.unit, self.takes, self.block, self.cancelled = unit, takes, block, cancelled
        self.stages, self._world = stages, world
        self._possible: dict[Block, Diagram] = {}

    @property
    def command(self) -> Command:
        return self.unit.command

    @property
    def is_long(self) -> bool:
        """Whether it may be under way between two ticks."""
        return bool(self.stages)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The slots it may write, also when it is cancelled."""
        rest = self.cancelled.slots if self.cancelled is not None else ()
        return tuple(dict.fromkeys((*self.block.slots, *rest)))

    def exists(self) -> Diagram:
        """Where all its arguments exist, so that it can be given."""
        return self.block.moment.terms.exist(self.unit.params, self.unit.args)

    def requires(self) -> Diagram:
        """Where the author's requires hold."""
        return self.block.guard()

    def fails(self) -> Diagram:
        """Where its generated requires alone stand in the way.

        Raises `Refused` where an error could come first: which of the two is a matter of order.
        """
        diagrams, block = self._world.diagrams, self.block
        refused = diagrams.both(self.requires(), diagrams.negate(block.allowed()))
        if diagrams.both(refused, diagrams.negate(block.sound())) != diagrams.false:
            reason = "at its end both a generated require and an error may come up"
            raise Refused(f"long action `{self.unit.rule.name}`", self.unit.span, reason)
        return refused

    def possible(self) -> Diagram:
        """Where its changes can be made: requires, generated requires, conserved sums."""
        return self._within(self.block, self.requires())

    def cancellable(self) -> Diagram:
        """Where its ``cancelled`` block can happen."""
        if self.cancelled is None:
            return self._world.diagrams.true
        return self._within(self.cancelled, self._world.diagrams.true)

    def _within(self, block: Block, guard: Diagram) -> Diagram:
        if block not in self._possible:
            both = self._world.diagrams.both
            possible = both(guard, block.ok())
            kept = self._world.guards.conserves(block, possible)
            self._possible[block] = both(possible, kept)
        return self._possible[block]

    def until(self, *, under_way: bool) -> Diagram:
        """Where a long action completes before its time, in its first tick or a later one."""
        moment = self._world.turn if under_way else self.block.moment
        action, terms = self.unit.rule, moment.terms
        if not isinstance(action, Action) or action.until is None:
            return self._world.diagrams.false
        value = terms.value(action.until, opened(terms, self.unit)[0])
        return self._world.diagrams.lift("truth", truth, value)

    def cost(self) -> Diagram:
        """The cost of the command, a whole number."""
        action, terms = self.unit.rule, self.block.moment.terms
        diagrams = self._world.diagrams
        if not self._world.has_costs:
            return diagrams.leaf(1)
        if not isinstance(action, Action) or action.cost is None:
            return diagrams.leaf(0)
        return terms.value(action.cost, opened(terms, self.unit)[0])

    def price(self, value: Value) -> int:
        """A cost as planners count it. Raises `Refused` for one below 0."""
        if not isinstance(value, int) or value < 0:
            reason = "planners count costs of 0 or more"
            raise Refused(f"cost of `{self.unit.rule.name}`", self.unit.span, reason)
        return value


@frozen
class Phase:
    """A phase: its laws as one block, and where it can happen."""

    name: str
    block: Block
    ok: Callable[[], Diagram]


class TakenApart:
    """The commands and phases of one world in one start state.

    ``goal`` names the goal line (any if ``None``), ``whole``: nothing of it will be left out,
    and this says whether the analysis of values took too long.
    """

    def __init__(
        self,
        facts: Facts,
        goal: str | None,
        limit: int,
        late: Callable[[], bool] | None = None,
        *,
        whole: Callable[[], bool] | None = None,
    ) -> None:
        self.facts = facts
        _refuse_what_is_missing(facts)
        actions, laws = list(actions_of(facts)), list(laws_of(facts))
        cancelled = cancelled_of(actions)
        units = [*actions, *cancelled.values(), *laws]
        widest = None if whole is None else WIDEST  # then every slot that changes is a variable
        self.analysis = ValueAnalysis(facts, units, whole, widest)
        self.diagrams = Diagrams(limit, late)
        self.variables = Variables(facts, self.analysis, self.diagrams)
        self.turn, self.idle = Moment(self.variables, -1), Moment(self.variables, -1, idle=True)
        self.guards = Guards(self.turn, goal)
        self.has_costs = any(action.cost is not None for action in facts.rules.actions.values())
        self.commands = self._commands(actions, cancelled)
        self.phases = self._phases(laws)

    def _commands(self, actions: list[Unit], cancelled: dict[Unit, Unit]) -> tuple[Commanded, ...]:
        found = []
        for unit in actions:
            if not self.analysis.profiles[unit].feasible:
                continue
            takes = self._takes(unit)
            stages = tuple(self.facts.stage(unit.command, done) for done in range(1, max(takes, 1)))
            moment = self.idle if takes else self.turn  # what is free breaks nothing off
            block = Block(unit.title, [unit], self.analysis, moment)
            broken_off = None
            if stages and unit in cancelled:
                broken_off = Block(unit.title, [cancelled[unit]], self.analysis, self.turn)
            found.append(Commanded(self, unit, takes, block, broken_off, stages))
        return tuple(found)

    def _takes(self, unit: Unit) -> int:
        values = self.analysis.takes(unit)
        value = next(iter(values)) if values is not None and len(values) == 1 else None
        if not isinstance(value, int):
            reason = "the number of ticks is not fixed"
            raise Refused(f"`takes` of `{unit.rule.name}`", unit.span, reason)
        return value

    def _phases(self, laws: list[Unit]) -> tuple[Phase, ...]:
        found = []
        for position, name in enumerate(phases_of(self.facts)):
            units = [unit for unit in laws if unit.phase == position]
            moment = Moment(self.variables, position)
            title = f"phase {name}" if name else "laws"
            block = Block(title, units, self.analysis, moment)
            found.append(Phase(title, block, _once(lambda block=block: self._phase_ok(block))))  # type: ignore[misc]
        return tuple(found)

    def _phase_ok(self, block: Block) -> Diagram:
        possible = block.ok()
        return self.diagrams.both(possible, self.guards.conserves(block, possible))


def _once(compute: Callable[[], Diagram]) -> Callable[[], Diagram]:
    """The same function, computed at most once."""
    found: list[Diagram] = []

    def value() -> Diagram:
        if not found:
            found.append(compute())
        return found[0]

    return value


def _created(facts: Facts) -> Iterator[Create]:
    """The places where play makes objects."""
    bodies = [law.body for law in facts.rules.laws.values()]
    bodies += [(*one.body, *one.cancelled) for one in facts.rules.actions.values()]
    for body in bodies:
        yield from (one for one in statements_in(body) if isinstance(one, Create))


def _in_turn(phase: PhaseLine, program: Program) -> Refused:
    """Laws that act one after another; TW0805 where no encoding could follow their order."""
    pairs = [pair for pair in order_pairs(program) if pair.phase == phase.name]
    if phase.order == "by_nesting" and pairs:
        one = pairs[0]
        reason = f"the result depends on the order of `{one.first}` and `{one.second}`"
        return Refused(f"phase `{phase.name}` by nesting", phase.span, reason, "TW0805")
    reason = "its laws act one after another; our own search plans on the interpreter"
    return Refused(f"phase `{phase.name}` sequentially", phase.span, reason)


def _refuse_what_is_missing(facts: Facts) -> None:
    """Constructs of a whole world that this encoding has no place for."""
    program, world = facts.program, facts.instance.world
    for phase in program.phases.values():
        used = any(law.phase == phase.name for law in program.laws.values())
        if phase.order != "simultaneous" and used:
            raise _in_turn(phase, program)
    for create in _created(facts):
        reason = "objects that do not exist yet are not encoded"
        raise Refused("`create`", create.span, reason)
    if len(world.turns) > 1:
        reason = "a plan has one actor"
        raise Refused("`turns` of several actors", world.span, reason)
