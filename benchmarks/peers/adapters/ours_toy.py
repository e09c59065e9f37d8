"""This project's toy-text worlds as environments, created and stepped as users do."""

from __future__ import annotations

from typing import Any

import gymnasium
from gymnasium_toy import LONG, Toy
from shared import serve

from tokenworld.gym import register

MOVES = {
    "CliffWalking-v1": ("north", "east", "south", "west"),
    "FrozenLake-v1": ("west", "south", "east", "north"),
    "Taxi-v4": ("south", "north", "east", "west"),
}
WORLDS = {"CliffWalking-v1": "cliff_walking", "FrozenLake-v1": "frozen_lake", "Taxi-v4": "taxi"}
RIDES = ("pick_up(passenger)", "drop_off(passenger)")
GOES_TO = 1
"""The rank of green, the constant destination, which no observation shows."""


class World(Toy):
    """Worlds whose states are numbered as in gymnasium."""

    def make(self, world: str) -> Any:
        register()
        return gymnasium.make("tokenworld/World-v0", max_episode_steps=LONG, **_options(world))

    def make_many(self, world: str, count: int) -> Any:
        register()
        return gymnasium.make_vec("tokenworld/World-v0", count, **_options(world))

    def begin(self) -> Any:
        return self._env.reset(seed=0)[0]

    def number(self, seen: Any) -> int:
        tile = int(next(seen[one] for one in seen if one.endswith(".at"))[0])
        if "Passenger.waits" not in seen:
            return tile
        waits = int(seen["Passenger.waits"][0])
        return (tile * 5 + (4 if waits < 0 else waits)) * 4 + GOES_TO

    def numbers(self, seen: Any) -> list[int]:
        (place,) = (name for name in seen if name.endswith(".at"))
        return [int(one) for one in seen[place].ravel()]

    def action(self, number: int) -> int:
        moves = MOVES[self._world]
        if number >= len(moves):
            call = RIDES[number - len(moves)]
        else:
            call = f"{'drive' if self._world == 'Taxi-v4' else 'move'}({moves[number]})"
        return int(self._env.unwrapped.index(call))


def _options(world: str) -> dict[str, Any]:
    params = {"slippery": False} if world == "FrozenLake-v1" else {}
    return {"world": WORLDS[world], "observe": "dict", "params": params, "limit": LONG}


if __name__ == "__main__":
    serve(World())
