"""Chance: counter-based draws, keyed so that no rule shifts another's (language.md §13)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from hashlib import blake2b
from typing import Protocol

from tokenworld.ground import Json, LuckyDraw

__all__ = ["DrawKey", "ExploringLuck", "ForcedLuck", "Luck", "RecordingLuck", "SeededLuck", "draw"]

SPAN = 1 << 64
"""Draws are whole numbers below this."""

_CERTAIN = Fraction(1)

DrawKey = tuple[str, tuple[Json, ...], int]
"""A draw's rule, its arguments and the number of the draw in it."""


def draw(seed: int, tick: int, rule: str, args: Sequence[Json], number: int) -> int:
    """Draw ``number`` of a rule: the 8-byte BLAKE2b, big-endian, of the canonical JSON list."""
    key = [seed, tick, rule, list(args), number]
    text = json.dumps(key, separators=(",", ":"), ensure_ascii=False)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


class Luck(Protocol):
    """Who decides draws. ``weights`` are exact non-negative shares, at least one positive."""

    def choose(self, key: DrawKey, seed: int, tick: int, weights: Sequence[int]) -> int:
        """The index of the alternative that happens."""

    def uniform(self, key: DrawKey, seed: int, tick: int) -> float:
        """A double in [0, 1) with 53 random bits."""


class SeededLuck:
    """The draws of a run's seed: the luck of play."""

    def choose(self, key: DrawKey, seed: int, tick: int, weights: Sequence[int]) -> int:
        rule, args, number = key
        value = draw(seed, tick, rule, args, number)
        total, reached = sum(weights), 0
        for index, weight in enumerate(weights):
            reached += weight
            if value < reached * SPAN // total:
                return index
        return max(index for index, weight in enumerate(weights) if weight)

    def uniform(self, key: DrawKey, seed: int, tick: int) -> float:
        rule, args, number = key
        return (draw(seed, tick, rule, args, number) >> 11) / float(1 << 53)


class RecordingLuck:
    """Passes draws on and remembers those with more than one alternative."""

    def __init__(self, luck: Luck) -> None:
        self._luck = luck
        self.taken: list[LuckyDraw] = []

    def choose(self, key: DrawKey, seed: int, tick: int, weights: Sequence[int]) -> int:
        choice = self._luck.choose(key, seed, tick, weights)
        if sum(1 for weight in weights if weight > 0) > 1:
            self.taken.append(LuckyDraw(*key, choice, len(weights)))
        return choice

    def uniform(self, key: DrawKey, seed: int, tick: int) -> float:
        return self._luck.uniform(key, seed, tick)

    def forget(self, number: int) -> None:
        """Leave out all but the first ``number`` draws: what drew the others did not happen."""
        del self.taken[number:]


class ForcedLuck(SeededLuck):
    """Forces listed draws and leaves the rest to the seed: how a *possible* plan is replayed."""

    def __init__(self, draws: Sequence[LuckyDraw]) -> None:
        self._forced: Mapping[DrawKey, int] = {
            (one.rule, one.args, one.draw): one.choice for one in draws
        }

    def choose(self, key: DrawKey, seed: int, tick: int, weights: Sequence[int]) -> int:
        if key in self._forced:
            return self._forced[key]
        return super().choose(key, seed, tick, weights)


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

    def choose(self, key: DrawKey, seed: int, tick: int, weights: Sequence[int]) -> int:
        possible = tuple([index for index, weight in enumerate(weights) if weight])
        if len(possible) == 1:
            return possible[0]
        depth = len(self.choices)
        given = depth < len(self._prefix)
        choice = self._prefix[depth] if given else self._first(key, possible)
        self.choices.append((choice, possible))
        self._shares *= weights[choice]
        self._wholes *= sum(weights)
        self.taken.append(LuckyDraw(key[0], key[1], key[2], choice, len(weights)))
        return choice

    def _first(self, key: DrawKey, possible: Sequence[int]) -> int:
        """What is taken behind the prefix."""
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
