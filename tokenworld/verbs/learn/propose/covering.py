"""Guarded templates that explain changes: sequential covering with a beam search for each guard.

A rule is worth the changes that it explains, less the surprise of the instances that it gets wrong
(as a probability of the rule), less its size. The best rule is kept, the changes that it covers are
set aside, and the search continues with the rest, as an `else` of the rules before (FOIL, Quinlan
1990, with a minimum description length in place of information gain).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from tokenworld.verbs.learn.propose.templates import Template
from tokenworld.verbs.learn.propose.terms import Predicate, Table, Term

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Truths = npt.NDArray[np.bool_]
    Numbers = npt.NDArray[np.float64]

KEPT: Final = 5
"""The number of guards that each of the two rankings keeps at each depth."""
TRIED: Final = 64
"""The number of guards of a ranking that are looked at to find those."""
DEPTH: Final = 5
"""Predicates of a guard: the one that names the object, and four more."""
WORTH: Final = 8.0
"""The natural logarithm of the odds against a change that no rule explains."""
DEAR: Final = 20.0
"""Explained changes that a mistake outweighs."""
_OVERHEAD: Final = 2.0
"""The fixed cost of a rule besides its guard and template, where rules are chosen by density."""
_TRIED: Final = 10
"""The number of templates for which guards are searched, at each rule."""
RULES: Final = 12
"""The greatest number of rules for one fluent."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A guard, and the template of the change under it. ``right`` and ``wrong`` count the covered
    instances that the template explains and does not explain."""

    guard: tuple[Predicate, ...]
    template: Template
    right: int
    wrong: int
    branches: tuple[Template, ...] = ()
    """The templates of a draw, the first of them ``template``."""
    shares: tuple[float, ...] = ()
    """The share of each branch, and last, the share of no change."""

    @property
    def templates(self) -> tuple[Template, ...]:
        """The templates of all new values."""
        return self.branches or (self.template,)

    @property
    def cost(self) -> float:
        """The size of the rule."""
        return sum(one.cost for one in self.templates) + sum(one.cost for one in self.guard)

    def borrowed(self) -> Predicate | None:
        """Return the guard as one predicate for another slot; ``None`` if it has fewer than two."""
        if len(self.guard) < 2:
            return None
        return Predicate("and", None, self.guard, True, 1.5)


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules in their order, with the number of changes that none explains."""

    rules: tuple[Rule, ...]
    unexplained: int
    wrong: int
    surprise: float = 0.0
    """The negative log likelihood of the random outcomes, in nats."""

    @property
    def cost(self) -> float:
        """The description length of the changes: that of the rules, and of the unexplained
        instances."""
        size = sum(one.cost for one in self.rules)
        return size + self.surprise + WORTH * (self.unexplained + self.wrong)

    @property
    def exact(self) -> bool:
        """Return whether every change is explained, and no other change is predicted."""
        return not self.unexplained and not self.wrong


@dataclass(frozen=True, slots=True)
class Problem:
    """Instances of one slot. ``kept`` says where no change is right; ``right`` for each template
    where its value is."""

    table: Table
    predicates: Sequence[Predicate]
    templates: Sequence[Template]
    kept: Truths
    right: Sequence[Truths]
    slot: Term | None = None
    """The slot's old value, as a term."""


def cover(problem: Problem) -> Rules:
    """Return the rules that explain the changes of a problem, where nothing happens by chance.

    Two lists are made: of the rules that are worth most, and of those that explain most for their
    size. The shorter description is kept.
    """
    packed = Packed(problem)
    worth = _covered(packed, dense=False)
    if len(worth.rules) < 2:
        return worth
    packed.again()
    dense = _covered(packed, dense=True)
    return dense if dense.cost < worth.cost else worth


def _covered(packed: Packed, *, dense: bool) -> Rules:
    rules: list[Rule] = []
    while len(rules) < RULES and packed.open_changes() > 0:
        best = packed.best(dense)
        if best is None:
            break
        rules.append(best)
    return Rules(tuple(rules), int(packed.open_changes()), int(packed.mistakes))


