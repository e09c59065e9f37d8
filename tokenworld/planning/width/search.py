"""The width search: a rung of the ladder, and an engine that answers alone.

Novel states are expanded first, then those near the goal.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import chain, count
from typing import Generic

from tokenworld.core import lowered
from tokenworld.core.rules import Ending
from tokenworld.ground import Instance, Raw, Simulator, StateT
from tokenworld.model import NumberType, RealType
from tokenworld.planning.lower.algebra import (
    ALIVE,
    AWARD,
    RING,
    Env,
    Mark,
    Refused,
    Slot,
    Universe,
    Value,
)
from tokenworld.planning.lower.facts import Facts
from tokenworld.planning.lower.terms import Terms
from tokenworld.planning.search.interpreted import Frontier, Limits, Node
from tokenworld.planning.search.own import OwnRung, Say
from tokenworld.planning.verdict import Verdict
from tokenworld.planning.width.relaxed_plan import Relaxation, Relevant

# ---- How far a goal line is from true -----------------------------------------------------------
# Goal counting on its own condition: a third algebra beside diagrams and sets of values. It
# evaluates a term in one state and counts, for every condition, the facts missing until it holds
# and until it fails. A conjunction misses what its parts miss together, a disjunction what the
# nearest part misses, a quantifier the same over its bindings, a comparison of numbers more the
# further they are apart.

FAR = 1 << 30
"""The distance of a condition that nothing ever makes true."""
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


@dataclass(frozen=True, slots=True)
class Graded:
    """A value; of a condition also the distances until it is true (``short``) and false (``over``).

    ``fixed``: no rule can change it. ``number``: it counts or measures something.
    """

    value: Value
    short: int
    over: int
    fixed: bool
    number: bool = False


class GoalDistance(Generic[StateT]):
    """The distance to the nearest of some goal lines: 0 only where one of them holds."""

    def __init__(self, simulator: Simulator[StateT], lines: Sequence[Ending]) -> None:
        self._simulator, self._lines = simulator, lines
        self._changing = lowered(simulator.instance.program).changing
        self._instance: Instance | None = None
        names = {line.name for line in lines}
        goals = [one.condition for one in simulator.instance.world.goals if one.name in names]
        self._told = simulator.told_by(goals)
        self._known: dict[Hashable, int] = {}

    def __call__(self, state: StateT) -> int:
        if self._told is None:
            return self._distance(state)
        told = self._told(self._simulator.short_key(state))
        found = self._known.get(told)
        if found is None:
            found = self._known[told] = self._distance(state)
        return found

    def _distance(self, state: StateT) -> int:
        instance = self._simulator.instance_at(state)
        if self._instance is None or not _alike(instance, self._instance):
            self._instance = instance
            self._algebra = _GradedAlgebra(self._simulator, instance, self._changing)
            facts = Facts(instance, lambda fluent, args: self._algebra.read(fluent, args))
            self._terms: Terms[Graded] = Terms(facts, self._algebra)
        self._algebra.enter(state)
        self._terms.forget()
        return min((self._missing(line) for line in self._lines), default=FAR)

    def _missing(self, line: Ending) -> int:
        try:
            return self._terms.condition(line.condition, Env()).short
        except Refused:
            return 1


def _alike(one: Instance, other: Instance) -> bool:
    """Return whether the same objects live in two instances."""
    return one is other or (one.members == other.members and one.actors == other.actors)


class _GradedAlgebra(Generic[StateT]):
    """Evaluation in one state, the one it entered last."""

    def __init__(
        self, simulator: Simulator[StateT], instance: Instance, changing: frozenset[str]
    ) -> None:
        self._simulator, self._changing = simulator, changing
        self._fluents = instance.program.fluents

    def enter(self, state: StateT) -> None:
        self._state = state

    def read(self, fluent: str, args: Sequence[Raw]) -> Raw:
        return self._simulator.read(self._state, fluent, args)

    def const(self, value: Value) -> Graded:
        return Graded(value, *((0, FAR) if value is True else (FAR, 0)), True)

    def lift(self, key: Hashable, function: Callable[..., Value], *operands: Graded) -> Graded:
        value = function(*(one.value for one in operands))
        fixed = all(one.fixed for one in operands)
        name = key[0] if isinstance(key, tuple) else key
        if fixed:
            return self.const(value)
        if name == "truth":
            (inner,) = operands
            return replace(inner, value=value)
        if name in ("compare", "equal"):
            op = str(key[1]) if isinstance(key, tuple) else "=="
            if value is True:
                return Graded(value, 0, _gap(_NEGATED[op], operands), False)
            return Graded(value, _gap(op, operands), 0, False)
        return _plain(value, name == "arithmetic" or any(one.number for one in operands))

    def bind(
        self, operand: Graded, universe: Universe, function: Callable[[Raw], Graded]
    ) -> Graded:
        value = operand.value
        made = operand if isinstance(value, Mark) else function(value)
        return made if operand.fixed else _loose(made)

    def both(self, left: Graded, right: Callable[[], Graded]) -> Graded:
        if left.short >= FAR:
            return left
        other = right()
        value = other.value if left.value is True else left.value
        short = min(FAR, left.short + other.short)
        return Graded(value, short, min(left.over, other.over), left.fixed and other.fixed)

    def either(self, left: Graded, right: Callable[[], Graded]) -> Graded:
        if left.over >= FAR:
            return left
        other = right()
        value = left.value if left.value is True else other.value
        over = min(FAR, left.over + other.over)
        return Graded(value, min(left.short, other.short), over, left.fixed and other.fixed)

    def negate(self, condition: Graded) -> Graded:
        value = condition.value is not True
        return Graded(value, condition.over, condition.short, condition.fixed)

    def choose(
        self, condition: Graded, then: Callable[[], Graded], otherwise: Callable[[], Graded]
    ) -> Graded:
        made = then() if condition.value is True else otherwise()
        return made if condition.fixed else _loose(made)

    def possible(self, operand: Graded, universe: Universe) -> Sequence[Raw] | None:
        return [] if isinstance(operand.value, Mark) else [operand.value]

    def single(self, operand: Graded) -> tuple[Raw, ...]:
        return ()  # how far it is from being otherwise belongs to it

    def never(self, condition: Graded) -> bool:
        return condition.short >= FAR

    def slot(self, slot: Slot, was: bool) -> Graded:
        name, args = slot
        if name == ALIVE:
            return self.const(True)
        if name not in self._fluents:
            return _plain(self._outside(slot), False)
        value = self.read(name, args)
        if name not in self._changing:
            return self.const(value)
        return _plain(value, isinstance(self._fluents[name].type, (NumberType, RealType)))

    def _outside(self, slot: Slot) -> Value:
        """The value of a slot that is no fluent, as far as it is known here."""
        name, args = slot
        if name == RING and isinstance(args[0], int):
            return self._simulator.tick(self._state) % args[0]
        if name == AWARD:
            return args[0] in self._simulator.awarded(self._state)
        return None

    def refuse(self, refused: Refused) -> Graded:
        raise refused


def _plain(value: Value, number: bool) -> Graded:
    return Graded(value, *((0, 1) if value is True else (1, 0)), False, number)


def _loose(made: Graded) -> Graded:
    """The same where another value of something else would make another one."""
    short, over = (1 if one >= FAR else one for one in (made.short, made.over))
    return replace(made, short=short, over=over, fixed=False)


def _gap(op: str, sides: Sequence[Graded]) -> int:
    """The distance of a comparison that fails; for numbers one more each time the gap doubles."""
    left, right = (one.value for one in sides)
    if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
        return 1
    if op == "!=" or (op == "==" and not any(one.number for one in sides)):
        return 1
    return max(1, int(min(abs(left - right), FAR)).bit_length())


# ---- Novelty ------------------------------------------------------------------------------------
# Novelty is measured within a partition of the states (Lipovetzky and Geffner, *Best-First Width
# Search: Exploration and Exploitation in Classical Planning*, AAAI 2017): 1 where a single fact is
# new there, 2 where a pair is, 3 where neither is. What is not measured for want of room counts as
# 3.

LEAST_NOVEL = 3
_MOST_TOGETHER = 300
"""Of so many facts at most all pairs are looked at in a state that enters a partition."""
_MOST_PAIRS = 6_000_000
_PAIR_BYTES = 76
"""An entry of a set of whole numbers, with its number."""
_LISTED_BYTES = 8
"""An entry of a tuple of numbers that others hold."""

Place = tuple[int, Hashable]
Fact = tuple[Place, Hashable]


def facts_of(index: int, part: Hashable) -> Iterator[Fact]:
    """The facts of a state in one part of its search key.

    A search key is a tuple with a part for each fluent: the values of all its slots in order, the
    same with the children lists of the objects (whose order is no fact), or a set of rows.
    """
    if isinstance(part, frozenset):
        yield from (((index, row), True) for row in part)
    elif isinstance(part, tuple):
        values = part[0] if part and isinstance(part[0], tuple) else part
        yield from (((index, place), value) for place, value in enumerate(values))
    else:
        yield (index, 0), part


class Novelty:
    """The facts and pairs of facts seen so far, by partition."""

    def __init__(self) -> None:
        self._numbers: dict[Fact, int] = {}
        self._parts: dict[tuple[int, Hashable], tuple[int, ...]] = {}
        self._listed = 0
        self._first: dict[Place, int] = {}
        self._fixed: set[int] = set()
        self._single: dict[Hashable, set[int]] = {}
        self._pairs: dict[Hashable, set[int]] = {}
        self._count = 0

    def numbered(self, key: Hashable) -> tuple[int, ...]:
        """The facts of a state by number, ascending."""
        parts = key if isinstance(key, tuple) else (key,)
        return tuple(sorted(chain.from_iterable(map(self._part, count(), parts))))

    def _part(self, index: int, part: Hashable) -> tuple[int, ...]:
        """The facts of a part of a search key; most parts of a state are those of others."""
        found = self._parts.get((index, part))
        if found is None:
            found = tuple([self._number(fact) for fact in facts_of(index, part)])
            self._parts[index, part] = found
            self._listed += len(found)
        return found

    def measure(
        self, partition: Hashable, facts: Sequence[int], before: frozenset[int] | None
    ) -> int:
        """The novelty of a state in its partition; it counts as seen from now on.

        ``before`` are the facts of a state of the same partition that was measured already:
        a pair of them is nothing new.
        """
        seen = self._single.setdefault(partition, set())
        size = len(seen)
        seen.update(facts)
        paired = self._paired(partition, facts, before)
        if len(seen) > size:
            return 1
        return 2 if paired else LEAST_NOVEL

    def bytes(self) -> int:
        """About how much memory the tables take."""
        singles = sum(len(seen) for seen in self._single.values())
        return (self._count + singles) * _PAIR_BYTES + self._listed * _LISTED_BYTES

    def _number(self, fact: Fact) -> int:
        """The number of a fact. A place that always held the same makes no pair."""
        number = self._numbers.get(fact)
        if number is not None:
            return number
        number = self._numbers[fact] = len(self._numbers)
        first = self._first.setdefault(fact[0], number)
        if first == number:
            self._fixed.add(number)
        else:
            self._fixed.discard(first)
        return number

    def _paired(
        self, partition: Hashable, facts: Sequence[int], before: frozenset[int] | None
    ) -> bool:
        """Return whether a pair is new; notes all pairs."""
        if self._count >= _MOST_PAIRS:
            return False
        moving = [one for one in facts if one not in self._fixed]
        fresh = moving if before is None else [one for one in moving if one not in before]
        if len(moving) > _MOST_TOGETHER and len(fresh) == len(moving):
            return False
        seen = self._pairs.setdefault(partition, set())
        size = len(seen)
        for one in fresh:
            at = bisect_left(moving, one)
            seen.update([other << 32 | one for other in moving[:at]])
            seen.update([one << 32 | other for other in moving[at:]])
        self._count += len(seen) - size
        return len(seen) > size


# ---- The order of the search --------------------------------------------------------------------
# BFWS(f5) of Lipovetzky and Geffner (*Best-First Width Search*, AAAI 2017), on the interpreter as
# in Francès, Ramírez, Lipovetzky and Geffner (*Purely Declarative Action Descriptions are
# Overrated*, IJCAI 2017): states are taken by novelty, then by what the goal still misses, then by
# the relevant facts that are still to come. Novelty is measured among states that miss as much and
# have come as far. Relevant facts are computed again whenever the goal comes nearer. No state is
# ever left out: a search which runs dry has seen them all.

_FREE_VISITS = 200_000
_VISITS_PER_STATE = 20
"""Rules that may be looked at for relevant facts: so many, and so many more for each state."""
_WAITING_BYTES = 400


@dataclass(frozen=True, slots=True)
class _Place:
    """The progress of a state: the distance of the goal, the relevant facts and those reached.

    ``relevant`` is ``None`` as long as the goal has come nearer and nobody has asked.
    """

    missing: int
    relevant: Relevant | None
    came: int
    facts: frozenset[int]

    @property
    def partition(self) -> Hashable:
        return self.missing, self.came.bit_count()

    @property
    def to_come(self) -> int:
        """The number of relevant facts not seen yet."""
        return 0 if self.relevant is None else len(self.relevant.facts) - self.came.bit_count()


class Novel(Frontier[StateT]):
    """Least novelty first, then the nearest to the goal, then the shallowest, then first come."""

    shortest = False

    def __init__(self, simulator: Simulator[StateT], lines: Sequence[Ending]) -> None:
        super().__init__()
        self._simulator = simulator
        self._missing: GoalDistance[StateT] = GoalDistance(simulator, lines)
        self._relaxation: Relaxation[StateT] = Relaxation(simulator, lines)
        self._novelty = Novelty()
        self._seen: set[Hashable] = set()
        self._waiting: dict[Node, tuple[StateT, _Place]] = {}
        self._heap: list[tuple[int, int, int, int, Node]] = []
        self._depths = array("I")
        self._at: _Place | None = None
        self.nearest = -1

    def reach(
        self, key: Hashable, state: StateT, parent: Node, command: int, luck: int, cost: int
    ) -> Node | None:
        if key in self._seen:
            return None
        self._seen.add(key)
        node = self._new(parent, command, luck)
        self._depths.append(self._depths[parent] + 1 if parent >= 0 else 0)
        facts = self._novelty.numbered(key)
        place = self._place(state, frozenset(facts))
        before = self._at
        same = before is not None and before.partition == place.partition
        known = before.facts if before is not None and same else None
        novelty = self._novelty.measure(place.partition, facts, known)
        rank = (novelty, place.missing, place.to_come, self._depths[node], node)
        heappush(self._heap, rank)
        self._waiting[node] = (state, place)
        if self.nearest < 0 or place.missing < self.nearest:
            self.nearest = place.missing
        return node

    def pop(self) -> tuple[Node, StateT] | None:
        if not self._heap:
            return None
        *_, self.depth, node = heappop(self._heap)
        state, place = self._waiting.pop(node)
        self._at = self._looking_out(state, place)
        return node, state

    def waiting(self) -> int:
        return len(self._waiting)

    def overhead(self) -> int:
        return self._novelty.bytes() + len(self._waiting) * _WAITING_BYTES

    def _place(self, state: StateT, facts: frozenset[int]) -> _Place:
        """The progress of a state that was reached from the one taken last."""
        missing, before = self._missing(state), self._at
        if before is None or before.relevant is None or missing < before.missing:
            return _Place(missing, None, 0, facts)
        relevant = before.relevant
        came = before.came | relevant.held(self._simulator, state)
        return _Place(missing, relevant, came, facts)

    def _looking_out(self, state: StateT, place: _Place) -> _Place:
        """The same with relevant facts, computed from here if the goal has come nearer."""
        if place.relevant is not None:
            return place
        allowed = _FREE_VISITS + _VISITS_PER_STATE * self.count
        if self._relaxation.visits > allowed:
            return _Place(place.missing, _NOTHING, 0, place.facts)
        return _Place(place.missing, self._relaxation.relevant(state), 0, place.facts)


_NOTHING = Relevant((), {}, frozenset())


# ---- The rung -----------------------------------------------------------------------------------

WIDTH_SEARCH = "width search"


def width_rung(simulator: Simulator[StateT], state: StateT, goal: str | None) -> OwnRung[StateT]:
    """Our own search with states taken by novelty and nearness to the goal."""
    instance = simulator.instance
    world = lowered(instance.program).worlds[instance.world.name]
    lines = [one for one in world.goals if goal in (None, one.name)]
    frontier = Novel(simulator, lines)
    return OwnRung(simulator, state, goal, None, engine=WIDTH_SEARCH, frontier=frontier)


def plan_by_width(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    *,
    seconds: float,
    say: Say = lambda line: None,
) -> Verdict:
    """The verdict of the width search alone, within ``seconds``."""
    rung = width_rung(simulator, state, goal)
    rung.run(Limits(None, seconds), say, lambda: False)
    return rung.verdict()
