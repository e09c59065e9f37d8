"""Maximum likelihood values of learned params, with standard errors.

Params that occur together in a factor, or in the alternatives of one draw, are fitted together. If
each factor is one probability, and each probability a param or 1 minus a sum of params, the values
are relative frequencies. Else the log likelihood is maximised by L-BFGS-B (Byrd et al., "A limited
memory algorithm for bound constrained optimization", 1995; scipy, extra `learn`), in logits, with
its gradient. Standard errors are those of the inverse of the observed information.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from math import inf, log, sqrt
from typing import TYPE_CHECKING, Any

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.verbs.learn.evidence import Collected, Learned
from tokenworld.verbs.learn.learnt import Learnt, Softmax, Weight, value_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LEAST = 1e-12
"""A probability below this counts as this, with a slope that leads out of there."""
MOST = 30.0
"""Logits beyond this count as this."""
_THREADS = "OPENBLAS_NUM_THREADS"
"""The variable by which the algebra of scipy learns how many threads it may use."""
STEP = 1e-4
"""By how much a param is varied to find the curvature, in shares of its range."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The likeliest value of a param; ``error``: its standard error, ``None`` where there is none
    (no information, or a value at the end of the range)."""

    learned: Learned
    value: float
    error: float | None
    informative: int
    by: str


@dataclass(frozen=True, slots=True)
class Fit:
    """The params in their order, and the log probability of all rows before and after."""

    params: tuple[Fitted, ...]
    before: float
    after: float


def fit(found: Collected, params: Mapping[str, Learned]) -> Fit:
    """Fit the params to the evidence. `Failure` (TW0811) where scipy is needed and missing."""
    values = {name: one.value for name, one in params.items()}
    before = likelihood(found, values)
    done: dict[str, Fitted] = {}
    for group in _groups(found, params):
        mine = Counter({x: n for x, n in found.factors.items() if _names(found, x) & set(group)})
        fitted = _counted(found, group, mine, params) if mine else {}
        if fitted is None:
            fitted = _maximised(found, group, mine, params)
        for name in group:
            value, error = params[name].value, None
            if found.informative[name]:
                value, error = fitted[name]
            by = "nothing" if not found.informative[name] else "count" if not _sums(mine) else "fit"
            values[name] = value
            done[name] = Fitted(params[name], value, error, found.informative[name], by)
    return Fit(tuple(done[name] for name in params), before, likelihood(found, values))


def likelihood(found: Collected, values: Mapping[str, float]) -> float:
    """The log probability of all possible rows with these values."""
    atoms = [one.at(values) for one in found.atoms.every]
    total = found.fixed
    for factor, count in found.factors.items():
        share = value_of(factor.products, atoms.__getitem__)
        total += count * log(share) if share > 0 else -inf
    return total


def _names(found: Collected, factor: Weight) -> set[str]:
    used = {at for product in factor.products for at in product}
    return {name for at in used for name in found.atoms.every[at].names}


def _sums(factors: Iterable[Weight]) -> bool:
    return any(len(one.products) > 1 for one in factors)


def _groups(found: Collected, params: Mapping[str, Learned]) -> list[list[str]]:
    """Params that depend on each other, in their order."""
    home = {name: {name} for name in params}
    together = [set(one.names) for one in found.atoms.every]
    together += [_names(found, one) for one in found.factors]
    for names in together:
        joined = set().union(*(home[name] for name in names)) if names else set()
        for name in joined:
            home[name] = joined
    seen, groups = set[str](), list[list[str]]()
    for name in params:
        if name not in seen:
            seen |= home[name]
            groups.append([one for one in params if one in home[name]])
    return groups


# ---- counts -------------------------------------------------------------------------------------


def _counted(
    found: Collected, group: list[str], factors: Counter[Weight], params: Mapping[str, Learned]
) -> dict[str, tuple[float, float | None]] | None:
    """The shares of alternatives, where every factor is that of one; ``None`` where not."""
    counts: Counter[str] = Counter()
    rest = 0
    for factor, count in factors.items():
        atom = _single(found, factor)
        if atom is None:
            return None
        alone = next((name for name in group if _is_bare(atom, name)), None)
        if alone is not None:
            counts[alone] += count
        elif atom.key() == _left_over(group).key():
            rest += count
        else:
            return None
    if any(params[name].low > 0 or params[name].high < 1 for name in group):
        return None if len(group) > 1 else _clipped(group[0], counts[group[0]], rest, params)
    total = sum(counts.values()) + rest
    shares = {name: counts[name] / total for name in group}
    return {x: (p, sqrt(p * (1 - p) / total) if 0 < p < 1 else None) for x, p in shares.items()}


def _clipped(
    name: str, count: int, rest: int, params: Mapping[str, Learned]
) -> dict[str, tuple[float, float | None]]:
    total, one = count + rest, params[name]
    share = count / total
    value = min(max(share, one.low), one.high)
    error = sqrt(share * (1 - share) / total) if value == share and 0 < share < 1 else None
    return {name: (value, error)}


def _single(found: Collected, factor: Weight) -> Learnt | Softmax | None:
    """The atom that a factor is."""
    if len(factor.products) > 1:
        return None
    (product,) = factor.products
    return found.atoms.every[product[0]] if len(product) == 1 else None


def _is_bare(atom: Learnt | Softmax, name: str) -> bool:
    return atom.terms == {(name,): 1}


def _left_over(names: Sequence[str]) -> Learnt:
    left = Learnt.of(1)
    for name in names:
        left = left - Learnt({(name,): 1})  # type: ignore[dict-item]
    return left


# ---- the likeliest values -----------------------------------------------------------------------


def _maximised(
    found: Collected, group: list[str], factors: Counter[Weight], params: Mapping[str, Learned]
) -> dict[str, tuple[float, float | None]]:
    """The values by L-BFGS-B, and their standard errors."""
    if find_spec("scipy") is None or find_spec("numpy") is None:
        what = "These params are fitted by scipy, which is not installed."
        hint = 'Run `pip install "token-world[learn]"`.'
        raise Failure(Diagnostic("TW0811", what, hint=hint))
    import numpy as np

    minimize = minimizer()
    problem = _Problem(found, group, factors, params)
    tries = [
        minimize(problem.in_logits, begin, jac=True, method="L-BFGS-B")
        for begin in (problem.begin, np.zeros(len(group)))
    ]
    best = min(tries, key=lambda one: float(one.fun))
    values = problem.values(best.x)
    errors = problem.errors(values)
    return {name: (float(values[at]), errors[at]) for at, name in enumerate(group)}


def minimizer() -> Any:
    """`scipy.optimize.minimize`, whose algebra runs on one thread if nobody imported it before:
    arrays are so small here that threads only wait for each other."""
    known = os.environ.get(_THREADS)
    os.environ[_THREADS] = known or "1"
    try:
        from scipy.optimize import minimize
    finally:
        if known is None:
            del os.environ[_THREADS]
    return minimize


def _simplexes(found: Collected, group: list[str], params: Mapping[str, Learned]) -> list[set[str]]:
    """Params that are the alternatives of one draw, which leave the rest to its `else`; none where
    a param is in two."""
    sets = {
        one.names
        for one in found.atoms.every
        if len(one.names) > 1 and one.names <= set(group)
        and one.terms == _left_over(sorted(one.names)).terms
        and all(params[x].low <= 0 and params[x].high >= 1 for x in one.names)
    }  # fmt: skip
    every = [name for one in sets for name in one]
    return [set(one) for one in sets] if len(every) == len(set(every)) else []


def _logit(one: Learned) -> float:
    """The logit of the place of a value in its range, kept off the ends."""
    share = (one.value - one.low) / (one.high - one.low) if one.high > one.low else 0.5
    share = min(max(share, 0.02), 0.98)
    return log(share / (1 - share))


def _logits(
    group: list[str], params: Mapping[str, Learned], simplexes: list[set[str]]
) -> list[float]:
    """The start of the search: the present values, kept off the ends of their ranges."""
    found = []
    for name in group:
        own = next((one for one in simplexes if name in one), None)
        if own is None:
            found.append(_logit(params[name]))
        else:
            rest = max(0.02, 1 - sum(params[x].value for x in own))
            found.append(log(max(0.02, params[name].value) / rest))
    return found


class _Values:
    """The values and derivatives of atoms by the params of a group: of all linear ones by one
    product of matrices."""

    def __init__(self, atoms: Sequence[Learnt | Softmax], group: Sequence[str]) -> None:
        import numpy as np

        self._group = group
        self._slopes, self._fixed = np.zeros((len(atoms), len(group))), np.zeros(len(atoms))
        self._others: list[tuple[int, Learnt | Softmax, list[int]]] = []
        for at, one in enumerate(atoms):
            named = [place for place, name in enumerate(group) if name in one.names]
            if isinstance(one, Softmax) or any(len(powers) > 1 for powers in one.terms):
                self._others.append((at, one, named))
                continue
            self._fixed[at] = one.terms.get((), 0)
            self._slopes[at, named] = [one.terms[group[place],] for place in named]

    def at(self, values: Array) -> tuple[Array, Array]:
        """The values of all atoms, and their derivatives."""
        found, slopes = self._fixed + self._slopes @ values, self._slopes
        if self._others:
            slopes = slopes.copy()
            named = dict(zip(self._group, values.tolist(), strict=True))
            for at, one, places in self._others:
                found[at] = one.at(named)
                slopes[at, places] = one.slopes([self._group[x] for x in places], named)
        return found, slopes


class _Problem:
    """The log likelihood of one group of params, in arrays."""

    def __init__(
        self, found: Collected, group: list[str], factors: Counter[Weight],
        params: Mapping[str, Learned],
    ) -> None:  # fmt: skip
        import numpy as np

        self._np = np
        self._low = np.array([params[name].low for name in group])
        self._size = np.array([params[name].high for name in group]) - self._low
        simplexes = _simplexes(found, group, params)
        self.begin = np.array(_logits(group, params, simplexes))
        self._simplexes = [np.array([group.index(x) for x in sorted(one)]) for one in simplexes]
        used = sorted({at for one in factors for product in one.products for at in product})
        self._atoms = _Values([found.atoms.every[at] for at in used], group)
        place = {at: number for number, at in enumerate(used)}
        rows: list[list[int]] = []
        self._coefficients: Any = []
        starts: list[int] = []
        for factor in factors:
            starts.append(len(rows))
            for product, share in factor.products.items():
                row = [0] * len(used)
                for at in product:
                    row[place[at]] += 1
                rows.append(row)
                self._coefficients.append(log(share.numerator) - log(share.denominator))
        self._rows = np.array(rows, np.float64)
        self._coefficients = np.array(self._coefficients)
        self._starts = np.array(starts)
        self._counts = np.array(list(factors.values()), np.float64)
        sizes = np.diff([*starts, len(rows)])
        self._home = np.repeat(np.arange(len(starts)), sizes)

    def values(self, logits: Array) -> Array:
        """Params by their logits: each by itself, or those of one draw by a softmax."""
        return self._moved(logits)[0]

    def _moved(self, logits: Array) -> tuple[Array, Array]:
        """The same, and how they change with the logits."""
        np = self._np
        share = 1 / (1 + np.exp(-np.clip(logits, -MOST, MOST)))
        values, slopes = self._low + self._size * share, np.diag(self._size * share * (1 - share))
        for one in self._simplexes:
            raised = np.exp(np.clip(logits[one], -MOST, MOST))
            parts = raised / (1 + raised.sum())
            values[one] = parts
            slopes[np.ix_(one, one)] = np.diag(parts) - np.outer(parts, parts)
        return values, slopes

    def in_logits(self, logits: Array) -> tuple[float, Array]:
        """The negative log likelihood and its gradient."""
        values, slopes = self._moved(logits)
        value, slope = self.at(values)
        return value, slope @ slopes

    def at(self, values: Array) -> tuple[float, Array]:
        """The same by the params themselves."""
        np = self._np
        atoms, slopes = self._atoms.at(values)
        safe = np.maximum(atoms, LEAST)
        logs = np.log(safe) + (atoms - safe) / LEAST
        lines = self._coefficients + self._rows @ logs
        top = np.maximum.reduceat(lines, self._starts)
        shares = np.exp(lines - top[self._home])
        sums = np.add.reduceat(shares, self._starts)
        total = float(self._counts @ (top + np.log(sums)))
        weight = shares / sums[self._home] * self._counts[self._home]
        return -total, -((weight @ self._rows) / safe) @ slopes

    def errors(self, values: Array) -> list[float | None]:
        """Standard errors; ``None`` at the ends of ranges and where nothing is known."""
        np = self._np
        steps = self._size * STEP
        inner = [
            at for at, value in enumerate(values)
            if steps[at] and self._low[at] + 2 * steps[at] < value
            and value < self._low[at] + self._size[at] - 2 * steps[at]
        ]  # fmt: skip
        found: list[float | None] = [None] * len(values)
        if not inner:
            return found
        curvature = np.array([self._bent(values, at, steps)[inner] for at in inner])
        try:
            covariance = np.linalg.inv((curvature + curvature.T) / 2)
        except np.linalg.LinAlgError:
            return found
        for place, at in enumerate(inner):
            spread = float(covariance[place, place])
            found[at] = sqrt(spread) if spread > 0 else None
        return found

    def _bent(self, values: Array, at: int, steps: Array) -> Array:
        """The change of the gradient with one param, by central differences."""
        more, less = values.copy(), values.copy()
        more[at] += steps[at]
        less[at] -= steps[at]
        found: Array = (self.at(more)[1] - self.at(less)[1]) / (2 * steps[at])
        return found
