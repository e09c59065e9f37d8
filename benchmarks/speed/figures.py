"""Figures: measurements, goals, and whether they are met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

__all__ = ["Figure", "Goal", "Sample", "at_least", "at_most", "merged"]

Unit = Literal["x", "s", "modules"]


@dataclass(frozen=True, slots=True)
class Goal:
    """The goal of a figure. With unit ``x`` it is a ratio: ``at_most`` of our cost to the other's,
    else of our speed to the other's."""

    limit: float
    unit: Unit
    at_most: bool

    def met(self, value: float) -> bool:
        """Whether a value reaches the goal."""
        return value <= self.limit if self.at_most else value >= self.limit


def at_least(limit: float) -> Goal:
    """A goal of at least this many times the speed of the other side."""
    return Goal(limit, "x", at_most=False)


def at_most(limit: float, unit: Unit = "x") -> Goal:
    """A goal of at most this many times the cost of the other side, or seconds, or modules."""
    return Goal(limit, unit, at_most=True)


@dataclass(frozen=True, slots=True)
class Sample:
    """The cost of one problem on both sides, round by round; ``theirs`` is empty if ours has no
    counterpart.

    ``unit`` is what the cost is for; ``failed`` says why there is none.
    """

    problem: str
    unit: str
    ours: tuple[float, ...] = ()
    theirs: tuple[float, ...] = ()
    failed: str = ""

    def values(self, goal: Goal) -> tuple[float, ...]:
        """The value of each round in the unit of a goal."""
        if goal.unit != "x":
            return self.ours
        pairs = zip(self.ours, self.theirs, strict=True)
        return tuple(own / other if goal.at_most else other / own for own, other in pairs)


def merged(rounds: Sequence[Sample]) -> Sample:
    """Merge rounds of one problem that were measured one by one; the first failure, if there is
    one."""
    first = next((one for one in rounds if one.failed), rounds[0])
    if first.failed:
        return first
    ours = tuple(cost for one in rounds for cost in one.ours)
    theirs = tuple(cost for one in rounds for cost in one.theirs)
    return Sample(first.problem, first.unit, ours, theirs)


@dataclass(frozen=True, slots=True)
class Figure:
    """A line of the table: the median over samples. ``missing`` says why nothing was measured."""

    name: str
    what: str
    beside: str
    goal: Goal
    samples: tuple[Sample, ...] = ()
    missing: str = ""

    @property
    def counted(self) -> tuple[Sample, ...]:
        """The samples without a failure."""
        return tuple(one for one in self.samples if not one.failed)

    @property
    def value(self) -> float | None:
        """The median over samples of the medians of their rounds; ``None`` without samples."""
        medians = [median(one.values(self.goal)) for one in self.counted]
        return median(medians) if medians else None

    @property
    def verdict(self) -> str:
        """``met``, ``missed``, or that nothing was measured."""
        if self.value is None:
            return "not measured"
        return "met" if self.goal.met(self.value) else "missed"
