"""Progress and watches: awards, score, goals and losses; what begins to hold (language.md §8)."""

from __future__ import annotations

from fractions import Fraction

from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.compile import Code, Function, compile_term, compile_watch
from tokenworld.engine.guards import reads_of
from tokenworld.engine.state import State
from tokenworld.ground import Instance
from tokenworld.model import Award, Ending, NumberType

__all__ = ["Endings", "Watches"]


@frozen
class _Line:
    ending: Ending
    holds: Function


@frozen
class _Award:
    award: Award
    holds: Function
    amount: Function
    decimals: int


class Endings:
    """The endings and awards of one world."""

    def __init__(self, instance: Instance, code: Code) -> None:
        world = instance.world
        self._world, self._program = world, instance.program
        self._lines = tuple(
            _Line(line, compile_term(code, line.condition)) for line in world.endings
        )
        self._by_name = {line.ending.name: line for line in self._lines}
        self._awards = tuple(_award(code, award) for award in world.awards)
        self._score = code.space["scored"]
        kind = world.score.type if world.score is not None else None
        self._score_decimals = kind.decimals if isinstance(kind, NumberType) else 0

    def over(self, state: State) -> bool:
        """Whether later intents are halted."""
        return state.latched != () and not self._world.endless

    def reads(self) -> frozenset[str] | None:
        """The fluents on which awards and endings that latch rest; ``None``: on more than these."""
        lines = self._lines if self._world.outcomes != "live" else ()
        terms = [*(line.ending.condition for line in lines)]
        terms += [one.award.when for one in self._awards]
        return reads_of(self._program, *terms)

    def holds(self, name: str, state: State, me: int | None) -> bool:
        """Whether the condition of an ending is true now."""
        return bool(self._by_name[name].holds(state, state, me))

    def progress(self, state: State, me: int | None) -> tuple[str, ...]:
        """Give awards and latch endings on a committed state; the endings latched now."""
        for index, award in enumerate(self._awards):
            if index not in state.awarded and award.holds(state, state, me):
                state.awarded = (*state.awarded, index)
        if self._world.outcomes == "live":
            return self._live(state, me)
        found: list[str] = []
        for line in self._lines:
            if line.ending.name in state.latched or self.over(state):
                continue
            if line.holds(state, state, me):
                state.latched = (*state.latched, line.ending.name)
                found.append(line.ending.name)
        return tuple(found)

    def _live(self, state: State, me: int | None) -> tuple[str, ...]:
        state.latched = ()
        for line in self._lines:
            if line.holds(state, state, me):
                return (line.ending.name,)
        return ()

    def reached(self, state: State, me: int | None) -> tuple[str, ...]:
        """The latched endings; with ``outcomes live`` the one that is true now."""
        return self._live(state.fork(), me) if self._world.outcomes == "live" else state.latched

    def won(self, state: State, goal: str | None, me: int | None) -> bool:
        """Whether a goal line (this one) is the ending of the state.

        The first ending counts; in an endless world every line latches on its own, and a goal
        counts if no loss came before it.
        """
        goals = (goal,) if goal is not None else self.named("goal")
        reached = self.reached(state, me)
        if self._world.endless and self._world.outcomes == "latched":
            return any(name in reached for name in goals) and not self.lost(state, me)
        return reached[:1] != () and reached[0] in goals

    def lost(self, state: State, me: int | None) -> bool:
        """Whether no plan goes on from here: a loss, or an end that is no goal."""
        reached = self.reached(state, me)
        if self._world.endless or self._world.outcomes == "live":
            return any(name in reached for name in self.named("lose"))
        return reached != () and reached[0] not in self.named("goal")

    def score(self, state: State, me: int | None) -> Fraction:
        """The score: the world's expression plus what was awarded."""
        total = _exact(self._score(state, state, me), self._score_decimals)
        for index in state.awarded:
            award = self._awards[index]
            total += _exact(award.amount(state, state, me), award.decimals)
        return total

    @property
    def pays(self) -> bool:
        """Whether the world pays rewards for what holds."""
        return bool(self._world.pays)

    def named(self, kind: str) -> tuple[str, ...]:
        """The names of the endings of a kind, in written order."""
        return tuple(one.ending.name for one in self._lines if one.ending.ending == kind)


def _exact(amount: int | None, decimals: int) -> Fraction:
    """A stored number; what rests on something destroyed counts nothing."""
    return Fraction(0) if amount is None else Fraction(amount, 10**decimals)


def _award(code: Code, award: Award) -> _Award:
    kind = award.amount.type
    decimals = kind.decimals if isinstance(kind, NumberType) else 0
    holds = compile_term(code, award.when)
    return _Award(award, holds, compile_term(code, award.amount), decimals)


class Watches:
    """The watches of one compiled program, as an audit asks about them."""

    def __init__(self, instance: Instance, code: Code) -> None:
        self._code, self._watches = code, instance.program.watches
        self._compiled: dict[str, Function] = {}

    def begins(self, name: str, before: State, after: State, me: int | None) -> bool:
        """Whether a watch would speak at this commit; nothing is remembered."""
        watch = self._watches[name]
        if name not in self._compiled:
            self._compiled[name] = compile_watch(self._code, watch)
        bindings = self._compiled[name]
        true = bindings(after, before, me)
        if watch.uses_was or not true:
            return bool(true)
        return not set(true) <= set(bindings(before, before, me))
