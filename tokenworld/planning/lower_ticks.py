"""From the slice to operators: the token, the commands, the phases, what ends a tick.

One tick is a command (the token stands at `act`), then one operator per phase that matters, each
moving the token on; a random phase has a step per coin before it. A new intent that breaks off a
long action with a ``cancelled`` block is two operators: the block, then the command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tokenworld.ground import PASS, Command, LuckyDraw, Raw
from tokenworld.planning.ir import Effect, Literal, Operator, Task, Variable, VariableKind
from tokenworld.planning.lower_algebra import (
    ALIVE,
    COIN,
    DID,
    LONG,
    RING,
    Refused,
    Slot,
)
from tokenworld.planning.lower_blocks import Block
from tokenworld.planning.lower_diagram import Diagram, Mark, Path, Value
from tokenworld.planning.lower_outcomes import Outcome, label_of, outcomes_of
from tokenworld.planning.lower_variables import WAS, Taken
from tokenworld.planning.lower_world import Commanded, Phase, TakenApart
from tokenworld.planning.slice import Cone

__all__ = ["Assembly"]

_MOST_PATHS = 4_000
_MOST_OPERATORS = 60_000
_MOST_EFFECTS = 1_500_000
_ACT, _MUST = 0, 1
_TICKS_PER_COST = 1_000
_DEAREST = 1_000

Results = list[tuple[Slot, Diagram]]
"""Slots with what they hold afterwards."""
Allowed = Mapping[int, frozenset[int]]


@dataclass(slots=True)
class _Step:
    """A step of the tick after the command: a coin or a phase."""

    name: str
    phase: Phase
    coin: Taken | None = None


@dataclass(slots=True)
class _Draft:
    """An operator in the making: what goes with every way in which its condition can hold."""

    name: str
    condition: Diagram
    results: Results
    fixed: list[Literal] = field(default_factory=list)
    extra: list[Effect] = field(default_factory=list)
    units: int = 0
    ticks: int = 0
    command: Command | None = None
    draws: tuple[LuckyDraw, ...] = ()
    coins: Allowed = field(default_factory=dict)


class Assembly:
    """Builds the task of one sliced world. ``over``: the world has ended, nothing can be done."""

    def __init__(self, world: TakenApart, cone: Cone, over: bool) -> None:
        self._world, self._cone, self._over = world, cone, over
        self._diagrams, self._all = world.diagrams, world.variables
        self._variables: list[Variable] = []
        self._index: dict[Slot, int] = {}
        self._operators: list[tuple[Operator, int, int]] = []
        self._effects = 0
        self._steps = self._plan_steps()
        self._two_step = any(not self._is_trivial(one) for one in cone.commands if one.is_long)
        names = ("act", "must", *(step.name for step in self._steps))
        self._token = self._declare(Variable("turn", "token", names, _ACT))
        for slot in cone.slots:
            if slot[0] != COIN or self._all.draws[slot].unit.kind == "law":
                self._index[slot] = self._declare(self._variable(slot))

    def task(self) -> Task:
        """The whole task."""
        if not self._over:
            for command in self._cone.commands:
                self._command(command)
            self._passing()
            for position, step in enumerate(self._steps):
                self._step(position, step)
        goal = self._goal()
        dearest = max((units for _, units, _ in self._operators), default=0)
        scale = _TICKS_PER_COST if self._world.has_costs and dearest <= _DEAREST else 1
        operators = tuple(
            _named(operator, number, units * scale + ticks if self._world.has_costs else ticks)
            for number, (operator, units, ticks) in enumerate(self._operators)
        )
        return Task(tuple(self._variables), operators, goal)

    # ---- variables ------------------------------------------------------------------------

    def _declare(self, variable: Variable) -> int:
        self._variables.append(variable)
        return len(self._variables) - 1

    def _variable(self, slot: Slot) -> Variable:
        kinds: dict[str, VariableKind] = {
            RING: "ring", COIN: "coin", DID: "did", LONG: "long", WAS: "was", ALIVE: "alive",
        }  # fmt: skip
        kind = kinds.get(slot[0], "slot")
        domain = self._all.domain(slot)
        initial = domain.index(self._all.initial(slot))
        stored = slot if kind == "slot" else (None, ())
        return Variable(self._all.name(slot), kind, domain, initial, *stored)

    def _position(self, slot: Slot, value: Raw) -> int:
        return self._variables[self._index[slot]].values.index(value)

    def _matters(self, block: Block) -> list[Slot]:
        """The slots inside the slice that a block may write."""
        return [slot for slot in self._cone.slots if block.writes(slot)]

    def _results(self, block: Block) -> Results:
        return [(slot, block.after(slot)) for slot in self._matters(block)]

    # ---- steps of the tick ------------------------------------------------------------------

    def _plan_steps(self) -> list[_Step]:
        found = []
        for phase in self._world.phases:
            coins = self._coins(phase.block)
            idle = phase.ok() == self._diagrams.true and not self._matters(phase.block)
            if coins or not idle:
                found += [_Step(f"draw {_key_name(one)}", phase, one) for one in coins]
                found.append(_Step(phase.name, phase))
        return found

    def _coins(self, block: Block) -> list[Taken]:
        """The draws of a block that matter, in order of evaluation."""
        units = {unit: position for position, unit in enumerate(block.units)}
        found = [
            self._all.draws[slot]
            for slot in self._cone.slots
            if slot[0] == COIN and self._all.draws[slot].unit in units
        ]

        def order(one: Taken) -> tuple[int, int]:
            number = one.site.coin[1][-1]
            return units[one.unit], number if isinstance(number, int) else 0

        return sorted(found, key=order)

    def _after_act(self) -> list[Effect]:
        """How the token moves when a command is done."""
        return [Effect((), self._token, 2)] if self._steps else []

    def _turn_over(self, last: Block | None) -> tuple[Results, list[Effect]]:
        """What the last step of a tick keeps up: rings, the tick's start, deeds."""
        results: Results = []
        effects: list[Effect] = []
        for slot in self._cone.slots:
            if slot[0] == RING:
                results.append((slot, self._turned(slot)))
            elif slot[0] == DID:
                effects.append(Effect((), self._index[slot], 0))
        return results + self._starts(last), effects

    def _starts(self, last: Block | None) -> Results:
        """What the slots hold that keep the start of the tick, when ``last`` ended one."""
        found = []
        for slot in self._cone.slots:
            if slot[0] == WAS:
                stored = self._all.stored(slot)
                held = self._all.now(stored) if last is None else last.after(stored)
                found.append((slot, held))
        return found

    def _turned(self, slot: Slot) -> Diagram:
        size = len(self._all.domain(slot))

        def turned(value: Value) -> Value:
            return (value + 1) % size if isinstance(value, int) else value

        return self._diagrams.lift(("turn", size), turned, self._all.now(slot))

    def _step(self, position: int, step: _Step) -> None:
        here, last = position + 2, position == len(self._steps) - 1
        move = Effect((), self._token, _ACT if last else here + 1)
        fixed: list[Literal] = [(self._token, (here,))]
        if step.coin is not None:
            self._coin_step(step, step.coin, fixed, move)
            return
        results, extra = self._results(step.phase.block), [move]
        for coin in self._coins(step.phase.block):
            extra.append(Effect((), self._index[coin.site.coin], 0))
        if last:
            more, effects = self._turn_over(step.phase.block)
            results, extra = results + more, extra + effects
        self._add(_Draft(step.name, step.phase.ok(), results, fixed, extra))

    def _coin_step(
        self, step: _Step, coin: Taken, fixed: list[Literal], move: Effect
    ) -> None:
        diagrams, site = self._diagrams, coin.site
        for side in range(site.sides):
            chosen = diagrams.both(site.taken, site.possible(side))
            for label, condition in label_of(self._world, coin, side, chosen, {}):
                show = Effect((), self._index[site.coin], side)
                name, draws = f"{step.name}: {side}", label
                extra = [move, show] if side else [move]
                self._add(_Draft(name, condition, [], fixed, extra, draws=draws))
        skipped = diagrams.negate(site.taken)
        self._add(_Draft(f"{step.name}: none", skipped, [], fixed, [move]))

    # ---- commands ---------------------------------------------------------------------------

    def _is_trivial(self, command: Commanded) -> bool:
        """Whether breaking off a long action does nothing but end it."""
        return command.cancelled is None or (
            not self._matters(command.cancelled)
            and command.cancellable() == self._diagrams.true
        )

    def _turns(self, free: bool = False) -> Iterator[tuple[Diagram, list[Literal]]]:
        """The moments in which a command can be given, each with what must hold then."""
        yield self._cone.safe, [(self._token, (_ACT,)), *([] if free else self._idle_or_trivial())]
        if self._two_step and not free:
            yield self._diagrams.true, [(self._token, (_MUST,))]

    def _idle_or_trivial(self) -> list[Literal]:
        """No long action runs, or one that a new intent simply ends."""
        slot = (LONG, ())
        if slot not in self._index:
            return []
        stages = (
            stage
            for one in self._cone.commands
            if one.is_long and self._is_trivial(one)
            for stage in one.stages
        )
        positions = sorted(self._position(slot, value) for value in (None, *stages))
        return [(self._index[slot], tuple(positions))]

    def _stage(self, value: Raw) -> list[Effect]:
        """Effects that note how far a long action is."""
        slot = (LONG, ())
        if slot not in self._index:
            return []
        return [Effect((), self._index[slot], self._position(slot, value))]

    def _deed(self, command: Command) -> list[Effect]:
        """Effects that note what was done, for the phases."""
        return [
            Effect((), index, 1)
            for (name, args), index in self._index.items()
            if name == DID and (command.action, *command.args)[: len(args)] == args
        ]

    def _command(self, commanded: Commanded) -> None:
        diagrams = self._diagrams
        for safe, fixed in self._turns(commanded.takes == 0):
            if commanded.takes == 0:
                self._free(commanded, safe, fixed)
                continue
            until = commanded.until() if commanded.is_long else diagrams.true
            done = diagrams.both(diagrams.both(safe, until), commanded.possible())
            self._done(commanded, commanded.command, done, fixed, paid=True)
            if commanded.is_long:
                begun = diagrams.both(safe, diagrams.negate(until))
                begun = diagrams.both(begun, commanded.requires())
                self._waits(commanded, commanded.command, begun, fixed, 0, paid=True)
        if commanded.is_long:
            self._under_way(commanded)

    def _free(self, commanded: Commanded, safe: Diagram, fixed: list[Literal]) -> None:
        """A command that takes no time: the same actor is asked again."""
        block = commanded.block
        if self._matters(block):
            condition = self._diagrams.both(safe, commanded.possible())
            results = self._results(block) + self._starts(block)
            for units, priced in self._priced(commanded, condition):
                name = _shown(self._world, commanded)
                draft = _Draft(name, priced, results, fixed, [], units, 0, commanded.command)
                self._with_outcomes(commanded, draft)

    def _done(
        self,
        commanded: Commanded,
        command: Command,
        condition: Diagram,
        fixed: list[Literal],
        *,
        paid: bool,
    ) -> None:
        """A command completes: its changes apply and the tick goes on."""
        extra = [*self._stage(None), *self._deed(commanded.command)]
        results = self._results(commanded.block)
        self._ends(commanded, command, condition, results, commanded.block, fixed, extra, paid)

    def _ends(
        self,
        commanded: Commanded,
        command: Command,
        condition: Diagram,
        results: Results,
        block: Block | None,
        fixed: list[Literal],
        extra: list[Effect],
        paid: bool,
    ) -> None:
        """The actor's part of a tick ends; without phases so does the tick."""
        if not self._steps:
            more, effects = self._turn_over(block)
            results = results + more
            given = {one.variable for one in extra}
            extra = extra + [one for one in effects if one.variable not in given]
            extra = [one for one in extra if self._variables[one.variable].kind != "did"]
        extra = extra + self._after_act()
        prices = self._priced(commanded, condition) if paid else [(0, condition)]
        for units, priced in prices:
            name = _shown(self._world, commanded, command)
            draft = _Draft(name, priced, results, fixed, extra, units, 1, command)
            if block is commanded.block:
                self._with_outcomes(commanded, draft)
            else:
                self._add(draft)

    def _waits(
        self,
        commanded: Commanded,
        command: Command,
        condition: Diagram,
        fixed: list[Literal],
        done: int,
        *,
        paid: bool,
    ) -> None:
        """A long action has one more tick behind it."""
        extra = [*self._stage(commanded.stages[done]), *self._deed(commanded.command)]
        self._ends(commanded, command, condition, [], None, fixed, extra, paid)

    def _under_way(self, commanded: Commanded) -> None:
        """What `pass` and a new intent do to a long action in progress."""
        diagrams, slot = self._diagrams, (LONG, ())
        here = self._index[slot]
        stages = [self._position(slot, stage) for stage in commanded.stages]
        for done, position in enumerate(stages, start=1):
            fixed = [(self._token, (_ACT,)), (here, (position,))]
            last = done + 1 == commanded.takes
            now = diagrams.true if last else commanded.until()
            complete = diagrams.both(self._cone.safe, now)
            self._done(
                commanded, PASS, diagrams.both(complete, commanded.possible()), fixed, paid=False
            )
            self._fails(commanded, diagrams.both(complete, diagrams.negate(commanded.requires())), fixed)
            if not last:
                waits = diagrams.both(self._cone.safe, diagrams.negate(now))
                self._waits(commanded, PASS, waits, fixed, done, paid=False)
        if not self._is_trivial(commanded) and commanded.cancelled is not None:
            fixed = [(self._token, (_ACT,)), (here, tuple(sorted(stages)))]
            extra = [*self._stage(None), Effect((), self._token, _MUST)]
            condition = diagrams.both(self._cone.safe, commanded.cancellable())
            name = f"break off {_shown(self._world, commanded)}"
            self._add(
                _Draft(name, condition, self._results(commanded.cancelled), fixed, extra)
            )

    def _fails(self, commanded: Commanded, condition: Diagram, fixed: list[Literal]) -> None:
        """The requires fail on completion: the ``cancelled`` block applies."""
        block = commanded.cancelled
        results = [] if block is None else self._results(block)
        condition = self._diagrams.both(condition, commanded.cancellable())
        self._ends(commanded, PASS, condition, results, block, fixed, self._stage(None), False)

    def _passing(self) -> None:
        """`pass` where nothing is under way: time goes by."""
        results, effects = ([], []) if self._steps else self._turn_over(None)
        extra = [*effects, *self._after_act()]
        if not self._world.passes or not (results or extra):
            return
        fixed: list[Literal] = [(self._token, (_ACT,))]
        slot = (LONG, ())
        if slot in self._index:
            fixed.append((self._index[slot], (self._position(slot, None),)))
        self._add(_Draft("pass", self._cone.safe, results, fixed, extra, 0, 1, PASS))

    # ---- prices and outcomes ------------------------------------------------------------------

    def _priced(
        self, commanded: Commanded, condition: Diagram
    ) -> Iterator[tuple[int, Diagram]]:
        """The condition split by what the command costs."""
        cost, diagrams = commanded.cost(), self._diagrams
        for value in diagrams.leaves(cost):
            same = diagrams.lift(("costs", value), lambda one, value=value: one == value, cost)
            part = diagrams.both(condition, same)
            if part != diagrams.false:
                yield self._world.cost_units(commanded, value), part

    def _with_outcomes(self, commanded: Commanded, draft: _Draft) -> None:
        """One operator per outcome of the draws of a command."""
        coins = self._coins(commanded.block)
        for outcome in outcomes_of(self._world, coins, draft.condition):
            self._add(_with(draft, outcome))

    # ---- operators ----------------------------------------------------------------------------

    def _add(self, draft: _Draft) -> None:
        """One operator for each way in which the condition can hold."""
        count = self._diagrams.count_paths(draft.condition, True)
        if count > _MOST_PATHS or len(self._operators) + count > _MOST_OPERATORS:
            raise _too_many(self._world, draft, count)
        for path, value in self._diagrams.paths(draft.condition):
            if value is True:
                self._add_one(draft, path)

    def _add_one(self, draft: _Draft, path: Path) -> None:
        precondition = _joined([*draft.fixed, *self._literals(path)])
        if precondition is None:
            return
        allowed = {level: frozenset(positions) for level, positions in path}
        allowed.update(draft.coins)
        effects = list(draft.extra)
        for slot, after in draft.results:
            effects.extend(self._changes(slot, self._diagrams.restrict(after, allowed)))
        self._effects += len(effects)
        if self._effects > _MOST_EFFECTS:
            raise _too_many(self._world, draft, self._effects)
        operator = Operator(
            draft.name, precondition, tuple(effects), 0, draft.command, draft.draws
        )
        self._operators.append((operator, draft.units, draft.ticks))

    def _changes(self, slot: Slot, after: Diagram) -> Iterator[Effect]:
        """The conditional effects that bring a slot to a new value."""
        index = self._index[slot]
        positions = {
            (type(value), value): position
            for position, value in enumerate(self._variables[index].values)
        }
        level = self._all.levels[slot]
        for path, value in self._diagrams.paths(after):
            if isinstance(value, Mark):
                continue  # the operator is not applicable there
            target = positions[type(value), value]
            if (level, (target,)) not in path:
                yield Effect(self._literals(path), index, target)

    def _literals(self, path: Path) -> tuple[Literal, ...]:
        return tuple((self._index[self._all.slots[level]], places) for level, places in path)

    # ---- the goal -----------------------------------------------------------------------------

    def _goal(self) -> tuple[Literal, ...]:
        """The token at `act` and the goal; a goal with several ways gets an operator for each."""
        won, diagrams = self._cone.won, self._diagrams
        ways = [path for path, value in diagrams.paths(won) if value is True]
        at_act: Literal = (self._token, (_ACT,))
        if len(ways) == 1:
            return (at_act, *self._literals(ways[0]))
        reached = self._declare(Variable("won", "aux", (False, True), 0))
        done = Effect((), reached, 1)
        for way in ways:
            operator = Operator("win", (at_act, *self._literals(way)), (done,))
            self._operators.append((operator, 0, 0))
        return ((reached, (1,)),)


