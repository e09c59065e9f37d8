"""Measure how well a model predicts recorded transitions: by the paper's formula, and whole rows.

The formula (`check_transition_via_enum` of the benchmark's code): a step that ends the episode
scores half for the reward and half for the end; any other a third each for the end, the reward and
the observation; the third of the observation is divided among its numbers. Steps are weighted so
that each value of the reward counts the same. Numbers of continuous environments may differ by 1e-5
and 1e-5 of the value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from random import Random
from typing import Any, Protocol

from tokenworld.gym.cwmb.envs import Env, Obs
from tokenworld.gym.cwmb.model import RowModel
from tokenworld.gym.cwmb.real import Transition


class Model(Protocol):
    """A predictor: it makes a row from an observation, and returns the row, observation, reward
    and end after a step."""

    def entered(self, obs: Obs, steps: int = 0) -> Any: ...

    def step(self, row: Any, action: int, random: Random) -> tuple[Any, Obs, float, bool]: ...


@dataclass(frozen=True, slots=True)
class Accuracy:
    """``formula``: the paper's, from 0 to 1; ``whole`` of ``rows`` are right in every value."""

    formula: float
    whole: int
    rows: int

    def to_json(self) -> dict[str, float | int]:
        return {"formula": round(self.formula, 6), "whole": self.whole, "rows": self.rows}


def accuracy(env: Env, model: Model, rows: Sequence[Transition], seed: int = 0) -> Accuracy:
    """Return the accuracy of a model on recorded steps; ``seed`` seeds the draws of the model."""
    random, classes = Random(seed), Counter(one.reward for one in rows)
    score = weight = 0.0
    whole = 0
    for one in rows:
        _, after, reward, done = model.step(model.entered(one.obs, one.steps), one.action, random)
        right = [_near(env, *pair) for pair in zip(after, one.after, strict=True)]
        same = (float(reward == one.reward), float(done == one.done))
        if one.done:
            part, exact = sum(same) / 2, all(same)
        else:
            part, exact = (sum(right) / len(right) + sum(same)) / 3, all(same) and all(right)
        share = 1 / classes[one.reward]
        score, weight, whole = score + share * part, weight + share, whole + exact
    return Accuracy(score / weight, whole, len(rows))


def _near(env: Env, found: float, wanted: float) -> bool:
    if not env.real:
        return found == wanted
    return abs(found - wanted) <= 1e-5 + 1e-5 * abs(wanted)


@dataclass(frozen=True, slots=True)
class Likelihood:
    """For steps with chance: the number that the rules allow, the mean log-likelihood of these in
    nats, and its expectation if the rules are right (the negative entropy)."""

    possible: int
    rows: int
    mean: float
    expected: float

    def to_json(self) -> dict[str, float | int]:
        return {"possible": self.possible, "rows": self.rows,
                "mean": round(self.mean, 6), "expected": round(self.expected, 6)}  # fmt: skip


def likelihood(model: RowModel, rows: Sequence[Transition]) -> Likelihood:
    """Return the likelihood of recorded steps by the exact chances of the rules."""
    logs: list[float] = []
    expected = 0.0
    for one in rows:
        chances = model.chances(one.obs, one.action, one.steps)
        key = (() if one.done else one.after, one.reward, one.done)
        odds = chances.get(key)
        expected += sum(float(p) * log(p) for p in chances.values())
        if odds:
            logs.append(log(odds))
    mean = sum(logs) / len(logs) if logs else float("-inf")
    return Likelihood(len(logs), len(rows), mean, expected / len(rows))
