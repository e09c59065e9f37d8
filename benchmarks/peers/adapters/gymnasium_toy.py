"""gymnasium's toy-text environments, stepped."""

from __future__ import annotations

import gymnasium
from shared import Json, digest, per_call, serve


class Toy:
    stores = "a table of all transitions, made when the environment is; the state is one number"

    def load(self, world: str) -> Json:
        options = {"is_slippery": False} if world == "FrozenLake-v1" else {}
        self._env = gymnasium.make(world, **options).unwrapped
        self._env.reset(seed=0)
        if world == "Taxi-v4":
            self._start = self._env.encode(2, 2, 2, 1)  # the cab in the middle, from Y to G
        else:
            self._start = int(self._env.s)
        return {"digest": str(self._start), "stores": self.stores, "seconds": 0.0}

    def walk(self, actions: list[int], budget: float) -> Json:
        rows: list[str] = []

        def walk(rows: list[str] | None = None) -> None:
            env = self._env
            env.s = self._start
            for action in actions:
                state, reward, ended, _, _ = env.step(action)
                if rows is not None:
                    rows.append(f"{int(state)} {int(reward)} {bool(ended)}")
                if ended:
                    env.s = self._start

        walk(rows)
        return {"seconds": per_call(walk, budget) / len(actions), "digest": digest(rows)}


if __name__ == "__main__":
    serve(Toy())
