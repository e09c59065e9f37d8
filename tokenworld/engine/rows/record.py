"""One record of a tick, its form as an `Outcome`, and its hashes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import compress, count
from operator import ne
from typing import Any, NamedTuple

from tokenworld.engine.changes import Breach, BreachReport, RawChange, shown_key
from tokenworld.engine.columns import Column, Key
from tokenworld.engine.rows.layout import FACTS, HEAD, KINDS, NAMES, NOTHING, TICK, Slots, Store
from tokenworld.engine.rows.log import Row
from tokenworld.engine.saved.digest import SPAN, hashed, life_hash
from tokenworld.ground import (
    FRUITLESS,
    By,
    Change,
    Command,
    Json,
    LuckyDraw,
    NoMatch,
    Outcome,
    Raw,
    Refusal,
    RequireReport,
    Status,
    show_value,
)
from tokenworld.model import RealType

Args = tuple[Raw, ...]
MOST_HASHES = 50_000
"""Hashes of facts that are kept, for facts come and go."""
MOST_CHANGES = 50_000
"""Changes that are kept as records show them."""


def number_json(value: Fraction | float) -> int | float:
    """An exact number as a JSON number: whole where it can be."""
    if isinstance(value, float):
        return value
    return int(value) if value.denominator == 1 else float(value)


class Stamp(NamedTuple):
    """The row that a record leaves: its hash, the names in it, and who is asked next."""

    hash: str
    names: tuple[str, ...]
    next: str | None


class Before(NamedTuple):
    """The row that an intent met: its tick, who acts, and its stamp."""

    tick: int
    actor: str | None
    stamp: Stamp


class Broken(Breach):
    """An invariant or a conserved sum is broken by ``changes``, among objects with these names."""

    def __init__(
        self, report: BreachReport, changes: Sequence[RawChange], names: tuple[str, ...]
    ) -> None:
        super().__init__(report.code, report.kind, report.message, report.culprits)
        self.report, self.changes, self.names = report, changes, names


@dataclass(slots=True)
class Record:
    """One record of a tick. ``refused`` is the index of the first false require (``generated``
    names one that the language adds); ``fault`` is a text, score or reward without a value.
    ``names`` are those of the objects in ``discarded``."""

    status: Status
    command: Command | None = None
    refused: int | None = None
    generated: str = ""
    cause: str | None = None
    progress: tuple[int, int] | None = None
    breach: BreachReport | None = None
    no_match: NoMatch | None = None
    requires: tuple[RequireReport, ...] = ()
    changes: list[RawChange] = field(default_factory=list)
    law_changes: list[RawChange] = field(default_factory=list)
    discarded: list[RawChange] = field(default_factory=list)
    names: tuple[str, ...] | None = None
    said: list[str] = field(default_factory=list)
    events: list[tuple[str, tuple[Json, ...]]] = field(default_factory=list)
    reward: Fraction | float = Fraction(0)
    score: Fraction = Fraction(0)
    fired: list[tuple[str, Args]] = field(default_factory=list)
    draws: list[LuckyDraw] = field(default_factory=list)
    latched: tuple[str, ...] = ()
    time_passed: bool = False
    by: By = "player"
    fault: Breach | None = None
    after: Stamp | None = None

    @property
    def fruitless(self) -> bool:
        """Return whether the intent had no effect."""
        return self.status in FRUITLESS

    def alone(self) -> Record:
        """The record of an intent without effect, without the passage of time after it."""
        return replace(
            self, law_changes=[], said=[], events=[], fired=[], draws=[], latched=(),
            reward=Fraction(0), time_passed=False, after=None,
        )  # fmt: skip

    @property
    def made(self) -> Iterator[RawChange]:
        """All that was changed."""
        yield from self.changes
        yield from self.law_changes


class Shown:
    """Shows the records of one world."""

    def __init__(self, slots: Slots) -> None:
        self._slots, self._program = slots, slots.program
        self._names: tuple[str, ...] = ()  # of all objects in the present record
        self._shown: dict[tuple[Any, ...], Change] = {}

    def before(self, row: Row, met: Stamp | None = None) -> Before:
        """The part of a record about the row before an intent; ``met``: its stamp, if known."""
        acting = self._slots.acting(row.S)
        actor = None if acting is None else row.S[NAMES][acting]
        return Before(row.S[TICK], actor, met or self.stamp(row))

    def stamp(self, row: Row) -> Stamp:
        """The part of a record about the row after it."""
        S, actor = row.S, self._slots.acting(row.S)
        several = actor is not None and len(self._slots.base.actors) > 1
        return Stamp(self._slots.hash(S), S[NAMES], S[NAMES][actor] if several else None)

    def outcomes(self, records: list[Record], before: Before) -> tuple[Outcome, ...]:
        """The records of one intent."""
        first, found = before.stamp, list[Outcome]()
        for record in records:
            last = record.after or before.stamp
            found.append(self._outcome(record, before, first, last))
            first = last
        return tuple(found)

    def _outcome(self, record: Record, before: Before, first: Stamp, last: Stamp) -> Outcome:
        self._names = record.names or last.names
        command, breach = record.command, record.breach
        return Outcome(
            tick=before.tick,
            status=record.status,
            actor=before.actor,
            action="" if command is None else "pass" if command.is_pass else command.action,
            args=self._arguments(command),
            time_passed=record.time_passed,
            refusal=self._refusal(record),
            no_match=record.no_match,
            changes=self._changes(record.changes),
            law_changes=self._changes(record.law_changes),
            discarded=self._changes(record.discarded),
            fired=tuple([self._rule_text(*one) for one in record.fired]),
            said=tuple(record.said),
            events=tuple(record.events),
            draws=tuple(record.draws),
            latched=record.latched,
            progress=record.progress,
            cause=record.cause,
            breach=None if breach is None else self._breach(breach),
            reward=number_json(record.reward),
            score=number_json(record.score),
            hash_before=first.hash,
            hash_after=last.hash,
            next=last.next,
            by=record.by,
        )

    def _arguments(self, command: Command | None) -> dict[str, Json]:
        """Arguments by parameter name."""
        if command is None or command.is_pass:
            return {}
        params = self._program.actions[command.action].params
        return {
            binder.name: show_value(self._program, self._names, binder.type, value)
            for binder, value in zip(params, command.args, strict=True)
        }

    def _rule_text(self, title: str, args: Args) -> str:
        """A rule with its arguments: ``law grow(garden_bed, pea)``."""
        kind, _, name = title.partition(" ")
        program = self._program
        params = program.laws[name].params if kind == "law" else program.actions[name].params
        shown = (
            str(show_value(program, self._names, binder.type, value))
            for binder, value in zip(params, args, strict=True)
        )
        return f"{title}({', '.join(shown)})"

    def _changes(self, changes: list[RawChange]) -> tuple[Change, ...]:
        return tuple([self._change(*one) for one in changes]) if changes else ()

    def _change(self, column: Column, key: Key, old: Raw, new: Raw, rule: str) -> Change:
        """A change as it is shown. That of a slot of a lasting object is kept."""
        place = (column.index, key, old, new, rule, old.__class__, new.__class__)
        found = self._shown.get(place)
        if found is None:
            program, names, kind = self._program, self._names, column.fluent.type
            args = shown_key(program, names, column, key)
            first = show_value(program, names, kind, old)
            last = show_value(program, names, kind, new)
            found = Change(column.fluent.id, args, first, last, rule)
            lasts = not (self._slots.creates or isinstance(kind, RealType))  # 0.0 equals -0.0
            if lasts and len(self._shown) < MOST_CHANGES:
                self._shown[place] = found
        return found

    def _refusal(self, record: Record) -> Refusal | None:
        if record.refused is None or record.command is None:
            return None
        found = self.requires(record)
        first = found[record.refused]
        return Refusal(first.label, first.text, first.index, first.place, found)

    def requires(self, record: Record) -> tuple[RequireReport, ...]:
        """The requires of a refused command, with the one that the language adds."""
        found, command = record.requires, record.command
        if not record.generated or command is None:
            return found
        return (*found, self._generated(record, command, len(found)))

    def _generated(self, record: Record, command: Command, index: int) -> RequireReport:
        text = record.cause or "This cannot be done."
        place = str(self._program.actions[command.action].span)
        condition = f"the {record.generated} of every changed value is kept"
        return RequireReport(
            index, record.generated, condition, text, False, {}, place, record.generated
        )

    def _breach(self, breach: BreachReport) -> dict[str, Json]:
        """The broken rule and its place: an invariant's line, else that of the rule at fault."""
        rule = breach.rule or (breach.culprits[0] if breach.culprits else "")
        found: dict[str, Json] = {
            "code": breach.code,
            "kind": breach.kind,
            "message": breach.message,
            "rule": rule,
            "place": breach.place or self._place_of(rule),
            "witness": list(breach.witness),
            "culprits": list(breach.culprits),
        }
        if breach.before is not None:
            found["before"], found["after"] = breach.before, breach.after
        return found

    def _place_of(self, title: str) -> str:
        """The place of a rule such as ``law grow``."""
        kind, _, name = title.partition(" ")
        if kind == "action" and name in self._program.actions:
            return str(self._program.actions[name].span)
        if kind == "law" and name in self._program.laws:
            return str(self._program.laws[name].span)
        return ""


