"""Successors by column: what an action or the laws make of a state, looked up where it is known.

What a command does by itself rests on the columns that its rule reads and writes (see `deeds`),
what the laws do in a tick on theirs, and whether play ends on those of the endings. States differ
in many ways, and seldom in these. So each column counts as one variable whose values are the
numbers of its marks (see `marks`), and what came of the same numbers once is not worked out again.
The first time, the tick is played as everywhere (see `quick`), and the columns that it left are
kept with their numbers (see `patches`): a state is put together of them when somebody wants to see
it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from tokenworld.engine.delta import Breach
from tokenworld.engine.guards import Broken
from tokenworld.engine.luck import NO_DRAWS, ExploringLuck, NoUniform
from tokenworld.engine.searching.deeds import MOST, Deeds, getter
from tokenworld.engine.searching.marks import Marks
from tokenworld.engine.searching.patches import Change, Parts, Patches, changed
from tokenworld.engine.searching.quick import Came, Listener, QuickTicks
from tokenworld.engine.searching.rests import Rests
from tokenworld.engine.state import State
from tokenworld.engine.step import is_last
from tokenworld.ground import PASS, Command, LuckyDraw, Way

__all__ = ["Leaps"]

_CERTAIN = Fraction(1)


class _Passed(NamedTuple):
    """What the laws made of a tick with some luck."""

    change: Change
    draws: tuple[LuckyDraw, ...]
    probability: Fraction
    titles: tuple[str, ...]


_NOTHING = (_Passed((), (), _CERTAIN, ()),)


class _Ended(NamedTuple):
    """What is latched and awarded after a tick, and what of it is news."""

    latched: tuple[str, ...]
    awarded: tuple[int, ...]
    news: tuple[str, ...]


class Leaps:
    """The successors of the states of one search. `begin` comes before the commands of a state;
    ``waits``: to do nothing is one of them."""

    def __init__(
        self, quick: QuickTicks, marks: Marks, rests: Rests, patches: Patches, deeds: Deeds,
        *, waits: bool,
    ) -> None:  # fmt: skip
        self._quick, self._marks, self._rests = quick, marks, rests
        self._patches, self._deeds, self._waits = patches, deeds, waits
        self._passed: dict[Hashable, tuple[_Passed, ...] | None] = {}
        self._ended: dict[Hashable, _Ended] = {}
        self._watched: set[Hashable] = set()
        self._phase, self._ends = getter(rests.phases), getter(rests.endings)
        self._past = getter(rests.past)
        self._seen = None if rests.watches is None else getter(rests.watches)
        self._state: State | None = None

    def begin(self, state: State) -> bool:
        """Make ready for the commands of a state; whether they can be looked up at all."""
        marks = self._marks
        marks.begin(state)
        usable = self._rests.usable and not (state.longs or marks.gaps(state) or self._hides(state))
        if usable and state is not self._state:
            self._parts, self._roll = marks.parts, marks.roll
            clock = marks.clock(state.tick) if self._rests.timed else ()
            self._after_clock = marks.clock(state.tick + 1)
            self._last = is_last(state, state)
            self._basis = (self._roll, state.seat if len(state.actors) > 1 else 0, *clock)
            self._began = self._parts if state.round is None else marks.parts_of(state.round)
            self._before = self._past(self._began)
        self._state = state
        return usable

    def _hides(self, state: State) -> bool:
        """Whether laws look at a start of the tick at which others lived."""
        return bool(self._rests.past) and _grew(state)

    def moves(
        self, state: State, listener: Listener | None
    ) -> Iterator[tuple[Command, list[Way[State]] | None]]:
        """Every command of the state with all its outcomes; ``None`` where the stepper must say."""
        parts = self._parts
        for command, own in self._deeds.of(state, parts, self._basis):
            yield command, None if own is None else self._ways(state, command, own, listener)
        if self._waits or len(state.actors) > 1:
            yield PASS, self._ways(state, PASS, (), listener)

    def _ways(
        self, state: State, command: Command, own: Change, listener: Listener | None
    ) -> list[Way[State]] | None:
        if not self._last:
            return [self._handed_on(state, command, own, listener)]
        parts = changed(self._parts, own)
        passed = self._laws(state, command, own, parts)
        if passed is None:
            return None
        return [self._closed(state, command, own, parts, one, listener) for one in passed]

    # ---- what the laws do ---------------------------------------------------------------------

    def _laws(
        self, state: State, command: Command, own: Change, parts: Parts
    ) -> tuple[_Passed, ...] | None:
        deeds = state.deeds_after(command) if self._rests.deeds else ()
        key = (self._basis, self._phase(parts), self._before, deeds)
        known = self._passed
        if key not in known:
            if len(known) >= MOST:
                known.clear()
            try:
                known[key] = self._played(state, command, own, parts)
            except (Breach, Broken, NoUniform):
                known[key] = None
        return known[key]

    def _played(
        self, state: State, command: Command, own: Change, parts: Parts
    ) -> tuple[_Passed, ...] | None:
        if not self._quick.laws:
            return _NOTHING
        opened, found = self._patches.made(state, self._parts, own), list[_Passed]()
        opened.deeds = state.deeds_after(command)
        prefix: tuple[int, ...] | None = ()
        while prefix is not None:
            luck = ExploringLuck(prefix)
            after, titles = self._quick.passed(state, opened.fork(), luck)
            if after.kinds is not state.kinds:
                return None
            change, named = self._patches.between(parts, after), tuple(dict.fromkeys(titles))
            found.append(_Passed(change, tuple(luck.taken), luck.probability, named))
            self._quick.look(len(found))
            prefix = luck.next_prefix()
        return tuple(found)

    # ---- what is left -------------------------------------------------------------------------

    def _handed_on(
        self, state: State, command: Command, own: Change, listener: Listener | None
    ) -> Way[State]:
        """The next actor's turn."""
        make = partial(self._next, state, self._parts, command, own)
        if listener is not None:
            listener.leapt(command, (), (), ())
        parts = changed(self._parts, own)
        midway = self._marks.midway_after(state, command)
        told = self._marks.history(state.tick, state.awarded)
        mark = (*parts, self._roll, state.latched, (), told, *midway)
        return Way(mark, (), _CERTAIN, make)

    def _closed(
        self,
        state: State,
        command: Command,
        own: Change,
        parts: Parts,
        passed: _Passed,
        listener: Listener | None,
    ) -> Way[State]:
        """The end of a round."""
        change = passed.change
        after = changed(parts, change)
        ended = self._end(state, (*own, *change), after)
        make = partial(self._after, state, self._parts, (*own, *change), ended)
        if listener is not None:
            if listener.watches and self._may_speak(state, after):
                came = Came(make(), ExploringLuck(()), passed.titles, ended.news)
                listener.happened(state, command, came)
            else:
                listener.leapt(command, passed.titles, ended.news, ended.awarded)
        told = self._marks.history(state.tick + 1, ended.awarded)
        mark = (*after, self._roll, ended.latched, (), told)
        return Way(mark, passed.draws, passed.probability, make)

    def _may_speak(self, state: State, after: Parts) -> bool:
        """Whether something may be news to a watch: not where all that watches look at was the same
        before, at the start of a tick and at its end."""
        if self._seen is None or state.told is not None or _grew(state):
            return True
        key = self._basis, self._seen(self._began), self._seen(after)
        if key in self._watched:
            return False
        self._watched.add(key)
        return True

    def _end(self, state: State, change: Change, parts: Parts) -> _Ended:
        """Which endings latch and which awards are given."""
        now = self._after_clock if self._rests.timed else ()
        key = (self._roll, state.latched, state.awarded, now, self._ends(parts))
        found = self._ended.get(key)
        if found is None:
            if len(self._ended) >= MOST:
                self._ended.clear()
            after = self._patches.put(state, change)
            news = self._quick.closed(state, after)
            found = self._ended[key] = _Ended(after.latched, after.awarded, news)
        return found

    def _after(self, state: State, parts: Parts, change: Change, ended: _Ended) -> State:
        new = self._patches.made(state, parts, change)
        new.latched, new.awarded = ended.latched, ended.awarded
        new.deeds, new.drawn = (), NO_DRAWS
        new.turn, new.round, new.told = 0, None, None
        new.tick += 1
        return new

    def _next(self, state: State, parts: Parts, command: Command, change: Change) -> State:
        new = self._patches.made(state, parts, change)
        new.deeds = state.deeds_after(command)
        new.turn, new.round = state.seat + 1, state.round or state
        return new


def _grew(state: State) -> bool:
    """Whether somebody came or went since the start of the tick."""
    return state.round is not None and state.round.kinds is not state.kinds
