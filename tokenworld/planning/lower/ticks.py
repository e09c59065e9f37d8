"""One tick as operators: draws and phases, commands and long actions, the goal (language.md §8).

One tick is a command (the token is at `act`), then one operator per relevant phase, each
moving the token on; a random phase has a step per coin before it. A new intent that breaks off a
long action with a ``cancelled`` block is two operators: the block, then the command. Whether a draw
is taken, which number it has and which alternative of how many a side is may depend on the state;
then each such case is an outcome of its own, so that a plan can name its draws.

A `Draft` becomes one operator for each way in which its condition can hold. Where there are too
many ways, the condition is tested node by node: an operator for each test of its diagram, during
which no other operator applies, and one at the end with the effects. A test that fails is a dead
end, so that only commands that the condition allows can be executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import PASS, Command, LuckyDraw, Raw
from tokenworld.planning.lower.algebra import (
    ALIVE,
    AWARD,
    CLOCK,
    COIN,
    DID,
    LONG,
    RING,
    WAS,
    Diagram,
    Mark,
    Path,
    Refused,
    Slot,
    Value,
)
from tokenworld.planning.lower.blocks import Block, Taken
from tokenworld.planning.lower.world import Commanded, Cone, Phase, TakenApart
from tokenworld.planning.task import Effect, Literal, Operator, Task, Variable, VariableKind

# ---- drafts and operators -----------------------------------------------------------------------

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
    RING: "ring", CLOCK: "clock", COIN: "coin", DID: "did", LONG: "long", WAS: "was",
    ALIVE: "alive", AWARD: "award",
}  # fmt: skip

Results = list[tuple[Slot, Diagram]]
"""Slots with their values afterwards."""
Allowed = Mapping[int, frozenset[int]]


@frozen
class Draft:
    """An operator in the making.

    It is applicable if ``condition`` and the ``fixed`` literals hold; then the ``results`` are
    stored and the ``extra`` effects happen. ``units`` is its cost, ``ticks`` whether it begins a
    tick; ``coins`` are the sides that the draws of a command show.
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
        self._places: dict[int, dict[Raw, int]] = {}
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
        number = self.index[slot]
        if number not in self._places:
            values = self.variables[number].values
            self._places[number] = {one: place for place, one in enumerate(values)}
        return self._places[number][value]

    def literals(self, path: Path) -> tuple[Literal, ...]:
        """The tests of a diagram's path."""
        return tuple((self.index[self._all.slots[level]], places) for level, places in path)

    # ---- blocks -----------------------------------------------------------------------------

    def matters(self, block: Block) -> list[Slot]:
        """The slots inside the slice that a block may write."""
        return [slot for slot in self._cone.slots if block.writes(slot)]

    def results(self, block: Block) -> Results:
        """The values of these slots after the block."""
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
            effects.extend(self._stored(draft, slot, self._diagrams.restrict(after, allowed)))
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
            done += self._stored(draft, slot, self._diagrams.restrict(after, draft.coins))
        self._made.append((Operator(draft.name, at(true), done), 0, 0))
        return True

    def _value_of(self, number: int, value: str) -> int:
        """The position of a value of a variable, which gets it where it does not have it."""
        variable = self.variables[number]
        if value not in variable.values:
            self.variables[number] = replace(variable, values=(*variable.values, value))
        return self.variables[number].values.index(value)

    def _stored(self, draft: Draft, slot: Slot, after: Diagram) -> tuple[Effect, ...]:
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
        """The number of ticks that a unit of cost outweighs, if actions have costs."""
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
    """The number of ticks that a unit of cost outweighs, for the cost of the dearest action."""
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


# ---- the whole task -----------------------------------------------------------------------------

ACT, MUST = 0, 1
"""Places of the token: the actor chooses, or must now give the intent that broke something off."""
_FIRST = 2


def assembled(world: TakenApart, cone: Cone, over: bool) -> Task:
    """The task of one sliced world. ``over``: the world has ended, nothing can be done any more."""
    operators = Operators(world, cone, by_node=True)
    phases = Phases(world, cone, operators)
    phases.token = operators.declare(Variable("turn", "token", phases.names, ACT))
    operators.declare_slots()
    if not over:
        Commands(world, cone, operators, phases).add()
        phases.add()
    goal = _goal(world, cone, operators, (phases.token, (ACT,)))
    made: tuple[Operator, ...] = operators.finished()
    return Task(tuple(operators.variables), made, goal)


