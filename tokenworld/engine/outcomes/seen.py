"""An observed successor: the partial outcomes that contradict it, found as early as possible.

A slot is settled once nothing later in the tick can write it. If it then differs from the
successor, the partial outcome cannot lead there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from tokenworld.core import nodes as core
from tokenworld.core.rules import Law
from tokenworld.core.walk import statements_in
from tokenworld.engine.changes import Breach
from tokenworld.engine.outcomes.partial import Combination, Partial, Request
from tokenworld.engine.rows.commit import value_given
from tokenworld.engine.rows.layout import HEAD, KINDS, Slots, Store
from tokenworld.engine.rows.log import Row
from tokenworld.engine.rows.stepper import RowStepper
from tokenworld.model import ObjectType

Turns = Sequence[Any]
MOST_ORDERS = 64
"""Largest number of orders of turns in the cache of settled slots."""


@dataclass(slots=True)
class Conflict:
    """The slot in which every outcome contradicts the observation, and its values; `KINDS` for the
    population."""

    slot: int
    values: list[Any]


class Seen:
    """The row ``S`` of an observed successor; ``fields``: the ids of the fluents to compare, all if
    ``None``. ``conflict`` is the first slot in which no outcome agreed, ``broken`` the breach of
    some tick."""

    def __init__(
        self, stepper: RowStepper, row: Row, S: list[Any], fields: Collection[str] | None
    ) -> None:
        self.slots: Slots = stepper.slots
        self.S, self.fields, self._base = S, fields, row.S[:]
        self.conflict: Conflict | None = None
        self.broken: Breach | None = None
        self._conflicts: dict[int, list[Any]] = {}
        phases = list(_laws(stepper))
        written = [frozenset(x for law in laws for x in _written(stepper, law)) for laws in phases]
        self._later = [frozenset(chain(*written[at + 1 :])) for at in range(len(phases))]
        self._stepper = stepper
        self._orders: dict[int, tuple[Turns, _InTurn]] = {}
        self._counts = [
            one is not None and not one.column.fluent.scratch
            and (fields is None or one.column.fluent.id in fields)
            for one in self.slots.owner
        ]  # fmt: skip

    # ---- values -------------------------------------------------------------------------------

    def counts(self, slot: int) -> bool:
        """Return whether a slot is compared."""
        if slot < len(self._counts):
            return self._counts[slot]
        store = self.slots.owner[slot]
        if store is None or store.column.fluent.scratch:
            return False
        return self.fields is None or store.column.fluent.id in self.fields

    def value(self, slot: int) -> Any:
        """The observed value of a slot."""
        return self.S[slot] if slot < len(self.S) else self.slots.blank[slot]

    def first(self, slot: int) -> Any:
        """The value of a slot before the tick."""
        return self._base[slot] if slot < len(self._base) else self.slots.blank[slot]

    def fits(self, slot: int, value: Any) -> bool:
        """Return whether a settled slot may still get the observed value, as it does if an
        object that it holds, or whose slot it is, is destroyed later."""
        if slot == KINDS:
            return self._peopled(value)
        if not self.counts(slot) or value == self.value(slot):
            return True
        store = self.slots.owner[slot]
        assert store is not None
        kinds, args = self.S[KINDS], self.slots.args[slot]
        held = args[:1] if store.column.by_object else [args[x] for x in store.column.named]
        if isinstance(store.column.fluent.type, ObjectType) and value is not None:
            held = [*held, value]
        if any(x >= len(kinds) or kinds[x] is None for x in held):  # type: ignore[operator]
            return True
        self._conflicts.setdefault(slot, []).append(value)
        return False

    def _peopled(self, kinds: tuple[str | None, ...]) -> bool:
        """Return whether all objects created so far were observed; they may be destroyed later."""
        seen = self.S[KINDS]
        if self.fields is not None or (
            len(kinds) <= len(seen)
            and all(y is None or x == y for x, y in zip(kinds, seen, strict=False))
        ):
            return True
        self._conflicts.setdefault(KINDS, []).append(kinds)
        return False

    def tell(self, failed: bool) -> None:
        """End a unit; ``failed``: no partial outcome agrees."""
        if failed and self.conflict is None and self._conflicts:
            slot = next(iter(self._conflicts))
            self.conflict = Conflict(slot, self._conflicts[slot])
        self._conflicts = {}

    def whole(self, S: list[Any]) -> bool:
        """Return whether a row has the observed values of the compared fluents."""
        return all(S[at] == self.value(at) for at in range(HEAD, len(S)) if self.counts(at))

    # ---- when slots are settled ---------------------------------------------------------------

    def is_last(self, number: int, slot: int) -> bool:
        """Return whether no later phase than this one writes a slot."""
        store = self.slots.owner[slot]
        return store is not None and store.column.fluent.id not in self._later[number]

    def in_turn(self, number: int, turns: Turns) -> _InTurn:
        """The slots that the turns of a sequential phase settle."""
        known = self._orders.get(id(turns))
        if known is None:
            if len(self._orders) >= MOST_ORDERS:
                self._orders.clear()
            known = self._orders[id(turns)] = turns, _InTurn(self, number, turns)
        return known[1]

    def together(self, number: int, items: list[list[Request]]) -> _Together:
        """The slots that the bindings of a simultaneous phase settle."""
        return _Together(self, number, items)

    def after(self, number: int, found: list[Partial]) -> list[Partial]:
        """The partial outcomes after a simultaneous phase that may still agree."""
        kept = []
        for one in found:
            self.broken = one.breach or self.broken
            last = (x for x in one.written if x == KINDS or (x >= HEAD and self.is_last(number, x)))
            if one.breach is None and all(self.fits(x, one.written[x]) for x in last):
                kept.append(one)
        self.tell(not kept)
        return kept

    # ---- what rules write ---------------------------------------------------------------------

    def writers(self, fluent: str) -> tuple[str, ...]:
        """The rules that may write a fluent."""
        rules = self._stepper.rules
        kinds = (("action", rules.actions), ("law", rules.laws))
        return tuple(
            f"{kind} {name}"
            for kind, named in kinds
            for name, one in named.items()
            if fluent in one.footprint.writes
        )

    def places(self, law: Law, args: tuple[Any, ...]) -> Iterator[int | str]:
        """The slots that a binding of a law may write; a fluent's id for any slot of it."""
        names = {one.name: value for one, value in zip(law.params, args, strict=True)}
        for fluent, terms in _targets(self._stepper, law):
            store = self.slots.by_id[fluent]
            known: list[Any] = [
                names.get(x.name) if isinstance(x, core.Variable) else None for x in terms
            ]
            if None in known or store.column.single != (not known):
                yield fluent
            else:
                found = store.find(tuple(known)) if store.live else None
                if found is None:
                    yield fluent
                elif found:
                    yield found


