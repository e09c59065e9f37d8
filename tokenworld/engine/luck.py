"""Chance: counter-based draws, keyed so that no rule shifts another's (language.md §13)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Protocol

from tokenworld.ground import Json, LuckyDraw, draw

SPAN = 1 << 64
"""Draws are whole numbers below this."""

_CERTAIN = Fraction(1)

DrawKey = tuple[str, tuple[Json, ...], int]
"""A draw's rule, its arguments and the number of the draw in it."""

Counts = Mapping[tuple[str, tuple[Json, ...]], int]
"""The number of draws of each rule in a tick, by rule and arguments."""
NO_DRAWS: Counts = {}


def in_tick(before: Counts, draws: Sequence[LuckyDraw]) -> tuple[LuckyDraw, ...]:
    """Draws that are numbered within a step, numbered within its tick: ``before`` were taken."""
    return tuple(_renumbered(one, before, 1) for one in draws)


def in_step(before: Counts, draws: Sequence[LuckyDraw]) -> tuple[LuckyDraw, ...]:
    """The other way round."""
    return tuple(_renumbered(one, before, -1) for one in draws)


def _renumbered(draw: LuckyDraw, before: Counts, sign: int) -> LuckyDraw:
    count = before.get((draw.rule, draw.args), 0)
    return replace(draw, draw=draw.draw + sign * count) if count else draw


class Luck(Protocol):
    """Decides draws. ``weights`` are exact non-negative shares, at least one positive."""

    def choose(
        self, key: DrawKey, seed: int, tick: int, weights: Sequence[int], site: str = ""
    ) -> int:
        """The index of the alternative that happens; ``site``: where in the text it is drawn."""

    def uniform(self, key: DrawKey, seed: int, tick: int) -> float:
        """A double in [0, 1) with 53 random bits."""


class SeededLuck:
    """The draws of a run's seed: the luck of play."""

    def choose(
        self, key: DrawKey, seed: int, tick: int, weights: Sequence[int], site: str = ""
    ) -> int:
        rule, args, number = key
        value = draw(seed, tick, rule, args, number)
        total, reached = sum(weights), 0
        share = (value * total + total - 1) // SPAN  # share < x means value < x * SPAN // total
        for index, weight in enumerate(weights):
            reached += weight
            if share < reached:
                return index
        raise AssertionError("a draw lies below the sum of its weights")

    def uniform(self, key: DrawKey, seed: int, tick: int) -> float:
        rule, args, number = key
        return (draw(seed, tick, rule, args, number) >> 11) / float(1 << 53)


class RecordingLuck:
    """Passes draws on and remembers those with more than one alternative."""

    def __init__(self, luck: Luck) -> None:
        self._luck = luck
        self.taken: list[LuckyDraw] = []

    def choose(
        self, key: DrawKey, seed: int, tick: int, weights: Sequence[int], site: str = ""
    ) -> int:
        choice = self._luck.choose(key, seed, tick, weights, site)
        if len(weights) - weights.count(0) > 1:
            self.taken.append(LuckyDraw(*key, choice, len(weights), site, tuple(weights)))
        return choice

    def uniform(self, key: DrawKey, seed: int, tick: int) -> float:
        return self._luck.uniform(key, seed, tick)

    def forget(self, number: int) -> None:
        """Drop all but the first ``number`` draws: the effects that made the others were undone."""
        del self.taken[number:]


class ForcedLuck(SeededLuck):
    """Forces listed draws and leaves the rest to the seed: how a *possible* plan is replayed."""

    def __init__(self, draws: Sequence[LuckyDraw]) -> None:
        self._forced: Mapping[DrawKey, int] = {
            (one.rule, one.args, one.draw): one.choice for one in draws
        }

    def choose(
        self, key: DrawKey, seed: int, tick: int, weights: Sequence[int], site: str = ""
    ) -> int:
        if key in self._forced:
            return self._forced[key]
        return super().choose(key, seed, tick, weights, site)


class NoUniform(Exception):
    """A continuous draw has no finite list of alternatives."""


class ExploringLuck:
    """Takes the alternatives of a prefix, then the first possible ones, and remembers them.

    Walking all prefixes in order enumerates every combination of outcomes exactly once;
    ``probability`` is the exact chance of the combination taken.
    """

    def __init__(self, prefix: Sequence[int]) -> None:
        self._prefix = tuple(prefix)
        self.taken: list[LuckyDraw] = []
        self.choices: list[tuple[int, tuple[int, ...]]] = []
        self._shares, self._wholes = 1, 1

    @property
    def probability(self) -> Fraction:
        """The chance of all that was taken."""
        return Fraction(self._shares, self._wholes) if self.choices else _CERTAIN

    def choose(
        self, key: DrawKey, seed: int, tick: int, weights: Sequence[int], site: str = ""
    ) -> int:
        possible = tuple([index for index, weight in enumerate(weights) if weight])
        if len(possible) == 1:
            return possible[0]
        depth = len(self.choices)
        given = depth < len(self._prefix)
        choice = self._prefix[depth] if given else self._first(key, possible)
        self.choices.append((choice, possible))
        self._shares *= weights[choice]
        self._wholes *= sum(weights)
        self.taken.append(LuckyDraw(*key, choice, len(weights), site, tuple(weights)))
        return choice

    def _first(self, key: DrawKey, possible: Sequence[int]) -> int:
        """The choice for a draw after the prefix."""
        return possible[0]

    def uniform(self, key: DrawKey, seed: int, tick: int) -> float:
        raise NoUniform(key[0])

    def next_prefix(self) -> tuple[int, ...] | None:
        """The prefix of the next combination, ``None`` after the last."""
        for depth in range(len(self.choices) - 1, -1, -1):
            choice, possible = self.choices[depth]
            later = [index for index in possible if index > choice]
            if later:
                return (*(taken for taken, _ in self.choices[:depth]), later[0])
        return None


class LeaningLuck(ExploringLuck):
    """Takes listed alternatives where they are possible, and else the first possible ones."""

    def __init__(self, draws: Sequence[LuckyDraw]) -> None:
        super().__init__(())
        self._leant = {(one.rule, one.args, one.draw): one.choice for one in draws}

    def _first(self, key: DrawKey, possible: Sequence[int]) -> int:
        wanted = self._leant.get(key)
        return possible[0] if wanted is None or wanted not in possible else wanted
