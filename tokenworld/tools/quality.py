"""``tw quality``: the scorecard of a run, and the gate."""

from __future__ import annotations

from pathlib import Path

from tokenworld.diagnostics import Failure
from tokenworld.quality import Scorecard, score_run, scorecard_lines
from tokenworld.quality.gate import Gate, exit_code, gate_json, keep_reference, outside
from tokenworld.store import RunStore, find_run
from tokenworld.tools.output import EXIT_USAGE, Output

__all__ = ["quality"]


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
