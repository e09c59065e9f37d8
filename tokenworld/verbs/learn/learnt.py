"""Numbers that are traced through the rules: a probability as a polynomial of learned params.

The rules of a world are compiled once more, with a `Learnt` in place of the value of each learned
param. Sums, differences and products of it are polynomials; a probability that comes out as one is
an *atom*. A learned number in any other decision raises `NotFollowed`.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, NoReturn, TypeVar

from tokenworld.engine.outcomes.partial import ForkLuck
from tokenworld.engine.rows.code.runtime import RUNTIME
from tokenworld.engine.rows.log import Log, raised
from tokenworld.ground import Json

MOST_KEPT = 1000
"""Results that are kept of each number."""
K = TypeVar("K")
Powers = tuple[str, ...]
"""A product of params, in order, repeated for powers."""


def value_of(products: Mapping[tuple[K, ...], Fraction], value: Callable[[K], float]) -> float:
    """Evaluate a sum of products; ``value`` gives the value of a factor."""
    total = 0.0
    for product, share in products.items():
        one = float(share)
        for part in product:
            one *= value(part)
        total += one
    return total


class NotFollowed(Exception):
    """A learned number decides more than a probability; ``names`` are the params in it."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(", ".join(names))
        self.names = tuple(names)


def _refuse(self: Learnt, *_: object) -> NoReturn:
    raise NotFollowed(sorted(self.names))


class Learnt:
    """A polynomial of learned params with exact coefficients; it stands for a scaled number, as
    rules calculate with it."""

    __slots__ = ("_made", "_slopes", "terms")

    def __init__(self, terms: Mapping[Powers, Fraction]) -> None:
        self.terms = {powers: share for powers, share in terms.items() if share}
        self._made: dict[tuple[str, object], tuple[Any, Learnt]] = {}
        self._slopes: dict[str, Learnt] = {}

    def _once(self, how: str, other: Any, make: Callable[[Learnt], Learnt]) -> Learnt:
        """A result that is worked out once: the same for the same operand."""
        key = (how, id(other) if isinstance(other, Learnt) else other)
        known = self._made.get(key)
        if known is None:
            if len(self._made) >= MOST_KEPT:
                self._made.clear()
            known = self._made[key] = (other, make(Learnt.of(other)))
        return known[1]

    @classmethod
    def of(cls, value: object) -> Learnt:
        """A number as a polynomial."""
        if isinstance(value, Learnt):
            return value
        assert isinstance(value, (int, float, Fraction))
        return cls({(): Fraction(value)})

    @property
    def names(self) -> frozenset[str]:
        """The params in it."""
        return frozenset(name for powers in self.terms for name in powers)

    def key(self) -> tuple[tuple[Powers, Fraction], ...]:
        """A key that equal ones share."""
        return tuple(sorted(self.terms.items()))

    def shown(self) -> Json:
        """It as JSON: products, with their coefficients."""
        return [[list(powers), str(share)] for powers, share in self.terms.items()]

    def at(self, values: Mapping[str, float]) -> float:
        """Its value."""
        return value_of(self.terms, values.__getitem__)

    def slope(self, name: str, values: Mapping[str, float]) -> float:
        """The derivative by a param."""
        found = self._slopes.get(name)
        if found is None:
            found = self._slopes[name] = self._derived(name)
        return found.at(values)

    def slopes(self, names: Iterable[str], values: Mapping[str, float]) -> list[float]:
        """The derivatives by some params."""
        return [self.slope(name, values) for name in names]

    def _derived(self, name: str) -> Learnt:
        found: dict[Powers, Fraction] = {}
        for powers, share in self.terms.items():
            count = powers.count(name)
            if count:
                at = powers.index(name)
                less = (*powers[:at], *powers[at + 1 :])
                found[less] = found.get(less, Fraction(0)) + share * count
        return Learnt(found)

    # ---- calculating --------------------------------------------------------------------------

    def __add__(self, other: Any) -> Learnt:
        return self._once("+", other, self._plus)

    def _plus(self, other: Learnt) -> Learnt:
        found = dict(self.terms)
        for powers, share in other.terms.items():
            found[powers] = found.get(powers, Fraction(0)) + share
        return Learnt(found)

    def __mul__(self, other: Any) -> Learnt:
        return self._once("*", other, self._times)

    def _times(self, other: Learnt) -> Learnt:
        found: dict[Powers, Fraction] = {}
        for powers, share in self.terms.items():
            for more, other_share in other.terms.items():
                key = tuple(sorted((*powers, *more)))
                found[key] = found.get(key, Fraction(0)) + share * other_share
        return Learnt(found)

    def __neg__(self) -> Learnt:
        return self * -1

    def __pos__(self) -> Learnt:
        return self

    def __sub__(self, other: Any) -> Learnt:
        return self + Learnt.of(other) * -1

    def __rsub__(self, other: Any) -> Learnt:
        return (-self).__add__(other)

    def __truediv__(self, other: Any) -> Learnt:
        if isinstance(other, Learnt) or not other:
            _refuse(self)
        return self * (1 / Fraction(other))

    __radd__, __rmul__ = __add__, __mul__

    # ---- what cannot be followed --------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if other is None:
            return False
        _refuse(self)

    def __hash__(self) -> int:
        return id(self)

    @property
    def numerator(self) -> NoReturn:
        _refuse(self)

    @property
    def denominator(self) -> NoReturn:
        _refuse(self)

    __lt__ = __le__ = __gt__ = __ge__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _refuse
    __mod__ = __rmod__ = __pow__ = __rpow__ = __abs__ = __bool__ = __float__ = __int__ = _refuse
    __index__ = __round__ = __trunc__ = __floor__ = __ceil__ = _refuse


