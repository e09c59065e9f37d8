"""Successors by column: what an action or the laws make of a state, looked up where it is known.

What a command does by itself rests on the columns that its rule reads and writes, what the laws do
in a tick on theirs, and whether play ends on those of the endings. States differ in many ways, and
seldom in these. So each column counts as one variable whose values are the numbers of its marks
(see `marks`), and what came of the same numbers once is not worked out again. The first time, the
tick is played as everywhere (see `quick`), and the columns that it left are kept with their
numbers: a state is put together of them when somebody wants to see it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from operator import itemgetter
from typing import Any, NamedTuple

from tokenworld.engine.delta import Breach
from tokenworld.engine.guards import Broken
from tokenworld.engine.layout import Column
from tokenworld.engine.luck import ExploringLuck
from tokenworld.engine.rounds import is_last
from tokenworld.engine.searching.marks import Marks
from tokenworld.engine.searching.quick import Came, Listener, QuickTicks
from tokenworld.engine.searching.rests import Rests
from tokenworld.engine.state import State
from tokenworld.ground import Command, LuckyDraw, Way

__all__ = ["Leaps"]

_MOST = 1 << 18
"""Answers of each kind that are kept."""
_CERTAIN = Fraction(1)

Parts = Sequence[int]
Change = tuple[tuple[int, int], ...]
"""Columns that are others now: their places, and the numbers of what they hold."""


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


@dataclass(slots=True)
class _Deeds:
    """What a command came to, by what it rests on; ``None`` where the stepper must say."""

    command: Command
    of: Callable[[Parts], Hashable]
    known: dict[Hashable, Change | None]


class Leaps:
    """The successors of the states of one search. `begin` comes before the commands of a state."""

    def __init__(self, quick: QuickTicks, marks: Marks, rests: Rests) -> None:
        self._quick, self._marks, self._rests = quick, marks, rests
        self._columns: tuple[Column, ...] = marks.columns
        self._held: list[dict[int, tuple[Any, Any]]] = [{} for _ in self._columns]
        self._deeds: dict[int, _Deeds] = {}
        self._passed: dict[Hashable, tuple[_Passed, ...] | None] = {}
        self._ended: dict[Hashable, _Ended] = {}
        self._phase, self._ends = _getter(rests.phases), _getter(rests.endings)
        self._state: State | None = None
        self._usable = False

    def begin(self, state: State) -> bool:
        """Make ready for the commands of a state; whether they can be looked up at all."""
        marks = self._marks
        marks.begin(state)
        usable = not (state.longs or marks.gaps(state)) and self._rests.usable
        if usable and state is not self._state:
            self._parts, self._roll = marks.parts, marks.roll
            self._rings = marks.rings(state.tick) if self._rests.timed else ()
            self._after_rings = marks.rings(state.tick + 1)
            self._last = is_last(state, state)
            self._basis = (self._roll, state.seat if len(state.actors) > 1 else 0, *self._rings)
        self._state, self._usable = state, usable
        return usable

    def of(self, command: Command, listener: Listener | None) -> list[Way[State]] | None:
        """All outcomes of a command of the state; ``None`` where the stepper must say."""
        state = self._state
        assert state is not None
        own = self._own(state, command)
        if own is None:
            return None
        if not self._last:
            return [self._handed_on(state, command, own, listener)]
        parts = _changed(self._parts, own)
        passed = self._laws(state, own, parts)
        if passed is None:
            return None
        return [self._closed(state, command, own, parts, one, listener) for one in passed]

    # ---- what a command does ------------------------------------------------------------------

    def _own(self, state: State, command: Command) -> Change | None:
        if command.is_pass:
            return ()
        deeds = self._deeds.get(id(command))
        if deeds is None:
            places = self._rests.actions.get(command.action)
            if places is None:
                return None
            if len(self._deeds) >= _MOST:
                self._deeds.clear()
            deeds = self._deeds[id(command)] = _Deeds(command, _getter(places), {})
        key = (self._basis, deeds.of(self._parts))
        known = deeds.known
        if key in known:
            return known[key]
        found = known[key] = self._done(state, command)
        return found

    def _done(self, state: State, command: Command) -> Change | None:
        """The same, played."""
        luck = ExploringLuck(())
        try:
            done = self._quick.checked(state, command, luck)
        except (Breach, Broken):
            return None
        if done is None or luck.choices or done.kinds is not state.kinds:
            return None
        return self._change(self._parts, done)

    def _change(self, before: Parts, after: State) -> Change:
        """The columns in which a state differs; what they hold is kept."""
        found = []
        for place, number in enumerate(self._marks.parts_of(after)):
            if number != before[place]:
                found.append((place, number))
                index = self._columns[place].index
                self._held[place].setdefault(number, (after.cols[index], after.kids[index]))
        return tuple(found)

    # ---- what the laws do ---------------------------------------------------------------------

    def _laws(self, state: State, own: Change, parts: Parts) -> tuple[_Passed, ...] | None:
        key = (self._basis, self._phase(parts))
        known = self._passed
        if key not in known:
            if len(known) >= _MOST:
                known.clear()
            try:
                known[key] = self._played(state, own, parts)
            except (Breach, Broken):
                known[key] = None
        return known[key]

    def _played(self, state: State, own: Change, parts: Parts) -> tuple[_Passed, ...] | None:
        if not self._quick.laws:
            return _NOTHING
        opened, found = self._made(state, own), list[_Passed]()
        prefix: tuple[int, ...] | None = ()
        while prefix is not None:
            luck = ExploringLuck(prefix)
            after, titles = self._quick.passed(state, opened.fork(), luck)
            if after.kinds is not state.kinds:
                return None
            change, named = self._change(parts, after), tuple(dict.fromkeys(titles))
            found.append(_Passed(change, tuple(luck.taken), luck.probability, named))
            prefix = luck.next_prefix()
        return tuple(found)

    # ---- what is left -------------------------------------------------------------------------

    def _handed_on(
        self, state: State, command: Command, own: Change, listener: Listener | None
    ) -> Way[State]:
        """The next actor's turn."""
        make = partial(self._next, state, command, own)
        if listener is not None:
            listener.leapt(command, (), (), ())
        parts = _changed(self._parts, own)
        midway = self._marks.midway_after(state, command)
        rings = self._marks.rings(state.tick)
        mark = (*parts, self._roll, state.latched, (), rings, *midway)
        return Way(mark, (), _CERTAIN, False, make)

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
        after = _changed(parts, change) if change else parts
        ended = self._end(state, (*own, *change), after)
        make = partial(self._after, state, (*own, *change), ended)
        if listener is not None:
            if listener.watches:
                came = Came(make(), ExploringLuck(()), passed.titles, ended.news)
                listener.happened(state, command, came)
            else:
                listener.leapt(command, passed.titles, ended.news, ended.awarded)
        mark = (*after, self._roll, ended.latched, (), self._after_rings)
        return Way(mark, passed.draws, passed.probability, False, make)

    def _end(self, state: State, change: Change, parts: Parts) -> _Ended:
        """Which endings latch and which awards are given."""
        now = self._after_rings if self._rests.timed else ()
        key = (self._roll, state.latched, state.awarded, now, self._ends(parts))
        found = self._ended.get(key)
        if found is None:
            if len(self._ended) >= _MOST:
                self._ended.clear()
            after = self._shaped(state, change)
            news = self._quick.closed(state, after)
            found = self._ended[key] = _Ended(after.latched, after.awarded, news)
        return found

    def _shaped(self, state: State, change: Change) -> State:
        """A fork with other columns; they are shared, as those of the state are."""
        new = state.fork()
        for place, number in change:
            index = self._columns[place].index
            new.cols[index], new.kids[index] = self._held[place][number]
        return new

    def _made(self, state: State, change: Change) -> State:
        """The same for a state that is kept: its trail tells in which slots it differs."""
        new = self._shaped(state, change)
        for place, number in change:
            column = self._columns[place]
            new.trail.slots += _differing(column, state, self._held[place][number])
        return new

    def _after(self, state: State, change: Change, ended: _Ended) -> State:
        new = self._made(state, change)
        new.latched, new.awarded = ended.latched, ended.awarded
        new.deeds, new.acted = (), False
        new.turn, new.round, new.told = 0, None, None
        new.tick += 1
        return new

    def _next(self, state: State, command: Command, change: Change) -> State:
        new = self._made(state, change)
        if not command.is_pass:
            new.deeds = (*state.deeds, (state.acting, command))
        new.turn, new.round, new.acted = state.seat + 1, state.round or state, True
        return new


def _changed(parts: Parts, change: Change) -> Parts:
    if not change:
        return parts
    found = list(parts)
    for place, number in change:
        found[place] = number
    return found


def _getter(places: tuple[int, ...]) -> Callable[[Parts], Hashable]:
    """What takes the numbers at some places."""
    return itemgetter(*places) if places else lambda parts: ()


def _differing(column: Column, state: State, held: tuple[Any, Any]) -> list[tuple[int, Any]]:
    """The slots of a column in which a state differs from what is put there instead."""
    index, (stored, children) = column.index, held
    before, kids = state.cols[index], state.kids[index]
    if isinstance(stored, dict):
        keys = [key for key, _ in stored.items() ^ before.items()]
    else:
        pairs = zip(before, stored, strict=True)
        keys = [key for key, (old, new) in enumerate(pairs) if old is not new and old != new]
        if column.fluent.ordered and children is not None:
            moved = (pair for pair in zip(kids, children, strict=True) if pair[0] != pair[1])
            keys += [child for pair in moved for one in pair for child in one]
    return [(index, key) for key in keys]
