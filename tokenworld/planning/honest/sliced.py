"""The sliced search for honest plans: one sliced task, with a start state for each assignment.

Secrets are variables here and not constants, so that commands mean the same whatever is hidden. The
slice is that of encoding E: what can matter for the goal, for endings and invariants, and for
whether a command can be given. What it leaves out no assignment can tell from waiting.

The search is conformant planning in belief space (Bonet and Geffner 2000) on vectors with one
sliced state per assignment. A command leads on only if it is executed in every state in which the
goal is ahead, as in `Beliefs`; commands that cannot matter do not exist here. When no vector is
left there is no honest plan, for the slice is exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256

from tokenworld.ground import Command, Simulator, StateT
from tokenworld.planning.encodings.ir import Operator, Task
from tokenworld.planning.encodings.slice import Cone, cone_of
from tokenworld.planning.lower.algebra import COIN, LONG, WAS, Obstacle, Refused
from tokenworld.planning.lower.diagram import Explosion
from tokenworld.planning.lower.encode import Unencodable, too_big
from tokenworld.planning.lower.facts import Read, facts_of
from tokenworld.planning.lower.ticks import ACT, assembled
from tokenworld.planning.lower.world import TakenApart
from tokenworld.planning.proof.unsolvable_core import slot_text, value_shown

_MOST_NODES = 600_000


@dataclass(frozen=True, slots=True)
class Hidden:
    """A slot that matters and is not the same in all starts: its name, and its value in each, both
    as authors write them."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Joint:
    """A task with a start state per assignment, in their order, and what differs in them."""

    task: Task
    starts: tuple[tuple[int, ...], ...]
    hidden: tuple[Hidden, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of task and start states, in hexadecimal."""
        return sha256(repr((self.task.digest, self.starts)).encode()).hexdigest()


def joint_task(
    simulator: Simulator[StateT],
    starts: Sequence[StateT],
    goal: str | None,
) -> Joint | Unencodable:
    """The sliced task of start states that only differ in what is secret.

    Besides all that has no place in encoding E, chance that matters and long actions that matter
    are obstacles: a belief branches on the first, and what ends a long action for one assignment is
    no mere waiting for another.
    """
    facts = facts_of(simulator, starts[0], others=starts[1:])
    try:
        world = TakenApart(facts, goal, _MOST_NODES)
        cone = cone_of(world)
        obstacles = (*world.analysis.obstacles, *cone.obstacles, *_branching(world, cone))
        if obstacles:
            return Unencodable(tuple(dict.fromkeys(obstacles)))
        task = assembled(world, cone, over=False)
    except Refused as refused:
        return Unencodable((refused.obstacle,))
    except Explosion as explosion:
        return Unencodable((too_big(facts.instance, explosion),))
    reads: list[Read] = [partial(simulator.read, one) for one in starts]
    positions = (_positions(world, cone, task, read) for read in reads)
    return Joint(task, tuple(positions), _hidden(world, cone, reads))


def _branching(world: TakenApart, cone: Cone) -> Iterator[Obstacle]:
    """The obstacles to a search that knows one state per assignment."""
    span = world.facts.instance.world.span
    for slot in cone.slots:
        if slot[0] == COIN:
            unit = world.variables.draws[slot].unit
            yield Obstacle(f"chance in `{unit.rule.name}`", unit.span, "its outcomes all count")
        elif slot[0] == LONG:
            yield Obstacle("a long action", span, "it may end earlier for some values of secrets")


def _positions(world: TakenApart, cone: Cone, task: Task, read: Read) -> tuple[int, ...]:
    """The start state that ``read`` tells of. Variables of slots come second, in their order."""
    found = list(task.initial)
    for number, slot in enumerate(cone.slots, start=1):
        stored = world.variables.stored(slot) if slot[0] == WAS else slot
        if stored[0] in world.facts.program.fluents:
            found[number] = task.variables[number].values.index(read(*stored))
    return tuple(found)


def _hidden(world: TakenApart, cone: Cone, reads: Sequence[Read]) -> tuple[Hidden, ...]:
    """The slots that start states differ in, with what they hold in each."""
    facts = world.facts
    instance, fluents = facts.instance, facts.program.fluents
    found = []
    for name, args in cone.slots:
        if name in fluents and len(facts.starts((name, args))) > 1:
            held = (value_shown(instance, fluents[name].type, read(name, args)) for read in reads)
            found.append(Hidden(slot_text(instance, fluents[name], args), tuple(held)))
    return tuple(found)


WON, STUCK = -1, -2
"""In place of a state: the goal was reached, or it no longer can be."""
_SPAN = 1 << 256
_WATCHED = 64
"""Vectors between two looks at the limits."""

Vector = tuple[int, ...]
Stop = Callable[[int], bool]
"""Told how many vectors were seen; whether to stop."""
_State = tuple[int, ...]


class _Sliced:
    """The transitions of sliced states; states are numbered in the order of discovery."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._token = next(n for n, one in enumerate(task.variables) if one.kind == "token")
        self._acts: dict[Command, list[Operator]] = {}
        self._forced: dict[int, list[Operator]] = {}
        self._wins: list[Operator] = []
        for operator in task.operators:
            self._sort_in(operator)
        self.commands = tuple(self._acts)
        self.states: list[_State] = []
        self._numbers: dict[_State, int] = {}
        self._after: dict[tuple[int, Command], int | None] = {}
        self._stuck: dict[int, bool] = {}

    def _sort_in(self, operator: Operator) -> None:
        (place,) = dict(operator.precondition)[self._token]
        if operator.command is not None:
            self._acts.setdefault(operator.command, []).append(operator)
        elif place == ACT:  # one of several ways to the goal
            self._wins.append(operator)
        else:
            self._forced.setdefault(place, []).append(operator)

    def met(self, state: _State) -> int:
        """The number of a state; `WON` for all in which the goal is reached."""
        if self._task.holds(state, self._task.goal) or self._fitting(self._wins, state):
            return WON
        number = self._numbers.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
        return number

    def after(self, number: int, command: Command) -> int | None:
        """The successor of a state by a command; ``None`` where it is refused or rolled back."""
        asked = (number, command)
        if asked not in self._after:
            state = self._played(self.states[number], command)
            self._after[asked] = None if state is None else self.met(state)
        return self._after[asked]

    def stuck(self, number: int) -> bool:
        """Whether nothing can be done any more, after a loss above all."""
        if number not in self._stuck:
            self._stuck[number] = all(self.after(number, one) is None for one in self.commands)
        return self._stuck[number]

    def _played(self, state: _State, command: Command) -> _State | None:
        """A whole tick: the command, then the phases, each of which has one way to happen."""
        operators = self._acts[command]
        while True:
            operator = self._fitting(operators, state)
            if operator is None:
                return None
            state = self._task.apply(state, operator)
            if state[self._token] == ACT:
                return state
            operators = self._forced[state[self._token]]

    def _fitting(self, operators: list[Operator], state: _State) -> Operator | None:
        holds = self._task.holds
        return next((one for one in operators if holds(state, one.precondition)), None)


@dataclass(frozen=True, slots=True)
class Ended:
    """A search that came to its end: a shortest plan, or all ``vectors`` seen and none."""

    vectors: int
    plan: tuple[Command, ...] | None


class SlicedSearch:
    """Breadth first over vectors. Assignments that look equal in the slice count once."""

    def __init__(self, joint: Joint) -> None:
        self._world = _Sliced(joint.task)
        start = tuple(dict.fromkeys(self._world.met(one) for one in joint.starts))
        self._came: dict[Vector, tuple[Vector, Command] | None] = {start: None}
        self._order, self._next = [start], 0
        self._winner = start if _all_won(start) else None

    @property
    def vectors(self) -> int:
        """The number of states seen."""
        return len(self._order)

    def run(self, stop: Stop) -> Ended | None:
        """Search to the end; ``None`` when told to stop, after which it can be run again."""
        while self._winner is None and self._next < len(self._order):
            if self._next % _WATCHED == 0 and stop(len(self._order)):
                return None
            self._expand(self._order[self._next])
            self._next += 1
        plan = None if self._winner is None else self._way(self._winner)
        return Ended(len(self._order), plan)

    def _expand(self, vector: Vector) -> None:
        if any(one != WON and self._world.stuck(one) for one in vector):
            return
        for command in self._world.commands:
            after = self._moved(vector, command)
            if after is not None and after not in self._came:
                self._came[after] = (vector, command)
                self._order.append(after)
                if _all_won(after):
                    self._winner = after
                    return

    def _moved(self, vector: Vector, command: Command) -> Vector | None:
        found = []
        for one in vector:
            after = WON if one == WON else self._world.after(one, command)
            if after is None:
                return None
            found.append(after)
        return tuple(found)

    def _way(self, vector: Vector) -> tuple[Command, ...]:
        found, step = list[Command](), self._came[vector]
        while step is not None:
            found.append(step[1])
            step = self._came[step[0]]
        return tuple(found[::-1])

    @cached_property
    def digest(self) -> str:
        """The sum modulo 2**256 of the SHA-256 of all vectors seen, in hexadecimal."""
        states, total = self._world.states, 0
        for vector in self._order:
            shown = [() if one == WON else states[one] for one in vector]
            total += int.from_bytes(sha256(repr(shown).encode()).digest(), "big")
        return f"{total % _SPAN:064x}"


def _all_won(vector: Vector) -> bool:
    return all(one == WON for one in vector)


# ---- the next best ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Best:
    """The plan that wins for most assignments, ``wins`` by their numbers. It fails for the others:
    a step is refused, a loss comes, or the goal is not reached."""

    plan: tuple[Command, ...]
    wins: tuple[int, ...]


def best_plan(joint: Joint, stop: Stop) -> Best | None:
    """The best there is where no plan wins for all; ``None`` when told to stop before it is known.

    A vector that cannot win for more than the best so far is not looked at (branch and bound).
    """
    world = _Sliced(joint.task)
    numbers = [world.met(one) for one in joint.starts]
    counts = Counter(numbers)
    kinds, seen = tuple(counts), dict[Vector, tuple[Command, ...]]()

    def worth(vector: Vector, *wanted: int) -> int:
        return sum(counts[kind] for kind, one in zip(kinds, vector, strict=True) if one in wanted)

    def failed(one: int | None) -> int:
        return STUCK if one is None or (one >= 0 and world.stuck(one)) else one

    start = tuple(failed(one) for one in kinds)
    order, best = [start], start
    seen[start] = ()
    for place, vector in enumerate(order):
        if place % _WATCHED == 0 and stop(len(order)):
            return None
        if len(joint.starts) - worth(vector, STUCK) <= worth(best, WON):
            continue
        for command in world.commands:
            after = tuple(one if one < 0 else failed(world.after(one, command)) for one in vector)
            if after not in seen:
                seen[after] = (*seen[vector], command)
                order.append(after)
                if worth(after, WON) > worth(best, WON):
                    best = after
    won = {kind for kind, one in zip(kinds, best, strict=True) if one == WON}
    return Best(seen[best], tuple(at for at, one in enumerate(numbers) if one in won))
