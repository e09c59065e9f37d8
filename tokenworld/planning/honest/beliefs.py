"""A world that a player knows in part: sets of states instead of states.

A *belief* is the set of all states that play may be in, as far as a player can know after these
commands. `Beliefs` plays all of them at once and is itself a `Simulator`, so that our own search,
the replay and the count of all states take it as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

from tokenworld.ground import (
    Command,
    Enough,
    Instance,
    LuckyDraw,
    Raw,
    Simulator,
    StateT,
    Successor,
    Way,
    changed_in_play,
    moves_of,
)
from tokenworld.model import Term

_MOST = 4_096
"""States that one belief holds at most."""
_REMEMBERED = 100_000
"""Single states whose successors are kept."""


@dataclass(slots=True, eq=False)
class Possible(Generic[StateT]):
    """A single state, with cached answers about it.

    ``kind`` numbers the facts in which starts differ and which rules never write, for keys leave
    them out. ``reached`` names the goal lines that hold where the goal is reached. ``after``: the
    successors of commands, with the ticks that passed; ``None`` where some outcome is refused or
    rolled back.
    """

    state: StateT
    kind: int
    short_key: Hashable
    reached: tuple[str, ...] | None
    key: Hashable = None
    commands: Sequence[Command] | None = None
    after: dict[Command, tuple[tuple[Possible[StateT], int], ...] | None] = field(
        default_factory=dict
    )


@dataclass(frozen=True, slots=True)
class Belief(Generic[StateT]):
    """A belief: the set of states that may be the real one.

    ``open`` are the states in which the goal is still ahead, each with its tick; those that reached
    the goal are left out. ``tick`` is the latest tick of all. ``reached`` names the goal lines that
    held in each state that was left out, ``None`` while there is none.
    """

    open: tuple[tuple[Possible[StateT], int], ...]
    tick: int
    reached: tuple[str, ...] | None = None

    @property
    def first(self) -> StateT:
        """One of the open states."""
        return self.open[0][0].state


class Beliefs(Generic[StateT]):
    """The worlds of ``simulator`` that begin in one of ``starts``, played side by side.

    ``secrets`` are the ids of the fluents in which starts differ. A command is possible only if it
    is executed in every open state, and with all luck: a draw makes a belief larger and is never
    the planner's choice. Beliefs share single states, of which each is played once. ``chanced``:
    some command drew; ``uneven``: a command had different costs in the states of one belief;
    ``crowded``: a belief was left out because it had too many states.
    """

    def __init__(
        self, simulator: Simulator[StateT], starts: Sequence[StateT], goal: str | None,
        secrets: Sequence[str],
    ) -> None:  # fmt: skip
        self._simulator, self._starts, self._goal = simulator, starts, goal
        written = changed_in_play(simulator.instance.program)
        self._fixed = tuple(one for one in secrets if one not in written)
        self._kinds: dict[Hashable, int] = {}
        self._met: dict[Hashable, Possible[StateT]] = {}
        self.chanced = self.uneven = self.crowded = False

    @property
    def instance(self) -> Instance:
        return self._simulator.instance

    @property
    def unlisted(self) -> frozenset[str]:
        return self._simulator.unlisted

    @property
    def short_of(self) -> Mapping[str, int]:
        return self._simulator.short_of

    @property
    def overflowed(self) -> bool:
        return self._simulator.overflowed

    def instance_at(self, state: Belief[StateT]) -> Instance:
        return self._simulator.instance_at(state.first) if state.open else self.instance

    def start(self) -> Belief[StateT]:
        tick = self._simulator.tick
        found = ((self._possible(one, self._kind(one)), tick(one)) for one in self._starts)
        return _belief(found, Belief((), 0))

    def _kind(self, state: StateT) -> int:
        """The number of the facts of a start that rules never write."""
        facts = tuple(frozenset(self._simulator.stored(state, one)) for one in self._fixed)
        return self._kinds.setdefault(facts, len(self._kinds))

    def _possible(self, state: StateT, kind: int) -> Possible[StateT]:
        """The state that is kept for all that have its key."""
        short_key = self._simulator.short_key(state)
        found = self._met.get((kind, short_key))
        if found is None:
            if len(self._met) >= _REMEMBERED:
                self._met.clear()
            won = self._simulator.won(state, self._goal)
            reached = self._names(state) if won else None
            found = self._met[kind, short_key] = Possible(state, kind, short_key, reached)
        return found

    def _names(self, state: StateT) -> tuple[str, ...]:
        lines = self.instance.world.goals
        return tuple(one.name for one in lines if self._simulator.won(state, one.name))

    # ---- moving -------------------------------------------------------------------------------

    def commands(self, state: Belief[StateT]) -> Sequence[Command]:
        if not state.open:
            return ()
        first, *others = (self._commands(one) for one, _ in state.open)
        shared = first
        for other in others:
            if other is not first and other != first:
                here = frozenset(other)
                shared = [one for one in shared if one in here]
        return shared

    def _commands(self, one: Possible[StateT]) -> Sequence[Command]:
        """Return the commands of a state, and the command of its running long action, which may
        begin that action in another state."""
        if one.commands is None:
            running = self._simulator.running(one.state)
            own = [] if running is None else [running[0]]
            one.commands = [*self._simulator.commands(one.state), *own]
        return one.commands

    def successors(
        self, state: Belief[StateT], command: Command
    ) -> Sequence[Successor[Belief[StateT]]]:
        after: list[tuple[Possible[StateT], int]] = []
        for one, tick in state.open:
            if command not in one.after:
                one.after[command] = self._after(one, command)
            found = one.after[command]
            if found is None:
                return ()  # refused, or rolled back by some outcome
            after += ((other, tick + passed) for other, passed in found)
        belief = _belief(after, state)
        if len(belief.open) > _MOST:
            self.crowded = True
            return ()
        return (Successor(belief, ()),)

    def _after(
        self, one: Possible[StateT], command: Command
    ) -> tuple[tuple[Possible[StateT], int], ...] | None:
        results, tick = self._simulator.successors(one.state, command), self._simulator.tick
        certain = sum(result.probability for result in results) == 1
        self.chanced = self.chanced or len(results) > 1 or (bool(results) and not certain)
        if not certain:
            return None
        began = tick(one.state)
        found = (result.state for result in results)
        return tuple((self._possible(x, one.kind), tick(x) - began) for x in found)

    def leaning(
        self, state: Belief[StateT], command: Command, draws: Sequence[LuckyDraw]
    ) -> Successor[Belief[StateT]] | None:
        return next(iter(self.successors(state, command)), None)

    def bound(self, enough: Enough | None) -> None:
        self._simulator.bound(enough)

    def key(self, state: Belief[StateT]) -> Hashable:
        return frozenset((one.kind, self._key(one)) for one, _ in state.open)

    def _key(self, one: Possible[StateT]) -> Hashable:
        if one.key is None:
            one.key = self._simulator.key(one.state)
        return one.key

    def moves(
        self, state: Belief[StateT]
    ) -> Iterable[tuple[Command, Sequence[Way[Belief[StateT]]]]]:
        return moves_of(self, state)

    def told_by(self, terms: Iterable[Term]) -> Callable[[Hashable], Hashable] | None:
        return None

    def short_key(self, state: Belief[StateT]) -> Hashable:
        return frozenset((one.kind, one.short_key) for one, _ in state.open)

    # ---- asking -------------------------------------------------------------------------------

    def won(self, state: Belief[StateT], goal: str | None) -> bool:
        """Return whether the goal is reached in all states of the belief."""
        known = goal is None or goal == self._goal or goal in (state.reached or ())
        return not state.open and known

    def lost(self, state: Belief[StateT]) -> bool:
        return any(self._simulator.lost(one.state) for one, _ in state.open)

    def read(self, state: Belief[StateT], fluent: str, args: Sequence[Raw]) -> Raw:
        return self._simulator.read(state.first, fluent, args)

    def stored(self, state: Belief[StateT], fluent: str) -> Iterable[tuple[tuple[Raw, ...], Raw]]:
        return self._simulator.stored(state.first, fluent)

    def tick(self, state: Belief[StateT]) -> int:
        return state.tick

    def awarded(self, state: Belief[StateT]) -> Collection[int]:
        return self._simulator.awarded(state.first)

    def running(self, state: Belief[StateT]) -> tuple[Command, int, int] | None:
        return self._simulator.running(state.first) if state.open else None

    def cost(self, state: Belief[StateT], command: Command) -> int:
        """The most that a state of the belief pays."""
        paid = {self._simulator.cost(one.state, command) for one, _ in state.open}
        self.uneven = self.uneven or len(paid) > 1
        return max(paid, default=0)

    def mover(self, state: Belief[StateT]) -> str | None:
        return self._simulator.mover(state.first) if state.open else None

    def show(self, state: Belief[StateT], command: Command) -> str:
        return self._simulator.show(state.first, command) if state.open else "pass"


def _belief(
    states: Iterable[tuple[Possible[StateT], int]], before: Belief[StateT]
) -> Belief[StateT]:
    """These states without those that won; of equal ones only the last."""
    reached, tick = before.reached, before.tick
    kept: dict[int, tuple[Possible[StateT], int]] = {}
    for one, at in states:
        tick = max(tick, at)
        if one.reached is not None:
            reached = one.reached if reached is None else _both(reached, one.reached)
        else:
            known = kept.get(id(one))
            kept[id(one)] = (one, at if known is None else max(at, known[1]))
    return Belief(tuple(kept.values()), tick, reached)


def _both(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in one if name in other)
