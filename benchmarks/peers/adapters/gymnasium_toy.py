"""gymnasium's toy-text environments, created and stepped as users do, alone and vectorised."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from shared import Json, digest, per_call, serve

LONG = 1_000_000
"""No episode is cut off."""


class Toy:
    """Environments by gymnasium's names. Subclasses say how others are created and read."""

    def make(self, world: str) -> Any:
        """One environment."""
        return gymnasium.make(world, max_episode_steps=LONG, **_options(world))

    def make_many(self, world: str, count: int) -> Any:
        """A vector environment of the default kind."""
        return gymnasium.make_vec(world, count, **_options(world))

    def begin(self) -> Any:
        """Begin an episode in the common start state, and return the observation."""
        seen, _ = self._env.reset(seed=0)
        if self._world != "Taxi-v4":
            return seen
        taxi = self._env.unwrapped
        taxi.s = taxi.encode(2, 2, 2, 1)  # the cab in the middle, from Y to G
        return taxi.s

    def number(self, seen: Any) -> int:
        """The number of an observation."""
        return int(seen)

    def numbers(self, seen: Any) -> list[int]:
        """The same for many at once."""
        return [int(one) for one in seen]

    def action(self, number: int) -> int:
        """The action of this environment for an action of gymnasium's."""
        return number

    # ---- the operations ---------------------------------------------------------------------

    def load(self, world: str) -> Json:
        self._world, self._env = world, self.make(world)
        return {"digest": str(self.number(self.begin()))}

    def walk(self, actions: list[int], budget: float) -> Json:
        """Time steps with a new episode after each end; the digest is of the last timed round."""
        given = [self.action(one) for one in actions]
        rows: list[Any] = []

        def walk() -> None:
            step = self._env.step
            self.begin()
            rows.clear()
            for action in given:
                seen, reward, ended, _, _ = step(action)
                rows.append((seen, reward, ended))
                if ended:
                    self.begin()

        walk()
        seconds = per_call(walk, budget) / len(actions)
        told = (f"{self.number(seen)} {reward:g} {bool(ended)}" for seen, reward, ended in rows)
        return {"seconds": seconds, "digest": digest(told)}

    def batch(self, world: str, worlds: int, actions: list[int], budget: float) -> Json:
        """Time vectorised steps with separate actions."""
        env = self.make_many(world, worlds)
        every = np.array([self.action(one) for one in actions])
        given = [np.resize(np.roll(every, -at), worlds) for at in range(len(actions))]
        rows: list[Any] = []

        def walk() -> None:
            env.reset(seed=0)
            rows.clear()
            for action in given:
                seen, reward, ended, _, _ = env.step(action)
                rows.append((self.numbers(seen), reward.tolist(), ended.tolist()))

        walk()
        seconds = per_call(walk, budget) / (len(given) * worlds)
        return {"seconds": seconds, "digest": digest(map(_told, rows))}


def _told(row: tuple[list[int], list[float], list[bool]]) -> str:
    return " ".join(f"{one}/{reward:g}/{ended}" for one, reward, ended in zip(*row, strict=True))


def _options(world: str) -> dict[str, bool]:
    return {"is_slippery": False} if world == "FrozenLake-v1" else {}


if __name__ == "__main__":
    serve(Toy())