class Packed:
    """The instances of a problem, equal ones counted once."""

    def __init__(self, problem: Problem) -> None:
        import numpy as np

        self._problem = problem
        truths = [problem.table.truth(one) for one in problem.predicates]
        keep = _distinct(truths, problem.predicates)
        self.predicates = [problem.predicates[at] for at in keep]
        rows = [truths[at] for at in keep]
        every = np.array([*rows, *problem.right, problem.kept], dtype=np.bool_)
        bits = np.packbits(every, axis=0)
        _, first, counts = np.unique(bits, axis=1, return_index=True, return_counts=True)
        every = every[:, first]
        self.truths = every[: len(rows)].astype(np.float32)
        self.right = every[len(rows) : -1]
        self.kept = every[-1]
        self.weights = counts.astype(np.float64)
        self.free = np.ones(len(first), dtype=np.bool_)
        self.costs = np.array([one.cost for one in self.predicates], dtype=np.float64)
        self.mistakes = 0.0

    def again(self) -> None:
        """Mark all instances as not covered."""
        import numpy as np

        self.free = np.ones(len(self.weights), dtype=np.bool_)
        self.mistakes = 0.0

    def open_changes(self) -> float:
        """Return the number of changes that no rule has covered yet."""
        return float(self.weights[self.free & ~self.kept].sum())

    def best(self, dense: bool) -> Rule | None:
        """Return the rule that is worth most, and mark the instances that it covers."""
        import numpy as np

        found: tuple[float, Rule, Truths] | None = None
        for at in self.worthy():
            template = self._problem.templates[at]
            positive = self.free & self.right[at] & ~self.kept
            negative = self.free & ~self.right[at]
            score, guard, mask, _ = self._guard(positive, negative, template.cost, dense)
            right = float(self.weights[positive & mask].sum())
            wrong = float(self.weights[negative & mask].sum())
            if score > 0 and (found is None or score > found[0]):
                named = flat(self.predicates[one] for one in guard)
                found = (score, Rule(named, template, int(right), int(wrong)), mask)
        if found is None:
            return None
        self.free = self.free & ~np.asarray(found[2])
        self.mistakes += found[1].wrong
        return found[1]

    def worthy(self) -> list[int]:
        """Return the templates that explain most open changes; of two that explain the same the
        cheaper one."""
        import numpy as np

        seen: dict[bytes, int] = {}
        open_ = self.free & ~self.kept
        for at, right in enumerate(self.right):
            explained = open_ & right
            if explained.any():
                wrong = self.free & ~right
                key = np.packbits(np.concatenate((explained, wrong))).tobytes()
                other = seen.get(key)
                costs = self._problem.templates
                if other is None or costs[at].cost < costs[other].cost:
                    seen[key] = at
        worth = {at: WORTH * float(self.weights[open_ & self.right[at]].sum())
                 - self._problem.templates[at].cost for at in seen.values()}  # fmt: skip
        return sorted(worth, key=lambda at: -worth[at])[:_TRIED]

    def sums(self, masks: Truths, among: Truths) -> Numbers:
        """Count the instances among some that each predicate leaves of each mask."""
        import numpy as np

        shown = (masks * (among * self.weights)).T.astype(np.float32)
        found: Numbers = (self.truths @ shown).astype(np.float64)
        return found

    def stacked(self, masks: Truths, groups: Sequence[Truths | Numbers]) -> Numbers:
        """The same for several groups, or numbers of instances, in one product: by group, by
        predicate and by mask."""
        import numpy as np

        parts = [masks * (one * self.weights) for one in groups]
        sums = self.truths @ np.concatenate(parts).T.astype(np.float32)
        shape = len(self.predicates), len(groups), len(masks)
        found: Numbers = sums.astype(np.float64).reshape(shape).transpose(1, 0, 2)
        return found

    def _guard(self, positive: Truths, negative: Truths, cost: float, dense: bool) -> Guard:
        """Return the best guard of a template that is right on some instances and wrong on others:
        by its worth, and beside that by its gain in certainty, so that it may be found in steps."""
        import numpy as np

        weights = self.weights
        sums = np.array([weights[positive].sum(), weights[negative].sum()])
        worth = _dense if dense else _strict

        def judged(masks: Truths, sizes: Numbers) -> Judged:
            right, wrong = self.sums(masks, positive), self.sums(masks, negative)
            gains, strict = _gains(right, wrong, sizes, sums), worth(right, wrong, sizes)
            return Judged((gains, strict), _scores(right, wrong, sizes) > -np.inf)

        start = float(worth(sums[:1], sums[1:], np.array([cost]))[0])
        first = Guard(start, (), np.ones(len(weights), dtype=np.bool_), cost)
        return best_guard(
            self, first, judged, kept=KEPT, tried=TRIED,
            done=lambda mask: float(weights[negative & mask].sum()) == 0,
        )  # fmt: skip


# ---- The beam search ----------------------------------------------------------------------------