def _goal(
    world: TakenApart, cone: Cone, operators: Operators, at_act: Literal
) -> tuple[Literal, ...]:
    """The token at `act` and the goal; a goal with several ways gets an operator for each."""
    if world.diagrams.count_paths(cone.won, True) == 1:
        (way,) = [path for path, value in world.diagrams.paths(cone.won) if value is True]
        return (at_act, *operators.literals(way))
    reached = operators.declare(Variable("won", "aux", (False, True), 0))
    operators.add(Draft("win", cone.won, [], (at_act,), (Effect((), reached, 1),)))
    return ((reached, (1,)),)


# ---- the outcomes of draws -----------------------------------------------------------------------


@frozen
class Outcome:
    """One outcome of all draws of a command: where it can be, and the sides of the coins."""

    condition: Diagram
    coins: Allowed
    draws: tuple[LuckyDraw, ...]


def outcomes_of(world: TakenApart, coins: Sequence[Taken], condition: Diagram) -> Iterator[Outcome]:
    """All outcomes of draws in order of evaluation."""
    yield from _outcomes(world, list(coins), Outcome(condition, {}, ()))


def _outcomes(world: TakenApart, coins: list[Taken], so_far: Outcome) -> Iterator[Outcome]:
    diagrams = world.diagrams
    condition = diagrams.restrict(so_far.condition, so_far.coins)
    if condition == diagrams.false:
        return
    if not coins:
        yield Outcome(condition, so_far.coins, so_far.draws)
        return
    first, rest = coins[0], coins[1:]
    taken = diagrams.restrict(first.site.taken, so_far.coins)
    for side in first.site.order:
        shown = _shows(world, first, side, so_far.coins)
        chosen = diagrams.both(condition, diagrams.both(taken, first.site.possible(side)))
        for draws, part in label_of(world, first, side, chosen, so_far.coins):
            yield from _outcomes(world, rest, Outcome(part, shown, so_far.draws + draws))
    skipped = diagrams.both(condition, diagrams.negate(taken))
    shown = _shows(world, first, 0, so_far.coins)
    yield from _outcomes(world, rest, Outcome(skipped, shown, so_far.draws))


def _shows(world: TakenApart, coin: Taken, side: int, others: Allowed) -> Allowed:
    level = world.variables.levels.get(coin.site.coin)
    return others if level is None else {**others, level: frozenset((side,))}


def label_of(
    world: TakenApart, coin: Taken, side: int, chosen: Diagram, coins: Allowed
) -> Iterator[tuple[tuple[LuckyDraw, ...], Diagram]]:
    """The draw that falls on ``side`` as plans name it, with the condition under which it has the
    name.

    A draw with one possible alternative is not named, as the interpreter does not list it.
    """
    diagrams, site = world.diagrams, coin.site
    chosen = diagrams.restrict(chosen, coins)
    if chosen == diagrams.false:
        return
    odds = diagrams.leaf(0)
    for other in range(site.sides):
        odds = diagrams.lift("odds", _one_more, odds, site.possible(other))
    parts = (coin.number, site.choice(side), site.count(), odds)
    labels = diagrams.restrict(diagrams.lift("labels", _label, *parts), coins)
    title, *args = coin.unit.draw_key(world.facts)
    for label in diagrams.leaves(labels):
        same = diagrams.lift(("labelled", label), partial(_equals, label), labels)
        part = diagrams.both(chosen, same)
        if part == diagrams.false:
            continue
        number, choice, count, several = (int(one) for one in str(label).split())
        draw = LuckyDraw(str(title), tuple(args), number, choice, count)
        yield ((draw,) if several > 1 else ()), part


def _one_more(count: Value, possible: Value) -> Value:
    return (count if isinstance(count, int) else 0) + (possible is True)


def _label(*parts: Value) -> Value:
    return " ".join(str(part) for part in parts)


# ---- coins and phases ----------------------------------------------------------------------------


@frozen
class _Step:
    """A step after the command: a draw, or a phase."""

    name: str
    phase: Phase
    coin: Taken | None = None


