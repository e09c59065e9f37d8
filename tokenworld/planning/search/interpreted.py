"""Exhaustive search over the interpreter: no encoding, no planner, the exact answer.

A state is explored once per search key. Chance is *possible* luck: every outcome of a command is
a successor. Without costs the search is breadth-first, so that its plan is shortest in ticks;
where actions have costs it takes the cheapest state first (uniform cost), ties by ticks.

A search is resumable: after `Capped` it goes on where it stopped when it is run again with more
room. Parents are kept as three numbers per state; the plan is rebuilt by walking forward.
"""

from __future__ import annotations

import sys
import time
from abc import abstractmethod
from array import array
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from heapq import heappop, heappush
from typing import Generic, Literal, Protocol

from tokenworld.core import lowered
from tokenworld.core.nodes import Body, Constant, Let, Term, UniformDraw
from tokenworld.core.rules import Action
from tokenworld.core.walk import statements_in
from tokenworld.diagnostics import Diagnostic, Span, in_seconds
from tokenworld.diagnostics.frozen import frozen
from tokenworld.diagnostics.limits import DIGIT_LIMIT
from tokenworld.ground import (
    Command,
    Instance,
    Simulator,
    StateT,
    Unfinished,
    count_bindings,
    parameter_domains,
)
from tokenworld.limits import near
from tokenworld.model import NumberType, RealType, subterms, telling_terms
from tokenworld.planning.verdict import PlanStep

# ---- Rules that the search leaves out, and real arithmetic --------------------------------------
# The search asks the interpreter for all outcomes of chance. A draw without a finite list of
# outcomes is reported here, so that an exhausted search is never taken for a proof where one was
# left out.


def gaps(instance: Instance, unlisted: frozenset[str] = frozenset()) -> tuple[Diagnostic, ...]:
    """The rules that our own search does not follow, each with its place: draws of real numbers
    (TW0804) and actions with too many bindings (TW0801).

    ``unlisted`` are actions with too many bindings to list, which it never tries.
    """
    rules = lowered(instance.program)
    found: list[Diagnostic] = []
    for action in rules.actions.values():
        body = (*action.guards, *action.body, *action.cancelled)
        found += _uniform_gaps(f"action `{action.name}`", body)
    for law in rules.laws.values():
        found += _uniform_gaps(f"law `{law.name}`", law.body)
    found += [_unlisted(instance, rules.actions[name]) for name in sorted(unlisted)]
    return tuple(found)


def _uniform_gaps(rule: str, body: Body) -> Iterator[Diagnostic]:
    for one in statements_in(body):
        if isinstance(one, Let) and isinstance(one.value, UniformDraw):
            what = "draws a real number, which has no list of outcomes"
            yield _gap("TW0804", rule, what, one.span)


def _unlisted(instance: Instance, action: Action) -> Diagnostic:
    number = count_bindings(parameter_domains(instance, action.params))
    rule = f"action `{action.name}`"
    return _gap("TW0801", rule, f"has {number:,} bindings, too many to list", action.span)


def _gap(code: str, rule: str, what: str, span: Span) -> Diagnostic:
    return Diagnostic(
        code,
        f"The {rule} {what}, and our own search does not follow that.",
        span,
        "left out of the search",
        hint="Read an empty search as unknown, or write the rule in another way.",
    )


def platform(instance: Instance) -> str:
    """The restriction of a proof about a world with real numbers: another platform may compute
    other values. Empty for all other worlds."""
    terms = telling_terms(instance.program, instance.world)
    real = any(isinstance(part.type, RealType) for term in terms for part in subterms(term))
    return ", on this platform's arithmetic" if real else ""


# ---- The search ---------------------------------------------------------------------------------

CapKind = Literal["states", "time", "memory", "cancelled", "gaps", "spare", "digits"]
SHORT = f"no number has more than {DIGIT_LIMIT:,} digits"
Cancel = Callable[[], bool]

_SAMPLE = 1024
"""One state in so many is measured for the memory estimate."""
_BOOKKEEPING = 180
"""Bytes per state besides its key and itself: parents, numbers and hash table slots, rounded up."""


@frozen
class Limits:
    """The limits that stop a search without an answer; ``None`` means no limit.

    ``states`` counts distinct states seen, ``seconds`` is wall-clock time, ``memory`` bounds the
    *estimated* bytes held by states, keys and parents.
    """

    states: int | None = None
    seconds: float | None = None
    memory: int | None = 2 << 30


