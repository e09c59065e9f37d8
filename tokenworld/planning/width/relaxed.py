"""Which facts matter for a goal: those of a plan in which nothing is ever undone.

From one state, rules are applied to all values that slots are known to get, round by round, until
a goal line can hold; the facts that this rests on are the *relevant* ones (the relaxed plan of FF,
Hoffmann and Nebel 2001, on the rules of the model instead of a grounded task). Laws and long
actions count as actions, luck as choice, and two newborns stand for all objects of a type that play
creates. None of it has to be exact: the facts order a search, and prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Generic

from tokenworld.ground import Instance, Raw, Simulator, StateT, conjuncts
from tokenworld.model import (
    ROOT,
    Action,
    BoolType,
    Draw,
    Ending,
    Law,
    Let,
    NumberType,
    Program,
    Require,
    Term,
    body_terms,
    fluents_read,
)
from tokenworld.planning.lower.algebra import ALIVE, COIN, DID, LONG, RING, Refused, Slot
from tokenworld.planning.lower.bodies import Bodies, Effects, Write, written_fluents
from tokenworld.planning.lower.diagram import Mark, Value
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.terms import Env, Terms
from tokenworld.planning.lower.units import (
    Unit,
    actions_of,
    body_of,
    laws_of,
    leading_guards,
    opened,
)
from tokenworld.planning.lower.values import inside, stopped, summed
from tokenworld.planning.width.costs import FREE, CostAlgebra, Costs, Fact, Way, together
from tokenworld.planning.width.relevant import Relevant, objects_among, with_newborns

__all__ = ["Relaxation"]

_MOST_ROUNDS = 400
_MOST_VISITS = 60_000
"""So many rules are looked at from one state at most."""
_MOST_VALUES = 400
"""So many values one slot gathers at most."""
_MOST_POINTING = 2_000
_MOST_SPLIT = 200


class Relaxation(Generic[StateT]):
    """Finds the relevant facts from one state after another. ``visits`` counts the work."""

    def __init__(self, simulator: Simulator[StateT], lines: Sequence[Ending]) -> None:
        self._simulator, self._lines = simulator, lines
        self._reads = dict(_reads(simulator.instance.program))
        self._instance: Instance | None = None
        self._units: tuple[Unit, ...] = ()
        self.visits = 0

    def relevant(self, state: StateT) -> Relevant:
        """The facts that matter on the way from a state to the nearest goal line."""
        simulator, instance = self._simulator, self._simulator.instance_at(state)
        larger, newborn = with_newborns(instance)

        def read(fluent: str, args: Sequence[Raw]) -> Raw:
            kind = instance.program.fluents[fluent]
            if any(arg in newborn for arg in objects_among(kind, args)):
                return Facts.default(kind)
            return simulator.read(state, fluent, args)

        facts = Facts(larger, read, simulator.tick(state), simulator.running(state))
        found: tuple[Fact, ...] = ()
        try:
            if self._instance is None or self._instance.members != instance.members:
                self._units = (*actions_of(facts), *laws_of(facts))
                self._instance = instance
            growth = _Growth(facts, self._units, self._reads, newborn)
            found = growth.towards(self._lines)
            self.visits += growth.visits
        except Refused:
            self.visits += _MOST_VISITS
        return Relevant(found, newborn, frozenset(instance.members[ROOT]))


def _reads(program: Program) -> Iterator[tuple[str, frozenset[str]]]:
    """The fluents on which what a rule does depends."""
    for action in program.actions.values():
        guards = [one.value if isinstance(one, Let) else one.condition for one in action.guards]
        yield f"action {action.name}", _read_by(program, action, guards)  # type: ignore[arg-type]
    for law in program.laws.values():
        yield f"law {law.name}", _read_by(program, law, [] if law.when is None else [law.when])


def _read_by(program: Program, rule: Action | Law, conditions: list[Term]) -> frozenset[str]:
    births = (birth.body for birth in program.births)
    terms = [term for body in (rule.body, *births) for term in body_terms(body)]
    return fluents_read([*conditions, *terms], program.derives) | written_fluents(rule.body)


class _Growth:
    """The values that slots gather from one state on, each with the way in which it came first."""

    def __init__(
        self,
        facts: Facts,
        units: Sequence[Unit],
        reads: Mapping[str, frozenset[str]],
        newborn: Mapping[int, str],
    ) -> None:
        self._facts, self._units, self._reads, self._newborn = facts, units, reads, newborn
        self._known: dict[Slot, dict[Value, Way]] = {}
        self._came: dict[Fact, Way] = {}
        self._algebra = CostAlgebra(self._slot)
        self._terms: Terms[Costs] = Terms(facts, self._algebra)
        by_type: dict[str, list[int]] = {}
        for number, of in newborn.items():
            by_type.setdefault(of, []).append(number)
        self._bodies: Bodies[Costs] = Bodies(
            self._terms, lambda slot, size: Costs(None), lambda of: by_type.get(of, ())
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
        """What those parts of the first goal line take that can hold at all."""
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
        """Look at all rules that read what has grown; the fluents that grow by that."""
        self._terms.forget()
        new: dict[Fact, Way] = {}
        for unit in self._units:
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
        """What a rule may bring about."""
        for env, held in self._openings(unit):
            try:
                effects = self._effects(unit, env)
            except Refused:
                continue
            yield from self._brought(effects, held)

    def _openings(self, unit: Unit) -> list[tuple[Env[Costs], Way]]:
        """How a rule may come to run: the names that its body sees, and what that takes.

        Each value of a ``let`` is a way of its own, so that what is read off it fits together.
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
        ways: list[tuple[Env[Costs], Way]] = [(Env(dict(names)), exist)]
        for one in leading_guards(rule):
            ways = [
                (env, together(way, more))
                for before, way in ways
                for env, more in self._guarded(one, before, len(ways))
            ]
        return ways

    def _guarded(
        self, guard: Require | Let, env: Env[Costs], ways: int
    ) -> Iterator[tuple[Env[Costs], Way]]:
        """The ways past one line of an action's guards."""
        if isinstance(guard, Require):
            held = self._algebra.held(self._terms.condition(guard.condition, env))
            if held is not None:
                yield env, held
            return
        drawn = isinstance(guard.value, Draw)
        value = Costs(None) if drawn else self._terms.value(guard.value, env)  # type: ignore[arg-type]
        if value.ways is None or len(value.ways) * ways > _MOST_SPLIT:
            yield env.bind(guard.name, value), FREE
            return
        for one, way in value.ways.items():
            yield env.bind(guard.name, self._algebra.const(one)), way

    def _brought(self, effects: Effects[Costs], held: Way) -> Iterator[tuple[Fact, Way]]:
        """What the changes of a rule come to that may run in this way."""
        algebra = self._algebra
        for write in effects.writes:
            condition = algebra.held(write.condition)
            if condition is not None:
                yield from self._written(write, together(held, condition))
        for number, doomed in effects.dooms:
            gone = algebra.held(doomed)
            if gone is not None:
                yield from self._destroyed(number, _later(together(held, gone)))

    def _effects(self, unit: Unit, env: Env[Costs]) -> Effects[Costs]:
        key = unit.draw_key(self._facts)
        return self._bodies.run(body_of(unit), env, self._terms.true, key, lambda slot: True)

    def _written(self, write: Write[Costs], way: Way) -> Iterator[tuple[Fact, Way]]:
        slot, values = write.slot, write.value
        if write.op == "inc":
            values = self._algebra.lift("sum", summed, self._algebra.slot(slot, False), values)
        for value, other in (values.ways or {}).items():
            stored = value if slot[0] == ALIVE else self._stored(slot, value)
            if not isinstance(stored, Mark):
                yield (slot, stored), _later(together(way, other))

    def _stored(self, slot: Slot, value: Value) -> Value:
        """A value as its slot keeps it; a mark where it cannot."""
        fluent = self._facts.program.fluents[slot[0]]
        if isinstance(fluent.type, BoolType):
            return value if isinstance(value, Mark) else value is True
        if isinstance(fluent.type, NumberType):
            if fluent.clamped:
                return stopped(value, fluent.type)
            return value if inside(value, fluent.type) else Mark.OUTSIDE
        return value

    def _destroyed(self, number: int, way: Way) -> Iterator[tuple[Fact, Way]]:
        """An object goes; what pointed at it points at nothing."""
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
        if name == RING and isinstance(args[0], int):
            return dict.fromkeys(range(args[0]), FREE)
        return self._values(slot)

    def _values(self, slot: Slot) -> dict[Value, Way]:
        if slot not in self._known:
            name, args = slot
            first: Value = self._facts.initial(slot)
            if name == ALIVE:
                first = args[0] not in self._newborn
            self._known[slot] = {first: FREE}
        return self._known[slot]


def _later(way: Way) -> Way:
    """What comes one step after the facts of a way."""
    return Way(way.cost + 1, way.facts)
