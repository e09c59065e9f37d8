"""The exact distribution of the outcomes of a command, and the likelihood of an observed successor,
for `Engine`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, log
from typing import Any

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.diagnostics.frozen import frozen
from tokenworld.engine.luck import NoUniform
from tokenworld.engine.outcomes.forks import Forks, Leaf, TooMany
from tokenworld.engine.outcomes.partial import ForkLuck
from tokenworld.engine.outcomes.seen import Seen
from tokenworld.engine.rows.layout import KINDS, NAMES, TICK, Slots
from tokenworld.engine.rows.live import state_after
from tokenworld.engine.rows.log import Log, Row
from tokenworld.engine.rows.record import Stamp, number_json
from tokenworld.engine.rows.stepper import RowStepper
from tokenworld.engine.saved.digest import header_json, state_hash
from tokenworld.engine.state import State
from tokenworld.ground import (
    Command,
    Json,
    LuckyDraw,
    NoMatch,
    Outcome,
    Raw,
    show_value,
    value_text,
)
from tokenworld.model import ValueType

# ---- Differences ---------------------------------------------------------------------------------
# Why an observed successor is impossible: the first slot in which no outcome agrees with it.


@frozen
class SlotDifference:
    """The slot in which no outcome agrees with the observation: the values in the outcomes, and the
    rules that may write it. Parts that are no slots have their names in the JSON of states."""

    fluent: str
    args: tuple[Json, ...]
    seen: Json
    predicted: tuple[Json, ...]
    rules: tuple[str, ...] = ()

    def text(self) -> str:
        """As people read it: ``Hen.at(ida): nest was observed, the rules give yard``."""
        args = ", ".join(map(str, self.args))
        place = f"{self.fluent}({args})" if args else self.fluent
        given = " or ".join(map(_said, self.predicted))
        by = f" (written by {', '.join(self.rules)})" if self.rules else ""
        return f"{place}: {_said(self.seen)} was observed, the rules give {given}{by}"

    def to_json(self) -> dict[str, Json]:
        return {
            "fluent": self.fluent,
            "args": list(self.args),
            "seen": self.seen,
            "predicted": list(self.predicted),
            "rules": list(self.rules),
        }


def _said(value: Json) -> str:
    if isinstance(value, list):
        return ", ".join(map(value_text, value)) or "nothing"
    return value_text(value)


def first_difference(known: Seen, nearest: list[Any] | None) -> SlotDifference:
    """The slot in which everything contradicted the observed successor, or else the first one in
    which the row of one outcome differs from it."""
    slots, found = known.slots, known.conflict
    if found is not None and found.slot == KINDS:
        return _peopled(known, *found.values)
    if found is not None:
        return _of_slot(known, found.slot, found.values)
    if nearest is None:
        by = () if known.broken is None else known.broken.rules
        return SlotDifference("tick", (), known.S[TICK], (known.first(TICK),), by)
    slots.fill(nearest)
    if nearest[KINDS] != known.S[KINDS] and known.fields is None:
        return _peopled(known, nearest[KINDS])
    for slot, value in enumerate(nearest):
        if known.counts(slot) and value != known.value(slot):
            return _of_slot(known, slot, [value])
    one, other = header_json(slots.decode(known.S)), header_json(slots.decode(nearest))
    for key in {**one, **other}:
        if one.get(key) != other.get(key):
            return SlotDifference(key, (), one.get(key), (other.get(key),))
    return SlotDifference("state", (), "another", ("one with the same visible parts",))


def _of_slot(known: Seen, slot: int, values: list[Any]) -> SlotDifference:
    slots, store = known.slots, known.slots.owner[slot]
    assert store is not None
    fluent = store.column.fluent
    args = zip(fluent.params, slots.args[slot], strict=True)
    given = dict.fromkeys(_shown(known, fluent.type, value) for value in values)
    return SlotDifference(
        fluent.id, tuple(_shown(known, one.type, value) for one, value in args),
        _shown(known, fluent.type, known.value(slot)), tuple(given), known.writers(fluent.id),
    )  # fmt: skip


def _shown(known: Seen, kind: ValueType, value: Raw) -> Json:
    names = known.S[NAMES]
    if kind.kind == "object" and isinstance(value, int) and value >= len(names):
        return f"object {value}"
    return show_value(known.slots.program, names, kind, value)


def _peopled(known: Seen, *kinds: tuple[str | None, ...]) -> SlotDifference:
    """The observed population differs."""
    return _unlike(known.S[KINDS], *kinds)


def _unlike(seen: Sequence[str | None], *kinds: Sequence[str | None]) -> SlotDifference:
    """The objects that not all agree on, by number and type."""
    every = [seen, *kinds]
    size = max(map(len, every))
    whole = [[*one, *(None for _ in range(size - len(one)))] for one in every]
    apart = [at for at, types in enumerate(zip(*whole, strict=True)) if len(set(types)) > 1]
    told: list[list[Json]] = [
        [f"{one[at]} (number {at})" for at in apart if one[at] is not None] for one in whole
    ]
    first, *others = told
    given = dict.fromkeys(tuple(one) for one in others)
    return SlotDifference("objects", (), first, tuple(list(one) for one in given))


def other_population(slots: Slots, seen: State) -> SlotDifference:
    """An observed state has other objects or other unchanging facts than the state before it."""
    base = slots.base
    if len(seen.kinds) < len(base.kinds):
        return _unlike(seen.kinds, base.kinds)
    for store in slots.stores:
        if not store.live and seen.cols[store.column.index] != base.cols[store.column.index]:
            fluent = store.column.fluent.id
            return SlotDifference(fluent, (), "another value", ("one that never changes",))
    return _unlike(seen.kinds, base.kinds)


# ---- Distributions -------------------------------------------------------------------------------


MOST = 10_000
"""Partial outcomes kept at least, however few outcomes are asked for."""


@frozen
class Successor:
    """One outcome: the state, its exact probability, and the records of its likeliest way. These
    name no law for the changes of laws."""

    state: State
    hash: str
    probability: Fraction
    outcomes: tuple[Outcome, ...]

    def to_json(self) -> dict[str, Json]:
        """The form of ``tw dist --json``."""
        last = self.outcomes[-1]
        changes = [one.to_json() for x in self.outcomes for one in (*x.changes, *x.law_changes)]
        return {
            "hash": self.hash,
            "probability": float(self.probability),
            "exact": str(self.probability),
            "status": last.status,
            "reward": number_json(sum((Fraction(x.reward) for x in self.outcomes), Fraction(0))),
            "endings": list(last.latched),
            "changes": changes,
            "draws": [one.to_json() for one in last.draws],
        }


@frozen
class Distribution:
    """The outcomes of one command, the likeliest first. Outcomes that differ in status or reward
    are two, even with the same state. ``left_out`` is the probability of the outcomes left out."""

    successors: tuple[Successor, ...]
    left_out: Fraction

    def probability(self, state_hash: str) -> Fraction:
        """The probability of a state."""
        found = (one.probability for one in self.successors if one.hash == state_hash)
        return sum(found, Fraction(0))


def distribution(
    stepper: RowStepper, row: Row, state: State, intent: Command | NoMatch, most: int
) -> Distribution:
    """Compute the distribution of the outcomes of an intent."""
    stepper.know_facts(row, state)
    before = stepper.shown.before(row)
    known: dict[object, list[Any]] = {}
    forks = Forks(stepper, row, intent, max(most, MOST))
    try:
        for leaf in forks.leaves():
            stamp = leaf.records[-1].after or before.stamp
            key = (stamp.hash, *((x.status, x.reward) for x in leaf.records))
            if key in known:
                known[key][0] += leaf.weight
                continue
            after = state_after(state, stepper.slots, row) if row.J else state
            known[key] = [leaf.weight, after, stamp, leaf.records]
    except NoUniform as drawn:
        raise _endless(drawn) from None
    ranked = sorted(known.values(), key=lambda x: (-x[0], x[2].hash))
    found = (
        Successor(after, stamp.hash, weight, stepper.shown.outcomes(records, before))
        for weight, after, stamp, records in ranked[:most]
    )
    lost = (*forks.lost, *(one[0] for one in ranked[most:]))
    return Distribution(tuple(found), sum(lost, Fraction(0)))


def _endless(drawn: NoUniform) -> Failure:
    what = f"`{drawn.args[0]}` draws a real number, so its outcomes cannot be listed."
    hint = "Draw with `chance` or `pick`, or sample with `tw rollout`."
    return Failure(Diagnostic("TW1201", what, hint=hint))


# ---- an observed successor ----------------------------------------------------------------------


@frozen
class Scored:
    """The log probability of an observed successor. ``sites`` are the draws of its likeliest way
    with their sites; ``first_difference`` explains why it is impossible, if it is."""

    logp: float
    sites: tuple[LuckyDraw, ...]
    first_difference: SlotDifference | None


@dataclass
class Evidence:
    """The probability of a transition as a product of ``factors``, each the weight of a unit of its
    tick. Impossible if there are none and ``possible`` is false."""

    possible: bool
    factors: tuple[Any, ...]
    draws: tuple[LuckyDraw, ...]
    difference: SlotDifference | None

    @classmethod
    def of(
        cls, stepper: RowStepper, row: Row, state: State, intent: Command | NoMatch, seen: State,
        fields: Collection[str] | None, most: int,
        luck: type[ForkLuck] = ForkLuck, log: type[Log] = Log,
    ) -> Evidence:  # fmt: skip
        """Score an observed successor, by branching the draws of one unit after the other."""
        slots, seen = stepper.slots, _with_names(seen, state)
        if not slots.fits(seen):
            return cls(False, (), (), other_population(slots, seen))
        stepper.know_facts(row, state)
        before, seen_hash = stepper.shown.before(row).stamp, state_hash(seen)
        known = Seen(stepper, row, slots.encode(seen), fields)
        stays = known.whole(row.S) if fields is not None else before.hash == seen_hash
        forks = Forks(stepper, row, intent, most, None if stays else known, luck, log)
        found, nothing = list[Any](), Leaf([], 0, -1.0, ())
        likeliest, near, nearest = nothing, nothing, None
        try:
            for leaf in forks.leaves():
                stamp = leaf.records[-1].after or before
                if _is_seen(known, row, stamp, seen_hash):
                    found.append(leaf.weight)
                    likeliest = max(likeliest, leaf, key=lambda one: one.likely)
                elif leaf.likely > near.likely:
                    near, nearest = leaf, row.S[:]
        except NoUniform as drawn:
            raise _endless(drawn) from None
        except TooMany:
            raise _crowded(most) from None
        if forks.lost:
            raise _crowded(most)
        if not found:
            return cls(False, (), (), first_difference(known, nearest))
        total = found[0]
        for one in found[1:]:
            total = total + one
        return cls(True, (*forks.factors, total), likeliest.draws, None)

    def scored(self) -> Scored:
        """The same as a log probability, where weights are probabilities."""
        if not self.possible:
            return Scored(-inf, (), self.difference)
        return Scored(sum(map(_log, self.factors)), self.draws, None)


def _log(share: Fraction) -> float:
    return log(share.numerator) - log(share.denominator)


def _with_names(seen: State, state: State) -> State:
    """Return the observed state, in which an object that was destroyed since ``state`` has the name
    that it had there: JSON does not show it."""
    pairs = zip(seen.names, state.names, strict=False)
    if all(one == other for one, other in pairs):
        return seen
    kinds, known = seen.kinds, len(state.names)
    after = seen.fork()
    after.names = tuple(
        state.names[at] if at < known and kinds[at] is None else name
        for at, name in enumerate(seen.names)
    )
    return after


def _is_seen(known: Seen, row: Row, stamp: Stamp, seen_hash: str) -> bool:
    return stamp.hash == seen_hash if known.fields is None else known.whole(row.S)


def _crowded(most: int) -> Failure:
    what = f"More than {most} partial outcomes agree with what was observed so far."
    hint = "Compare fewer fields, or allow more with `most`."
    return Failure(Diagnostic("TW1202", what, hint=hint))
