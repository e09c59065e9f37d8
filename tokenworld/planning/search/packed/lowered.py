"""Packing of worlds: `packed` is the entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from math import prod

from tokenworld.core import Rules, lowered
from tokenworld.core.nodes import Call, Constant, Term
from tokenworld.core.rules import Action
from tokenworld.core.walk import is_draw, statements_in, subterms, terms_in
from tokenworld.ground import PASS, Command, Instance, Simulator, StateT, fixed_value
from tokenworld.planning.grounding.reach import Reached, reach_of
from tokenworld.planning.grounding.task import GroundOperator, GroundTask, Pair, plain_task
from tokenworld.planning.lower.algebra import (
    ALIVE,
    AWARD,
    LONG,
    RING,
    WAS,
    Diagram,
    Explosion,
    Mark,
    Obstacle,
    Refused,
    Slot,
)
from tokenworld.planning.lower.encode import in_order, is_plain, plain_goal
from tokenworld.planning.lower.facts import Facts, facts_of
from tokenworld.planning.lower.terms import decimals_of
from tokenworld.planning.lower.ticks import ACT, MUST, Commands, Draft, Operators
from tokenworld.planning.lower.ticks import Phases as PhaseOperators
from tokenworld.planning.lower.world import Cone, TakenApart, cone_of
from tokenworld.planning.search.interpreted import gaps
from tokenworld.planning.search.packed.successors import (
    STUCK,
    MemoTable,
    OperatorPacker,
    Packing,
    Phases,
    Test,
    Transition,
    outcomes_of,
    transition_of,
)
from tokenworld.planning.search.packed.world import (
    BROKEN,
    LOST,
    OVER,
    PLAYING,
    WON,
    Dependencies,
    Ends,
    Packed,
)
from tokenworld.planning.task import Effect, Literal, Operator, Task, Variable, command_of
from tokenworld.planning.task import Effect as Assignment

# ---- Plain worlds, packed straight from their ground actions ------------------------------------
# The mutex groups are known from the rules; no operator is examined to find them.

_TOKEN = Variable("turn", "token", ("act", "must"), ACT)
"""Each variable of the ground task comes after this one."""
_MOST_OPERATORS = 25_000
"""The decision tree of so many operators takes some seconds to build."""
_ACTING: Literal = (0, (ACT,))
_ACTED = Effect((), 0, ACT)


def plain_packed(
    facts: Facts,
    goal: str | None,
    waits: bool,
    taken_apart: Callable[[], TakenApart],
    most: int,
) -> Packed | None:
    """The packed states of a plain world; ``None`` if it is not plain. ``waits``: `pass` is a
    command; ``taken_apart`` makes the parts that only questions about single rules need. Raises
    `Explosion` if it has more than ``most`` operators."""
    line = plain_goal(facts, goal)
    found = None if line is None or waits else reach_of(facts, always=True)
    if line is None or found is None:
        return None
    _check_size(found, most)
    made = plain_task(facts, found, line, whole=True)
    if made is None or len(made.goals) != 1:
        return None
    return _Packing(facts, made).packed(taken_apart)


def _check_size(found: Reached, most: int) -> None:
    """Raise `Explosion` for a world with more ground actions than ``most``."""
    actions = (title for title in found.relaxed.sources if title.startswith("action "))
    number = sum(len(found.bindings(title)) for title in actions)
    if number > most:
        raise Explosion(number, late=True)


class _Packing:
    """One ground task on the way to packed states."""

    def __init__(self, facts: Facts, made: GroundTask) -> None:
        self._facts, self._made = facts, made
        self._held = [len(group) for group in made.variables]
        self._operators = [self._operator(one) for one in in_order(facts, made)]

    def packed(self, taken_apart: Callable[[], TakenApart]) -> Packed:
        facts, task = self._facts, Task(self._variables(), tuple(self._operators), ())
        packing = Packing(task.variables)
        packer = OperatorPacker(packing, 0, None, None)
        way, groups = self._goal(), dict(enumerate(self._made.variables, 1))
        numbers = tuple(range(len(self._operators)))
        priced = any(action.cost is not None for action in facts.rules.actions.values())
        variables = {slot: number for number, group in groups.items() for slot in group}
        return Packed(
            task,
            packing,
            packing.pack(task.initial),
            tuple(command_of(one) for one in self._operators),
            packer.successor_generator(list(enumerate(self._operators))),
            _goal_test(packing.test(way)),
            ((BROKEN, ()), (WON, (way,)), (LOST, ()), (OVER, ())),
            0,
            Dependencies(taken_apart, variables, packing, Phases(packing, 0, [], []), {}),
            True,
            numbers=numbers,
            prices=self._prices() if priced else (1,) * len(numbers),
            groups=groups,
        )

    def _variables(self) -> tuple[Variable, ...]:
        """Return a variable for each group of facts of which at most one holds."""
        facts, made, found = self._facts, self._made, [_TOKEN]
        for group, first in zip(made.variables, made.initial, strict=True):
            name = " or ".join(facts.slot_name(fact) for fact in group[:2])
            found.append(Variable(name, "slot", tuple(range(len(group) + 1)), first))
        return tuple(found)

    def _prices(self) -> tuple[int, ...] | None:
        """The cost of each command; ``None`` where costs are written with different decimals."""
        costs = [one.cost for one in self._facts.rules.actions.values() if one.cost is not None]
        if len({decimals_of(cost.type) for cost in costs}) > 1:
            return None
        return tuple(one[6] for one in in_order(self._facts, self._made))

    # ---- operators ----------------------------------------------------------------------------

    def _operator(self, one: GroundOperator) -> Operator:
        name, args, held, lacked, made, gone, *_ = one
        condition = [_ACTING, *(((number + 1), (value,)) for number, value in held)]
        condition += [self._not(pair) for pair in lacked]
        effects = [_ACTED, *(Effect((), number + 1, value) for number, value in made)]
        effects += [self._lost(pair, held) for pair in gone]
        return Operator(name, _one_each(condition), tuple(effects), 1, Command(name, args))

    def _not(self, pair: Pair) -> Literal:
        number, value = pair
        return number + 1, tuple(one for one in range(self._held[number] + 1) if one != value)

    def _lost(self, pair: Pair, held: tuple[Pair, ...]) -> Effect:
        """A fact that goes: nothing of its variable holds then, if it did."""
        number, value = pair
        none = self._held[number]
        sure = none == 1 or pair in held
        asked: tuple[Literal, ...] = () if sure else ((number + 1, (value,)),)
        return Effect(asked, number + 1, none)

    def _goal(self) -> tuple[Literal, ...]:
        held, lacked = self._made.goals[0]
        found = [(number + 1, (value,)) for number, value in held]
        return _one_each([*found, *(self._not(pair) for pair in lacked)])


def _goal_test(test: Test) -> Ends:
    """The function that gives the kind of a state; most goals are one test of some bits."""
    if test.sets:
        return lambda state: WON if test.holds(state) else PLAYING
    care, want = test.care, test.want
    return lambda state: WON if state & care == want else PLAYING


def _one_each(literals: list[Literal]) -> tuple[Literal, ...]:
    """One literal for each variable."""
    found: dict[int, tuple[int, ...]] = {}
    for number, places in literals:
        known = found.get(number)
        found[number] = places if known is None else tuple(p for p in known if p in places)
    return tuple(sorted(found.items()))


# ---- All others, packed through their lowering --------------------------------------------------
# Every slot is a variable, nothing is sliced off or merged. That is possible where the lowering can
# follow every rule: no objects are created, laws act together, numbers have bounds.

_MOST_NODES = 600_000
_WIDE = 1 << 20
_MOST_WAYS = 2_000
"""Most conjunctions of an ending or invariant that are tested on each state."""


def packed(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    obstacles: list[Obstacle] | None = None,
) -> Packed | None:
    """The world from a state, packed; ``None`` if only the interpreter can explore it.

    The rules that prevent packing, if known, are appended to ``obstacles``.
    """
    try:
        return packed_in_time(simulator, state, goal, obstacles)
    except Explosion:
        return None


def packed_in_time(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    obstacles: list[Obstacle] | None = None,
    edges: int | None = None,
    sizes: tuple[int, int] | None = None,
) -> Packed | None:
    """As `packed`, but raises `Explosion` if no rule prevents packing and it takes too long.

    ``edges`` is the most that will be explored: packing ends when the interpreter would be done.
    ``sizes`` are the most ground actions that a plain world, and any other, may have.
    """
    found = list[Obstacle]() if obstacles is None else obstacles
    instance = simulator.instance_at(state)
    if not is_finite(instance, goal) or gaps(instance, simulator.unlisted):
        return None
    if simulator.running(state) is not None or simulator.lost(state):
        return None
    try:
        late, too_long = step_budgets(edges)
        facts = facts_of(simulator, state)

        def taken_apart() -> TakenApart:
            return TakenApart(facts, goal, _MOST_NODES, late)

        waits = PASS in simulator.commands(state)
        most = _MOST_OPERATORS if sizes is None else sizes[0]
        plain = plain_packed(facts, goal, waits, taken_apart, most)
        if plain is not None:
            return plain
        if sizes is not None and (reach := reach_of(facts, always=True)) is not None:
            _check_size(reach, sizes[1])
        world = TakenApart(facts, goal, _MOST_NODES, late, whole=too_long)
        cone = cone_of(world, whole=True)
        found += [*world.analysis.obstacles, *cone.obstacles]
        if found:
            return None
        return _Packer(world, cone, is_plain(instance, goal), waits).made()
    except Refused as refused:
        found.append(refused.obstacle)
        return None


class _Packer:
    """One world on the way from its lowering to packed states."""

    def __init__(self, world: TakenApart, cone: Cone, plain: bool, waits: bool) -> None:
        self._world, self._cone, self._plain, self._waits = world, cone, plain, waits
        if any(name == AWARD for name, _ in cone.slots):
            span = world.facts.instance.world.span
            raise Refused("`score`", span, "states that differ in awards are not packed")
        self._operators = Operators(world, cone)
        diagrams, guards = world.diagrams, world.guards
        self._kinds = (
            (BROKEN, diagrams.negate(cone.kept)), (WON, cone.won), (LOST, guards.lost()),
            (OVER, guards.over()),
        )  # fmt: skip
        levels = (diagrams.support(diagram) for _, diagram in self._kinds)
        self._ends_at = sorted(frozenset[int]().union(*levels))

    def made(self) -> Packed | None:
        world, cone, operators = self._world, self._cone, self._operators
        for level in self._ends_at:
            cone.slots.setdefault(world.variables.slots[level])
        for modulus in rings(world.facts.instance):
            world.variables.now((RING, (modulus,)))
            cone.slots.setdefault((RING, (modulus,)))
        phases = PhaseOperators(world, cone, operators)
        phases.token = operators.declare(Variable("turn", "token", phases.names, ACT))
        operators.declare_slots()
        Commands(world, cone, operators, phases).add()
        if self._waits and not (phases.any or phases.turned()):
            operators.add(self._waiting(phases.token))
        phases.add()
        finished: tuple[Operator, ...] = operators.finished()
        task = Task(tuple(operators.variables), finished, ())
        self._names = {name: place for place, name in enumerate(phases.names) if place > MUST}
        self._draws = frozenset(
            place for name, place in self._names.items() if name.startswith("draw ")
        )
        packing = Packing(task.variables)
        ends = self._ends(packing)
        if ends is None:
            return None
        return self._packed(task, packing, phases.token, ends)

    def _waiting(self, token: int) -> Draft:
        """`pass` where waiting changes nothing: the lowering leaves it out."""
        fixed: tuple[Literal, ...] = ((token, (ACT,)),)
        running = self._operators.index.get((LONG, ()))
        if running is not None:
            fixed += ((running, (self._operators.position((LONG, ()), None),)),)
        move = Assignment((), token, ACT)
        return Draft("pass", self._cone.safe, [], fixed, (move,), 0, 1, PASS)

    # ---- ends -------------------------------------------------------------------------------

    def _ends(self, packing: Packing) -> Ends | None:
        """The kind of a state, as a function; ``None`` where an ending may have no value."""
        leaves = (leaf for _, one in self._kinds for leaf in self._world.diagrams.leaves(one))
        if any(isinstance(leaf, Mark) for leaf in leaves):
            return None
        counts = [self._world.diagrams.count_paths(one, True) for _, one in self._kinds]
        if max(counts) > _MOST_WAYS:
            world = self._world.facts.instance.world
            reason = f"its endings and invariants can hold in {max(counts):,} ways"
            raise Refused(f"world `{world.name}`", world.span, reason)
        self._ways = tuple((kind, self._literals(diagram)) for kind, diagram in self._kinds)
        tests = [(kind, [packing.test(way) for way in ways]) for kind, ways in self._ways]

        def ends(state: int) -> int:
            for kind, ways in tests:
                if any(test.holds(state) for test in ways):
                    return kind
            return PLAYING

        slots = self._world.variables.slots
        looked = {self._operators.index[slots[level]] for level in self._ends_at}
        if prod(packing.sizes[one] for one in looked) > _WIDE:
            return ends
        mask, rows = sum(packing.masks[one] for one in looked), MemoTable(ends)
        return lambda state: rows[state & mask]

    def _literals(self, diagram: Diagram) -> tuple[tuple[Literal, ...], ...]:
        """The ways in which a condition holds."""
        paths = self._world.diagrams.paths(diagram)
        return tuple(self._operators.literals(path) for path, value in paths if value is True)

    # ---- packer -----------------------------------------------------------------------------

    def _packed(self, task: Task, packing: Packing, token: int, ends: Ends) -> Packed:
        order = {one.command: number for number, one in enumerate(self._world.commands)}
        operators = task.operators
        given = [one for one in operators if one.command is not None]
        given.sort(key=lambda one: (order.get(command_of(one), len(order)), _choices(one)))
        places = {one: dict(one.precondition)[token] for one in operators}
        others = [one for one in operators if one.command is None]
        phases = Phases(
            packing,
            token,
            list(self._names.values()),
            [one for one in others if places[one] != (ACT,)],
        )
        cleared = self._clearing(packing)
        outcomes = self._outcomes(packing, token, phases, cleared)
        follow = transition_of(packing, token, phases) if self._names and outcomes is None else None
        packer = OperatorPacker(packing, token, follow, cleared)
        numbered = list(enumerate(given))
        places_of = {id(one): number for number, one in numbered}
        free = frozenset(number for number, one in numbered if packer.is_free(one))
        breaks = [(-1, one) for one in others if places[one] == (ACT,)]
        instead = [pair for pair in numbered if places[pair[1]] == (MUST,)]
        return Packed(
            task,
            packing,
            packing.pack(task.initial),
            tuple(command_of(one) for one in given),
            packer.successor_generator([pair for pair in numbered if places[pair[1]] == (ACT,)]),
            ends,
            self._ways,
            token,
            Dependencies(lambda: self._world, self._operators.index, packing, phases, self._names),
            self._plain,
            free,
            frozenset(
                number
                for number, one in numbered
                if one.draws or (outcomes is not None and number not in free)
            ),
            outcomes,
            packer.successor_generator(breaks) if breaks else None,
            packer.successor_generator(instead) if breaks else None,
            {
                stage: (one.command, done, one.takes)
                for one in self._world.commands
                for done, stage in enumerate(one.stages, 1)
            },
            tuple(self._living()),
            dict(self._named()),
            tuple(places_of.get(id(one), -1) for one in operators),
            self._prices(given, free),
            self._fails(),
        )

    def _fails(self) -> bool:
        """Return whether a draw may make a command, or its whole tick, fail."""
        world, diagrams = self._world, self._world.diagrams
        drawing = {one.unit for slot, one in world.variables.draws.items() if _is_open(world, slot)}
        if not drawing:
            return False
        ticks = (self._cone.kept, *(one.ok() for one in world.phases))
        tried = (one for one in world.commands if one.unit in drawing)
        return any(one != diagrams.true for one in ticks) or any(
            diagrams.both(one.requires(), diagrams.negate(one.possible())) != diagrams.false
            for one in tried
        )

    def _prices(self, given: Sequence[Operator], free: frozenset[int]) -> tuple[int, ...] | None:
        """The cost of each operator as the interpreter counts it, without the share of the tick."""
        costs = [one for one in self._world.facts.rules.actions.values() if one.cost is not None]
        if not costs:
            return (1,) * len(given)
        decimals = {decimals_of(one.cost.type) for one in costs if one.cost is not None}
        freely = {command_of(given[number]).action for number in free}
        if len(decimals) > 1 or any(one.name in freely for one in costs):
            return None  # operators that take no time have no price
        scale = self._operators.scale
        return tuple((one.cost - (number not in free)) // scale for number, one in enumerate(given))

    def _outcomes(
        self, packing: Packing, token: int, phases: Phases, cleared: Transition | None
    ) -> Callable[[int], list[int]] | None:
        """The function that lists the states after the phases, where laws draw."""
        if not self._draws:
            return None
        follow = outcomes_of(packing, token, phases, self._draws)
        if cleared is None:
            return follow
        clear = cleared
        return lambda state: [clear(after) for after in follow(state)]

    def _living(self) -> Iterator[tuple[int, int]]:
        """The objects that may be destroyed, each with its variable."""
        for (name, args), variable in self._operators.index.items():
            if name == ALIVE and isinstance(args[0], int):
                yield args[0], variable

    def _named(self) -> Iterator[tuple[int, frozenset[int]]]:
        """The objects that each stored slot, or its value, is about."""
        facts, variables = self._world.facts, self._world.variables
        for slot, variable in self._operators.index.items():
            stored = variables.stored(slot) if slot[0] == WAS else slot
            if stored[0] in facts.program.fluents:
                yield variable, frozenset(facts.objects_in(stored))

    def _clearing(self, packing: Packing) -> Transition | None:
        """The function that clears the bits of destroyed objects, so that equal states are equal
        numbers; ``None`` where nothing can be destroyed."""
        named = dict(self._named())
        destroyed = [
            (
                packing.masks[living],
                packing.bits(living, self._operators.variables[living].values.index(False)),
                ~sum(packing.masks[one] for one, about in named.items() if number in about),
            )
            for number, living in self._living()
        ]

        def cleared(state: int) -> int:
            if state != STUCK:
                for alive, dead, rest in destroyed:
                    if state & alive == dead:
                        state &= rest
            return state

        return cleared if destroyed else None


def _is_open(world: TakenApart, draw: Slot) -> bool:
    """Return whether a draw has more than one side."""
    return len(world.variables.domain(draw)) > 1


def _choices(operator: Operator) -> tuple[int, ...]:
    return tuple(draw.choice for draw in operator.draws)


Late = Callable[[], bool]
"""Asked after every so many steps whether it is enough."""
_MOST_CHECKS_OF_DIAGRAMS, _MOST_CHECKS_OF_VALUES = 12, 100
"""So often the diagrams and the analysis of values may ask."""
_LOOK = 5_000
"""The edges that the interpreter expands in the time between two checks: packing without a result
must not cost more than it might have saved."""


def step_budgets(edges: int | None) -> tuple[Late, Late]:
    """For the diagrams and for the analysis of values. ``edges`` is how many there are to explore
    at most: to pack takes no longer than to let the interpreter do it."""
    most = None if edges is None else 1 + edges // _LOOK
    return _enough(_MOST_CHECKS_OF_DIAGRAMS, most), _enough(_MOST_CHECKS_OF_VALUES, most)


def _enough(most: int, fewer: int | None) -> Late:
    """Says no so many times, and then yes."""
    looks, last = count(1), most if fewer is None else min(most, fewer)
    return lambda: next(looks) > last


# ---- which worlds have packed states at all ------------------------------------------------------


def is_finite(instance: Instance, goal: str | None) -> bool:
    """Return whether the values of slots alone decide the future of each state of the world."""
    program, world = instance.program, instance.world
    return (
        (goal is None or not _history(instance))
        and all(line.ending in ("goal", "lose") or not world.endless for line in world.endings)
        and not program.births
        and not any(map(_draws_late, lowered(program).actions.values()))
    )


def _draws_late(action: Action) -> bool:
    """Return whether a long action draws: a refused completion reports its draws only."""
    takes = action.takes
    free = isinstance(takes, Constant) and takes.value == 0
    long = not free and (takes is not None or action.until is not None)
    return long and any(map(is_draw, statements_in((*action.guards, *action.body))))


def _history(instance: Instance) -> bool:
    """Return whether play goes on past goals, so that it counts which of them were reached."""
    world = instance.world
    return world.endless and world.outcomes == "latched" and len(world.goals) > 1


# ---- the clock ----------------------------------------------------------------------------------


def rings(instance: Instance) -> Iterator[int]:
    """The moduli by which rules read `tick()`: states differ in them even if that is no matter."""
    for term in _terms(lowered(instance.program), instance.world.name):
        for part in subterms(term):
            if not isinstance(part, Call) or part.op != "mod":
                continue
            ticks = isinstance(part.args[0], Call) and part.args[0].op == "tick"
            modulus = (
                fixed_value(part.args[1], instance.numbers, instance.params) if ticks else None
            )
            if isinstance(modulus, int) and modulus > 1:
                yield modulus


def _terms(rules: Rules, world: str) -> Iterator[Term]:
    """The terms of actions, laws, births, invariants, conserved sums, endings and derives."""
    for action in rules.actions.values():
        yield from terms_in((*action.guards, *action.body, *action.cancelled))
        yield from (one for one in (action.takes, action.until, action.cost) if one is not None)
    for law in rules.laws.values():
        yield from () if law.when is None else (law.when,)
        yield from terms_in(law.body)
    for birth in rules.births:
        yield from terms_in(birth.body)
    yield from (one.condition for one in rules.invariants.values())
    yield from (one.value for one in rules.conserves.values())
    yield from (one.condition for one in rules.worlds[world].endings)
    yield from (one.value for one in rules.derives.values())
