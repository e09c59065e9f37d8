"""The scorecard as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokenworld.quality.dimension import Dimension
from tokenworld.quality.scorecard import ENOUGH, Scorecard

__all__ = ["scorecard_lines", "verdict_sentence"]


def scorecard_lines(card: Scorecard) -> Iterator[str]:
    """The lines of the table."""
    yield f"{card.subject.title} · last {_ticks(card.window.n)}"
    yield ""
    for one in card.dimensions:
        yield f"  {f'[{one.status}]':<8}{one.title:<19}{one.text}"
    yield ""
    yield f"  Verdict: {verdict_sentence(card)}"


def verdict_sentence(card: Scorecard) -> str:
    """The verdict and what it rests on: ``DEGRADED — vocabulary in warn.``"""
    reasons = "; ".join(_reasons(card))
    return f"{card.verdict} — {reasons}." if reasons else f"{card.verdict}."


def _reasons(card: Scorecard) -> Iterator[str]:
    if card.window.n < ENOUGH:
        yield f"{_ticks(card.window.n)}, {ENOUGH} needed"
    errors = card.window.errors
    if errors:
        noun = "tick" if len(errors) == 1 else "ticks"
        yield f"error in {noun} {_listed([str(one) for one in errors])}"
    if card.failing:
        yield f"{_names(card.failing)} failed"
    if card.warning:
        yield f"{_names(card.warning)} in warn"


def _names(dimensions: Sequence[Dimension]) -> str:
    return _listed([one.title.lower() for one in dimensions])


def _listed(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _ticks(number: int) -> str:
    return f"{number} {'tick' if number == 1 else 'ticks'}"
