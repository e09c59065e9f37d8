"""The environments of gymnasium: transitions of a random policy, and the true dynamics as a model.

`TrueModel` sets the state of an environment from an observation, as the benchmark does with a
program. No prediction from the observation alone can be more accurate.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from importlib import import_module
from math import atan2
from pathlib import Path
from random import Random
from typing import Any, Final

import gymnasium
import numpy as np

from tokenworld.diagnostics import Diagnostic, Failure
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


# ---- Published transitions ----------------------------------------------------------------------
# Read the recorded transitions that the benchmark publishes, without running their code.
#
# A buffer is a pickle, which may name any function. `read_buffer` makes arrays and numbers of
# numpy, and placeholders for everything else that the published files name (torch's device,
# gymnasium's spaces, random generators); any other name is refused (TW0001).

_CORE: Final = ("numpy.core.multiarray", "numpy._core.multiarray")
_ARRAYS: Final = {
    **{(module, "_reconstruct"): "_reconstruct" for module in _CORE},
    **{(module, "scalar"): "scalar" for module in _CORE},
}
_DEAD: Final = ("torch", "gymnasium.spaces", "gym.spaces", "numpy.random")
_FOLDERS: Final = ("", "gymnasium_envs", "data/replay_buffers/gymnasium_envs")
"""The folder of gymnasium's files in the benchmark's repository, and in its folder of buffers."""
_MOST: Final = 64 << 20


class _Dead:
    """A placeholder for an object that is not needed; it takes any state and does nothing."""

    def __init__(self, *arguments: object) -> None:
        pass

    def __setstate__(self, state: object) -> None:
        pass


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _ARRAYS:
            return getattr(import_module(_CORE[1]), name)
        if (module, name) == ("numpy", "ndarray"):
            return np.ndarray
        if (module, name) == ("numpy", "dtype"):
            return np.dtype
        if any(module == one or module.startswith(f"{one}.") for one in _DEAD):
            return _Dead
        raise pickle.UnpicklingError(f"it names `{module}.{name}`")


def buffer_of(env: Env, path: Path) -> Path | None:
    """Return the file of an environment in the folder of buffers; ``None`` if it has none."""
    for name in env.ids:
        for folder in _FOLDERS:
            file = path / folder / name / "train_buffer.pkl"
            if file.is_file():
                return file
    return None


def read_buffer(path: Path) -> list[Transition]:
    """Return the transitions of a published file; raises `Failure` (TW0001) for any other file."""
    hint = "Name the folder `data/replay_buffers` of the code-world-models repository."
    try:
        if path.stat().st_size > _MOST:
            raise pickle.UnpicklingError("it is too large")
        with path.open("rb") as file:
            found = _Reader(file).load()
        return list(_transitions(found))
    except OSError as error:
        why = error.strerror or str(error)
    except Exception as error:  # a pickle can fail in any way
        why = str(error) or type(error).__name__
    raise Failure(Diagnostic("TW0001", f"`{path}` is no recorded buffer: {why}.", hint=hint))


def _transitions(found: Any) -> list[Transition]:
    count = int(found["idx"])
    starts = found["traj_starts"]
    return [
        Transition(
            plain(found["obs"][at]), int(found["actions"][at]), plain(found["next_obs"][at]),
            float(found["rewards"][at]), bool(found["dones"][at]), at - int(starts[at]),
        )
        for at in range(count)
    ]  # fmt: skip
