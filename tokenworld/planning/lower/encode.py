"""One world instance as a planning task that is solvable exactly if the world is winnable."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import count

from tokenworld.core import lowered
from tokenworld.core.rules import Ending
from tokenworld.ground import Command, Instance, Simulator, StateT
from tokenworld.planning.grounding.reach import rank, reach_of
from tokenworld.planning.grounding.task import (
    GroundOperator,
    GroundTask,
    Pair,
    plain_task,
)
from tokenworld.planning.lower.algebra import Explosion, Obstacle, Refused
from tokenworld.planning.lower.facts import Facts, facts_of
from tokenworld.planning.lower.ticks import assembled, scale_of
from tokenworld.planning.lower.units import Fact
from tokenworld.planning.lower.world import TakenApart, cone_of
from tokenworld.planning.space.graph import strong_components
from tokenworld.planning.task import (
    Effect,
    Literal,
    Operator,
    Task,
    TooManyEffects,
    Variable,
    check_plan,
    decoded,
    operators_named,
    sas_text,
    single_valued,
)
from tokenworld.planning.verdict import PlanStep

# ---- The order of variables ----------------------------------------------------------------------
# The order of variables in encoding E.
#
# Planners break ties by the numbers of variables: with another order the same search may expand
# thirty times as many states. `by_causes` puts the variables of a task into the order of its causal
# graph (Helmert, "The Fast Downward planning system", JAIR 2006, section 5): a variable comes
# before those that change depending on it, and goals come last.


Weights = Mapping[int, Mapping[int, int]]
"""For each variable those that are changed depending on it, and by how many effects."""


def by_causes(task: Task) -> Task:
    """Return the same task with its variables in the order of its causal graph."""
    weights = _weights(task)
    goals = {variable for variable, _ in task.goal}
    groups = strong_components(range(len(task.variables)), lambda one: sorted(weights[one]))
    order = [one for group in reversed(groups) for one in _by_weight(group, weights, goals)]
    return _renumbered(task, order)


def _weights(task: Task) -> Weights:
    """Return the causal graph: an edge for each variable that an effect depends on."""
    found: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for one in task.operators:
        asked = {variable for variable, _ in one.precondition}
        for effect in one.effects:
            causes = asked | {variable for variable, _ in effect.conditions}
            for cause in causes - {effect.variable}:
                found[cause][effect.variable] += 1
    return found


def _by_weight(group: Sequence[int], weights: Weights, goals: set[int]) -> list[int]:
    """Order variables that depend on each other: next comes the one with the least incoming weight
    from the others, of equals the one that has waited longest; goals come last."""
    left, order, turns = set(group), list[int](), count()
    edges: Counter[int] = Counter()
    incoming: Counter[int] = Counter()
    for one in group:
        for target in left & weights[one].keys():
            edges[target] += target in goals
            incoming[target] += weights[one][target]

    def entry(one: int) -> tuple[int, int, int, int]:
        return edges[one], incoming[one], next(turns), one

    waiting = [entry(one) for one in group]
    heapify(waiting)
    while waiting:
        _, weight, _, one = heappop(waiting)
        if one not in left or weight != incoming[one]:
            continue
        left.discard(one)
        order.append(one)
        for target in sorted(left & weights[one].keys()):
            incoming[target] -= weights[one][target]
            heappush(waiting, entry(target))
    return order


def _renumbered(task: Task, order: Sequence[int]) -> Task:
    """Return the task with the variables in an order."""
    new = {old: number for number, old in enumerate(order)}

    def literals(of: Sequence[Literal]) -> tuple[Literal, ...]:
        return tuple(sorted([(new[variable], positions) for variable, positions in of]))

    def operator(one: Operator) -> Operator:
        effects = [Effect(literals(e.conditions), new[e.variable], e.value) for e in one.effects]
        return Operator(
            one.name, literals(one.precondition), tuple(effects), one.cost, one.command, one.draws
        )

    variables = tuple(task.variables[old] for old in order)
    return Task(variables, tuple(map(operator, task.operators)), literals(task.goal))


# ---- The encoding --------------------------------------------------------------------------------


_MOST_NODES = 600_000


@dataclass(frozen=True)
class Encoding:
    """Encoding E of one world from one state.

    ``task`` has single-valued literals only; ``plain`` is the same with sets of values, and without
    the variables that watch them. ``unreachable``: the goal is out of reach even if nothing were
    ever undone, which a planner finds out at once. ``unborn`` are the numbers and types of the
    objects that play may create: with more of them there may be a plan, or a shorter one.
    """

    task: Task
    unreachable: bool = False
    plain: Task | None = None
    unborn: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def text(self) -> str:
        """The task as SAS+ text."""
        return sas_text(self.task)

    @property
    def digest(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        from hashlib import sha256

        return sha256(self.text.encode()).hexdigest()

    def plan(self, names: Sequence[str]) -> tuple[PlanStep, ...]:
        """The plan that a planner's operator names mean.

        Raises `task.NotAPlan` where they are no plan of the task.
        """
        operators = operators_named(self.task, names)
        check_plan(self.task, operators)
        return decoded(operators)


@dataclass(frozen=True, slots=True)
class Unencodable:
    """Why there is no encoding: every construct that has none, with its place."""

    obstacles: tuple[Obstacle, ...]


def encode(
    instance: Instance,
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    *,
    grouped: bool = True,
    spares: bool = False,
    limit: int = _MOST_NODES,
    late: Callable[[], bool] | None = None,
) -> Encoding | Unencodable:
    """Encode the search for ``goal`` (any goal line if ``None``) from ``state``.

    Values of slots come from the simulator. ``grouped``: facts of which at most one holds share a
    variable, which planners search better; otherwise each slot has its own, which can be told in
    the author's words. ``spares``: play creates the objects of the world's `spare` lines
    (``unborn``); otherwise a ``create`` is an obstacle. ``limit`` bounds the nodes of the decision
    diagrams, ``late`` the time: once it returns true, the diagrams of the world count as too big.
    Every construct without an encoding is reported as an obstacle: nothing is left out silently.
    """
    facts = facts_of(simulator, state, instance, spares=spares)

    def over() -> bool:
        playing = simulator.commands(state) or simulator.won(state, goal)
        return simulator.lost(state) or not playing

    return encode_facts(facts, goal, over=over, grouped=grouped, limit=limit, late=late)


def encode_facts(
    facts: Facts,
    goal: str | None,
    *,
    over: Callable[[], bool] = lambda: False,
    grouped: bool = True,
    limit: int = _MOST_NODES,
    late: Callable[[], bool] | None = None,
) -> Encoding | Unencodable:
    """As `encode`, from the facts of a state; ``over``: play has ended there, which a plain world
    shows by its commands."""
    instance = facts.instance
    plain = encode_plain(facts, goal, grouped=grouped)
    if plain is not None:
        return plain
    try:
        world = TakenApart(facts, goal, limit, late)
        cone = cone_of(world)
        obstacles = (*world.analysis.obstacles, *cone.obstacles)
        if obstacles:
            return Unencodable(tuple(dict.fromkeys(obstacles)))
        task, reachable = simplified(assembled(world, cone, over()))
    except Refused as refused:
        return Unencodable((refused.obstacle,))
    except Explosion as explosion:
        return Unencodable((too_big(instance, explosion),))
    if not task.goal:
        return _NOTHING_LEFT
    try:
        return Encoding(single_valued(task), not reachable, task, facts.unborn)
    except TooManyEffects as error:
        return Unencodable((_too_many(instance, error),))


def encode_plain(facts: Facts, goal: str | None, *, grouped: bool = True) -> Encoding | None:
    """Encode a world whose commands ask for facts and change facts; ``None`` for any other."""
    plain = plain_encoding(facts, goal, grouped=grouped)
    if plain is None:
        return None
    return Encoding(by_causes(single_valued(plain)), plain=plain) if plain.goal else _NOTHING_LEFT


_WON = Task((Variable("won", "aux", (False, True), 1),), (), ((0, (1,)),))
"""A task whose goal holds in every state: planners reject an empty one."""
_NOTHING_LEFT = Encoding(_WON, plain=_WON)


def _too_many(instance: Instance, error: TooManyEffects) -> Obstacle:
    """The obstacle of a rule that has too many effects once each condition names one value."""
    reason = f"with it the world takes more than {error.most:,} effects of single values"
    command = error.operator.command
    action = None if command is None else instance.program.actions.get(command.action)
    if action is None:
        return Obstacle(f"`{error.operator.name}`", instance.world.span, reason)
    return Obstacle(f"the action `{action.name}`", action.span, reason)


def too_big(instance: Instance, explosion: Explosion) -> Obstacle:
    """The obstacle of a world whose decision diagrams outgrow their limit."""
    reason = f"its decision diagrams grow beyond {explosion.size:,} nodes"
    if explosion.late:
        reason = "its decision diagrams are not done in the time that there is for them"
    return Obstacle(f"world `{instance.world.name}`", instance.world.span, reason)


# ---- plain worlds -------------------------------------------------------------------------------
# If commands are the only changes of a world, and they make facts true and false, there is
# nothing that decision diagrams would have to find out: each ground action that can ever be done is
# one operator.


def plain_goal(facts: Facts, goal: str | None) -> Ending | None:
    """Return the goal of a world whose only changes are commands; else ``None``."""
    instance, program = facts.instance, facts.program
    lines = facts.rules.worlds[instance.world.name].goals
    alone = len(lines) == 1 and goal in (None, lines[0].name)
    if not alone or program.conserves or program.births or len(instance.world.turns) > 1:
        return None
    return lines[0] if is_plain(instance, goal) and facts.running is None else None


def is_plain(instance: Instance, goal: str | None) -> bool:
    """Return whether commands are the only changes of a world, and play ends at the goal only."""
    program, world = instance.program, instance.world
    by_itself = (program.laws, program.watches, program.invariants, world.awards)
    goals = [line for line in world.endings if line.ending == "goal"]
    return (
        not any(by_itself)
        and not world.endless
        and world.outcomes == "latched"
        and not any(one.draws for one in lowered(program).in_play)
        and all(one.takes is None and one.until is None for one in program.actions.values())
        and len(goals) == len(world.endings)
        and (goal is None or len(goals) == 1)
    )


def plain_encoding(facts: Facts, goal: str | None, *, grouped: bool) -> Task | None:
    """The task of a plain world; ``None`` where it is none, or where its goal is out of reach: the
    general way has more to say of why."""
    line = plain_goal(facts, goal)
    found = None if line is None else reach_of(facts, always=True)
    if line is None or found is None:
        return None
    made = plain_task(facts, found, line, grouped=grouped)
    if made is None or any(one[6] < 0 for one in made.operators):
        return None
    emptied = {pair[0] for one in made.operators for pair in one[5]}
    emptied |= {one[2][0] for operator in made.operators for one in operator[7] if not one[3]}
    variables = tuple(
        _variable(facts, group, initial, number in emptied or initial == len(group))
        for number, (group, initial) in enumerate(zip(made.variables, made.initial, strict=True))
    )
    sizes = [len(one.values) for one in variables]
    goals = [
        way
        for way in (_literals(sizes, *one) for one in made.goals)
        if all(values for _, values in way)
    ]  # a fact and its absence
    operators = tuple(_plain_operators(facts, made, sizes))
    if len(goals) < 2:
        return Task(variables, operators, goals[0]) if goals else None
    wins = tuple(
        Operator(f"o{number} win", way, (Effect((), len(variables), 1),))
        for number, way in enumerate(goals, len(operators))
    )
    won = Variable("won", "aux", (False, True), 0)
    return Task((*variables, won), (*operators, *wins), ((len(variables), (1,)),))


def _variable(facts: Facts, group: tuple[Fact, ...], initial: int, empties: bool) -> Variable:
    """Return the variable of exclusive facts; with ``empties`` it has a value for none of them."""
    names = [facts.slot_name(fact) for fact in group]
    if len(group) == 1:
        return Variable(names[0], "slot", (True, False), initial, *group[0])
    values = (*names, "none of them") if empties else tuple(names)
    return Variable(f"one of {names[0]} ...", "group", values, initial)


def _literals(
    sizes: Sequence[int], held: Iterable[Pair], lacked: Iterable[Pair]
) -> tuple[Literal, ...]:
    """Return literals for the facts that must hold and those that must not."""
    found = {variable: {place} for variable, place in held}
    for variable, place in lacked:
        found.setdefault(variable, set(range(sizes[variable]))).discard(place)
    return tuple((variable, tuple(sorted(found[variable]))) for variable in sorted(found))


def _effects(sizes: Sequence[int], operator: GroundOperator) -> Iterator[Effect]:
    """Yield the effects of an operator: a fact is lost only if it, and no other, holds."""
    held = set(operator[2])
    for variable, place in operator[4]:
        yield Effect((), variable, place)
    for variable, place in operator[5]:
        sure = sizes[variable] == 2 or (variable, place) in held
        yield Effect(() if sure else ((variable, (place,)),), variable, sizes[variable] - 1)
    for asked, lacked, (variable, place), added in operator[7]:
        own = () if added or sizes[variable] == 2 else ((variable, place),)
        conditions = _literals(sizes, (*asked, *own), lacked)
        yield Effect(conditions, variable, place if added else sizes[variable] - 1)


def _plain_operators(facts: Facts, made: GroundTask, sizes: Sequence[int]) -> Iterator[Operator]:
    """Yield the operators in the alphabet, as Fast Downward's translator orders them."""
    named = [(_shown(facts, one), one) for one in made.operators]
    scale = scale_of(max((one[6] for one in made.operators), default=0))
    costed = any(action.cost is not None for action in facts.rules.actions.values())
    for number, (name, one) in enumerate(sorted(named, key=lambda pair: pair[0].lower())):
        cost = one[6] * scale + 1 if costed else 1
        yield Operator(
            f"o{number} {name}",
            _literals(sizes, one[2], one[3]),
            tuple(_effects(sizes, one)),
            cost,
            Command(one[0], one[1]),
        )


