"""The cross-entropy method, for actions that are a choice of a few.

`src/cem/cem.py` of the benchmark plans continuous actions: it draws ``samples`` plans of
``horizon`` actions, keeps the best ``elites``, and draws the next plans as these are distributed;
after ``rounds`` it carries out the best plan of the last round to its end, and plans anew. Here
each action of a plan has a probability of its own, the share of the elites that have it; at first
all actions are alike. Rewards of a plan are summed up without discount, up to the end of the
episode.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any, Final

from tokenworld.gym.cwmb.accuracy import Model
from tokenworld.gym.cwmb.envs import Env, Obs
from tokenworld.gym.cwmb.search import Policy

__all__ = ["PUBLISHED", "Effort", "cross_entropy"]

Plan = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Effort:
    """The size of a search; ``PUBLISHED`` is that of the benchmark's script."""

    horizon: int = 100
    rounds: int = 20
    samples: int = 1000
    elites: int = 100

    def of(self, samples: int) -> Effort:
        """The same with another number of samples, a tenth of them elites."""
        return Effort(self.horizon, self.rounds, samples, max(samples // 10, 1))


PUBLISHED: Final = Effort()


def cross_entropy(model: Model, env: Env, effort: Effort = PUBLISHED) -> Policy:
    """Return the policy that carries out one plan after the other."""
    left: list[int] = []

    def choose(obs: Obs, steps: int, random: Random) -> int:
        if not steps:
            left.clear()
        if not left:
            left.extend(_planned(model, env, model.entered(obs, steps), effort, random))
        return left.pop(0)

    return choose


def _planned(model: Model, env: Env, row: Any, effort: Effort, random: Random) -> Plan:
    """Return the best plan of the last round."""
    actions, length = range(len(env.actions)), min(effort.horizon, env.limit)
    odds = [[1.0] * len(actions)] * length
    best: Plan = ()
    for _ in range(effort.rounds):
        drawn = [tuple(random.choices(actions, one)[0] for one in odds)
                 for _ in range(effort.samples)]  # fmt: skip
        scores = [_score(model, row, plan, random) for plan in drawn]
        order = sorted(range(len(drawn)), key=lambda place: -scores[place])
        elites = [drawn[place] for place in order[: effort.elites]]
        odds = [[float(at.count(action)) for action in actions] for at in zip(*elites, strict=True)]
        best = elites[0]
    return best


def _score(model: Model, row: Any, plan: Plan, random: Random) -> float:
    total = 0.0
    for action in plan:
        row, _, reward, over = model.step(row, action, random)
        total += reward
        if over:
            break
    return total
