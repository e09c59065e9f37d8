"""Worlds as environments for learners: gymnasium, and PettingZoo for worlds with turns.

    from tokenworld.gym import WorldEnv
    env = WorldEnv("taxi")
    text, info = env.reset(seed=7)
    text, reward, terminated, truncated, info = env.step(env.index("move(north)"))

`WorldEnv` asks one actor after the other, `RoundsEnv` all those of a round at once;
`WorldVectorEnv` plays many episodes side by side. They need the
extra `gym`; without it the first use of a name here is a `Failure` (TW0811) whose hint installs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenworld.gym.environment import WorldEnv, register
    from tokenworld.gym.rounds import RoundsEnv
    from tokenworld.gym.vector import WorldVectorEnv

__all__ = ["RoundsEnv", "WorldEnv", "WorldVectorEnv", "register"]

_HOMES = {
    "RoundsEnv": "rounds", "WorldEnv": "environment", "WorldVectorEnv": "vector",
    "register": "environment",
}  # fmt: skip
_NEEDS = {"RoundsEnv": ("numpy", "gymnasium", "pettingzoo")}


def __getattr__(name: str) -> object:
    """Import a name when it is first used (PEP 562), if its libraries are installed."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    for library in _NEEDS.get(name, ("numpy", "gymnasium")):
        _require(library)
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def _require(library: str) -> None:
    """`Failure` (TW0811) where a library of the extra is missing."""
    from importlib.util import find_spec

    from tokenworld.diagnostics import Diagnostic, Failure

    if find_spec(library) is None:
        what = f"`{library}` is not installed, so there are no environments for learners."
        raise Failure(Diagnostic("TW0811", what, hint="Run `pip install 'token-world[gym]'`."))


def __dir__() -> list[str]:
    return sorted(__all__)
