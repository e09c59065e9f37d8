"""The planners of the benchmark: Monte Carlo tree search and the cross-entropy method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import exp, inf, log, sqrt
from random import Random
from typing import Any, Final

from tokenworld.gym.cwmb.envs import Env, Obs
from tokenworld.gym.cwmb.model import Model
from tokenworld.gym.cwmb.real import made, plain

# ---- The cross-entropy method --------------------------------------------------------------------
# The cross-entropy method, for actions that are a choice of a few.
#
# `src/cem/cem.py` of the benchmark plans continuous actions: it draws ``samples`` plans of
# ``horizon`` actions, keeps the best ``elites``, and draws the next plans as these are distributed;
# after ``rounds`` it carries out the best plan of the last round to its end, and plans anew. Here
# each action of a plan has a probability of its own, the share of the elites that have it; at first
# all actions are alike. Rewards of a plan are summed up without discount, up to the end of the
# episode.


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


# ---- Monte Carlo tree search ---------------------------------------------------------------------


SIMULATIONS: Final = 25
_WALK: Final = 100
_DISCOUNT: Final = 0.99
_EXPLORE: Final = 1.0
_UNTRIED: Final = 1.0
_TEMPERATURE: Final = 0.01

Policy = Callable[[Obs, int, Random], int]
"""The action for an observation, after so many steps."""


@dataclass(slots=True)
class _Edge:
    visits: int = 0
    total: float = 0.0
    states: dict[Obs, _Node] = field(default_factory=dict)

    @property
    def value(self) -> float:
        return self.total / self.visits if self.visits else 0.0


@dataclass(slots=True)
class _Node:
    row: Any
    reward: float
    over: bool
    edges: list[_Edge]
    visits: int = 0


def planned(model: Model, actions: int) -> Policy:
    """Return the policy that plans each step on a model."""

    def choose(obs: Obs, steps: int, random: Random) -> int:
        root = _Node(model.entered(obs, steps), 0.0, False, _edges(actions), visits=1)
        for _ in range(SIMULATIONS):
            _simulate(model, root, actions, random)
        return _drawn([one.value for one in root.edges], random)

    return choose


def _edges(actions: int) -> list[_Edge]:
    return [_Edge() for _ in range(actions)]


def _simulate(model: Model, root: _Node, actions: int, random: Random) -> None:
    """Descend to a new state, estimate its value, and add the value to everything on the path."""
    node, path, new = root, list[tuple[_Edge, _Node]](), False
    while not new and not node.over:
        action = _most(node, random)
        edge = node.edges[action]
        row, seen, reward, over = model.step(node.row, action, random)
        new = seen not in edge.states
        if new:
            edge.states[seen] = _Node(row, reward, over, [] if over else _edges(actions))
        node = edge.states[seen]
        path.append((edge, node))
    value = 0.0 if node.over else _walked(model, node.row, actions, random)
    for edge, node in reversed(path):
        node.visits += 1
        value = node.reward + _DISCOUNT * value
        edge.visits, edge.total = edge.visits + 1, edge.total + value
    root.visits += 1


def _most(node: _Node, random: Random) -> int:
    """Return the number of an edge with the highest bound."""
    bounds = [
        (one.value if one.visits else _UNTRIED)
        + _EXPLORE * sqrt(log(max(node.visits, 1)) / (one.visits + 1e-3))
        for one in node.edges
    ]
    best = max(bounds)
    return random.choice([place for place, one in enumerate(bounds) if one == best])


def _walked(model: Model, row: Any, actions: int, random: Random) -> float:
    """Return the discounted rewards of one random walk."""
    total, weight = 0.0, 1.0
    for _ in range(_WALK):
        row, _, reward, over = model.step(row, random.randrange(actions), random)
        total, weight = total + weight * reward, weight * _DISCOUNT
        if over:
            break
    return total


def _drawn(values: Sequence[float], random: Random) -> int:
    top = max(values, default=-inf)
    weights = [exp((one - top) / _TEMPERATURE) for one in values]
    return random.choices(range(len(values)), weights)[0]


# ---- episodes -----------------------------------------------------------------------------------


def random_policy(actions: int) -> Policy:
    """Return the policy that draws every action."""
    return lambda obs, steps, random: random.randrange(actions)


def episode(env: Env, policy: Policy, seed: int) -> float:
    """Return the sum of rewards of one real episode, of ``limit`` steps at most."""
    real, random = made(env), Random(seed)
    obs, _ = real.reset(seed=seed)
    total = 0.0
    for steps in range(env.limit):
        obs, reward, ended, _, _ = real.step(policy(plain(obs), steps, random))
        total += float(reward)
        if ended:
            break
    return total
