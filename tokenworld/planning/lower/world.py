"""One world split into commands and phases as blocks, of which `cone_of` keeps the relevant ones.

Commands that can never run are not made. Everything else is computed only when the cone of
influence asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product

from tokenworld.check.analysis.laws import order_pairs
from tokenworld.core.nodes import Call, Fold, Term
from tokenworld.core.rules import Action, Conserve, Ending, Footprint, Invariant
from tokenworld.diagnostics import Span
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command
from tokenworld.model import Program
from tokenworld.model.rules import Phase as PhaseLine
from tokenworld.planning.lower.algebra import (
    AWARD,
    CLOCK,
    COIN,
    DID,
    LONG,
    RING,
    WAS,
    Diagram,
    Diagrams,
    Env,
    Obstacle,
    Refused,
    Slot,
    Value,
)
from tokenworld.planning.lower.blocks import WIDEST, Block, Moment, Variables
from tokenworld.planning.lower.bodies import no_objects_for
from tokenworld.planning.lower.facts import Facts, created_in
from tokenworld.planning.lower.numbers import arithmetic, truth
from tokenworld.planning.lower.units import (
    Unit,
    actions_of,
    cancelled_of,
    laws_of,
    opened,
    phases_of,
)
from tokenworld.planning.lower.values import ValueAnalysis

MOST_STAGES = 60_000
"""Ticks of a long action that are encoded: each is an operator of its own."""

# ---- Endings, invariants, conserved sums --------------------------------------------------------
# An invariant that every rule provably keeps is left out, and so is a conserved sum that no rule
# provably changes: they add no condition and no relevant slot.

Part = tuple[int, Diagram]
"""A summand with its sign."""
Happening = tuple[Block, Callable[[], Diagram]]
"""A block and where it can happen."""


class Guards:
    """The conditions of one world, as diagrams over the state between two ticks."""

    def __init__(self, moment: Moment, goal: str | None) -> None:
        self._moment, self._goal = moment, goal
        self._terms, self._diagrams = moment.terms, moment.diagrams
        self._facts = moment.variables.facts
        self._endings = self._facts.rules.worlds[self._facts.instance.world.name].endings
        self._sums: dict[str, list[Part]] = {}

    # ---- endings --------------------------------------------------------------------------

    def won(self) -> Diagram:
        """The condition that the ending is a line of the goal (language.md §8, step 11)."""
        if self._every_line_latches():
            losses = self._any(self._holds(line) for line in self._lines(self._is_loss))
            goals = self._any(self._holds(line) for line in self._lines(self._is_target))
            return self._diagrams.both(goals, self._diagrams.negate(losses))
        return self._first(self._is_target)

    def lost(self) -> Diagram:
        """The condition that a loss is reached, or an end that is no goal."""
        if self._every_line_latches() or self._facts.instance.world.outcomes == "live":
            return self.over()
        return self._first(lambda line: line.ending != "goal")

    def over(self) -> Diagram:
        """The condition that ends a plan: a loss, or any end of a world that has one."""
        world = self._facts.instance.world
        if self._every_line_latches():
            return self._any(self._holds(line) for line in self._lines(self._is_loss))
        if world.outcomes == "live":
            return self._first(self._is_loss)
        return self._first(lambda line: not self._is_target(line))

    def _every_line_latches(self) -> bool:
        """Return whether several endings can hold; if not, the first true line counts."""
        world = self._facts.instance.world
        return world.endless and world.outcomes == "latched"

    def _is_target(self, line: Ending) -> bool:
        return line.ending == "goal" and self._goal in (None, line.name)

    def _is_loss(self, line: Ending) -> bool:
        return line.ending == "lose"

    def _lines(self, wanted: Callable[[Ending], bool]) -> Iterator[Ending]:
        return (line for line in self._endings if wanted(line))

    def _holds(self, line: Ending) -> Diagram:
        self._looks_at_now(line.footprint, "`was` outside of laws", line.span)
        return self._terms.condition(line.condition, Env())

    def _looks_at_now(self, footprint: Footprint, what: str, span: Span) -> None:
        if footprint.was:
            raise Refused(what, span, "between two ticks nothing is kept of the tick before")

    def _first(self, wanted: Callable[[Ending], bool]) -> Diagram:
        """The condition that the first line that holds, in written order, is a wanted one."""
        both, negate = self._diagrams.both, self._diagrams.negate
        found, none_before = self._diagrams.false, self._diagrams.true
        for line in self._endings:
            holds = self._holds(line)
            if wanted(line):
                found = self._diagrams.either(found, both(none_before, holds))
            none_before = both(none_before, negate(holds))
        return found

    def _any(self, conditions: Iterable[Diagram]) -> Diagram:
        result = self._diagrams.false
        for condition in conditions:
            result = self._diagrams.either(result, condition)
        return result

    # ---- invariants -----------------------------------------------------------------------

    def invariants(self, blocks: Sequence[Happening]) -> Diagram:
        """The invariants that a block may break; with each block goes where it can happen."""
        result = self._diagrams.true
        for invariant in self._facts.rules.invariants.values():
            for condition in self._bound(invariant):
                if not self._kept(condition, blocks):
                    self._only_stored(invariant, condition)
                    result = self._diagrams.both(result, condition)
        return result

    def _only_stored(self, invariant: Invariant, condition: Diagram) -> None:
        """An invariant is looked at before the tick is counted: that moment is not encoded."""
        variables = self._moment.variables
        for level in sorted(self._diagrams.support(condition)):
            if not variables.is_stored(variables.slots[level]):
                reason = "it is looked at before the tick counts"
                what = f"`tick()`, `score`, `busy` or `did` in the invariant `{invariant.name}`"
                raise Refused(what, invariant.span, reason)

    def _bound(self, invariant: Invariant) -> Iterable[Diagram]:
        self._looks_at_now(invariant.footprint, "`was` in an invariant", invariant.span)
        names = [param.name for param in invariant.params]
        for args in product(*self._facts.choices(invariant.params)):
            exist = self._terms.exist(invariant.params, args)
            values = (self._diagrams.leaf(arg) for arg in args)
            env: Env[Diagram] = Env(dict(zip(names, values, strict=True)))
            holds = self._terms.condition(invariant.condition, env)
            yield self._diagrams.either(self._diagrams.negate(exist), holds)

    def _kept(self, condition: Diagram, blocks: Sequence[Happening]) -> bool:
        """Return whether it is shown that no block can make a true condition false."""
        diagrams, variables = self._diagrams, self._moment.variables
        slots = [variables.slots[level] for level in sorted(diagrams.support(condition))]
        if not all(variables.is_stored(slot) for slot in slots):
            return False
        for block, possible in blocks:
            if not any(block.writes(slot) for slot in slots):
                continue
            try:
                after = self._composed(condition, block, frozenset())
                broken = diagrams.both(condition, diagrams.negate(after))
                if after != condition and diagrams.both(possible(), broken) != diagrams.false:
                    return False
            except Refused:
                return False
        return True

    def _composed(self, diagram: Diagram, block: Block, exempt: frozenset[str]) -> Diagram:
        """A diagram about the state after a block, in terms of the state before it."""
        variables = self._moment.variables
        values = {
            level: block.after_others(variables.slots[level], exempt)
            for level in sorted(self._diagrams.support(diagram))
            if block.writes(variables.slots[level])
        }
        return self._diagrams.compose(diagram, values) if values else diagram

    # ---- conserved sums ---------------------------------------------------------------------

    def conserves(self, block: Block, possible: Diagram) -> Diagram:
        """The condition that only exempt rules of a block change the conserved sums."""
        result = self._diagrams.true
        for conserve in self._facts.rules.conserves.values():
            if any(unit.rule.name not in conserve.exempt for unit in block.units):
                kept = self._conserved(conserve, block)
                implied = self._diagrams.either(self._diagrams.negate(possible), kept)
                result = self._diagrams.both(result, implied)
        return result

    def _conserved(self, conserve: Conserve, block: Block) -> Diagram:
        exempt = frozenset(conserve.exempt)
        alone = frozenset(unit.rule.name for unit in block.units if unit.rule.name in exempt)
        return self._unchanged(conserve, block, alone)

    def _unchanged(self, conserve: Conserve, block: Block, exempt: frozenset[str]) -> Diagram:
        """The condition that the other rules of a block, applied alone, change nothing."""
        diagrams = self._diagrams
        change = diagrams.leaf(0)
        for sign, part in self._parts(conserve):
            after = self._composed(part, block, exempt)
            if after != part:
                pair = (after, part) if sign > 0 else (part, after)
                step = diagrams.lift(("arithmetic", "-"), arithmetic("-"), *pair)
                change = diagrams.lift(("arithmetic", "+"), arithmetic("+"), change, step)
        return diagrams.lift("zero", _is_zero, change)

    def _parts(self, conserve: Conserve) -> list[Part]:
        if conserve.name not in self._sums:
            self._looks_at_now(conserve.footprint, "`was` in a conserved sum", conserve.span)
            self._sums[conserve.name] = self._summands(conserve.value, 1, Env())
        return self._sums[conserve.name]

    def _summands(self, term: Term, sign: int, env: Env[Diagram]) -> list[Part]:
        """Return the summands of a sum, so that only those that a rule changes are compared."""
        match term:
            case Call(op="+" | "-" as op, args=(left, right)):
                other = sign if op == "+" else -sign
                return [*self._summands(left, sign, env), *self._summands(right, other, env)]
            case Fold(fold="sum", value=value) if value is not None:
                found = []
                for inner, member in self._terms.bindings(term.binders, term.where, env):
                    summand = self._terms.value(value, inner)
                    nothing = self._diagrams.leaf(0)
                    found.append((sign, self._diagrams.choose(member, summand, nothing)))
                return found
            case _:
                return [(sign, self._terms.value(term, env))]


def _is_zero(value: Value) -> Value:
    return value == 0


# ---- Commands and phases ------------------------------------------------------------------------


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
        """Return whether it may be under way between two ticks."""
        return bool(self.stages)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The slots it may write, also when it is cancelled."""
        rest = self.cancelled.slots if self.cancelled is not None else ()
        return tuple(dict.fromkeys((*self.block.slots, *rest)))

    def exists(self) -> Diagram:
        """The condition that all its arguments exist."""
        return self.block.moment.terms.exist(self.unit.params, self.unit.args)

    def requires(self) -> Diagram:
        """The condition that the author's requires hold."""
        return self.block.guard()

    def fails(self) -> Diagram:
        """The condition that only generated requires refuse it.

        Raises `Refused` if an error could come first, since their order would decide.
        """
        diagrams, block = self._world.diagrams, self.block
        refused = diagrams.both(self.requires(), diagrams.negate(block.allowed()))
        if diagrams.both(refused, diagrams.negate(block.sound())) != diagrams.false:
            reason = "at its end both a generated require and an error may come up"
            raise Refused(f"long action `{self.unit.rule.name}`", self.unit.span, reason)
        return refused

    def possible(self) -> Diagram:
        """The condition that it is executed: requires, generated requires, conserved sums."""
        return self._within(self.block, self.requires())

    def cancellable(self) -> Diagram:
        """The condition that its ``cancelled`` block can be executed."""
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
        """The condition that a long action completes early, in its first tick or a later one."""
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
        return terms.value(action.cost, self.block.opened(self.unit)[0])

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
        self._writers: dict[Slot, list[Commanded]] = {}
        for command in self.commands:
            for slot in command.slots:
                self._writers.setdefault(slot, []).append(command)

    def writers(self, slot: Slot) -> Sequence[Commanded]:
        """The commands that may write a slot, also when they are cancelled."""
        return self._writers.get(slot, ())

    def _commands(self, actions: list[Unit], cancelled: dict[Unit, Unit]) -> tuple[Commanded, ...]:
        found = []
        for unit in actions:
            if not self.analysis.profiles[unit].feasible:
                continue
            takes = self._takes(unit)
            stages = tuple(self.facts.stage(unit.command, done) for done in range(1, max(takes, 1)))
            moment = self.idle if takes else self.turn  # a free action interrupts no long one
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
        elif value > MOST_STAGES:
            reason = f"it takes more than {MOST_STAGES:,} ticks"
        else:
            return value
        raise Refused(f"`takes` of `{unit.rule.name}`", unit.span, reason)

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


