"""States together with the draws of their tick that commands without effect have revealed.

A command that luck refuses or rolls back takes no draw, so that it has the same result until a tick
passes (language.md §13). A player knows that, and questions about luck must: here such a command
leads to the same state with more known draws.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Generic

from tokenworld.diagnostics.frozen import frozen
from tokenworld.ground import (
    PASS,
    Command,
    Enough,
    Instance,
    Known,
    LuckSimulator,
    LuckyDraw,
    Raw,
    StateT,
    Successor,
    Try,
    Way,
)
from tokenworld.model import Term
from tokenworld.planning.ladder import plan
from tokenworld.planning.search.interpreted import Found, Limits, search
from tokenworld.planning.verdict import PlanStep

NOTHING: Known = frozenset()


@frozen
class Observed(Generic[StateT]):
    """A state with the known draws of its tick."""

    state: StateT
    known: Known = NOTHING


def learned(found: Try[StateT]) -> Observed[StateT]:
    """The state after one result of a command, with its known draws."""
    return Observed(found.state, found.known)


def planned_on(
    simulator: LuckSimulator[StateT], state: Observed[StateT], goal: str | None, seconds: float
) -> tuple[PlanStep, ...]:
    """Return a plan from a state that uses the known draws of its tick, or ``()``."""
    if not state.known:
        return plan(simulator, state.state, goal, time_limit=seconds).steps
    tries = ObservedSimulator(simulator, fruitless=False)
    found = search(tries, state, goal, Limits(seconds=seconds))
    return found.steps if isinstance(found, Found) else ()


class ObservedSimulator(Generic[StateT]):
    """A `Simulator` of such states. ``fruitless``: tries that fail are results too."""

    def __init__(self, inner: LuckSimulator[StateT], *, fruitless: bool = True) -> None:
        self.inner, self._fruitless = inner, fruitless
        self.fails = False
        """Whether a draw has made a command fail so far."""

    @property
    def instance(self) -> Instance:
        return self.inner.instance

    def instance_at(self, state: Observed[StateT]) -> Instance:
        return self.inner.instance_at(state.state)

    @property
    def short_of(self) -> Mapping[str, int]:
        return self.inner.short_of

    @property
    def overflowed(self) -> bool:
        return self.inner.overflowed

    @property
    def unlisted(self) -> frozenset[str]:
        return self.inner.unlisted

    def start(self) -> Observed[StateT]:
        return Observed(self.inner.start())

    # ---- moving -------------------------------------------------------------------------------

    def commands(self, state: Observed[StateT]) -> Sequence[Command]:
        found = self.inner.commands(state.state)
        if state.known and found and PASS not in found:
            return (*found, PASS)  # it has new luck
        return found

    def successors(
        self, state: Observed[StateT], command: Command
    ) -> Sequence[Successor[Observed[StateT]]]:
        if not state.known:
            found = self.inner.successors(state.state, command)
            if sum(one.probability for one in found) == 1:
                return [Successor(Observed(one.state), one.draws, one.probability) for one in found]
        return [
            Successor(learned(one), one.draws, one.probability)
            for one in self._tried(state, command)
        ]

    def _tried(self, state: Observed[StateT], command: Command) -> Sequence[Try[StateT]]:
        """All results of a command from which something follows."""
        every = self.inner.tries(state.state, command, state.known)
        if not any(one.draws for one in every):  # no luck is in it
            return [one for one in every if one.done]
        self.fails = self.fails or not all(one.done for one in every)
        if not self._fruitless:
            return [one for one in every if one.done]
        if all(not one.done and learned(one) == state for one in every):
            return ()  # it is known to fail
        return every

    def leaning(
        self, state: Observed[StateT], command: Command, draws: Sequence[LuckyDraw]
    ) -> Successor[Observed[StateT]] | None:
        if state.known:
            return next(
                (one for one in self.successors(state, command) if one.draws == draws), None
            )
        found = self.inner.leaning(state.state, command, draws)
        if found is None:
            return None
        return Successor(Observed(found.state), found.draws, found.probability)

    def moves(
        self, state: Observed[StateT]
    ) -> Iterable[tuple[Command, Sequence[Way[Observed[StateT]]]]]:
        if state.known:
            for command in self.commands(state):
                yield command, list(self._ways(state, command))
            return
        for command, ways in self.inner.moves(state.state):
            if sum(one.probability for one in ways) == 1:
                yield command, [_way(one) for one in ways]
            else:
                yield command, list(self._ways(state, command))

    def _ways(self, state: Observed[StateT], command: Command) -> Iterator[Way[Observed[StateT]]]:
        for one in self._tried(state, command):
            after = learned(one)
            yield Way(self.short_key(after), one.draws, one.probability, partial(_itself, after))

    def bound(self, enough: Enough | None) -> None:
        self.inner.bound(enough)

    # ---- telling states apart -----------------------------------------------------------------

    def key(self, state: Observed[StateT]) -> Hashable:
        key = self.inner.key(state.state)
        return (key, state.known) if state.known else key

    def told_by(self, terms: Iterable[Term]) -> Callable[[Hashable], Hashable] | None:
        return None

    def short_key(self, state: Observed[StateT]) -> Hashable:
        short_key = self.inner.short_key(state.state)
        return (short_key, state.known) if state.known else short_key

    # ---- asking -------------------------------------------------------------------------------

    def won(self, state: Observed[StateT], goal: str | None) -> bool:
        return self.inner.won(state.state, goal)

    def lost(self, state: Observed[StateT]) -> bool:
        return self.inner.lost(state.state)

    def read(self, state: Observed[StateT], fluent: str, args: Sequence[Raw]) -> Raw:
        return self.inner.read(state.state, fluent, args)

    def stored(self, state: Observed[StateT], fluent: str) -> Iterable[tuple[tuple[Raw, ...], Raw]]:
        return self.inner.stored(state.state, fluent)

    def tick(self, state: Observed[StateT]) -> int:
        return self.inner.tick(state.state)

    def awarded(self, state: Observed[StateT]) -> Collection[int]:
        return self.inner.awarded(state.state)

    def running(self, state: Observed[StateT]) -> tuple[Command, int, int] | None:
        return self.inner.running(state.state)

    def cost(self, state: Observed[StateT], command: Command) -> int:
        return self.inner.cost(state.state, command)

    def mover(self, state: Observed[StateT]) -> str | None:
        return self.inner.mover(state.state)

    def show(self, state: Observed[StateT], command: Command) -> str:
        return self.inner.show(state.state, command)


def _way(way: Way[StateT]) -> Way[Observed[StateT]]:
    return Way(way.short_key, way.draws, way.probability, partial(_made, way))


def _made(way: Way[StateT]) -> Observed[StateT]:
    return Observed(way.state())


def _itself(state: Observed[StateT]) -> Observed[StateT]:
    return state
