"""The requests of the bindings of a simultaneous phase, and combinations of them.

They all read the row that the phase began with, so the draws of one do not depend on another's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from tokenworld.engine.rows.log import Log
from tokenworld.ground import LuckyDraw

__all__ = ["Combination", "Request", "Writes"]

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
