"""The gate: which runs are good enough, and how that is told to other programs."""

from __future__ import annotations

from typing import Literal

from tokenworld.ground import Json
from tokenworld.quality.scorecard import Scorecard, Verdict
from tokenworld.store import Reference, Run, RunStore

__all__ = ["Gate", "exit_code", "gate_json", "keep_reference", "outside"]

Gate = Literal["plain", "strict"]

_CODES: dict[Gate, dict[Verdict, int]] = {
    "plain": {"HEALTHY": 0, "DEGRADED": 0, "FAILED": 1, "INSUFFICIENT_DATA": 3},
    "strict": {"HEALTHY": 0, "DEGRADED": 1, "FAILED": 1, "INSUFFICIENT_DATA": 3},
}


def outside(card: Scorecard) -> bool:
    """Whether the gate does not judge a run: an adversarial player is refused on purpose."""
    return card.subject.player == "adversarial"


def exit_code(card: Scorecard, gate: Gate | None) -> int:
    """0 where the run passes or nobody asked, 1 where it fails, 3 where there are too few ticks."""
    if gate is None or outside(card):
        return 0
    return _CODES[gate][card.verdict]


def gate_json(card: Scorecard, gate: Gate) -> dict[str, Json]:
    """What the gate said; ``judged`` is false for a run that it does not judge."""
    judged = not outside(card)
    return {"mode": gate, "judged": judged, "passed": judged and exit_code(card, gate) == 0}


def keep_reference(store: RunStore, run: Run, card: Scorecard, gate: Gate) -> bool:
    """Note a release run as a reference if it passes the gate; whether it is one now.

    There is no other way to make one. Raises `Failure` TW1102 where the run is not finished or the
    store cannot be written; then nothing is noted.
    """
    verdict = card.verdict
    passed = not outside(card) and exit_code(card, gate) == 0
    if not passed or (verdict != "HEALTHY" and verdict != "DEGRADED"):
        return False
    store.keep_as_reference(run, Reference(verdict, card.window.requested))
    return True