def _with(draft: _Draft, outcome: Outcome) -> _Draft:
    return _Draft(
        draft.name, outcome.condition, draft.results, draft.fixed, draft.extra, draft.units,
        draft.ticks, draft.command, outcome.draws, outcome.coins,
    )  # fmt: skip


def _named(operator: Operator, number: int, cost: int) -> Operator:
    """The operator with a name of its own: the number tells equal ones apart."""
    return Operator(
        f"o{number} {operator.name}", operator.precondition, operator.effects, cost,
        operator.command, operator.draws,
    )  # fmt: skip


def _joined(literals: list[Literal]) -> tuple[Literal, ...] | None:
    """The literals with one entry per variable; ``None`` if they contradict each other."""
    found: dict[int, tuple[int, ...]] = {}
    for variable, positions in literals:
        if variable in found:
            positions = tuple(one for one in found[variable] if one in positions)
            if not positions:
                return None
        found[variable] = positions
    return tuple(sorted(found.items()))


def _shown(world: TakenApart, commanded: Commanded, command: Command | None = None) -> str:
    """A command for people to read: ``take(ruby)``."""
    unit = commanded.unit
    args = ", ".join(str(one) for one in world.facts.shown_args(unit.params, unit.args))
    text = f"{unit.rule.name}({args})"
    return f"pass: {text}" if command is not None and command.is_pass else text


def _key_name(taken: Taken) -> str:
    return " ".join(str(part) for part in taken.site.coin[1])


def _too_many(world: TakenApart, draft: _Draft, count: int) -> Refused:
    reason = f"it would take about {count:,} operators or effects"
    return Refused(f"`{draft.name}`", world.facts.instance.world.span, reason)
