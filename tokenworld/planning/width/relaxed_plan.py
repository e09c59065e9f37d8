"""The facts that matter for a goal: those of a plan without deletions.

From one state, rules are applied to all known values of slots, round by round, until a goal line
can hold; the facts that it depends on are the *relevant* ones (the relaxed plan of FF, Hoffmann and
Nebel 2001, on the rules of the model instead of a grounded task). Laws and long actions count as
actions, luck as choice, and two newborns represent all objects of a type that play creates. The
result need not be exact: the facts order a search, and prove nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Generic, NamedTuple

from tokenworld.core import Rules, lowered
from tokenworld.core.nodes import BranchDraw, Let, PickDraw, Require, UniformDraw
from tokenworld.core.rules import Ending, Law
from tokenworld.core.walk import conjuncts
from tokenworld.ground import Instance, Raw, Simulator, StateT
from tokenworld.model import ROOT, BoolType, NumberType, ObjectType
from tokenworld.planning.lower.algebra import (
    ALIVE,
    AWARD,
    COIN,
    DID,
    LONG,
    RING,
    Env,
    Mark,
    Refused,
    Slot,
    Universe,
    Value,
)
from tokenworld.planning.lower.bodies import Bodies, Change, Effects
from tokenworld.planning.lower.facts import Facts, created_in, enlarged
from tokenworld.planning.lower.terms import Terms
from tokenworld.planning.lower.units import (
    Unit,
    actions_of,
    body_of,
    cancelled_of,
    laws_of,
    leading_guards,
    opened,
)
from tokenworld.planning.lower.values import inside, stopped, summed

# ---- Costs of values ----------------------------------------------------------------------------
# A fourth algebra beside diagrams, sets of values and grades (`lower.algebra`): each value comes
# with a *way*, the facts it depends on and what these cost. Slots gather values and never lose one,
# as in Francès and Geffner, *Modeling and Computation in Planning: Better Heuristics from More
# Expressive Languages* (ICAPS 2015); of two ways to a value the cheaper one stays, costs are added
# up (h-add).

Fact = tuple[Slot, Value]
"""A slot that holds a value."""
_MOST = 4_000
"""The largest number of combinations of values that are evaluated."""


class Way(NamedTuple):
    """A way to make a fact true: its cost, and the facts that it needs."""

    cost: int
    facts: frozenset[Fact]


FREE = Way(0, frozenset())


def together(*ways: Way) -> Way:
    """All of these at once."""
    if len(ways) == 2:
        one, other = ways
        if one is FREE:
            return other
        return one if other is FREE else Way(one.cost + other.cost, one.facts | other.facts)
    paid = [way for way in ways if way is not FREE]
    if len(paid) < 2:
        return paid[0] if paid else FREE
    return Way(sum(way.cost for way in paid), frozenset().union(*(way.facts for way in paid)))


class Costs:
    """The values that something can have, each with the cheapest known way.

    Two of them are equal if their values cost the same; ``ways`` is ``None`` if nothing is known.
    """

    __slots__ = ("ways",)

    def __init__(self, ways: Mapping[Value, Way] | None) -> None:
        self.ways = ways

    def __hash__(self) -> int:
        if self.ways is not None and len(self.ways) == 1:
            return hash(next(iter(self.ways)))
        return hash(None if self.ways is None else frozenset(self.ways))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Costs):
            return NotImplemented
        if self is other or self.ways is None or other.ways is None:
            return self.ways is other.ways
        return _prices(self.ways) == _prices(other.ways)


def _prices(ways: Mapping[Value, Way]) -> dict[Value, int]:
    return {value: way.cost for value, way in ways.items()}


def _cheapest(pairs: Iterable[tuple[Value, Way]]) -> Costs:
    """Of ways to the same value the cheapest, the first of those."""
    ways: dict[Value, Way] = {}
    for value, way in pairs:
        known = ways.get(value)
        if known is None or way.cost < known.cost:
            ways[value] = way
    return Costs(ways)


_UNKNOWN = Costs(None)


class CostAlgebra:
    """Evaluation on the values that slots can get so far. ``slots`` gives the values of one."""

    def __init__(self, slots: Callable[[Slot], Mapping[Value, Way] | None]) -> None:
        self._slots = slots
        self._truth, self._lie = Costs({True: FREE}), Costs({False: FREE})

    def const(self, value: Value) -> Costs:
        if value is True or value is False:
            return self._truth if value else self._lie
        return Costs({value: FREE})

    def lift(self, key: Hashable, function: Callable[..., Value], *operands: Costs) -> Costs:
        known = [one.ways for one in operands if one.ways is not None]
        if len(known) < len(operands) or prod(len(one) for one in known) > _MOST:
            return _UNKNOWN
        if key == "truth" and all(value is True or value is False for value in known[0]):
            return operands[0]
        if len(known) == 1:
            pairs = [(function(value), way) for value, way in known[0].items()]
            return Costs(dict(pairs)) if len(pairs) == 1 else _cheapest(pairs)
        if len(known) == 2:
            left, right = known
            return _cheapest(
                (function(value, other), together(way, more))
                for value, way in left.items()
                for other, more in right.items()
            )
        return _cheapest(
            (function(*(value for value, _ in chosen)), together(*(way for _, way in chosen)))
            for chosen in product(*(one.items() for one in known))
        )

    def bind(self, operand: Costs, universe: Universe, function: Callable[[Raw], Costs]) -> Costs:
        ways = operand.ways
        if ways is None:
            values = universe()
            ways = None if values is None else dict.fromkeys(values, FREE)
        if ways is None:
            return _UNKNOWN
        found: list[tuple[Value, Way]] = []
        for value, way in ways.items():
            made = Costs({value: FREE}) if isinstance(value, Mark) else function(value)
            if way is FREE and len(ways) == 1:
                return made
            if made.ways is None:
                return _UNKNOWN
            found += ((one, together(way, other)) for one, other in made.ways.items())
        return _cheapest(found)

    def both(self, left: Costs, right: Callable[[], Costs]) -> Costs:
        held = self.held(left)
        return self._decided(left, True, right) if held is not None else self._lie

    def either(self, left: Costs, right: Callable[[], Costs]) -> Costs:
        failed = _failing(left)
        return self._decided(left, False, right) if failed is not None else self._truth

    def _decided(self, left: Costs, truth: bool, right: Callable[[], Costs]) -> Costs:
        """``right()`` where the left side is of this truth, and the other truth where it is not."""
        on, off = (self.held(left), _failing(left))
        on, off = (on, off) if truth else (off, on)
        found: list[tuple[Value, Way]] = [] if off is None else [(not truth, off)]
        if on is not None:
            other = right()
            for value, way in ((True, self.held(other)), (False, _failing(other))):
                if way is not None:
                    found.append((value, together(on, way)))
        return _cheapest(found)

    def held(self, condition: Costs) -> Way | None:
        """The cheapest way in which a condition comes true."""
        return FREE if condition.ways is None else condition.ways.get(True)

    def negate(self, condition: Costs) -> Costs:
        pairs = ((False, self.held(condition)), (True, _failing(condition)))
        return _cheapest((value, way) for value, way in pairs if way is not None)

    def choose(
        self, condition: Costs, then: Callable[[], Costs], otherwise: Callable[[], Costs]
    ) -> Costs:
        found: list[tuple[Value, Way]] = []
        for way, branch in ((self.held(condition), then), (_failing(condition), otherwise)):
            if way is None:
                continue
            made = branch()
            if made.ways is None:
                return _UNKNOWN
            found += ((value, together(way, other)) for value, other in made.ways.items())
        return _cheapest(found)

    def possible(self, operand: Costs, universe: Universe) -> Sequence[Raw] | None:
        if operand.ways is None:
            return universe()
        return [value for value in operand.ways if not isinstance(value, Mark)]

    def single(self, operand: Costs) -> tuple[Raw, ...]:
        return ()  # what it costs belongs to it

    def never(self, condition: Costs) -> bool:
        return self.held(condition) is None

    def slot(self, slot: Slot, was: bool) -> Costs:
        return Costs(self._slots(slot))

    def refuse(self, refused: Refused) -> Costs:
        return _UNKNOWN


def _failing(condition: Costs) -> Way | None:
    """The cheapest way in which a condition does not hold."""
    if condition.ways is None:
        return FREE
    found = None
    for value, way in condition.ways.items():
        if value is not True and (found is None or way.cost < found.cost):
            found = way
    return found


# ---- Facts to look out for ----------------------------------------------------------------------
# Objects yet to be created have no numbers: two *newborns* of each type represent them (two,
# as rules may ask for one and another), and a fact about one holds in a state if it holds of any
# object that was created since.

_NEWBORNS = 2


@dataclass(frozen=True, slots=True)
class Relevant:
    """Facts to look out for. ``newborn`` are the numbers that represent objects yet to be created,
    with their types; ``born`` are the objects that lived before."""

    facts: tuple[Fact, ...]
    newborn: Mapping[int, str]
    born: frozenset[int]

    def held(self, simulator: Simulator[StateT], state: StateT) -> int:
        """The facts that a state has, as bits."""
        members = simulator.instance_at(state).members if self.newborn else {}
        new = {
            number: [one for one in members[of] if one not in self.born]
            for number, of in self.newborn.items()
        }
        found = 0
        for place, (slot, value) in enumerate(self.facts):
            if self._holds(simulator, state, slot, value, new):
                found |= 1 << place
        return found

    def _holds(
        self,
        simulator: Simulator[StateT],
        state: StateT,
        slot: Slot,
        value: Value,
        new: Mapping[int, Sequence[int]],
    ) -> bool:
        name, args = slot
        if name == ALIVE:
            (number,) = args
            if isinstance(number, int) and number in new:
                return bool(new[number])
            return (number in simulator.instance_at(state).members[ROOT]) is value
        fluent = simulator.instance.program.fluents[name]
        stands = isinstance(fluent.type, ObjectType)
        wanted = new[value] if stands and isinstance(value, int) and value in new else (value,)
        kinds = [isinstance(one.type, ObjectType) for one in fluent.params]
        choices = [
            new[arg] if kind and isinstance(arg, int) and arg in new else (arg,)
            for arg, kind in zip(args, kinds, strict=True)
        ]
        return any(simulator.read(state, name, one) in wanted for one in product(*choices))


def with_newborns(instance: Instance) -> tuple[Instance, dict[int, str]]:
    """The instance with two more objects of each type that play creates, and their numbers."""
    made = dict.fromkeys(one.of for one in created_in(lowered(instance.program)))
    if not made:
        return instance, {}
    return enlarged(instance, [of for of in made for _ in range(_NEWBORNS)])


# ---- Relaxed plans ------------------------------------------------------------------------------

_MOST_ROUNDS = 400
_MOST_VISITS = 60_000
"""So many rules are looked at from one state at most."""
_MOST_VALUES = 400
"""So many values one slot gathers at most."""
_MOST_POINTING = 2_000
_MOST_SPLIT = 200
_MOST_POPULATIONS = 8
"""For so many sets of living objects the bound rules are kept."""


class Relaxation(Generic[StateT]):
    """Finds the relevant facts from one state after another. ``visits`` counts the work."""

    def __init__(self, simulator: Simulator[StateT], lines: Sequence[Ending]) -> None:
        self._simulator, self._lines = simulator, lines
        self._reads = dict(_reads(lowered(simulator.instance.program)))
        self._units: dict[Hashable, tuple[Unit, ...]] = {}
        self._failed: dict[Unit, Require] = {}
        self.visits = 0

    def relevant(self, state: StateT) -> Relevant:
        """The facts that matter on the way from a state to the nearest goal line."""
        simulator, instance = self._simulator, self._simulator.instance_at(state)
        larger, newborn = with_newborns(instance)

        def read(fluent: str, args: Sequence[Raw]) -> Raw:
            return simulator.read(state, fluent, args)

        running = simulator.running(state)
        facts = Facts(larger, read, simulator.tick(state), running, unborn=newborn)
        found: tuple[Fact, ...] = ()
        try:
            units = self._units_of(facts)
            growth = _Growth(facts, units, self._reads, self._failed)
            found = growth.towards(self._lines)
            self.visits += growth.visits
        except Refused:
            self.visits += _MOST_VISITS
        return Relevant(found, newborn, frozenset(instance.members[ROOT]))

    def _units_of(self, facts: Facts) -> tuple[Unit, ...]:
        """The bound rules of a state, kept for other states with the same objects."""
        key = tuple(facts.instance.members.items())
        if key not in self._units:
            if len(self._units) == _MOST_POPULATIONS:
                self._units.clear()
                self._failed.clear()
            self._units[key] = tuple(_useful(facts))
        return self._units[key]


def _useful(facts: Facts) -> Iterator[Unit]:
    """The bound rules that can run in some state: guards on unchanging facts, such as types,
    hold."""
    fluents = facts.program.fluents.keys() - facts.changing

    def fixed(slot: Slot) -> Mapping[Value, Way] | None:
        return {facts.initial(slot): FREE} if slot[0] in fluents else None

    algebra = CostAlgebra(fixed)
    openings = _Openings(Terms(facts, algebra), algebra, {})
    actions = tuple(actions_of(facts))
    units = (*actions, *cancelled_of(actions).values(), *laws_of(facts))
    return (one for one in units if openings.of(one))


def _reads(rules: Rules) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each rule with the fluents on which its effects depend, births included."""
    born = frozenset[str]().union(*(one.footprint.touched for one in rules.births))
    for action in rules.actions.values():
        yield f"action {action.name}", action.footprint.touched | born
    for law in rules.laws.values():
        yield f"law {law.name}", law.footprint.touched | born


