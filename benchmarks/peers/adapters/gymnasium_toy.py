"""gymnasium's toy-text environments, made and stepped as its users do, alone and many at once."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from shared import Json, digest, per_call, serve

LONG = 1_000_000
"""No episode is cut off."""


class Toy:
    """Environments by gymnasium's names. Whoever has others says how they are made and read."""

    def make(self, world: str) -> Any:
        """One environment."""
        return gymnasium.make(world, max_episode_steps=LONG, **_options(world))

    def make_many(self, world: str, count: int) -> Any:
        """A vector environment, of the kind that is made where nothing else is said."""
        return gymnasium.make_vec(world, count, **_options(world))

    def begin(self) -> Any:
        """An episode that starts where all others do; what is seen then."""
        seen, _ = self._env.reset(seed=0)
        if self._world != "Taxi-v4":
            return seen
        taxi = self._env.unwrapped
        taxi.s = taxi.encode(2, 2, 2, 1)  # the cab in the middle, from Y to G
        return taxi.s

    def number(self, seen: Any) -> int:
        """The number of what is seen."""
        return int(seen)

    def numbers(self, seen: Any) -> list[int]:
        """The same for many at once."""
        return [int(one) for one in seen]

    def action(self, number: int) -> int:
        """What this environment calls an action of gymnasium's."""
        return number

    # ---- the operations ---------------------------------------------------------------------

    def load(self, world: str) -> Json:
        self._world, self._env = world, self.make(world)
        return {"digest": str(self.number(self.begin()))}

    def walk(self, actions: list[int], budget: float) -> Json:
        """Steps; a new episode where one ends. Told by what the last timed round saw."""
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
        """Steps of many at once, all with actions of their own."""
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
