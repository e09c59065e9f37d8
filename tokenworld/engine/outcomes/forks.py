"""Execute a tick on all its outcomes at once, unit by unit.

A unit is the effect of a command, one turn of a sequential phase, or a simultaneous phase, whose
bindings are executed one by one (`requests`). Each unit alone is executed again, once for each
combination of its draws, and equal outcomes are merged. The steps after the phases (invariants,
endings, watches, score) are the tick's own code, once for each remaining outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tokenworld.engine.changes import Breach
from tokenworld.engine.luck import RecordingLuck
from tokenworld.engine.outcomes.partial import (
    UNKEPT,
    Combination,
    ForkLuck,
    Partial,
    Request,
    heaviest,
    merged,
)
from tokenworld.engine.outcomes.seen import Seen
from tokenworld.engine.rows.laws import Order, are_alive
from tokenworld.engine.rows.layout import KINDS, ROUND
from tokenworld.engine.rows.log import Log, Row, rewarded
from tokenworld.engine.rows.record import Record
from tokenworld.engine.rows.stepper import Args, RowStepper, Tick, Together
from tokenworld.ground import Command, LuckyDraw, NoMatch

Law = Callable[..., None]


class TooMany(Exception):
    """More partial outcomes than allowed agree with the observation."""


class _Stopped(Exception):
    """A tick stopped where its time passes, with the record so far."""

    def __init__(self, record: Record) -> None:
        super().__init__()
        self.record = record


class _Head(Tick):
    """A tick up to where its time passes."""

    def pass_time(self, record: Record) -> None:
        raise _Stopped(record)


class _Unit(Tick):
    """A tick whose units are executed one by one."""

    def log(self) -> Log:
        """The log of a unit of a phase."""
        return self._log("", ())

    def write(self, log: Log, record: Record) -> None:
        """Commit a log."""
        self._commit(log, record)


class _Tail(Tick):
    """A tick whose time passes to a partial outcome; ``base`` is the row before it."""

    partial: Partial
    base: Sequence[Any]

    def pass_time(self, record: Record) -> None:
        row, partial = self.row, self.partial
        for own, kept in zip(_pasts(self), partial.pasts, strict=False):
            own[:] = kept
        if partial.breach is not None:
            raise partial.breach
        written, mark = partial.written, row.mark
        for slot in dict.fromkeys(row.J[self.mark :: 2]):
            if slot not in written and slot not in UNKEPT and row.S[slot] != self.base[slot]:
                row.set(slot, self.base[slot])
        row.slots.fill(row.S)
        for slot, value in written.items():
            if row.S[slot] != value:
                row.set(slot, value)
        record.law_changes += _told(row, mark)
        record.fault = record.fault or partial.fault
        row.paid = list(partial.paid)
        record.reward = rewarded(partial.paid[partial.owed :], record.reward)


def _pasts(tick: Tick) -> tuple[list[Any], ...]:
    """The rows that a tick looks back at, apart from the present one."""
    found = (tick.start, tick.reported, tick.row.S[ROUND])
    return tuple(one for one in found if one is not None and one is not tick.row.S)


def _told(row: Row, mark: int) -> Iterator[Any]:
    """The changes since a mark, without their rules."""
    first: dict[int, Any] = {}
    for slot, old in zip(row.J[mark::2], row.J[mark + 1 :: 2], strict=True):
        first.setdefault(slot, old)
    for slot, old in first.items():
        store = row.slots.owner[slot]
        if store is not None and old != row.S[slot]:
            args = row.slots.args[slot]
            key = args if store.column.tupled else store.column.key(args)
            yield store.column, key, old, row.S[slot], ""


@dataclass(slots=True)
class Leaf:
    """An outcome; the row still is as the outcome leaves it."""

    records: list[Record]
    weight: Any
    likely: float
    draws: tuple[LuckyDraw, ...]


@dataclass
class Forks:
    """One command on the row of a state. With ``seen``, partial outcomes that contradict an
    observed successor are dropped, and `factors` are the total weights before each unit that left
    one partial outcome; without, only the likeliest ``most`` are kept, and `lost` are the weights
    of the others. ``luck`` and ``log`` define the weights of alternatives."""

    stepper: RowStepper
    row: Row
    intent: Command | NoMatch
    most: int
    seen: Seen | None = None
    luck: type[ForkLuck] = ForkLuck
    log: type[Log] = Log
    lost: list[Any] = field(default_factory=list)
    factors: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        of, row = self.stepper, self.row
        row.slots.fill(row.S)
        self._base = row.S[:]
        self._here: Partial | None = None
        self._unit = self._asked(_Unit, self.luck(()))
        self._births = bool(row.slots.creates) and (of.looks_back or len(of.actors) > 1)

    def _asked(self, kind: type[Any], luck: ForkLuck) -> Any:
        tick = kind(self.stepper, self.row, luck)
        tick.log_type = self.log
        return tick

    def leaves(self) -> Iterator[Leaf]:
        """Every outcome, some of them equal."""
        partial = list[Partial]()
        for found in self._heads():
            if isinstance(found, Leaf):
                yield found
            else:
                partial.append(found)
        partial = self._kept(partial)
        for number, phase in enumerate(self.stepper.phases):
            if isinstance(phase, Order):
                partial = self._in_turn(number, phase, partial)
            else:
                partial = self._together(number, phase, partial)
        for one in partial:
            yield from self._tails(one)
        self._back()

    # ---- before and after the phases ----------------------------------------------------------

    def _heads(self) -> Iterator[Leaf | Partial]:
        """The outcomes in which no time passes, and the partial ones before it does."""
        prefix: tuple[int, ...] | None = ()
        while prefix is not None:
            self._back()
            luck = self.luck(prefix)
            tick = self._asked(_Head, luck)
            try:
                records = tick.intent(self.intent)
            except _Stopped as stop:
                yield self._stopped(tick, stop.record, luck)
            else:
                yield Leaf(records, luck.weight, float(luck.probability), tuple(luck.taken))
            prefix = luck.following()

    def _stopped(self, tick: Tick, record: Record, luck: ForkLuck) -> Partial:
        self._unit.start, self._unit.reported = tick.start, tick.reported
        paid = tuple(self.row.paid)
        pasts = tuple(one[:] for one in _pasts(tick)) if self._births else ()
        taken = tuple(one for one, _ in luck.choices)
        return Partial(
            self._written({}, 0), luck.weight, float(luck.probability), tuple(luck.taken), taken,
            record.status, paid, len(paid), record.fault, pasts=pasts,
        )  # fmt: skip

    def _tails(self, partial: Partial) -> Iterator[Leaf]:
        """The end of the tick for a partial outcome."""
        todo: tuple[int, ...] | None = partial.head
        while todo is not None:
            self._back()
            luck = self.luck(todo, len(partial.head))
            tick = self._asked(_Tail, luck)
            tick.partial, tick.base = partial, self._base
            records = tick.intent(self.intent)
            draws = (*partial.draws, *luck.taken[len(partial.head) :])
            records[-1].draws = list(draws)
            yield Leaf(records, partial.weight * luck.weight, partial.likely, draws)
            todo = luck.following()

    # ---- moving about -------------------------------------------------------------------------

    def _back(self) -> None:
        """Restore the row of before the tick."""
        self.row.undo(0)
        self._here = None

    def _go(self, partial: Partial) -> None:
        """Set the row to a partial outcome."""
        row, unit = self.row, self._unit
        if self._here is partial:
            return
        row.undo(0)
        row.slots.fill(row.S)
        for slot, value in partial.written.items():
            row.set(slot, value)
        self._here = partial
        if partial.pasts:
            unit.start, unit.reported, *began = (one[:] for one in partial.pasts)
            for one in began:
                row.set(ROUND, one)

    def _written(self, before: dict[int, Any], mark: int) -> dict[int, Any]:
        """The written slots now, from those before and the journal since a mark."""
        S, base, blank = self.row.S, self._base, self.row.slots.blank
        found = dict(before)
        for slot in dict.fromkeys(self.row.J[mark::2]):
            if slot in UNKEPT:
                continue
            first = base[slot] if slot < len(base) else blank[slot]
            if S[slot] == first:
                found.pop(slot, None)
            else:
                found[slot] = S[slot]
        return found

    def _kept(self, found: list[Partial], *, whole: bool = True) -> list[Partial]:
        """Equal ones together, and no more than allowed; ``whole``: there are no others."""
        partial = merged(found)
        if self.seen is None:
            partial, lost = heaviest(partial, self.most)
            self.lost += [one.weight for one in lost]
        elif len(partial) > self.most:
            raise TooMany
        elif len(partial) == 1 and whole and partial[0].weight != self.luck.one:
            self.factors.append(partial[0].weight)
            partial[0].weight = self.luck.one
        return partial

    # ---- units --------------------------------------------------------------------------------

    def _ways(self, partial: Partial, unit: Callable[[Record], bool]) -> Iterator[Partial]:
        """The partial outcomes after a unit, for each combination of its draws. ``unit`` executes
        it and returns whether anything happened; if not, the partial outcome itself is returned."""
        todo: tuple[int, ...] | None = ()
        while todo is not None:
            luck = self.luck(todo)
            self._unit.luck = RecordingLuck(luck)
            now = self._done(partial, unit, luck)
            yield now
            todo = luck.following()

    def _done(
        self, before: Partial, unit: Callable[[Record], bool], luck: ForkLuck | Combination
    ) -> Partial:
        """The partial outcome after a unit with some luck."""
        row, unit_of = self.row, self._unit
        self._go(before)
        mark, record, breach = row.mark, Record("executed"), None
        row.paid = list(before.paid)
        try:
            happened = unit(record)
        except Breach as found:
            happened, breach = True, found
        drew = isinstance(luck, Combination) or bool(luck.choices)
        if not happened and not drew:
            return before
        now = replace(
            before, paid=tuple(row.paid), fault=before.fault or record.fault, breach=breach,
            written=self._written(before.written, mark),
        )  # fmt: skip
        if isinstance(luck, Combination):
            now.draws, now.likely = (*before.draws, *luck.draws), before.likely * luck.likely
            now.weight = before.weight * luck.weight
        elif drew:
            now.draws, now.likely = (*before.draws, *luck.taken), before.likely * luck.probability
            now.weight = before.weight * luck.weight
        if before.pasts:
            pasts = (unit_of.start, unit_of.reported, row.S[ROUND])
            now.pasts = tuple(one[:] for one in pasts if one is not None)
        if drew or breach is not None or before.pasts:
            self._back()
        else:
            self._here = now  # the row is there already
        return now

    # ---- objects in turn ----------------------------------------------------------------------

    def _in_turn(self, number: int, order: Order, partial: list[Partial]) -> list[Partial]:
        """Execute each turn on all partial outcomes, grouped by the turns to come."""
        found = [one for one in partial if one.breach is not None]
        groups: dict[int, tuple[Sequence[Any], list[Partial]]] = {}
        for one in partial:
            if one.breach is None:
                self._go(one)
                turns: Sequence[Any] = order.bindings(self.row)
                groups.setdefault(id(turns), (turns, []))[1].append(one)
        whole = len(groups) == 1 and not found
        for listed, group in groups.values():
            found += self._turns(number, listed, group, whole=whole)
        return found if whole else self._kept(found)

    def _turns(
        self, number: int, turns: Sequence[Any], partial: list[Partial], *, whole: bool
    ) -> list[Partial]:
        settled = None if self.seen is None else self.seen.in_turn(number, turns)
        for at, ((law, run), args) in enumerate(turns):
            found, same = list[Partial](), True
            for one in partial:
                if one.breach is not None:
                    found.append(one)
                    continue
                for now in self._ways(one, lambda record: self._turn(law, run, args, record)):  # noqa: B023
                    same = same and now is one
                    if settled is None or settled.agrees(at, one, now):
                        found.append(now)
            if self.seen is not None:
                self.seen.tell(len(found) == 0 < len(partial))
                same = same and len(found) == len(partial)
            partial = found if same else self._kept(found, whole=whole)
        return partial

    def _turn(self, law: Any, run: Law, args: Args, record: Record) -> bool:
        S, unit = self.row.S, self._unit
        if not are_alive(S[KINDS], law, args):
            return False
        log = unit.log()
        try:
            run(S, unit.start, self.stepper.me, log, *args)
            if log.fired:
                unit.write(log, record)
        except Breach as breach:
            raise breach.blamed(f"law {law.name}") from None
        return bool(log.fired)

    # ---- all at once --------------------------------------------------------------------------

    def _together(self, number: int, laws: Together, partial: list[Partial]) -> list[Partial]:
        found = list[Partial]()
        for one in partial:
            items = None if one.breach is not None else self._items(one, laws)
            if one.breach is not None:
                found.append(one)
            elif items is None:
                found += self._ways(one, lambda record: self._at_once(laws, record))
            else:
                found += self._combined(number, one, items)
        if self.seen is not None and found:
            found = self.seen.after(number, found)
        return self._kept(found)

    def _at_once(self, laws: Together, record: Record) -> bool:
        """Execute the whole phase with one luck."""
        log = self._unit.log()
        for title, law in laws:
            try:
                law(self.row.S, self._unit.start, self.stepper.me, log)
            except Breach as breach:
                raise breach.blamed(title) from None
        if log.fired:
            self._unit.write(log, record)
        return bool(log.fired)

    def _items(self, partial: Partial, laws: Together) -> list[list[Request]] | None:
        """The requests of each law, or of each of its bindings if it draws; ``None`` if they depend
        on each other, or one has no value."""
        rules, found = self.stepper.rules.laws, list[list[Request]]()
        if any(rules[title[4:]].footprint.creates for title, _ in laws):
            return None
        self._go(partial)
        mark = self.row.mark
        try:
            for title, law in laws:
                log, luck = self._run(law, (), ())
                if luck.choices:
                    turn = self.stepper.code["turn", title[4:]]
                    found += [self._requests(turn, args) for _, args in log.fired]
                elif log.fired:
                    found.append([Request(luck.one, 1.0, (), log)])
        except Breach:
            return None
        finally:
            self.row.undo(mark)
        return found

    def _run(self, law: Law, args: Args, prefix: tuple[int, ...]) -> tuple[Log, ForkLuck]:
        """The requests of a law with some luck; nothing is written."""
        luck, unit = self.luck(prefix), self._unit
        unit.luck = RecordingLuck(luck)
        log = unit.log()
        law(self.row.S, unit.start, self.stepper.me, log, *args)
        return log, luck

    def _requests(self, turn: Law, args: Args) -> list[Request]:
        """All possible requests of one binding."""
        found, prefix = list[Request](), ()
        todo: tuple[int, ...] | None = prefix
        while todo is not None:
            log, luck = self._run(turn, args, todo)
            found.append(Request(luck.weight, float(luck.probability), tuple(luck.taken), log))
            todo = luck.following()
        return merged(found)

    def _combined(
        self, number: int, partial: Partial, items: list[list[Request]]
    ) -> Iterator[Partial]:
        """Every combination of requests of bindings that agrees with the observation."""
        settled = None if self.seen is None else self.seen.together(number, items)
        every = [Combination(self.luck.one)]
        for at, ways in enumerate(items):
            longer = [one.longer(way) for one in every for way in ways]
            if settled is not None:
                self._go(partial)
                longer = settled.kept(at, longer, self.row)
            every = self._few(partial, merged(longer)) if len(ways) > 1 else longer
        for one in every:
            yield self._done(partial, lambda record: self._written_all(one, record), one)  # noqa: B023

    def _few(self, partial: Partial, found: list[Combination]) -> list[Combination]:
        """Keep the likeliest ``most`` combinations; raise `TooMany` with an observation."""
        if self.seen is not None:
            if len(found) > self.most:
                raise TooMany
            return found
        found, lost = heaviest(found, self.most)
        self.lost += [partial.weight * one.weight for one in lost]
        return found

    def _written_all(self, combination: Combination, record: Record) -> bool:
        log = combination.all_in(self._unit.log())
        if log.fired:
            self._unit.write(log, record)
        return bool(log.fired)