class _Openings:
    """The ways in which rules can run, by the known values of slots. ``failed`` keeps the require
    at which an action failed last: it is tested first the next time."""

    def __init__(
        self, terms: Terms[Costs], algebra: CostAlgebra, failed: dict[Unit, Require]
    ) -> None:
        self._terms, self._algebra, self._failed = terms, algebra, failed

    def of(self, unit: Unit) -> list[tuple[Env[Costs], Way]]:
        """Return the ways in which a rule can run: the names in its body, and the cost.

        Each value of a ``let`` is a way of its own, so that all reads of one way agree.
        """
        terms, algebra, rule = self._terms, self._algebra, unit.rule
        exist = algebra.held(terms.exist(unit.params, unit.args))
        if exist is None:
            return []
        if isinstance(rule, Law):
            env, guard = opened(terms, unit)
            held = algebra.held(guard)
            return [] if held is None else [(env, held)]
        names = zip((one.name for one in unit.params), map(algebra.const, unit.args), strict=True)
        first: Env[Costs] = Env(dict(names), actor=unit.actor)
        failed = self._failed.get(unit)
        if failed is not None and self._held(failed, first) is None:
            return []
        ways, alone = [(first, exist)], True
        for one in leading_guards(rule):
            ways = [
                (env, together(way, more))
                for before, way in ways
                for env, more in self._guarded(one, before, len(ways))
            ]
            alone = alone and isinstance(one, Require)
            if not ways and alone and isinstance(one, Require):
                self._failed[unit] = one
        return ways

    def _guarded(
        self, guard: Require | Let, env: Env[Costs], ways: int
    ) -> Iterator[tuple[Env[Costs], Way]]:
        """The ways past one line of an action's guards."""
        if isinstance(guard, Require):
            held = self._held(guard, env)
            if held is not None:
                yield env, held
            return
        if isinstance(guard.value, (BranchDraw, PickDraw, UniformDraw)):
            yield replace(env, names={**env.names, **dict.fromkeys(guard.names, Costs(None))}), FREE
            return
        (name,), value = guard.names, self._terms.value(guard.value, env)
        if value.ways is None or len(value.ways) * ways > _MOST_SPLIT:
            yield env.bind(name, value), FREE
            return
        for one, way in value.ways.items():
            yield env.bind(name, self._algebra.const(one)), way

    def _held(self, guard: Require, env: Env[Costs]) -> Way | None:
        return self._algebra.held(self._terms.condition(guard.condition, env))


