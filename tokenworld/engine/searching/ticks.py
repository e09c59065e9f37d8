"""Ticks for a search, whole and in pieces, the commands it tries, and the luck it explores.

Nothing is said, and no watch is asked. A command is carried out on the row of a state, in place,
and taken back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from threading import RLock
from typing import Any, Generic, Protocol, TypeVar

from tokenworld.core.walk import is_draw
from tokenworld.engine.changes import Breach
from tokenworld.engine.columns import Layout
from tokenworld.engine.luck import Counts, DrawKey, ExploringLuck, Luck, SeededLuck
from tokenworld.engine.rows import Record, Row, RowStepper
from tokenworld.engine.rows.layout import AWARDED, DRAWN, KINDS, LATCHED, LONGS, ROUND, TICK
from tokenworld.engine.rows.legal import Args, Legal
from tokenworld.engine.rows.questions.asking import may
from tokenworld.engine.rows.stepper import Tick
from tokenworld.engine.searching.keys import Kept
from tokenworld.engine.state import LongAction, State
from tokenworld.ground import (
    Command,
    Enough,
    Instance,
    Known,
    LuckyDraw,
    NoMatch,
    Prose,
    SeenDraw,
    Unfinished,
)

LuckT = TypeVar("LuckT", bound=Luck)

_SEEDED = SeededLuck()
_OFTEN = 128
"""Every so many outcomes of one command it is asked whether they are enough."""


@dataclass(slots=True)
class Came(Generic[LuckT]):
    """One outcome: the record, the state after it, the slots in which that differs from the one
    before, the luck it took."""

    record: Record
    after: Kept
    written: Sequence[int]
    luck: LuckT


class Listener(Protocol):
    """Observes the edges that a search looks at."""

    def observe(self, before: Kept, record: Record, after: Kept) -> None:
        """Receive the record of a command, kept or discarded."""

    def executed(
        self,
        command: Command,
        titles: tuple[str, ...],
        latched: tuple[str, ...],
        awarded: tuple[int, ...],
    ) -> None:
        """Successor found in the cache: receive the parts of the record that are cached."""

    def watch(self, before: Kept, after: Kept) -> None:
        """Receive two states between which a watch may fire."""

    @property
    def watches(self) -> bool:
        """Return whether some watches did not fire yet."""


class SearchStepper(RowStepper):
    """Steps rows for searches, without the texts of watches and without payments. Parallel searches
    share it; each holds the ``lock`` while it steps."""

    in_pieces = True

    def __init__(
        self, instance: Instance, layout: Layout, prose: Prose, base: State, *,
        quiet: bool = True, fixed: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(instance, layout, prose, base, quiet=quiet, fixed=fixed)
        self.pays, self.lock, self.fixed = (), RLock(), fixed

    def _needs_start(self) -> bool:
        rules = (*self.rules.in_play, *(x.footprint for x in self.rules.invariants.values()))
        return any(one.looks_back for one in rules)

    def watch(self, row: Row, reported: list[Any], record: Record, luck: Luck) -> None:
        """Watches are not asked."""


def leads_on(record: Record) -> bool:
    """Return whether a record is that of an executed command, and so leads to a successor."""
    return record.status in ("executed", "waiting", "interrupted") and record.by == "player"


class Ticks:
    """All outcomes of commands in one world."""

    def __init__(self, stepper: RowStepper) -> None:
        self._stepper, self._slots = stepper, stepper.slots
        self._guarded = bool(stepper.rules.invariants)
        self._several = len(stepper.actors) > 1
        self.enough: Enough | None = None

    def look(self, count: int) -> None:
        """Raise `Unfinished` if ``enough`` says that ``count`` outcomes are too many."""
        if self.enough is not None and count % _OFTEN == 0 and self.enough(count):
            raise Unfinished

    # ---- whole ticks --------------------------------------------------------------------------

    def outcomes(self, state: Kept, command: Command) -> Iterator[Came[ExploringLuck]]:
        """All outcomes of a command, each combination of draws once."""
        prefix: tuple[int, ...] | None = ()
        count = 0
        while prefix is not None:
            luck = ExploringLuck(prefix)
            yield self.outcome(state, command, luck)
            count += 1
            self.look(count)
            prefix = luck.next_prefix()

    def outcome(self, state: Kept, command: Command | NoMatch, luck: LuckT) -> Came[LuckT]:
        """The outcome of a command with some luck."""
        row = Row(self._slots, state.S)
        try:
            record = self._stepper.tick(row, command, luck)[-1]
            return Came(record, Kept(self._slots, state.S[:]), row.J[::2], luck)
        finally:
            row.undo(0)

    # ---- pieces -------------------------------------------------------------------------------

    @property
    def laws(self) -> bool:
        """Return whether anything happens or is checked at the end of a tick."""
        return bool(self._stepper.phases) or self._guarded

    def at(self, state: Kept) -> Tick:
        """A tick of a state to ask for pieces of it."""
        return Tick(self._stepper, Row(self._slots, state.S), _SEEDED)

    def effects(self, tick: Tick, command: Command, luck: ExploringLuck) -> bool:
        """Carry out a command's own changes alone, in place; false where it is not executed.
        `Breach` where it cannot be."""
        row = tick.row
        began = row.S[ROUND] or row.S
        tick.anew(luck, began)
        done = tick.does(command)
        if done and self._several:
            self._check(row, began)
        return done

    def passed(self, row: Row, began: list[Any], luck: ExploringLuck) -> tuple[str, ...]:
        """Let the phases of a tick run, in place: the titles of the laws that fired."""
        record, tick = Record("executed"), Tick(self._stepper, row, luck)
        tick.start = tick.reported = began
        tick.pass_time(record)
        self._check(row, began)
        return tuple(dict.fromkeys(title for title, _ in record.fired))

    def _check(self, row: Row, began: list[Any]) -> None:
        if self._guarded:
            self._stepper.guards.check_invariants(row, began, None, (), self._stepper.me)

    def ended(self, row: Row) -> tuple[tuple[str, ...], tuple[int, ...], tuple[str, ...]]:
        """Give awards and latch endings at the end of a tick, in place; return the latched endings,
        the awards given, and the endings reached in this tick."""
        news = Tick(self._stepper, row, _SEEDED).progress()
        return row.S[LATCHED], row.S[AWARDED], news


# ---- Commands that the author's requires allow --------------------------------------------------


class Allowed(Legal):
    """Lists commands that are legal for some luck: by the author's requires alone, for each outcome
    of ``cancelled``."""

    def __init__(self, stepper: RowStepper) -> None:
        super().__init__(stepper)
        self._trials = {}
        rules = stepper.rules
        births = bool(rules.births)
        self._cancel_draws = frozenset(
            name
            for name, one in rules.actions.items()
            if births or any(map(is_draw, (*one.guards, *one.cancelled)))
        )

    def of(self, tick: Tick, name: str) -> list[Command]:
        """Those of one action, while play goes on."""
        row, made = tick.row, self.made[name]
        if name in self._counts and not self._is_listed(row, name):
            return []
        long = tick.long() if row.S[LONGS] else None
        if long is None:
            return [made[args] for args in self.found(row, tick, name)]
        return [made[args] for args in self._busy(row, tick, name, long)]

    def _busy(self, row: Row, tick: Tick, name: str, long: LongAction) -> list[Args]:
        """The bindings of an action while a long one is under way: it is broken off first."""
        own, kinds = long.command.action, row.S[KINDS]
        if name == own or name in self._free or own in self._cancel_draws:
            return self._tried(row, tick, name)
        mark = row.mark
        try:
            tick.break_off(long, "")
            alike = row.S[KINDS] is kinds  # a binding is one of those who live now
            found = self.found(row, tick, name) if alike else None
        except Breach:
            found = []
        row.undo(mark)
        return self._tried(row, tick, name) if found is None else found

    def tried(self, tick: Tick, name: str, bindings: Iterable[Args]) -> list[Args]:
        """Those of some bindings of an action that may be carried out."""
        long = tick.long()
        unsettled = long is not None and long.command.action in self._cancel_draws
        made, found = self.made[name], []
        for args in bindings:
            command = made[args]
            try:
                if (unsettled and not tick.is_free(command)) or may(tick, command):
                    found.append(args)
            except Breach:
                continue  # how long it takes has no value: it would be in error
        return found


# ---- Luck that may have been seen already -------------------------------------------------------
# A command that fails takes no draw: given again in the same tick, it draws the same. So each
# failed try bounds the values of its draws, and these bounds decide the next try (language.md §13).

Span = tuple[Fraction, Fraction]
_WHOLE: Span = (Fraction(0), Fraction(1))


class TriedLuck(ExploringLuck):
    """Explores the outcomes that agree with the known draws. ``spans`` gives for each draw its
    bounds as shares of 1, those of this try included."""

    def __init__(self, prefix: Sequence[int], spans: Mapping[DrawKey, Span]) -> None:
        super().__init__(prefix)
        self.spans = dict(spans)
        self._chance = Fraction(1)

    @property
    def probability(self) -> Fraction:
        return self._chance

    def choose(
        self, key: DrawKey, seed: int, tick: int, weights: Sequence[int], site: str = ""
    ) -> int:
        low, high = self.spans.get(key, _WHOLE)
        possible = {
            index: (max(low, begin), min(high, end))
            for index, begin, end in _shares(weights)
            if max(low, begin) < min(high, end)
        }
        indices = tuple(possible)
        choice = indices[0]
        if len(indices) > 1:
            depth = len(self.choices)
            choice = self._prefix[depth] if depth < len(self._prefix) else choice
            self.choices.append((choice, indices))
        if sum(1 for weight in weights if weight) > 1:
            self.taken.append(LuckyDraw(*key, choice, len(weights), site, tuple(weights)))
            self.spans[key] = possible[choice]
            self._chance *= (possible[choice][1] - possible[choice][0]) / (high - low)
        return choice


def _shares(weights: Sequence[int]) -> Sequence[tuple[int, Fraction, Fraction]]:
    """Each alternative with where its share of 1 begins and ends."""
    total, reached, found = sum(weights), 0, []
    for index, weight in enumerate(weights):
        found.append((index, Fraction(reached, total), Fraction(reached + weight, total)))
        reached += weight
    return found


class SeenLuck(SeededLuck):
    """The draws of the seed, and between which shares of 1 each of them was seen to lie."""

    def __init__(self, spans: Mapping[DrawKey, Span]) -> None:
        self.spans = dict(spans)

    def choose(
        self, key: DrawKey, seed: int, tick: int, weights: Sequence[int], site: str = ""
    ) -> int:
        choice = super().choose(key, seed, tick, weights, site)
        low, high = self.spans.get(key, _WHOLE)
        _, begin, end = _shares(weights)[choice]
        self.spans[key] = (max(low, begin), min(high, end))
        return choice


def spans_of(drawn: Counts, known: Known) -> Mapping[DrawKey, Span]:
    """The known spans of draws, numbered within the tick in which these were taken."""
    return {
        (one.rule, one.args, one.draw + drawn.get((one.rule, one.args), 0)): one.span
        for one in known
    }


def left(before: list[Any], after: list[Any], spans: Mapping[DrawKey, Span]) -> Known:
    """The known draws that are still to come in this tick, numbered from the next one."""
    if after[TICK] != before[TICK]:
        return frozenset()
    seen = (
        SeenDraw(rule, args, number - after[DRAWN].get((rule, args), 0), span)
        for (rule, args, number), span in spans.items()
    )
    return frozenset(one for one in seen if one.draw >= 0)
