"""``tw learn explore``: rows of unguided play, to learn from."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, Literal

from tokenworld.diagnostics import counted, usage
from tokenworld.engine import State
from tokenworld.ground import FRUITLESS, PASS, Command, Json
from tokenworld.session import open_world
from tokenworld.session.loading import OpenWorld
from tokenworld.session.players import typed_command
from tokenworld.session.replaying import row_played
from tokenworld.verbs import options as opt
from tokenworld.verbs.output import EXIT_OK, Output, keep_files, write_file

Curiosity = Literal["novelty", "random"]
ILLEGAL: Final = 0.2
"""The share of commands that may be illegal: refusals teach requirements."""


def explore(
    target: opt.World,
    out: Output,
    *,
    output: Annotated[Path, opt.OUTPUT, "The file for the rows (.jsonl)."],
    policy: Annotated[
        Curiosity, "Prefer commands that were given least often in a state, or draw any."
    ] = "novelty",
    ticks: Annotated[int, "How many rows."] = 400,
    episode: Annotated[int, "Rows after which a new game begins."] = 100,
    seed: opt.Seed = 0,
    write: Annotated[bool, "Replace a file that is there."] = False,
) -> int:
    """Play, and write a row for every command."""
    if ticks < 1 or episode < 1:
        raise usage(
            "There is nothing to explore in no tick.", "Give `--ticks` and `--episode` above 0."
        )
    keep_files([output], write, "Give another `--output`, or `--write` to replace what is there.")
    world, say = open_world(target), out.each_second()
    explorer, lines = Explorer(world, policy, seed), list[str]()
    for row in explorer.rows(ticks, episode):
        lines.append(json.dumps(row, ensure_ascii=False))
        say(f"{len(lines)} of {ticks} rows")
    text = "".join(f"{line}\n" for line in lines)
    write_file(output, text, "Name a file that can be written.", folder=output.parent)
    rows, states = counted(len(lines), "row"), counted(explorer.states, "state")
    out.line(f"{rows} of {states}, {explorer.refused} refused, in `{output}`")
    out.json({
        "schema_version": 1, "ok": True, "rows": len(lines), "states": explorer.states,
        "refused": explorer.refused, "output": str(output),
    })  # fmt: skip
    return EXIT_OK


class Explorer:
    """Draws commands. ``novelty`` takes a command that was given least often in this state, of
    these one that was given least often anywhere (count-based exploration, Strehl and Littman
    2008)."""

    def __init__(self, world: OpenWorld, policy: Curiosity, seed: int) -> None:
        self._world, self._policy, self._seed = world, policy, seed
        self._random = random.Random(f"{world.world.name} explore {seed}")
        self._here: Counter[tuple[int, Command]] = Counter()
        self._anywhere: Counter[Command] = Counter()
        self._seen: set[int] = set()
        self.refused = 0

    @property
    def states(self) -> int:
        """The number of states with different facts that were met."""
        return len(self._seen)

    def rows(self, ticks: int, episode: int) -> Iterator[dict[str, Json]]:
        """Rows of episodes, each of which begins with the next seed and has at most so many."""
        engine, done = self._world.engine, 0
        for number in range(ticks):
            state, steps = engine.start(self._seed + number), 0
            while done < ticks and steps < episode and not engine.over(state):
                row, state, last = row_played(engine, state, self.command(state))
                yield row
                self.refused += last.status in FRUITLESS
                done, steps = done + 1, steps + 1
            if done >= ticks or not steps:
                return

    def command(self, state: State) -> Command:
        """The next command."""
        engine = self._world.engine
        engine.hash(state)  # after which the state has the hash of its facts
        here = state.facts
        assert here is not None
        self._seen.add(here)
        if self._random.random() < ILLEGAL:
            found = typed_command(self._world, state, self._random)
            if found is not None:
                return found
        legal = [PASS, *engine.legal(state)]
        if self._policy == "random":
            return self._random.choice(legal)
        self._random.shuffle(legal)
        chosen = min(legal, key=lambda one: (self._here[here, one], self._anywhere[one]))
        self._here[here, chosen] += 1
        self._anywhere[chosen] += 1
        return chosen
