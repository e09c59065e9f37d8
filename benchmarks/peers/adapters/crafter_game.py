"""Crafter, the game written by hand, with rendering off."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import crafter
import numpy as np
from shared import Json, digest, once, serve

SEED = 1


class Unseen(crafter.Env):  # type: ignore[misc]
    """The original game without pictures and without the map of each step."""

    def _obs(self) -> None:
        return None

    def _sem_view(self) -> None:
        return None


class Game:
    def load(self, folder: str, text: str, size: int) -> Json:
        """Start a new game; the digest is of materials, creatures and positions."""
        del folder, text
        self._env = _new(size)
        self._size = size
        world = self._env._world
        names = Counter(world._mat_names[number] for number in world._mat_map.ravel())
        found = (f"{type(one).__name__} {one.pos[0]} {one.pos[1]}" for one in world.objects)
        return {"digest": digest([str(sorted(names.items())), *sorted(found)])}

    def text(self, folder: str, size: int) -> Json:
        """Write the new game as a world; the rules are in a folder beside the generator."""
        sys.path.append(str(Path(folder)))
        from gen import world_text

        return {"text": world_text(_new(size), f"w{size}")}

    def play(self, actions: list[int]) -> Json:
        """Time steps until the game is over. Their results are random, and not compared."""
        env = _new(self._size)
        np.random.seed(SEED)
        seconds, steps = once(lambda: _played(env, actions))
        return {"seconds": seconds / steps, "digest": ""}

    random = play


def _new(size: int) -> Any:
    env = Unseen(area=(size, size), seed=SEED)
    env.reset()
    return env


def _played(env: Any, actions: list[int]) -> int:
    for at, action in enumerate(actions):
        if env.step(action)[2]:
            return at + 1
    return len(actions)


if __name__ == "__main__":
    serve(Game())
