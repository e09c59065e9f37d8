"""The environments of gymnasium: transitions of a random policy, and the true dynamics as a model.

`TrueModel` sets the state of an environment from an observation, as the benchmark does with a
program. Its accuracy is the ceiling of what an observation alone allows to predict.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2
from random import Random
from typing import Any

import gymnasium
import numpy as np

from tokenworld.gym.cwmb.envs import SEED_BITS, Env, Obs


@dataclass(frozen=True, slots=True)
class Transition:
    """One recorded step; ``steps`` is how many its episode had before."""

    obs: Obs
    action: int
    after: Obs
    reward: float
    done: bool
    steps: int


def made(env: Env) -> Any:
    """Return the environment, under the newest of its names that this gymnasium has."""
    known = [one for one in env.ids if one in gymnasium.registry]
    return gymnasium.make(known[0] if known else env.ids[0])


def plain(obs: Any) -> Obs:
    """Return an observation as a tuple of numbers."""
    return tuple(float(one) for one in np.asarray(obs).reshape(-1))


def transitions(env: Env, count: int, seed: int) -> list[Transition]:
    """Return steps of a random policy; ``done`` also at the time limit, as the benchmark has it."""
    real, random = made(env), Random(seed)
    found: list[Transition] = []
    episode = 0
    while len(found) < count:
        obs, _ = real.reset(seed=seed * 100_003 + episode)
        episode += 1
        for steps in range(env.limit):
            action = random.randrange(len(env.actions))
            after, reward, ended, cut, _ = real.step(action)
            done = bool(ended or cut)
            found.append(Transition(plain(obs), action, plain(after), float(reward), done, steps))
            obs = after
            if done:
                break
    return found[:count]


class TrueModel:
    """Gymnasium's own dynamics as a model that a planner steps; rows are observations."""

    def __init__(self, env: Env, seed: int = 0) -> None:
        self.env = env
        self.real = made(env).unwrapped
        self.real.reset(seed=seed)

    def entered(self, obs: Obs, steps: int = 0) -> Any:
        """Return a copy of the state of the environment, which `step` restores."""
        return _state_of(self.env.name, obs, steps, self.real)

    def step(self, row: Any, action: int, random: Random) -> tuple[Any, Obs, float, bool]:
        """Make one step; the environment's own generator makes the draws."""
        real, name = self.real, self.env.name
        random.getrandbits(SEED_BITS)
        _set(name, real, row)
        obs, reward, ended, _, _ = real.step(action)
        return _kept(name, real), plain(obs), float(reward), bool(ended)


def _state_of(name: str, obs: Obs, steps: int, real: Any) -> Any:
    match name:
        case "Blackjack":
            total, showing, ace = (int(one) for one in obs)
            rest = [total - 11] if ace else [total - 2, 2]
            more = [0] * steps  # a natural has two cards
            return ([1] if ace else []) + rest + more, [
                showing,
                int(real.np_random.integers(1, 14)),
            ]
        case "CliffWalking" | "Taxi":
            return int(obs[0])
        case "Acrobot":
            c1, s1, c2, s2, *spins = obs
            return np.array([atan2(s1, c1), atan2(s2, c2), *spins])
        case _:
            return np.array(obs)


def _set(name: str, real: Any, row: Any) -> None:
    match name:
        case "Blackjack":
            hand, dealer = row
            real.player, real.dealer = list(hand), [dealer[0], min(dealer[1], 10), *dealer[2:]]
        case "CliffWalking" | "Taxi":
            real.s = row
        case "CartPole":
            real.state, real.steps_beyond_terminated = row, None
        case _:
            real.state = row


def _kept(name: str, real: Any) -> Any:
    match name:
        case "Blackjack":
            return list(real.player), list(real.dealer)
        case "CliffWalking" | "Taxi":
            return int(real.s)
        case _:
            return real.state