@frozen
class SearchProgress:
    """The progress of a search; ``depth`` is in moves, one per tick and actor."""

    states: int
    expanded: int
    waiting: int
    depth: int


@frozen
class Found:
    """A plan to the goal. ``optimal`` is the measure that no other plan beats, if that is
    proved."""

    steps: tuple[PlanStep, ...]
    cost: int
    states: int
    expanded: int
    optimal: Measure | None

    @property
    def ticks(self) -> int:
        """One tick per step."""
        return len(self.steps)


@frozen
class Exhausted:
    """No plan exists: all ``states`` reachable ones were seen and none reaches the goal.

    ``within`` is the tick bound that was needed to say so, ``None`` if it holds for any length.
    """

    states: int
    expanded: int
    within: int | None = None


@frozen
class Capped:
    """No answer: which limit was hit, and a clause that says so."""

    limit: CapKind
    reason: str
    states: int
    expanded: int


SearchResult = Found | Exhausted | Capped


def has_costs(simulator: Simulator[StateT]) -> bool:
    """Return whether any action of the program has a cost (language.md §6)."""
    return any(action.cost is not None for action in simulator.instance.program.actions.values())


Measure = Literal["ticks", "cost"]


def fewest_commands(simulator: Simulator[StateT]) -> Measure | None:
    """The measure by which a plan with the fewest commands is the best, in a world without costs.

    Each command costs 1 there (language.md §6). It is a tick too, unless an action is free; and a
    long action is a command in each of its ticks. Where there are both it is neither.
    """
    actions = lowered(simulator.instance.program).actions.values()
    least = [_least_ticks(one.takes) for one in actions if one.takes is not None]
    if all(least):
        return "ticks"
    fixed = all(one.takes is None or isinstance(one.takes, Constant) for one in actions)
    return "cost" if fixed and not any(least) else None


def _least_ticks(takes: Term) -> int:
    """The fewest ticks that an action may take, 0 where that is not known."""
    if isinstance(takes, Constant) and isinstance(takes.value, int):
        return takes.value
    low = takes.type.low if isinstance(takes.type, NumberType) else None
    return max(low or 0, 0)


Progress = Callable[[SearchProgress], None] | None
"""Called about every second with the progress of a search."""


class Counted(Protocol):
    """A search that reports its progress."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of states seen."""

    @abstractmethod
    def memory(self) -> int:
        """The bytes that are in use."""

    @abstractmethod
    def so_far(self) -> SearchProgress:
        """The progress so far."""


class Watch:
    """The limits of one run, looked at once per expanded state."""

    def __init__(self, limits: Limits, cancel: Cancel | None = None) -> None:
        self._limits, self._cancel = limits, cancel
        self._began = time.monotonic()
        self._report_at = self._began + 1.0
        self.hit: tuple[CapKind, str] | None = None

    def look(self, search: Counted, progress: Progress) -> tuple[CapKind, str] | None:
        """The limit that a search has hit, or ``None``; then ``progress`` may be called."""
        hit = self.stop(search.size, search.memory())
        if hit is None and progress is not None and self.due():
            progress(search.so_far())
        return hit

    def late(self, memory: int, outcomes: int, size: int) -> bool:
        """Return whether a limit is reached while the outcomes of a command are listed; then
        ``hit`` is the limit. Each outcome takes ``size`` bytes if known."""
        self.hit = self.stop(0, memory + outcomes * max(size, OUTCOME_BYTES))
        return self.hit is not None

    def stop(self, states: int, memory: int) -> tuple[CapKind, str] | None:
        """The limit that is hit, if one is, with a clause that says so."""
        limits, clock = self._limits, time.monotonic()
        if self._cancel is not None and self._cancel():
            return "cancelled", "it was cancelled"
        if limits.states is not None and states >= limits.states:
            return "states", f"its limit of {limits.states:,} states was reached"
        if limits.seconds is not None and clock >= self._began + limits.seconds:
            return "time", f"its limit of {in_seconds(limits.seconds)} was reached"
        if limits.memory is not None and memory >= limits.memory:
            return "memory", f"its limit of {limits.memory / 2**20:,.0f} MiB was reached"
        if (why := near()) is not None:
            return why, f"the {why} of the command was used up"
        return None

    def rest(self) -> Limits:
        """The remaining limits, for a search that continues from here."""
        seconds = self._limits.seconds
        if seconds is None:
            return self._limits
        return replace(self._limits, seconds=max(self._began + seconds - time.monotonic(), 0.0))

    def due(self) -> bool:
        """Return whether a second has passed since the last report."""
        clock = time.monotonic()
        if clock < self._report_at:
            return False
        self._report_at = clock + 1.0
        return True


