"""The dimensions that are a share of the ticks: groundedness, character, conservation."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tokenworld.quality.dimension import Dimension, exact, graded, missing, per_bucket, shown
from tokenworld.quality.facts import Fact, Window
from tokenworld.quality.markers import Markers

__all__ = ["character", "conservation", "groundedness"]

GROUNDED_OK, GROUNDED_FAIL = Fraction(95, 100), Fraction(85, 100)
CHARACTER_OK, CHARACTER_FAIL = Fraction(98, 100), Fraction(90, 100)
ROLLBACKS_OK, ROLLBACKS_FAIL = Fraction(2, 100), Fraction(10, 100)


def groundedness(window: Window) -> Dimension:
    """1 - u/n: u records fail their re-check (a law of statuses, a change, a claim)."""
    limits = {"ok": ">= 0.95", "fail": "< 0.85"}
    if not window.n:
        return missing("groundedness", "no ticks", limits)
    bad = tuple(fact for fact in window.facts if fact.faults)
    n, u = window.n, len(bad)
    value = 1 - Fraction(u, n)
    return Dimension(
        "groundedness",
        graded(ok=value >= GROUNDED_OK, fail=value < GROUNDED_FAIL),
        f"{shown(value, 2):<8}({n - u}/{n} grounded)",
        {
            "n": n,
            "u": u,
            "value": exact(value),
            "unchecked": sum(fact.unchecked for fact in window.facts),
            "faults": {str(fact.seq): list(fact.faults) for fact in bad},
        },
        limits,
        tuple(fact.seq for fact in bad),
        per_bucket(window, lambda facts: 1 - _share(facts, [one for one in facts if one.faults])),
    )


def character(window: Window, markers: Markers) -> Dimension:
    """1 - b/t: b of the t ticks with free text hold a marker."""
    limits = {"ok": ">= 0.98", "fail": "< 0.90"}
    spoken = [fact for fact in window.facts if fact.text is not None]
    if not spoken:
        return missing("character", "no free text", limits)
    found = {fact.seq: markers.found(fact.text or "") for fact in spoken}
    breaks = [fact for fact in spoken if found[fact.seq]]
    t, b = len(spoken), len(breaks)
    value = 1 - Fraction(b, t)
    return Dimension(
        "character",
        graded(ok=value >= CHARACTER_OK, fail=value < CHARACTER_FAIL),
        f"{shown(value, 2):<8}({b} {'break' if b == 1 else 'breaks'})",
        {
            "t": t,
            "b": b,
            "value": exact(value),
            "markers": list(markers.words),
            "allowed": list(markers.allowed),
            "found": {str(fact.seq): list(found[fact.seq]) for fact in breaks},
        },
        limits,
        tuple(fact.seq for fact in breaks),
        per_bucket(window, lambda facts: 1 - _share(*_texts(facts, markers))),
    )


def _texts(facts: Sequence[Fact], markers: Markers) -> tuple[list[Fact], list[Fact]]:
    spoken = [fact for fact in facts if fact.text is not None]
    return spoken, [fact for fact in spoken if markers.found(fact.text or "")]


def conservation(window: Window) -> Dimension:
    """Rolled back / n, with the invariants and rules to blame."""
    limits = {"ok": "<= 0.02", "fail": ">= 0.10"}
    if not window.n:
        return missing("conservation", "no ticks", limits)
    lost = [fact for fact in window.facts if fact.status == "rolled_back"]
    n = window.n
    value = Fraction(len(lost), n)
    blamed = tuple(dict.fromkeys(name for fact in lost for name in fact.blamed))
    by = f"  by {', '.join(blamed)}" if blamed else ""
    return Dimension(
        "conservation",
        graded(ok=value <= ROLLBACKS_OK, fail=value >= ROLLBACKS_FAIL),
        f"{shown(value, 2, up=True):<8}({len(lost)}/{n} rollbacks){by}",
        {"n": n, "rolled_back": len(lost), "value": exact(value), "blamed": list(blamed)},
        limits,
        tuple(fact.seq for fact in lost),
        per_bucket(
            window, lambda all_: _share(all_, [x for x in all_ if x.status == "rolled_back"])
        ),
    )


def _rolled_back(facts: Sequence[Fact]) -> Fraction:
    return _share(facts, [fact for fact in facts if fact.status == "rolled_back"])


def _share(facts: Sequence[Fact], chosen: Sequence[Fact]) -> Fraction:
    return Fraction(len(chosen), len(facts)) if facts else Fraction(0)
