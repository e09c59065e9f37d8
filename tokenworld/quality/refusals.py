"""The dimensions about refusals: action coherence and refusal cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby

from tokenworld.quality.dimension import Dimension, exact, graded, missing, per_bucket, shown
from tokenworld.quality.facts import Fact, Window

__all__ = ["CLUSTER_FAIL", "action_coherence", "refusal_cluster"]

STREAK_OK, STREAK_FAIL = 15, 5
RATE_OK, RATE_FAIL = Fraction(15, 10), Fraction(4)
CLUSTER_OK, CLUSTER_FAIL = 2, 5


def _runs(facts: Sequence[Fact], *, refused: bool) -> Iterator[list[Fact]]:
    """The longest pieces in which all ticks are among R, or none is."""
    for found, piece in groupby(facts, key=lambda fact: fact.refused_like):
        if found is refused:
            yield list(piece)


def action_coherence(window: Window) -> Dimension:
    """L, the longest run without R, and r = 10 |R| / n."""
    limits = {"ok": "streak >= min(15, n) and refuse_rate <= 1.5",
              "fail": "streak < min(5, n) or refuse_rate >= 4"}  # fmt: skip
    if not window.n:
        return missing("action_coherence", "no ticks", limits)
    n = window.n
    refused = tuple(fact.seq for fact in window.facts if fact.refused_like)
    streak = max((len(piece) for piece in _runs(window.facts, refused=False)), default=0)
    rate = Fraction(10 * len(refused), n)
    return Dimension(
        "action_coherence",
        graded(
            ok=streak >= min(STREAK_OK, n) and rate <= RATE_OK,
            fail=streak < min(STREAK_FAIL, n) or rate >= RATE_FAIL,
        ),
        f"streak={streak}  refuse_rate={shown(rate, 1, up=True)}",
        {"n": n, "streak": streak, "refused": len(refused), "refuse_rate": exact(rate)},
        limits,
        refused,
        per_bucket(
            window,
            lambda facts: Fraction(10 * sum(one.refused_like for one in facts), len(facts)),
        ),
    )


def refusal_cluster(window: Window) -> Dimension:
    """m, the longest run of R touching the window, counted back before it.

    A planner's command must never be refused: a single refusal of one is a defect of the compiler.
    """
    limits = {"ok": "<= 2", "fail": ">= 5, or any refusal of a planner"}
    if not window.n:
        return missing("refusal_cluster", "no ticks", limits)
    cluster = _longest(window)
    most = len(cluster)
    planned = tuple(one.seq for one in window.facts if one.refused_like and one.source == "planner")
    # One bound is shown: the next one that the run has not come to.
    note = "  a planner was refused" if planned else ""
    bound = f"(< {CLUSTER_FAIL})" if most < CLUSTER_FAIL else f"(>= {CLUSTER_FAIL})"
    return Dimension(
        "refusal_cluster",
        graded(ok=most <= CLUSTER_OK and not planned, fail=most >= CLUSTER_FAIL or bool(planned)),
        f"max={most}  {bound}{note}",
        {"max": most, "planner_refusals": len(planned)},
        limits,
        tuple(fact.seq for fact in cluster) or planned,
        tuple((piece[-1].seq, Fraction(len(piece))) for piece in _touching(window)),
    )


def _longest(window: Window) -> list[Fact]:
    """The first of the longest runs of R that touch the window."""
    return max(_touching(window), key=len, default=[])


def _touching(window: Window) -> list[list[Fact]]:
    first = window.facts[0].seq
    pieces = _runs((*_carried_in(window), *window.facts), refused=True)
    return [piece for piece in pieces if piece[-1].seq >= first]


def _carried_in(window: Window) -> tuple[Fact, ...]:
    """The run of R that stands directly before the window."""
    count = 0
    for fact in reversed(window.before):
        if not fact.refused_like:
            break
        count += 1
    return window.before[len(window.before) - count :]
