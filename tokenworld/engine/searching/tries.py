"""What may come of a command whose luck may have been seen already (language.md §13).

A command that comes to nothing takes no draw: given again in the same tick it draws the same. So
each fruitless try tells where its draws lie, and what is known of them decides the next one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tokenworld.engine.luck import Counts, DrawKey, ExploringLuck, SeededLuck
from tokenworld.engine.rows.layout import DRAWN, TICK
from tokenworld.ground import Known, LuckyDraw, SeenDraw

Span = tuple[Fraction, Fraction]
_WHOLE: Span = (Fraction(0), Fraction(1))


class TriedLuck(ExploringLuck):
    """Explores the outcomes that agree with what is known of draws. ``spans`` tells of each draw
    between which shares of 1 it lies, those of this try included."""

    def __init__(self, prefix: Sequence[int], spans: Mapping[DrawKey, Span]) -> None:
        super().__init__(prefix)
        self.spans = dict(spans)
        self._chance = Fraction(1)

    @property
    def probability(self) -> Fraction:
        return self._chance

    def choose(
        self, key: DrawKey, seed: int, tick: int, weights: Sequence[int], site: str = ""
    ) -> int:
        low, high = self.spans.get(key, _WHOLE)
        possible = {
            index: (max(low, begin), min(high, end))
            for index, begin, end in _shares(weights)
            if max(low, begin) < min(high, end)
        }
        indices = tuple(possible)
        choice = indices[0]
        if len(indices) > 1:
            depth = len(self.choices)
            choice = self._prefix[depth] if depth < len(self._prefix) else choice
            self.choices.append((choice, indices))
        if sum(1 for weight in weights if weight) > 1:
            self.taken.append(LuckyDraw(*key, choice, len(weights), site, tuple(weights)))
            self.spans[key] = possible[choice]
            self._chance *= (possible[choice][1] - possible[choice][0]) / (high - low)
        return choice


def _shares(weights: Sequence[int]) -> Sequence[tuple[int, Fraction, Fraction]]:
    """Each alternative with where its share of 1 begins and ends."""
    total, reached, found = sum(weights), 0, []
    for index, weight in enumerate(weights):
        found.append((index, Fraction(reached, total), Fraction(reached + weight, total)))
        reached += weight
    return found


class SeenLuck(SeededLuck):
    """The draws of the seed, and between which shares of 1 each of them was seen to lie."""

    def __init__(self, spans: Mapping[DrawKey, Span]) -> None:
        self.spans = dict(spans)

    def choose(
        self, key: DrawKey, seed: int, tick: int, weights: Sequence[int], site: str = ""
    ) -> int:
        choice = super().choose(key, seed, tick, weights, site)
        low, high = self.spans.get(key, _WHOLE)
        _, begin, end = _shares(weights)[choice]
        self.spans[key] = (max(low, begin), min(high, end))
        return choice


def spans_of(drawn: Counts, known: Known) -> Mapping[DrawKey, Span]:
    """What is known of draws, numbered within the tick in which these were taken."""
    return {
        (one.rule, one.args, one.draw + drawn.get((one.rule, one.args), 0)): one.span
        for one in known
    }


def left(before: list[Any], after: list[Any], spans: Mapping[DrawKey, Span]) -> Known:
    """What of draws is known that may still be made in this tick, numbered from the next one."""
    if after[TICK] != before[TICK]:
        return frozenset()
    seen = (
        SeenDraw(rule, args, number - after[DRAWN].get((rule, args), 0), span)
        for (rule, args, number), span in spans.items()
    )
    return frozenset(one for one in seen if one.draw >= 0)