class Resumable(Counted):
    """A search that continues where it stopped when it is run again."""

    @property
    def hopeless(self) -> int:
        """The number of states pruned because nothing leads from them to the goal."""
        return 0

    @property
    @abstractmethod
    def expanded(self) -> int:
        """The number of states expanded."""

    def run(
        self, limits: Limits, *, progress: Progress = None, cancel: Cancel | None = None
    ) -> SearchResult:
        """Search until there is an answer or a limit is hit."""
        return self._run(Watch(limits, cancel), progress)

    def _run(self, watch: Watch, progress: Progress) -> SearchResult:
        while (answer := self._answer()) is None:
            if (hit := watch.look(self, progress)) is not None:
                return Capped(*hit, self.size, self.expanded)
            self._advance(watch)
        return answer

    @abstractmethod
    def _answer(self) -> SearchResult | None:
        """The answer, where there is one by now."""

    @abstractmethod
    def _advance(self, watch: Watch) -> None:
        """Expand some states."""


class Search(Resumable, Generic[StateT]):
    """One search from ``state`` to ``goal`` (any goal line if ``None``).

    ``within`` asks for a plan of at most so many ticks; then it searches by ticks, not by cost.
    Lost states are counted and not expanded. ``frontier`` takes the states in another order, which
    gives no claim about the quality of the plan.
    """

    def __init__(
        self,
        simulator: Simulator[StateT],
        state: StateT,
        goal: str | None,
        *,
        within: int | None = None,
        frontier: Frontier[StateT] | None = None,
    ) -> None:
        self._simulator, self._start, self._goal, self._within = simulator, state, goal, within
        self._movers = max(1, len(simulator.instance.world.turns))
        self.by_cost = within is None and frontier is None and has_costs(simulator)
        self._frontier: Frontier[StateT] = frontier or (Cheapest() if self.by_cost else Breadth())
        self._won: set[Node] = set()
        self._short_keys: set[Hashable] = set()
        self._cut = self._discounts = False
        self._expanded = 0
        self._key_bytes = self._state_bytes = 0
        self._result: SearchResult | None = None
        self._reach(state, -1, 0, 0, 0)

    @cached_property
    def gaps(self) -> tuple[Diagnostic, ...]:
        """The rules that it does not follow; to see whether all bindings are listed may be dear."""
        return gaps(self._simulator.instance, self._simulator.unlisted)

    def run(
        self, limits: Limits, *, progress: Progress = None, cancel: Cancel | None = None
    ) -> SearchResult:
        """Search until there is an answer or a limit is hit; another call continues.

        If the successors of a state cannot all be computed within the limits, that is the
        answer: the search cannot go on.
        """
        watch = Watch(limits, cancel)
        self._simulator.bound(lambda count: watch.late(self.memory(), count, self._state_bytes))
        try:
            return self._run(watch, progress)
        finally:
            self._simulator.bound(None)

    @property
    def size(self) -> int:
        return self._frontier.count

    @property
    def expanded(self) -> int:
        return self._expanded

    def memory(self) -> int:
        """The bytes this search holds, estimated from samples."""
        count, waiting = self._frontier.count, self._frontier.waiting()
        held = count * (self._key_bytes + _BOOKKEEPING) + waiting * self._state_bytes
        return held + self._frontier.overhead()

    def so_far(self) -> SearchProgress:
        """The progress so far."""
        frontier = self._frontier
        return SearchProgress(frontier.count, self.expanded, frontier.waiting(), frontier.depth)

    def _answer(self) -> SearchResult | None:
        if self._result is None and 0 in self._won:
            self._result = self._found(0)
        return self._result

    def _advance(self, watch: Watch) -> None:
        try:
            self._result = self._next()
        except Unfinished:
            assert watch.hit is not None
            self._result = Capped(*watch.hit, self.size, self.expanded)

    def _next(self) -> SearchResult | None:
        """Expand one state; the answer, once there is one."""
        taken = self._frontier.pop()
        if taken is None:
            return self._ended()
        node, state = taken
        if node in self._won:
            return self._found(node)
        if self._within is not None and self._frontier.depth == self._within * self._movers:
            self._cut = self._cut or (
                not self._simulator.lost(state) and bool(self._simulator.commands(state))
            )
            return None
        winner = self._expand(node, state)
        return None if winner is None else self._found(winner)

    def _expand(self, node: Node, state: StateT) -> Node | None:
        """Reach all successors; the node of a goal that may be accepted at once."""
        simulator = self._simulator
        if simulator.lost(state):
            return None
        self._expanded += 1
        for number, (command, ways) in enumerate(simulator.moves(state)):
            cost = simulator.cost(state, command) if self.by_cost else 0
            self._discounts = self._discounts or cost < 0
            for luck, way in enumerate(ways):
                if way.short_key in self._short_keys and not self.by_cost:
                    continue
                self._short_keys.add(way.short_key)
                reached = self._reach(way.state(), node, number, luck, cost)
                if reached in self._won and self._frontier.early_goal:
                    return reached
        return None

    def _reach(self, state: StateT, parent: Node, command: int, luck: int, cost: int) -> Node:
        """Note a state; its node, or -1 where it is not news."""
        key = self._simulator.key(state)
        node = self._frontier.reach(key, state, parent, command, luck, cost)
        if node is None:
            return -1
        if self._simulator.won(state, self._goal):
            self._won.add(node)
        else:
            self._won.discard(node)
        if node % _SAMPLE == 0:
            told = size_of(key) + size_of(self._simulator.short_key(state))
            self._key_bytes = max(self._key_bytes, told)
            self._state_bytes = max(self._state_bytes, size_of(state))
        return node

    def _ended(self) -> SearchResult:
        """Nothing is left to expand: exhausted, if rules allow to say so."""
        count = self._frontier.count
        if self.gaps:
            reason = f"it ran out of states, but cannot follow {len(self.gaps)} of the rules"
            return Capped("gaps", reason, count, self.expanded)
        if short := self._simulator.short_of:
            needed = ", ".join(f"{count:,} spare `{of}`" for of, count in short.items())
            reason = f"it ran out of states that need no more than {needed}"
            return Capped("spare", reason, count, self.expanded)
        if self._simulator.overflowed:
            return Capped("digits", f"it ran out of states in which {SHORT}", count, self.expanded)
        return Exhausted(count, self.expanded, self._within if self._cut else None)

    def _found(self, node: Node) -> Found:
        steps, cost = self._steps(self._frontier.trail(node))
        optimal = "cost" if self.by_cost else fewest_commands(self._simulator)
        unsure = self._discounts or self.gaps or self._simulator.short_of
        known = optimal if self._frontier.shortest and not unsure else None
        return Found(steps, cost, self._frontier.count, self.expanded, known)

    def _steps(self, trail: list[tuple[int, int]]) -> tuple[tuple[PlanStep, ...], int]:
        """The plan that makes these choices from the start, and its cost."""
        simulator, state, cost = self._simulator, self._start, 0
        steps = []
        for number, luck in trail:
            command: Command = simulator.commands(state)[number]
            successor = simulator.successors(state, command)[luck]
            cost += simulator.cost(state, command)
            steps.append(PlanStep(command, successor.draws))
            state = successor.state
        return tuple(steps), cost


