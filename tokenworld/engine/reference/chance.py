"""Draws: each is a hash of the seed, the tick, the rule, its arguments and a count (§13)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from hashlib import blake2b

from tokenworld.ground import Json, LuckyDraw

__all__ = ["Drawn", "Lot", "forced"]

WHOLE = 2**64
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


@contextmanager
def forced(draws: Sequence[LuckyDraw]) -> Iterator[None]:
    """Let these draws fall as listed; all others stay with the seed."""
    known = {(one.rule, one.args, one.draw): one.choice for one in draws}
    token = _FORCED.set(known)
    try:
        yield
    finally:
        _FORCED.reset(token)


class Lot:
    """The draws of one evaluation of a rule, numbered from 0."""

    def __init__(self, seed: int, tick: int, rule: str, args: Sequence[Json]) -> None:
        self.seed, self.tick, self.rule, self.args = seed, tick, rule, tuple(args)
        self.count = 0

    def number(self) -> int:
        """The next draw: a whole number of 64 bits."""
        key = [self.seed, self.tick, self.rule, list(self.args), self.count]
        text = json.dumps(key, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        self.count += 1
        return int.from_bytes(blake2b(text.encode("utf-8"), digest_size=8).digest(), "big")

    def share(self) -> float:
        """A double in [0, 1) with the upper 53 bits of a draw."""
        return (self.number() >> 11) * 2.0**-53

    def choose(self, weights: Sequence[Fraction]) -> tuple[int, Drawn]:
        """One of several alternatives; the weights add up to more than 0."""
        count, value = self.count, self.number()
        known = (_FORCED.get() or {}).get((self.rule, self.args, count))
        if known is not None and 0 <= known < len(weights) and weights[known] > 0:
            return known, Drawn(self.rule, self.args, count, known, len(weights))
        reached, total = Fraction(0), sum(weights)
        for index, weight in enumerate(weights):
            reached += weight
            if value < reached / total * WHOLE // 1:
                return index, Drawn(self.rule, self.args, count, index, len(weights))
        raise AssertionError("the shares do not fill the whole")