numbers.Rational.register(Learnt)  # `Fraction` asks it for parts, which it refuses


def _polynomial(shown: Iterable[Any]) -> Learnt:
    return Learnt({tuple(powers): Fraction(share) for powers, share in shown})


def over(left: Any, right: Any) -> Any:
    """A quotient of reals; one of them may be learned."""
    if isinstance(left, Learnt) or isinstance(right, Learnt):
        return Learnt.of(left) / right
    return RUNTIME["over"](left, right)


def to_real(value: Any, scale: int) -> Any:
    """A scaled number as a real."""
    return value / scale if isinstance(value, Learnt) else float(value / scale)


@dataclass(frozen=True)
class Softmax:
    """The probability of one candidate of a guess, of all of which ``logs`` are the logarithms of
    weights; ``None`` has weight 0."""

    chosen: int
    logs: tuple[Learnt | None, ...]

    terms: ClassVar[Mapping[Powers, Fraction]] = {}
    """It is no polynomial."""

    @property
    def names(self) -> frozenset[str]:
        """The params in it."""
        return frozenset(name for one in self.logs if one is not None for name in one.names)

    def key(self) -> object:
        """A key that equal ones share."""
        return self.chosen, tuple(None if one is None else one.key() for one in self.logs)

    def shown(self) -> Json:
        """It as JSON."""
        logs: list[Json] = [None if one is None else one.shown() for one in self.logs]
        return {"chosen": self.chosen, "logs": logs}

    def shares(self, values: Mapping[str, float]) -> list[float]:
        """The probabilities of all candidates."""
        weights = raised([None if one is None else one.at(values) for one in self.logs])
        return [one / sum(weights) for one in weights]

    def at(self, values: Mapping[str, float]) -> float:
        """Its value."""
        return self.shares(values)[self.chosen]

    def slope(self, name: str, values: Mapping[str, float]) -> float:
        """The derivative by a param."""
        return self.slopes((name,), values)[0]

    def slopes(self, names: Iterable[str], values: Mapping[str, float]) -> list[float]:
        """The derivatives by some params."""
        shares, found = self.shares(values), list[float]()
        for name in names:
            slopes = [0.0 if one is None else one.slope(name, values) for one in self.logs]
            mean = sum(x * y for x, y in zip(shares, slopes, strict=True))
            found.append(shares[self.chosen] * (slopes[self.chosen] - mean))
        return found


# ---- weights ------------------------------------------------------------------------------------


class Weight:
    """A sum of products of atoms: products, as sorted numbers of atoms, with their factors."""

    __slots__ = ("products",)

    def __init__(self, products: Mapping[tuple[int, ...], Fraction]) -> None:
        self.products = products

    def __add__(self, other: Weight) -> Weight:
        found = dict(self.products)
        for product, share in other.products.items():
            found[product] = found[product] + share if product in found else share
        return Weight(found)

    def __mul__(self, other: Weight) -> Weight:
        if self is ONE or other is ONE:
            return other if self is ONE else self
        found: dict[tuple[int, ...], Fraction] = {}
        for product, share in self.products.items():
            for more, other_share in other.products.items():
                key = tuple(sorted((*product, *more))) if product and more else product or more
                both = share if other_share == 1 else share * other_share
                found[key] = found[key] + both if key in found else both
        return Weight(found)

    def shown(self) -> Json:
        """It as JSON: products of atoms, with their factors."""
        return [[list(product), str(share)] for product, share in self.products.items()]

    @classmethod
    def of(cls, shown: Iterable[Any]) -> Weight:
        """Make a weight from its JSON form."""
        return cls({tuple(product): Fraction(share) for product, share in shown})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Weight) and self.products == other.products

    def __hash__(self) -> int:
        return hash(frozenset(self.products.items()))


