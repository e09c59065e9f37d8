"""Rules with draws: guards for one or two new values, of which one comes up by chance, or for a
value that is drawn from all objects of a type.

A rule is worth the changes that it explains, less the surprise of what came up under its guard (the
entropy of its branches), less its size. What cannot come up at all outweighs 20 changes. So a guard
is as narrow as the evidence asks for, and a change that always happens costs no surprise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import TYPE_CHECKING, Final

from tokenworld.verbs.learn.propose.covering import (
    DEAR,
    DEPTH,
    RULES,
    WORTH,
    Packed,
    Problem,
    Rule,
    Rules,
    flat,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Truths = npt.NDArray[np.bool_]
    Scores = npt.NDArray[np.float64]

__all__ = ["Came", "cover_drawn", "shares", "surprise"]

_KEPT: Final = 8
"""The number of guards that are kept at each depth."""
_TRIED: Final = 8
"""The number of templates that are tried alone and in pairs."""
_ROUNDS: Final = 60
"""Rounds of the EM algorithm that finds the shares of branches."""
Came = frozenset[int]
"""The branches that may have come up, by number; -1 for none of them."""


@dataclass(frozen=True)
class _Mixture:
    """Templates of which one comes up. ``apart`` are instances by the branch that came up, as far
    as it is known, ``bad`` those that no branch explains. ``each`` is the surprise of every one."""

    templates: tuple[int, ...]
    apart: tuple[Truths, ...]
    good: Truths
    bad: Truths
    each: float = 0.0


def cover_drawn(problem: Problem, sizes: Sequence[int]) -> Rules:
    """The rules that explain the changes of a problem by draws. ``sizes`` has for each template the
    number of values of which it draws one; 1 where it is certain."""
    packed = Packed(problem)
    rules: list[Rule] = []
    while len(rules) < RULES and packed.open_changes() > 0:
        best: tuple[float, Rule, Truths] | None = None
        for one in _mixtures(packed, problem, sizes):
            cost = sum(problem.templates[at].cost for at in one.templates)
            score, guard, mask = _guard(packed, one, cost)
            if score > 0 and (best is None or score > best[0]):
                named = flat(packed.predicates[at] for at in guard)
                chosen = tuple(problem.templates[at] for at in one.templates)
                right = float(packed.weights[one.good & mask].sum())
                wrong = float(packed.weights[one.bad & mask].sum())
                rule = Rule(named, chosen[0], int(right), int(wrong), chosen)
                best = score, rule, mask
        if best is None:
            break
        rules.append(best[1])
        packed.free = packed.free & ~best[2]
    return Rules(tuple(rules), int(packed.open_changes()), 0)


def _mixtures(packed: Packed, problem: Problem, sizes: Sequence[int]) -> Iterator[_Mixture]:
    """Yield what may come up: a template or nothing, one of two, one of two or nothing, and any
    object of a type."""
    changed, kept = packed.free & ~packed.kept, packed.free & packed.kept
    worthy = packed.worthy()[:_TRIED]
    certain = [at for at in worthy if sizes[at] == 1]
    for at in worthy:
        right = packed.right[at]
        if sizes[at] > 1:
            yield _Mixture((at,), (), changed & right, packed.free & ~right, log(sizes[at]))
            continue
        apart = (changed & right, kept & ~right)
        yield _Mixture((at,), apart, changed & right, changed & ~right)
    for at, other in combinations(certain, 2):
        one, two = packed.right[at], packed.right[other]
        both = one | two
        if (changed & one & ~two).any() and (changed & two & ~one).any():
            only = (packed.free & one & ~two, packed.free & two & ~one)
            yield _Mixture((at, other), only, changed & both, packed.free & ~both)
            if not (kept & ~both).any():  # where nothing comes up, one of the two would have
                continue
            some = (changed & one & ~two, changed & two & ~one, kept & ~both)
            yield _Mixture((at, other), some, changed & both, changed & ~both)


def _guard(packed: Packed, one: _Mixture, cost: float) -> tuple[float, tuple[int, ...], Truths]:
    """Return the best guard of a mixture: its score, its predicates, and what it covers."""
    import numpy as np

    weights, count = packed.weights, max(2, len(packed.predicates))
    whole = np.ones(len(weights), dtype=np.bool_)
    groups = (*one.apart, one.good, one.bad, packed.free)

    def score(sums: Sequence[npt.NDArray[np.float64]], sizes: npt.NDArray[np.float64]) -> Scores:
        *apart, good, bad, every = sums
        total = sum(apart, np.zeros_like(good))
        with np.errstate(divide="ignore", invalid="ignore"):
            surprise = sum(
                (np.where(part > 0, part * np.log(part / total), 0.0) for part in apart),
                np.zeros_like(good),
            )
        found: Scores = WORTH * (good - DEAR * bad) + surprise - one.each * every - sizes
        return np.where(good > 0, found, -np.inf)

    first = [np.array([weights[group].sum()]) for group in groups]
    start = float(score(first, np.array([cost]))[0])
    best: tuple[float, tuple[int, ...], Truths] = (start, (), whole)
    beam: list[tuple[float, tuple[int, ...], Truths, float]] = [(start, (), whole, cost)]
    seen: set[bytes] = set()
    for _ in range(DEPTH if len(packed.predicates) else 0):
        masks = np.array([each[2] for each in beam])
        sizes = packed.costs[:, None] + log(count) + np.array([[each[3] for each in beam]])
        scores = score([packed.sums(masks, group) for group in groups], sizes)
        following: list[tuple[float, tuple[int, ...], Truths, float]] = []
        for place in np.argsort(-scores, axis=None, kind="stable")[: 8 * _KEPT]:
            row, column = divmod(int(place), len(beam))
            _, guard, mask, _ = beam[column]
            if row in guard or scores[row, column] == float("-inf"):
                continue
            grown = mask & (packed.truths[row] > 0)
            key = np.packbits(grown).tobytes()
            if key in seen:
                continue
            seen.add(key)
            size = float(sizes[row, column])
            following.append((float(scores[row, column]), (*guard, row), grown, size))
            if following[-1][0] > best[0]:
                best = following[-1][:3]
            if len(following) == _KEPT:
                break
        if not following:
            break
        beam = following
    return best


# ---- shares -----------------------------------------------------------------------------------


def shares(came: Counter[Came], branches: int) -> tuple[float, ...]:
    """The likeliest shares of branches, the last of which is that nothing comes up, where more than
    one may have come up (EM, Dempster et al. 1977)."""
    numbers = [*range(branches), -1]
    known = [one for one in came if one]
    found = {at: 1.0 / len(numbers) for at in numbers}
    for _ in range(_ROUNDS):
        sums = dict.fromkeys(numbers, 0.0)
        for one in known:
            total = sum(found[at] for at in one)
            for at in one if total else ():
                sums[at] += came[one] * found[at] / total
        whole = sum(sums.values())
        found = {at: sums[at] / whole if whole else found[at] for at in numbers}
    return tuple(found[at] for at in numbers)


def surprise(came: Counter[Came], found: Sequence[float], sizes: Sequence[int]) -> float:
    """The negative log likelihood of what came up, but for the impossible."""
    total = 0.0
    for one, count in came.items():
        share = sum(found[at] / (sizes[at] if at >= 0 else 1) for at in one)
        total -= count * log(share) if share > 0 else 0.0
    return total