class _Growth:
    """The values that slots gather from one state on, each with the way in which it came first."""

    def __init__(
        self,
        facts: Facts,
        units: Sequence[Unit],
        reads: Mapping[str, frozenset[str]],
        failed: dict[Unit, Require],
    ) -> None:
        self._facts, self._units, self._reads = facts, units, reads
        self._known: dict[Slot, dict[Value, Way]] = {}
        self._came: dict[Fact, Way] = {}
        self._algebra = CostAlgebra(self._slot)
        self._terms: Terms[Costs] = Terms(facts, self._algebra)
        self._openings = _Openings(self._terms, self._algebra, failed)
        self._bodies: Bodies[Costs] = Bodies(
            self._terms, lambda slot, size: Costs(None), every=True
        )
        self.visits = 0

    def towards(self, lines: Sequence[Ending]) -> tuple[Fact, ...]:
        """The facts on which the nearest goal line rests, those that come first in front.

        Where nothing more grows before a line holds: those on which as much of it rests as can.
        """
        grown: frozenset[str] | None = None
        for _ in range(_MOST_ROUNDS):
            way = self._goal(lines)
            if way is not None:
                return self._behind(way)
            grown = self._round(grown)
            if not grown or self.visits > _MOST_VISITS:
                break
        return self._behind(self._goal(lines) or self._parts(lines))

    def _goal(self, lines: Sequence[Ending]) -> Way | None:
        """The cheapest way to a goal line."""
        self._terms.forget()
        ways = [self._algebra.held(self._terms.condition(one.condition, Env())) for one in lines]
        return min((way for way in ways if way is not None), key=lambda way: way.cost, default=None)

    def _parts(self, lines: Sequence[Ending]) -> Way:
        """The way to those parts of the first goal line that can hold at all."""
        parts = conjuncts(line.condition for line in lines[:1])
        ways = [self._algebra.held(self._terms.condition(one, Env())) for one in parts]
        return together(*(way for way in ways if way is not None))

    def _behind(self, way: Way) -> tuple[Fact, ...]:
        """All facts that had to come for these, by cost."""
        found: dict[Fact, int] = {}
        waiting = list(way.facts)
        while waiting:
            fact = waiting.pop()
            if fact not in found:
                found[fact] = self._came[fact].cost
                waiting += self._came[fact].facts
        return tuple(sorted(found, key=lambda fact: (found[fact], str(fact))))

    # ---- growing ----------------------------------------------------------------------------

    def _round(self, grown: frozenset[str] | None) -> frozenset[str]:
        """Apply the rules that read a fluent in ``grown``; return the fluents that get new
        values."""
        self._terms.forget()
        new: dict[Fact, Way] = {}
        for unit in self._units:
            if self.visits > _MOST_VISITS:
                break
            if grown is None or ALIVE in grown or self._reads[unit.title] & grown:
                self.visits += 1
                for fact, way in self._results(unit):
                    self._offer(new, fact, way)
        for fact, way in new.items():
            slot, value = fact
            self._came[fact] = way
            self._values(slot)[value] = Way(way.cost, frozenset((fact,)))
        return frozenset(slot[0] for slot, _ in new)

    def _offer(self, new: dict[Fact, Way], fact: Fact, way: Way) -> None:
        slot, value = fact
        known = self._values(slot)
        if value in known or len(known) > _MOST_VALUES:
            return
        if fact not in new or way.cost < new[fact].cost:
            new[fact] = way

    def _results(self, unit: Unit) -> Iterator[tuple[Fact, Way]]:
        """The facts that a rule may make true."""
        for env, held in self._openings.of(unit):
            try:
                effects = self._effects(unit, env)
            except Refused:
                continue
            yield from self._brought(effects, held)

    def _brought(self, effects: Effects[Costs], held: Way) -> Iterator[tuple[Fact, Way]]:
        """The facts that the changes of a rule make true, if it may run in this way."""
        algebra = self._algebra
        for write in effects.writes:
            condition = algebra.held(write.condition)
            if condition is not None:
                yield from self._written(write, together(held, condition))
        for number, destroyed in effects.destroyed:
            gone = algebra.held(destroyed)
            if gone is not None:
                yield from self._destroyed(number, _later(together(held, gone)))

    def _effects(self, unit: Unit, env: Env[Costs]) -> Effects[Costs]:
        key = unit.draw_key(self._facts)
        return self._bodies.run(body_of(unit), env, self._terms.true, key, lambda slot: True)

    def _written(self, write: Change[Costs], way: Way) -> Iterator[tuple[Fact, Way]]:
        slot, values = write.slot, write.value
        if write.op == "+":
            values = self._algebra.lift("sum", summed, self._algebra.slot(slot, False), values)
        for value, other in (values.ways or {}).items():
            stored = value if slot[0] == ALIVE else self._stored(slot, value)
            if not isinstance(stored, Mark):
                yield (slot, stored), _later(together(way, other))

    def _stored(self, slot: Slot, value: Value) -> Value:
        """A value converted for its slot; a `Mark` if the slot cannot hold it."""
        fluent = self._facts.program.fluents[slot[0]]
        if isinstance(fluent.type, BoolType):
            return value if isinstance(value, Mark) else value is True
        if isinstance(fluent.type, NumberType):
            if fluent.clamped:
                return stopped(value, fluent.type)
            return value if inside(value, fluent.type) else Mark.OUTSIDE
        return value

    def _destroyed(self, number: int, way: Way) -> Iterator[tuple[Fact, Way]]:
        """Destroy an object; references to it become `none`."""
        yield ((ALIVE, (number,)), False), way
        for fluent in self._facts.pointing(number):
            arguments = self._facts.arguments(fluent)
            if prod(len(one) for one in arguments) > _MOST_POINTING:
                continue
            for args in product(*arguments):
                slot = self._facts.slot(fluent, args)
                if number in self._values(slot):
                    yield (slot, None), together(way, self._values(slot)[number])

    # ---- slots ------------------------------------------------------------------------------

    def _slot(self, slot: Slot) -> Mapping[Value, Way] | None:
        name, args = slot
        if name in (LONG, DID, COIN):
            return None
        if name == AWARD:
            return dict.fromkeys((False, True), FREE)
        if name == RING and isinstance(args[0], int):
            return dict.fromkeys(range(args[0]), FREE)
        return self._values(slot)

    def _values(self, slot: Slot) -> dict[Value, Way]:
        if slot not in self._known:
            self._known[slot] = {self._facts.initial(slot): FREE}
        return self._known[slot]


def _later(way: Way) -> Way:
    """The way that is one step longer."""
    return Way(way.cost + 1, way.facts)
