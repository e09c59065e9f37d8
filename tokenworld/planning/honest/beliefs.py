"""A world that a player knows in part: sets of states instead of states.

A *belief* is the set of all states that play may be in, as far as a player can know after these
commands. `Beliefs` plays all of them at once and is itself a `Simulator`, so that our own search,
the replay and the count of all states take it as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
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
    moves_of,
)
from tokenworld.model import Term

_MOST = 4_096
"""States that one belief holds at most."""


@dataclass(frozen=True, slots=True)
class Belief(Generic[StateT]):
    """A belief: the set of states that may be the real one.

    ``open`` are the states in which the goal is still ahead, each with the number of the start it
    came from; those that reached the goal are left out. ``tick`` is the latest tick of all.
    ``reached`` names the goal lines that held in each state that was left out, ``None`` while
    there is none.
    """

    open: tuple[tuple[int, StateT], ...]
    tick: int
    reached: tuple[str, ...] | None = None


class Beliefs(Generic[StateT]):
    """The worlds of ``simulator`` that begin in one of ``starts``, played side by side.

    A command is possible only if it is executed in every open state, and with all luck: a draw
    makes a belief larger and is never the planner's choice. ``chanced``: some command drew;
    ``uneven``: a command had different costs in the states of one belief; ``crowded``: a belief was
    left out because it had too many states.
    """

    def __init__(
        self, simulator: Simulator[StateT], starts: Sequence[StateT], goal: str | None
    ) -> None:
        self._simulator, self._starts, self._goal = simulator, starts, goal
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

    def instance_at(self, state: Belief[StateT]) -> Instance:
        return self._simulator.instance_at(state.open[0][1]) if state.open else self.instance

    def start(self) -> Belief[StateT]:
        return self._belief(enumerate(self._starts), Belief((), 0))

    def _belief(
        self, states: Iterable[tuple[int, StateT]], before: Belief[StateT]
    ) -> Belief[StateT]:
        """These states without those that won, and without doubles.

        States of different starts are never doubles: a search key leaves out what rules never
        write, and just there the starts may differ.
        """
        simulator, reached = self._simulator, before.reached
        kept: dict[Hashable, tuple[int, StateT]] = {}
        tick = before.tick
        for origin, state in states:
            tick = max(tick, simulator.tick(state))
            if simulator.won(state, self._goal):
                names = self._names(state)
                reached = names if reached is None else _both(reached, names)
            else:
                kept.setdefault((origin, simulator.key(state)), (origin, state))
        return Belief(tuple(kept.values()), tick, reached)

    def _names(self, state: StateT) -> tuple[str, ...]:
        lines = self.instance.world.goals
        return tuple(one.name for one in lines if self._simulator.won(state, one.name))

    # ---- moving -------------------------------------------------------------------------------

    def commands(self, state: Belief[StateT]) -> Sequence[Command]:
        if not state.open:
            return ()
        first, *others = (one for _, one in state.open)
        shared = self._possible(first)
        for other in others:
            here = frozenset(self._possible(other))
            shared = [one for one in shared if one in here]
            if not shared:
                break
        return shared

    def _possible(self, state: StateT) -> list[Command]:
        """The commands of a state; where it goes on with a long action, that command too, which
        may begin it in another."""
        running = self._simulator.running(state)
        own = [] if running is None else [running[0]]
        return [*self._simulator.commands(state), *own]

    def successors(
        self, state: Belief[StateT], command: Command
    ) -> Sequence[Successor[Belief[StateT]]]:
        after: list[tuple[int, StateT]] = []
        for origin, one in state.open:
            results = self._simulator.successors(one, command)
            certain = sum(result.probability for result in results) == 1
            self.chanced = self.chanced or len(results) > 1 or (bool(results) and not certain)
            if not certain:
                return ()  # refused, or rolled back by some outcome
            after += ((origin, result.state) for result in results)
        belief = self._belief(after, state)
        if len(belief.open) > _MOST:
            self.crowded = True
            return ()
        return (Successor(belief, ()),)

    def leaning(
        self, state: Belief[StateT], command: Command, draws: Sequence[LuckyDraw]
    ) -> Successor[Belief[StateT]] | None:
        return next(iter(self.successors(state, command)), None)

    def bound(self, enough: Enough | None) -> None:
        self._simulator.bound(enough)

    def key(self, state: Belief[StateT]) -> Hashable:
        return frozenset((origin, self._simulator.key(one)) for origin, one in state.open)

    def moves(
        self, state: Belief[StateT]
    ) -> Iterable[tuple[Command, Sequence[Way[Belief[StateT]]]]]:
        return moves_of(self, state)

    def told_by(self, terms: Iterable[Term]) -> Callable[[Hashable], Hashable] | None:
        return None

    def short_key(self, state: Belief[StateT]) -> Hashable:
        return frozenset((origin, self._simulator.short_key(one)) for origin, one in state.open)

    # ---- asking -------------------------------------------------------------------------------

    def won(self, state: Belief[StateT], goal: str | None) -> bool:
        """Whether no state is left in which the goal is ahead."""
        known = goal is None or goal == self._goal or goal in (state.reached or ())
        return not state.open and known

    def lost(self, state: Belief[StateT]) -> bool:
        return any(self._simulator.lost(one) for _, one in state.open)

    def read(self, state: Belief[StateT], fluent: str, args: Sequence[Raw]) -> Raw:
        return self._simulator.read(state.open[0][1], fluent, args)

    def stored(self, state: Belief[StateT], fluent: str) -> Iterable[tuple[tuple[Raw, ...], Raw]]:
        return self._simulator.stored(state.open[0][1], fluent)

    def tick(self, state: Belief[StateT]) -> int:
        return state.tick

    def running(self, state: Belief[StateT]) -> tuple[Command, int, int] | None:
        return self._simulator.running(state.open[0][1]) if state.open else None

    def cost(self, state: Belief[StateT], command: Command) -> int:
        """The most that a state of the belief pays."""
        paid = {self._simulator.cost(one, command) for _, one in state.open}
        self.uneven = self.uneven or len(paid) > 1
        return max(paid, default=0)

    def mover(self, state: Belief[StateT]) -> str | None:
        return self._simulator.mover(state.open[0][1]) if state.open else None

    def show(self, state: Belief[StateT], command: Command) -> str:
        return self._simulator.show(state.open[0][1], command) if state.open else "pass"


def _both(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in one if name in other)
