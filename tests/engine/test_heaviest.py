"""The likeliest of many partial outcomes are kept, also where their weights are no numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tokenworld.engine.outcomes.partial import heaviest
from tokenworld.verbs.learn.learnt import Weight


@dataclass
class Way:
    weight: Any
    likely: float

    def key(self) -> object:
        return self.likely

    def join(self, other: Way, /) -> None:
        raise NotImplementedError


def test_numbers_are_compared_by_their_weight() -> None:
    ways = [Way(Fraction(1, 4), 0.9), Way(Fraction(1, 2), 0.1), Way(Fraction(1, 4), 0.2)]
    assert heaviest(ways, 2) == (ways[:2], ways[2:])


def test_weights_of_learned_values_are_compared_by_their_likeliest_way() -> None:
    ways = [Way(Weight({(n,): Fraction(1)}), likely) for n, likely in enumerate((0.1, 0.6, 0.3))]
    assert heaviest(ways, 2) == ([ways[1], ways[2]], [ways[0]])