def search(
    simulator: Simulator[StateT],
    state: StateT,
    goal: str | None,
    limits: Limits,
    *,
    within: int | None = None,
    progress: Progress = None,
    cancel: Cancel | None = None,
) -> SearchResult:
    """Search once under ``limits``; see `Search`."""
    return Search(simulator, state, goal, within=within).run(
        limits, progress=progress, cancel=cancel
    )


Node = int


class Frontier(Generic[StateT]):
    """The states that wait to be expanded and the keys of all that were seen.

    ``reach`` takes a state reached from a node and answers its node number where that is news.
    """

    early_goal = True
    """Whether a goal may be accepted as soon as it is generated."""
    shortest = True
    """Whether the first plan is optimal."""

    def __init__(self) -> None:
        self.count = 0
        self.depth = 0  # in ticks, of the node popped last
        self.parents = array("q")
        self.commands = array("I")
        self.lucks = array("I")

    def reach(
        self, key: Hashable, state: StateT, parent: Node, command: int, luck: int, cost: int
    ) -> Node | None:
        raise NotImplementedError

    def pop(self) -> tuple[Node, StateT] | None:
        raise NotImplementedError

    def waiting(self) -> int:
        raise NotImplementedError

    def overhead(self) -> int:
        """The bytes held besides keys, states and parents."""
        return 0

    def trail(self, node: Node) -> list[tuple[int, int]]:
        """The choices (number of the command, number of its outcome) from the start to a node."""
        choices = []
        while self.parents[node] >= 0:
            choices.append((self.commands[node], self.lucks[node]))
            node = self.parents[node]
        return choices[::-1]

    def _new(self, parent: Node, command: int, luck: int) -> Node:
        self.parents.append(parent)
        self.commands.append(command)
        self.lucks.append(luck)
        self.count += 1
        return self.count - 1


