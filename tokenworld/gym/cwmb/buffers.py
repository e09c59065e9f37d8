"""Read the recorded transitions that the benchmark publishes, without running their code.

A buffer is a pickle, which may name any function. `read_buffer` makes arrays and numbers of numpy,
and placeholders for everything else that the published files name (torch's device, gymnasium's
spaces, random generators); any other name is refused (TW0001).
"""

from __future__ import annotations

import pickle
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from tokenworld.diagnostics import Diagnostic, Failure
from tokenworld.gym.cwmb.envs import Env
from tokenworld.gym.cwmb.real import Transition, plain

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