def _in_turn(phase: PhaseLine, program: Program) -> Refused:
    """Laws that act one after another; TW0805 where no encoding could follow their order."""
    pairs = [pair for pair in order_pairs(program) if pair.phase == phase.name]
    if phase.order == "by_nesting" and pairs:
        one = pairs[0]
        reason = f"the result depends on the order of `{one.first}` and `{one.second}`"
        return Refused(f"phase `{phase.name}` by nesting", phase.span, reason, "TW0805")
    reason = "its laws act one after another; our own search plans on the interpreter"
    return Refused(f"phase `{phase.name}` sequentially", phase.span, reason)


def _refuse_of_created(facts: Facts) -> None:
    """Constructs with which an object that is created differs from one that was there before."""
    rules, world = facts.rules, facts.rules.worlds[facts.instance.world.name]
    for birth in rules.births:
        raise Refused("`birth`", birth.span, "rules of objects that come into being")
    kinds = (rules.actions, rules.laws, rules.invariants, rules.conserves)
    for one in (*(rule for kind in kinds for rule in kind.values()), *world.endings):
        if "id" in one.footprint.asks:
            reason = "a world that creates objects numbers them without end"
            raise Refused("`id()`", one.span, reason)


def _refuse_what_is_missing(facts: Facts) -> None:
    """Constructs of a whole world that this encoding has no place for."""
    program, world = facts.program, facts.instance.world
    for phase in program.phases.values():
        used = any(law.phase == phase.name for law in program.laws.values())
        if phase.order != "simultaneous" and used:
            raise _in_turn(phase, program)
    for create in created_in(facts.rules):
        if not facts.unborn_of(create.of):
            raise no_objects_for(create)
    if facts.unborn:
        _refuse_of_created(facts)
    if len(world.turns) > 1:
        reason = "a plan has one actor"
        raise Refused("`turns` of several actors", world.span, reason)


