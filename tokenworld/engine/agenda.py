"""The bindings for which rules hold, kept up to date from state to state.

Each binding waits at slots: a false one at those that its first false condition read, a true one
at all that its conditions read (watched literals, as in solvers of propositional logic: Moskewicz
and others, *Chaff*, 2001). When another state is asked about, only bindings that wait at a slot
that may differ from the last one (see `trail`) are tried again. A step costs as much as what it
touches, however many bindings there are; going back and aside works the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tokenworld.engine.delta import Breach
from tokenworld.engine.probe import Probe
from tokenworld.engine.state import State
from tokenworld.engine.trail import ALL, Slot, Trail, between
from tokenworld.ground import Raw

__all__ = ["Agenda", "Standing"]

FAR = 2_000
"""Slots that may differ at most; with more, all bindings are tried anew."""
MOST = 400_000
"""Bindings of all rules together that are kept."""
IDLE = 3
"""Times that a binding may be tried in vain before it waits only for what is missing."""


class Standing:
    """One rule of an agenda. ``rows`` gives the bindings that may hold in a state, in order, each
    with what it is told as; ``None`` where there are too many."""

    __slots__ = ("_first", "_listed", "_told", "holding", "probe", "rows")

    def __init__(
        self,
        probe: Probe,
        rows: Callable[[State], Sequence[tuple[tuple[Raw, ...], Any]] | None],
    ) -> None:
        self.probe, self.rows = probe, rows
        self.begin(0, [])

    def begin(self, first: int, told: list[Any]) -> None:
        """Forget what holds; the bindings are numbered from ``first`` on."""
        self._first, self._told = first, told
        self.holding: set[int] = set()
        self._listed: list[Any] | None = None

    def changed(self) -> None:
        """Note that other bindings hold now."""
        self._listed = None

    def true(self) -> list[Any]:
        """What the bindings that hold are told as, in order; the list is never changed again."""
        if self._listed is None:
            told, first = self._told, self._first
            self._listed = [told[number - first] for number in sorted(self.holding)]
        return self._listed


class Agenda:
    """The rules of one kind, by name, with the slots at which their bindings wait. ``still`` are
    the columns that play never changes: nothing waits at them, so a change starts anew."""

    def __init__(self, rules: dict[str, Standing], still: frozenset[int]) -> None:
        self.rules, self._still = rules, still
        self._at: Trail | None = None
        self._me: int | None = None
        self._built = False

    def follow(self, state: State, me: int | None) -> bool:
        """Bring the rules to a state; whether their answers are right for it now.

        Not where the state has nothing to do with the last one: then trying everything once, as
        the caller does, is cheaper than to set up what may not be asked for again.
        """
        before, self._at = self._at, state.trail
        if before is state.trail and self._built and me == self._me:
            return True
        changed = None if before is None or not self.rules else between(before, state.trail)
        if changed is None or len(changed) > FAR:
            self._built = False
            return False
        try:
            if self._built and me == self._me:
                self._built = self._update(state, changed)
            if not self._built:
                self._built = self._build(state, me)
        except _UnfitError as unfit:
            self.rules = {name: one for name, one in self.rules.items() if one is not unfit.rule}
            self._built = False
        return self._built

    # ---- setting up -----------------------------------------------------------------------------

    def _build(self, state: State, me: int | None) -> bool:
        self._me = me
        self._owner: list[Standing] = []
        self._row: list[tuple[Raw, ...]] = []
        self._waits: list[tuple[Slot, ...]] = []
        self._idle: list[int] = []
        self._watch: dict[Slot, set[int]] = {}
        self._columns: dict[int, set[int]] = {}
        for rule in self.rules.values():
            rows = rule.rows(state)
            if rows is None or len(rows) + len(self._row) > MOST:
                raise _UnfitError(rule)
            rule.begin(len(self._row), [told for _, told in rows])
            self._row += [args for args, _ in rows]
            self._owner += [rule] * len(rows)
        self._waits = [()] * len(self._row)
        self._idle = [IDLE] * len(self._row)
        self._try(state, range(len(self._row)))
        return True

    # ---- going on -------------------------------------------------------------------------------

    def _update(self, state: State, changed: set[Slot]) -> bool:
        watch, columns = self._watch, self._columns
        woken: set[int] = set()
        for slot in changed:
            waiting = watch.get(slot)
            if waiting:
                woken |= waiting
            if slot[1] is ALL or slot[0] in self._still:
                return False
            if columns and slot[0] in columns:
                woken |= columns[slot[0]]
        self._try(state, woken)
        return True

    def _try(self, state: State, numbers: Iterable[int]) -> None:
        """Try bindings in a state and let them wait where that rests on now.

        One that holds no more goes on waiting at all its slots, for it may soon hold again; not if
        it was tried in vain a few times.
        """
        owner, row, me, idle = self._owner, self._row, self._me, self._idle
        for number in numbers:
            rule = owner[number]
            probe, holding = rule.probe, rule.holding
            try:
                slots = probe.first(state, state, me, *row[number])
                if slots is None:
                    if number not in holding:
                        holding.add(number)
                        rule.changed()
                    if idle[number] == IDLE or not probe.fixed:
                        self._wait(number, probe.every(state, state, me, *row[number]))
                    idle[number] = 0
                    continue
            except Breach:  # a number is undefined: not to be had from slots alone
                raise _UnfitError(rule) from None
            if number in holding:
                holding.discard(number)
                rule.changed()
            elif idle[number] < IDLE:
                idle[number] += 1
            if idle[number] == IDLE or not probe.fixed:
                idle[number] = IDLE
                self._wait(number, slots)

    def _wait(self, number: int, slots: tuple[Slot, ...]) -> None:
        before = self._waits[number]
        if before == slots:
            return
        for slot in before:
            place = self._columns[slot[0]] if slot[1] is ALL else self._watch[slot]
            place.discard(number)
        self._waits[number] = slots
        for slot in slots:
            if slot[1] is ALL:
                self._columns.setdefault(slot[0], set()).add(number)
            elif slot in self._watch:
                self._watch[slot].add(number)
            else:
                self._watch[slot] = {number}


class _UnfitError(Exception):
    """A rule cannot be kept; it goes back to being tried in every state."""

    def __init__(self, rule: Standing) -> None:
        super().__init__()
        self.rule = rule
