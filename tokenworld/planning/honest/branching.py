"""Plans that branch on observations: one tree that wins for every value of the secrets.

This is contingent planning with full knowledge of the meaning of observations (Bonet and Geffner
2000): a search of an AND/OR graph of sets of states. A command splits a set by its observations, a
refusal included; each part must be won. The search asks a few states first, and plays their tree
in all others. A state in which it fails is added to the few; if the few cannot be won together, all
cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import Generic, Protocol

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import Command, LuckyDraw, StateT

_FEW = 8
"""So many states are asked all at once."""

Value = tuple[int, int]
"""The most that a plan pays, and its most steps."""


@frozen
class Sight:
    """The observation of a step: ``digest`` to compare it, ``lines`` to print it."""

    lines: tuple[str, ...] = field(compare=False)
    digest: str


@dataclass(frozen=True, slots=True)
class Came(Generic[StateT]):
    """One outcome of a command given in a state; ``cost`` and ``ticks`` are those of the step, the
    ``draws`` those that lead to it."""

    state: StateT
    sight: Sight
    cost: int
    ticks: int
    draws: tuple[LuckyDraw, ...] = ()


class Player(Protocol[StateT]):
    """A world as one plays it who does not see the secrets."""

    def tries(self, state: StateT) -> Sequence[Command]:
        """Return the commands that may change something or give an observation."""

    def outcomes(self, state: StateT, command: Command) -> tuple[Came[StateT], ...] | None:
        """All that may follow; ``None`` where a draw may make a command fruitless."""

    def key(self, state: StateT) -> Hashable:
        """Equal for states with equal futures and equal sights."""

    def won(self, state: StateT) -> bool: ...

    def lost(self, state: StateT) -> bool: ...

    def known_way(self, state: StateT) -> tuple[Sequence[Command], bool] | bool | None:
        """A plan for one known state, and whether it is the cheapest; ``False`` if there is none
        and ``None`` if that is not known."""

    @property
    def least(self) -> int:
        """The least that a step costs which changes something."""


@frozen
class Branch:
    """An observation after a step, and the plan that follows; ``None``: the goal is reached."""

    sight: Sight
    then: Node | None


@frozen
class Node:
    """A step of a branching plan."""

    command: Command
    branches: tuple[Branch, ...]


@dataclass(slots=True, eq=False)
class _Single(Generic[StateT]):
    """A state of the search, met once; ``number`` is that of its discovery."""

    state: StateT
    number: int
    won: bool
    lost: bool
    after: dict[Command, tuple[tuple[Sight, int, _Single[StateT]], ...] | None] = field(
        default_factory=dict
    )
    tries: Sequence[Command] | None = None


@dataclass(slots=True, eq=False)
class _Choice(Generic[StateT]):
    """A command of a set: the sets into which it splits, each with the cost."""

    command: Command
    after: Mapping[Sight, tuple[int, _Set[StateT]]]

    def value(self) -> Value | None:
        """The most that it pays, if all that follow are won."""
        found = (0, 0)
        for cost, one in self.after.values():
            if one.value is None:
                return None
            found = max(found, (cost + one.value[0], 1 + one.value[1]))
        return found


@dataclass(slots=True, eq=False)
class _Set(Generic[StateT]):
    """The states that may be the real one, none of them won. ``value`` is set if a plan for
    them is known, which ``best`` begins; ``dead``: there is none."""

    singles: tuple[_Single[StateT], ...]
    value: Value | None = None
    best: _Choice[StateT] | None = None
    dead: bool = False
    choices: list[_Choice[StateT]] | None = None
    parents: list[tuple[_Set[StateT], _Choice[StateT]]] = field(default_factory=list)


class Blocked(Generic[StateT]):
    """These few of the states cannot be won by one plan."""

    def __init__(self, singles: Iterable[_Single[StateT]]) -> None:
        self.singles = tuple(dict.fromkeys(singles))


class Stopped(Exception):
    """The search was stopped."""


class BranchSearch(Generic[StateT]):
    """The search for a branching plan. ``stop`` is asked with the number of sets and states.

    ``bound``: no plan costs less in the worst case, as far as that is known.
    """

    def __init__(self, player: Player[StateT], stop: Callable[[int], bool]) -> None:
        self._player, self._stop = player, stop
        self._singles: dict[Hashable, _Single[StateT]] = {}
        self._sets: dict[frozenset[int], _Set[StateT]] = {}
        self._exact, self.bound = True, 0

    @property
    def sets(self) -> int:
        """The number of sets seen."""
        return len(self._sets)

    def run(self, starts: Iterable[StateT]) -> Node | Blocked[StateT] | None:
        """A plan for all ``starts``, ``None`` if they are won; or a few of them that have none.

        Raises `Stopped`.
        """
        met = dict.fromkeys(self._met(one) for one in starts)
        lost = [one for one in met if one.lost]
        if lost:
            return Blocked(lost)
        return self._planned([one for one in met if not one.won], top=True)

    # ---- a few states first -----------------------------------------------------------------

    def _planned(
        self, singles: Sequence[_Single[StateT]], *, top: bool = False
    ) -> Node | Blocked[StateT] | None:
        """A plan for all of these, from one for a few; ``top``: they are the starts."""
        first, few = top, list(singles if len(singles) <= _FEW else (singles[0], singles[-1]))
        while few:
            root = self._set(few)
            if not self._solved(root):
                return Blocked(few)
            if first and self._exact and root.value is not None:
                self.bound = root.value[0]
            first = False  # later results may be worse than necessary
            found = self._spread(root, {one: one for one in singles})
            if not isinstance(found, Blocked):
                return found
            few += found.singles
        return None

    def _spread(
        self, known: _Set[StateT], members: Mapping[_Single[StateT], _Single[StateT]]
    ) -> Node | Blocked[StateT]:
        """The plan of a solved set, played in all of ``members``, which map to where each began."""
        choice = known.best
        assert choice is not None
        self._look()
        parts: dict[Sight, dict[_Single[StateT], _Single[StateT]]] = {}
        for single, root in members.items():
            after = self._after(single, choice.command)
            if after is None or any(one.lost for _, _, one in after):
                return Blocked((root,))
            for sight, _, one in after:
                part = parts.setdefault(sight, {})
                if not one.won:
                    part.setdefault(one, root)
        branches = list[Branch]()
        for sight, part in sorted(parts.items(), key=lambda one: one[0].lines):
            then = self._follow(choice.after.get(sight), part)
            if isinstance(then, Blocked):
                return Blocked(part[one] for one in then.singles)
            branches.append(Branch(sight, then))
        return Node(choice.command, tuple(branches))

    def _follow(
        self,
        known: tuple[int, _Set[StateT]] | None,
        part: Mapping[_Single[StateT], _Single[StateT]],
    ) -> Node | Blocked[StateT] | None:
        """Plan for the assignments with equal observations, or the obstacle among them."""
        if not part:
            return None
        if known is None or known[1].best is None:
            return self._planned(tuple(part))
        return self._spread(known[1], {one: one for one in part})

    # ---- AND/OR search ----------------------------------------------------------------------

    def _solved(self, root: _Set[StateT]) -> bool:
        """Search from a set, cheapest first, until it is solved; whether it is."""
        order, met = count(), dict[int, Value]()
        waiting: list[tuple[Value, int, _Set[StateT]]] = [((0, 0), next(order), root)]
        seen = list[_Set[StateT]]()
        spent: Value = (0, 0)
        while waiting and root.value is None:
            spent, _, one = heappop(waiting)
            if one.value is not None or one.dead or met.get(id(one), spent) < spent:
                continue
            if one.choices is None:
                self._expand(one)
            seen.append(one)
            if one.value is not None or one.dead:
                continue
            for choice in one.choices or ():
                for cost, other in choice.after.values():
                    paid = (spent[0] + cost, spent[1] + 1)
                    if other.value is None and paid < met.get(id(other), (paid[0] + 1, 0)):
                        met[id(other)] = paid
                        heappush(waiting, (paid, next(order), other))
        if root.value is None:
            for one in seen:  # all that follow them were seen
                one.dead = one.value is None
            return False
        self._exact &= spent[0] >= root.value[0] - self._player.least
        return True

    def _expand(self, of: _Set[StateT]) -> None:
        self._look()
        of.choices = []
        if len(of.singles) == 1 and self._known(of):
            return
        alike = set[frozenset[tuple[int, int]]]()
        for command in dict.fromkeys(x for one in of.singles for x in self._tries(one)):
            choice = self._choice(of, command)
            if choice is None:
                continue
            name = frozenset((cost, id(one)) for cost, one in choice.after.values())
            if name in alike:
                continue
            alike.add(name)
            of.choices.append(choice)
            for _, other in choice.after.values():
                other.parents.append((of, choice))
            self._improve(of, choice)
            if of.value is not None and of.value[1] <= 1 and of.value[0] == 0:
                return

    def _known(self, of: _Set[StateT]) -> bool:
        """Follow a plan for the one state that is left; whether its set is decided."""
        (single,) = of.singles
        way = self._player.known_way(single.state)
        if not isinstance(way, tuple):
            of.dead = way is False
            return of.dead
        steps, cheapest = way
        self._exact &= cheapest
        chain = list[tuple[_Set[StateT], _Choice[StateT]]]()
        for command in steps:
            here = self._set((single,))
            after = self._after(single, command)
            if after is None or len(after) != 1:
                return False
            sight, cost, single = after[0]
            end = self._set(() if single.won else (single,))
            chain.append((here, _Choice(command, {sight: (cost, end)})))
        if not single.won:
            return False
        for here, choice in reversed(chain):
            if here.choices is None:
                here.choices = []
            self._improve(here, choice)
        return of.value is not None

    def _choice(self, of: _Set[StateT], command: Command) -> _Choice[StateT] | None:
        """Return the sets after a command; ``None`` if it may lose, or gives no observation and
        no change."""
        parts: dict[Sight, tuple[int, list[_Single[StateT]]]] = {}
        for single in of.singles:
            after = self._after(single, command)
            if after is None or any(one.lost for _, _, one in after):
                return None
            for sight, cost, one in after:
                paid, part = parts.get(sight, (0, []))
                parts[sight] = (max(paid, cost), part if one.won else [*part, one])
        found = {sight: (cost, self._set(part)) for sight, (cost, part) in parts.items()}
        if any(one is of or one.dead for _, one in found.values()):
            return None
        return _Choice(command, found)

    def _improve(self, of: _Set[StateT], by: _Choice[StateT]) -> None:
        """Take a choice if it is better, and update its predecessors."""
        waiting = [(of, by)]
        while waiting:
            one, choice = waiting.pop()
            value = choice.value()
            if value is not None and (one.value is None or value < one.value):
                one.value, one.best = value, choice
                waiting += one.parents

    # ---- states -----------------------------------------------------------------------------

    def _look(self) -> None:
        if self._stop(len(self._sets) + len(self._singles)):
            raise Stopped

    def _met(self, state: StateT) -> _Single[StateT]:
        key = self._player.key(state)
        found = self._singles.get(key)
        if found is None:
            number, player = len(self._singles), self._player
            found = _Single(state, number, player.won(state), player.lost(state))
            self._singles[key] = found
        return found

    def _set(self, singles: Iterable[_Single[StateT]]) -> _Set[StateT]:
        unlike = {one.number: one for one in singles}
        name = frozenset(unlike)
        found = self._sets.get(name)
        if found is None:
            members = tuple(unlike[number] for number in sorted(unlike))
            found = self._sets[name] = _Set(members, value=None if members else (0, 0))
        return found

    def _tries(self, single: _Single[StateT]) -> Sequence[Command]:
        if single.tries is None:
            single.tries = self._player.tries(single.state)
        return single.tries

    def _after(
        self, single: _Single[StateT], command: Command
    ) -> tuple[tuple[Sight, int, _Single[StateT]], ...] | None:
        if command not in single.after:
            came = self._player.outcomes(single.state, command)
            single.after[command] = (
                None
                if came is None
                else tuple((one.sight, one.cost, self._met(one.state)) for one in came)
            )
        return single.after[command]


# ---- a plan played --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Played:
    """A tree played in every start with all draws: the most that it pays and takes, the starts
    that may pass each branch, by its place in the tree, and the goals that may be reached."""

    cost: int
    ticks: int
    passed: Mapping[tuple[int, ...], frozenset[int]]


def played(player: Player[StateT], plan: Node | None, starts: Sequence[StateT]) -> Played | str:
    """Play a tree from each start, to the goal in each; a clause about the first failure."""
    passed: dict[tuple[int, ...], set[int]] = {}
    most = (0, 0)
    for number, start in enumerate(starts):
        for place, state, paid in _ends(player, plan, start, number, passed):
            if not player.won(state):
                where = ", ".join(str(one) for one in place) or "the start"
                return f"it does not reach the goal in start {number + 1}, at branch {where}"
            most = (max(most[0], paid[0]), max(most[1], paid[1]))
    return Played(*most, {place: frozenset(them) for place, them in passed.items()})


def _ends(
    player: Player[StateT],
    plan: Node | None,
    start: StateT,
    number: int,
    passed: dict[tuple[int, ...], set[int]],
) -> Iterator[tuple[tuple[int, ...], StateT, Value]]:
    """Each state in which play from a start ends, by the goal or because the plan does."""
    open_: list[tuple[tuple[int, ...], Node | None, StateT, Value]] = [((), plan, start, (0, 0))]
    while open_:
        place, node, state, paid = open_.pop()
        if node is None or player.won(state):
            yield place, state, paid
            continue
        came = player.outcomes(state, node.command)
        if not came:
            yield place, state, paid
            continue
        for one in came:
            at = next((n for n, x in enumerate(node.branches) if x.sight == one.sight), None)
            spent = (paid[0] + one.cost, paid[1] + one.ticks)
            if at is None:
                yield place, state, spent
                continue
            here = (*place, at)
            passed.setdefault(here, set()).add(number)
            open_.append((here, node.branches[at].then, one.state, spent))
