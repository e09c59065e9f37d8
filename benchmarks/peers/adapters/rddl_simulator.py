"""pyRDDLGym: the cliff as an RDDL domain, stepped by its own simulator."""

from __future__ import annotations

from pathlib import Path

import pyRDDLGym
from shared import Json, digest, per_call, serve

ACTIONS = ("go-north", "go-east", "go-south", "go-west")
FOLDER = Path(__file__).parent


class Rddl:
    stores = "arrays of all fluents; expressions evaluated with numpy, no journal"

    def load(self, world: str) -> Json:
        files = (str(FOLDER / f"cliff_{one}.rddl") for one in ("domain", "instance"))
        self._env = pyRDDLGym.make(*files)
        self._env.reset()
        return {"digest": "36", "stores": self.stores, "seconds": 0.0}

    def walk(self, actions: list[int], budget: float) -> Json:
        rows: list[str] = []

        def walk(rows: list[str] | None = None) -> None:
            env = self._env
            env.reset()
            for action in actions:
                state, reward, ended, _, _ = env.step({ACTIONS[action]: True})
                if rows is not None:
                    number = 12 * int(state["y"]) + int(state["x"])
                    rows.append(f"{number} {int(reward)} {bool(ended)}")
                if ended:
                    env.reset()

        walk(rows)
        return {"seconds": per_call(walk, budget) / len(actions), "digest": digest(rows)}


if __name__ == "__main__":
    serve(Rddl())