def in_order(facts: Facts, made: GroundTask) -> list[GroundOperator]:
    """The operators as the interpreter lists commands."""
    ranks = {name: place for place, name in enumerate(facts.program.actions)}
    return sorted(made.operators, key=lambda one: (ranks[one[0]], rank(one[1])))


def _shown(facts: Facts, one: GroundOperator) -> str:
    params = facts.rules.actions[one[0]].params
    return f"{one[0]}({', '.join(str(arg) for arg in facts.shown_args(params, one[1]))})"


# ---- Making a task smaller that has the same reachable states -----------------------------------
# Values, effects and operators that no plan can reach even without deletions are removed; so are
# variables that nothing looks at, commands that do no more than `pass` does, and operators that
# change nothing at all. Values that nothing can ever tell apart are merged: a counter is saturated
# where it stops to matter.


def simplified(task: Task) -> tuple[Task, bool]:
    """The smaller task, and whether its goal is reachable without deletions.

    If it is not, the task stays whole, so that the proof of that has all operators.
    """
    smaller = _tidied(task)
    while True:
        reached = _Reach(smaller).run()
        if any(not reached.values[number] & set(places) for number, places in smaller.goal):
            return _tidied(task), False
        before = _size(smaller)
        smaller = _without_waiting(_without_unread(_pruned(smaller, reached)))
        smaller = merged_values(smaller)
        if _size(smaller) == before:
            return smaller, True


