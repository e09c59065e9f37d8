"""``tw quality``: the scorecard of a run, and the gate that other programs read."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from tokenworld.diagnostics import Failure
from tokenworld.ground import Json
from tokenworld.store import Reference, Run, RunStore, find_run
from tokenworld.verbs.output import EXIT_USAGE, Output
from tokenworld.verbs.quality import score_run, scorecard_lines
from tokenworld.verbs.quality.scorecard import Scorecard, Verdict

__all__ = ["Gate", "exit_code", "gate_json", "keep_reference", "outside", "quality"]


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
    """The result of the gate as JSON; ``judged`` is false for a run that it does not judge."""
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


def quality(
    reference: str | None,
    out: Output,
    *,
    store: Path | None,
    window: int,
    gate: Gate | None,
    keep: bool,
) -> int:
    """Score a run and tell it; 2 for whatever stands in the way of scoring."""
    gate = gate or ("plain" if keep else None)
    kept = False
    try:
        with RunStore.open(store, writable=keep) as opened:
            run = find_run(opened, reference)
            card = score_run(opened, run, window, say=out.progress)
            if keep and gate is not None:
                kept = keep_reference(opened, run, card, gate)
    except Failure as failure:
        out.failure(failure)
        return EXIT_USAGE
    _tell(card, out, gate, kept=kept)
    if keep and not kept:
        out.note(f"`{card.subject.run}` is not kept as a reference: it does not pass the gate.")
    return exit_code(card, gate)


def _tell(card: Scorecard, out: Output, gate: Gate | None, *, kept: bool) -> None:
    for line in scorecard_lines(card):
        out.line(line)
    out.json(
        {
            **card.to_json(),
            "gate": None if gate is None else gate_json(card, gate),
            "kept_as_reference": kept,
        }
    )
    if gate is not None and outside(card):
        out.note("An adversarial run is refused on purpose: the gate does not judge it.")
    if kept:
        out.line(f"  {card.subject.run} is kept as a reference.")
