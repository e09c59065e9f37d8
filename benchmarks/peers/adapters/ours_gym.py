"""A world as a gymnasium environment; an earlier program runs this too, by its public names."""

from __future__ import annotations

import random
from typing import Any

import gymnasium
import numpy as np
from shared import Json, digest, per_call, serve

from tokenworld.gym import register


class World:
    def load(self, target: str) -> Json:
        register()
        self._env: Any = gymnasium.make("tokenworld/World-v0", world=target, observe="symbolic")
        self._env.reset(seed=1)
        return {"digest": digest(self._env.unwrapped.calls)}

    def draw(self, steps: int) -> Json:
        """Draw the numbers of legal commands, as an agent without a plan does."""
        chosen = random.Random(1)
        _, info = self._env.reset(seed=1)
        actions: list[int] = []
        for _ in range(steps):
            actions.append(int(chosen.choice(np.flatnonzero(info["action_mask"]).tolist())))
            _, _, ended, cut, info = self._env.step(actions[-1])
            if ended or cut:
                _, info = self._env.reset(seed=1)
        return {"actions": actions}

    def walk(self, actions: list[int], budget: float) -> Json:
        """Time steps; the digest is of the results of the last timed round."""
        rows: list[str] = []

        def walk() -> None:
            self._env.reset(seed=1)
            rows.clear()
            for action in actions:
                _, reward, ended, cut, info = self._env.step(action)
                rows.append(f"{reward:g} {ended} {info['status']} {info['said']}")
                if ended or cut:
                    self._env.reset(seed=1)

        walk()
        return {"seconds": per_call(walk, budget) / len(actions), "digest": digest(rows)}


if __name__ == "__main__":
    serve(World())
