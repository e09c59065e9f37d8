"""The scorecard of a run: seven dimensions and one verdict. Every surface shows this object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tokenworld.ground import Json
from tokenworld.quality.dimension import Dimension
from tokenworld.quality.facts import Fact, Window, window_of
from tokenworld.quality.fanout import CHECKPOINT_EVERY, Checkpoint, graph_fan_out
from tokenworld.quality.markers import Markers
from tokenworld.quality.refusals import action_coherence, refusal_cluster
from tokenworld.quality.shares import character, conservation, groundedness
from tokenworld.quality.vocabulary import Coverage, vocabulary
from tokenworld.store import IntentSource

__all__ = ["DEFAULT_WINDOW", "ENOUGH", "Scorecard", "Subject", "Verdict", "judge"]

Verdict = Literal["HEALTHY", "DEGRADED", "FAILED", "INSUFFICIENT_DATA"]
DEFAULT_WINDOW = 50
ENOUGH = 10
"""Fewer ticks than this are no ground for a verdict."""


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose quality it is: the run as the store names it, and its world."""

    run: str
    world: str
    title: str
    digest: str
    player: IntentSource | str


@dataclass(frozen=True, slots=True)
class Scorecard:
    """What came of a window: the dimensions in their order, and the verdict over them."""

    subject: Subject
    window: Window
    dimensions: tuple[Dimension, ...]

    @property
    def verdict(self) -> Verdict:
        """INSUFFICIENT_DATA below ten ticks, FAILED by any FAIL or `error`, DEGRADED by a WARN."""
        if self.window.n < ENOUGH:
            return "INSUFFICIENT_DATA"
        if self.failing or self.window.errors:
            return "FAILED"
        return "DEGRADED" if self.warning else "HEALTHY"

    @property
    def failing(self) -> tuple[Dimension, ...]:
        return tuple(one for one in self.dimensions if one.status == "FAIL")

    @property
    def warning(self) -> tuple[Dimension, ...]:
        return tuple(one for one in self.dimensions if one.status == "WARN")

    def to_json(self) -> dict[str, Json]:
        """``tw-quality/1``."""
        subject, window = self.subject, self.window
        return {
            "schema": "tw-quality/1",
            "schema_version": 1,
            "run": subject.run,
            "world": subject.world,
            "title": subject.title,
            "digest": subject.digest,
            "player": subject.player,
            "window": {
                "requested": window.requested,
                "n": window.n,
                "first": window.first,
                "last": window.last,
            },
            "verdict": self.verdict,
            "errors": list(window.errors),
            "dimensions": [one.to_json() for one in self.dimensions],
        }


def judge(
    subject: Subject,
    history: Sequence[Fact],
    requested: int,
    *,
    checkpoints: Sequence[Checkpoint] = (),
    coverage: Coverage | None = None,
    markers: Markers | None = None,
) -> Scorecard:
    """The scorecard of the last ``requested`` ticks of a history. Pure: the same facts, the same
    scorecard. Checkpoints outside the window, or between the tens, do not count."""
    window = window_of(history, requested)
    counted = {fact.seq for fact in window.facts if fact.seq % CHECKPOINT_EVERY == 0}
    points = [one for one in checkpoints if one.seq in counted]
    return Scorecard(
        subject,
        window,
        (
            groundedness(window),
            character(window, markers or Markers()),
            action_coherence(window),
            refusal_cluster(window),
            vocabulary(window, coverage),
            conservation(window),
            graph_fan_out(points),
        ),
    )