# ---- hashes -------------------------------------------------------------------------------------


class Digest:
    """The multiset hash of the facts of rows (see `engine.saved.digest`), updated from the journal.
    `FACTS` of a row holds the sum that `settle` computed last."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._known: dict[tuple[int, Raw, type], int] = {}
        self._later: dict[tuple[int, Raw, type], int] = {}
        """The hashes of facts about objects that were created in play, by names ``_named``."""
        self._named: tuple[str, ...] = ()
        self._lasting = len(slots.base.kinds)
        may_die = {None, *slots.mortal}
        mortal = (at for at, kind in enumerate(slots.base.kinds) if kind in may_die)
        self._first_mortal = next(mortal, self._lasting)
        self._ordered = any(one.column.fluent.ordered for one in slots.stores)
        self._peopled = tuple(one for one in slots.stores if one.column.by_object)

    def settle(self, row: Row, mark: int) -> None:
        """Update the sum of the facts by the writes since a mark, or since the last update."""
        S, J, total = row.S, row.J, row.S[FACTS]
        if S[NAMES] is not self._named:
            self._name(S[NAMES])
        first: dict[int, Any] = {}
        for at in range(len(J) - 2, mark - 1, -2):
            if J[at] == FACTS:
                break
            first[J[at]] = J[at + 1]
        altered = self._altered(first.get(KINDS, S[KINDS]), S[KINDS])
        owner, args = self._slots.owner, self._slots.args
        for slot, old in first.items():
            value = S[slot]
            if slot < HEAD or old == value:
                continue
            store = owner[slot]
            if store is None:
                if self._ordered:
                    total += self._sequence(S, slot, value) - self._sequence(S, slot, old)
            elif not (store.column.by_object and args[slot][0] in altered):
                total += self._weight(S, store, slot, value) - self._weight(S, store, slot, old)
        if altered:
            total += sum(self._of_objects(S, first, altered))
        if total != S[FACTS]:
            row.set(FACTS, total % SPAN)

    def _altered(self, before: tuple[str | None, ...], now: tuple[str | None, ...]) -> set[Raw]:
        """The objects that were created or destroyed."""
        if before is now:
            return set()
        start, found = self._first_mortal, set[Raw](range(len(before), len(now)))
        found.update(compress(count(start), map(ne, before[start:], now[start:])))
        return found

    def _of_objects(self, S: list[Any], first: dict[int, Any], altered: set[Any]) -> Iterator[int]:
        """The hash terms of facts about single objects that were created or destroyed."""
        before, now, names = first[KINDS], S[KINDS], S[NAMES]
        for number in altered:
            old = before[number] if number < len(before) else None
            if old != now[number]:
                yield life_hash(number, names[number], now[number])
                yield -life_hash(number, names[number], old)
            for store in self._peopled:
                place = store.table[number]
                if place == NOTHING or not store.live:
                    continue
                if now[number] is not None and self._slots.owns(store, now[number]):
                    yield self._weight(S, store, place, S[place])
                if old is not None and self._slots.owns(store, old):
                    yield -self._weight(S, store, place, first.get(place, S[place]))

    def _weight(self, S: list[Any], store: Store, slot: int, value: Raw) -> int:
        """The hash of one fact; a tuple with its default is none."""
        if store.column.sparse and value == store.column.default:
            return 0
        place = (slot, value, value.__class__)
        found = self._known.get(place) or self._later.get(place)
        if found is None:
            found = self._hashed(S[NAMES], store, slot, value)
            kept = self._known if self._lasts(store, slot, value) else self._later
            if len(kept) < MOST_HASHES:
                kept[place] = found
        return found

    def _name(self, names: tuple[str, ...]) -> None:
        """Take over the names of all objects, and forget the facts of those renamed by an undo."""
        lasting, known = self._lasting, self._named
        if names[lasting : len(known)] != known[lasting:]:
            self._later.clear()
        self._named = names

    def _hashed(self, names: tuple[str, ...], store: Store, slot: int, value: Raw) -> int:
        program, fluent = self._slots.program, store.column.fluent
        args = [
            show_value(program, names, param.type, arg)
            for param, arg in zip(fluent.params, self._slots.args[slot], strict=True)
        ]
        return hashed([fluent.id, args, show_value(program, names, fluent.type, value)])

    def _lasts(self, store: Store, slot: int, value: Raw) -> bool:
        """Return whether no object of the fact can have another name after an undo."""
        fluent, args = store.column.fluent, self._slots.args[slot]
        kinds = (*(one.type for one in fluent.params), fluent.type)
        return all(
            kind.kind != "object" or not isinstance(arg, int) or arg < self._lasting
            for kind, arg in zip(kinds, (*args, value), strict=True)
        )

    def _sequence(self, S: list[Any], slot: int, listed: tuple[int, ...]) -> int:
        """The hash of the order of the references to an object, if that order is kept."""
        store, parent = self._slots.lists.get(slot, (None, 0))
        if store is None or not store.column.fluent.ordered:
            return 0
        names = S[NAMES]
        shown = [names[child] for child in listed]
        return hashed(["contents", store.column.fluent.id, names[parent], shown]) if shown else 0
