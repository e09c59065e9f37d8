"""Rules with draws: guards for one or two new values, one of which is drawn, or for a value that is
drawn from all objects of a type.

A rule is worth the changes that it explains, less the surprise of the observed draws under its
guard (the entropy of its branches), less its size. An impossible observation outweighs 20 changes.
So a guard is as narrow as the evidence asks for, and a change that always happens costs no
surprise.

Where the records are noisy, so that any slot may change by chance, `cover_noisy` makes a list of
rules that each have the shares of all new values under their guard, after Proença and van Leeuwen
("Interpretable multiclass classification by MDL-based rule lists", 2020). A rule is worth the
surprise that it saves compared with the best rule without a guard for the rest. To name a predicate
or a value costs the logarithm of the number of those that were tried, so that a coincidence does
not pay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from math import log
from typing import TYPE_CHECKING, Final

from tokenworld.verbs.learn.propose.covering import (
    DEAR,
    RULES,
    WORTH,
    Guard,
    Judged,
    Packed,
    Problem,
    Rule,
    Rules,
    best_guard,
    flat,
)
from tokenworld.verbs.learn.propose.templates import Template
from tokenworld.verbs.learn.propose.terms import Predicate, Term

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Truths = npt.NDArray[np.bool_]
    Numbers = npt.NDArray[np.float64]

_KEPT: Final = 8
"""The number of guards that are kept at each depth."""
_TRIED: Final = 8
"""The number of templates that are tried alone and in pairs."""
_PLAIN: Final = 6
"""The number of values, or steps from the old value, whose shares a noisy rule has."""
_OTHERS: Final = 4
"""The number of templates of other kinds that are tried beside them, at each rule."""
_POWERS: Final = (0.0, 0.5, 1.0)
"""The savings of a noisy rule are divided by these powers of the number of its instances."""
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
            score, guard, mask, _ = _guard(packed, one, cost)
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
    """Yield sets of possible outcomes: a template or no change, one of two templates, one of two or
    no change, and any object of a type."""
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


def _guard(packed: Packed, one: _Mixture, cost: float) -> Guard:
    """Return the best guard of a mixture."""
    import numpy as np

    groups = (*one.apart, one.good, one.bad, packed.free)

    def score(sums: Sequence[Numbers], sizes: Numbers) -> Numbers:
        *apart, good, bad, every = sums
        total = sum(apart, np.zeros_like(good))
        with np.errstate(divide="ignore", invalid="ignore"):
            surprise = sum(
                (np.where(part > 0, part * np.log(part / total), 0.0) for part in apart),
                np.zeros_like(good),
            )
        found: Numbers = WORTH * (good - DEAR * bad) + surprise - one.each * every - sizes
        return np.where(good > 0, found, -np.inf)

    def judged(masks: Truths, sizes: Numbers) -> Judged:
        scores = score([packed.sums(masks, group) for group in groups], sizes)
        return Judged((scores,), scores > -np.inf)

    sums = [np.array([packed.weights[group].sum()]) for group in groups]
    start = float(score(sums, np.array([cost]))[0])
    first = Guard(start, (), np.ones(len(packed.weights), dtype=np.bool_), cost)
    return _priced(packed, first, judged)


def _priced(packed: Packed, first: Guard, judged: Callable[[Truths, Numbers], Judged]) -> Guard:
    """Return the best guard where the choice of each predicate has a cost."""
    return best_guard(
        packed, first, judged, kept=_KEPT, tried=8 * _KEPT,
        costs=packed.costs + log(max(2, len(packed.predicates))),
    )  # fmt: skip


# ---- noise --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Outcomes:
    """The instances by their outcome, each once: by a template, changed without one, unchanged.
    ``size`` is that of the templates, ``each`` the surprise of the drawn value of one."""

    templates: tuple[int, ...]
    parts: Truths
    size: float
    each: Numbers


def cover_noisy(problem: Problem, sizes: Sequence[int]) -> Rules:
    """Return rules for a problem whose changes may all happen by chance; ``sizes`` as in
    `cover_drawn`. The last rule has no guard and covers the rest.

    Several lists of rules are made: the next rule of a list saves most nats, or most for the number
    of covered instances or for its root, so that a wide guard that is often wrong does not replace
    two guards that are right. For a truth value there are as many lists with rules that invert it;
    they pay for this choice, because different conditions make a slot true and false. The list with
    the shortest description of the instances, in nats, is returned.
    """
    packed = Packed(problem)
    lengths, found = _lengths(packed.predicates), list[tuple[float, list[Rule]]]()
    truth = any(_is_turned(one, problem) for one in problem.templates)
    for turned in (False, True) if truth else (False,):
        for power in _POWERS:
            packed.again()
            plain = _plain(packed, problem, turned)
            found.append(_listed(packed, problem, sizes, plain, lengths, power))
    return Rules(tuple(min(found, key=lambda one: one[0])[1]), 0, 0)


def _listed(
    packed: Packed, problem: Problem, sizes: Sequence[int], plain: Sequence[int],
    lengths: Numbers, power: float,
) -> tuple[float, list[Rule]]:  # fmt: skip
    """Return a list of rules, and the nats that tell it and the instances that it covers."""
    rules, length = list[Rule](), 0.0
    while plain and packed.open_changes() > 0:
        tried = list(_tried(packed, problem, sizes, plain))
        usual, rest = min(
            ((_usual(packed, one), one) for one in tried),
            key=lambda pair: float(pair[0] @ packed.weights) + pair[1].size,
        )  # fmt: skip
        found, outcomes = max(
            ((_saving(packed, one, usual, lengths, power), one) for one in tried),
            key=lambda pair: pair[0].worth,
        )
        saved, guard, mask, size = found
        if saved <= 0 or len(rules) == RULES:
            outcomes, guard, mask, size = rest, (), packed.free, rest.size
        counts = (outcomes.parts & mask) @ packed.weights
        length += float(_told(counts, outcomes.each)) + size
        rules.append(_ruled(packed, problem, outcomes, guard, counts))
        packed.free = packed.free & ~mask
    return length, rules


def _lengths(predicates: Sequence[Predicate]) -> Numbers:
    """Return the description length of each predicate in nats: its form, its terms, its operator
    and right side, and whether another predicate follows.

    The code is uniform over the predicates that the search tries. So a comparison of two of twenty
    numbers costs the logarithm of 190 pairs.
    """
    import numpy as np

    named = [_terms(one) for one in predicates]
    terms, said = Counter(form for form, _ in set(named)), Counter(named)
    return np.array([log(2 * len(terms) * terms[one[0]] * said[one]) for one in named])


def _terms(one: Predicate) -> tuple[str, tuple[Term | None, ...]]:
    """Return the form of a predicate, and its terms."""
    if isinstance(one.right, Term):
        return "two terms", (one.left, one.right)
    if one.op in ("=", ">=", "<"):
        return "a value", (one.left,)
    return one.op, (one.left, one.far)


def _plain(packed: Packed, problem: Problem, turned: bool) -> list[int]:
    """The values, or steps from the old value, that explain most changes together; where
    ``turned``, the opposite of the old value."""
    rest, found = packed.free & ~packed.kept, list[int]()
    own = [at for at, one in enumerate(problem.templates)
           if (_is_turned if turned else _is_own)(one, problem)]  # fmt: skip
    while len(found) < _PLAIN and rest.any():
        told = {at: float(packed.weights[rest & packed.right[at]].sum()) for at in own}
        best = max(own, key=lambda at: (told[at], -problem.templates[at].cost), default=None)
        if best is None or not told[best]:
            break
        found.append(best)
        rest = rest & ~packed.right[best]
    return found


def _is_plain(one: Template, problem: Problem) -> bool:
    return _is_own(one, problem) or _is_turned(one, problem)


def _is_own(one: Template, problem: Problem) -> bool:
    """Return whether a template is coded without a name: a constant value, or a step from the old
    one."""
    return one.op == "value" or (one.op == "shift" and one.term == problem.slot)


def _is_turned(one: Template, problem: Problem) -> bool:
    return one.op == "not" and one.term == problem.slot


def _tried(
    packed: Packed, problem: Problem, sizes: Sequence[int], plain: Sequence[int]
) -> Iterator[_Outcomes]:
    """Yield the shares of plain values, and those in which another template comes first."""
    yield _outcomes(packed, problem, sizes, plain)
    others = (at for at in packed.worthy() if not _is_plain(problem.templates[at], problem))
    for at in islice(others, _OTHERS):
        yield _outcomes(packed, problem, sizes, (at, *plain))


def _outcomes(
    packed: Packed, problem: Problem, sizes: Sequence[int], templates: Sequence[int]
) -> _Outcomes:
    import numpy as np

    rest = packed.free
    parts: list[Truths] = []
    for at in templates:
        own = rest & packed.right[at]
        if _is_plain(problem.templates[at], problem):
            own = own & ~packed.kept
        parts.append(own)
        rest = rest & ~own
    parts += [rest & ~packed.kept, rest & packed.kept]
    dear = [at for at in templates if not _is_own(problem.templates[at], problem)]
    size = sum(problem.templates[at].cost + log(len(problem.templates)) for at in dear)
    each = np.array([*(log(sizes[at]) for at in templates), WORTH, 0.0])
    return _Outcomes(tuple(templates), np.array(parts), size, each)


def _usual(packed: Packed, outcomes: _Outcomes) -> Numbers:
    """The surprise of each free instance by the shares under no guard."""
    import numpy as np

    counts = outcomes.parts @ packed.weights
    found = np.zeros(len(packed.weights))
    for part, count, each in zip(outcomes.parts, counts, outcomes.each, strict=True):
        found[part] = each - log(count / counts.sum()) if count else 0.0
    return found


def _saving(
    packed: Packed, outcomes: _Outcomes, usual: Numbers, lengths: Numbers, power: float
) -> Guard:
    """Return the guard under which the shares of outcomes save most nats for a power of the number
    of instances."""
    import numpy as np

    each, groups = outcomes.each, [*outcomes.parts, packed.free * usual]

    def judged(masks: Truths, sizes: Numbers) -> Judged:
        *parts, before = packed.stacked(masks, groups)
        counts = np.array(parts)
        saved = np.where(counts[:-1].sum(axis=0) > 0, before - _told(counts, each) - sizes, -np.inf)
        rates = saved / np.maximum(counts.sum(axis=0), 1) ** power
        return Judged((saved, rates) if power else (saved,), saved > -np.inf)

    first = Guard(0.0, (), packed.free, outcomes.size)
    return best_guard(packed, first, judged, kept=_KEPT, tried=8 * _KEPT, costs=lengths)


def _told(counts: Numbers, each: Numbers) -> Numbers:
    """The nats that tell outcomes by the shares of their counts, and those shares: half the
    logarithm of the number of instances for each (Rissanen 1978)."""
    import numpy as np

    total = counts.sum(axis=0)
    each = each.reshape(-1, *(1 for _ in total.shape))
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(counts > 0, counts * (each - np.log(counts / total)), 0.0)
    shares = np.maximum((counts > 0).sum(axis=0) - 1, 0) / 2 * np.log(np.maximum(total, 1))
    found: Numbers = own.sum(axis=0) + shares
    return found


def _ruled(
    packed: Packed, problem: Problem, outcomes: _Outcomes, guard: Sequence[int], counts: Numbers
) -> Rule:
    """The rule of a guard, with the templates that came up under it."""
    came = [at for at, count in zip(outcomes.templates, counts, strict=False) if count]
    chosen = tuple(problem.templates[at] for at in came or outcomes.templates[:1])
    named = flat(packed.predicates[at] for at in guard)
    return Rule(named, chosen[0], int(counts[:-2].sum()), int(counts[-2]), chosen)


# ---- shares -----------------------------------------------------------------------------------


def shared_out(
    rule: Rule, right: Truths, kept: Truths, mask: Truths, sizes: Sequence[int], *, noisy: bool
) -> tuple[Rule, float]:
    """Return a rule with the shares of its branches, and the surprise of the outcomes. ``right``
    says for each branch which new values it explains, ``mask`` which instances the rule covers,
    ``kept`` which values do not change.

    In noisy records "no change" may be an outcome although branches explain all new values, if it
    pays for one more share.
    """
    some, idle = right.any(axis=0), mask & kept
    none = bool((idle & ~some).any())
    best = _fitted(right, mask, idle & none, sizes)
    if noisy and idle.any() and not none:
        other = _fitted(right, mask, idle, sizes)
        if other[2] + log(mask.sum()) / 2 < best[2]:
            best = other
    came, found, lost = best
    told = sum(count for one, count in came.items() if len(one) == 1)
    right_ = int((mask & some & ~kept).sum())
    return replace(rule, right=right_, wrong=max(0, told - right_), shares=found), lost


def _fitted(
    right: Truths, mask: Truths, idle: Truths, sizes: Sequence[int]
) -> tuple[Counter[Came], tuple[float, ...], float]:
    """Return the possible outcomes, their shares and the surprise; in ``idle`` no change is
    possible too."""
    came: Counter[Came] = Counter()
    for at in map(int, mask.nonzero()[0]):
        branches = [int(one) for one in right[:, at].nonzero()[0]]
        came[frozenset([*branches, -1] if idle[at] else branches)] += 1
    found = _shares(came, len(right))
    return came, found, _surprise(came, found, sizes)


def _shares(came: Counter[Came], branches: int) -> tuple[float, ...]:
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


def _surprise(came: Counter[Came], found: Sequence[float], sizes: Sequence[int]) -> float:
    """The negative log likelihood of the outcomes, without the impossible ones."""
    total = 0.0
    for one, count in came.items():
        share = sum(found[at] / (sizes[at] if at >= 0 else 1) for at in one)
        total -= count * log(share) if share > 0 else 0.0
    return total