# ---- The cone of influence ----------------------------------------------------------------------
# From the goal, the losses and everything else that can stop a plan, backwards over what they
# depend on. What lies outside is left out: a command that changes nothing inside does no more than
# waiting does, and where waiting is no command it does nothing at all.


@dataclass(slots=True)
class Cone:
    """The relevant slots and commands in order of discovery, and the obstacles.

    ``won``, ``safe`` and the phases are the conditions from which it starts: the goal, and the
    states where a plan may go on; ``kept`` is their common part about invariants. ``idle`` is a
    command kept only because it ends a long action. ``whole``: all draws count, irrelevant ones
    too.
    """

    won: Diagram
    safe: Diagram
    kept: Diagram
    whole: bool = False
    slots: dict[Slot, None] = field(default_factory=dict)
    commands: dict[Commanded, None] = field(default_factory=dict)
    obstacles: dict[Obstacle, None] = field(default_factory=dict)


def cone_of(world: TakenApart, *, whole: bool = False) -> Cone:
    """The cone of influence of a world's goal; ``whole``: all there is, needed or not."""
    return _Slicer(world).run(whole)


class _Slicer:
    def __init__(self, world: TakenApart) -> None:
        self._world, self._diagrams = world, world.diagrams
        self._cone = Cone(world.diagrams.false, world.diagrams.true, world.diagrams.true)
        self._waiting: list[Slot] = []

    def run(self, whole: bool) -> Cone:
        cone, guards = self._cone, self._world.guards
        cone.whole = whole
        kept = cone.kept = self._asked(self._kept)
        both, negate = self._diagrams.both, self._diagrams.negate
        cone.won = both(self._asked(guards.won), kept)
        cone.safe = both(negate(self._asked(guards.over)), kept)
        for phase in self._world.phases:
            self._asked(phase.ok)
        if whole:
            self._everything()
        self._spread()
        if whole:
            self._every_draw()
        self._keep_idle()
        self._spread()
        return cone

    def _everything(self) -> None:
        """Add every command, and every slot that a rule may write."""
        now = self._world.variables.now
        slots = [slot for one in self._world.phases for slot in one.block.slots]
        slots += [slot for one in self._world.commands for slot in one.slots]
        for slot in dict.fromkeys(slots):
            self._asked(lambda slot=slot: now(slot))  # type: ignore[misc]
        for command in self._world.commands:
            self._keep(command)

    def _every_draw(self) -> None:
        """Every draw of every rule, numbered as in the interpreter, with the conditions that decide
        it."""
        world = self._world
        for block in (*(one.block for one in world.phases), *(one.block for one in world.commands)):
            block.meet_draws()
        for slot in world.variables.draws:
            if len(world.variables.domain(slot)) > 1:
                self._matter(world.variables.now(slot))

    # ---- asking ---------------------------------------------------------------------------

    def _asked(self, compute: Callable[[], Diagram]) -> Diagram:
        """A diagram whose variables are added to the cone; an obstacle is recorded."""
        try:
            found = compute()
        except Refused as refused:
            self._cone.obstacles[refused.obstacle] = None
            return self._diagrams.true
        self._matter(found)
        return found

    def _matter(self, diagram: Diagram) -> None:
        for level in sorted(self._diagrams.support(diagram)):
            slot = self._world.variables.slots[level]
            if slot not in self._cone.slots:
                self._cone.slots[slot] = None
                self._waiting.append(slot)

    def _kept(self) -> Diagram:
        """The condition that every breakable invariant holds, or else the tick is rolled back."""
        world = self._world
        blocks = [(phase.block, phase.ok) for phase in world.phases]
        for command in world.commands:
            blocks.append((command.block, command.possible))
            if command.cancelled is not None:
                blocks.append((command.cancelled, command.cancellable))
        return world.guards.invariants(blocks)

    # ---- spreading ------------------------------------------------------------------------

    def _spread(self) -> None:
        while self._waiting:
            self._explain(self._waiting.pop(0))

    def _explain(self, slot: Slot) -> None:
        """Add all that a slot depends on."""
        variables, world = self._world.variables, self._world
        name, args = slot
        if name == WAS:
            self._matter(variables.now(variables.stored(slot)))
        elif name == COIN:
            self._coin(slot)
        elif name == LONG:
            for command in world.commands:
                if command.is_long:
                    self._keep(command)
        elif name == DID:
            for command in world.commands:
                if (command.command.action, *command.command.args)[: len(args)] == args:
                    self._keep(command)
        elif name == AWARD:
            self._asked(lambda: world.turn.given(slot))
        elif name not in (RING, CLOCK):
            self._stored(slot)

    def _stored(self, slot: Slot) -> None:
        for phase in self._world.phases:
            if phase.block.writes(slot):
                self._asked(lambda block=phase.block: block.after(slot))  # type: ignore[misc]
        for command in self._world.writers(slot):
            self._keep(command)
            for block in (command.block, command.cancelled):
                if block is not None and block.writes(slot):
                    self._asked(lambda block=block: block.after(slot))  # type: ignore[misc]

    def _coin(self, slot: Slot) -> None:
        site = self._world.variables.draws[slot].site
        number = self._world.variables.draws[slot].number
        self._matter(site.taken)
        self._matter(number)
        self._asked(site.count)
        for side in range(site.sides):
            self._asked(lambda side=side: site.possible(side))  # type: ignore[misc]
            self._asked(lambda side=side: site.choice(side))  # type: ignore[misc]

    def _keep(self, command: Commanded) -> None:
        """Add a command and all that decides whether it can be given."""
        if command in self._cone.commands:
            return
        self._cone.commands[command] = None
        self._asked(command.exists)
        self._asked(command.possible)
        self._asked(command.cost)
        if command.is_long:
            self._asked(command.requires)
            self._asked(command.fails)
            for under_way in (False, True):
                self._asked(partial(command.until, under_way=under_way))
            self._asked(command.cancellable)
            self._matter(self._world.variables.now((LONG, ())))

    # ---- commands that change nothing -------------------------------------------------------

    def _keep_idle(self) -> None:
        """Keep a command that changes nothing where doing so differs from waiting."""
        if not self._idling_matters():
            return
        rest = [one for one in self._world.commands if one not in self._cone.commands]
        rest = [one for one in rest if one.takes > 0 and not one.is_long]
        free = [one for one in rest if self._asked_possible(one) == self._diagrams.true]
        for command in free[:1] or rest:
            self._keep(command)

    def _asked_possible(self, command: Commanded) -> Diagram:
        try:
            return self._diagrams.both(command.exists(), command.possible())
        except Refused:
            return self._diagrams.false

    def _idling_matters(self) -> bool:
        """Return whether another command than `pass` can be of use although it changes nothing.

        It may end a long action that runs in the start state, whose ``cancelled`` block matters or
        which a rule asks for (``busy``, ``did``). To end any other long action is no better than
        not to begin it.
        """
        slots, world = self._cone.slots, self._world
        if (LONG, ()) not in slots:
            return False
        asked = world.variables.long_is_read or any(name == DID for name, _ in slots)
        return (
            asked
            or world.facts.running is not None
            or any(
                command.cancelled is not None
                and any(slot in slots for slot in command.cancelled.slots)
                for command in self._cone.commands
            )
        )
