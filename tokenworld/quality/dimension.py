"""One dimension of quality: its grade, its numbers, and how they are written down.

All arithmetic is exact. A number is rounded only to be shown, and then towards its bad side, so
that what is shown never looks better than what was judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, floor
from typing import Literal

from tokenworld.ground import Json
from tokenworld.quality.facts import Fact, Window

__all__ = [
    "BUCKET",
    "Dimension",
    "DimensionId",
    "Grade",
    "exact",
    "graded",
    "missing",
    "per_bucket",
    "shown",
]

Grade = Literal["OK", "WARN", "FAIL", "N/A"]
DimensionId = Literal[
    "groundedness",
    "character",
    "action_coherence",
    "refusal_cluster",
    "vocabulary",
    "conservation",
    "graph_fan_out",
]
BUCKET = 10
"""Ticks of one point of a series."""

_TITLES: dict[DimensionId, str] = {
    "groundedness": "Groundedness",
    "character": "Character",
    "action_coherence": "Action coherence",
    "refusal_cluster": "Refusal cluster",
    "vocabulary": "Vocabulary",
    "conservation": "Conservation",
    "graph_fan_out": "Graph fan-out",
}


@dataclass(frozen=True, slots=True)
class Dimension:
    """One judged dimension. ``text`` is what the scorecard says behind the title.

    ``values`` holds the whole numbers of the formula and its value; ``evidence`` the ticks that
    spoke against the run; ``series`` pairs of a tick and a value, to be drawn.
    """

    id: DimensionId
    status: Grade
    text: str
    values: Mapping[str, Json] = field(default_factory=dict)
    thresholds: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[int, ...] = ()
    series: tuple[tuple[int, Fraction], ...] = ()

    @property
    def title(self) -> str:
        return _TITLES[self.id]

    def to_json(self) -> dict[str, Json]:
        return {
            "id": self.id,
            "title": self.title,
            "status": self.status,
            "text": self.text,
            "values": dict(self.values),
            "thresholds": dict(self.thresholds),
            "evidence": list(self.evidence),
            "series": [[tick, exact(value)] for tick, value in self.series],
        }


def graded(*, ok: bool, fail: bool) -> Grade:
    """FAIL, else OK, else what lies between."""
    return "FAIL" if fail else "OK" if ok else "WARN"


def missing(of: DimensionId, why: str, thresholds: Mapping[str, str]) -> Dimension:
    """A dimension that the window says nothing about."""
    return Dimension(of, "N/A", f"{'n/a':<8}({why})", thresholds=thresholds)


def shown(value: Fraction, decimals: int, *, up: bool = False) -> str:
    """The number with so many decimals, rounded down, or up."""
    scaled = value * 10**decimals
    whole = ceil(scaled) if up else floor(scaled)
    digits = f"{abs(whole):0{decimals + 1}d}"
    sign = "-" if whole < 0 else ""
    return f"{sign}{digits[:-decimals]}.{digits[-decimals:]}"


def exact(value: Fraction) -> int | float:
    """The JSON number nearest to an exact one: whole where it is."""
    return value.numerator if value.denominator == 1 else float(value)


def per_bucket(
    window: Window, measure: Callable[[Sequence[Fact]], Fraction]
) -> tuple[tuple[int, Fraction], ...]:
    """A series: the measure of every ten ticks, at the last of them."""
    return tuple((bucket[-1].seq, measure(bucket)) for bucket in window.buckets(BUCKET))