class Phases:
    """The steps after the command that matter. ``token`` is set once its variable is declared."""

    def __init__(self, world: TakenApart, cone: Cone, operators: Operators) -> None:
        self._world, self._cone, self._operators = world, cone, operators
        self._diagrams, self._all = world.diagrams, world.variables
        self._steps: list[_Step] = []
        for phase in world.phases:
            coins = self.coins(phase.block)
            matters = bool(operators.matters(phase.block)) or phase.ok() != self._diagrams.true
            if coins or matters:
                self._steps += [_Step(f"draw {_key_name(one)}", phase, one) for one in coins]
                self._steps.append(_Step(phase.name, phase))
        self.token = -1

    @property
    def names(self) -> tuple[str, ...]:
        """The places of the token."""
        return ("act", "must", *(step.name for step in self._steps))

    @property
    def any(self) -> bool:
        """Return whether phases or other operators follow a command."""
        return bool(self._steps)

    def coins(self, block: Block) -> list[Taken]:
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

    # ---- maintained variables ---------------------------------------------------------------

    def begun(self) -> Effect:
        """The effect on the token when a command is executed."""
        return Effect((), self.token, _FIRST if self._steps else ACT)

    def turned(self) -> Results:
        """The rings and clocks of `tick()`, one further."""
        return [(slot, self._next(slot)) for slot in self._cone.slots if slot[0] in (RING, CLOCK)]

    def noted(self) -> Results:
        """The awards that were given until the state in which a command is given."""
        turn = self._world.turn
        return [(slot, turn.given(slot)) for slot in self._cone.slots if slot[0] == AWARD]

    def _next(self, slot: Slot) -> Diagram:
        size, stays = len(self._all.domain(slot)), slot[0] == CLOCK

        def following(value: Value) -> Value:
            if not isinstance(value, int):
                return value
            return min(value + 1, size - 1) if stays else (value + 1) % size

        return self._diagrams.lift(("turn", size, stays), following, self._all.now(slot))

    def started(self, last: Block | None) -> Results:
        """The values that `was` reads in the next tick, if ``last`` is the block before it."""
        found = []
        for slot in self._cone.slots:
            if slot[0] == WAS:
                stored = self._all.stored(slot)
                held = self._all.now(stored) if last is None else last.after(stored)
                found.append((slot, held))
        return found

    # ---- steps ------------------------------------------------------------------------------

    def add(self) -> None:
        """The operators of all steps."""
        for position, step in enumerate(self._steps, start=_FIRST):
            last = position - _FIRST == len(self._steps) - 1
            here: tuple[Literal, ...] = ((self.token, (position,)),)
            move = Effect((), self.token, ACT if last else position + 1)
            if step.coin is not None:
                self._draw(step, step.coin, here, move)
            else:
                self._phase(step.phase, here, move, last)

    def _phase(self, phase: Phase, here: tuple[Literal, ...], move: Effect, last: bool) -> None:
        index, results, extra = self._operators.index, self._operators.results(phase.block), [move]
        extra += [Effect((), index[coin.site.coin], 0) for coin in self.coins(phase.block)]
        if last:
            results = results + self.turned() + self.started(phase.block)
            extra += [Effect((), variable, 0) for slot, variable in index.items() if slot[0] == DID]
        self._operators.add(Draft(phase.name, phase.ok(), results, here, tuple(extra)))

    def _draw(self, step: _Step, coin: Taken, here: tuple[Literal, ...], move: Effect) -> None:
        """One operator per side that has a chance, and one where nothing is drawn."""
        diagrams, site = self._diagrams, coin.site
        for side in site.order:
            show = (Effect((), self._operators.index[site.coin], side),) if side else ()
            chosen = diagrams.both(site.taken, site.possible(side))
            for draws, condition in label_of(self._world, coin, side, chosen, {}):
                name = f"{step.name}: {side}"
                self._operators.add(Draft(name, condition, [], here, (move, *show), draws=draws))
        skipped = diagrams.negate(site.taken)
        self._operators.add(Draft(f"{step.name}: none", skipped, [], here, (move,)))


def _key_name(taken: Taken) -> str:
    return " ".join(str(part) for part in taken.site.coin[1])


# ---- commands ------------------------------------------------------------------------------------

_LONG = (LONG, ())
Turn = tuple[Diagram, tuple[Literal, ...]]
"""A moment in which something can be done: a condition and literals."""


