"""Pack a plain world straight from its ground actions (see `lower.encode`).

The mutex groups are known from the rules; no operator is examined to find them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from tokenworld.ground import Command, Raw
from tokenworld.planning.encodings.ir import Effect, Literal, Operator, Task, Variable, command_of
from tokenworld.planning.grounding.task import GroundOperator, GroundTask, Pair
from tokenworld.planning.lower.algebra import Slot
from tokenworld.planning.lower.diagram import Explosion
from tokenworld.planning.lower.encode import grounded, in_order, plain_goal
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.terms import decimals_of
from tokenworld.planning.lower.ticks import ACT
from tokenworld.planning.lower.world import TakenApart
from tokenworld.planning.search.packed.bits import Packing, Test
from tokenworld.planning.search.packed.dependencies import Dependencies
from tokenworld.planning.search.packed.successors import OperatorPacker, Phases
from tokenworld.planning.search.packed.world import (
    BROKEN,
    LOST,
    OVER,
    PLAYING,
    WON,
    Ends,
    Fused,
    Packed,
)

_TOKEN = Variable("turn", "token", ("act", "must"), ACT)
"""Each variable of the ground task comes after this one."""
_MOST_OPERATORS = 25_000
"""The decision tree of so many operators takes some seconds to build."""
_ACTING: Literal = (0, (ACT,))
_ACTED = Effect((), 0, ACT)


def plain_packed(
    facts: Facts, goal: str | None, waits: bool, taken_apart: Callable[[], TakenApart]
) -> Packed | None:
    """The packed states of a plain world; ``None`` where it is none. ``waits``: `pass` is a
    command; ``taken_apart`` works out what only questions about single rules need. Raises
    `Explosion` where it has too many operators."""
    line = plain_goal(facts, goal)
    made = None if line is None or waits else grounded(facts, line, grouped=True, whole=True)
    if made is None or made.goal is None:
        return None
    if len(made.operators) > _MOST_OPERATORS:
        raise Explosion(len(made.operators), late=True)
    return _Packing(facts, made).packed(taken_apart)


class _Packing:
    """One ground task on the way to packed states."""

    def __init__(self, facts: Facts, made: GroundTask) -> None:
        self._facts, self._made = facts, made
        self._held = [len(group) for group in made.variables]
        self._operators = [self._operator(one) for one in in_order(facts, made)]

    def packed(self, taken_apart: Callable[[], TakenApart]) -> Packed:
        facts, fused = self._facts, self._fused()
        packing = Packing(fused.task.variables)
        packer = OperatorPacker(packing, 0, None, None)
        way = self._goal()
        places = {slot: fused.places[number][0] for number, slot in enumerate(self._slots(), 1)}
        priced = any(action.cost is not None for action in facts.rules.actions.values())
        numbers = tuple(range(len(self._operators)))
        return Packed(
            self._singles(),
            fused,
            packing,
            packing.pack(fused.task.initial),
            tuple(command_of(one) for one in self._operators),
            packer.successor_generator(list(enumerate(self._operators))),
            _ends(packing.test(way)),
            ((BROKEN, ()), (WON, (way,)), (LOST, ()), (OVER, ())),
            0,
            _LazyDependencies(taken_apart, places, packing),
            True,
            named={number: self._about(slot) for number, slot in enumerate(self._slots(), 1)},
            numbers=numbers,
            prices=self._prices() if priced else (1,) * len(numbers),
        )

    def _slots(self) -> list[Slot]:
        return [fact for group in self._made.variables for fact in group]

    def _about(self, slot: Slot) -> frozenset[int]:
        return frozenset(self._facts.objects_in(slot))

    def _prices(self) -> tuple[int, ...] | None:
        """The cost of each command; ``None`` where costs are written with different decimals."""
        costs = [one.cost for one in self._facts.rules.actions.values() if one.cost is not None]
        if len({decimals_of(cost.type) for cost in costs}) > 1:
            return None
        return tuple(one[6] for one in in_order(self._facts, self._made))

    # ---- variables ----------------------------------------------------------------------------

    def _singles(self) -> Task:
        """The variables of single facts."""
        facts, made = self._facts, self._made
        singles = tuple(
            Variable(facts.slot_name(fact), "slot", (False, True), int(first == place), *fact)
            for group, first in zip(made.variables, made.initial, strict=True)
            for place, fact in enumerate(group)
        )
        return Task((_TOKEN, *singles), (), ())

    def _fused(self) -> Fused:
        facts, made = self._facts, self._made
        variables, places = [_TOKEN], [(0, -1)]
        for number, (group, first) in enumerate(zip(made.variables, made.initial, strict=True), 1):
            name = " or ".join(facts.slot_name(fact) for fact in group[:2])
            values: tuple[Raw, ...] = tuple(range(len(group) + 1))
            variables.append(Variable(name, "slot", values, first))
            places += [(number, place) for place in range(len(group))]
        task = Task(tuple(variables), tuple(self._operators), ())
        return Fused(task, tuple(places))

    # ---- operators ----------------------------------------------------------------------------

    def _operator(self, one: GroundOperator) -> Operator:
        name, args, held, lacked, made, gone, _ = one
        condition = [_ACTING, *(((number + 1), (value,)) for number, value in held)]
        condition += [self._not(pair) for pair in lacked]
        effects = [_ACTED, *(Effect((), number + 1, value) for number, value in made)]
        effects += [self._lost(pair, held) for pair in gone]
        return Operator(name, _joined(condition), tuple(effects), 1, Command(name, args))

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
        assert self._made.goal is not None
        held, lacked = self._made.goal
        found = [(number + 1, (value,)) for number, value in held]
        return _joined([*found, *(self._not(pair) for pair in lacked)])


def _ends(test: Test) -> Ends:
    """The function that gives the kind of a state; most goals are one test of some bits."""
    if test.sets:
        return lambda state: WON if test.holds(state) else PLAYING
    care, want = test.care, test.want
    return lambda state: WON if state & care == want else PLAYING


def _joined(literals: list[Literal]) -> tuple[Literal, ...]:
    """One literal for each variable."""
    found: dict[int, tuple[int, ...]] = {}
    for number, places in literals:
        known = found.get(number)
        found[number] = places if known is None else tuple(p for p in known if p in places)
    return tuple(sorted(found.items()))


class _LazyDependencies(Dependencies):
    """The bits that decide questions, where the world is only taken apart once somebody asks."""

    def __init__(
        self, taken_apart: Callable[[], TakenApart], variables: Mapping[Slot, int], packing: Packing
    ) -> None:
        self._taken_apart = taken_apart
        self._variables, self._packing = variables, packing
        self._phases, self._places = Phases(packing, 0, [], []), {}

    @cached_property
    def _world(self) -> TakenApart:  # type: ignore[override]
        return self._taken_apart()

    def law(self, law: str) -> int | None:
        return 0

    def draws(self, command: Command) -> int | None:
        return 0

    def draws_of_laws(self) -> int | None:
        return 0