class _InTurn:
    """The last turn of a sequential phase that writes each slot."""

    def __init__(self, seen: Seen, number: int, turns: Turns) -> None:
        self._seen, self._number = seen, number
        self._anywhere: dict[str, int] = {}
        self._last: dict[int, int] = {}
        for at, ((law, _), args) in enumerate(turns):
            for place in seen.places(law, args):
                if isinstance(place, str):
                    self._anywhere[place] = at
                else:
                    self._last[place] = at
        self._settled: dict[int, list[int]] = {}
        for slot, at in self._last.items():
            if self._is_settled(slot, at) and seen.counts(slot):
                self._settled.setdefault(at, []).append(slot)

    def _is_settled(self, slot: int, at: int) -> bool:
        store = self._seen.slots.owner[slot]
        if store is None or not self._seen.is_last(self._number, slot):
            return False
        return self._last.get(slot, -1) <= at >= self._anywhere.get(store.column.fluent.id, -1)

    def agrees(self, at: int, before: Partial, now: Partial) -> bool:
        """Return whether a partial outcome after a turn may still agree with the observation."""
        if now.breach is not None:
            self._seen.broken = now.breach
            return False
        seen, written = self._seen, now.written
        for slot in self._settled.get(at, ()):
            value = written[slot] if slot in written else seen.first(slot)
            if not seen.fits(slot, value):
                return False
        if now is before:
            return True
        return all(
            seen.fits(slot, value)
            for slot, value in written.items()
            if (slot not in before.written or before.written[slot] is not value)
            and (slot == KINDS or (slot >= HEAD and self._is_settled(slot, at)))
        )


class _Together:
    """The last binding of a simultaneous phase that writes each slot."""

    def __init__(self, seen: Seen, number: int, items: list[list[Request]]) -> None:
        self._seen = seen
        last: dict[int, int] = {}
        for at, ways in enumerate(items):
            last.update((slot, at) for way in ways for slot, *_ in way.log.writes)
        self._settled: dict[int, list[int]] = {}
        for slot, at in last.items():
            if seen.is_last(number, slot) and seen.counts(slot):
                self._settled.setdefault(at, []).append(slot)

    def kept(self, at: int, found: list[Combination], row: Row) -> list[Combination]:
        """The combinations that may still agree, on the row that the phase began with. Settled
        writes no longer distinguish them."""
        settled = self._settled.get(at, ())
        if not settled:
            return found
        kept = [one for one in found if all(self._fits(x, one, row) for x in settled)]
        self._seen.tell(not kept)
        owner = self._seen.slots.owner
        same = {x for x in settled if not _ordered(owner[x])}
        for one in kept:
            one.open = tuple(write for write in one.open if write[0] not in same)
        return kept

    def _fits(self, slot: int, one: Combination, row: Row) -> bool:
        try:
            value = value_given(row, slot, [write for write in one.open if write[0] == slot])
        except Breach:
            return False
        return self._seen.fits(slot, value)


def _ordered(store: Store | None) -> bool:
    return store is not None and store.column.fluent.ordered


# ---- what laws write ----------------------------------------------------------------------------


def _laws(stepper: RowStepper) -> Iterator[list[Law]]:
    """The laws of each phase that the stepper has."""
    for name in (*stepper.rules.program.phases, ""):
        laws = [law for law in stepper.rules.laws.values() if law.phase == name]
        if laws:
            yield laws


def _targets(stepper: RowStepper, law: Law) -> Iterator[tuple[str, tuple[core.Term, ...]]]:
    """The fluents that a law writes with the arguments; those of `birth` rules without any."""
    for one in statements_in(law.body):
        if isinstance(one, core.Write):
            yield one.target.fluent, one.target.args
    for birth in stepper.rules.births if law.footprint.creates else ():
        for one in statements_in(birth.body):
            if isinstance(one, core.Write):
                yield one.target.fluent, ()


def _written(stepper: RowStepper, law: Law) -> set[str]:
    return {fluent for fluent, _ in _targets(stepper, law)}