class Breadth(Frontier[StateT]):
    """First come, first served: nodes are expanded in the order of their numbers. ``seen`` are the
    keys of all states."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[Hashable] = set()
        self._states: deque[StateT] = deque()
        self._next = 0
        self._layer_end = 1

    def reach(
        self, key: Hashable, state: StateT, parent: Node, command: int, luck: int, cost: int
    ) -> Node | None:
        if key in self.seen:
            return None
        self.seen.add(key)
        self._states.append(state)
        return self._new(parent, command, luck)

    def pop(self) -> tuple[Node, StateT] | None:
        if not self._states:
            return None
        node = self._next
        if node == self._layer_end:
            self.depth, self._layer_end = self.depth + 1, self.count
        self._next += 1
        return node, self._states.popleft()

    def waiting(self) -> int:
        return len(self._states)


class Cheapest(Frontier[StateT]):
    """Least cost first, then fewest ticks, then first come."""

    early_goal = False

    def __init__(self) -> None:
        super().__init__()
        self._nodes: dict[Hashable, Node] = {}
        self._states: dict[Node, StateT] = {}
        self._heap: list[tuple[int, int, Node]] = []
        self._best: list[tuple[int, int]] = []

    def reach(
        self, key: Hashable, state: StateT, parent: Node, command: int, luck: int, cost: int
    ) -> Node | None:
        before = self._best[parent] if parent >= 0 else (0, -1)
        total = (before[0] + cost, before[1] + 1)
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = self._new(parent, command, luck)
            self._best.append(total)
        else:
            if total >= self._best[node] or node not in self._states:
                return None
            self._best[node] = total
            self.parents[node], self.commands[node], self.lucks[node] = parent, command, luck
        self._states[node] = state
        heappush(self._heap, (*total, node))
        return node

    def pop(self) -> tuple[Node, StateT] | None:
        while self._heap:
            _, self.depth, node = heappop(self._heap)
            if node in self._states:  # else an outdated entry: it was expanded at less cost
                return node, self._states.pop(node)
        return None

    def waiting(self) -> int:
        return len(self._states)


_CONTAINERS = (dict, tuple, list, set, frozenset)
OUTCOME_BYTES = 2048
"""The assumed bytes of a successor before any was measured."""


def size_of(thing: object, beside: object = None) -> int:
    """The bytes of a key or state: itself and all containers in it that ``beside`` does not hold.

    Numbers, names and other objects are left out: states share them.
    """
    shared = {id(part) for part in _containers(beside)}
    found = (part for part in _containers(thing) if id(part) not in shared)
    return sys.getsizeof(thing) + sum(map(sys.getsizeof, found))


def _containers(thing: object) -> Iterator[object]:
    """The containers in something, itself left out."""
    waiting = [*_parts(thing), *(getattr(thing, one, None) for one in _slots(thing))]
    while waiting:
        part = waiting.pop()
        if isinstance(part, _CONTAINERS):
            yield part
            waiting.extend(_parts(part))


def _slots(thing: object) -> Sequence[str]:
    found: Sequence[str] = getattr(type(thing), "__slots__", ())
    return found


def _parts(thing: object) -> Iterable[object]:
    match thing:
        case dict():
            return (*thing.keys(), *thing.values())
        case tuple() | list() | set() | frozenset():
            return thing
        case _:
            return ()
