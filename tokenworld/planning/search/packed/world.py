"""A world as packed states: the applicable operators of a state, the states they lead to, and the
bits that decide questions about a state."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from itertools import product
from operator import itemgetter
from typing import TYPE_CHECKING

from tokenworld.core import Rules, lowered
from tokenworld.core.nodes import BranchDraw, Draw, Let, PickDraw, Statement, UniformDraw
from tokenworld.core.walk import statements_in
from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command, Instance, Raw, fixed_value
from tokenworld.model import Binder, Term
from tokenworld.planning.lower.algebra import (
    ALIVE,
    COIN,
    LONG,
    RING,
    Diagram,
    Env,
    Explosion,
    Refused,
    Slot,
)
from tokenworld.planning.lower.units import Unit, opened
from tokenworld.planning.lower.world import TakenApart
from tokenworld.planning.search.packed.successors import (
    STUCK,
    PackedOperator,
    Packing,
    Phases,
    SuccessorGenerator,
    Transition,
    traced,
)

if TYPE_CHECKING:
    from tokenworld.planning.task import Literal, Task

PLAYING, WON, LOST, OVER, BROKEN = range(5)
"""The kinds of states. ``OVER``: play ended at a goal that was not asked for; ``BROKEN``: an
invariant does not hold, so that no tick ends there."""
Ends = Callable[[int], int]
Running = tuple[Command, int, int]
"""A long action with the ticks done and the ticks it takes."""


@frozen
class Packed:
    """A world as packed states: those of ``task``.

    ``commands[n]`` is the command of operator n. Operators are numbered in the order in which the
    interpreter lists commands; of one command without draws at most one is applicable in a state.

    - ``choose`` lists the applicable operators; ``breaks`` those that first end a long action, and
      ``instead`` those that are applicable after that.
    - ``free``: numbers of operators that take no time; ``lucky``: of those with draws.
    - ``outcomes`` lists the states after the phases of the tick, where laws draw.
    - ``ends`` gives the kind of a state (`PLAYING` …), ``ways`` the conditions of each kind.
    - ``token`` is the variable of the current phase; ``parts`` are the dependency sets.
    - ``plain``: a tick is a command and nothing else, and play ends at the goal only.
    - ``stages`` are the values of the variable of the long action under way.
    - ``living``: objects that may be destroyed, with their variables; ``named``: the objects that a
      variable is about.
    - ``numbers[i]`` is the operator that operator i of the task became (-1: none).
    - ``groups``: the facts for the values of a variable that is not a single slot (its last value:
      none of them holds).
    - ``prices``: the cost of each operator, ``None`` where costs cannot be compared.
    - ``fails``: a draw may make a command fail, which shows part of the draws of its tick.
    """

    task: Task
    packing: Packing
    start: int
    commands: tuple[Command, ...]
    choose: SuccessorGenerator[PackedOperator]
    ends: Ends
    ways: tuple[tuple[int, tuple[tuple[Literal, ...], ...]], ...]
    token: int
    parts: Dependencies
    plain: bool
    free: frozenset[int] = frozenset()
    lucky: frozenset[int] = frozenset()
    outcomes: Callable[[int], list[int]] | None = None
    breaks: SuccessorGenerator[PackedOperator] | None = None
    instead: SuccessorGenerator[PackedOperator] | None = None
    stages: Mapping[Raw, Running] = field(default_factory=dict)
    living: tuple[tuple[int, int], ...] = ()
    named: Mapping[int, frozenset[int]] = field(default_factory=dict)
    numbers: tuple[int, ...] = ()
    prices: tuple[int, ...] | None = None
    fails: bool = False
    groups: Mapping[int, tuple[Slot, ...]] = field(default_factory=dict)

    @property
    def simple(self) -> bool:
        """Return whether a command has one outcome and ends no long action."""
        return self.breaks is None and not self.lucky

    def begun(self, state: int) -> list[tuple[int, int]]:
        """The applicable operators with the state before the phases of the tick."""
        return [(number, begun) for number, begun, _ in self._begun(state)]

    def moves(self, state: int) -> list[tuple[int, int]]:
        """The applicable operators in order, each with the state after the tick (which may be
        `BROKEN`); an operator occurs several times where chance decides."""
        found = list[tuple[int, int]]()
        if self.simple:
            for number, keep, put, rows, follow in self.choose(state):
                after = state & keep | put
                for mask, row in rows:
                    after |= row[state & mask]
                if follow is None or (after := follow(after)) != STUCK:
                    found.append((number, after))
            return found
        for number, begun, follow in self._begun(state):
            if self.outcomes is not None and number not in self.free:
                found += [(number, after) for after in self.outcomes(begun)]
            else:
                after = begun if follow is None else follow(begun)
                if after != STUCK:
                    found.append((number, after))
        found.sort(key=itemgetter(0))
        return found

    def _begun(self, state: int) -> Iterator[tuple[int, int, Transition | None]]:
        """The applicable operators, the state before the phases, and the phases."""
        for doing in self.choose(state):
            yield doing[0], _done(doing, state), doing[4]
        if self.breaks is not None and self.instead is not None:
            for first in self.breaks(state):
                between = _done(first, state)
                for doing in self.instead(between):
                    yield doing[0], _done(doing, between), doing[4]

    # ---- what a state holds -----------------------------------------------------------------

    def slots(self, state: int) -> list[tuple[str, tuple[Raw, ...], Raw]]:
        """Return the slots whose values differ from the start: fluent, arguments, value.

        Destroyed objects have no slots.
        """
        gone, other = frozenset(self.gone(state)), state ^ self.start
        masks, found = self.packing.masks, list[tuple[str, tuple[Raw, ...], Raw]]()
        for number, one in enumerate(self.task.variables):
            if other & masks[number] and not gone & self.named.get(number, frozenset()):
                now, group = self.packing.position(state, number), self.groups.get(number)
                if group is not None:
                    held = (one.initial, False), (now, True)
                    found += [(*group[place], is_it) for place, is_it in held if place < len(group)]
                elif one.fluent is not None:
                    found.append((one.fluent, one.args, one.values[now]))
        return found

    def running(self, state: int) -> Running | None:
        """The long action under way."""
        for number, one in enumerate(self.task.variables):
            if one.kind == "long":
                return self.stages.get(one.values[self.packing.position(state, number)])
        return None

    def gone(self, state: int) -> list[int]:
        """The objects that were destroyed."""
        variables, position = self.task.variables, self.packing.position
        return [
            number for number, one in self.living if not variables[one].values[position(state, one)]
        ]


def _done(doing: PackedOperator, state: int) -> int:
    """The state after something is done, before the phases."""
    _, keep, put, rows, _ = doing
    after = state & keep | put
    for mask, row in rows:
        after |= row[state & mask]
    return after


# ---- Dependency sets: the bits that decide a question -------------------------------------------
# Whether a law applies, an ending is reached or a require holds depends on a few slots. Of all
# states that agree in these bits one is enough to ask the interpreter about (`verbs.audit.rules`).


class Dependencies:
    """The bits that decide questions about one packed world; ``None`` where that is not known.

    They are computed on first use.
    """

    def __init__(
        self,
        take_apart: Callable[[], TakenApart],
        variables: Mapping[Slot, int],
        packing: Packing,
        phases: Phases,
        places: Mapping[str, int],
    ) -> None:
        self._take_apart, self._variables, self._packing = take_apart, variables, packing
        self._phases, self._places = phases, places

    @cached_property
    def _world(self) -> TakenApart:
        return self._take_apart()

    def condition(self, term: Term, params: tuple[Binder, ...]) -> int | None:
        """The bits that decide for which bindings a condition holds between two ticks."""
        return self._mask(self._conditions(term, params))

    def stored(self, fluents: Collection[str]) -> int:
        """The bits of stored fluents, of the clock and of who lives."""
        names = {*fluents, ALIVE, RING}
        return self._bits({one for slot, one in self._variables.items() if slot[0] in names})

    def requires(self, action: str, args: tuple[Raw, ...]) -> int | None:
        """The bits that decide which requires of a command hold."""
        if (LONG, ()) in self._variables:
            return None  # they are looked at after a long action was broken off
        return self._mask(self._requires(action, args))

    def law(self, law: str) -> int | None:
        """The bits after the command that decide whether a law applies in the tick."""
        try:
            for phase in self._world.phases:
                units = [one for one in phase.block.units if one.rule.name == law]
                if units:
                    terms = phase.block.moment.terms
                    looked = self._support(opened(terms, one)[1] for one in units)
                    return None if looked is None else self._bits(self._before(phase.name, looked))
        except (Refused, Explosion):
            return None
        return 0

    def draws(self, command: Command) -> int | None:
        """The bits that decide how likely the outcomes of the draws of a command are."""
        if not self._fixed:
            return None
        units = [one.unit for one in self._world.commands if one.command == command]
        try:
            looked = self._support(self._sites(units), but=COIN)
        except (Refused, Explosion):
            return None
        return None if looked is None else self._bits(looked)

    def draws_of_laws(self) -> int | None:
        """The same for the draws of laws in the tick: bits as the command leaves them."""
        found, every = 0, self._phases_with_draws() if self._fixed else None
        if every is None:
            return None
        try:
            for name, units in every:
                looked = self._support(self._sites(units), but=COIN)
                if looked is None:
                    return None
                found |= self._bits(self._before(name, looked))
        except (Refused, Explosion):
            return None
        return found

    @cached_property
    def _fixed(self) -> bool:
        return fixed_odds(self._world.facts.instance)

    def _phases_with_draws(self) -> list[tuple[str, list[Unit]]]:
        drawing = {id(one.unit) for one in self._world.variables.draws.values()}
        phases = (
            (phase.name, [one for one in phase.block.units if id(one) in drawing])
            for phase in self._world.phases
        )
        return [(name, units) for name, units in phases if units]

    def _sites(self, units: Sequence[Unit]) -> Iterator[Diagram]:
        """Yield the conditions under which draws are made and their sides have a chance."""
        wanted = {id(one) for one in units}
        for one in self._world.variables.draws.values():
            if id(one.unit) in wanted:
                yield one.site.taken
                yield from (one.site.possible(side) for side in range(one.site.sides))

    # ---- what a diagram looks at ------------------------------------------------------------

    def _conditions(self, term: Term, params: tuple[Binder, ...]) -> Iterator[Diagram]:
        terms, facts = self._world.turn.terms, self._world.facts
        asked, bound = facts.rules.term(term), facts.rules.binders(params)
        names = [one.name for one in params]
        for args in product(*facts.choices(bound)):
            values = (self._world.diagrams.leaf(arg) for arg in args)
            yield terms.exist(bound, args)
            yield terms.value(asked, Env(dict(zip(names, values, strict=True))))

    def _requires(self, action: str, args: tuple[Raw, ...]) -> Iterator[Diagram]:
        terms, rule = self._world.turn.terms, self._world.facts.rules.actions[action]
        env, _ = opened(terms, Unit("cancelled", rule, args))
        yield from (terms.condition(one.condition, env) for one in rule.requires)

    def _mask(self, diagrams: Iterable[Diagram]) -> int | None:
        try:
            looked = self._support(diagrams)
        except (Refused, Explosion):
            return None
        return None if looked is None else self._bits(looked)

    def _support(self, diagrams: Iterable[Diagram], but: str = "") -> frozenset[int] | None:
        """The variables that some of these depend on; ``None`` where one of them has no bits.

        Slots of the name ``but`` do not count.
        """
        slots = self._world.variables.slots
        levels = frozenset[int]().union(*(self._world.diagrams.support(one) for one in diagrams))
        found = [slots[level] for level in levels if slots[level][0] != but]
        if any(slot not in self._variables for slot in found):
            return None
        return frozenset(self._variables[slot] for slot in found)

    def _bits(self, looked: Iterable[int]) -> int:
        return sum(self._packing.masks[one] for one in looked)

    def _before(self, phase: str, looked: frozenset[int]) -> frozenset[int]:
        """The variables after the command that decide these when a phase begins."""
        supports: dict[int, frozenset[int]] = {}
        for one in self._world.phases:
            if one.name == phase:
                break
            if one.name in self._places:
                decided, _ = self._phases.decides(self._places[one.name])
                later = {n: traced(found, supports) for n, found in decided.items()}
                supports = {**supports, **later}
        return traced(looked, supports)


# ---- odds ---------------------------------------------------------------------------------------


def fixed_odds(instance: Instance) -> bool:
    """Return whether no state changes the odds of a draw: a chance always has the same
    probability, and a pick the same weight for all."""
    return all(
        _fixed(one.value, instance)
        for one in _statements(lowered(instance.program))
        if isinstance(one, Let) and isinstance(one.value, (BranchDraw, PickDraw, UniformDraw))
    )


def _fixed(draw: Draw, instance: Instance) -> bool:
    if isinstance(draw, BranchDraw):
        known = instance.numbers, instance.params
        return all(fixed_value(one, *known) is not None for one in draw.probabilities)
    return isinstance(draw, PickDraw) and draw.key not in ("weight", "belief", "log")


def _statements(rules: Rules) -> Iterator[Statement]:
    """Every statement of laws and actions."""
    for law in rules.laws.values():
        yield from statements_in(law.body)
    for action in rules.actions.values():
        yield from statements_in((*action.guards, *action.body, *action.cancelled))