class Commands:
    """Makes the operators of commands."""

    def __init__(self, world: TakenApart, cone: Cone, operators: Operators, phases: Phases) -> None:
        self._world, self._cone = world, cone
        self._operators, self._phases = operators, phases
        self._diagrams = world.diagrams
        self._at_act: Literal = (phases.token, (ACT,))
        self._lasting = [one for one in cone.commands if one.is_long]

    def add(self) -> None:
        """The operators of all commands that matter, and of `pass`."""
        for commanded in self._cone.commands:
            if commanded.takes == 0:
                self._free(commanded)
            elif commanded.is_long:
                self._long(commanded)
            else:
                for given, fixed in self._turns(commanded):
                    condition = self._diagrams.both(given, commanded.possible())
                    self._done(commanded, commanded.command, (condition, fixed))
        self._pass()

    # ---- moments ----------------------------------------------------------------------------

    def _is_trivial(self, command: Commanded) -> bool:
        """Return whether breaking off a long action does nothing but end it."""
        return command.cancelled is None or (
            not self._operators.matters(command.cancelled)
            and command.cancellable() == self._diagrams.true
        )

    def _turns(self, commanded: Commanded) -> Iterator[Turn]:
        """The moments in which a command can be given that continues no long action."""
        exists = commanded.exists()
        safe = self._diagrams.both(self._cone.safe, exists)
        yield safe, (self._at_act, *self._idle_or_trivial(commanded))
        broken_off = self._stages(commanded, trivial=False)
        if broken_off:
            own = commanded.is_long and not self._is_trivial(commanded)
            others = (self._running(broken_off),) if own else ()
            yield exists, ((self._phases.token, (MUST,)), *others)

    def _idle_or_trivial(self, commanded: Commanded) -> tuple[Literal, ...]:
        """No long action runs, or another one that a new intent simply ends."""
        if _LONG not in self._operators.index:
            return ()
        return (self._running([None, *self._stages(commanded, trivial=True)]),)

    def _stages(self, commanded: Commanded, *, trivial: bool) -> list[Raw]:
        """The stages of other long actions, which a command would break off."""
        return [
            stage
            for one in self._lasting
            if one is not commanded and self._is_trivial(one) == trivial
            for stage in one.stages
        ]

    def _running(self, values: list[Raw]) -> Literal:
        positions = sorted(self._operators.position(_LONG, value) for value in values)
        return self._operators.index[_LONG], tuple(positions)

    # ---- recorded facts -----------------------------------------------------------------------

    def _stage(self, value: Raw) -> tuple[Effect, ...]:
        """The effect that sets the stage of a long action."""
        if _LONG not in self._operators.index:
            return ()
        position = self._operators.position(_LONG, value)
        return (Effect((), self._operators.index[_LONG], position),)

    def _done_now(self, command: Command) -> tuple[Effect, ...]:
        """The effects that store the given command for the phases."""
        if not self._phases.any:
            return ()
        words = (command.action, *command.args)
        return tuple(
            Effect((), variable, 1)
            for (name, args), variable in self._operators.index.items()
            if name == DID and words[: len(args)] == args
        )

    # ---- commands -----------------------------------------------------------------------------

    def _free(self, commanded: Commanded) -> None:
        """A command that takes no time: the same actor is asked again."""
        block = commanded.block
        if not self._operators.matters(block):
            return
        given = self._diagrams.both(self._cone.safe, commanded.exists())
        condition = self._diagrams.both(given, commanded.possible())
        results = self._operators.results(block) + self._phases.started(block)
        results += self._phases.noted()
        draft = Draft(
            self._shown(commanded), condition, results, (self._at_act,), command=commanded.command
        )
        self._offer(commanded, draft, commanded.block)

    def _long(self, commanded: Commanded) -> None:
        """A command that may take several ticks: its first one, and all that may follow."""
        both, negate = self._diagrams.both, self._diagrams.negate
        until = commanded.until(under_way=False)
        for given, fixed in self._turns(commanded):
            at_once = both(both(given, until), commanded.possible())
            self._done(commanded, commanded.command, (at_once, fixed))
            begun = both(both(given, negate(until)), commanded.requires())
            self._wait(commanded, commanded.command, (begun, fixed), 1)
        for done in range(1, commanded.takes):
            self._continue(commanded, done, commanded.until(under_way=True))
        if not self._is_trivial(commanded):
            self._break_off(commanded)

    def _continue(self, commanded: Commanded, done: int, until: Diagram) -> None:
        """Add `pass` after ``done`` ticks of a long action: it completes, fails, or continues."""
        both, negate = self._diagrams.both, self._diagrams.negate
        fixed = (self._at_act, self._running([commanded.stages[done - 1]]))
        last = done + 1 == commanded.takes
        ends = self._cone.safe if last else both(self._cone.safe, until)
        self._done(commanded, PASS, (both(ends, commanded.possible()), fixed))
        self._fail(commanded, (both(ends, negate(commanded.requires())), fixed))
        self._fail(commanded, (both(ends, commanded.fails()), fixed))
        if not last:
            goes_on = both(self._cone.safe, negate(until))
            self._wait(commanded, PASS, (goes_on, fixed), done + 1)

    def _done(self, commanded: Commanded, command: Command, turn: Turn) -> None:
        """Add the operators of a completed command: its changes apply and the phases follow."""
        extra = (*self._stage(None), *self._done_now(commanded.command))
        self._ends(commanded, command, turn, commanded.block, extra)

    def _wait(self, commanded: Commanded, command: Command, turn: Turn, done: int) -> None:
        """Add the operators after which a long action has lasted ``done`` ticks."""
        extra = (*self._stage(commanded.stages[done - 1]), *self._done_now(commanded.command))
        self._ends(commanded, command, turn, None, extra)

    def _fail(self, commanded: Commanded, turn: Turn) -> None:
        """A require fails on completion: the ``cancelled`` block applies."""
        condition = self._diagrams.both(turn[0], commanded.cancellable())
        turn = (condition, turn[1])
        self._ends(commanded, PASS, turn, commanded.cancelled, self._stage(None))

    def _break_off(self, commanded: Commanded) -> None:
        """The ``cancelled`` block of a long action: another command must follow in the same step,
        and ends it."""
        block = commanded.cancelled
        if block is None:
            return
        if self._phases.noted():
            reason = "awards are not encoded where a long action is broken off by a block"
            raise Refused("`cancelled`", commanded.unit.span, reason)
        fixed = (self._at_act, self._running(list(commanded.stages)))
        extra = (Effect((), self._phases.token, MUST),)
        condition = self._diagrams.both(self._cone.safe, commanded.cancellable())
        name = f"break off {self._shown(commanded)}"
        self._operators.add(Draft(name, condition, self._operators.results(block), fixed, extra))

    def _ends(
        self,
        commanded: Commanded,
        command: Command,
        turn: Turn,
        block: Block | None,
        extra: tuple[Effect, ...],
    ) -> None:
        """The actor's part of a tick ends; without phases so does the tick."""
        results = [] if block is None else self._operators.results(block)
        if not self._phases.any:
            results = results + self._phases.turned()
        results = results + self._phases.noted()
        name = self._shown(commanded)
        if command.is_pass:
            name = f"pass: {name}"
        draft = Draft(
            name, turn[0], results, turn[1], (*extra, self._phases.begun()), 0, 1, command
        )
        self._offer(commanded, draft, block)

    def _pass(self) -> None:
        """`pass` where nothing is under way: time goes by."""
        results = [] if self._phases.any else self._phases.turned()
        if not (results or self._phases.any):
            return
        idle = (self._running([None]),) if _LONG in self._operators.index else ()
        fixed = (self._at_act, *idle)
        results = results + self._phases.noted()
        extra = (self._phases.begun(),)
        self._operators.add(Draft("pass", self._cone.safe, results, fixed, extra, 0, 1, PASS))

    # ---- prices and outcomes ------------------------------------------------------------------

    def _offer(self, commanded: Commanded, draft: Draft, block: Block | None) -> None:
        """One operator per price and, where it depends on draws, per outcome of these."""
        coins = self._phases.coins(commanded.block)
        levels = {self._world.variables.levels[one.site.coin] for one in coins}
        asked = (draft.condition, *(after for _, after in draft.results))
        drawn = self._cone.whole and block is commanded.block
        if not drawn and not any(levels & self._diagrams.support(one) for one in asked):
            coins = []

        def add(priced: Draft) -> None:
            for outcome in outcomes_of(self._world, coins, priced.condition):
                self._operators.add(
                    replace(
                        priced,
                        condition=outcome.condition,
                        coins=outcome.coins,
                        draws=outcome.draws,
                    )
                )

        self._price(commanded, draft, add)

    def _price(self, commanded: Commanded, draft: Draft, add: Callable[[Draft], None]) -> None:
        """The draft for each price the command can have; `pass` is never dear."""
        if draft.command is None or draft.command.is_pass:
            add(draft)
            return
        diagrams, cost = self._diagrams, commanded.cost()
        for value in diagrams.leaves(cost):
            same = diagrams.lift(("costs", value), partial(_equals, value), cost)
            part = diagrams.both(draft.condition, same)
            if part != diagrams.false:
                units = commanded.price(value) if draft.ticks else 0
                add(replace(draft, condition=part, units=units))

    def _shown(self, commanded: Commanded) -> str:
        """A command for people to read: ``take(ruby)``."""
        unit = commanded.unit
        args = self._world.facts.shown_args(unit.params, unit.args)
        return f"{unit.rule.name}({', '.join(str(one) for one in args)})"


def _equals(wanted: Value, value: Value) -> bool:
    return value == wanted
