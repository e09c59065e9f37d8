"""This project's toy-text worlds, stepped with a full record of every tick."""

from __future__ import annotations

from shared import Json, digest, per_call, serve

from tokenworld.engine import SeededLuck, State
from tokenworld.ground import Command
from tokenworld.session import open_world

NORTH, EAST, SOUTH, WEST = range(4)
ORDERS = {
    "CliffWalking-v1": (NORTH, EAST, SOUTH, WEST),
    "FrozenLake-v1": (WEST, SOUTH, EAST, NORTH),
    "Taxi-v4": (SOUTH, NORTH, EAST, WEST),
}
WORLDS = {"CliffWalking-v1": "cliff_walking", "FrozenLake-v1": "frozen_lake", "Taxi-v4": "taxi"}
PADS = ("red", "green", "yellow", "blue")


class Toy:
    stores = (
        "a full record of every tick: requires, changes with their rules, reward, score, the "
        "hashes of the state before and after, what was said"
    )

    def load(self, world: str) -> Json:
        params = {"slippery": False} if world == "FrozenLake-v1" else {}
        self._engine = open_world(WORLDS[world], params).engine
        self._start = self._engine.start()
        self._luck = SeededLuck()
        move = "drive" if world == "Taxi-v4" else "move"
        self._commands = [Command(move, (way,)) for way in ORDERS[world]]
        if world == "Taxi-v4":
            who = (self._start.numbers["passenger"],)
            self._commands += [Command("pick_up", who), Command("drop_off", who)]
        return {"digest": str(self._number(self._start)), "stores": self.stores, "seconds": 0.0}

    def _number(self, state: State) -> int:
        """The number that gymnasium has for a state."""
        shown = {one["name"]: one["attrs"] for one in self._engine.json(state)["objects"]}  # type: ignore
        who = next(shown[one] for one in ("walker", "skater", "cab") if one in shown)
        _, x, y = who["at"].split("_")
        width = 1 + max(one["x"] for one in shown.values() if "x" in one)
        tile = int(y) * width + int(x)
        if "passenger" not in shown:
            return tile
        waits, to = shown["passenger"]["waits"], shown["passenger"]["goes_to"]
        return (tile * 5 + (4 if waits is None else PADS.index(waits))) * 4 + PADS.index(to)

    def walk(self, actions: list[int], budget: float) -> Json:
        rows: list[str] = []

        def walk(rows: list[str] | None = None) -> None:
            state = self._start
            for action in actions:
                state, records = self._engine.play(state, self._commands[action], self._luck)
                reward, ended = records[-1].reward, bool(records[-1].latched)
                if rows is not None:
                    rows.append(f"{self._number(state)} {int(reward)} {ended}")
                if ended:
                    state = self._start

        walk(rows)
        return {"seconds": per_call(walk, budget) / len(actions), "digest": digest(rows)}


if __name__ == "__main__":
    serve(Toy())
