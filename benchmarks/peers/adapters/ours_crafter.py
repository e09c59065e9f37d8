"""The rules of Crafter as a world: played through a session, and as compiled rollouts."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from shared import Json, digest, once, serve

from tokenworld import Session, open_world, rollout
from tokenworld.ground import Command

COMMANDS = (
    Command("noop", ()),
    *(Command("move", (way,)) for way in (3, 1, 0, 2)),
    Command("act", ()),
)
"""The first of Crafter's actions, which are always legal for an awake player."""


class Game:
    def load(self, folder: str, text: str, size: int) -> Json:
        """Open the world that was written from a new game; the digest is that of the game."""
        with tempfile.TemporaryDirectory() as place:
            shutil.copy(Path(folder) / "crafter.tw", place)
            file = Path(place) / f"w{size}.tw"
            file.write_text(text, encoding="utf-8")
            self._world = open_world(str(file))
        objects: Any = Session(self._world, 1).state_json()["objects"]
        names = Counter(one["attrs"]["mat"] for one in objects if one["type"] == "Spot")
        bodies = (one for one in objects if one["type"] not in ("Spot", "Chunk"))
        places = (f"{one['type']} {one['attrs']['at'][5:].replace('_', ' ')}" for one in bodies)
        self._round = 0
        return {"digest": digest([str(sorted(names.items())), *sorted(places)])}

    def play(self, actions: list[int]) -> Json:
        """Time steps until the game is over, with a seed per round."""
        self._round += 1
        session = Session(self._world, self._round)
        session.remembers = False
        seconds, steps = once(lambda: _played(session, actions))
        return {"seconds": seconds / steps, "digest": ""}

    def random(self, actions: list[int]) -> Json:
        """Time a compiled random rollout of this many ticks, after one that compiles it."""
        ticks = len(actions)
        rollout(self._world, worlds=1, ticks=1, engine="fast")
        seconds, found = once(
            lambda: rollout(self._world, worlds=1, ticks=ticks, seed=1, engine="fast")
        )
        return {"seconds": seconds / found.ticks[0], "digest": ""}


def _played(session: Session, actions: list[int]) -> int:
    for at, action in enumerate(actions):
        session.intend(COMMANDS[action])
        if session.ended():
            return at + 1
    return len(actions)


if __name__ == "__main__":
    serve(Game())
