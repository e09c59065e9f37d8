"""Partial outcomes of a tick: the slots written so far, and their probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any, Protocol, Self, TypeVar

from tokenworld.engine.changes import Breach
from tokenworld.engine.luck import DrawKey, ExploringLuck
from tokenworld.engine.rows.layout import DRAWN, FACTS, HEAD, KINDS, REPORTED, ROUND
from tokenworld.engine.rows.log import Log
from tokenworld.ground import LuckyDraw

UNKEPT = frozenset({DRAWN, FACTS, ROUND, REPORTED})
"""Slots of the header that end with the tick, or are computed at its end."""


class ForkLuck(ExploringLuck):
    """Explores the draws of one unit; those before depth ``skipped`` count elsewhere."""

    one: Any = Fraction(1)
    """The weight of certainty."""

    def __init__(self, prefix: Sequence[int], skipped: int = 0) -> None:
        super().__init__(prefix)
        self._skipped = skipped
        self.weight: Any = self.one

    def choose(
        self, key: DrawKey, seed: int, tick: int, weights: Sequence[int], site: str = ""
    ) -> int:
        depth = len(self.choices)
        choice = super().choose(key, seed, tick, weights, site)
        if self._skipped <= depth < len(self.choices):
            self.weight = self.weight * self.share(weights, choice, site)
        return choice

    def share(self, weights: Sequence[int], choice: int, site: str) -> Any:
        """The weight of the chosen alternative."""
        return Fraction(weights[choice], sum(weights))

    def following(self) -> tuple[int, ...] | None:
        """The prefix of the next combination of the draws that count here."""
        found = self.next_prefix()
        return None if found is None or len(found) <= self._skipped else found


@dataclass(slots=True, eq=False)
class Partial:
    """One outcome of the units so far.

    ``written``: the slots that differ from before the tick; ``draws``: the draws of its likeliest
    derivation, of probability ``likely``; ``head``: the draws of the command itself; ``paid``:
    rewards, the first ``owed`` ones from the command; ``pasts``: the rows that the tick looks back
    at, where births are noted in them.
    """

    written: dict[int, Any]
    weight: Any
    likely: float = 1.0
    draws: tuple[LuckyDraw, ...] = ()
    head: tuple[int, ...] = ()
    status: str = ""
    paid: tuple[Any, ...] = ()
    owed: int = 0
    fault: Breach | None = None
    breach: Breach | None = None
    pasts: tuple[list[Any], ...] = ()

    def key(self) -> object:
        """The identity for merging: equal ones have equal futures."""
        if self.breach is not None:
            return self.status, _of(self.breach)
        pasts = tuple((one[KINDS], tuple(one[HEAD:])) for one in self.pasts)
        written = frozenset(self.written.items())
        return self.status, written, self.paid, self.owed, _of(self.fault), pasts

    def join(self, other: Partial) -> None:
        """Add the weight of an equal one."""
        self.weight = self.weight + other.weight
        if other.likely > self.likely:
            self.likely, self.draws, self.head = other.likely, other.draws, other.head


def _of(breach: Breach | None) -> object:
    return None if breach is None else (breach.code, breach.kind, breach.message)


class Mergeable(Protocol):
    """Has a weight, and a key by which equal ones merge."""

    weight: Any
    likely: float

    def key(self) -> object: ...

    def join(self, other: Any, /) -> None: ...


MergeableT = TypeVar("MergeableT", bound=Mergeable)


def merged(found: list[MergeableT]) -> list[MergeableT]:
    """Merge equal ones."""
    if len(found) < 2:
        return found
    known: dict[object, MergeableT] = {}
    for one in found:
        first = known.setdefault(one.key(), one)
        if first is not one:
            first.join(one)
    return list(known.values())


def heaviest(found: list[MergeableT], most: int) -> tuple[list[MergeableT], list[MergeableT]]:
    """The likeliest so many, in their order, and the others. Weights that are no numbers, as those
    of learned values, are compared by their likeliest way."""
    if len(found) <= most:
        return found, []

    def weight(one: MergeableT) -> Any:
        return one.weight if isinstance(one.weight, Real) else one.likely

    ranked = sorted(range(len(found)), key=lambda at: (-weight(found[at]), at))
    return [found[at] for at in sorted(ranked[:most])], [found[at] for at in ranked[most:]]


# ---- Requests of a simultaneous phase ------------------------------------------------------------
# The requests of the bindings of a simultaneous phase, and combinations of them.
#
# They all read the row that the phase began with, so the draws of one do not depend on another's.


Writes = tuple[tuple[int, str, Any, str], ...]


@dataclass(slots=True, eq=False)
class Request:
    """The requests of one binding, or of a law that draws nothing, with some of its draws."""

    weight: Any
    likely: float
    draws: tuple[LuckyDraw, ...]
    log: Log

    def key(self) -> object:
        """The identity for merging."""
        return tuple(self.log.writes), self.others

    @property
    def others(self) -> tuple[object, ...]:
        """All requests beside writes that may make a difference; empty for none."""
        log = self.log
        if not (log.doomed or log.rewards or log.lines):
            return ()
        lines = tuple((words, me, args) for words, _, me, args in log.lines)
        return tuple(log.doomed), tuple(log.rewards), lines

    def join(self, other: Self) -> None:
        """Add the weight of an equal one."""
        self.weight = self.weight + other.weight
        if other.likely > self.likely:
            self.likely, self.draws, self.log = other.likely, other.draws, other.log


@dataclass(slots=True, eq=False)
class Combination:
    """Requests of the first bindings, one of each. ``open`` are their writes of slots that a later
    binding may write too, or about which nothing was observed."""

    weight: Any
    likely: float = 1.0
    draws: tuple[LuckyDraw, ...] = ()
    requests: tuple[Request, ...] = ()
    open: Writes = ()
    others: tuple[object, ...] = ()

    def longer(self, way: Request) -> Combination:
        """The combination with a request of the next binding."""
        return Combination(
            self.weight * way.weight, self.likely * way.likely, (*self.draws, *way.draws),
            (*self.requests, way), (*self.open, *way.log.writes),
            (*self.others, *way.others),
        )  # fmt: skip

    def key(self) -> object:
        """The identity for merging."""
        return self.open, self.others

    def join(self, other: Self) -> None:
        """Add the weight of an equal one."""
        self.weight = self.weight + other.weight
        if other.likely > self.likely:
            self.likely, self.draws, self.requests = other.likely, other.draws, other.requests

    def all_in(self, log: Log) -> Log:
        """All requests, in one log."""
        for one in self.requests:
            log.writes += one.log.writes
            log.doomed += one.log.doomed
            log.lines += one.log.lines
            log.events += one.log.events
            log.rewards += one.log.rewards
            log.fired += one.log.fired
        return log