def _tidied(task: Task) -> Task:
    """Without conditions that always hold."""
    new = _Renumbering(task, [range(len(variable.values)) for variable in task.variables])
    return new.task(task, task.operators)


def _size(task: Task) -> tuple[int, ...]:
    effects = sum(len(operator.effects) for operator in task.operators)
    values = sum(len(variable.values) for variable in task.variables)
    return len(task.variables), values, len(task.operators), effects


class _Reach:
    """Relaxed reachability: which values, operators and effects can ever be met.

    Every distinct literal is watched once; ``missing`` counts for each operator, and for each of
    its effects, the literals that no reached value satisfies yet.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self.values: list[set[int]] = [set() for _ in task.variables]
        self.operators: set[int] = set()
        self.effects: set[tuple[int, int]] = set()
        self._watchers: dict[Literal, list[tuple[int, int]]] = {}
        self._by_variable: list[list[Literal]] = [[] for _ in task.variables]
        self._missing: dict[tuple[int, int], int] = {}
        self._waiting: deque[tuple[int, int]] = deque()

    def run(self) -> _Reach:
        """Reach all that can be reached."""
        for number, operator in enumerate(self._task.operators):
            self._watch((number, -1), operator.precondition, 0)
            for position, effect in enumerate(operator.effects):
                self._watch((number, position), effect.conditions, 1)
        for variable, start in enumerate(self._task.initial):
            self._waiting.append((variable, start))
        for owner in [owner for owner, left in self._missing.items() if left == 0]:
            self._met(owner)
        while self._waiting:
            self._value(*self._waiting.popleft())
        return self

    def _watch(self, owner: tuple[int, int], literals: Iterable[Literal], more: int) -> None:
        distinct = tuple(dict.fromkeys(literals))
        self._missing[owner] = len(distinct) + more
        for literal in distinct:
            if literal not in self._watchers:
                self._watchers[literal] = []
                self._by_variable[literal[0]].append(literal)
            self._watchers[literal].append(owner)

    def _value(self, variable: int, position: int) -> None:
        if position in self.values[variable]:
            return
        self.values[variable].add(position)
        open_ = []
        for literal in self._by_variable[variable]:
            if position in literal[1]:
                for owner in self._watchers[literal]:
                    self._less(owner)
            else:
                open_.append(literal)
        self._by_variable[variable] = open_

    def _less(self, owner: tuple[int, int]) -> None:
        self._missing[owner] -= 1
        if self._missing[owner] == 0:
            self._met(owner)

    def _met(self, owner: tuple[int, int]) -> None:
        number, position = owner
        operator = self._task.operators[number]
        if position < 0:
            self.operators.add(number)
            for index in range(len(operator.effects)):
                self._less((number, index))
        else:
            self.effects.add(owner)
            effect = operator.effects[position]
            self._waiting.append((effect.variable, effect.value))


# ---- dropping unreachable parts ---------------------------------------------------------------


class _Renumbering:
    """Old variables and positions to new ones."""

    def __init__(self, task: Task, kept: Sequence[Sequence[int]]) -> None:
        self._places = [{old: new for new, old in enumerate(values)} for values in kept]
        self._numbers: dict[int, int] = {}
        self.variables: list[Variable] = []
        for number, (variable, values) in enumerate(zip(task.variables, kept, strict=True)):
            if len(values) > 1:
                self._numbers[number] = len(self.variables)
                self.variables.append(
                    replace(
                        variable,
                        values=tuple(variable.values[position] for position in values),
                        initial=self._places[number][variable.initial],
                    )
                )

    def literals(self, literals: Iterable[Literal]) -> tuple[Literal, ...]:
        """The literals that say something, in the new numbers."""
        found = []
        for variable, positions in literals:
            places = self._places[variable]
            kept = tuple(places[position] for position in positions if position in places)
            if variable in self._numbers and len(kept) < len(places):
                found.append((self._numbers[variable], kept))
        return tuple(found)

    def effects(self, effects: Iterable[Effect]) -> tuple[Effect, ...]:
        """The effects on variables that are still there."""
        return tuple(
            Effect(
                self.literals(effect.conditions),
                self._numbers[effect.variable],
                self._places[effect.variable][effect.value],
            )
            for effect in effects
            if effect.variable in self._numbers
        )

    def task(self, task: Task, operators: Iterable[Operator]) -> Task:
        """The task with these operators, but for those that change nothing: planners reject one
        without effects.
        """
        renumbered = (self.operator(operator) for operator in operators)
        kept = tuple(operator for operator in renumbered if operator.effects)
        return Task(tuple(self.variables), kept, self.literals(task.goal))

    def operator(self, operator: Operator) -> Operator:
        """The operator without effects that set a value which already holds."""
        precondition = self.literals(operator.precondition)
        known = dict(precondition)
        effects = tuple(
            effect
            for effect in self.effects(operator.effects)
            if {**known, **dict(effect.conditions)}.get(effect.variable) != (effect.value,)
        )
        return replace(operator, precondition=precondition, effects=effects)


def _pruned(task: Task, reached: _Reach) -> Task:
    new = _Renumbering(task, [sorted(values) for values in reached.values])
    operators = []
    for number, operator in enumerate(task.operators):
        if number in reached.operators:
            met = (
                effect
                for position, effect in enumerate(operator.effects)
                if (number, position) in reached.effects
            )
            operators.append(replace(operator, effects=tuple(met)))
    return new.task(task, operators)


def _without_unread(task: Task) -> Task:
    """Without variables that no condition looks at, directly or through others."""
    read: set[int] = {variable for variable, _ in task.goal}
    for operator in task.operators:
        read.update(variable for variable, _ in operator.precondition)
    grown = True
    while grown:
        before = len(read)
        for operator in task.operators:
            for effect in operator.effects:
                if effect.variable in read:
                    read.update(variable for variable, _ in effect.conditions)
        grown = len(read) > before
    kept = [
        range(len(variable.values)) if number in read else [variable.initial]
        for number, variable in enumerate(task.variables)
    ]
    return _Renumbering(task, kept).task(task, task.operators)


# ---- commands that only wait --------------------------------------------------------------------


def _without_waiting(task: Task) -> Task:
    """Without commands that can be given only where `pass` can, cost as much and do the same."""
    waits = [one for one in task.operators if one.command is not None and one.command.is_pass]
    kept = tuple(
        operator
        for operator in task.operators
        if not any(_does_no_more(operator, wait) for wait in waits if wait is not operator)
    )
    return replace(task, operators=kept)


def _does_no_more(operator: Operator, wait: Operator) -> bool:
    if operator.command is None or operator.command.is_pass or operator.cost < wait.cost:
        return False
    if set(operator.effects) != set(wait.effects):
        return False
    needed = dict(operator.precondition)
    return all(
        variable in needed and set(needed[variable]) <= set(positions)
        for variable, positions in wait.precondition
    )


# ---- equivalent values ------------------------------------------------------------------------

Group = dict[int, int]
"""The effect of an operator under fixed other conditions: the new value for each old one."""


def merged_values(task: Task) -> Task:
    """The same task with alike values of each variable made one.

    Two values of a variable are alike if every condition takes both or neither, and every operator
    that changes the variable leads them to values that are alike. The coarsest such partition is
    found by splitting classes until nothing more splits.
    """
    told: dict[int, dict[tuple[int, ...], None]] = defaultdict(dict)
    for literals in (task.goal, *(operator.precondition for operator in task.operators)):
        for number, positions in literals:
            told[number][positions] = None
    for number, variable in enumerate(task.variables):
        if len(variable.values) > 2 and variable.kind != "token":
            classes = _classes(task, number, told[number])
            if len(set(classes)) < len(classes):
                task = _quotient(task, number, classes)
    return task


def _classes(task: Task, number: int, told: Collection[tuple[int, ...]]) -> list[int]:
    """The class of each value of a variable: its least member. ``told`` are the positions that the
    goal and preconditions ask for; where they tell all values apart, nothing else is looked at."""
    size = len(task.variables[number].values)
    signatures: list[list[Hashable]] = [
        [value in positions for positions in told] for value in range(size)
    ]
    if len(set(map(tuple, signatures))) == size:
        return list(range(size))
    moves: list[Group] = []
    for operator in task.operators:
        for (target, _), group in _groups(operator, number, size).items():
            if target == number:
                moves.append(group)
            else:
                for value, column in enumerate(signatures):
                    column.append(group.get(value))
    return _refined([tuple(column) for column in signatures], moves)


def _groups(
    operator: Operator, number: int, size: int
) -> dict[tuple[int, tuple[Literal, ...]], Group]:
    """The effects that read or change a variable, by their change and their other conditions."""
    found: dict[tuple[int, tuple[Literal, ...]], Group] = defaultdict(dict)
    for effect in operator.effects:
        own = [positions for variable, positions in effect.conditions if variable == number]
        if not own and effect.variable != number:
            continue
        rest = tuple(one for one in effect.conditions if one[0] != number)
        group = found[effect.variable, rest]
        for value in own[0] if own else range(size):
            group[value] = effect.value
    return found


def _refined(signatures: list[tuple[Hashable, ...]], moves: list[Group]) -> list[int]:
    """Split classes by where the moves lead until they lead alike everywhere."""
    classes = _numbered(list(signatures))
    while True:
        keys: list[Hashable] = []
        for value, own in enumerate(classes):
            keys.append((own, tuple(classes[group.get(value, value)] for group in moves)))
        finer = _numbered(keys)
        if len(set(finer)) == len(set(classes)):
            return finer
        classes = finer


def _numbered(keys: list[Hashable]) -> list[int]:
    """Each key replaced by the first position where it occurs."""
    first: dict[Hashable, int] = {}
    return [first.setdefault(key, position) for position, key in enumerate(keys)]


def _quotient(task: Task, number: int, classes: list[int]) -> Task:
    """The task with one value per class; effects that have become one are put together."""
    members = sorted(set(classes))
    place = {old: members.index(own) for old, own in enumerate(classes)}
    variable = task.variables[number]
    smaller = replace(
        variable,
        values=tuple(variable.values[one] for one in members),
        initial=place[variable.initial],
    )

    def literals(old: tuple[Literal, ...]) -> tuple[Literal, ...]:
        return tuple(
            (one, tuple(sorted({place[position] for position in positions})))
            if one == number
            else (one, positions)
            for one, positions in old
        )

    def effects(operator: Operator) -> tuple[Effect, ...]:
        made = (
            Effect(
                literals(effect.conditions),
                effect.variable,
                place[effect.value] if effect.variable == number else effect.value,
            )
            for effect in operator.effects
        )
        return _united(list(dict.fromkeys(made)), number, len(members))

    variables = tuple(
        smaller if index == number else one for index, one in enumerate(task.variables)
    )
    operators = tuple(
        replace(one, precondition=literals(one.precondition), effects=effects(one))
        for one in task.operators
    )
    return Task(variables, operators, literals(task.goal))


def _united(effects: list[Effect], number: int, size: int) -> tuple[Effect, ...]:
    """Effects that differ only in the values they ask of a variable, put together."""
    found: dict[tuple[tuple[Literal, ...], int, int], list[tuple[int, ...]]] = {}
    for effect in effects:
        own = [positions for variable, positions in effect.conditions if variable == number]
        rest = tuple(one for one in effect.conditions if one[0] != number)
        asked = own[0] if own else tuple(range(size))
        found.setdefault((rest, effect.variable, effect.value), []).append(asked)
    made = []
    for (rest, variable, value), sets in found.items():
        positions = tuple(sorted({one for asked in sets for one in asked}))
        if variable == number and len(positions) < size:  # it has the value without an effect
            positions = tuple(one for one in positions if one != value)
        if positions:
            own_ = ((number, positions),) if len(positions) < size else ()
            made.append(Effect(tuple(sorted((*rest, *own_))), variable, value))
    return tuple(made)
