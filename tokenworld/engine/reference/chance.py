"""Draws: each is decided by the seed, the tick, the rule, its arguments and a count (§13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from tokenworld.ground import Json, LuckyDraw, draw

WHOLE = 2**64
Counts = dict[tuple[str, tuple[Json, ...]], int]
"""The number of draws of each rule in a tick, by rule and arguments."""
_Key = tuple[str, tuple[Json, ...], int]
_FORCED: ContextVar[Mapping[_Key, int] | None] = ContextVar("forced", default=None)


@dataclass(frozen=True)
class Drawn:
    """A draw with more than one alternative, and the one it took."""

    rule: str
    args: tuple[Json, ...]
    draw: int
    choice: int
    alternatives: int
    site: str
    chances: tuple[float, ...]


@contextmanager
def forced(draws: Sequence[LuckyDraw]) -> Iterator[None]:
    """Let these draws fall as listed; all others stay with the seed."""
    known = {(one.rule, one.args, one.draw): one.choice for one in draws}
    token = _FORCED.set(known)
    try:
        yield
    finally:
        _FORCED.reset(token)


class Moment(Protocol):
    """The part of a state on which draws depend."""

    seed: int
    tick: int


class Lot:
    """The draws of one rule with its arguments; ``counts`` numbers them through the tick."""

    def __init__(self, at: Moment, rule: str, args: Sequence[Json], counts: Counts) -> None:
        self.seed, self.tick, self.rule, self.args = at.seed, at.tick, rule, tuple(args)
        self.counts = counts

    @property
    def count(self) -> int:
        """The number of the next draw."""
        return self.counts.get((self.rule, self.args), 0)

    def number(self) -> int:
        """The next draw: a whole number of 64 bits."""
        count = self.count
        self.counts[self.rule, self.args] = count + 1
        return draw(self.seed, self.tick, self.rule, self.args, count)

    def share(self) -> float:
        """A double in [0, 1) with the upper 53 bits of a draw."""
        return (self.number() >> 11) * 2.0**-53

    def choose(self, weights: Sequence[Fraction], site: str) -> tuple[int, Drawn]:
        """One of several alternatives; the weights add up to more than 0."""
        count, value = self.count, self.number()
        known = (_FORCED.get() or {}).get((self.rule, self.args, count))
        if known is not None and 0 <= known < len(weights) and weights[known] > 0:
            return known, self._drawn(count, known, weights, site)
        reached, total = Fraction(0), sum(weights)
        for index, weight in enumerate(weights):
            reached += weight
            if value < reached / total * WHOLE // 1:
                return index, self._drawn(count, index, weights, site)
        raise AssertionError("the shares do not fill the whole")

    def _drawn(self, count: int, choice: int, weights: Sequence[Fraction], site: str) -> Drawn:
        chances = tuple(float(one / sum(weights)) for one in weights)
        return Drawn(self.rule, self.args, count, choice, len(weights), site, chances)
