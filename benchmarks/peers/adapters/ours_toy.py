"""This project's toy-text worlds, stepped with a full record of every tick, or as rollouts are."""

from __future__ import annotations

from shared import DISTINCT, Json, batch_actions, digest, per_call, serve

from tokenworld.engine import SeededLuck, State
from tokenworld.engine.rollout import Machine
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
        "hashes of the state before and after, what was said. Rollouts store of a run: its state, "
        "tick, reward, records by status, the tick of the first ending; a tick that was played "
        "before in the same state is looked up in a table, made before the measurement as code is"
    )

    def load(self, world: str) -> Json:
        params = {"slippery": False} if world == "FrozenLake-v1" else {}
        self._engine = open_world(WORLDS[world], params).engine
        self._start = self._engine.start()
        self._luck = SeededLuck()
        self._machines: dict[bool, Machine] = {}
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

    def walk(self, actions: list[int], budget: float, engine: str = "play") -> Json:
        if engine != "play":
            return self._rolled(actions, budget, fast=engine == "fast")
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

    def _rolled(self, actions: list[int], budget: float, *, fast: bool) -> Json:
        """The same as a rollout, in Python or compiled: no record is kept."""
        machine = self._machine(fast)
        rows: list[str] = []
        paid = 0
        machine.begin(self._start)
        for action in actions:
            machine.follow(machine.script([self._commands[action]]), 1, again=True)
            before, paid = paid, machine.tally().rewards
            rows.append(f"{self._number(machine.state())} {paid - before} {machine.over()}")
        script = machine.script([self._commands[action] for action in actions])

        def walk() -> None:
            machine.restart(self._start.seed)
            machine.follow(script, 1 << 40, again=True)

        return {"seconds": per_call(walk, budget) / len(actions), "digest": digest(rows)}

    def batch(self, worlds: int, ticks: int, budget: float) -> Json:
        """Many worlds by the compiled automaton, each with its own actions: final state, reward,
        records by status, ticks, the tick of the first ending. One core."""
        machine = self._machine(fast=True)
        made = [
            machine.script([self._commands[action] for action in row])
            for row in batch_actions(min(worlds, DISTINCT), ticks)
        ]
        scripts = machine.scripts([made[number % DISTINCT] for number in range(worlds)])
        machine.begin(self._start)
        seeds = range(worlds)
        first = machine.march(scripts, seeds, again=True)
        found = digest(
            f"{self._number(first.state(i))} {first.tally(i).rewards}" for i in range(len(made))
        )
        seconds = per_call(lambda: machine.march(scripts, seeds, again=True), budget)
        return {"seconds": seconds / (worlds * ticks), "digest": found}

    def _machine(self, fast: bool) -> Machine:
        if fast not in self._machines:
            self._machines[fast] = Machine(self._engine, fast=fast)
        return self._machines[fast]


if __name__ == "__main__":
    serve(Toy())
