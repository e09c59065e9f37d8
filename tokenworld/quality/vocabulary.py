"""The dimension about variety: how often a verb is used for the first time."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tokenworld.quality.dimension import (
    BUCKET,
    Dimension,
    exact,
    graded,
    missing,
    per_bucket,
    shown,
)
from tokenworld.quality.facts import Window

__all__ = ["Coverage", "vocabulary"]

SLOW_OK, FAST_OK = Fraction(1, 2), Fraction(5, 2)
STALE, RUSH = 30, Fraction(4)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The verbs that a closed world offers; an open one has none. ``reachable`` is in order."""

    reachable: tuple[str, ...]


def vocabulary(window: Window, coverage: Coverage | None) -> Dimension:
    """v = 10 (first uses in the run of a verb, in the window) / n, and z, the longest stretch
    without one."""
    limits = {"ok": "0.5 <= rate <= 2.5, or every reachable verb used",
              "fail": "stretch >= 30, or rate > 4 in two successive buckets of 10"}  # fmt: skip
    if not window.n:
        return missing("vocabulary", "no ticks", limits)
    firsts = _first_uses(window)
    rate = Fraction(10 * len(firsts), window.n)
    stretch = _stretch(window, firsts)
    rush = _rush(window, firsts)
    used, known = _covered(window, coverage)
    saturated = bool(known) and used == known
    return Dimension(
        "vocabulary",
        graded(
            ok=saturated or SLOW_OK <= rate <= FAST_OK,
            fail=not saturated and (stretch >= STALE or rush),
        ),
        _text(rate, used, known, saturated=saturated),
        {
            "n": window.n,
            "first_uses": len(firsts),
            "rate": exact(rate),
            "stretch": stretch,
            "verbs_used": used,
            "verbs_reachable": known,
            "saturated": saturated,
        },
        limits,
        tuple(firsts),
        per_bucket(
            window,
            lambda facts: Fraction(10 * sum(one.seq in firsts for one in facts), len(facts)),
        ),
    )


def _text(rate: Fraction, used: int, known: int | None, *, saturated: bool) -> str:
    if saturated:
        return f"saturated {used}/{known}"
    covered = f"  ({used}/{known} verbs)" if known is not None else ""
    return f"{shown(rate + Fraction(1, 20), 1)} novel-verbs/10t{covered}"  # to the nearest tenth


def _first_uses(window: Window) -> dict[int, str]:
    """The ticks of the window in which a verb was used for the first time in the run."""
    seen = {fact.used for fact in window.before} | {""}
    found: dict[int, str] = {}
    for fact in window.facts:
        if fact.used not in seen:
            seen.add(fact.used)
            found[fact.seq] = fact.used
    return found


def _stretch(window: Window, firsts: dict[int, str]) -> int:
    longest = current = 0
    for fact in window.facts:
        current = 0 if fact.seq in firsts else current + 1
        longest = max(longest, current)
    return longest


def _rush(window: Window, firsts: dict[int, str]) -> bool:
    """Whether two successive full buckets each had too many new verbs."""
    buckets = [one for one in window.buckets(BUCKET) if len(one) == BUCKET]
    news = [sum(fact.seq in firsts for fact in one) for one in buckets]
    hasty = [Fraction(10 * new, BUCKET) > RUSH for new in news]
    return any(one and other for one, other in pairwise(hasty))


def _covered(window: Window, coverage: Coverage | None) -> tuple[int, int | None]:
    """Verbs used in the run so far, and how many there are to be used."""
    used = {fact.used for fact in (*window.before, *window.facts)} - {""}
    if coverage is None:
        return len(used), None
    return len(used & set(coverage.reachable)), len(coverage.reachable)