class Guard(NamedTuple):
    """Predicates by number, the instances that they leave, and the size of the rule."""

    worth: float
    predicates: tuple[int, ...]
    mask: Truths
    size: float


class Judged(NamedTuple):
    """Guards in one or more rankings, the last of which is their worth, and those that explain
    something: by predicate and by guard of the beam that it is added to."""

    rankings: tuple[Numbers, ...]
    possible: Truths


def best_guard(
    packed: Packed,
    first: Guard,
    judged: Callable[[Truths, Numbers], Judged],
    *,
    kept: int,
    tried: int,
    costs: Numbers | None = None,
    done: Callable[[Truths], bool] = lambda mask: False,
) -> Guard:
    """Return the guard that is worth most, found by a beam search that begins with ``first``.

    ``judged`` gets the masks of the beam and the sizes with each predicate added. Each ranking
    keeps ``kept`` of its first ``tried`` guards. ``costs`` are those of the predicates, if other
    than their own. The search ends where all guards of the beam are ``done``.
    """
    import numpy as np

    best, beam, seen = first, [first], set[bytes]()
    each = packed.costs if costs is None else costs
    for _ in range(DEPTH if len(packed.predicates) else 0):
        sizes = each[:, None] + np.array([[one.size for one in beam]])
        rankings, possible = judged(np.array([one.mask for one in beam]), sizes)
        following: list[Guard] = []
        for ranked in rankings:
            full = len(following) + kept
            for place in np.argsort(-ranked, axis=None, kind="stable")[:tried]:
                row, column = divmod(int(place), len(beam))
                if row in beam[column].predicates or not possible[row, column]:
                    continue
                grown = beam[column].mask & (packed.truths[row] > 0)
                key = np.packbits(grown).tobytes()
                if key in seen:
                    continue
                seen.add(key)
                guard = (*beam[column].predicates, row)
                worth, size = float(rankings[-1][row, column]), float(sizes[row, column])
                following.append(Guard(worth, guard, grown, size))
                if worth > best.worth:
                    best = following[-1]
                if len(following) == full:
                    break
        if not following or all(done(one.mask) for one in following):
            break
        beam = following
    return best


def _distinct(truths: Sequence[Truths], predicates: Sequence[Predicate]) -> list[int]:
    """Return the predicates that separate instances; of those with equal truth values the
    cheapest."""
    import numpy as np

    found: dict[bytes, int] = {}
    for at, one in enumerate(truths):
        if one.any() and not one.all():
            key = np.packbits(one).tobytes()
            other = found.get(key)
            if other is None or predicates[at].cost < predicates[other].cost:
                found[key] = at
    return sorted(found.values())


def flat(guard: Iterable[Predicate]) -> tuple[Predicate, ...]:
    """Return the predicates of a guard, those of borrowed guards among them."""
    found: dict[Predicate, None] = {}
    for one in guard:
        parts = one.parts() if one.op == "and" else (one,)
        found.update(dict.fromkeys(parts))
    return tuple(found)


def _scores(right: Numbers, wrong: Numbers, sizes: Numbers) -> Numbers:
    """Return the worth of rules: changes explained, minus the surprise of mistakes, minus size."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        total = right + wrong
        surprise = np.where(
            wrong > 0, right * np.log(right / total) + wrong * np.log(wrong / total), 0.0
        )
        scores = WORTH * right + surprise - sizes
    found: Numbers = np.where(right > 0, scores, -np.inf)
    return found


def _strict(right: Numbers, wrong: Numbers, sizes: Numbers) -> Numbers:
    """Return the worth of rules if every instance has one outcome: a later rule may explain
    unexplained instances, but cannot correct a mistake."""
    return WORTH * (right - DEAR * wrong) - sizes


def _dense(right: Numbers, wrong: Numbers, sizes: Numbers) -> Numbers:
    """Return the changes explained per size of rule (the greedy choice of a weighted set cover)."""
    import numpy as np

    found: Numbers = WORTH * (right - DEAR * wrong) / np.maximum(sizes + _OVERHEAD, 0.5)
    return found


def _gains(right: Numbers, wrong: Numbers, sizes: Numbers, before: Numbers) -> Numbers:
    """Return how much guards raise the certainty of all changes together (FOIL's gain)."""
    import numpy as np

    with np.errstate(divide="ignore", invalid="ignore"):
        sure = np.log(right / (right + wrong)) - np.log(before[0] / before.sum())
        found: Numbers = np.where(right > 0, right * sure - sizes / 2, -np.inf)
    return found