ONE = Weight({(): Fraction(1)})
"""The weight of a certain outcome."""


@lru_cache(maxsize=4096)
def _share(part: int, whole: int) -> Weight:
    """The weight of an alternative that has nothing to learn."""
    return Weight({(): Fraction(part, whole)})


@dataclass(frozen=True, slots=True)
class _Draw:
    """The alternatives of a draw: their weights, and roughly their present probabilities."""

    given: tuple[Any, ...]
    weights: tuple[Weight, ...]
    rough: tuple[int, ...]


@dataclass
class Atoms:
    """The probabilities in terms of learned params that came up; ``present`` are the values of the
    params now."""

    present: Mapping[str, float]
    every: list[Learnt | Softmax] = field(default_factory=list)
    _numbers: dict[object, int] = field(default_factory=dict)
    _draws: dict[object, _Draw] = field(default_factory=dict)
    _coming: _Draw | None = None

    def _weight(self, share: Learnt) -> Weight:
        """The weight of a probability: one atom, or the constant if no learned param is in it."""
        if not share.names:
            return Weight({(): share.terms.get((), Fraction(0))})
        return self._atom(share)

    def shown(self, first: int) -> Json:
        """The atoms from a number on as JSON, for a journal."""
        return [one.shown() for one in self.every[first:]]

    def take(self, shown: Iterable[Any]) -> None:
        """Add atoms that were shown."""
        for one in shown:
            self._atom(_polynomial(one) if isinstance(one, list) else Softmax(
                one["chosen"], tuple(None if log is None else _polynomial(log)
                                     for log in one["logs"])
            ))  # fmt: skip

    def _atom(self, share: Learnt | Softmax) -> Weight:
        at = self._numbers.setdefault(share.key(), len(self.every))
        if at == len(self.every):
            self.every.append(share)
        return Weight({(at,): Fraction(1)})

    def _draw(self, given: tuple[Any, ...]) -> _Draw:
        """The alternatives with these probabilities, and that of none of them."""
        key = tuple((id(one[0]), one[1]) if isinstance(one, tuple) else id(one) for one in given)
        known = self._draws.get(key)
        if known is None:
            shares = [
                Learnt.of(one[0]) / one[1] if isinstance(one, tuple) else Learnt.of(one)
                for one in given
            ]
            rest = Learnt.of(1)
            for one in shares:
                rest = rest - one
            shares.append(rest)
            weights = tuple(map(self._weight, shares))
            known = _Draw(given, weights, tuple(map(self._rough, shares)))
            self._draws[key] = known  # it keeps what is given, so that its identity is good
        return known

    def guess(self, logs: Sequence[Any]) -> _Draw:
        """The candidates of a guess with these logarithms of weights, some of them learned."""
        followed = tuple(None if one is None else Learnt.of(one) for one in logs)
        every = [Softmax(at, followed) for at in range(len(followed))]
        shares = every[0].shares(self.present)
        rough = (round(one * 1_000_000) for one in shares)
        weights = (
            self._atom(one) if log is not None else Weight({(): Fraction(0)})
            for one, log in zip(every, followed, strict=True)
        )  # fmt: skip
        least = tuple(
            0 if log is None else max(1, one) for one, log in zip(rough, followed, strict=True)
        )
        return _Draw((), tuple(weights), least)

    def _rough(self, share: Learnt) -> int:
        """The present probability in millionths, at least 1; 0 if it is always 0."""
        return max(1, round(share.at(self.present) * 1_000_000)) if share.terms else 0

    def luck(self) -> type[ForkLuck]:
        """Luck whose weights are sums of products of atoms."""
        atoms = self

        class Following(ForkLuck):
            one = ONE

            def share(self, weights: Sequence[int], choice: int, site: str) -> Weight:
                coming, atoms._coming = atoms._coming, None
                if coming is None:
                    return _share(weights[choice], sum(weights))
                return coming.weights[choice]

        return Following

    def log(self) -> type[Log]:
        """A log that follows learned numbers into draws."""
        atoms = self

        class Noting(Log):
            __slots__ = ()

            def branch(self, probabilities: tuple[Any, ...], site: str) -> int:
                if not any(
                    isinstance(one[0] if isinstance(one, tuple) else one, Learnt)
                    for one in probabilities
                ):
                    return super().branch(probabilities, site)
                return self._followed(atoms._draw(probabilities), site)

            def pick(self, key: str, weights: list[Any], site: str) -> int:
                if key != "log" or not any(isinstance(one, Learnt) for one in weights):
                    return super().pick(key, weights, site)
                return self._followed(atoms.guess(weights), site)

            def _followed(self, coming: _Draw, site: str) -> int:
                atoms._coming = coming
                try:
                    return self._choose(coming.rough, site)
                finally:
                    atoms._coming = None

        return Noting
